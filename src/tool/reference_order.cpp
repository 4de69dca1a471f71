#include "reference_order.hpp"

#include <cmath>
#include <cstring>
#include <utility>

namespace tool {

namespace {

uint128 low_bits(int bits) {
  return bits >= 128 ? ~uint128{0} : (uint128{1} << bits) - 1;
}

template <class T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

/// The value of a 16-bit float of either kind.
double small_float(unsigned bits, int mantissa_bits) {
  const int exponent_bits = 15 - mantissa_bits;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const unsigned mantissa = bits & ((1u << mantissa_bits) - 1);
  const int exponent = static_cast<int>(bits >> mantissa_bits) & ((1 << exponent_bits) - 1);
  const double sign = bits >> 15 ? -1 : 1;
  if (exponent == (1 << exponent_bits) - 1) return mantissa ? NAN : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(mantissa, 1 - bias - mantissa_bits);
  return sign * std::ldexp(mantissa + (1u << mantissa_bits), exponent - bias - mantissa_bits);
}

bool less_real(double a, double b) {
  return a < b || (std::isnan(b) && !std::isnan(a));
}

}  // namespace

ReferenceOrder::ReferenceOrder(KeyType key, BitsOfKey bits, bool descending)
    : key_(std::move(key)),
      bits_(bits),
      descending_(descending),
      whole_(bits.begin == 0 && bits.end == key_.bits()),
      mask_(low_bits(bits.end - bits.begin)),
      half_(uint128{1} << (key_.bits() - 1)),
      infinity_(half_ - (uint128{1} << key_.mantissa_bits)) {}

bool ReferenceOrder::less(const std::byte* a, const std::byte* b) const {
  return whole_ ? less_by_value(a, b) : group(a) < group(b);
}

bool ReferenceOrder::less_by_value(const std::byte* a, const std::byte* b) const {
  switch (key_.kind) {
    case Kind::unsigned_integer:
      return raw(a) < raw(b);
    case Kind::signed_integer: {
      const int unused = 128 - key_.bits();  // shifted up so that the sign stands at the top
      return static_cast<int128>(raw(a) << unused) < static_cast<int128>(raw(b) << unused);
    }
    case Kind::floating:
      return less_real(real(a), real(b));
    case Kind::byte_string:
      return std::memcmp(a, b, static_cast<std::size_t>(key_.bytes)) < 0;
  }
  return false;
}

uint128 ReferenceOrder::raw(const std::byte* key) const {
  switch (key_.bytes) {
    case 1:
      return load<std::uint8_t>(key);
    case 2:
      return load<std::uint16_t>(key);
    case 4:
      return load<std::uint32_t>(key);
    case 8:
      return load<std::uint64_t>(key);
    default:
      return load<uint128>(key);
  }
}

double ReferenceOrder::real(const std::byte* key) const {
  switch (key_.bytes) {
    case 2:
      return small_float(load<std::uint16_t>(key), key_.mantissa_bits);
    case 4:
      return load<float>(key);
    default:
      return load<double>(key);
  }
}

/// The place of a key among all keys of its type, as a number of as many bits: keys below zero count
/// down from the middle, those above it count up; NaNs share the highest place.
uint128 ReferenceOrder::rank(const std::byte* key) const {
  switch (key_.kind) {
    case Kind::unsigned_integer:
      return raw(key);
    case Kind::signed_integer:
      return raw(key) >= half_ ? raw(key) - half_ : raw(key) + half_;
    case Kind::floating: {
      const bool negative = raw(key) >= half_;
      const uint128 magnitude = negative ? raw(key) - half_ : raw(key);
      if (magnitude > infinity_) return half_ - 1 + half_;
      if (magnitude == 0) return half_;
      return negative ? half_ - 1 - magnitude : half_ + magnitude;
    }
    case Kind::byte_string: {
      uint128 number = 0;
      for (int i = 0; i < key_.bytes; ++i) {
        number = number * 256 + std::to_integer<unsigned>(key[i]);
      }
      return number;
    }
  }
  return 0;
}

}  // namespace tool
