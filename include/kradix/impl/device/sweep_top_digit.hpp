// Sweeps over the topmost digit, or by splitters, if that leaves bins which fit a team's scratch, or nothing to sort; or over
// all digits. The second kernel of a small sort.
//
// There are so few tiles that each team adds up what all of them have counted: nobody looks back, and nobody waits.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "kradix/impl/device/bins.hpp"
#include "kradix/impl/device/count_top_digit.hpp"
#include "kradix/impl/device/sweep_all.hpp"
#include "kradix/impl/device/sweep_tile.hpp"
#include "kradix/impl/device/tile_table.hpp"

namespace kradix::impl {

template <class ExecutionSpace, class Codec, class Value, TeamShape Shape>
struct SweepTopDigit {
  using Bits = typename Codec::bits_type;
  using Team = TeamMember<ExecutionSpace>;
  using L = Lanes<ExecutionSpace>;
  using All = SweepAll<ExecutionSpace, Codec, Value, Shape>;
  using TileBins = BinsOfTile<Codec>;
  using Tree = typename TileBins::Tree;
  using Sweep = SweepTile<ExecutionSpace, TileBins, Value, Shape, KnownSums>;
  using Combined = CombinedBits<ExecutionSpace, Shape.threads, Bits>;
  static constexpr int threads = Shape.threads;

  All sweep_all;
  DigitList all;
  std::size_t most;  ///< elements of a bin
  bool ends;         ///< may one sweep be all? It leaves nothing in the other arrays
  TileTable table;
  TopDigit* top;

  using Sums = SumsOfTiles<ExecutionSpace, threads, Shape.round()>;

  struct Scratch {
    union {
      std::uint64_t seen[Combined::words];
      typename Sums::Scratch sums;
      typename Sweep::Scratch tile;
      typename All::Scratch all;
    };
    std::uint64_t first[bin_count];
    std::uint32_t before[bin_count];
    Tree tree;
    std::uint32_t found[Shape.round() / 4];  ///< bins of the tile
    PassTable passes;
    bool counted;  ///< what one sweep goes by
    KOKKOS_FUNCTION Scratch() {}
  };
  static std::size_t scratch_bytes() { return sizeof(Scratch); }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    Scratch& scratch = *take_scratch<Scratch>(team, 1);
    const int thread = team.team_rank();
    // Far away: the loads are under way while the team adds up what else there is.
    const bool splits = top->splits;
    const int end = top->end;
    const Bits varying = table.template varying<Combined>(team, all, scratch.seen);
    if (splits) [[unlikely]] {
      for (int i = thread; i < bin_count; i += threads) {
        if (i > 0) scratch.tree.node[i] = top->splitters<Bits>()[Tree::splitter_of(i)];
      }
    }
    const auto step = static_cast<std::size_t>(team.league_size());
    for (auto tile = static_cast<std::size_t>(team.league_rank()); tile < table.tiles;
         tile += step) {
      team.team_barrier();
      if (table.tiles <= most_added_up) {
        Sums::add_up(team, table, tile, 0, scratch.sums, scratch.first, scratch.before);
      }
      if (thread < L::width) decide(varying, splits, end, L::lane(thread), scratch);
      team.team_barrier();
      if (tile == 0) tell(thread, varying, scratch);
      if (!scratch.counted) {
        sweep_all(team, scratch.passes, scratch.all);
        return;
      }
      sweep(team, static_cast<std::uint32_t>(tile), splits, scratch);
    }
  }

  /// A group of lanes turns counts into first places and chooses the passes: all teams choose alike.
  KOKKOS_FUNCTION void decide(Bits varying, bool splits, int end, int lane,
                              Scratch& scratch) const {
    const bool are_added_up =
        table.tiles <= most_added_up;  // the bins of more are too large anyway
    bool fits = are_added_up;
    if (are_added_up) {
      bool is_too_large = false;
      if (splits) [[unlikely]] {
        constexpr int run = bin_count / L::width;
        const auto mask = bits_between<Bits>(all.begin, all.end);
        for (int bin = lane * run; bin < (lane + 1) * run; ++bin) {
          is_too_large |= scratch.first[bin] > most && !top->holds_one_code(bin, mask);
        }
        scan_bins<L, true>(scratch.first, lane);
      } else {
        is_too_large = scan_bins<L, true>(scratch.first, lane) > most;
      }
      fits = L::size_of(L::where(is_too_large)) == 0;
    }
    if (lane != 0) return;
    const Digit digit = TopDigit::below(end, all);
    const bool is_topmost = are_added_up && (splits || bit_width_of(varying) <= end);
    const bool is_all =
        ends && is_topmost && !splits && (varying & low_mask<Bits>(digit.shift)) == 0;
    scratch.counted = is_all || (fits && is_topmost && varying != 0);
    if (scratch.counted) {
      scratch.passes = {};
      scratch.passes.count = 1;
      scratch.passes.finishes = is_all ? 0 : 1;
      scratch.passes.digit[0] = digit;
    } else {
      scratch.passes = cover<Bits>(varying);
      for (int p = 0; p < scratch.passes.count; ++p) scratch.passes.row[p] = p;
    }
  }

  /// The kernel to come.
  KOKKOS_FUNCTION void tell(int thread, Bits varying, const Scratch& scratch) const {
    for (int bin = thread; bin < bin_count; bin += threads) {
      top->first[bin] = scratch.first[bin];
    }
    if (thread != 0) return;
    top->first[bin_count] = sweep_all.count;
    top->varying_end = bit_width_of(varying);
    top->passes = scratch.passes;
  }

  KOKKOS_FUNCTION void sweep(const Team& team, std::uint32_t tile, bool splits,
                             Scratch& scratch) const {
    const int thread = team.team_rank();
    if (splits) [[unlikely]] {
      const auto tiling = Sweep::Tiles::of(sweep_all.count);
      const std::ptrdiff_t begin = tiling.begin_of(tile);
      const int missing = begin < 0 ? static_cast<int>(-begin) : 0;
      TileBins::template find<Shape.items, threads>(
          sweep_all.codec, bits_between<Bits>(all.begin, all.end), &scratch.tree,
          sweep_all.buffers.keys.in + (begin < 0 ? 0 : begin), Shape.round() - missing,
          Sweep::place_of(thread, 0), L::width, scratch.found + thread);
    }
    const TileBins bins{sweep_all.codec, scratch.passes.digit[0], splits ? scratch.found : nullptr};
    const Sweep sweep{
        sweep_all.buffers, bins,    Sweep::Tiles::of(sweep_all.count), &scratch.passes,
        scratch.first,     nullptr, KnownSums(scratch.before),         0};
    sweep.sweep_drawn(team, tile, scratch.tile);
  }
};

}  // namespace kradix::impl
