// A level of merges: up to so many runs at a time become one, stably.
//
// Where a tile of the result begins in every run is searched for: in two runs as merge path does (Green, McColl and Bader,
// "GPU merge path", 2012), in four by blocks whose size is halved (after Varman, Scheufler, Iyer and Ricard, "Merging
// multiple lists on hierarchical-memory multiprocessors", 1991). Within a tile runs are merged two by two, by merge path
// again: all its threads choosing among four runs at once takes half as long again.
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

/// Of a run in another device's memory the last of each so many keys is at hand, counted from where it begins there.
inline constexpr int landmark_bits = 6;
inline constexpr std::uint64_t landmark_step = std::uint64_t{1} << landmark_bits;

/// A sorted run of keys, and what travels with them.
template <class Key, class Value>
struct SortedRun {
  const Key* keys = nullptr;
  const Value* values = nullptr;
  std::uint64_t size = 0;
  /// If it lies afar: it is read, but not searched. `lead` keys of the first block come before `keys`, and are less.
  const Key* landmarks = nullptr;
  std::uint64_t lead = 0;

  /// The last key of a block of 2^level, whose end is counted with those of the lead.
  KOKKOS_FUNCTION const Key& last_of_block(std::uint64_t end, int level) const {
    const bool coarse = landmarks != nullptr && level >= landmark_bits;
    const Key* const from = coarse ? landmarks : keys - static_cast<std::int64_t>(lead);
    return from[(coarse ? end >> landmark_bits : end) - 1];
  }
};

