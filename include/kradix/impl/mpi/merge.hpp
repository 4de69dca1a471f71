// The runs that a rank received become one, by levels of merges of up to eight at a time.
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "kradix/impl/mpi/cell_tile.hpp"
#include "kradix/impl/mpi/exchange.hpp"
#include "kradix/impl/mpi/merge_tile.hpp"
#include "kradix/impl/mpi/partition.hpp"
#include "kradix/impl/mpi/plan.hpp"
#include "kradix/impl/mpi/second_instance.hpp"
#include "kradix/workspace.hpp"

namespace kradix::impl::mpi {

template <class ExecutionSpace, class Key, class Value>
inline constexpr bool merge_exists =
    merge_shape<ExecutionSpace>(sizeof(Key), value_bytes_of<Value>).exists();

/// Words that a level of merges of so many elements takes.
template <class ExecutionSpace, class Key, class Value>
std::size_t most_splits(std::size_t count) {
  if constexpr (merge_exists<ExecutionSpace, Key, Value>) {
    constexpr TeamShape shape = merge_shape<ExecutionSpace>(sizeof(Key), value_bytes_of<Value>);
    const std::size_t tiles =
        count / static_cast<std::size_t>(shape.round()) + most_merged_runs / merge_ways;
    return (merge_ways + 1) * tiles + 1;  // and a list of tiles
  }
  return 0;
}

/// What merges take besides runs and result: for more than one level, or any in place, as many elements again.
template <class Key, class Value>
struct MergeRoom {
  Key* keys = nullptr;
  Value* values = nullptr;
  std::uint64_t* splits = nullptr;
};

template <class ExecutionSpace, class Codec, class Value>
class Merge {
  using Key = typename Codec::key_type;
  static constexpr TeamShape shape =
      merge_shape<ExecutionSpace>(sizeof(Key), value_bytes_of<Value>);
  static constexpr TeamShape cell_shape =
      cell_tile_shape<ExecutionSpace>(sizeof(Key), value_bytes_of<Value>);

 public:
  using Run = SortedRun<Key, Value>;
  using Result = PlaceOf<Key, Value>;
  using Room = MergeRoom<Key, Value>;

  /// Where tiles begin is searched for on `ahead`, if given, beside the merges that `exec` has been given.
  Merge(const ExecutionSpace& exec, const Codec& codec, kradix::Workspace& workspace,
        const char* label, SecondInstance<ExecutionSpace>* ahead = nullptr)
      : exec_(exec),
        codec_(codec),
        workspace_(workspace),
        label_(std::string(label) + "::mpi::"),
        ahead_(ahead) {}

  /// More tiles are searched for in two steps.
  Merge& search_at_once(std::size_t most_tiles) {
    most_searched_at_once_ = most_tiles;
    return *this;
  }

  /// To where the runs are, side by side, or to other arrays; an odd number of levels in place ends with a copy. Room that
  /// is not given is taken of the workspace. Enqueued.
  void run(std::vector<Run> runs, const Result& result, Room room = {}) {
    std::erase_if(runs, [](const Run& run) { return run.size == 0; });
    if (runs.empty()) return;
    std::size_t count = 0;
    for (const Run& run : runs) count += static_cast<std::size_t>(run.size);
    const bool in_place = runs.front().keys == result.keys;
    const int levels = merge_levels(runs.size());
    if (!room.splits) {
      room = take_room(count, levels > (in_place ? 0 : 1));
      ahead_ = nullptr;  // the merge before may still read what is there
    }
    bool to_result = levels % 2 == 1 && !in_place;
    for (int level = 0; level < levels; ++level, to_result = !to_result) {
      const Result to = to_result ? result : Result{room.keys, room.values};
      if (runs.size() <= 2) {
        runs = merge_level<2, 1>(runs, to, room.splits);
      } else if (runs.size() <= 4) {
        runs = merge_level<4, 1>(runs, to, room.splits);
      } else {
        runs = merge_level<merge_ways, most_merged_runs / merge_ways>(runs, to, room.splits);
      }
    }
    if (runs.front().keys != result.keys) copy(runs.front(), result);
  }

 private:
  static constexpr auto tile = static_cast<std::size_t>(shape.round());

  Room take_room(std::size_t count, bool others) {
    ScratchList list;
    const Slot keys = list.add(others ? count : 0, sizeof(Key));
    const Slot values = list.add(others ? count : 0, value_bytes_of<Value>);
    const Slot splits =
        list.add(most_splits<ExecutionSpace, Key, Value>(count), sizeof(std::uint64_t));
    std::byte* const base =
        aligned_scratch(workspace_.reserve(exec_, list.bytes(), label_ + "workspace"));
    return {keys.in<Key>(base), values.in<Value>(base), splits.in<std::uint64_t>(base)};
  }

