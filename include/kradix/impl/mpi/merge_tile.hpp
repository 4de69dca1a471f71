// A level of merges: up to so many runs at a time become one, stably.
//
// Where a tile of the result begins in every run is searched for: in two runs as merge path does (Green, McColl and Bader,
// "GPU merge path", 2012), in more by blocks whose size is halved (after Varman, Scheufler, Iyer and Ricard, "Merging
// multiple lists on hierarchical-memory multiprocessors", 1991). Within a tile runs are merged two by two, by merge path
// again: all its threads choosing among four runs at once takes half as long again. Of eight runs a tile is counted instead
// (cell_tile.hpp), if its keys spread.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>

#include "kradix/impl/backend/lanes.hpp"
#include "kradix/impl/device/team.hpp"
#include "kradix/impl/mpi/place_of.hpp"
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

/// Of `Ways` sorted runs with their leads, how many of each are among the first elements of their stable merge: those that are
/// `taken`, multiples of a landmark's step, and `left` more. Each of `Group` lanes side by side has an equal share of the runs,
/// in their order; all lanes come here together, with as many left as the others of their group.
///
/// Blocks are taken whole, the one with the least last key first. When `left` are still wanted, fewer than
/// Ways * (step - 1) elements outside that block come before its last one, so it belongs to them if `left` is greater. Hardly
/// ever are more of a run taken before blocks are halved than those whose last keys are loaded at once.
template <class L, int Group, int Ways, class Codec, class Value>
KOKKOS_FUNCTION void take_first(
    const Codec& codec, int lane,
    const SortedRun<typename Codec::key_type, Value> (&run)[Ways / Group], std::uint64_t left,
    std::uint64_t (&taken)[Ways / Group]) {
  using Bits = typename Codec::bits_type;
  using Mask = typename L::Mask;
  constexpr int held = Ways / Group, at_once = Group > 1 ? 4 : 2;
  const Mask alone = Mask{1} << lane;
  const Mask of_group = static_cast<Mask>((Mask{2} << (Group - 1)) - 1) << lane / Group * Group;
  Bits last[held][at_once];  // of each run's next blocks
  int whole[held];           // so many of those there are
  int level = 0;
  while (left > Ways * ((std::uint64_t{2} << level) - 1)) ++level;
  while (L::where(left > 0) != 0) {
    const std::uint64_t step = std::uint64_t{1} << level, enough = Ways * (step - 1);
    const auto look = [&](int h) {
      const std::uint64_t blocks = (run[h].lead + run[h].size - taken[h]) >> level;
      whole[h] = blocks < at_once ? static_cast<int>(blocks) : at_once;
      KRADIX_UNROLL
      for (int i = 0; i < at_once; ++i) {
        last[h][i] = i < whole[h]
                         ? codec.encode(run[h].last_of_block(taken[h] + (i + 1) * step, level))
                         : Bits{};
      }
    };
    KRADIX_UNROLL
    for (int h = 0; h < held; ++h) {
      whole[h] = 0;
      if (left > enough) look(h);
    }
    while (L::where(left > enough) != 0) {
      int least = 0;
      bool found = whole[0] > 0;
      Bits least_last = last[0][0];
      KRADIX_UNROLL
      for (int h = 1; h < held; ++h) {
        const bool less = whole[h] > 0 && (!found || last[h][0] < least_last);
        least = less ? h : least;
        least_last = less ? last[h][0] : least_last;
        found = found || less;
      }
      bool takes = left > enough;
      if constexpr (Group > 1) {
        const Bits of_all =
            L::template least<Group>(found ? least_last : static_cast<Bits>(~Bits{0}));
        const Mask equal = L::where(found && least_last == of_all) & of_group;
        takes = takes && (equal & (~equal + 1)) == alone;
      }
      KRADIX_UNROLL
      for (int h = 0; h < held; ++h) {
        if (!takes || h != least) continue;
        taken[h] += step;
        KRADIX_UNROLL
        for (int i = 1; i < at_once; ++i) last[h][i - 1] = last[h][i];
        if (--whole[h] == 0) look(h);  // the next one may be the least, and is not at hand
      }
      left -= left > enough ? step : 0;
    }
    --level;
  }
}

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

/// Tiles that were not put in order by counting, and have to be merged.
struct TilesLeft {
  std::uint64_t* words = nullptr;  ///< their number, and then which they are

