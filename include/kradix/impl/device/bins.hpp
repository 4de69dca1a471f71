// Small steps over the bins of a digit and the bits of keys, by a group of lanes or a team.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "kradix/impl/backend/lanes.hpp"
#include "kradix/impl/device/digit.hpp"
#include "kradix/impl/device/team.hpp"

namespace kradix::impl {

/// A group of lanes turns the counts of bins into first places (of the same row, or another), each lane a run of them;
/// returns the largest of the lane's counts. Counts in memory are read where other teams' can be seen.
template <class L, bool InScratch = false>
KOKKOS_FUNCTION std::uint64_t scan_bins(const std::uint64_t* row, std::uint64_t* firsts, int lane) {
  constexpr int run = bin_count / L::width;
  // Sums of a run may exceed 32 bits, which lanes scan at once: scan low and high halves apart.
  std::uint64_t counted[run], sum = 0, largest = 0;
  KRADIX_UNROLL  // all loads are under way at once
      for (int i = 0; i < run; ++i) {
    const std::uint64_t* const bin = &row[lane * run + i];
    counted[i] = InScratch ? *bin : L::load(bin);
  }
  KRADIX_UNROLL
  for (int i = 0; i < run; ++i) {
    if (counted[i] > largest) largest = counted[i];
    sum += counted[i];
  }
  constexpr int half = 24;
  const auto low = static_cast<std::uint32_t>(sum & ((1u << half) - 1));
  const auto high = static_cast<std::uint32_t>(sum >> half);
  std::uint64_t before =
      L::scan(low, lane) + (static_cast<std::uint64_t>(L::scan(high, lane)) << half);
  KRADIX_UNROLL
  for (int i = 0; i < run; ++i) {
    firsts[lane * run + i] = before;
    before += counted[i];
  }
  return largest;
}

template <class L, bool InScratch = false>
KOKKOS_FUNCTION std::uint64_t scan_bins(std::uint64_t* row, int lane) {
  return scan_bins<L, InScratch>(row, row, lane);
}

/// Four bins in a word, and the bin of an item among such words.
KOKKOS_INLINE_FUNCTION std::uint32_t packed_bins(const std::uint32_t* bin) {
  return bin[0] | bin[1] << 8 | bin[2] << 16 | bin[3] << 24;
}
KOKKOS_INLINE_FUNCTION std::uint32_t bin_among(const std::uint32_t* packed, int item) {
  return packed[item / 4] >> (8 * (item % 4)) & 0xffu;
}

/// Of [low, high) the first whose begin lies behind `place`, or `high`. Begins rise.
template <class Index, class Begin>
KOKKOS_FUNCTION Index first_behind(const Begin* begins, Index low, Index high, Begin place) {
  while (low < high) {
    const Index middle = (low + high) / 2;
    if (begins[middle] <= place) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/// The bits that any thread of a team holds, known to all of them.
template <class ExecutionSpace, int Threads, class Bits>
struct CombinedBits {
  using L = Lanes<ExecutionSpace>;
  using bits_type = Bits;
  static constexpr int threads = Threads, groups = Threads / L::width;
  static constexpr int words = groups * words_in<Bits>;  ///< of scratch

  KOKKOS_FUNCTION static Bits over(const TeamMember<ExecutionSpace>& team, Bits bits,
                                   std::uint64_t* scratch) {
    const int group = team.team_rank() / L::width;
    for (int w = 0; w < words_in<Bits>; ++w) {
      const std::uint64_t mine = L::combine(word_of(bits, w));
      if (L::lane(team.team_rank()) == 0) scratch[w * groups + group] = mine;
    }
    team.team_barrier();
    std::uint64_t all[words_in<Bits>] = {};
    for (int w = 0; w < words_in<Bits>; ++w) {
      for (int g = 0; g < groups; ++g) all[w] |= scratch[w * groups + g];
    }
    return joined<Bits>(all);
  }
};

}  // namespace kradix::impl
