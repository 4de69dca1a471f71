// A tile of several sorted runs put in order by counting instead of by merges, where its keys spread.
//
// Between the least and the greatest key of a tile lie some more cells of equal width than it has keys (Isaac and Singleton,
// "Sorting by address calculation", 1956). Each key counts into its cell, and the counts before that are its place, but for others
// of the cell: those are few, and listed, and sorted among themselves. So each key goes once through scratch where merges two by
// two take it once for each level.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "kradix/impl/backend/lanes.hpp"
#include "kradix/impl/device/digit.hpp"
#include "kradix/impl/device/packed_counters.hpp"
#include "kradix/impl/device/team.hpp"
#include "kradix/impl/mpi/merge_tile.hpp"
#include "kradix/impl/words.hpp"

namespace kradix::impl::mpi {

/// Which of so many cells, all of a width, a key belongs to.
template <class Codec>
struct CellOfTile {
  using Bits = typename Codec::bits_type;
  static constexpr int width = 8 * static_cast<int>(sizeof(Bits));

  Bits least;
  int shift;  ///< lets the greatest begin with a bit that is set
  std::uint32_t factor;

  KOKKOS_FUNCTION static CellOfTile between(Bits least, Bits greatest, std::uint32_t cells) {
    constexpr int dropped = 14;
    const auto span = static_cast<Bits>(greatest - least);
    CellOfTile cell{least, span == 0 ? 0 : width - bit_width_of(span), 0};
    if (span != 0) cell.factor = (cells << (32 - dropped)) / ((cell.topmost(span) >> dropped) + 1);
    return cell;
  }
  /// A key's 32 bits from the first of the greatest on.
  KOKKOS_FUNCTION std::uint32_t topmost(Bits above_least) const {
    const auto moved = static_cast<Bits>(above_least << shift);
    if constexpr (width <= 32) {
      return static_cast<std::uint32_t>(moved) << (32 - width);
    } else {
      return static_cast<std::uint32_t>(moved >> (width - 32));
    }
  }
  /// Are there no two keys that differ?
  KOKKOS_FUNCTION bool is_one() const { return factor == 0; }
  KOKKOS_FUNCTION std::uint32_t of(Bits code) const {
    return static_cast<std::uint32_t>(
        std::uint64_t{topmost(static_cast<Bits>(code - least))} * factor >> 32);
  }
};

template <class ExecutionSpace, class Codec, TeamShape Shape>
struct TileCells {
  using Key = typename Codec::key_type;
  using Bits = typename Codec::bits_type;
  using Team = TeamMember<ExecutionSpace>;
  using L = Lanes<ExecutionSpace>;
  using Counters = PackedCounters<4, 10>;
  static constexpr int threads = Shape.threads, items = Shape.items, groups = threads / L::width;
  static constexpr std::uint32_t count = Counters::words * Counters::per_word;
  static constexpr int fours = Counters::words / (4 * threads);  ///< words of a thread, by four
  static constexpr int batch = 4;  ///< keys whose words are on their way together
  static constexpr std::uint32_t most_queued = threads * items / 4;

  struct Scratch {
    FourWords counters[threads][fours];
    FourSums before[threads][fours];  ///< of each word
    std::uint32_t sums[groups];
    std::uint32_t overflows;
    std::uint32_t queued;              ///< cells with more than one key
    std::uint16_t queue[most_queued];  ///< each by the place of its second key

    KOKKOS_FUNCTION std::uint32_t* word_at(std::uint32_t cell) {
      return &counters[0][0].word[0] + Counters::word_of(cell);
    }
    KOKKOS_FUNCTION std::uint32_t before_word_at(std::uint32_t cell) const {
      return (&before[0][0].before[0])[Counters::word_of(cell)];
    }
  };

  /// A thread's keys, `threads` places apart, and the how manyth each is in its cell, four bits each: cells are sooner looked
  /// up twice than kept.
  struct Held {
    static constexpr int per_word = 8, rank_bits = 4;
    Key key[items];
    std::uint32_t rank[(items + per_word - 1) / per_word];
    std::uint32_t slot = 0;  ///< in the queue, for the first of them that is the second of its cell

    KOKKOS_FUNCTION std::uint32_t rank_of(int item) const {
      return rank[item / per_word] >> rank_bits * (item % per_word) & 15u;
    }
  };

  KOKKOS_FUNCTION static void clear(int thread, Scratch& scratch) {
    KRADIX_UNROLL
    for (int f = 0; f < fours; ++f) scratch.counters[thread][f] = {};
    if (thread == 0) scratch.overflows = scratch.queued = 0;
  }

