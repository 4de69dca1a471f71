// Bins of the topmost digit, each sorted by one team in scratch: the third kernel of a small sort.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>

#include "kradix/impl/device/count_top_digit.hpp"
#include "kradix/impl/device/finish_chunk.hpp"
#include "kradix/impl/device/sort_few.hpp"
#include "kradix/impl/device/sort_one_chunk.hpp"

namespace kradix::impl {

/// A team for each bin. Does nothing where all digits were swept.
template <class ExecutionSpace, class Codec, class Value, TeamShape FinishShape>
struct SortBins {
  using Key = typename Codec::key_type;
  using Bits = typename Codec::bits_type;
  using Team = TeamMember<ExecutionSpace>;
  using Finish = FinishChunk<ExecutionSpace, Codec, Value, FinishShape>;
  using Merge = MergeCodes<ExecutionSpace, Bits, FinishShape.threads, FinishShape.round()>;
  using Sort = ChunkSort<ExecutionSpace, Codec, Value, Merge, false>;
  using Few = SortFew<ExecutionSpace, Codec, Value, FinishShape.threads>;
  /// Half as large: what a thread does for items that are not there takes as long as for those that are.
  static constexpr TeamShape half_shape{FinishShape.threads, (FinishShape.items + 1) / 2,
                                        FinishShape.teams};
  using Half = FinishChunk<ExecutionSpace, Codec, Value, half_shape>;

  SortBuffers<Key, Value> buffers;
  Codec codec;
  DigitList all;
  bool keeps_order;  ///< as for the finish
  const TopDigit* top;

  union Scratch {
    typename Sort::Scratch sort;
    typename Finish::Scratch finish;
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
    const Key* const keys = buffers.keys.end(1) + begin;
    const Value* values = nullptr;
    if constexpr (Sort::with_values) values = buffers.values.end(1) + begin;
    const int swept = top->passes.digit[0].shift;
    if (mine.size() <= Few::most && swept - all.begin <= Few::most_bits) {
      const Few few{buffers, codec, {all.begin, swept}};
      few.sort(team, mine, keys, values, scratch.few);
      return;
    }
    if (mine.size() <= Half::most
            ? finish<Half>(team, mine, keys, values, swept, scratch.half)
            : finish<Finish>(team, mine, keys, values, swept, scratch.finish)) {
      return;
    }
    team.team_barrier();
    Value* values_out = nullptr;
    if constexpr (Sort::with_values) values_out = buffers.values.result + begin;
    const Sort sort{codec,
                    all,
                    {mine.size(), keys, values,
                     buffers.leaves_keys ? nullptr : buffers.keys.result + begin, values_out}};
    sort.sort(team, scratch.sort);
  }

 private:
  /// By a finish that the bin fits; false if it was not sorted so.
  template <class As>
  KOKKOS_FUNCTION bool finish(const Team& team, const Chunk& bin, const Key* keys,
                              const Value* values, int swept, typename As::Scratch& scratch) const {
    // A finish looks at so many bits, whoever's they are.
    if (all.end - all.begin < As::Wide::index_bits) return false;
    const As finish{buffers,     codec,   all,     bits_between<Bits>(all.begin, all.end),
                    keeps_order, nullptr, nullptr, {}};
    return finish.sort(team, bin, keys, values, swept, scratch);
  }
};

}  // namespace kradix::impl
