// Keys of one or two digits with values: one sweep for each.
//
// The first kernel counts both digits of each tile. Teams of the second add up what all tiles have counted, so that
// nobody need count or look back in the first sweep; and if only one digit varies, that is all.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "kradix/impl/backend/lanes.hpp"
#include "kradix/impl/device/bins.hpp"
#include "kradix/impl/device/phases.hpp"
#include "kradix/impl/device/sweep_tile.hpp"
#include "kradix/impl/device/team.hpp"
#include "kradix/impl/device/tile_table.hpp"

namespace kradix::impl {

/// Digits that are swept so: one of keys of one byte, else up to two.
template <class Codec>
inline constexpr int most_by_tiles = Codec::bits <= digit_bits ? 1 : 2;

template <class ExecutionSpace, class Codec, TeamShape Shape>
struct CountByTiles : CountedTiles<ExecutionSpace, Codec, Shape> {
  using Counted = CountedTiles<ExecutionSpace, Codec, Shape>;
  using typename Counted::Bits;
  using typename Counted::Combined;
  using typename Counted::Team;
  static constexpr int counters = most_by_tiles<Codec> * bin_count;

  struct Scratch {
    std::uint64_t seen[Combined::words];
    std::uint32_t counts[counters];
  };
  static std::size_t scratch_bytes() { return sizeof(Scratch); }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    Scratch& scratch = *take_scratch<Scratch>(team, 1);
    this->count_tile(team, [&](const auto& mine) {
      const int thread = team.team_rank();
      const Bits first = this->codec.encode(this->keys[0]);
      this->clear(team, scratch.counts, counters);
      const Bits differ = this->differing(team, mine, first, scratch.seen);  // and all is clear
      KRADIX_UNROLL
      for (int d = 0; d < most_by_tiles<Codec>; ++d) {
        if (d >= this->table.digits) break;
        this->add(thread, mine, {this->codec, this->all.digit(d)}, scratch.counts + d * bin_count);
      }
      team.team_barrier();
      this->table.template tell<Counted::threads>(thread, mine.tile, scratch.counts, differ);
    });
  }
};

/// In memory that is zero at first, but for the passes, which the kernel tells.
struct SweepByTilesState {
  PhaseState phases;
  std::uint64_t special;  ///< as a sweep's
  PassTable passes;
};

template <class ExecutionSpace, class Codec, class Value, TeamShape Shape>
struct SweepByTiles {
  using Bits = typename Codec::bits_type;
  using Key = typename Codec::key_type;
  using Team = TeamMember<ExecutionSpace>;
  using L = Lanes<ExecutionSpace>;
  using TileLookBack = LookBack<ExecutionSpace>;
  using First = SweepTile<ExecutionSpace, Codec, Value, Shape, KnownSums>;
  using Second = SweepTile<ExecutionSpace, Codec, Value, Shape, TileLookBack>;
  using Combined = CombinedBits<ExecutionSpace, Shape.threads, Bits>;
  static constexpr bool may_be_two = most_by_tiles<Codec> == 2;
  using Sums = SumsOfTiles<ExecutionSpace, Shape.threads, Shape.round()>;

  SortBuffers<Key, Value> buffers;
  Codec codec;
  DigitList all;
  std::size_t count;
  TileTable table;
  SweepByTilesState* state;
  TileLookBack look_back;

  struct Scratch {
    union {
      std::uint64_t seen[Combined::words];
      typename Sums::Scratch sums;
      typename First::Scratch first_tile;
      typename Second::Scratch second_tile;
    };
    std::uint64_t first[most_by_tiles<Codec>][bin_count];  ///< places of the bins of each pass
    std::uint32_t before[bin_count];
    PassTable passes;
    std::uint64_t word;
    KOKKOS_FUNCTION Scratch() {}
  };
  static std::size_t scratch_bytes() { return sizeof(Scratch); }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    Scratch& scratch = *take_scratch<Scratch>(team, 1);
    const Bits varying = table.template varying<Combined>(team, all, scratch.seen);
    if (team.team_rank() == 0) {
      list_passes(varying, scratch.passes);
      if (team.league_rank() == 0) state->passes = scratch.passes;
    }
    const Phases<ExecutionSpace> phases{&state->phases, table.tiles};
    const auto tiles = First::Tiles::of(count);
    for ([[maybe_unused]] bool waits = true;;) {
      const std::uint64_t ticket = phases.draw(team, scratch.word);
      team.team_barrier();
      const auto tile = static_cast<std::uint32_t>(ticket % table.tiles);
      const auto pass = static_cast<int>(ticket / table.tiles);
      if (pass >= scratch.passes.count) return;
      if (pass == 0) {
        add_up(team, tile, 0, scratch);
        const First sweep{buffers,
                          codec,
                          tiles,
                          &scratch.passes,
                          scratch.first[0],
                          nullptr,
                          KnownSums(scratch.before),
                          0,
                          &state->special};
        sweep.sweep_drawn(team, tile, scratch.first_tile);
        if (scratch.passes.count > 1) phases.leave(team, 0, scratch.word);
        continue;
      }
      if constexpr (may_be_two) {
        if (waits) {
          add_up(team, tile, 1, scratch);
          phases.wait_for(team, 0, false);
          waits = false;
        }
        const Second sweep{buffers, codec,     tiles, &scratch.passes, scratch.first[0],
                           nullptr, look_back, 1,     &state->special};
        sweep.sweep_drawn(team, tile, scratch.second_tile);
      }
    }
  }

 private:
  /// Over the digit that varies, or over both; one at least if there is any, which moves what nothing tells apart.
  KOKKOS_FUNCTION void list_passes(Bits varying, PassTable& passes) const {
    passes = {};
    const int digits = all.count();
    for (int d = 0; d < digits; ++d) {
      const Digit digit = all.digit(d);
      const bool is_needed = d == digits - 1 && passes.count == 0;
      if (digit.of(varying) == 0 && !is_needed) continue;
      passes.add(passes.count, digit, passes.count);
      ++passes.count;
    }
  }

  /// Where the bins of a pass begin, and how many elements of them lie in tiles before this one.
  KOKKOS_FUNCTION void add_up(const Team& team, std::uint32_t tile, int pass,
                              Scratch& scratch) const {
    const int digit = (scratch.passes.digit[pass].shift - all.begin) / digit_bits;
    std::uint64_t* const first = scratch.first[pass];
    Sums::add_up(team, table, tile, digit, scratch.sums, first, scratch.before);
    if (team.team_rank() < L::width) scan_bins<L, true>(first, L::lane(team.team_rank()));
    team.team_barrier();
  }
};

}  // namespace kradix::impl
