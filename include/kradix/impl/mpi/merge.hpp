// The runs that a rank received become one, by levels of merges two by two.
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "kradix/impl/mpi/exchange.hpp"
#include "kradix/impl/mpi/merge_tile.hpp"
#include "kradix/impl/mpi/partition.hpp"
#include "kradix/impl/mpi/plan.hpp"
#include "kradix/workspace.hpp"

namespace kradix::impl::mpi {

/// Keys and what travels with them, in order, run after run.
template <class Key, class Value>
struct Runs {
  Key* keys;
  Value* values;
  std::vector<std::uint64_t> begins;  ///< of the runs, and the end of the last one

  std::size_t count() const { return static_cast<std::size_t>(begins.back()); }
};

/// Merges in place, with as much memory again.
template <class ExecutionSpace, class Codec, class Value>
class Merge {
  using Key = typename Codec::key_type;
  static constexpr TeamShape shape = merge_shape<ExecutionSpace>(sizeof(Key));
  static constexpr int most_pairs = most_merged_runs / 2;
  using Pairs = RunPairs<most_pairs>;
  using Runs = mpi::Runs<Key, Value>;

 public:
  static constexpr bool exists = shape.exists();

  Merge(const ExecutionSpace& exec, const Codec& codec, kradix::Workspace& workspace,
        const char* label)
      : exec_(exec), codec_(codec), workspace_(workspace), label_(std::string(label) + "::mpi::") {}

  /// Enqueued.
  void run(Runs runs) {
    drop_empty(runs.begins);
    const std::size_t count = runs.count();
    if (runs.begins.size() <= 2) return;
    const std::size_t most_tiles = count / tile + most_pairs;
    ScratchList list;
    const Slot keys = list.add(count, sizeof(Key));
    const Slot values = list.add(count, value_bytes_of<Value>);
    const Slot splits = list.add(most_tiles, sizeof(std::uint64_t));
    std::byte* const base =
        aligned_scratch(workspace_.reserve(exec_, list.bytes(), label_ + "workspace"));
    Runs other{keys.in<Key>(base), values.in<Value>(base), {}};
    bool at_home = true;
    for (; runs.begins.size() > 2; at_home = !at_home) {
      other.begins = merge_level(runs, other, splits.in<std::uint64_t>(base));
      std::swap(runs, other);
    }
    if (!at_home) copy(runs, other);
  }

 private:
  static constexpr auto tile = static_cast<std::size_t>(shape.round());

  static void drop_empty(std::vector<std::uint64_t>& begins) {
    begins.erase(std::unique(begins.begin(), begins.end()), begins.end());
  }

  /// The begins of the runs after it.
  std::vector<std::uint64_t> merge_level(const Runs& from, const Runs& to, std::uint64_t* splits) {
    const std::vector<std::uint64_t>& begins = from.begins;
    std::vector<std::uint64_t> merged{0};
    Pairs pairs;
    std::size_t tiles = 0;
    for (std::size_t run = 0; run + 1 < begins.size(); run += 2) {
      const std::uint64_t end = run + 2 < begins.size() ? begins[run + 2] : begins[run + 1];
      pairs.pair[pairs.count++] = {begins[run], begins[run + 1], end, tiles};
      tiles += (end - begins[run] + tile - 1) / tile;
      merged.push_back(end);
    }
    using Find = FindSplits<Codec, most_pairs>;
    using Kernel = MergeTile<ExecutionSpace, Codec, Value, shape, most_pairs>;
    Kokkos::parallel_for(
        label_ + "FindSplits",
        Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::size_t>>(exec_, 0, tiles),
        Find{from.keys, codec_, pairs, tile, splits});
    launch_teams<shape>(exec_, label_ + "MergeTile", tiles, Kernel::scratch_bytes(),
                        Kernel{from.keys, to.keys, from.values, to.values, codec_, pairs, splits});
    return merged;
  }

  void copy(const Runs& from, const Runs& to) {
    const auto bytes = [](auto* data) { return reinterpret_cast<std::byte*>(data); };
    copy_bytes(exec_, bytes(to.keys), bytes(from.keys), from.count() * sizeof(Key));
    copy_bytes(exec_, bytes(to.values), bytes(from.values), from.count() * value_bytes_of<Value>);
  }

  const ExecutionSpace& exec_;
  Codec codec_;
  kradix::Workspace& workspace_;
  std::string label_;
};

}  // namespace kradix::impl::mpi
