// Keys of every type: awkward values, patterns, and what to call them.
#pragma once

#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "kradix/key.hpp"

namespace keys {

enum class Color : std::int16_t { red = -3, green = 0, blue = 7 };

template <class T>
T from_bits(kradix::impl::unsigned_of_size<sizeof(T)> bits) {
  if constexpr (std::is_same_v<T, bool>) {
    return (bits & 1) != 0;
  } else {
    T key;
    std::memcpy(static_cast<void*>(&key), &bits, sizeof key);
    return key;
  }
}

template <class T>
std::string bytes_of(const T& key) {
  return std::string(reinterpret_cast<const char*>(&key), sizeof key);
}

template <class T>
kradix::impl::unsigned_of_size<sizeof(T)> random_bits(std::mt19937_64& random) {
  using Word = kradix::impl::unsigned_of_size<sizeof(T)>;
  Word bits = static_cast<Word>(random());
  if constexpr (sizeof(T) == 16) bits = bits << 64 | random();
  return bits;
}

/// Values that sorting codes get wrong: extremes, zeros of both signs, NaNs of both signs and several
/// payloads, infinities, denormals, neighbours of all of them.
template <class T>
std::vector<T> awkward() {
  using Word = kradix::impl::unsigned_of_size<sizeof(T)>;
  const Word one = 1;
  const Word top = static_cast<Word>(one << (8 * sizeof(T) - 1));
  std::vector<Word> bits{0,
                         one,
                         top,
                         static_cast<Word>(top - 1),
                         static_cast<Word>(top + 1),
                         static_cast<Word>(~Word{0}),
                         static_cast<Word>(~Word{0} - 1)};
  if constexpr (kradix::impl::key_kind<T>() == kradix::impl::KeyKind::floating) {
    const Word infinity = kradix::impl::infinity_bits<T>();
    for (const Word magnitude :
         {infinity, static_cast<Word>(infinity + 1), static_cast<Word>(infinity - 1),
          static_cast<Word>(infinity | infinity >> 1), Word{2}, Word{77}}) {
      bits.push_back(magnitude);
      bits.push_back(static_cast<Word>(magnitude | top));
    }
  }
  std::vector<T> keys;
  for (const Word word : bits) keys.push_back(from_bits<T>(word));
  return keys;
}

enum class Pattern { uniform, awkward, equal, sorted, reversed, few, one_bit, low_bits };
inline constexpr Pattern all_patterns[] = {Pattern::uniform, Pattern::awkward,  Pattern::equal,
                                           Pattern::sorted,  Pattern::reversed, Pattern::few,
                                           Pattern::one_bit, Pattern::low_bits};

template <class T>
std::vector<T> make(Pattern pattern, std::size_t count, std::mt19937_64& random) {
  using Word = kradix::impl::unsigned_of_size<sizeof(T)>;
  const std::vector<T> special = awkward<T>();
  const Word base = random_bits<T>(random);
  const int bit = static_cast<int>(random() % (8 * sizeof(T)));
  std::vector<T> keys(count);
  for (std::size_t i = 0; i < count; ++i) {
    const Word any = random_bits<T>(random);
    switch (pattern) {
      case Pattern::uniform:
        keys[i] = from_bits<T>(any);
        break;
      case Pattern::awkward:
        keys[i] = random() % 4 == 0 ? from_bits<T>(any) : special[random() % special.size()];
        break;
      case Pattern::equal:
        keys[i] = from_bits<T>(base);
        break;
      case Pattern::sorted:
        keys[i] = from_bits<T>(static_cast<Word>(i));
        break;
      case Pattern::reversed:
        keys[i] = from_bits<T>(static_cast<Word>(count - i));
        break;
      case Pattern::few:
        keys[i] = from_bits<T>(static_cast<Word>(base + any % 3));
        break;
      case Pattern::one_bit:
        keys[i] = from_bits<T>(static_cast<Word>(base ^ static_cast<Word>((any & 1) << bit)));
        break;
      case Pattern::low_bits:
        keys[i] = from_bits<T>(static_cast<Word>(base ^ (any % 64)));
        break;
    }
  }
  return keys;
}

/// Floats that comparisons take for the same, or cannot compare, and the edges of those that they can.
enum class Floats { finite, zeros, some_zeros, minus_zeros, edges, one_nan, nans };
inline constexpr Floats all_floats[] = {Floats::finite,      Floats::zeros, Floats::some_zeros,
                                        Floats::minus_zeros, Floats::edges, Floats::one_nan,
                                        Floats::nans};

template <class T>
std::vector<T> make_floats(Floats kind, std::size_t count, std::mt19937_64& random) {
  using Word = kradix::impl::unsigned_of_size<sizeof(T)>;
  const Word sign = static_cast<Word>(Word{1} << (8 * sizeof(T) - 1));
  const Word infinity = kradix::impl::infinity_bits<T>();
  const Word least_normal = static_cast<Word>(infinity & (~infinity + 1));
  const Word edges[] = {0,        1, static_cast<Word>(least_normal - 1), least_normal,
                        infinity, 2, static_cast<Word>(infinity - 1)};
  const auto nan = [&] {
    const Word payload = static_cast<Word>(random_bits<T>(random) & (least_normal - 1));
    return static_cast<Word>((random_bits<T>(random) & sign) | infinity | payload | 1);
  };
  std::vector<Word> words(count);
  for (Word& word : words) {
    const Word any = random_bits<T>(random), any_sign = static_cast<Word>(any & sign);
    const Word finite = static_cast<Word>(random_bits<T>(random) & ~least_normal);
    const bool some = random() % 8 == 0;
    word = kind == Floats::zeros                 ? any_sign
           : kind == Floats::edges               ? static_cast<Word>(any_sign | edges[random() % 7])
           : kind == Floats::nans && any_sign    ? nan()
           : kind == Floats::minus_zeros && some ? sign
           : kind != Floats::finite && some      ? any_sign
                                                 : finite;
  }
  if (kind == Floats::one_nan && count > 0) words[random() % count] = nan();
  std::vector<T> keys;
  for (const Word word : words) keys.push_back(from_bits<T>(word));
  return keys;
}

/// A fresh seed each run, printed where a test fails.
inline std::uint64_t fresh_seed() {
  static const std::uint64_t seed = std::random_device{}();
  return seed;
}

using AllTypes = ::testing::Types<bool, char, signed char, unsigned char, std::int16_t,
                                  std::uint16_t, std::int32_t, std::uint32_t, long, unsigned long,
                                  long long, unsigned long long, float, double, Color,
                                  kradix::float16_bits, kradix::bfloat16_bits,
                                  Kokkos::Experimental::half_t, Kokkos::Experimental::bhalf_t
#ifdef KRADIX_HAVE_INT128
                                  ,
                                  kradix::impl::int128, kradix::impl::uint128
#endif
                                  >;

}  // namespace keys
