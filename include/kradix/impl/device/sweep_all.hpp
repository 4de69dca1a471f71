// Every pass of a Onesweep in one kernel.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "kradix/impl/device/bins.hpp"
#include "kradix/impl/device/phases.hpp"
#include "kradix/impl/device/settle.hpp"
#include "kradix/impl/device/sort_by_top_digit.hpp"
#include "kradix/impl/device/sweep_tile.hpp"

namespace kradix::impl {

/// Phase 0 counts every digit, the next ones sweep over them from the least significant up, and the last
/// settles. Does nothing where the topmost digit served.
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
  SmallState* state;
  TileLookBack look_back;  ///< that of pass 0

  struct Scratch {
    union {
      typename Sweep::Scratch tile;
      std::uint32_t counts[most_passes][bin_count];
    };
    std::uint64_t word;
    KOKKOS_FUNCTION Scratch() {}
  };
  static std::size_t scratch_bytes() { return sizeof(Scratch); }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    const PassTable& passes = state->passes;
    if (passes.finishes) return;
    Scratch& scratch = *take_scratch<Scratch>(team, 1);
    const Phases<ExecutionSpace> phases{&state->all_digits, tiles};
    for (int known = -1;;) {
      const std::uint64_t ticket = phases.draw(team, scratch.word);
      team.team_barrier();
      const int phase = static_cast<int>(ticket / tiles);
      if (phase > passes.count + 1) return;
      if (known < phase - 1) phases.wait_for(team, phase - 1, phase == 1);
      known = phase - 1;
      run(team, phases, phase, static_cast<std::uint32_t>(ticket % tiles), scratch);
    }
  }

  KOKKOS_FUNCTION void run(const Team& team, const Phases<ExecutionSpace>& phases, int phase,
                           std::uint32_t tile, Scratch& scratch) const {
    const PassTable& passes = state->passes;
    if (phase == 0) {
      TileCount<ExecutionSpace, Codec, threads>{buffers.keys.in, codec}(
          team, share_of(count, tile_size, tile), passes, state->bins[1], scratch.counts[0]);
      if (phases.leave(team, 0, scratch.word)) scan(team, phases);
    } else if (phase <= passes.count) {
      sweep(team, phase - 1, tile, scratch);
      phases.leave(team, phase, scratch.word);
    } else {
      SettleShare<Key, Value, threads>{buffers, passes}(team, share_of(count, tile_size, tile));
    }
  }

  KOKKOS_FUNCTION void scan(const Team& team, const Phases<ExecutionSpace>& phases) const {
    constexpr int groups = threads / L::width;
    for (int pass = team.team_rank() / L::width; pass < state->passes.count; pass += groups) {
      scan_bins<L>(state->bins[1 + pass], L::lane(team.team_rank()));
    }
    phases.add(team, 0);
  }

  KOKKOS_FUNCTION void sweep(const Team& team, int pass, std::uint32_t tile,
                             Scratch& scratch) const {
    const Sweep sweep{buffers,        codec,   Sweep::Tiles::of(count), &state->passes,
                      state->bins[0], nullptr, look_back.of_pass(pass), pass};
    if (team.team_rank() == 0) sweep.take(tile, scratch.tile);
    Sweep::clear_counters(team.team_rank(), scratch.tile);
    team.team_barrier();
    sweep.sweep(team, state->passes.digit[pass], scratch.tile);
  }
};

}  // namespace kradix::impl