  /// The keys of a full tile. Behind a barrier.
  KOKKOS_FUNCTION static void count_keys(int thread, const Codec& codec,
                                         const CellOfTile<Codec>& cells, const Key* keys,
                                         Scratch& scratch, Held& held) {
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) held.key[i] = keys[i * threads + thread];
    typename Counters::Overflow overflow;
    std::uint32_t seconds = 0;
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      const std::uint32_t cell = cells.of(codec.encode(held.key[i]));
      const std::uint32_t shift = Counters::shift_of(cell);
      const std::uint32_t old = L::add(scratch.word_at(cell), 1u << shift);
      overflow.add(old, shift);
      const std::uint32_t nth = Counters::counter(old, shift);
      seconds += nth == 1 ? 1 : 0;
      const std::uint32_t rank = nth << Held::rank_bits * (i % Held::per_word);
      std::uint32_t& word = held.rank[i / Held::per_word];
      word = i % Held::per_word == 0 ? rank : word | rank;
    }
    if (overflow.seen()) scratch.overflows = 1;
    const int lane = L::lane(thread);
    const std::uint32_t before = L::scan(seconds, lane);
    if (lane == L::width - 1) held.slot = L::add(&scratch.queued, before + seconds);
    held.slot = L::from_last(held.slot) + before;
  }

  /// Behind a barrier. False if too many keys share a cell, and then nothing has changed but counts.
  KOKKOS_FUNCTION static bool scan(const Team& team, Scratch& scratch) {
    const int thread = team.team_rank(), group = thread / L::width, lane = L::lane(thread);
    if (scratch.overflows != 0 || scratch.queued > most_queued) return false;
    std::uint32_t sum = 0;
    KRADIX_UNROLL
    for (int f = 0; f < fours; ++f) {
      const FourWords four = scratch.counters[thread][f];
      KRADIX_UNROLL
      for (int w = 0; w < 4; ++w) sum += Counters::sum(four.word[w]);
    }
    const std::uint32_t lanes_before = L::scan(sum, lane);
    const std::uint32_t all_lanes = L::from_last(lanes_before + sum);
    if (lane == 0) scratch.sums[group] = all_lanes;
    team.team_barrier();
    std::uint32_t next = lanes_before;
    for (int g = 0; g < group; ++g) next += scratch.sums[g];
    KRADIX_UNROLL
    for (int f = 0; f < fours; ++f) {
      const FourWords four = scratch.counters[thread][f];
      FourSums sums;
      KRADIX_UNROLL
      for (int w = 0; w < 4; ++w) {
        sums.before[w] = static_cast<std::uint16_t>(next);
        next += Counters::sum(four.word[w]);
      }
      scratch.before[thread][f] = sums;
    }
    return true;
  }

  /// Behind a barrier. If `ordered` with where each comes from.
  KOKKOS_FUNCTION static void place(int thread, const Codec& codec, const CellOfTile<Codec>& cells,
                                    bool ordered, Scratch& scratch, Held& held, Key* keys,
                                    std::uint16_t* from) {
    std::uint32_t slot = held.slot;
    KRADIX_UNROLL
    for (int begin = 0; begin < items; begin += batch) {
      std::uint32_t place[batch];
      L::settle(held.rank[begin / Held::per_word]);  // or all ranks would be unpacked at once
      KRADIX_UNROLL
      for (int i = begin; i < items && i < begin + batch; ++i) {
        L::settle(held.key[i]);
        const std::uint32_t cell = cells.of(codec.encode(held.key[i]));
        place[i - begin] = scratch.before_word_at(cell) +
                           Counters::before(*scratch.word_at(cell), Counters::shift_of(cell)) +
                           held.rank_of(i);
      }
      KRADIX_UNROLL
      for (int i = begin; i < items && i < begin + batch; ++i) {
        const int source = i * threads + thread;
        keys[place[i - begin]] = held.key[i];
        if (ordered) from[place[i - begin]] = static_cast<std::uint16_t>(source);
        if (held.rank_of(i) == 1) {
          scratch.queue[slot] = static_cast<std::uint16_t>(place[i - begin]);
          ++slot;
        }
      }
      L::settle_memory();
    }
  }

  /// Behind a barrier: keys of a cell among themselves, by whichever thread comes first.
  KOKKOS_FUNCTION static void sort_cells(int thread, const Codec& codec,
                                         const CellOfTile<Codec>& cells, bool ordered,
                                         Scratch& scratch, Key* keys, std::uint16_t* from) {
    const std::uint32_t queued = scratch.queued;
    for (std::uint32_t q = thread; q < queued; q += threads) {
      const int second = scratch.queue[q];
      const std::uint32_t cell = cells.of(codec.encode(keys[second]));
      const auto more =
          static_cast<int>(Counters::counter(*scratch.word_at(cell), Counters::shift_of(cell)) - 1);
      sort_few(codec, second - 1, second + more, ordered, keys, from);
    }
  }

 private:
  KOKKOS_FUNCTION static void sort_few(const Codec& codec, int first, int end, bool ordered,
                                       Key* keys, std::uint16_t* from) {
    for (int place = first + 1; place < end; ++place) {
      const Key key = keys[place];
      const Bits bits = codec.encode(key);
      const std::uint32_t key_from = ordered ? from[place] : 0;
      int to = place;
      for (; to > first; --to) {
        const Key other = keys[to - 1];
        const Bits other_bits = codec.encode(other);
        if (other_bits < bits || (other_bits == bits && (!ordered || from[to - 1] < key_from)))
          break;
        keys[to] = other;
        if (ordered) from[to] = from[to - 1];
      }
      keys[to] = key;
      if (ordered) from[to] = static_cast<std::uint16_t>(key_from);
    }
  }
};

