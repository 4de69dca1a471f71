// Bins of the topmost digit, each sorted by one team in scratch: the third kernel of a small sort.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>

#include "kradix/impl/device/count_top_digit.hpp"
#include "kradix/impl/device/sort_few.hpp"
#include "kradix/impl/device/sort_one_chunk.hpp"

namespace kradix::impl {

/// A team for each bin. Does nothing where all digits were swept.
template <class ExecutionSpace, class Codec, class Value, TeamShape FinishShape,
          TeamShape PassShape>
struct SortBins {
  using Key = typename Codec::key_type;
  using Any = AnyChunk<ExecutionSpace, Codec, Value, FinishShape, PassShape>;
  using Few = SortFew<ExecutionSpace, Codec, Value, FinishShape.threads>;
  /// Half as large: what a thread does for items that are not there takes as long as for those that are.
  static constexpr TeamShape half_shape{FinishShape.threads, (FinishShape.items + 1) / 2,
                                        FinishShape.teams};
  using Half = FinishChunk<ExecutionSpace, Codec, Value, half_shape>;

  Any chunk;
  const TopDigit* top;

  union Scratch {
    typename Any::Scratch any;
    typename Half::Scratch half;
    typename Few::Scratch few;
    KOKKOS_FUNCTION Scratch() {}
  };
  static std::size_t scratch_bytes() { return sizeof(Scratch); }

  KOKKOS_FUNCTION void operator()(const TeamMember<ExecutionSpace>& team) const {
    const int bin = team.league_rank();
    const std::uint64_t begin = top->first[bin], end = top->first[bin + 1];
    if (!top->passes.finishes || begin == end) return;
    Scratch& scratch = *take_scratch<Scratch>(team, 1);
    const Chunk mine = Chunk::make(begin, end - begin);
    const Key* const keys = chunk.buffers.keys.end(1) + begin;
    const Value* values = nullptr;
    if constexpr (Any::with_values) values = chunk.buffers.values.end(1) + begin;
    const int swept = top->passes.digit[0].shift;
    if (mine.size() <= Few::most && swept - chunk.all.begin <= Few::most_bits) {
      const Few few{chunk.buffers, chunk.codec, {chunk.all.begin, swept}};
      few.sort(team, mine, keys, values, scratch.few);
      return;
    }
    const bool sorted =
        mine.size() <= Half::most
            ? chunk.template finish<Half>(team, mine, keys, values, swept, scratch.half)
            : chunk.template finish<typename Any::Finish>(team, mine, keys, values, swept,
                                                          scratch.any.finish);
    if (!sorted) chunk.sort_by_passes(team, mine, keys, values, swept, scratch.any.passes);
  }
};

}  // namespace kradix::impl
