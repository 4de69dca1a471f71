// One sweep over the topmost varying digit and a sort of each of its bins in scratch, in one kernel.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "kradix/impl/device/bins.hpp"
#include "kradix/impl/device/phases.hpp"
#include "kradix/impl/device/sort_one_chunk.hpp"
#include "kradix/impl/device/sweep_tile.hpp"

namespace kradix::impl {

/// What the kernels of a small sort tell each other, in memory that is zero at first.
struct SmallState {
  PhaseState top_digit, all_digits;
  std::uint64_t bins[1 + PassTable::max_passes][bin_count];  ///< row 0: of the topmost digit
  std::uint64_t chunks[bin_count];
  std::uint64_t listed;  ///< chunks
  PassTable passes;
};

/// Phase 0 counts the digit. If each of its bins fits a team's scratch, phase 1 sweeps over it and
/// phase 2 sorts bin after bin. If not, another kernel goes over every digit.
template <class ExecutionSpace, class Codec, class Value, TeamShape TileShape,
          TeamShape FinishShape, TeamShape AloneShape>
struct SortByTopDigit {
  using Key = typename Codec::key_type;
  using Bits = typename Codec::bits_type;
  using Team = TeamMember<ExecutionSpace>;
  using L = Lanes<ExecutionSpace>;
  /// All tiles look back at once: far looks save time.
  using TileLookBack = LookBack<ExecutionSpace>;
  using Sweep = SweepTile<ExecutionSpace, Codec, Value, TileShape, TileLookBack>;
  using Any = AnyChunk<ExecutionSpace, Codec, Value, FinishShape, AloneShape>;
  using Combined = CombinedBits<ExecutionSpace, TileShape.threads, Bits>;
  static constexpr int threads = TileShape.threads, tile_size = Sweep::tile_size;
  static_assert(threads == Any::Passes::threads);

  Any chunk;  ///< and what it knows of the sort
  std::size_t count, tiles;
  std::size_t most;           ///< elements of a chunk
  const std::uint64_t* seen;  ///< as the survey left it
  std::size_t surveyed;       ///< by so many teams
  SmallState* state;
  TileLookBack look_back;

  struct Scratch {
    union {
      std::uint64_t seen[Combined::words];
      std::uint32_t counts[bin_count];
      typename Sweep::Scratch tile;
      typename Any::Scratch chunk;
    };
    std::uint64_t word;
    KOKKOS_FUNCTION Scratch() {}
  };
  static std::size_t scratch_bytes() { return sizeof(Scratch); }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    Scratch& scratch = *take_scratch<Scratch>(team, 1);
    const Phases<ExecutionSpace> phases{&state->top_digit, tiles};
    const Bits varying = varying_bits(team, scratch);
    int known = -1;  // the last phase that is known to be done
    while (true) {
      const std::uint64_t ticket = phases.draw(team, scratch.word);
      team.team_barrier();
      if (ticket < tiles) {
        count_tile(team, phases, varying, ticket, scratch);
        continue;
      }
      if (known < 0) phases.wait_for(team, 0, true);
      known = known < 0 ? 0 : known;
      if (!state->passes.finishes) return;
      if (ticket < 2 * tiles) {
        sweep(team, static_cast<std::uint32_t>(ticket - tiles), scratch);
        phases.leave(team, 1, scratch.word);
        continue;
      }
      const std::uint64_t entry = ticket - 2 * tiles;
      if (entry >= state->listed) return;
      if (known < 1) phases.wait_for(team, 1, false);
      known = 1;
      sort(team, Chunk{state->chunks[entry]}, scratch);
    }
  }

  KOKKOS_FUNCTION Bits varying_bits(const Team& team, Scratch& scratch) const {
    std::uint64_t mine[words_in<Bits>] = {};
    for (int w = 0; w < words_in<Bits>; ++w) {
      for (std::size_t t = team.team_rank(); t < surveyed; t += threads) {
        mine[w] |= seen[w * surveyed + t];
      }
    }
    return Combined::over(team, joined<Bits>(mine), scratch.seen) &
           bits_between<Bits>(chunk.all.begin, chunk.all.end);
  }

  KOKKOS_FUNCTION void count_tile(const Team& team, const Phases<ExecutionSpace>& phases,
                                  Bits varying, std::size_t tile, Scratch& scratch) const {
    PassTable top{};
    const int end = varying != 0 ? bit_width_of(varying) : 1;  // any, if all keys are equal
    const int lowest = varying != 0 ? chunk.all.begin : 0;
    const int begin = end - digit_bits > lowest ? end - digit_bits : lowest;
    top.count = top.finishes = 1;
    top.digit[0] = DigitList{begin, end}.digit(0);
    TileCount<ExecutionSpace, Codec, threads>{chunk.buffers.keys.in, chunk.codec}(
        team, share_of(count, tile_size, tile), top, state->bins[0], scratch.counts);
    if (!phases.leave(team, 0, scratch.word)) return;
    if (team.team_rank() < L::width) list(varying, top, L::lane(team.team_rank()));
    phases.add(team, 0);
  }

  /// A group of lanes turns counts into first places, lists the bins if each fits, and tells the passes.
  KOKKOS_FUNCTION void list(Bits varying, const PassTable& top, int lane) const {
    const std::uint64_t largest = scan_bins<L>(state->bins[0], lane).count;
    L::barrier();
    const bool fits = L::size_of(L::where(largest > most)) == 0 && varying != 0;
    if (fits) list_chunks(lane);
    if (lane != 0) return;
    state->passes = fits ? top : cover<Bits>(varying);
    for (int p = 0; !fits && p < state->passes.count; ++p) state->passes.row[p] = 1 + p;
  }

  KOKKOS_FUNCTION void list_chunks(int lane) const {
    constexpr int run = bin_count / L::width;
    std::uint32_t mine = 0;
    for (int i = 0; i < run; ++i) mine += size_of(lane * run + i) > 0 ? 1 : 0;
    std::uint32_t next = L::scan(mine, lane);
    for (int i = 0; i < run; ++i) {
      const int bin = lane * run + i;
      if (size_of(bin) == 0) continue;
      state->chunks[next++] = Chunk::make(state->bins[0][bin], size_of(bin)).word;
    }
    const std::uint32_t listed = L::from_last(next);
    if (lane == 0) state->listed = listed;
  }

  KOKKOS_FUNCTION std::size_t size_of(int bin) const {
    return (bin + 1 < bin_count ? state->bins[0][bin + 1] : count) - state->bins[0][bin];
  }

  KOKKOS_FUNCTION void sweep(const Team& team, std::uint32_t tile, Scratch& scratch) const {
    const Sweep sweep{chunk.buffers,
                      chunk.codec,
                      Sweep::Tiles::of(count),
                      &state->passes,
                      state->bins[0],
                      nullptr,
                      look_back,
                      0};
    if (team.team_rank() == 0) sweep.take(tile, scratch.tile);
    Sweep::clear_counters(team.team_rank(), scratch.tile);
    team.team_barrier();
    sweep.sweep(team, state->passes.digit[0], scratch.tile);
  }

  KOKKOS_FUNCTION void sort(const Team& team, const Chunk& mine, Scratch& scratch) const {
    const Key* const keys = chunk.buffers.keys.end(1) + mine.begin();
    const Value* values = nullptr;
    if constexpr (Any::with_values) values = chunk.buffers.values.end(1) + mine.begin();
    chunk.sort(team, mine, keys, values, state->passes.digit[0].shift, scratch.chunk);
  }
};

}  // namespace kradix::impl