/// A team for each tile of many runs, from one on. A tile whose keys do not spread, or the last one, if it is not full,
/// is left to be merged.
template <class ExecutionSpace, class Codec, class Value, TeamShape Shape, class Groups>
struct CellTile : TilesOfRuns<ExecutionSpace, Codec, Value, Shape, Groups> {
  using Tiles = TilesOfRuns<ExecutionSpace, Codec, Value, Shape, Groups>;
  using Cells = TileCells<ExecutionSpace, Codec, Shape>;
  using Bits = typename Codec::bits_type;
  using Tiles::codec, Tiles::tile_size, Tiles::ways, Tiles::with_values;
  using typename Tiles::Key;
  using typename Tiles::L;
  using typename Tiles::Team;
  using typename Tiles::Tile;

  std::size_t begin;
  TilesLeft left;
  bool keeps_order;  ///< keys that compare equal may differ

  struct Scratch : Tiles::Elements {
    typename Cells::Scratch cells;
    bool leaves;  ///< the tile
    KOKKOS_FUNCTION Scratch() {}
  };
  static std::size_t scratch_bytes() { return sizeof(Scratch); }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    Scratch& scratch = *take_scratch<Scratch>(team, 1);
    const int thread = team.team_rank();
    const Tile tile = this->tile_of(begin + static_cast<std::size_t>(team.league_rank()));
    this->find_runs(thread, tile, scratch);
    Cells::clear(thread, scratch.cells);
    if (thread == 0) {
      scratch.leaves = tile.size < tile_size || left.template are_many<L>(tile.index);
    }
    team.team_barrier();
    if (!scratch.leaves) {
      this->bring(team, tile, scratch);
      if (sort(team, tile, scratch)) return;
    }
    if (thread == 0) left.add(tile.index);
  }

 private:
  KOKKOS_FUNCTION bool sort(const Team& team, const Tile& tile, Scratch& scratch) const {
    const int thread = team.team_rank();
    const CellOfTile<Codec> cells = cells_of(thread, scratch);
    const bool ordered = with_values || keeps_order;
    if (cells.is_one()) {  // then they lie in order
      write(thread, tile, scratch, [](int place) { return place; });
      return true;
    }
    typename Cells::Held held;
    Cells::count_keys(thread, codec, cells, scratch.keys, scratch.cells, held);
    team.team_barrier();
    if (!Cells::scan(team, scratch.cells)) return false;
    team.team_barrier();
    Cells::place(thread, codec, cells, ordered, scratch.cells, held, scratch.keys, scratch.source);
    team.team_barrier();
    Cells::sort_cells(thread, codec, cells, ordered, scratch.cells, scratch.keys, scratch.source);
    team.team_barrier();
    write(thread, tile, scratch, [&](int place) { return scratch.source[place]; });
    return true;
  }

  /// Keys, which lie in order, and values from where their `source` tells.
  template <class Source>
  KOKKOS_FUNCTION void write(int thread, const Tile& tile, const Scratch& scratch,
                             [[maybe_unused]] const Source& source) const {
    Tiles::template write<true>(thread, tile, this->keys_out,
                                [&](int place) -> const Key& { return scratch.keys[place]; });
    if constexpr (with_values) {
      Tiles::template write<true>(thread, tile, this->values_out, [&](int place) -> const Value& {
        return scratch.values[source(place)];
      });
    }
  }

  /// Between the ends of all runs, each looked at by a lane of every group.
  KOKKOS_FUNCTION CellOfTile<Codec> cells_of(int thread, const Scratch& scratch) const {
    constexpr int group = L::width < ways ? L::width : ways;
    auto least = static_cast<Bits>(~Bits{0}), below_greatest = least;
    for (int w = L::lane(thread) % group; w < ways; w += group) {
      const int first = scratch.begin[w], end = scratch.begin[w + 1];
      if (first == end) continue;
      const Bits low = codec.encode(scratch.keys[first]);
      const auto below = static_cast<Bits>(~codec.encode(scratch.keys[end - 1]));
      least = low < least ? low : least;
      below_greatest = below < below_greatest ? below : below_greatest;
    }
    return CellOfTile<Codec>::between(L::template least<group>(least),
                                      static_cast<Bits>(~L::template least<group>(below_greatest)),
                                      Cells::count);
  }
};

}  // namespace kradix::impl::mpi
