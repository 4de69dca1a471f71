// Hashes of whole records, whose sums tell whether two files hold the same records.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "distributions.hpp"

namespace tool {

/// Two 64-bit hashes that mix differently: records that deceive one do not deceive the other.
struct Fingerprint {
  std::uint64_t first = 0, second = 0;

  Fingerprint& operator+=(const Fingerprint& other) {
    first += other.first;
    second += other.second;
    return *this;
  }
  friend bool operator==(const Fingerprint&, const Fingerprint&) = default;
};

inline Fingerprint fingerprint(const std::byte* record, std::uint64_t bytes) {
  std::uint64_t first = 0x243f6a8885a308d3u, second = 0x13198a2e03707344u;  // digits of pi
  const auto take = [&](std::uint64_t word) {
    first = (first ^ word) * 0x9e3779b97f4a7c15u;
    first ^= first >> 32;
    second = (std::rotl(second, 23) + word) * 0xd6e8feb86659fd93u;
  };
  for (; bytes >= 8; bytes -= 8, record += 8) {
    std::uint64_t word;
    std::memcpy(&word, record, 8);
    take(word);
  }
  std::uint64_t last = 0;
  std::memcpy(&last, record, bytes);
  take(last);
  return {mix64(first), mix64(second)};
}

}  // namespace tool
