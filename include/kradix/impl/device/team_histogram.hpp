// A team's histogram of the digits of its tile, in scratch.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "kradix/impl/device/code_pass.hpp"

namespace kradix::impl {

/// Threads add atomically to `copies` copies of each bin, neighbours to different ones, so that equal
/// digits wait less for each other.
template <int Threads>
struct TeamHistogram {
  std::uint32_t* counts;  ///< [bin][copy]
  int bins, copies;

  static std::size_t scratch_bytes(int bins, int copies) {
    return static_cast<std::size_t>(bins * copies) * sizeof(std::uint32_t) + 16;
  }

  /// Leaves with a barrier.
  template <class Team, class Word>
  KOKKOS_FUNCTION void count(const Team& team, const CodeReader<Word>& reader, const Word* keys,
                             Share tile) const {
    for (int i = team.team_rank(); i < bins * copies; i += Threads) counts[i] = 0;
    team.team_barrier();
    const int copy = team.team_rank() % copies;
    for (std::size_t i = tile.begin + team.team_rank(); i < tile.end; i += Threads) {
      std::uint32_t* const counter = &counts[static_cast<int>(reader.of(keys[i])) * copies + copy];
      if constexpr (Threads == 1) {
        ++*counter;
      } else {
        Kokkos::atomic_inc(counter);
      }
    }
    team.team_barrier();
  }

  KOKKOS_FUNCTION std::uint32_t of(int bin) const {
    std::uint32_t sum = 0;
    for (int copy = 0; copy < copies; ++copy) sum += counts[bin * copies + copy];
    return sum;
  }
};

}  // namespace kradix::impl
