// Words that SIMD sorts: few keys alone, or the leaves of a pass in cache. Nothing of that without the component
// Highway, whose sort chooses the machine's instructions when it runs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kradix/impl/host/order.hpp"
#include "kradix/impl/host/simd_partition.hpp"

#ifdef KRADIX_ENABLE_HIGHWAY
#include <hwy/contrib/sort/vqsort.h>
#include <hwy/per_target.h>
#endif

namespace kradix::impl {

/// Vectors of 64 bytes (AVX-512), and Highway to use them?
inline bool has_wide_simd() {
#ifdef KRADIX_ENABLE_HIGHWAY
  return hwy::VectorBytes() >= 64;
#else
  return false;
#endif
}

/// What SIMD sorts best of a word: nothing without Highway, and of words that it has not.
template <class Word>
struct SimdLeaf {
  static constexpr bool exists = false, serves_passes = false, serves_uneven = false;
  static constexpr std::size_t network = 0, whole = 0;
};

#ifdef KRADIX_ENABLE_HIGHWAY
/// So many words alone are sorted sooner where they lie than moved by passes, with vectors of 64 bytes (AVX-512) and
/// with shorter ones.
struct InPlace {
  std::size_t wide, narrow;
  std::size_t most() const { return has_wide_simd() ? wide : narrow; }
};

// `network`: so many words it sorts at once, several times as quickly as more; Highway's takes 16 vectors (32
// bytes in AVX2) and at most 16 words of each. `whole`: up to so many it is quicker than passes, and then
// than one pass whose leaves it sorts, where that is quicker (`serves_passes`). `serves_uneven`: words that
// a pass does not spread it sorts whole, however many. Measured with Highway 1.2 and AVX2 on a Zen 3 core, see
// docs/algorithms/blocked_radix.md. The machine's vectors are asked for only where all of a call's words are sorted at
// once: what passes leave is sorted alike by all, and sizes that are known make passes quicker.
template <>
struct SimdLeaf<std::uint16_t> {
  static constexpr bool exists = true, serves_passes = true;
  static constexpr bool serves_uneven = false;  ///< two passes sort them in any case
  static constexpr std::size_t network = 256, whole = 1024;
  static constexpr std::size_t average = 192;  ///< in a pass' leaves, which chance seldom doubles
  static constexpr InPlace in_place{std::size_t{1} << 16, 1024};
};
template <>
struct SimdLeaf<std::uint32_t> {
  static constexpr bool exists = true, serves_passes = true, serves_uneven = true;
  static constexpr std::size_t network = 128, whole = 2048, average = 96;
  static constexpr InPlace in_place{std::size_t{1} << 16, 8192};
};
/// AVX2 compares unsigned words of this size in several instructions.
template <>
struct SimdLeaf<std::uint64_t> {
  static constexpr bool exists = true, serves_passes = false, serves_uneven = true;
  static constexpr std::size_t network = 64, whole = 128;
  static constexpr InPlace in_place{std::size_t{1} << 15, 256};
};

/// Puts words in order where they lie. Allocates nothing.
template <class Word>
void sort_leaf(Word* words, std::size_t count) {
  hwy::VQSort(words, count, hwy::SortAscending{});
}

/// Threads may be told to take numbers near zero for zeros.
inline bool denormals_compare() {
  const volatile double least = std::numeric_limits<double>::denorm_min();
  return least > 0;
}

/// −0 and +0 were sorted as equal keys, which came in any order or lost their sign.
template <class Order>
void order_zeros(const Order& order, std::uint64_t* doubles, std::size_t count,
                 std::size_t minus_zeros) {
  constexpr std::uint64_t plus = 0, minus = std::uint64_t{1} << 63;
  const bool minus_first = order.enter(minus) < order.enter(plus);
  const std::uint64_t first = minus_first ? minus : plus, last = minus_first ? plus : minus;
  const auto precedes = [&](std::uint64_t word) { return order.enter(word) < order.enter(first); };
  const auto belongs = [&](std::uint64_t word) { return order.enter(word) <= order.enter(last); };
  std::uint64_t* const begin = std::partition_point(doubles, doubles + count, precedes);
  std::uint64_t* const end = std::partition_point(begin, doubles + count, belongs);
  std::uint64_t* const middle = minus_first ? begin + minus_zeros : end - minus_zeros;
  std::fill(begin, middle, first);
  std::fill(middle, end, last);
}

/// Sorts doubles by their own comparisons, which take fewer instructions than those of words. False, and they are only
/// copied, where these do not tell the order.
template <class Order>
bool sort_doubles(const Order& order, const std::uint64_t* from, std::uint64_t* to,
                  std::size_t count) {
  const DoublesSeen seen = see_doubles(from, to, count);
  if (!seen.no_nan || !denormals_compare()) return false;
  auto* const doubles = reinterpret_cast<double*>(to);
  if (order.codec.flip == 0) {
    hwy::VQSort(doubles, count, hwy::SortAscending{});
  } else {
    hwy::VQSort(doubles, count, hwy::SortDescending{});
  }
  if (seen.minus_zeros > 0) order_zeros(order, to, count, seen.minus_zeros);
  return true;
}

/// Puts the `count` keys at `from` in this order, which can be undone, to `to`; they may be the same.
template <class Order, class Word>
void sort_in_place(Order order, const Word* from, Word* to, std::size_t count) {
  if constexpr (orders_doubles<Order>) {
    if (has_wide_simd() && sort_doubles(order, from, to, count)) return;
  }
  if (from != to) std::copy_n(from, count, to);
  if (!order.changes()) return sort_leaf(to, count);
  // As words with a sign: integers that have one need no change, and AVX2 compares 8 bytes in fewer instructions.
  using Signed = std::make_signed_t<Word>;
  order.codec.flip = static_cast<Word>(order.codec.flip ^ (Word{1} << (8 * sizeof(Word) - 1)));
  // Compilers use SIMD where they see one array only.
  if (order.changes()) {
    for (std::size_t i = 0; i < count; ++i) to[i] = order.enter(to[i]);
  }
  sort_leaf(reinterpret_cast<Signed*>(to), count);
  if (order.changes()) {
    for (std::size_t i = 0; i < count; ++i) to[i] = order.leave(to[i]);
  }
}
#endif

}  // namespace kradix::impl
