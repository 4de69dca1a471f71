// Phases of one kernel: teams draw tiles of one phase after another, and whoever draws a tile of a phase
// waits until all tiles of the phase before it are done.
//
// Those were drawn before, by teams that run: it takes no more promise of progress than a look-back.
// Phases that a sort does not need cost nothing, where each kernel would cost its launch.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "kradix/impl/backend/lanes.hpp"
#include "kradix/impl/device/digit.hpp"
#include "kradix/impl/device/team.hpp"

namespace kradix::impl {

/// What the phases of a kernel tell each other, in memory that is zero at first.
struct PhaseState {
  static constexpr int most = PassTable::max_passes + 2;
  std::uint64_t ticket;      ///< tiles drawn, of all phases
  std::uint64_t done[most];  ///< [phase]: tiles that are
};

/// A phase is done by so many tiles, and then once more if the last of them has something to add.
template <class ExecutionSpace>
struct Phases {
  using L = Lanes<ExecutionSpace>;
  using Team = TeamMember<ExecutionSpace>;

  PhaseState* state;
  std::size_t tiles;  ///< of every phase

  /// `word` is the team's, in scratch.
  KOKKOS_FUNCTION std::uint64_t draw(const Team& team, std::uint64_t& word) const {
    team.team_barrier();
    if (team.team_rank() == 0) word = Kokkos::atomic_fetch_add(&state->ticket, std::uint64_t{1});
    team.team_barrier();
    return word;
  }

  KOKKOS_FUNCTION void wait_for(const Team& team, int phase, bool adds) const {
    if (team.team_rank() == 0) {
      while (L::load(&state->done[phase]) < tiles + (adds ? 1 : 0)) L::pause();
      Kokkos::memory_fence();
    }
    team.team_barrier();
  }

  /// True for the team of the last tile.
  KOKKOS_FUNCTION bool leave(const Team& team, int phase, std::uint64_t& word) const {
    return leaves_last(team, &state->done[phase], tiles, word);
  }

  /// That team has added what it had to.
  KOKKOS_FUNCTION void add(const Team& team, int phase) const {
    Kokkos::memory_fence();
    team.team_barrier();
    if (team.team_rank() == 0) Kokkos::atomic_add(&state->done[phase], std::uint64_t{1});
  }
};

/// Adds the digits of a tile's keys to bins, [pass][bin].
template <class ExecutionSpace, class Codec, int Threads>
struct TileCount {
  using L = Lanes<ExecutionSpace>;

  const typename Codec::key_type* keys;
  Codec codec;

  /// `counts`: as many in scratch.
  KOKKOS_FUNCTION void operator()(const TeamMember<ExecutionSpace>& team, const Share& tile,
                                  const PassTable& passes, std::uint64_t* bins,
                                  std::uint32_t* counts) const {
    const int rows = passes.count;
    for (int i = team.team_rank(); i < rows * bin_count; i += Threads) counts[i] = 0;
    team.team_barrier();
    std::size_t i = tile.begin + team.team_rank();
    constexpr std::size_t batch = 8;  // loads under way at once
    for (; i + (batch - 1) * Threads < tile.end; i += batch * Threads) {
      typename Codec::bits_type bits[batch];
      KRADIX_UNROLL
      for (std::size_t b = 0; b < batch; ++b) bits[b] = codec.encode(keys[i + b * Threads]);
      add<batch>(bits, passes, counts);
    }
    for (; i < tile.end; i += Threads) {
      const typename Codec::bits_type bits = codec.encode(keys[i]);
      add<1>(&bits, passes, counts);
    }
    team.team_barrier();
    for (int i = team.team_rank(); i < rows * bin_count; i += Threads) {
      if (counts[i] > 0) Kokkos::atomic_add(&bins[i], std::uint64_t{counts[i]});
    }
  }

 private:
  template <std::size_t Size>
  KOKKOS_FUNCTION static void add(const typename Codec::bits_type* bits, const PassTable& passes,
                                  std::uint32_t* counts) {
    for (int p = 0; p < passes.count; ++p) {
      const Digit digit = passes.digit[p];
      KRADIX_UNROLL
      for (std::size_t b = 0; b < Size; ++b) {
        L::increment(&counts[p * bin_count + digit.of(bits[b])]);
      }
    }
  }
};

}  // namespace kradix::impl
