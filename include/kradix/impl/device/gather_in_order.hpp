// The passes of elements that are gathered in their order, keys with values: tiles sorted where they lie, and tiles gathered
// from their runs, as of keys alone (gather_tiles.hpp); but elements of equal digits keep the order in which they come.
//
// Keys go first and values follow by the ranks that the keys have found, so a tile's registers hold the one or the other.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>

#include "kradix/impl/backend/lanes.hpp"
#include "kradix/impl/buffers.hpp"
#include "kradix/impl/device/bins.hpp"
#include "kradix/impl/device/gather_tiles.hpp"
#include "kradix/impl/device/gathering.hpp"
#include "kradix/impl/device/ordered_steps.hpp"
#include "kradix/impl/device/route.hpp"
#include "kradix/impl/device/team.hpp"
#include "kradix/impl/device/team_scan.hpp"

namespace kradix::impl {

/// One tile sorted by a digit, in order. `Full` tiles have no guards: they would serialise memory operations.
template <class ExecutionSpace, class Codec, class Value, TeamShape Shape>
struct SortTileInOrder {
  using Key = typename Codec::key_type;
  using Team = TeamMember<ExecutionSpace>;
  using L = Lanes<ExecutionSpace>;
  using Steps = OrderedSteps<ExecutionSpace, Shape, bin_count>;
  using Reader = DigitReader<Codec>;
  static constexpr int threads = Shape.threads, items = Shape.items, size = threads * items;
  static constexpr int groups = Steps::groups, span = items * L::width;
  static_assert(span % RunMarks::places == 0 && groups <= GatherTables::most_groups);

  struct Scratch {
    union {
      typename Steps::GroupCounters counters;  ///< done with when elements come
      Key keys[size];
      Value values[size];
    };
    std::uint32_t marks[size / RunMarks::places];
    std::uint32_t sources[size];  ///< of runs, while elements are gathered
    std::uint32_t sums[groups];
    Digit digit;  ///< for the steps after the ranks, lest registers hold it, and what follows
    std::uint32_t bin, window, begin;  ///< of a tile that is gathered
    KOKKOS_FUNCTION Scratch() {}
    KOKKOS_FUNCTION RunsOfGroup<std::uint32_t> runs_of(int group) {
      return {marks + group * (span / static_cast<int>(RunMarks::places)), sources + group * span};
    }
  };
  /// Ranks are packed by two.
  struct Registers {
    Key key[items];
    std::uint32_t rank[items / 2];
  };

  /// Before the first step, with a barrier behind it.
  KOKKOS_FUNCTION static void clear(int thread, Scratch& scratch) {
    auto* const words = reinterpret_cast<std::uint64_t*>(&scratch.counters);
    constexpr int count = sizeof(scratch.counters) / sizeof(std::uint64_t);
    for (int i = thread; i < count; i += threads) words[i] = 0;
  }

  /// Leaves keys in scratch, and their places in registers. Tells each bin's first place. Places beyond `count` lie in the last bin,
  /// behind all others.
  template <bool Full, class Tell>
  KOKKOS_FUNCTION static void sort(const Team& team, const Codec& codec, const Digit& digit,
                                   int count, Registers& registers, Scratch& scratch,
                                   const Tell& tell) {
    const int thread = team.team_rank();
    const auto bins_by = [&](const Reader& reader) {
      return [&registers, reader, thread, count](int i) {
        L::settle(registers.key[i]);
        if (!Full && Steps::place_of(thread, i) >= count) return std::uint32_t{bin_count - 1};
        return reader.of(registers.key[i]);
      };
    };
    if (thread == 0) scratch.digit = digit;
    Steps::rank_by_ballots(thread, bins_by({codec, digit}), scratch.counters, registers.rank);
    team.team_barrier();
    Steps::publish(
        team, bin_count, [](int, std::uint32_t) {},
        [&](std::uint32_t sum) { return scan_lanes<L>(team, sum, scratch.sums); }, tell,
        scratch.counters);
    team.team_barrier();
    Steps::add_group_ranks(thread, bins_by({codec, scratch.digit}), scratch.counters,
                           registers.rank);
    team.team_barrier();
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i)
      scratch.keys[Steps::rank_of(registers.rank, i)] = registers.key[i];
    team.team_barrier();
  }

