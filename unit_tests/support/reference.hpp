// What the library promises, written a second time without its codec: comparators on values, and a
// stable sort of indices on the host.
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

#include "kradix/key.hpp"

namespace reference {

inline float value_of(kradix::float16_bits half) {
  const int sign = half.bits >> 15, exponent = half.bits >> 10 & 31, mantissa = half.bits & 1023;
  float magnitude = 0;
  if (exponent == 31) {
    magnitude = mantissa ? NAN : INFINITY;
  } else if (exponent == 0) {
    magnitude = std::ldexp(static_cast<float>(mantissa), -24);
  } else {
    magnitude = std::ldexp(static_cast<float>(mantissa + 1024), exponent - 25);
  }
  return sign ? -magnitude : magnitude;
}

inline float value_of(kradix::bfloat16_bits half) {
  const std::uint32_t bits = std::uint32_t{half.bits} << 16;
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

template <class T>
T value_of(T key) {
  return key;
}
#if !KOKKOS_HALF_T_IS_FLOAT
inline float value_of(Kokkos::Experimental::half_t key) {
  return static_cast<float>(key);
}
#endif
#if !KOKKOS_BHALF_T_IS_FLOAT
inline float value_of(Kokkos::Experimental::bhalf_t key) {
  return static_cast<float>(key);
}
#endif

/// Ascending order of the library: `<`, with every NaN above everything else and equal to every NaN.
template <class T>
bool before(const T& left, const T& right) {
  const auto a = value_of(left);
  const auto b = value_of(right);
  if constexpr (std::is_floating_point_v<std::remove_cv_t<decltype(a)>>) {
    if (std::isnan(a)) return false;
    if (std::isnan(b)) return true;
  }
  return a < b;
}

/// The same for keys alone, where floats that are equal differ in bits: zeros negative first, NaNs positive
/// first, and those by their bits.
template <class T>
bool before_in_bits(const T& left, const T& right) {
  if (before(left, right) || before(right, left)) return before(left, right);
  if constexpr (kradix::impl::key_kind<T>() == kradix::impl::KeyKind::floating) {
    using Word = kradix::impl::unsigned_of_size<sizeof(T)>;
    const Word a = Kokkos::bit_cast<Word>(left), b = Kokkos::bit_cast<Word>(right);
    const bool a_negative = a >> (8 * sizeof(Word) - 1), b_negative = b >> (8 * sizeof(Word) - 1);
    if (!std::isnan(value_of(left))) return a_negative && !b_negative;
    if (a_negative != b_negative) return b_negative;
    return a_negative ? a > b : a < b;
  }
  return false;
}

/// The indices that sort `keys` stably by `less`.
template <class T, class Less>
std::vector<std::size_t> sorted_indices(const std::vector<T>& keys, const Less& less) {
  std::vector<std::size_t> indices(keys.size());
  std::iota(indices.begin(), indices.end(), std::size_t{0});
  std::stable_sort(indices.begin(), indices.end(),
                   [&](std::size_t a, std::size_t b) { return less(keys[a], keys[b]); });
  return indices;
}

template <class T>
std::vector<std::size_t> sorted_indices(const std::vector<T>& keys, kradix::Order order) {
  if (order == kradix::Order::descending) {
    return sorted_indices(keys, [](const T& a, const T& b) { return before(b, a); });
  }
  return sorted_indices(keys, [](const T& a, const T& b) { return before(a, b); });
}

/// The same where keys that are equal differ in bits.
template <class T>
std::vector<std::size_t> sorted_indices_in_bits(const std::vector<T>& keys, kradix::Order order) {
  return sorted_indices(keys, [&](const T& a, const T& b) {
    return order == kradix::Order::ascending ? before_in_bits(a, b) : before_in_bits(b, a);
  });
}

/// The bits of an integer in ascending order, as an unsigned word, cut to [begin, end).
template <class T>
auto cut_bits(T key, int begin, int end) {
  using Word = kradix::impl::unsigned_of_size<sizeof(T)>;
  auto word = static_cast<Word>(key);
  if (static_cast<T>(-1) < static_cast<T>(0)) {
    word = static_cast<Word>(word + static_cast<Word>(Word{1} << (8 * sizeof(T) - 1)));
  }
  Word cut = 0;
  for (int bit = begin; bit < end; ++bit)
    cut = static_cast<Word>(cut | (word & static_cast<Word>(Word{1} << bit)));
  return cut;
}

}  // namespace reference
