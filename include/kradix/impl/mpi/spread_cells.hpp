// Keys alone spread into cells, and what arrives of some cells spread into their parts and finished there.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>

#include "kradix/impl/backend/lanes.hpp"
#include "kradix/impl/device/chunk_passes.hpp"
#include "kradix/impl/device/finish_chunk.hpp"
#include "kradix/impl/device/spread_steps.hpp"
#include "kradix/impl/device/team.hpp"
#include "kradix/impl/device/team_scan.hpp"
#include "kradix/impl/device/tiling.hpp"
#include "kradix/impl/mpi/even_cells.hpp"
#include "kradix/impl/mpi/place_of.hpp"
#include "kradix/impl/mpi/plan.hpp"

namespace kradix::impl::mpi {

/// Cells of all ranks, and parts of a cell, at most.
inline constexpr int most_cells = 1024;

/// A key's cell, or part of its cell. Keys that lie in none count to the last.
template <class Codec, bool Parts>
struct CellReader {
  Codec codec;
  EvenCells<typename Codec::bits_type> cells;

  KOKKOS_FUNCTION std::uint32_t of(const typename Codec::key_type& key) const {
    const std::uint32_t part = cells.part_of(codec.encode(key)), last = cells.parts - 1;
    if constexpr (Parts) return part & (cells.parts_of_cell() - 1);
    return (part < last ? part : last) >> cells.part_bits;
  }
};

/// What is not as it seemed to be.
struct FoundInCells {
  std::uint64_t strays;  ///< not zero if a key lies in no cell
  std::uint64_t failed;  ///< or finds no room in its own
};

/// The steps of a tile: its keys are read, and written where `place` tells for each bin of so many keys, or if `out` is null
/// counted. Tells whether one of a thread's keys lies in no cell; those of parts all do.
template <class ExecutionSpace, class Codec, TeamShape Shape, bool Parts>
struct SpreadCell {
  using Key = typename Codec::key_type;
  using Bits = typename Codec::bits_type;
  using Team = TeamMember<ExecutionSpace>;
  using L = Lanes<ExecutionSpace>;
  using Steps = SpreadSteps<ExecutionSpace, Shape, most_cells>;
  static constexpr int threads = Shape.threads, items = Shape.items, tile_size = threads * items;

  using Reader = CellReader<Codec, Parts>;
  struct Scratch {
    Key keys[tile_size];
    std::uint64_t base[most_cells];   ///< place in the output less place in the tile
    std::uint32_t first[most_cells];  ///< counts, then first place in the tile
    std::uint32_t sums[Steps::groups];
  };
  struct Registers {
    Key key[items];
    std::uint32_t rank[items / 2];  ///< packed by two
    KOKKOS_FUNCTION std::uint32_t bin_of(const Reader& reader, int i) const {
      return reader.of(key[i]);
    }
  };

  template <bool Full, class Place>
  KOKKOS_FUNCTION static bool spread(const Team& team, const Reader& reader, const Key* in,
                                     int size, const Place& place, Key* out, Scratch& scratch) {
    const int thread = team.team_rank();
    Registers registers;
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      const int at = i * threads + thread;
      registers.key[i] = in[Full || at < size ? at : 0];
    }
    for (int bin = thread; bin < most_cells; bin += threads) scratch.first[bin] = 0;
    Steps::template sort<Full>(team, reader, size, place, scratch, registers);
    bool strays = false;  // looked for here, where keys have left the registers
    Key* const to = out + thread;
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      const int at = i * threads + thread;
      if (Full || at < size) {
        const Key key = scratch.keys[at];
        if constexpr (!Parts) strays |= !reader.cells.holds(reader.codec.encode(key));
        if (Parts || out != nullptr) (to + scratch.base[reader.of(key)])[i * threads] = key;
      }
      if (i % 4 == 3) L::settle_memory();
    }
    return strays;
  }
};

