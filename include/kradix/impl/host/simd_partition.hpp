// A partition of words where they lie, by SIMD: compiled for each of a machine's instruction sets (src/highway), and only
// with the component Highway.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kradix/impl/host/word_turn.hpp"

namespace kradix::impl {

#ifdef KRADIX_ENABLE_HIGHWAY
/// Turns words, and puts those that are less than the splitter before the others; returns how many they are.
std::size_t part_words(std::uint32_t* words, std::size_t size, std::uint32_t splitter,
                       const WordTurn<std::uint32_t>& turn);
std::size_t part_words(std::uint64_t* words, std::size_t size, std::uint64_t splitter,
                       const WordTurn<std::uint64_t>& turn);
/// Words as they were before they were turned.
void turn_back(std::uint32_t* words, std::size_t size, const WordTurn<std::uint32_t>& turn);
void turn_back(std::uint64_t* words, std::size_t size, const WordTurn<std::uint64_t>& turn);

/// Puts doubles that would be less than the splitter if they were turned before the others, and keeps them as they are.
std::size_t part_doubles(std::uint64_t* doubles, std::size_t size, std::uint64_t splitter,
                         const WordTurn<std::uint64_t>& turn);

struct DoublesSeen {
  bool no_nan;
  std::size_t minus_zeros;
};
/// Copies doubles, unless the arrays are the same, and tells what is among them.
DoublesSeen see_doubles(const std::uint64_t* from, std::uint64_t* to, std::size_t size);
#endif

}  // namespace kradix::impl
