// Runs that are too long for a team's scratch, each sorted by one team in memory, digit by digit over the bits
// that vary in it.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>

#include "kradix/impl/device/chunks.hpp"
#include "kradix/impl/device/gathering.hpp"
#include "kradix/impl/device/numbered_tiles.hpp"
#include "kradix/impl/device/team_sort.hpp"

namespace kradix::impl {

template <class ExecutionSpace, class Codec, class Value, TeamShape Shape>
struct FinishRanges {
  using Key = typename Codec::key_type;
  using Team = TeamMember<ExecutionSpace>;
  using Sort = TeamSort<ExecutionSpace, Codec, Value, Shape>;
  static constexpr bool with_values = !std::is_same_v<Value, NoValue>;
  static constexpr bool may_be_light = lights_may_be_mended<Codec>;
  static constexpr int threads = Shape.threads;

  using L = Lanes<ExecutionSpace>;
  using Bits = typename Codec::bits_type;

  SortBuffers<Key, Value> buffers;
  Codec codec;
  std::size_t count;
  DigitList all;
  const PassTable* passes;
  const Route* route;
  bool takes_given_up;  ///< chunks, too, that the finish gave up
  ChunkLists lists;
  ChunkList numbered{};  ///< of numbered keys, if there are any

  static std::size_t scratch_bytes() { return sizeof(typename Sort::Scratch); }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    if (!passes->finishes) return;
    auto& scratch = *take_scratch_apart<typename Sort::Scratch>(team, 1);
    const bool mended = route->mends != 0;
    const ChunkList list = mended ? lists.mended() : lists.left;
    const auto step = static_cast<std::uint64_t>(team.league_size());
    for (auto entry = static_cast<std::uint64_t>(team.league_rank()); entry < list.size();
         entry += step) {
      const Chunk run = list.at(entry);
      if (mended) {
        sort_unmended(team, list, entry, run, scratch);
      } else if (run.size() == 0) {
        const std::size_t begin = run.begin();
        const bool is_cell = passes->finishes == PassTable::gathering;
        const std::size_t end = is_cell ? end_of_run(team, begin)
                                        : LongRun::end(buffers.keys.spare(passes->count) + begin);
        sort_run(team, {begin, end}, scratch);
      } else if (takes_given_up) {
        sort_run(team, {run.begin(), run.begin() + run.size()}, scratch);
      }
      team.team_barrier();
    }
    if constexpr (may_be_numbered<ExecutionSpace, Codec, Value>) {
      if (numbered.count == nullptr) return;
      for (auto entry = static_cast<std::uint64_t>(team.league_rank()); entry < numbered.size();
           entry += step) {
        sort_numbered(team, numbered.at(entry).word, scratch);
        team.team_barrier();
      }
    }
  }

  /// Codes and indices in no order: by the indices, and then, stably, by the codes.
  KOKKOS_FUNCTION void sort_numbered(const Team& team, std::uint64_t listed,
                                     typename Sort::Scratch& scratch) const {
    const std::size_t begin = NumberedResult::begin(listed), size = NumberedResult::size(listed);
    const auto of = [&](std::uint32_t* array, std::uint32_t* spare) {
      return PassBuffers<std::uint32_t>{array + begin, array + begin, spare + begin};
    };
    const auto indices = of(buffers.values.result, buffers.keys.result);
    const auto codes = of(buffers.values.other, buffers.keys.other);
    const auto sort = [&](const auto& keys, const auto& values) {
      team.team_barrier();
      Sort{Codec{}, {0, Codec::bits}}.sort(team, {keys, values}, size, scratch);
      settle(team, keys, scratch.passes.count, keys.result, size);
      settle(team, values, scratch.passes.count, values.result, size);
    };
    sort(indices, codes);
    sort(codes, indices);
  }

  /// Runs side by side of a known length, or one that more than one team may have listed; others may be moving
  /// theirs, but in their own places.
  KOKKOS_FUNCTION void sort_unmended(const Team& team, const ChunkList& list, std::uint64_t entry,
                                     const Chunk& run, typename Sort::Scratch& scratch) const {
    const std::size_t begin = run.begin();
    std::size_t end = begin + static_cast<std::size_t>(run.size());
    if (run.size() == 0) {
      Bits listed = 0;
      for (std::uint64_t i = team.team_rank(); i < entry; i += threads) {
        listed |= list.at(i).word == run.word ? 1 : 0;
      }
      if (Sort::Combined::over(team, listed, scratch.seen) != 0) return;
      end = end_of_run(team, begin);
    }
    sort_run(team, {begin, end}, scratch);
  }
  /// (Where others move keys they stay in their runs.)
  KOKKOS_FUNCTION std::size_t end_of_run(const Team& team, std::size_t begin) const {
    const int shift = route->digits.begin;
    const std::size_t count = passes->sorted_of<may_be_light>(this->count);
    const RunSearch<ExecutionSpace, Codec> search{
        passes->arrays<may_be_light>(buffers.keys).end(passes->count),
        codec,
        {shift, 0},
        low_mask<Bits>(all.end - shift)};
    const Bits run = search.run_of(begin);
    const int lane = L::lane(team.team_rank());
    if (passes->finishes != PassTable::gathering) {
      return search.end_of(run, begin, count - begin, count, lane);
    }
    // A chunk of several cells, in no order.
    const auto together = static_cast<std::uint32_t>(route->together);
    const std::uint32_t cell = static_cast<std::uint32_t>(run) & (bin_count - 1);
    const std::uint32_t last = Gathering::last_cell(cell / together * together, together);
    return search.template first_at<true>(static_cast<Bits>(run - cell + last), begin, count, lane);
  }

  KOKKOS_FUNCTION void sort_run(const Team& team, const Share& range,
                                typename Sort::Scratch& scratch) const {
    const auto keys = passes->arrays<may_be_light>(buffers.keys);
    const auto values = passes->arrays<may_be_light>(buffers.values);
    const SortBuffers<Key, Value> mine{of_range(keys, range), of_range(values, range)};
    const std::size_t size = range.end - range.begin;
    team.team_barrier();  // everybody has read where the range ends
    Sort{codec, all}.sort(team, mine, size, scratch);
    const int count = scratch.passes.count;
    settle(team, mine.keys, count, keys.result + range.begin, size);
    if constexpr (with_values) {
      settle(team, mine.values, count, values.result + range.begin, size);
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