  /// The runs after it.
  template <int Ways, int MostGroups>
  std::vector<Run> merge_level(const std::vector<Run>& runs, const Result& to,
                               std::uint64_t* splits) {
    using Groups = RunGroups<Key, Value, Ways, MostGroups>;
    std::vector<Run> merged;
    Groups groups;
    std::uint64_t out = 0;
    std::size_t tiles = 0;
    for (std::size_t i = 0; i < runs.size(); i += Groups::ways) {
      auto& group = groups.group[groups.count++];
      for (std::size_t w = 0; w < Groups::ways; ++w) {
        group.run[w] = i + w < runs.size() ? runs[i + w] : nothing_after(runs.back());
      }
      group.out = out;
      group.first_tile = tiles;
      const Result place = to.moved_on(out);
      merged.push_back({place.keys, place.values, group.size()});
      out += group.size();
      tiles += (group.size() + tile - 1) / tile;
    }
    using Find = FindSplits<ExecutionSpace, Codec, Groups>;
    using Counted = CellTile<ExecutionSpace, Codec, Value, cell_shape, Groups>;
    constexpr TeamShape of_merge = Ways < counted_ways ? shape : cell_shape;
    using Merged = MergeTile<ExecutionSpace, Codec, Value, of_merge, Groups>;
    static_assert(find_room_at_once<of_merge, ExecutionSpace, Merged>() &&
                  find_room_at_once<cell_shape, ExecutionSpace, Counted>());
    const TilesLeft left{splits + Ways * tiles};
    const ExecutionSpace& finder = ahead_ ? ahead_->beside(exec_) : exec_;
    const auto find = [&](std::size_t begin, std::size_t end, typename Find::Which which) {
      const Find kernel{codec_, groups, tile, splits, left, which, begin, end};
      launch_teams<Find::shape>(finder, label_ + "FindSplits", kernel.teams(), 0, kernel);
    };
    const auto merge = [&](std::size_t begin, std::size_t teams) {
      launch_teams<of_merge>(exec_, label_ + "MergeTile", teams, Merged::scratch_bytes(),
                             Merged{{to.keys, to.values, codec_, groups, splits}, begin, left});
    };
    const auto sort = [&](std::size_t begin, std::size_t end) {
      if (ahead_) ahead_->precede(exec_);
      if constexpr (Merged::all) {
        merge(begin, end - begin);
      } else {
        launch_teams<cell_shape>(exec_, label_ + "CellTile", end - begin, Counted::scratch_bytes(),
                                 Counted{{to.keys, to.values, codec_, groups, splits},
                                         begin,
                                         left,
                                         !codec_.tells_all_apart()});
      }
    };
    if (tiles <= most_searched_at_once_) {
      find(0, tiles, Find::all);
      sort(0, tiles);
    } else {
      // A part is sorted while the rest is searched for. A tile ends where the next one begins.
      const std::size_t first = ahead_ ? tiles / 4 + 1 : tiles, known = std::min(first + 1, tiles);
      find(0, (tiles + Find::apart - 1) / Find::apart, Find::some);
      find(0, known, Find::rest);
      sort(0, first);
      if (known < tiles) find(known, tiles, Find::rest);
      if (first < tiles) sort(first, tiles);
    }
    if (!Merged::all) merge(0, std::min(tiles, resident_teams_of<of_merge>(exec_)));
    ahead_ = nullptr;
    return merged;
  }

  /// A group may lack runs: places in them are counted from somewhere.
  static Run nothing_after(const Run& run) {
    const auto size = static_cast<std::int64_t>(run.size);
    return {run.keys + size, moved_on(run.values, size), 0};
  }

  void copy(const Run& from, const Result& to) {
    copy_bytes(exec_, reinterpret_cast<std::byte*>(to.keys),
               reinterpret_cast<const std::byte*>(from.keys), from.size * sizeof(Key));
    if constexpr (!std::is_same_v<Value, NoValue>) {
      copy_bytes(exec_, reinterpret_cast<std::byte*>(to.values),
                 reinterpret_cast<const std::byte*>(from.values), from.size * sizeof(Value));
    }
  }

  const ExecutionSpace& exec_;
  Codec codec_;
  kradix::Workspace& workspace_;
  std::string label_;
  SecondInstance<ExecutionSpace>* ahead_;
  std::size_t most_searched_at_once_ = 4096;
};

}  // namespace kradix::impl::mpi
