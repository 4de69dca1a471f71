// Sweeps over the topmost digit, if that leaves bins which fit a team's scratch; or over all digits. The second
// kernel of a small sort.
//
// There are so few tiles that each team adds up what all of them have counted: nobody looks back, and nobody waits.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "kradix/impl/device/bins.hpp"
#include "kradix/impl/device/count_top_digit.hpp"
#include "kradix/impl/device/sweep_all.hpp"
#include "kradix/impl/device/sweep_tile.hpp"

namespace kradix::impl {

/// The look-back of a tile that knows what lies before it.
struct KnownSums : LoneTiles {
  const std::uint32_t* before;  ///< [bin]

  KOKKOS_FUNCTION explicit KnownSums(const std::uint32_t* before_) : before(before_) {}
  KOKKOS_FUNCTION std::uint64_t place(std::uint32_t, int bin, std::uint32_t,
                                      std::uint64_t first) const {
    return first + before[bin];
  }
};

template <class ExecutionSpace, class Codec, class Value, TeamShape Shape>
struct SweepTopDigit {
  using Bits = typename Codec::bits_type;
  using Team = TeamMember<ExecutionSpace>;
  using L = Lanes<ExecutionSpace>;
  using All = SweepAll<ExecutionSpace, Codec, Value, Shape>;
  using Sweep = SweepTile<ExecutionSpace, Codec, Value, Shape, KnownSums>;
  using Combined = CombinedBits<ExecutionSpace, Shape.threads, Bits>;
  static constexpr int threads = Shape.threads;

  All sweep_all;
  DigitList all;
  std::size_t most;  ///< elements of a bin
  TileTable table;
  TopDigit* top;

  /// More tiles than this are not added up: their bins are too large anyway.
  static constexpr std::size_t most_tiles = 4096;
  /// Counts of four bins of a tile. So many tiles' add up without a carry.
  struct alignas(8) FourCounts {
    std::uint32_t pair[2];
  };
  static constexpr int batch = 8;
  static_assert(batch * Shape.round() <= 0xffff);
  static constexpr int quads = bin_count / 4;
  static constexpr int row_groups = threads > quads ? threads / quads : 1;

  struct Scratch {
    union {
      std::uint64_t seen[Combined::words];
      std::uint32_t sums[2][row_groups][bin_count];  ///< of all tiles, and of those before
      typename Sweep::Scratch tile;
      typename All::Scratch all;
    };
    std::uint64_t first[bin_count];
    std::uint32_t before[bin_count];
    PassTable passes;
    KOKKOS_FUNCTION Scratch() {}
  };
  static std::size_t scratch_bytes() { return sizeof(Scratch); }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    Scratch& scratch = *take_scratch<Scratch>(team, 1);
    const Bits varying = varying_bits(team, scratch);
    const auto step = static_cast<std::size_t>(team.league_size());
    for (auto tile = static_cast<std::size_t>(team.league_rank()); tile < table.tiles;
         tile += step) {
      team.team_barrier();
      if (table.tiles <= most_tiles) add_up(team, tile, scratch);
      if (team.team_rank() < L::width) decide(varying, L::lane(team.team_rank()), scratch);
      team.team_barrier();
      if (tile == 0) tell(team, scratch);
      if (!scratch.passes.finishes) {
        sweep_all(team, scratch.passes, scratch.all);
        return;
      }
      sweep(team, static_cast<std::uint32_t>(tile), scratch);
    }
  }

  KOKKOS_FUNCTION Bits varying_bits(const Team& team, Scratch& scratch) const {
    std::uint64_t mine[words_in<Bits>] = {};
    for (int w = 0; w < words_in<Bits>; ++w) {
      for (std::size_t t = team.team_rank(); t < table.tiles; t += threads) {
        mine[w] |= table.seen[w * table.tiles + t];
      }
    }
    return Combined::over(team, joined<Bits>(mine), scratch.seen) &
           bits_between<Bits>(all.begin, all.end);
  }

