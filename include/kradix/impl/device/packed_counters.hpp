// Counters of a few bits, packed into words of scratch, as a rule 4096.
#pragma once

#include <Kokkos_Core.hpp>
#include <bit>
#include <cstdint>

#include "kradix/impl/device/digit.hpp"

namespace kradix::impl {

/// Counters of `bits` bits, which count to no more than `most`. Those of 4 bits hold more of a kind, those of 2
/// bits tell twice as many kinds apart.
template <int bits, int of_index_of_word = 12>
struct PackedCounters {
  static_assert(bits == 2 || bits == 4);
  static constexpr int per_word = 32 / bits, word_bits = of_index_of_word, words = 1 << word_bits;
  static constexpr int index_bits = word_bits + std::bit_width(unsigned{per_word}) - 1;
  static constexpr std::uint32_t most = (1u << bits) - 1, ones = 0xffffffffu / most;

  // Bits above the index are ignored.
  KOKKOS_FUNCTION static std::uint32_t word_of(std::uint32_t index) {
    return index / per_word & (words - 1);
  }
  KOKKOS_FUNCTION static std::uint32_t shift_of(std::uint32_t index) {
    return index * bits & (32 - bits);
  }
  KOKKOS_FUNCTION static std::uint32_t counter(std::uint32_t word, std::uint32_t shift) {
    return word >> shift & most;
  }
  /// The sum of all counters of a word.
  KOKKOS_FUNCTION static std::uint32_t sum(std::uint32_t word) {
    if constexpr (bits == 2) {
      return count_bits(word) + count_bits(word & ~ones);
    } else {
      constexpr std::uint32_t every_other = 0x0f0f0f0f;
      return ((word & every_other) + (word >> 4 & every_other)) * 0x01010101u >> 24;
    }
  }
  /// The sum of those below the counter at `shift`.
  KOKKOS_FUNCTION static std::uint32_t before(std::uint32_t word, std::uint32_t shift) {
    return sum(word & ((1u << shift) - 1));
  }
  /// A one for each counter that reads one.
  KOKKOS_FUNCTION static std::uint32_t those_at_one(std::uint32_t word) {
    const std::uint32_t above = bits == 2 ? word >> 1 : word >> 1 | word >> 2 | word >> 3;
    return word & ~above & ones;
  }

  /// Tells whether a counter has gone beyond what it can hold.
  class Overflow {
    std::uint32_t seen_ = 0;

   public:
    /// One is added to the counter at `shift` of what was `word`.
    KOKKOS_FUNCTION void add(std::uint32_t word, std::uint32_t shift) {
      seen_ |= counter(word, shift) + 1;
    }
    KOKKOS_FUNCTION bool seen() const { return seen_ > most; }
  };
};

/// Words are summed four at a time.
struct alignas(16) FourWords {
  std::uint32_t word[4];
};
struct alignas(8) FourSums {
  std::uint16_t before[4];
};

}  // namespace kradix::impl
