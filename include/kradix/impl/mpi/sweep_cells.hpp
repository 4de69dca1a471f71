// The kernels of a sort whose elements are spread into cells before they travel, and keep their order: a rank's elements into
// cells, and what has arrived into the parts of each.
//
// Tiles learn by look-back where their elements go on; of parts, back to where a cell begins.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kradix/impl/backend/lanes.hpp"
#include "kradix/impl/device/ordered_steps.hpp"
#include "kradix/impl/device/team.hpp"
#include "kradix/impl/device/tile_queue.hpp"
#include "kradix/impl/device/tiling.hpp"
#include "kradix/impl/mpi/arrived_tiles.hpp"
#include "kradix/impl/mpi/even_cells.hpp"
#include "kradix/impl/mpi/place_of.hpp"
#include "kradix/impl/mpi/spread_cells.hpp"

namespace kradix::impl::mpi {

/// The steps of a tile. Keys and values lie beside each other in scratch.
template <class ExecutionSpace, class Codec, class Value, TeamShape Shape, bool Parts>
struct SweepCell {
  using Key = typename Codec::key_type;
  using Team = TeamMember<ExecutionSpace>;
  using L = Lanes<ExecutionSpace>;
  using Steps = OrderedSteps<ExecutionSpace, Shape, most_cells>;
  using Reader = CellReader<Codec, Parts>;
  using Place = PlaceOf<Key, Value>;
  using Queue = TileQueue<ExecutionSpace, most_cells>;
  static constexpr int threads = Steps::threads, items = Steps::items;
  static constexpr int tile_size = Steps::tile_size;

  struct Scratch {
    union {
      typename Steps::Counters counters;
      struct {
        Key keys[tile_size];
        Value values[tile_size];
      };
    };
    std::uint64_t base[most_cells];   ///< place in the output less place in the tile
    std::uint32_t first[most_cells];  ///< first place in the tile
    std::uint32_t tile;
    Reader reader;
    KOKKOS_FUNCTION Scratch() {}
  };

  /// Draws a tile, of which `look(tile)` is done by one thread. Ends with a barrier.
  template <class Look>
  KOKKOS_FUNCTION static void begin(const Team& team, const Queue& queue, int bins,
                                    Scratch& scratch, const Look& look) {
    if (team.team_rank() == 0) look(scratch.tile = queue.draw());
    Steps::clear(team.team_rank(), bins, scratch.counters);
    team.team_barrier();
  }

