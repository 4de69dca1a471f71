// Records split in two by their keys, by SIMD: compiled for each of a machine's instruction sets (src/highway), and only with the
// component Highway.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kradix/impl/host/simd_leaf.hpp"

namespace kradix::impl {

/// Are records a key, whose order is that of words, and as long a value? Then SIMD splits them.
template <class Order, class Rec>
struct SimdRecords {
#ifdef KRADIX_ENABLE_HIGHWAY
  using Stored = typename Order::Stored;
  static constexpr bool exist =
      Order::is_encoded && sizeof(Rec) == 2 * sizeof(Stored) &&
      (std::is_same_v<Stored, std::uint32_t> || std::is_same_v<Stored, std::uint64_t>);
#else
  static constexpr bool exist = false;
#endif
  /// Sooner than buckets by a table move them, whatever keys have those?
  static constexpr bool serve_all = sizeof(Rec) == sizeof(std::uint64_t);
  /// Sooner than they are told apart by digits: where all bits of keys count, and vectors hold four or more (AVX2 of short ones,
  /// AVX-512).
  static bool serve(const Order& order) {
    using Bits = typename Order::Bits;
    return exist && order.wanted == static_cast<Bits>(~Bits{0}) && simd_bytes() >= 4 * sizeof(Rec);
  }
};

#ifdef KRADIX_ENABLE_HIGHWAY
/// Puts records, each a word of key and one of value, to `low` if their key is less than `splitter`, else to `high`, in the order they
/// come; returns how many are less. `low` may be where they lie; else behind those there, and behind those at `high`, up to
/// a vector is overwritten.
std::size_t split_records(const std::uint32_t* records, std::size_t count, std::uint32_t splitter,
                          std::uint32_t* low, std::uint32_t* high);
std::size_t split_records(const std::uint64_t* records, std::size_t count, std::uint64_t splitter,
                          std::uint64_t* low, std::uint64_t* high);

/// Their values alone.
void values_of_records(const std::uint32_t* records, std::size_t count, std::uint32_t* values);
void values_of_records(const std::uint64_t* records, std::size_t count, std::uint64_t* values);
#endif

}  // namespace kradix::impl
