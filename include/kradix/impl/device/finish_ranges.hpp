// What the finish in scratch could not take, sorted by one team each, digit by digit over the bits that
// vary in it: chunks with too many keys alike in scratch, runs that are too long for it in memory.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>

#include "kradix/impl/device/chunk_passes.hpp"
#include "kradix/impl/device/chunks.hpp"
#include "kradix/impl/device/team_sort.hpp"

namespace kradix::impl {

/// `AloneShape` is for chunks, `Shape` for tiles of longer runs.
template <class ExecutionSpace, class Codec, class Value, TeamShape AloneShape, TeamShape Shape>
struct FinishRanges {
  using Key = typename Codec::key_type;
  using Team = TeamMember<ExecutionSpace>;
  using Sort = TeamSort<ExecutionSpace, Codec, Value, Shape>;
  using Passes = ChunkPasses<ExecutionSpace, Codec, Value, AloneShape>;
  static constexpr bool with_values = !std::is_same_v<Value, NoValue>;
  static constexpr int threads = Shape.threads;
  static constexpr int looks = 32;  ///< chunks that a team looks at together

  SortBuffers<Key, Value> buffers;
  Codec codec;
  DigitList all;
  const PassTable* passes;
  const Route* route;
  const std::uint64_t* chunks;

  struct Scratch {
    union {
      typename Sort::Scratch sort;
      typename Passes::Scratch passes;
    };
    std::uint64_t left[looks];
    std::uint32_t left_count;
    KOKKOS_FUNCTION Scratch() {}
  };
  static std::size_t scratch_bytes() { return sizeof(Scratch); }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    if (!passes->finishes) return;
    Scratch& scratch = *take_scratch<Scratch>(team, 1);
    const std::uint64_t listed = route->chunks;
    const auto step = static_cast<std::uint64_t>(team.league_size()) * looks;
    for (auto first = static_cast<std::uint64_t>(team.league_rank()) * looks; first < listed;
         first += step) {
      if (team.team_rank() == 0) scratch.left_count = 0;
      team.team_barrier();
      for (int i = team.team_rank(); i < looks; i += threads) {
        if (first + i >= listed || !Chunk{chunks[first + i]}.is_left()) continue;
        scratch.left[Kokkos::atomic_fetch_add(&scratch.left_count, 1u)] = chunks[first + i];
      }
      team.team_barrier();
      const std::uint32_t left = scratch.left_count;
      team.team_barrier();
      for (std::uint32_t i = 0; i < left; ++i) {
        sort(team, Chunk{scratch.left[i]}, scratch);
        team.team_barrier();
      }
    }
  }

  KOKKOS_FUNCTION void sort(const Team& team, const Chunk& chunk, Scratch& scratch) const {
    if (chunk.size() > 0) {
      sort_in_scratch(team, chunk, scratch);
    } else {
      const std::size_t begin = chunk.begin();
      sort_run(team, {begin, LongRun::end(buffers.keys.spare(passes->count) + begin)}, scratch);
    }
  }

  KOKKOS_FUNCTION void sort_in_scratch(const Team& team, const Chunk& chunk,
                                       Scratch& scratch) const {
    const Key* const keys = buffers.keys.end(passes->count) + chunk.begin();
    Key* const keys_out = buffers.leaves_keys ? nullptr : buffers.keys.result + chunk.begin();
    const Value* values = nullptr;
    Value* values_out = nullptr;
    if constexpr (with_values) {
      values = buffers.values.end(passes->count) + chunk.begin();
      values_out = buffers.values.result + chunk.begin();
    }
    Passes{codec, all}.sort(team, chunk.size(), keys, values, keys_out, values_out, scratch.passes);
  }

  KOKKOS_FUNCTION void sort_run(const Team& team, const Share& range, Scratch& scratch) const {
    const SortBuffers<Key, Value> mine{of_range(buffers.keys, range),
                                       of_range(buffers.values, range)};
    const std::size_t size = range.end - range.begin;
    team.team_barrier();  // everybody has read where the range ends
    Sort{codec, all}.sort(team, mine, size, scratch.sort);
    const int count = scratch.sort.passes.count;
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