  /// A tile of so many elements, whose counters are clear, into so many bins, or if `out` is null only counted. `tell(bin, own)` lets others know how many elements of a bin it has,
  /// `find(bin, own)` learns where they go. Tells whether one of a thread's keys lies in no cell; those of parts all do.
  template <bool Full, class Tell, class Find>
  KOKKOS_FUNCTION static bool sweep(const Team& team, const Reader& reader, int bins,
                                    const Place& in, int size, const Queue& queue, const Tell& tell,
                                    const Find& find, const Place& out, Scratch& scratch) {
    const int thread = team.team_rank(), from = Steps::place_of(thread, 0);
    const std::uint32_t tile = scratch.tile;
    std::uint32_t mine = items;  // that exist
    if (!Full)
      mine = from < size ? static_cast<std::uint32_t>(size - from + L::width - 1) / L::width : 0;
    Key key[items];
    std::uint32_t rank[items / 2];
    const Key* const keys = in.keys + from;
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      key[i] = Full || static_cast<std::uint32_t>(i) < mine ? keys[i * L::width] : Key{};
    }
    // Places beyond the end count as the last bin, behind all others.
    const auto bin_by = [&](const Reader& reader, int i) -> std::uint32_t {
      L::settle(key[i]);
      if (!Full) {
        L::settle(mine);  // or a predicate of each item would be kept
        if (static_cast<std::uint32_t>(i) >= mine) return static_cast<std::uint32_t>(bins - 1);
      }
      return reader.of(key[i]);
    };
    const auto real = [&](int bin, std::uint32_t counted) {
      if (Full || bin != bins - 1) return counted;
      return counted - static_cast<std::uint32_t>(tile_size - size);
    };
    Steps::rank(
        thread, [&](int i) { return bin_by(reader, i); }, scratch.counters, rank);
    if (thread == 0) {
      // For the steps below: the compiler would keep every item's bin instead, and spill the keys.
      scratch.reader = reader;
      queue.look_back.enter(tile);
    }
    team.team_barrier();
    Steps::publish(
        team, bins, [&](int bin, std::uint32_t counted) { tell(bin, real(bin, counted)); },
        scratch.counters, scratch.first);
    team.team_barrier();
    const Reader again = scratch.reader;
    Steps::add_group_ranks(
        thread, [&](int i) { return bin_by(again, i); }, scratch.counters, rank);
    team.team_barrier();
    const Value* const values = in.values + from;
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {  // past registers, while bins are looked for
      if (Full || static_cast<std::uint32_t>(i) < mine) {
        L::bring(&scratch.values[Steps::rank_of(rank, i)], values + i * L::width);
      }
    }
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) scratch.keys[Steps::rank_of(rank, i)] = key[i];
    Steps::place_bins(
        thread, bins, [&](int bin, std::uint32_t counted) { return find(bin, real(bin, counted)); },
        scratch.first, scratch.base);
    L::await_brought();
    team.team_barrier();
    if (thread == 0) queue.look_back.leave(tile);
    if (out.keys == nullptr) return any_strays(thread, scratch.reader, size, scratch);
    return scatter<Full>(thread, scratch.reader, size, out, scratch);
  }

 private:
  KOKKOS_FUNCTION static bool strays(const Reader& reader, const Key& key) {
    if constexpr (Parts) return false;
    return !reader.cells.holds(reader.codec.encode(key));
  }
  template <bool Full>
  KOKKOS_FUNCTION static bool scatter(int thread, const Reader& reader, int size, const Place& out,
                                      const Scratch& scratch) {
    bool strays = false;
    Key* const keys = out.keys + thread;
    Value* const values = out.values + thread;
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      const int at = i * threads + thread;
      if (Full || at < size) {
        const Key key = scratch.keys[at];
        strays |= SweepCell::strays(reader, key);
        const std::uint64_t to =
            scratch.base[reader.of(key)] + static_cast<std::uint64_t>(i * threads);
        keys[to] = key;
        values[to] = scratch.values[at];
      }
      if (i % 4 == 3) L::settle_memory();
    }
    return strays;
  }
  KOKKOS_FUNCTION static bool any_strays(int thread, const Reader& reader, int size,
                                         const Scratch& scratch) {
    bool strays = false;
    for (int i = thread; i < size; i += threads)
      strays |= SweepCell::strays(reader, scratch.keys[i]);
    return strays;
  }
};

/// All elements of a rank into cells, or only counted. Where each cell has room for so many, those that find none are written over
/// others, and told: then what is counted tells where cells must begin.
template <class ExecutionSpace, class Codec, class Value, TeamShape Shape>
struct SweepIntoCells {
  using Steps = SweepCell<ExecutionSpace, Codec, Value, Shape, false>;
  using Place = PlaceOf<typename Codec::key_type, Value>;
  using Team = TeamMember<ExecutionSpace>;
  using Scratch = typename Steps::Scratch;
  using Tiles = Tiling<Steps::tile_size>;

  Place in;
  Place out;  ///< room for all cells, and for one tile; null: elements are counted
  Codec codec;
  EvenCells<typename Codec::bits_type> cells;
  Tiles tiling;
  std::uint64_t room;           ///< of a cell; 0: as much as each needs
  const std::uint64_t* begins;  ///< of cells
  std::uint64_t* ends;          ///< are told
  FoundInCells* found;
  typename Steps::Queue queue;