  KOKKOS_FUNCTION void clear() const { words[0] = 0; }
  KOKKOS_FUNCTION void add(std::size_t tile) const {
    words[1 + Kokkos::atomic_fetch_add(words, std::uint64_t{1})] = tile;
  }
  KOKKOS_FUNCTION std::size_t count() const { return words[0]; }
  KOKKOS_FUNCTION std::size_t at(std::size_t i) const { return words[1 + i]; }
  /// So many of which it is no use to try more.
  template <class L>
  KOKKOS_FUNCTION bool are_many(std::size_t tried) const {
    constexpr std::uint64_t by_chance = 64, part = 4;
    const std::uint64_t left = L::load(words);
    return left > by_chance && part * left > tried;
  }
};

/// Where tiles [begin, end) of a level begin in each of their runs. Of many tiles one in `apart` is searched for first, and the
/// others from there on. Where threads look at each other's registers, so many search for a tile as there are runs.
template <class ExecutionSpace, class Codec, class Groups>
struct FindSplits {
  using Team = TeamMember<ExecutionSpace>;
  using L = Lanes<ExecutionSpace>;
  static constexpr int ways = Groups::ways;
  static constexpr int group = L::width >= ways ? ways : 1, held = ways / group;
  static constexpr TeamShape shape = find_splits_shape<ExecutionSpace>();
  static constexpr std::size_t of_team = shape.threads / group;
  static constexpr std::size_t apart = 16;
  Codec codec;
  Groups groups;
  std::size_t tile_size;
  std::uint64_t* splits;
  TilesLeft left;  ///< none at first
  enum Which { all, some, rest } which;
  std::size_t begin, end;  ///< tiles, or of `some` the first of each so many

  std::size_t teams() const { return (end - begin + of_team - 1) / of_team; }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    const int thread = team.team_rank(), first_run = thread % group * held;
    if (which != rest && team.league_rank() == 0 && thread == 0) left.clear();
    const std::size_t i = begin + static_cast<std::size_t>(team.league_rank()) * of_team +
                          static_cast<std::size_t>(thread / group);
    const std::size_t tile = which == some ? i * apart : i;
    const bool wanted = i < end && !(which == rest && i % apart == 0);
    const auto& group_of_runs = groups.of_tile(tile);
    // At hand: which group it is is not known beforehand, so that each look would go to memory.
    SortedRun<typename Codec::key_type, typename Groups::Value> run[held];
    bool afar = false;
    KRADIX_UNROLL
    for (int w = 0; w < ways; ++w) {
      afar = afar || group_of_runs.run[w].landmarks != nullptr;
      KRADIX_UNROLL
      for (int h = 0; h < held; ++h) {
        if (w == first_run + h) run[h] = group_of_runs.run[w];
      }
    }
    const std::uint64_t before = (tile - group_of_runs.first_tile) * tile_size;
    std::uint64_t taken[held];
    if (ways == 2 && !afar) {
      if (!wanted) return;
      const auto& left = group_of_runs.run[0];
      const auto& right = group_of_runs.run[1];
      taken[0] = taken_from_left(codec, left.keys, left.size, right.keys, right.size, before);
      if (held == 2) {
        taken[held - 1] = before - taken[0];
      } else if (first_run == 1) {
        taken[0] = before - taken[0];
      }
    } else {
      // From the landmark before what is known, or before the runs: what comes before them is less.
      const std::size_t known = tile / apart * apart;
      const bool is_known = which == rest && known >= group_of_runs.first_tile;
      std::uint64_t skipped = 0, lead = 0;
      KRADIX_UNROLL
      for (int w = 0; w < ways; ++w) {
        const std::uint64_t of_run = group_of_runs.run[w].lead;
        const std::uint64_t from =
            wanted && is_known ? (splits[known * ways + w] + of_run) / landmark_step * landmark_step
                               : 0;
        KRADIX_UNROLL
        for (int h = 0; h < held; ++h) {
          if (w == first_run + h) taken[h] = from;
        }
        skipped += from;
        lead += of_run;
      }
      take_first<L, group, ways>(codec, L::lane(thread), run, wanted ? before + lead - skipped : 0,
                                 taken);
      KRADIX_UNROLL
      for (int h = 0; h < held; ++h) taken[h] -= run[h].lead;
    }
    if (!wanted) return;
    KRADIX_UNROLL
    for (int h = 0; h < held; ++h) splits[tile * ways + first_run + h] = taken[h];
  }
};

/// What kernels share that put tiles of several runs in order: where a tile's elements lie, and where they go.
template <class ExecutionSpace, class Codec, class Value, TeamShape Shape, class Groups>
struct TilesOfRuns {
  using Key = typename Codec::key_type;
  using Team = TeamMember<ExecutionSpace>;
  using L = Lanes<ExecutionSpace>;
  static constexpr bool with_values = !std::is_same_v<Value, NoValue>;
  static constexpr int ways = Groups::ways;
  static constexpr int threads = Shape.threads, items = Shape.items, tile_size = threads * items;
  static_assert(tile_size <= 0xffff);

