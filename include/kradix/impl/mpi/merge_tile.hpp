// A level of merges: runs become one, two by two, stably.
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

/// array + by, but for values that are not there.
template <class T>
KOKKOS_FUNCTION constexpr T* moved_on(T* array, std::int64_t by) {
  if constexpr (std::is_same_v<std::remove_const_t<T>, NoValue>) {
    return array;
  } else {
    return array + by;
  }
}

/// A sorted run of keys, and what travels with them.
template <class Key, class Value>
struct SortedRun {
  const Key* keys = nullptr;
  const Value* values = nullptr;
  std::uint64_t size = 0;
};

/// Two runs, where their merge goes, and the tile at which it begins.
template <class Key, class Value>
struct RunPair {
  SortedRun<Key, Value> left, right;
  std::uint64_t out = 0;
  std::size_t first_tile = 0;

  KOKKOS_FUNCTION std::uint64_t size() const { return left.size + right.size; }
};

/// The pairs of a level, small enough to travel with a kernel.
template <class Key, class Value, int Most>
struct RunPairs {
  RunPair<Key, Value> pair[Most];
  int count = 0;

  KOKKOS_FUNCTION RunPair<Key, Value> of_tile(std::size_t tile) const {
    RunPair<Key, Value> found = pair[0];
    KRADIX_UNROLL
    for (int p = 1; p < Most; ++p) {
      if (p < count && tile >= pair[p].first_tile) found = pair[p];
    }
    return found;
  }
};

/// Where the tiles of a level begin in the left one of their runs.
template <class Codec, class Pairs>
struct FindSplits {
  Codec codec;
  Pairs pairs;
  std::size_t tile_size;
  std::uint64_t* splits;

  KOKKOS_FUNCTION void operator()(std::size_t tile) const {
    const auto pair = pairs.of_tile(tile);
    splits[tile] = taken_from_left<Codec, std::uint64_t>(codec, pair.left.keys, pair.left.size,
                                                         pair.right.keys, pair.right.size,
                                                         (tile - pair.first_tile) * tile_size);
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

  Key* keys_out;
  Value* values_out;
  Codec codec;
  RunPairs<Key, Value, MostPairs> pairs;
  const std::uint64_t* splits;

  /// Values come to scratch when keys have left it.
  struct Scratch {
    union {
      Key keys[tile_size];  ///< those of the left run, then those of the right one
      Value values[with_values ? tile_size : 1];
    };
    std::uint16_t source[tile_size];  ///< of each place in the result, which of them
    KOKKOS_FUNCTION Scratch() {}
  };
  static std::size_t scratch_bytes() { return sizeof(Scratch); }

  /// Where a tile's elements are: `lefts` of the left run, the others of the right one.
  struct Tile {
    std::uint64_t out;
    const Key* left_keys;
    const Key* right_keys;
    const Value* left_values;
    const Value* right_values;
    int size, lefts;

    KOKKOS_FUNCTION const Key& key(int i) const { return (i < lefts ? left_keys : right_keys)[i]; }
    KOKKOS_FUNCTION const Value& value(int i) const {
      return (i < lefts ? left_values : right_values)[i];
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
    const auto pair = pairs.of_tile(index);
    const std::uint64_t diagonal = (index - pair.first_tile) * tile_size;
    const std::uint64_t size = pair.size() - diagonal;
    const bool last = size <= tile_size;
    const std::uint64_t split = splits[index];
    const std::uint64_t next = last ? pair.left.size : splits[index + 1];
    const int lefts = static_cast<int>(next - split);
    // Elements of the right run are numbered on from those of the left one.
    const auto right = static_cast<std::int64_t>(diagonal - split) - lefts;
    return {pair.out + diagonal,
            pair.left.keys + split,
            pair.right.keys + right,
            moved_on(pair.left.values, static_cast<std::int64_t>(split)),
            moved_on(pair.right.values, right),
            last ? static_cast<int>(size) : tile_size,
            lefts};
  }

  /// A full tile (`Full`) has no guards: they would serialise its memory operations.
  template <bool Full>
  KOKKOS_FUNCTION void merge(const Team& team, const Tile& tile, Scratch& scratch) const {
    const int thread = team.team_rank();
    // All loads come before a key is written: a pointer that was chosen might point to scratch, for all that the
    // compiler knows, and each would wait for the store before it. Values are under way while keys are merged.
    Key moving[items];
    [[maybe_unused]] Value values[with_values ? items : 1];
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      const int place = i * threads + thread;
      if (Full || place < tile.size) moving[i] = tile.key(place);
    }
    if constexpr (with_values) {
      KRADIX_UNROLL
      for (int i = 0; i < items; ++i) {
        const int place = i * threads + thread;
        if (Full || place < tile.size) values[i] = tile.value(place);
      }
    }
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      const int place = i * threads + thread;
      if (Full || place < tile.size) scratch.keys[place] = moving[i];
    }
    team.team_barrier();
    find_sources<Full>(thread, tile, scratch);
    team.team_barrier();
    write<Full>(thread, tile, scratch, keys_out, scratch.keys);
    if constexpr (with_values) {
      team.team_barrier();
      KRADIX_UNROLL
      for (int i = 0; i < items; ++i) {
        const int place = i * threads + thread;
        if (Full || place < tile.size) scratch.values[place] = values[i];
      }
      team.team_barrier();
      write<Full>(thread, tile, scratch, values_out, scratch.values);
    }
  }

  /// What lies in scratch, keys or values, in the order of the result.
  template <bool Full, class T>
  KOKKOS_FUNCTION static void write(int thread, const Tile& tile, const Scratch& scratch, T* out,
                                    const T* held) {
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      const int place = i * threads + thread;
      if (Full || place < tile.size) {
        out[tile.out + static_cast<std::uint64_t>(place)] = held[scratch.source[place]];
      }
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
};

}  // namespace kradix::impl::mpi