  static std::size_t scratch_bytes() { return sizeof(Scratch); }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    Scratch& scratch = *take_scratch<Scratch>(team, 1);
    const int bins = static_cast<int>(cells.cells());
    Steps::begin(team, queue, bins, scratch, [](std::uint32_t) {});
    const typename Steps::Reader reader{codec, cells};
    const auto tell = [&](int bin, std::uint32_t own) {
      queue.look_back.publish_own(scratch.tile, bin, own);
    };
    const auto find = [&](int bin, std::uint32_t own) {
      const std::uint64_t begin = queue.look_back.place(scratch.tile, bin, own, begins[bin]);
      if (tiling.ends_before(scratch.tile + 1)) ends[bin] = begin + own;
      if (room == 0 || begin + own <= (static_cast<std::uint64_t>(bin) + 1) * room) return begin;
      found->failed = 1;
      return std::uint64_t{0};
    };
    const std::ptrdiff_t begin = tiling.begin_of(scratch.tile);
    bool strays = false;
    if (begin >= 0) {
      strays = Steps::template sweep<true>(team, reader, bins,
                                           in.moved_on(static_cast<std::uint64_t>(begin)),
                                           Steps::tile_size, queue, tell, find, out, scratch);
    } else {
      strays = Steps::template sweep<false>(team, reader, bins, in,
                                            Steps::tile_size + static_cast<int>(begin), queue, tell,
                                            find, out, scratch);
    }
    if (strays) found->strays = 1;
  }
};

/// What has arrived, from each rank.
template <class Place>
struct ArrivedElements {
  Place of[most_spread_ranks];
};

/// Elements of cells into their parts, each of which has room for so many. What finds none is written over others, and told.
template <class ExecutionSpace, class Codec, class Value, TeamShape Shape>
struct SweepIntoParts {
  using Steps = SweepCell<ExecutionSpace, Codec, Value, Shape, true>;
  using Place = PlaceOf<typename Codec::key_type, Value>;
  using Team = TeamMember<ExecutionSpace>;
  struct Scratch {
    typename Steps::Scratch steps;
    ArrivedTile arrived;  ///< the team's
    KOKKOS_FUNCTION Scratch() {}
  };
  static constexpr std::size_t tile_size = Steps::tile_size;

  ArrivedElements<Place> arrived;
  const ArrivedTile* tiles;
  Codec codec;
  EvenCells<typename Codec::bits_type> cells;
  std::uint32_t room;      ///< of a part
  Place out;               ///< room for all parts, and for one tile
  std::uint32_t* counted;  ///< elements of each part, of which there are
  std::uint32_t* failed;
  typename Steps::Queue queue;

  static std::size_t scratch_bytes() { return sizeof(Scratch); }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    Scratch& scratch = *take_scratch<Scratch>(team, 1);
    const int bins = static_cast<int>(cells.parts_of_cell());
    Steps::begin(team, queue, bins, scratch.steps,
                 [&](std::uint32_t index) { scratch.arrived = tiles[index]; });
    const ArrivedTile& tile = scratch.arrived;
    const auto tell = [&](int bin, std::uint32_t own) {
      queue.look_back.publish_own(scratch.steps.tile, tile.chain, bin, own);
    };
    const auto find = [&](int bin, std::uint32_t own) {
      const std::uint32_t part =
          tile.cell * cells.parts_of_cell() + static_cast<std::uint32_t>(bin);
      std::uint32_t before =
          queue.look_back.before_in_chain(scratch.steps.tile, tile.chain, bin, own);
      if (tile.is_last) counted[part] = before + own;
      if (before + own > room) {
        *failed = 1;
        before = 0;
      }
      return std::uint64_t{part} * room + before;
    };
    const typename Steps::Reader reader{codec, cells};
    const Place in = arrived.of[tile.rank].moved_on(tile.begin);
    const int size = static_cast<int>(tile.size);
    if (size == static_cast<int>(tile_size)) {
      Steps::template sweep<true>(team, reader, bins, in, size, queue, tell, find, out,
                                  scratch.steps);
    } else {
      Steps::template sweep<false>(team, reader, bins, in, size, queue, tell, find, out,
                                   scratch.steps);
    }
  }
};

}  // namespace kradix::impl::mpi
