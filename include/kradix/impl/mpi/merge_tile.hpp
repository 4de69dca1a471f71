// A level of merges: neighbouring runs become one, two by two, stably.
//
// Merge path (Green, McColl and Bader, "GPU merge path", 2012): where a tile of the result begins in both runs
// is found by search, first for all tiles, then within a tile for all threads.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>

#include "kradix/impl/device/team.hpp"
#include "kradix/impl/words.hpp"

namespace kradix::impl::mpi {

/// Of two sorted runs, how many of the first `diagonal` elements of their stable merge come from the left.
template <class Codec, class Index>
KOKKOS_FUNCTION Index taken_from_left(const Codec& codec, const typename Codec::key_type* left,
                                      Index left_size, const typename Codec::key_type* right,
                                      Index right_size, Index diagonal) {
  Index low = diagonal > right_size ? diagonal - right_size : 0;
  Index high = diagonal < left_size ? diagonal : left_size;
  while (low < high) {
    const Index middle = low + (high - low) / 2;
    const bool left_first =
        codec.encode(left[middle]) <= codec.encode(right[diagonal - 1 - middle]);
    low = left_first ? middle + 1 : low;
    high = left_first ? high : middle;
  }
  return low;
}

/// Two neighbouring runs [begin, middle) and [middle, end), and the tile at which their merge begins.
struct RunPair {
  std::uint64_t begin = 0, middle = 0, end = 0;
  std::size_t first_tile = 0;
};

/// The pairs of a level, small enough to travel with a kernel.
template <int MostPairs>
struct RunPairs {
  RunPair pair[MostPairs];
  int count = 0;

  KOKKOS_FUNCTION RunPair of_tile(std::size_t tile) const {
    RunPair found = pair[0];
    KRADIX_UNROLL
    for (int p = 1; p < MostPairs; ++p) {
      if (p < count && tile >= pair[p].first_tile) found = pair[p];
    }
    return found;
  }
};

/// Where the tiles of a level begin in the left one of their runs.
template <class Codec, int MostPairs>
struct FindSplits {
  const typename Codec::key_type* keys;
  Codec codec;
  RunPairs<MostPairs> pairs;
  std::size_t tile_size;
  std::uint64_t* splits;

  KOKKOS_FUNCTION void operator()(std::size_t tile) const {
    const RunPair pair = pairs.of_tile(tile);
    splits[tile] = taken_from_left<Codec, std::uint64_t>(
        codec, keys + pair.begin, pair.middle - pair.begin, keys + pair.middle,
        pair.end - pair.middle, (tile - pair.first_tile) * tile_size);
  }
};

/// A team for each tile.
template <class ExecutionSpace, class Codec, class Value, TeamShape Shape, int MostPairs>
struct MergeTile {
  using Key = typename Codec::key_type;
  using Team = TeamMember<ExecutionSpace>;
  static constexpr bool with_values = !std::is_same_v<Value, NoValue>;
  static constexpr int threads = Shape.threads, items = Shape.items, tile_size = threads * items;
  static_assert(tile_size <= 0xffff);

  const Key* keys_in;
  Key* keys_out;
  const Value* values_in;
  Value* values_out;
  Codec codec;
  RunPairs<MostPairs> pairs;
  const std::uint64_t* splits;

  struct Scratch {
    Key keys[tile_size];              ///< those of the left run, then those of the right one
    std::uint16_t source[tile_size];  ///< of each place in the result, which of them
    KOKKOS_FUNCTION Scratch() {}
  };
  static std::size_t scratch_bytes() { return sizeof(Scratch); }

  /// Where a tile's elements are: `lefts` of the left run, the others of the right one.
  struct Tile {
    std::uint64_t out, left, right;
    int size, lefts;

    KOKKOS_FUNCTION std::uint64_t source(int i) const {
      return i < lefts ? left + static_cast<std::uint64_t>(i)
                       : right + static_cast<std::uint64_t>(i - lefts);
    }
  };

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    Scratch& scratch = *take_scratch<Scratch>(team, 1);
    const Tile tile = tile_of(static_cast<std::size_t>(team.league_rank()));
    if (tile.size == tile_size) {
      merge<true>(team, tile, scratch);
    } else {
      merge<false>(team, tile, scratch);
    }
  }

 private:
  KOKKOS_FUNCTION Tile tile_of(std::size_t index) const {
    const RunPair pair = pairs.of_tile(index);
    const std::uint64_t diagonal = (index - pair.first_tile) * tile_size;
    const std::uint64_t size = pair.end - pair.begin - diagonal;
    const bool last = size <= tile_size;
    const std::uint64_t split = splits[index];
    const std::uint64_t next = last ? pair.middle - pair.begin : splits[index + 1];
    return {pair.begin + diagonal, pair.begin + split, pair.middle + (diagonal - split),
            last ? static_cast<int>(size) : tile_size, static_cast<int>(next - split)};
  }

  /// A full tile (`Full`) has no guards: they would serialise its memory operations.
  template <bool Full>
  KOKKOS_FUNCTION void merge(const Team& team, const Tile& tile, Scratch& scratch) const {
    const int thread = team.team_rank();
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      const int place = i * threads + thread;
      if (Full || place < tile.size) scratch.keys[place] = keys_in[tile.source(place)];
    }
    team.team_barrier();
    find_sources<Full>(thread, tile, scratch);
    team.team_barrier();
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      const int place = i * threads + thread;
      if (Full || place < tile.size) write(tile, place, scratch);
    }
  }

  /// Each thread merges as many elements as it has items.
  template <bool Full>
  KOKKOS_FUNCTION void find_sources(int thread, const Tile& tile, Scratch& scratch) const {
    const int first = thread * items;
    if (!Full && first >= tile.size) return;
    const Key* const keys = scratch.keys;
    int left = taken_from_left<Codec, int>(codec, keys, tile.lefts, keys + tile.lefts,
                                           tile.size - tile.lefts, first);
    int right = tile.lefts + (first - left);
    // Beyond the end of a run there is some other key, which is not looked at.
    auto of_left = codec.encode(keys[left < tile.size ? left : 0]);
    auto of_right = codec.encode(keys[right < tile.size ? right : 0]);
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      if (!Full && first + i >= tile.size) return;
      const bool takes_left = right >= tile.size || (left < tile.lefts && of_left <= of_right);
      scratch.source[first + i] = static_cast<std::uint16_t>(takes_left ? left : right);
      left += takes_left ? 1 : 0;
      right += takes_left ? 0 : 1;
      const int after = takes_left ? left : right;
      const auto next = codec.encode(keys[after < tile.size ? after : 0]);
      if (takes_left) {
        of_left = next;
      } else {
        of_right = next;
      }
    }
  }

  KOKKOS_FUNCTION void write(const Tile& tile, int place, const Scratch& scratch) const {
    const int source = scratch.source[place];
    const std::uint64_t to = tile.out + static_cast<std::uint64_t>(place);
    keys_out[to] = scratch.keys[source];
    if constexpr (with_values) values_out[to] = values_in[tile.source(source)];
  }
};

}  // namespace kradix::impl::mpi