/// Of sorted runs with their leads, how many of each are among the first elements of their stable merge: those that are `taken`,
/// multiples of a landmark's step, and `left` more.
///
/// Blocks are taken whole, the one with the least last key first. When `left` are still wanted, fewer than
/// Ways * (step - 1) elements outside that block come before its last one, so it belongs to them if `left` is greater. Hardly
/// ever are more than two of a run taken before blocks are halved: their last keys are loaded at once.
template <int Ways, class Codec, class Value>
KOKKOS_FUNCTION void take_first(const Codec& codec,
                                const SortedRun<typename Codec::key_type, Value> (&run)[Ways],
                                std::uint64_t left, std::uint64_t (&taken)[Ways]) {
  using Bits = typename Codec::bits_type;
  constexpr int at_once = 2;
  int level = 0;
  while (left > Ways * ((std::uint64_t{2} << level) - 1)) ++level;
  for (; left > 0; --level) {
    const std::uint64_t step = std::uint64_t{1} << level, enough = Ways * (step - 1);
    while (left > enough) {
      Bits last[Ways][at_once];  // of each run's next blocks
      int whole[Ways];           // so many of those there are
      KRADIX_UNROLL
      for (int w = 0; w < Ways; ++w) {
        const std::uint64_t blocks = (run[w].lead + run[w].size - taken[w]) >> level;
        whole[w] = blocks < at_once ? static_cast<int>(blocks) : at_once;
        KRADIX_UNROLL
        for (int i = 0; i < at_once; ++i) {
          last[w][i] = i < whole[w]
                           ? codec.encode(run[w].last_of_block(taken[w] + (i + 1) * step, level))
                           : Bits{};
        }
      }
      bool all_known = true;
      do {
        int least = 0;
        bool found = whole[0] > 0;
        Bits least_last = last[0][0];
        KRADIX_UNROLL
        for (int w = 1; w < Ways; ++w) {
          const bool less = whole[w] > 0 && (!found || last[w][0] < least_last);
          least = less ? w : least;
          least_last = less ? last[w][0] : least_last;
          found = found || less;
        }
        KRADIX_UNROLL
        for (int w = 0; w < Ways; ++w) {
          if (w != least) continue;
          taken[w] += step;
          last[w][0] = last[w][1];
          // The next one may be the least, and is not at hand.
          all_known = --whole[w] > 0 || (run[w].lead + run[w].size - taken[w]) >> level == 0;
        }
        left -= step;
      } while (left > enough && all_known);
    }
  }
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

/// Where elements lie.
template <class Key, class Value>
struct PlaceOf {
  Key* keys = nullptr;
  Value* values = nullptr;

  PlaceOf moved_on(std::uint64_t by) const {
    return {keys + by, mpi::moved_on(values, static_cast<std::int64_t>(by))};
  }
};

/// Runs that become one, where it goes, and the tile at which it begins.
template <class Key, class Value, int Ways>
struct RunGroup {
  SortedRun<Key, Value> run[Ways];
  std::uint64_t out = 0;
  std::size_t first_tile = 0;

  KOKKOS_FUNCTION std::uint64_t size() const {
    std::uint64_t sum = 0;
    for (int w = 0; w < Ways; ++w) sum += run[w].size;
    return sum;
  }
};

/// The groups of a level, small enough to travel with a kernel.
template <class Key, class ValueOfRuns, int RunsOfGroup, int Most>
struct RunGroups {
  using Value = ValueOfRuns;
  static constexpr int ways = RunsOfGroup;
  RunGroup<Key, Value, ways> group[Most];
  int count = 0;

  KOKKOS_FUNCTION const RunGroup<Key, Value, ways>& of_tile(std::size_t tile) const {
    int found = 0;
    KRADIX_UNROLL
    for (int g = 1; g < Most; ++g) {
      if (g < count && tile >= group[g].first_tile) found = g;
    }
    return group[found];
  }
};

/// Where the tiles of a level begin in each of their runs. Of many tiles one in `apart` is searched for first, and the others
/// from there on.
template <class Codec, class Groups>
struct FindSplits {
  static constexpr int ways = Groups::ways;
  static constexpr std::size_t apart = 16;
  Codec codec;
  Groups groups;
  std::size_t tile_size;
  std::uint64_t* splits;
  enum Which { all, some, rest } which;

  KOKKOS_FUNCTION void operator()(std::size_t i) const {
    if (which == rest && i % apart == 0) return;
    const std::size_t tile = which == some ? i * apart : i;
    const auto& group = groups.of_tile(tile);
    // At hand: which group it is is not known beforehand, so that each look would go to memory.
    SortedRun<typename Codec::key_type, typename Groups::Value> run[ways];
    KRADIX_UNROLL
    for (int w = 0; w < ways; ++w) run[w] = group.run[w];
    std::uint64_t taken[ways];
    std::uint64_t left = (tile - group.first_tile) * tile_size;
    if (ways == 2 && !run[0].landmarks && !run[1].landmarks) {
      taken[0] = taken_from_left(codec, run[0].keys, run[0].size, run[1].keys, run[1].size, left);
      taken[1] = left - taken[0];
    } else {
      // From the landmark before what is known, or before the runs: what comes before them is less.
      const std::size_t known = tile / apart * apart;
      const bool is_known = which == rest && known >= group.first_tile;
      KRADIX_UNROLL
      for (int w = 0; w < ways; ++w) {
        taken[w] =
            is_known ? (splits[known * ways + w] + run[w].lead) / landmark_step * landmark_step : 0;
        left += run[w].lead - taken[w];
      }
      take_first(codec, run, left, taken);
      KRADIX_UNROLL
      for (int w = 0; w < ways; ++w) taken[w] -= run[w].lead;
    }
    for (int w = 0; w < ways; ++w) splits[tile * ways + w] = taken[w];
  }
};

/// A team for each tile, from one on.
template <class ExecutionSpace, class Codec, class Value, TeamShape Shape, class Groups>
struct MergeTile {
  using Key = typename Codec::key_type;
  using Team = TeamMember<ExecutionSpace>;
  static constexpr bool with_values = !std::is_same_v<Value, NoValue>;
  static constexpr int ways = Groups::ways;
  static_assert(ways == 2 || ways == 4);
  static constexpr bool twice = ways == 4;
  static constexpr int threads = Shape.threads, items = Shape.items, tile_size = threads * items;
  static_assert(tile_size <= 0xffff);

  Key* keys_out;
  Value* values_out;
  Codec codec;
  Groups groups;
  const std::uint64_t* splits;
  std::size_t begin;

  /// Values come to scratch when keys have left it.
  struct Scratch {
    union {
      Key keys[tile_size];  ///< run after run
      Value values[with_values ? tile_size : 1];
    };
    std::uint16_t source[tile_size];  ///< of each place in the result, which of them
    /// Of four runs: of each place after the first merges, which of them.
    std::uint16_t first_source[twice && with_values ? tile_size : 1];
    KOKKOS_FUNCTION Scratch() {}
  };
  static std::size_t scratch_bytes() { return sizeof(Scratch); }

  /// Where a tile's elements are, numbered on from run to run; `begin[w]` is the first of run w.
  struct Tile {
    std::uint64_t out;
    const Key* keys[ways];
    const Value* values[ways];
    int begin[ways + 1];

    KOKKOS_FUNCTION int size() const { return begin[ways]; }
    template <class T>
    KOKKOS_FUNCTION const T* run_of(int i, const T* const (&runs)[ways]) const {
      const T* found = runs[0];
      KRADIX_UNROLL
      for (int w = 1; w < ways; ++w) found = i >= begin[w] ? runs[w] : found;
      return found;
    }
    KOKKOS_FUNCTION const Key& key(int i) const { return run_of(i, keys)[i]; }
    KOKKOS_FUNCTION const Value& value(int i) const { return run_of(i, values)[i]; }
  };

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    Scratch& scratch = *take_scratch<Scratch>(team, 1);
    const Tile tile = tile_of(begin + static_cast<std::size_t>(team.league_rank()));
    if (tile.size() == tile_size) {
      merge<true>(team, tile, scratch);
    } else {
      merge<false>(team, tile, scratch);
    }
  }

 private:
  KOKKOS_FUNCTION Tile tile_of(std::size_t index) const {
    const auto& group = groups.of_tile(index);
    const std::uint64_t done = (index - group.first_tile) * tile_size;
    const bool last = group.size() - done <= tile_size;
    Tile tile;
    tile.out = group.out + done;
    tile.begin[0] = 0;
    KRADIX_UNROLL
    for (int w = 0; w < ways; ++w) {
      const SortedRun<Key, Value>& run = group.run[w];
      const std::uint64_t split = splits[index * ways + w];
      const std::uint64_t next = last ? run.size : splits[(index + 1) * ways + w];
      const auto first = static_cast<std::int64_t>(split) - tile.begin[w];
      tile.keys[w] = run.keys + first;
      tile.values[w] = moved_on(run.values, first);
      tile.begin[w + 1] = tile.begin[w] + static_cast<int>(next - split);
    }
    return tile;
  }

  /// A full tile (`Full`) has no guards: they would serialise its memory operations.
  template <bool Full>
  KOKKOS_FUNCTION void merge(const Team& team, const Tile& tile, Scratch& scratch) const {
    const int thread = team.team_rank();
    const int size = tile.size();
    // All loads come before a key is written: a pointer that was chosen might point to scratch, for all that the
    // compiler knows, and each would wait for the store before it. Values are under way while keys are merged last.
    Key moving[items];
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      const int place = i * threads + thread;
      if (Full || place < size) moving[i] = tile.key(place);
    }
    [[maybe_unused]] Value values[with_values ? items : 1];
    const auto load_values = [&] {
      KRADIX_UNROLL
      for (int i = 0; i < items; ++i) {
        const int place = i * threads + thread;
        if (Full || place < size) values[i] = tile.value(place);
      }
    };
    if constexpr (with_values && !twice) load_values();
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      const int place = i * threads + thread;
      if (Full || place < size) scratch.keys[place] = moving[i];
    }
    team.team_barrier();
    Pair last{0, tile.begin[1], size};
    if constexpr (twice) {
      const int middle = tile.begin[2];
      std::uint16_t from[items];
      merge_pairs<Full>(thread, size, {0, tile.begin[1], middle}, {middle, tile.begin[3], size},
                        scratch.keys, [&](int i, int place, const Key& key) {
                          moving[i] = key;
                          from[i] = static_cast<std::uint16_t>(place);
                        });
      team.team_barrier();
      KRADIX_UNROLL
      for (int i = 0; i < items; ++i) {
        const int place = thread * items + i;
        if (!Full && place >= size) break;
        scratch.keys[place] = moving[i];
        if constexpr (with_values) scratch.first_source[place] = from[i];
      }
      if constexpr (with_values) load_values();
      team.team_barrier();
      last = {0, middle, size};
    }
    merge_pairs<Full>(thread, size, last, {size, size, size}, scratch.keys,
                      [&](int i, int place, const Key&) {
                        scratch.source[thread * items + i] = static_cast<std::uint16_t>(place);
                      });
    team.team_barrier();
    write<Full>(thread, tile, keys_out,
                [&](int place) -> const Key& { return scratch.keys[scratch.source[place]]; });
    if constexpr (with_values) {
      team.team_barrier();
      KRADIX_UNROLL
      for (int i = 0; i < items; ++i) {
        const int place = i * threads + thread;
        if (Full || place < size) scratch.values[place] = values[i];
      }
      team.team_barrier();
      write<Full>(thread, tile, values_out, [&](int place) -> const Value& {
        const int source = scratch.source[place];
        return scratch.values[twice ? scratch.first_source[source] : source];
      });
    }
  }

  /// What lies in scratch, keys or values, in the order of the result.
  template <bool Full, class T, class Held>
  KOKKOS_FUNCTION static void write(int thread, const Tile& tile, T* out, const Held& held) {
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      const int place = i * threads + thread;
      if (Full || place < tile.size()) {
        out[tile.out + static_cast<std::uint64_t>(place)] = held(place);
      }
    }
  }

  /// Two runs in scratch, one after the other.
  struct Pair {
    int begin, middle, end;
  };

  /// Two pairs of runs, one after the other, of which the second may be empty: each thread merges as many elements as it
  /// has items, and puts out where they come from.
  template <bool Full, class Put>
  KOKKOS_FUNCTION void merge_pairs(int thread, int size, const Pair& one, const Pair& two,
                                   const Key* keys, const Put& put) const {
    const int first = thread * items;
    if (!Full && first >= size) return;
    Pair pair = first < one.end ? one : two;
    int left = pair.begin + taken_from_left<Codec, int>(
                                codec, keys + pair.begin, pair.middle - pair.begin,
                                keys + pair.middle, pair.end - pair.middle, first - pair.begin);
    int right = pair.middle + (first - left);
    // Beyond the end of a run there is some other key, which is not looked at.
    Key left_key = keys[left < size ? left : 0];
    Key right_key = keys[right < size ? right : 0];
    auto of_left = codec.encode(left_key);
    auto of_right = codec.encode(right_key);
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      if (!Full && first + i >= size) return;
      if (i > 0 && first + i == one.end) {
        pair = two;
        left = pair.begin;
        right = pair.middle;
        left_key = keys[left];
        right_key = keys[right < size ? right : 0];
        of_left = codec.encode(left_key);
        of_right = codec.encode(right_key);
      }
      const bool takes_left = right >= pair.end || (left < pair.middle && of_left <= of_right);
      put(i, takes_left ? left : right, takes_left ? left_key : right_key);
      left += takes_left ? 1 : 0;
      right += takes_left ? 0 : 1;
      const int after = takes_left ? left : right;
      const Key next = keys[after < size ? after : 0];
      if (takes_left) {
        left_key = next;
        of_left = codec.encode(next);
      } else {
        right_key = next;
        of_right = codec.encode(next);
      }
    }
  }
};

}  // namespace kradix::impl::mpi
