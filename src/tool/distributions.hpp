// Distributions of generated keys. Each key is a function of the seed and its index alone, so that
// files do not depend on how many threads made them.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <string_view>

#include "key_type.hpp"

namespace tool {

/// The mixing function of splitmix64 (Steele, Lea and Flood, OOPSLA 2014).
constexpr std::uint64_t mix64(std::uint64_t z) {
  z += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/// One key to be made.
struct Sample {
  const KeyType& type;
  std::uint64_t seed, count, index;

  /// Independent 64-bit draws 0, 1, 2, … for this index.
  std::uint64_t random(std::uint64_t draw) const { return random_of(index, draw); }
  std::uint64_t random_of(std::uint64_t some_index, std::uint64_t draw) const {
    return mix64(mix64(mix64(seed) ^ some_index) ^ draw);
  }
  uint128 random_bits(std::uint64_t draw) const {
    return uint128{random(2 * draw)} << 64 | random(2 * draw + 1);
  }
  /// In [0, 1).
  double random_unit(std::uint64_t draw) const { return unit(random(draw)); }
  static double unit(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }
};

namespace distributions {

/// Rounds to the nearest half.
inline std::uint16_t half_bits(double x) {
  const auto sign = static_cast<std::uint16_t>(std::signbit(x) ? 0x8000 : 0);
  const double size = std::fabs(x);
  if (size >= 65520) return sign | 0x7c00;
  if (size < 0x1p-14) return static_cast<std::uint16_t>(sign | std::lrint(size * 0x1p24));
  const int exponent = std::ilogb(size);
  const long mantissa = std::lrint(std::ldexp(size, 10 - exponent));  // 1024 to 2048
  return static_cast<std::uint16_t>(sign | (((exponent + 15) << 10) + mantissa - 1024));
}

inline uint128 float_bits(const KeyType& type, double x) {
  if (type.bytes == 8) return std::bit_cast<std::uint64_t>(x);
  if (type.bytes == 4) return std::bit_cast<std::uint32_t>(static_cast<float>(x));
  if (type.mantissa_bits == 10) return half_bits(x);
  return std::bit_cast<std::uint32_t>(static_cast<float>(x)) >> 16;
}

/// A small whole number as a key.
inline uint128 from_number(const KeyType& type, std::uint64_t number) {
  if (type.kind == Kind::floating) return float_bits(type, static_cast<double>(number));
  return number;
}

/// A float as it is; for integers [low, high) is spread over the whole type, the bits below a
/// double's precision drawn at random.
inline uint128 from_real(const Sample& s, double x, double low = 0, double high = 1) {
  if (s.type.kind == Kind::floating) return float_bits(s.type, x);
  const double share = (x - low) / (high - low);
  const double scaled = std::fmin(std::fmax(share, 0), 1 - 0x1p-53) * 0x1p53;
  const int bits = s.type.bits();
  const uint128 top = static_cast<std::uint64_t>(scaled);
  uint128 place = bits <= 53 ? top >> (53 - bits) : top << (bits - 53);
  if (bits > 53) place |= s.random_bits(40) & ((uint128{1} << (bits - 53)) - 1);
  return s.type.kind == Kind::signed_integer ? place ^ (uint128{1} << (bits - 1)) : place;
}

inline double share_at(const Sample& s, std::uint64_t index) {
  return static_cast<double>(index) / static_cast<double>(s.count);
}

inline uint128 uniform(const Sample& s) {
  return s.type.kind == Kind::floating ? from_real(s, s.random_unit(0)) : s.random_bits(0);
}
inline uint128 bits(const Sample& s) {
  return s.random_bits(0);
}

inline uint128 zipf(const Sample& s) {
  // The inverse of the continuous distribution: P(rank r) = log(1 + 1/r) / log(ranks + 1).
  const int exact_bits = s.type.kind == Kind::floating ? s.type.mantissa_bits : s.type.bits() - 1;
  const double ranks =
      std::fmin(static_cast<double>(s.count), std::ldexp(1, std::min(exact_bits, 20)));
  const double rank = std::exp(s.random_unit(0) * std::log(ranks + 1));
  return from_number(s.type, static_cast<std::uint64_t>(rank));
}
inline uint128 exponential(const Sample& s) {
  return from_real(s, -std::log(1 - s.random_unit(0)), 0, 37);
}
inline uint128 normal(const Sample& s) {
  const double radius = std::sqrt(-2 * std::log(1 - s.random_unit(0)));  // Box and Muller
  return from_real(s, radius * std::cos(2 * std::numbers::pi * s.random_unit(1)), -9, 9);
}

inline uint128 few_distinct(const Sample& s) {
  constexpr std::uint64_t keys = 16;
  const std::uint64_t chosen = s.random(0) % keys;
  return uint128{s.random_of(~chosen, 1)} << 64 | s.random_of(~chosen, 2);
}
inline uint128 constant(const Sample&) {
  return 42;
}

inline uint128 sorted(const Sample& s) {
  return from_real(s, share_at(s, s.index));
}
inline uint128 reverse(const Sample& s) {
  return from_real(s, share_at(s, s.count - 1 - s.index));
}
inline uint128 almost_sorted(const Sample& s) {
  const bool stray = s.random(0) % 100 == 0;
  return stray ? from_real(s, s.random_unit(1)) : sorted(s);
}
inline uint128 staggered(const Sample& s) {
  // Helman, Bader and JáJá (1998), with 64 blocks.
  constexpr std::uint64_t blocks = 64;
  const auto block = static_cast<std::uint64_t>(share_at(s, s.index) * blocks);
  const std::uint64_t range = block < blocks / 2 ? 2 * block + 1 : 2 * block - blocks;
  return from_real(s, (static_cast<double>(range) + s.random_unit(0)) / blocks);
}
inline uint128 root_dup(const Sample& s) {
  const auto root = static_cast<std::uint64_t>(std::sqrt(static_cast<double>(s.count)));
  return from_number(s.type, s.index % std::max<std::uint64_t>(root, 1));
}

inline uint128 one_hot_bits(const Sample& s) {
  return uint128{1} << (s.random(0) % static_cast<unsigned>(s.type.bits()));
}
inline uint128 digit_ramp(const Sample& s) {
  constexpr auto ones = ~uint128{0} / 255;  // 0x0101…01
  return ones * (s.index % 256);
}
template <int Words>
uint128 and_of(const Sample& s) {
  uint128 all = s.random_bits(0);
  for (int word = 1; word < Words; ++word) all &= s.random_bits(word);
  return all;
}
inline uint128 awkward(const Sample& s) {
  const uint128 sign = uint128{1} << (s.type.bits() - 1);
  const uint128 infinity = sign - (uint128{1} << s.type.mantissa_bits);
  const std::array<uint128, 8> patterns{0, 1, infinity, infinity | 1, sign - 1, 3, infinity - 1, 2};
  return patterns[s.random(0) % patterns.size()] | (s.random(1) % 2 ? sign : 0);
}

}  // namespace distributions

/// Gives the bits of a key; those above the type's width are to be dropped.
struct Distribution {
  std::string_view name, description;
  uint128 (*key)(const Sample&);
};

inline constexpr std::array all_distributions{
    Distribution{"uniform", "integers: every value alike; floats: [0, 1)", distributions::uniform},
    Distribution{"bits", "every bit pattern alike, NaNs among the floats", distributions::bits},
    Distribution{"zipf", "rank r about 1/r of the time", distributions::zipf},
    Distribution{"exponential", "rate 1; integers: 37 is the type's end",
                 distributions::exponential},
    Distribution{"normal", "mean 0, deviation 1; integers: [-9, 9) is the type's range",
                 distributions::normal},
    Distribution{"few-distinct", "16 random bit patterns", distributions::few_distinct},
    Distribution{"constant", "one key", distributions::constant},
    Distribution{"sorted", "ascending over the whole range", distributions::sorted},
    Distribution{"reverse", "descending over the whole range", distributions::reverse},
    Distribution{"almost-sorted", "ascending, one in a hundred out of place",
                 distributions::almost_sorted},
    Distribution{"staggered", "64 blocks, each of a range of its own", distributions::staggered},
    Distribution{"root-dup", "index modulo the root of the count", distributions::root_dup},
    Distribution{"one-hot-bits", "one random bit set", distributions::one_hot_bits},
    Distribution{"digit-ramp", "every byte of the key is the index modulo 256",
                 distributions::digit_ramp},
    Distribution{"and-2", "AND of 2 random patterns: bits set a quarter of the time",
                 distributions::and_of<2>},
    Distribution{"and-3", "AND of 3 random patterns", distributions::and_of<3>},
    Distribution{"and-5", "AND of 5 random patterns", distributions::and_of<5>},
    Distribution{"awkward", "zeros, ends of the range, infinities and NaNs, of either sign",
                 distributions::awkward},
};

}  // namespace tool