  /// Values in the order of the keys, as `value_of(i)` tells a thread's. Begins and ends with a barrier.
  template <class ValueOf>
  KOKKOS_FUNCTION static void exchange(const Team& team, const Registers& registers,
                                       Scratch& scratch, const ValueOf& value_of) {
    Value values[items];
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      values[i] = value_of(i);
      if (i % 4 == 3) L::settle_memory();
    }
    team.team_barrier();
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) scratch.values[Steps::rank_of(registers.rank, i)] = values[i];
    team.team_barrier();
  }
};

/// Each tile by the topmost digit: from the caller's elements, or where they lie.
template <class ExecutionSpace, class Codec, class Value, TeamShape Shape>
struct SortTilesInOrder {
  using Tile = SortTileInOrder<ExecutionSpace, Codec, Value, Shape>;
  using Key = typename Codec::key_type;
  using Bits = typename Codec::bits_type;
  using Team = TeamMember<ExecutionSpace>;
  using L = Lanes<ExecutionSpace>;
  using Scratch = typename Tile::Scratch;
  static constexpr int threads = Shape.threads, items = Shape.items;

  SortBuffers<Key, Value> buffers;
  Codec codec;
  Gathering shape;
  GatherTables tables;
  Route* route;

  static std::size_t scratch_bytes() { return sizeof(Scratch); }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    if (route->spreads != Route::gathered) return;
    Scratch& scratch = *take_scratch<Scratch>(team, 1);
    each_tile_of<Tile::size>(team, shape, [&](std::uint32_t tile, std::uint32_t left) {
      if (left >= Tile::size) {
        sort<true>(team, tile, Tile::size, scratch);
      } else {
        sort<false>(team, tile, static_cast<int>(left), scratch);
      }
    });
  }

 private:
  template <bool Full>
  KOKKOS_FUNCTION void sort(const Team& team, std::uint32_t tile, int count,
                            Scratch& scratch) const {
    const int thread = team.team_rank(), top = route->top;
    const std::uint32_t begin = tile * Tile::size;
    const auto each = [&](const auto& load) {
      const int first = Tile::Steps::place_of(thread, 0);
      KRADIX_UNROLL
      for (int i = 0; i < items; ++i) {
        const int offset = i * L::width;
        load(i, Full || first + offset < count ? first + offset : 0);
      }
    };
    typename Tile::Registers registers;
    const Key* const keys = buffers.keys.in + begin;
    each([&](int i, int at) { registers.key[i] = keys[at]; });
    Tile::clear(thread, scratch);
    const auto above = static_cast<Bits>(route->above);
    Bits differ = 0;
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i)
      differ |= static_cast<Bits>(codec.encode(registers.key[i]) ^ above);
    tell_above<L>(route, static_cast<Bits>(differ & ~low_mask<Bits>(top)));
    team.team_barrier();
    Tile::template sort<Full>(
        team, codec, shape.first_digit(top), count, registers, scratch,
        [&](int bin, std::uint32_t first) { tables.tell_in_tile(shape, tile, bin, first); });
    if (thread == 0) tables.tell_in_tile(shape, tile, shape.bins(), count);
    write<Full>(thread, count, scratch.keys, buffers.keys.result + begin);
    if (makes_indices()) {
      Tile::exchange(team, registers, scratch, [&](int i) {
        return static_cast<Value>(begin + Tile::Steps::place_of(thread, i));
      });
    } else {
      const Value* const values = buffers.values.in + begin;
      Tile::exchange(team, registers, scratch, [&](int i) {
        std::uint32_t own = thread;
        if (!Full) L::settle(own);  // or all places would be made before, and spilled
        const int at = Tile::Steps::place_of(own, i);
        return values[Full || at < count ? at : 0];
      });
    }
    write<Full>(thread, count, scratch.values, buffers.values.result + begin);
  }
  KOKKOS_FUNCTION bool makes_indices() const {
    return std::is_integral_v<Value> && buffers.makes_indices;
  }
  template <bool Full, class T>
  KOKKOS_FUNCTION static void write(int thread, int count, const T* scratch, T* out) {
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      if (Full || i * threads + thread < count)
        (out + thread)[i * threads] = (scratch + thread)[i * threads];
      if (i % 4 == 3) L::settle_memory();
    }
  }
};

