// A team puts the elements of its tile in order of a digit, stably: words in scratch stand for them.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "kradix/impl/device/team_scan.hpp"
#include "kradix/impl/words.hpp"

namespace kradix::impl {

/// A word holds a digit above an element's index in the tile.
struct TileWord {
  static constexpr int digit_shift = 16;
  KOKKOS_FUNCTION static std::uint32_t make(std::uint32_t digit, int index) {
    return digit << digit_shift | static_cast<std::uint32_t>(index);
  }
  KOKKOS_FUNCTION static std::uint32_t digit(std::uint32_t word) { return word >> digit_shift; }
  KOKKOS_FUNCTION static std::uint32_t index(std::uint32_t word) { return word & 0xffffu; }
};

/// Two-way partitions of the words by one bit after another: those with a clear bit first. Each thread
/// partitions a run of words, from the places that one team scan over the threads' zeros gives it.
template <int Threads>
struct SplitTile {
  std::uint32_t* words;
  std::uint32_t* spare;  ///< as many more

  /// Orders `size` words by the low `bits` bits of their digits. Enter and leave with a barrier.
  template <class Team>
  KOKKOS_FUNCTION void by_bits(const Team& team, int size, int bits) {
    for (int bit = 0; bit < bits; ++bit) by_bit(team, size, TileWord::digit_shift + bit);
  }

 private:
  template <class Team>
  KOKKOS_FUNCTION void by_bit(const Team& team, int size, int bit) {
    const Run run = run_of<Threads>(size, team.team_rank());
    std::uint32_t mine = 0;
    for (int i = run.begin; i < run.end; ++i) mine += ~words[i] >> bit & 1u;
    const TeamSum<std::uint32_t> zeros = scan_team<Threads>(team, mine);
    std::uint32_t zero = zeros.before;
    std::uint32_t one = zeros.total + (static_cast<std::uint32_t>(run.begin) - zeros.before);
    for (int i = run.begin; i < run.end; ++i) {
      const std::uint32_t word = words[i];
      spare[word >> bit & 1u ? one++ : zero++] = word;
    }
    team.team_barrier();
    std::uint32_t* const ordered = spare;
    spare = words;
    words = ordered;
  }
};

/// The same partitions in place: a thread keeps its run of words in registers, at most `most_items`. A host
/// thread alone has a spare array instead.
template <int Threads>
struct PartitionTile {
  static constexpr int most_items = 32;
  std::uint32_t* words;
  std::uint32_t* spare;

  static std::size_t scratch_bytes(int tile) {
    return static_cast<std::size_t>(tile) * (Threads == 1 ? 2 : 1) * sizeof(std::uint32_t) + 32;
  }

  template <class Team>
  KOKKOS_FUNCTION PartitionTile(const Team& team, int tile)
      : words(take_scratch<std::uint32_t>(team, tile)),
        spare(Threads == 1 ? take_scratch<std::uint32_t>(team, tile) : nullptr) {}

  /// Orders `size` words by the low `bits` bits of their digits. Enter and leave with a barrier.
  template <class Team>
  KOKKOS_FUNCTION void by_bits(const Team& team, int size, int bits) {
    if constexpr (Threads == 1) {
      SplitTile<1> split{words, spare};
      split.by_bits(team, size, bits);
      words = split.words;
    } else {
      const Run run = run_of<Threads>(size, team.team_rank());
      for (int bit = 0; bit < bits; ++bit) by_bit(team, run, TileWord::digit_shift + bit);
    }
  }

 private:
  template <class Team>
  KOKKOS_FUNCTION void by_bit(const Team& team, Run run, int bit) {
    const int items = run.end - run.begin;
    std::uint32_t word[most_items];
    std::uint32_t mine = 0;
    KRADIX_UNROLL
    for (int i = 0; i < most_items; ++i) {
      if (i < items) {
        word[i] = words[run.begin + i];
        mine += ~word[i] >> bit & 1u;
      }
    }
    const TeamSum<std::uint32_t> zeros = scan_team<Threads>(team, mine);
    std::uint32_t zero = zeros.before;
    std::uint32_t one = zeros.total + (static_cast<std::uint32_t>(run.begin) - zeros.before);
    KRADIX_UNROLL
    for (int i = 0; i < most_items; ++i) {
      if (i < items) words[word[i] >> bit & 1u ? one++ : zero++] = word[i];
    }
    team.team_barrier();
  }
};

/// Where the run of each digit begins and ends in a tile that is in order.
struct TileRuns {
  std::uint32_t* begin;
  std::uint32_t* end;

  template <int Threads, class Team, class DigitAt>
  KOKKOS_FUNCTION void find(const Team& team, int size, int bins, const DigitAt& digit_at) const {
    for (int bin = team.team_rank(); bin < bins; bin += Threads) begin[bin] = end[bin] = 0;
    team.team_barrier();
    for (int p = team.team_rank(); p < size; p += Threads) {
      const std::uint32_t digit = digit_at(p);
      if (p == 0 || digit_at(p - 1) != digit) begin[digit] = p;
      if (p + 1 == size || digit_at(p + 1) != digit) end[digit] = p + 1;
    }
    team.team_barrier();
  }
};

}  // namespace kradix::impl
