// A team sorts the words of its round by a few bits, stably, with private counters and one team scan.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "kradix/impl/words.hpp"

namespace kradix::impl {

/// One split orders Threads × Items words by four bits. Each thread counts its own consecutive items
/// into 16 private 16-bit counters, kept two to a word (digit d beside digit d + 8); one scan over the
/// words, digit by digit and thread by thread within a digit, gives every item its place: the
/// rank-and-permute step of Zagha and Blelloch with a thread as the processor, in the packed form of
/// Satish, Harris and Garland's tile sort. Needs no lane operation, so it runs on every backend.
template <int Threads, int Items>
struct TeamSplit {
  static constexpr int bits = 4;
  static constexpr int words_per_thread = 1 << (bits - 1);
  static constexpr int round = Threads * Items;
  static constexpr int rank_shift = 24;
  static_assert(round <= 0xffff, "counts of a round must fit 16 bits");
  static_assert(Items <= 0xff, "ranks within a thread must fit 8 bits");

  // A word of padding after every eight keeps the scan's runs of eight on different scratch banks.
  static constexpr int counter_words = Threads * (words_per_thread + 1) + 1;
  KOKKOS_FUNCTION static int padded(int word) { return word + word / words_per_thread; }

  std::uint32_t* items;     ///< scratch: round words
  std::uint32_t* counters;  ///< scratch: counter_words words

  /// Reorders the round by bits [shift, shift + 4) of its words, whose top byte must be clear: between
  /// counting and placing it holds the item's rank among its thread's. Enter and leave with a barrier.
  template <class Team>
  KOKKOS_FUNCTION void by_bits(const Team& team, int shift) const {
    const int thread = team.team_rank();
    std::uint32_t word[Items];
    KRADIX_UNROLL
    for (int i = 0; i < Items; ++i) word[i] = items[thread * Items + i];
    clear(thread);
    KRADIX_UNROLL
    for (int i = 0; i < Items; ++i) word[i] |= count(thread, word[i] >> shift & 15u) << rank_shift;
    team.team_barrier();
    scan(team, thread);
    KRADIX_UNROLL
    for (int i = 0; i < Items; ++i) {
      const std::uint32_t place =
          (word[i] >> rank_shift) + first_place(thread, word[i] >> shift & 15u);
      items[place] = word[i] & ~(~0u << rank_shift);
    }
    team.team_barrier();
  }

 private:
  static constexpr std::uint32_t low_half = 0xffffu;

  KOKKOS_FUNCTION static int half_shift(std::uint32_t digit) { return digit >> 3 << 4; }
  KOKKOS_FUNCTION std::uint32_t& counter(int thread, std::uint32_t digit) const {
    return counters[padded(static_cast<int>(digit & 7u) * Threads + thread)];
  }

  KOKKOS_FUNCTION void clear(int thread) const {
    KRADIX_UNROLL
    for (int d = 0; d < words_per_thread; ++d) counter(thread, d) = 0;
  }

  /// How many earlier items of this thread have the digit.
  KOKKOS_FUNCTION std::uint32_t count(int thread, std::uint32_t digit) const {
    std::uint32_t& word = counter(thread, digit);
    const std::uint32_t before = word;
    word = before + (1u << half_shift(digit));
    return before >> half_shift(digit) & low_half;
  }

  KOKKOS_FUNCTION std::uint32_t first_place(int thread, std::uint32_t digit) const {
    return counter(thread, digit) >> half_shift(digit) & low_half;
  }

  /// Exclusive scan over all counters, low halves first. Thread t takes words [8 t, 8 t + 8).
  template <class Team>
  KOKKOS_FUNCTION void scan(const Team& team, int thread) const {
    const int begin = thread * (words_per_thread + 1);
    std::uint32_t sum = 0;
    KRADIX_UNROLL
    for (int w = 0; w < words_per_thread; ++w) sum += counters[begin + w];
    std::uint32_t running = team.team_scan(sum);
    std::uint32_t& total = counters[counter_words - 1];
    if (thread == Threads - 1) total = running + sum;
    team.team_barrier();
    running += total << 16;  // digits 8 to 15 come after all of digits 0 to 7
    KRADIX_UNROLL
    for (int w = 0; w < words_per_thread; ++w) {
      const std::uint32_t counted = counters[begin + w];
      counters[begin + w] = running;
      running += counted;
    }
    team.team_barrier();
  }
};

}  // namespace kradix::impl
