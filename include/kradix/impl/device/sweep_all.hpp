// Every pass of a Onesweep by the teams of one kernel.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "kradix/impl/device/bins.hpp"
#include "kradix/impl/device/phases.hpp"
#include "kradix/impl/device/settle.hpp"
#include "kradix/impl/device/sweep_tile.hpp"

namespace kradix::impl {

/// In memory that is zero at first.
struct SweepAllState {
  PhaseState phases;
  std::uint64_t special;  ///< as a sweep's
  std::uint64_t bins[PassTable::max_passes][bin_count];
};

/// Phase 0 counts every digit, the next ones sweep over them from the least significant up, and one more settles what they
/// do not leave where it belongs.
template <class ExecutionSpace, class Codec, class Value, TeamShape Shape>
struct SweepAll {
  using Key = typename Codec::key_type;
  using Team = TeamMember<ExecutionSpace>;
  using L = Lanes<ExecutionSpace>;
  using TileLookBack = LookBack<ExecutionSpace>;
  using Sweep = SweepTile<ExecutionSpace, Codec, Value, Shape, TileLookBack>;
  static constexpr int threads = Shape.threads, tile_size = Sweep::tile_size;
  static constexpr int most_passes = (Codec::bits + digit_bits - 1) / digit_bits;

  SortBuffers<Key, Value> buffers;
  Codec codec;
  std::size_t count, tiles;
  SweepAllState* state;
  TileLookBack look_back;  ///< that of pass 0

  struct Scratch {
    union {
      typename Sweep::Scratch tile;
      std::uint32_t counts[most_passes][bin_count];
    };
    std::uint64_t word;
    KOKKOS_FUNCTION Scratch() {}
  };

  /// `passes` and `scratch` are the team's.
  KOKKOS_FUNCTION void operator()(const Team& team, const PassTable& passes,
                                  Scratch& scratch) const {
    const Phases<ExecutionSpace> phases{&state->phases, tiles};
    const int last =
        passes.count + (SettleShare<Key, Value, threads>{buffers, passes}.idle() ? 0 : 1);
    for (int known = -1;;) {
      const std::uint64_t ticket = phases.draw(team, scratch.word);
      team.team_barrier();
      const int phase = static_cast<int>(ticket / tiles);
      if (phase > last) return;
      if (known < phase - 1) phases.wait_for(team, phase - 1, phase == 1);
      known = phase - 1;
      run(team, phases, passes, phase, last, static_cast<std::uint32_t>(ticket % tiles), scratch);
    }
  }

  KOKKOS_FUNCTION void run(const Team& team, const Phases<ExecutionSpace>& phases,
                           const PassTable& passes, int phase, int last, std::uint32_t tile,
                           Scratch& scratch) const {
    if (phase == 0) {
      TileCount<ExecutionSpace, Codec, threads>{buffers.keys.in, codec}(
          team, share_of(count, tile_size, tile), passes, state->bins[0], scratch.counts[0]);
      if (phases.leave(team, 0, scratch.word)) scan(team, phases, passes);
    } else if (phase <= passes.count) {
      sweep(team, passes, phase - 1, tile, scratch);
      if (phase < last) phases.leave(team, phase, scratch.word);
    } else {
      SettleShare<Key, Value, threads>{buffers, passes}(team, share_of(count, tile_size, tile));
    }
  }

  KOKKOS_FUNCTION void scan(const Team& team, const Phases<ExecutionSpace>& phases,
                            const PassTable& passes) const {
    constexpr int groups = threads / L::width;
    for (int pass = team.team_rank() / L::width; pass < passes.count; pass += groups) {
      scan_bins<L>(state->bins[pass], L::lane(team.team_rank()));
    }
    phases.add(team, 0);
  }

  KOKKOS_FUNCTION void sweep(const Team& team, const PassTable& passes, int pass,
                             std::uint32_t tile, Scratch& scratch) const {
    const Sweep sweep{buffers,        codec,   Sweep::Tiles::of(count), &passes,
                      state->bins[0], nullptr, look_back.of_pass(pass), pass,
                      &state->special};
    sweep.sweep_drawn(team, tile, scratch.tile);
  }
};

}  // namespace kradix::impl