  Key* keys_out;
  Value* values_out;
  Codec codec;
  Groups groups;
  const std::uint64_t* splits;

  struct Elements {
    Key keys[tile_size];                        ///< run after run
    Value values[with_values ? tile_size : 1];  ///< likewise
    int begin[ways + 1];                        ///< of each run, and the end of the last
    std::uint16_t source[tile_size];            ///< of each place in the result, which of them
  };

  /// Its elements are numbered on from run to run.
  struct Tile {
    std::size_t index;
    std::uint64_t out;
    int size;
  };

 protected:
  KOKKOS_FUNCTION Tile tile_of(std::size_t index) const {
    const auto& group = groups.of_tile(index);
    const std::uint64_t done = (index - group.first_tile) * tile_size, left = group.size() - done;
    return {index, group.out + done, left < tile_size ? static_cast<int>(left) : tile_size};
  }

  /// Where each run begins in the tile, and the last one ends, by a thread each.
  KOKKOS_FUNCTION void find_runs(int thread, const Tile& tile, Elements& elements) const {
    const std::uint64_t* const from = splits + tile.index * ways;
    const auto& group = groups.of_tile(tile.index);
    const bool last = tile.out + static_cast<std::uint64_t>(tile.size) == group.out + group.size();
    for (int w = thread; w < ways; w += threads) {
      std::uint64_t before = 0;
      KRADIX_UNROLL
      for (int v = 0; v < ways; ++v) {
        const std::uint64_t to = last ? group.run[v].size : from[ways + v];
        before += v < w ? to - from[v] : 0;
      }
      elements.begin[w] = static_cast<int>(before);
    }
    if (thread == 0) elements.begin[ways] = tile.size;
  }

  /// Brings the elements of each run, by some threads each. Behind a barrier; ends with one.
  KOKKOS_FUNCTION void bring(const Team& team, const Tile& tile, Elements& elements) const {
    constexpr int of_run = threads < ways ? 1 : threads / ways;
    const int thread = team.team_rank();
    for (int w = thread / of_run; w < ways; w += threads / of_run) {
      const auto& run = groups.of_tile(tile.index).run[w];
      const auto first = static_cast<std::int64_t>(splits[tile.index * ways + w]);
      const int to = elements.begin[w], size = elements.begin[w + 1] - to;
      const Key* const keys = run.keys + first;
      const Value* const values = moved_on(run.values, first);
      for (int i = thread % of_run; i < size; i += of_run) {
        L::bring(&elements.keys[to + i], keys + i);
        if constexpr (with_values) L::bring(&elements.values[to + i], values + i);
      }
    }
    L::await_brought();
    team.team_barrier();
  }

  /// What lies in scratch, keys or values, in the order of the result.
  template <bool Full, class T, class Held>
  KOKKOS_FUNCTION static void write(int thread, const Tile& tile, T* out, const Held& held) {
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      const int place = i * threads + thread;
      if (Full || place < tile.size) {
        out[tile.out + static_cast<std::uint64_t>(place)] = held(place);
      }
    }
  }
};

/// From so many runs on tiles are counted first, as that takes less than merges in so many levels.
inline constexpr int counted_ways = 8;

/// A team for each tile, or, of many runs, for those that are left.
template <class ExecutionSpace, class Codec, class Value, TeamShape Shape, class Groups>
struct MergeTile : TilesOfRuns<ExecutionSpace, Codec, Value, Shape, Groups> {
  using Tiles = TilesOfRuns<ExecutionSpace, Codec, Value, Shape, Groups>;
  using Tiles::codec, Tiles::keys_out, Tiles::values_out;
  using Tiles::items, Tiles::threads, Tiles::tile_size, Tiles::ways, Tiles::with_values;
  using typename Tiles::Key;
  using typename Tiles::Team;
  using typename Tiles::Tile;
  static_assert(ways == 2 || ways == 4 || ways == 8);
  static constexpr bool at_once = ways == 2;  ///< else pairs of runs are merged first
  static constexpr bool all = ways < counted_ways;

  std::size_t begin;  ///< of all
  TilesLeft left;     ///< else

