// What records' words have alike, found by SIMD: compiled for each of a machine's instruction sets (src/highway), and only with the
// component Highway.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kradix::impl {

#ifdef KRADIX_ENABLE_HIGHWAY
/// Where words are like the one before but for their lowest `place_bits` bits, to `list`; returns how often.
std::size_t list_alike(const std::uint32_t* words, std::size_t count, int place_bits,
                       std::uint32_t* list);
std::size_t list_alike(const std::uint64_t* words, std::size_t count, int place_bits,
                       std::uint32_t* list);
#endif

}  // namespace kradix::impl