/// A window is a tile of a bin: gathered, sorted by the next digit, and written side by side.
template <class ExecutionSpace, class Codec, class Value, TeamShape Shape>
struct GatherTilesInOrder {
  using Tile = SortTileInOrder<ExecutionSpace, Codec, Value, Shape>;
  using Key = typename Codec::key_type;
  using Team = TeamMember<ExecutionSpace>;
  using L = Lanes<ExecutionSpace>;
  using Scratch = typename Tile::Scratch;
  using Runs = WindowRuns<ExecutionSpace, Tile::size, Tile::span>;
  using Write = WriteAligned<ExecutionSpace, Shape.threads, Shape.items>;
  static constexpr int threads = Shape.threads, items = Shape.items;

  SortBuffers<Key, Value> buffers;
  Codec codec;
  Gathering shape;
  GatherTables tables;
  const Route* route;

  static std::size_t scratch_bytes() { return sizeof(Scratch); }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    if (route->spreads != Route::gathered) return;
    Scratch& scratch = *take_scratch<Scratch>(team, 1);
    each_window_of<Tile::size>(
        team, shape, tables,
        [&](std::uint32_t bin, std::uint32_t window, std::uint32_t begin, std::uint32_t left) {
          if (left >= Tile::size) {
            gather<true>(team, bin, window, begin, Tile::size, scratch);
          } else {
            gather<false>(team, bin, window, begin, static_cast<int>(left), scratch);
          }
        });
  }

 private:
  template <bool Full>
  KOKKOS_FUNCTION void gather(const Team& team, std::uint32_t bin, std::uint32_t window,
                              std::uint32_t begin, int count, Scratch& scratch) const {
    const int thread = team.team_rank(), group = thread / L::width;
    const auto runs = scratch.runs_of(group);
    const int left = count - group * Tile::span;
    if (Full || left > 0) {
      Runs::find(shape, tables, bin, window * Tile::groups + group,
                 Full || left > Tile::span ? Tile::span : left, L::lane(thread), runs,
                 [](std::uint32_t place) { return place; });
    }
    std::uint32_t first = Tile::Steps::place_of(thread, 0) - group * Tile::span;
    L::settle(first);  // or places would be made once for keys and values, and spilled
    const auto source_of = [&](int i) {
      const std::uint32_t place = first + i * L::width;
      if (!Full && static_cast<int>(place) >= left) return 0u;
      return runs.source_of(place);
    };
    typename Tile::Registers registers;
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      registers.key[i] = buffers.keys.result[source_of(i)];
      if (i % 4 == 3) L::settle_memory();
    }
    Tile::clear(thread, scratch);
    team.team_barrier();
    if (thread == 0) {
      scratch.bin = bin;
      scratch.window = window;
      scratch.begin = begin;
    }
    Tile::template sort<Full>(team, codec, shape.next_digit(route->top), count, registers, scratch,
                              [&](int cell, std::uint32_t at) {
                                shape.tell_in_window(tables.row(shape, scratch.bin, scratch.window),
                                                     cell, at);
                              });
    const auto same = [](const auto& word) { return word; };
    Write::write(thread, scratch.keys, count, buffers.keys.other, scratch.begin, same);
    Tile::exchange(team, registers, scratch,
                   [&](int i) { return buffers.values.result[source_of(i)]; });
    Write::write(thread, scratch.values, count, buffers.values.other, scratch.begin, same);
  }
};

}  // namespace kradix::impl