  struct Scratch : Tiles::Elements {
    /// Of more than two runs: of each place before the last merge, which of them.
    std::uint16_t first_source[!at_once && with_values ? tile_size : 1];
    KOKKOS_FUNCTION Scratch() {}
  };
  static std::size_t scratch_bytes() { return sizeof(Scratch); }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    const auto nth = static_cast<std::size_t>(team.league_rank());
    if constexpr (all) {
      merge(team, begin + nth, *take_scratch<Scratch>(team, 1));
    } else {
      const std::size_t count = left.count();
      if (nth >= count) return;
      Scratch& scratch = *take_scratch<Scratch>(team, 1);
      for (std::size_t i = nth; i < count; i += static_cast<std::size_t>(team.league_size())) {
        merge(team, left.at(i), scratch);
        team.team_barrier();
      }
    }
  }

 private:
  KOKKOS_FUNCTION void merge(const Team& team, std::size_t index, Scratch& scratch) const {
    const Tile tile = this->tile_of(index);
    this->find_runs(team.team_rank(), tile, scratch);
    team.team_barrier();
    this->bring(team, tile, scratch);
    if (tile.size == tile_size) {
      merge<true>(team, tile, scratch);
    } else {
      merge<false>(team, tile, scratch);
    }
  }

  /// A full tile (`Full`) has no guards: they would serialise its memory operations.
  template <bool Full>
  KOKKOS_FUNCTION void merge(const Team& team, const Tile& tile, Scratch& scratch) const {
    const int thread = team.team_rank();
    if constexpr (!at_once) merge_all_but_two<Full, ways / 2>(team, tile, scratch);
    merge_pairs<Full, 1>(thread, tile, scratch, [&](int i, int place, const Key&) {
      scratch.source[thread * items + i] = static_cast<std::uint16_t>(place);
    });
    team.team_barrier();
    Tiles::template write<Full>(thread, tile, keys_out, [&](int place) -> const Key& {
      return scratch.keys[scratch.source[place]];
    });
    if constexpr (with_values) {
      Tiles::template write<Full>(thread, tile, values_out, [&](int place) -> const Value& {
        const int source = scratch.source[place];
        return scratch.values[at_once ? source : scratch.first_source[source]];
      });
    }
  }

  /// So many pairs of runs become one run each, then half as many pairs of those, until two are left.
  template <bool Full, int Pairs>
  KOKKOS_FUNCTION void merge_all_but_two(const Team& team, const Tile& tile,
                                         Scratch& scratch) const {
    if constexpr (Pairs > 1) {
      const int thread = team.team_rank();
      Key moving[items];
      std::uint16_t from[items];
      merge_pairs<Full, Pairs>(thread, tile, scratch, [&](int i, int place, const Key& key) {
        moving[i] = key;
        if constexpr (with_values) {
          constexpr bool first = Pairs == ways / 2;
          from[i] = first ? static_cast<std::uint16_t>(place) : scratch.first_source[place];
        }
      });
      team.team_barrier();
      KRADIX_UNROLL
      for (int i = 0; i < items; ++i) {
        const int place = thread * items + i;
        if (!Full && place >= tile.size) break;
        scratch.keys[place] = moving[i];
        if constexpr (with_values) scratch.first_source[place] = from[i];
      }
      team.team_barrier();
      merge_all_but_two<Full, Pairs / 2>(team, tile, scratch);
    }
  }

  /// Two runs in scratch, one after the other.
  struct Pair {
    int begin, middle, end;
  };
  /// Of so many, that in which a place lies.
  template <int Pairs>
  KOKKOS_FUNCTION static Pair pair_of(const int (&begin)[ways + 1], int place) {
    constexpr int runs = ways / (2 * Pairs);  // that have become one
    Pair pair{begin[0], begin[runs], begin[2 * runs]};
    KRADIX_UNROLL
    for (int p = 1; p < Pairs; ++p) {
      const int before = 2 * p * runs;
      if (place >= begin[before]) {
        pair = {begin[before], begin[before + runs], begin[before + 2 * runs]};
      }
    }
    return pair;
  }

  /// So many pairs of runs, one after the other, of which some may be empty: each thread merges as many elements as it has
  /// items, and puts out where they come from.
  template <bool Full, int Pairs, class Put>
  KOKKOS_FUNCTION void merge_pairs(int thread, const Tile& tile, const Scratch& scratch,
                                   const Put& put) const {
    const int first = thread * items, size = tile.size;
    const Key* const keys = scratch.keys;
    if (!Full && first >= size) return;
    Pair pair = pair_of<Pairs>(scratch.begin, first);
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
      if (Pairs > 1 && i > 0 && first + i == pair.end) {
        pair = pair_of<Pairs>(scratch.begin, pair.end);
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