/// All keys of a rank into cells, or only counted. Where each cell has room for so many, keys that find none are written over
/// others, and told: then what is counted tells where cells must begin.
template <class ExecutionSpace, class Codec, TeamShape Shape>
struct SpreadIntoCells {
  using Steps = SpreadCell<ExecutionSpace, Codec, Shape, false>;
  using Key = typename Codec::key_type;
  using Team = TeamMember<ExecutionSpace>;
  using Scratch = typename Steps::Scratch;
  using Tiles = Tiling<Steps::tile_size>;

  const Key* keys;
  Key* out;  ///< room for all cells, and for one tile; null: keys are counted
  Codec codec;
  EvenCells<typename Codec::bits_type> cells;
  Tiles tiling;
  std::uint64_t room;   ///< of a cell; 0: as much as each needs
  std::uint64_t* next;  ///< free place of each cell
  FoundInCells* found;

  static std::size_t scratch_bytes() { return sizeof(Scratch); }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    Scratch& scratch = *take_scratch<Scratch>(team, 1);
    const typename Steps::Reader reader{codec, cells};
    const auto place = [&](int bin, std::uint32_t counted) -> std::uint64_t {
      if (counted == 0) return 0;
      std::uint64_t before = Kokkos::atomic_fetch_add(&next[bin], std::uint64_t{counted});
      if (room > 0 && before + counted > (bin + 1) * room) {
        found->failed = 1;
        before = 0;
      }
      return before;
    };
    const std::ptrdiff_t begin = tiling.begin_of(static_cast<std::uint32_t>(team.league_rank()));
    bool strays = false;
    if (begin >= 0) {
      strays = Steps::template spread<true>(team, reader, keys + begin, Steps::tile_size, place,
                                            out, scratch);
    } else {
      strays = Steps::template spread<false>(
          team, reader, keys, Steps::tile_size + static_cast<int>(begin), place, out, scratch);
    }
    if (strays) found->strays = 1;
  }
};

/// What of some cells lies where: a rank's keys of them in the order of the cells.
template <class Key>
struct ArrivedCells {
  const Key* keys[most_spread_ranks];  ///< of each rank, of the first cell here
  const std::uint64_t* begins;         ///< [rank][cell], of all cells
  const std::uint64_t* counts;
  std::uint32_t ranks;
  std::uint32_t in_all, first;  ///< cells of all ranks, and the first one here

  KOKKOS_FUNCTION Share of(std::uint32_t rank, std::uint32_t cell) const {
    const std::uint32_t mine = rank * in_all + first;
    const auto begin = static_cast<std::size_t>(begins[mine + cell] - begins[mine]);
    return {begin, begin + static_cast<std::size_t>(counts[mine + cell])};
  }
};

/// Keys of cells into their parts, each of which has room for so many. What finds none is written over others, and told.
template <class ExecutionSpace, class Codec, TeamShape Shape>
struct SpreadIntoParts {
  using Steps = SpreadCell<ExecutionSpace, Codec, Shape, true>;
  using Key = typename Codec::key_type;
  using Team = TeamMember<ExecutionSpace>;
  using Scratch = typename Steps::Scratch;
  static constexpr std::size_t tile_size = Steps::tile_size;

  ArrivedCells<Key> arrived;
  Codec codec;
  EvenCells<typename Codec::bits_type> cells;
  std::uint32_t tiles;     ///< of a rank's keys of a cell, at most
  std::uint32_t room;      ///< of a part
  Key* out;                ///< room for all parts, and for one tile
  std::uint32_t* counted;  ///< keys of each part, zero
  std::uint32_t* failed;

