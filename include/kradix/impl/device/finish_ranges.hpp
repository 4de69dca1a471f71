// Runs that are too long for a team's scratch, each sorted by one team in memory, digit by digit over the bits
// that vary in it.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>

#include "kradix/impl/device/chunks.hpp"
#include "kradix/impl/device/team_sort.hpp"

namespace kradix::impl {

template <class ExecutionSpace, class Codec, class Value, TeamShape Shape>
struct FinishRanges {
  using Key = typename Codec::key_type;
  using Team = TeamMember<ExecutionSpace>;
  using Sort = TeamSort<ExecutionSpace, Codec, Value, Shape>;
  static constexpr bool with_values = !std::is_same_v<Value, NoValue>;
  static constexpr int threads = Shape.threads;

  SortBuffers<Key, Value> buffers;
  Codec codec;
  DigitList all;
  const PassTable* passes;
  ChunkLists lists;

  static std::size_t scratch_bytes() { return sizeof(typename Sort::Scratch); }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    if (!passes->finishes) return;
    auto& scratch = *take_scratch<typename Sort::Scratch>(team, 1);
    const auto step = static_cast<std::uint64_t>(team.league_size());
    for (auto entry = static_cast<std::uint64_t>(team.league_rank()); entry < lists.left.size();
         entry += step) {
      const Chunk run = lists.left.at(entry);
      if (run.size() > 0) continue;  // a chunk that the finish gave up
      const std::size_t begin = run.begin();
      sort_run(team, {begin, LongRun::end(buffers.keys.spare(passes->count) + begin)}, scratch);
      team.team_barrier();
    }
  }

  KOKKOS_FUNCTION void sort_run(const Team& team, const Share& range,
                                typename Sort::Scratch& scratch) const {
    const SortBuffers<Key, Value> mine{of_range(buffers.keys, range),
                                       of_range(buffers.values, range)};
    const std::size_t size = range.end - range.begin;
    team.team_barrier();  // everybody has read where the range ends
    Sort{codec, all}.sort(team, mine, size, scratch);
    const int count = scratch.passes.count;
    settle(team, mine.keys, count, buffers.keys.result + range.begin, size);
    if constexpr (with_values) {
      settle(team, mine.values, count, buffers.values.result + range.begin, size);
    }
  }

  /// A sort in place, where the sweeps left the range; the caller's other array takes turns with it.
  template <class T>
  KOKKOS_FUNCTION PassBuffers<T> of_range(const PassBuffers<T>& array, const Share& range) const {
    if constexpr (std::is_same_v<T, NoValue>) {
      return {};
    } else {
      T* const here = array.end(passes->count);
      T* const there = array.spare(passes->count);
      return {here + range.begin, here + range.begin, there + range.begin};
    }
  }

  template <class T>
  KOKKOS_FUNCTION static void settle(const Team& team, const PassBuffers<T>& array,
                                     int range_passes, T* result, std::size_t size) {
    const T* const from = array.ends_in_other(range_passes) ? array.other : array.result;
    if (from == result) return;
    for (std::size_t i = team.team_rank(); i < size; i += threads) result[i] = from[i];
  }
};

}  // namespace kradix::impl
