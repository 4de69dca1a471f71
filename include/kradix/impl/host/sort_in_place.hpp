// Keys alone put in order by SIMD, whatever their order is: turned into words and back, or doubles as they are.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kradix/impl/host/order.hpp"
#include "kradix/impl/host/simd_leaf.hpp"
#include "kradix/impl/host/simd_partition.hpp"

namespace kradix::impl {

#ifdef KRADIX_ENABLE_HIGHWAY
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