  static std::size_t scratch_bytes() { return sizeof(Scratch); }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    Scratch& scratch = *take_scratch<Scratch>(team, 1);
    auto index = static_cast<std::uint32_t>(team.league_rank());
    const std::uint32_t tile = index % tiles;
    index /= tiles;
    const std::uint32_t rank = index % arrived.ranks, cell = index / arrived.ranks;
    const Share its = arrived.of(rank, cell);
    const std::size_t begin = its.begin + tile * tile_size;
    if (begin >= its.end) return;
    const Key* const keys = arrived.keys[rank] + begin;
    const std::size_t size = its.end - begin;
    const std::uint32_t parts = cells.parts_of_cell(), first = cell * parts;
    const typename Steps::Reader reader{codec, cells};
    const auto place = [&](int bin, std::uint32_t keys_of_bin) -> std::uint64_t {
      if (keys_of_bin == 0) return 0;
      const std::uint32_t part = first + static_cast<std::uint32_t>(bin);
      std::uint32_t before = Kokkos::atomic_fetch_add(&counted[part], keys_of_bin);
      if (before + keys_of_bin > room) {
        *failed = 1;
        before = 0;
      }
      return std::uint64_t{part} * room + before;
    };
    if (size >= tile_size) {
      Steps::template spread<true>(team, reader, keys, static_cast<int>(tile_size), place, out,
                                   scratch);
    } else {
      Steps::template spread<false>(team, reader, keys, static_cast<int>(size), place, out,
                                    scratch);
    }
  }
};

/// Where each part begins in the result, relative to the first place that is this rank's. A team for each cell.
template <class ExecutionSpace, TeamShape Shape>
struct PlaceParts {
  using Team = TeamMember<ExecutionSpace>;

  const std::int64_t* begins;    ///< of each cell
  const std::uint32_t* counted;  ///< keys of each part
  std::int64_t* places;
  int parts;  ///< of a cell

  struct Scratch {
    std::int64_t begin[most_cells];
  };
  static std::size_t scratch_bytes() { return sizeof(Scratch); }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    Scratch& scratch = *take_scratch<Scratch>(team, 1);
    const std::size_t first = static_cast<std::size_t>(team.league_rank()) * parts;
    for (int part = team.team_rank(); part < parts; part += Shape.threads) {
      scratch.begin[part] = counted[first + part];
    }
    team.team_barrier();
    scan_scratch<Shape.threads>(team, scratch.begin, parts);
    const std::int64_t begin = begins[team.league_rank()];
    for (int part = team.team_rank(); part < parts; part += Shape.threads) {
      places[first + part] = begin + scratch.begin[part];
    }
  }
};

/// The parts of some cells, and where they go. Of one that a cut between ranks divides, no more is written than is this rank's.
template <class Codec, class Value>
struct PartsToFinish {
  using Place = PlaceOf<typename Codec::key_type, Value>;
  static constexpr bool with_values = !std::is_same_v<Value, NoValue>;

  EvenCells<typename Codec::bits_type> cells;
  std::uint32_t first, parts;  ///< here
  std::uint32_t room;          ///< of each
  Place all;
  const std::uint32_t* counted;
  const std::int64_t* places;
  Place out;
  std::int64_t count;    ///< of this rank's places
  Place aside;           ///< room for a part at either end
  std::uint32_t* given;  ///< up: parts with too many keys alike
  std::uint32_t* given_count;

  /// `sort(size, from, to)` puts one in order. Ends with a barrier.
  template <int Threads, class Team, class Sort>
  KOKKOS_FUNCTION void finish(const Team& team, std::uint32_t part, const Sort& sort) const {
    const std::uint32_t size = counted[part];
    const std::int64_t begin = places[part], end = begin + size;
    if (size == 0 || size > room || end <= 0 || begin >= count) return;
    const bool is_whole = begin >= 0 && end <= count;
    const Place to = is_whole ? out.moved_on(static_cast<std::uint64_t>(begin))
                              : aside.moved_on(begin < 0 ? 0 : room);
    sort(static_cast<int>(size), all.moved_on(std::uint64_t{part} * room), to);
    team.team_barrier();
    if (is_whole) return;
    for (std::int64_t place = begin + team.team_rank(); place < end; place += Threads) {
      if (place < 0 || place >= count) continue;
      out.keys[place] = to.keys[place - begin];
      if constexpr (with_values) out.values[place] = to.values[place - begin];
    }
    team.team_barrier();
  }
};