  /// Elements of each bin, and those of them that lie in tiles before this one.
  KOKKOS_FUNCTION void add_up(const Team& team, std::size_t tile, Scratch& scratch) const {
    const int thread = team.team_rank();
    const int group = row_groups > 1 ? thread / quads : 0;
    const auto* const rows = reinterpret_cast<const FourCounts*>(table.counts);
    for (int quad = thread - group * quads; quad < quads; quad += threads) {
      std::uint32_t sum[4] = {}, before[4] = {};
      KRADIX_ROLLED
      for (std::size_t row = group; row < table.tiles; row += batch * row_groups) {
        // Loads that are under way together.
        FourCounts counts[batch];
        KRADIX_UNROLL
        for (int b = 0; b < batch; ++b) {
          const std::size_t r = row + b * row_groups;
          counts[b] = r < table.tiles ? rows[r * quads + quad] : FourCounts{};
        }
        KRADIX_UNROLL
        for (int p = 0; p < 2; ++p) {
          std::uint32_t both = 0, both_before = 0;
          KRADIX_UNROLL
          for (int b = 0; b < batch; ++b) {
            both += counts[b].pair[p];
            both_before += row + b * row_groups < tile ? counts[b].pair[p] : 0u;
          }
          sum[2 * p] += both & 0xffffu;
          sum[2 * p + 1] += both >> 16;
          before[2 * p] += both_before & 0xffffu;
          before[2 * p + 1] += both_before >> 16;
        }
      }
      KRADIX_UNROLL
      for (int i = 0; i < 4; ++i) {
        scratch.sums[0][group][4 * quad + i] = sum[i];
        scratch.sums[1][group][4 * quad + i] = before[i];
      }
    }
    team.team_barrier();
    for (int bin = thread; bin < bin_count; bin += threads) {
      std::uint32_t sum = 0, before = 0;
      for (int g = 0; g < row_groups; ++g) {
        sum += scratch.sums[0][g][bin];
        before += scratch.sums[1][g][bin];
      }
      scratch.first[bin] = sum;
      scratch.before[bin] = before;
    }
    team.team_barrier();
  }

  /// A group of lanes turns counts into first places and chooses the passes: all teams choose alike.
  KOKKOS_FUNCTION void decide(Bits varying, int lane, Scratch& scratch) const {
    bool fits = table.tiles <= most_tiles;
    if (fits) {
      const std::uint64_t largest = scan_bins<L, true>(scratch.first, lane);
      fits = L::size_of(L::where(largest > most)) == 0;
    }
    if (lane != 0) return;
    const int end = top->end;
    if (fits && varying != 0 && bit_width_of(varying) == end) {
      scratch.passes = {};
      scratch.passes.count = scratch.passes.finishes = 1;
      scratch.passes.digit[0] = TopDigit::below(end, all);
    } else {
      scratch.passes = cover<Bits>(varying);
      for (int p = 0; p < scratch.passes.count; ++p) scratch.passes.row[p] = p;
    }
  }

  /// The kernel to come.
  KOKKOS_FUNCTION void tell(const Team& team, const Scratch& scratch) const {
    for (int bin = team.team_rank(); bin < bin_count; bin += threads) {
      top->first[bin] = scratch.first[bin];
    }
    if (team.team_rank() != 0) return;
    top->first[bin_count] = sweep_all.count;
    top->passes = scratch.passes;
  }

  KOKKOS_FUNCTION void sweep(const Team& team, std::uint32_t tile, Scratch& scratch) const {
    const Sweep sweep{
        sweep_all.buffers, sweep_all.codec, Sweep::Tiles::of(sweep_all.count), &scratch.passes,
        scratch.first,     nullptr,         KnownSums(scratch.before),         0};
    if (team.team_rank() == 0) sweep.take(tile, scratch.tile);
    Sweep::clear_counters(team.team_rank(), scratch.tile);
    team.team_barrier();
    sweep.sweep(team, scratch.passes.digit[0], scratch.tile);
  }
};

}  // namespace kradix::impl