/// Each by one team in scratch, by counting.
template <class ExecutionSpace, class Codec, class Value, TeamShape Shape>
struct FinishParts {
  using Parts = PartsToFinish<Codec, Value>;
  using Place = typename Parts::Place;
  using Chunks = FinishChunk<ExecutionSpace, Codec, Value, Shape, false, Parts::with_values>;
  using Team = TeamMember<ExecutionSpace>;
  using Scratch = typename Chunks::Scratch;

  Chunks chunks;
  Parts parts;
  bool is_dense;  ///< more than narrow counters hold are expected to share one

  static std::size_t scratch_bytes() { return sizeof(Scratch); }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    Scratch& scratch = *take_scratch<Scratch>(team, 1);
    int failures = is_dense ? Chunks::most_failures : 0;
    const auto step = static_cast<std::uint32_t>(team.league_size());
    for (auto part = static_cast<std::uint32_t>(team.league_rank()); part < parts.parts;
         part += step) {
      parts.template finish<Shape.threads>(
          team, part, [&](int size, const Place& from, const Place& to) {
            if (sort(team, part, size, from, to, scratch, failures) || team.team_rank() != 0)
              return;
            parts.given[Kokkos::atomic_fetch_add(parts.given_count, 1u)] = part;
          });
    }
  }

 private:
  KOKKOS_FUNCTION bool sort(const Team& team, std::uint32_t part, int size, const Place& from,
                            const Place& to, Scratch& scratch, int& failures) const {
    typename Chunks::Registers registers;
    if (team.team_rank() == 0) scratch.hopeless = false;
    chunks.load(team.team_rank(), size, from.keys, from.values, 0, scratch, registers);
    if (team.team_rank() == 0) {
      scratch.first = parts.cells.first_of(parts.first + part);
      scratch.last = parts.cells.last_of(parts.first + part);
    }
    bool sorted = false;
    if (failures < Chunks::most_failures) {
      sorted = order<typename Chunks::Narrow>(team, size, scratch, registers);
      failures = sorted ? 0 : failures + 1;
      if (!sorted) team.team_barrier();
    }
    if (!sorted) sorted = order<typename Chunks::Wide>(team, size, scratch, registers);
    if (!sorted) return false;
    Chunks there = chunks;
    there.buffers.keys.result = to.keys;
    there.buffers.values.result = to.values;
    there.write(team, Chunk::make(0, static_cast<std::size_t>(size)), from.values, registers.count,
                scratch);
    return true;
  }
  template <class Counters>
  KOKKOS_FUNCTION bool order(const Team& team, int size, Scratch& scratch,
                             typename Chunks::Registers& registers) const {
    return chunks.template order<Counters, typename Chunks::Index>(team, size, 0, scratch,
                                                                   registers);
  }
};

/// Those that this gives up, digit by digit.
template <class ExecutionSpace, class Codec, class Value, TeamShape Shape>
struct FinishCrowdedParts {
  using Parts = PartsToFinish<Codec, Value>;
  using Place = typename Parts::Place;
  using Passes = ChunkPasses<ExecutionSpace, Codec, Value, Shape>;
  using Bits = typename Codec::bits_type;
  using Team = TeamMember<ExecutionSpace>;
  using Scratch = typename Passes::Scratch;

  Passes passes;
  Parts parts;

  static std::size_t scratch_bytes() { return sizeof(Scratch); }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    const std::uint32_t given = *parts.given_count;
    Scratch& scratch = *take_scratch<Scratch>(team, 1);
    const auto step = static_cast<std::uint32_t>(team.league_size());
    for (auto i = static_cast<std::uint32_t>(team.league_rank()); i < given; i += step) {
      const std::uint32_t part = parts.given[i];
      parts.template finish<
          Shape.threads>(team, part, [&](int size, const Place& from, const Place& to) {
        const typename Passes::Elements elements{size, from.keys, from.values, to.keys, to.values};
        const auto differ = static_cast<Bits>(parts.cells.first_of(parts.first + part) ^
                                              parts.cells.last_of(parts.first + part));
        passes.sort(team, elements, bit_width_of(differ), scratch);
      });
    }
  }
};

}  // namespace kradix::impl::mpi
