// Bins of the topmost digit, or between splitters, each sorted by one team in scratch: the third kernel of a small sort.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>

#include "kradix/impl/device/chunk_sort.hpp"
#include "kradix/impl/device/count_top_digit.hpp"
#include "kradix/impl/device/finish_chunk.hpp"
#include "kradix/impl/device/sort_few.hpp"

namespace kradix::impl {

/// A team for each bin. Does nothing where all digits were swept. `MakesKeys`: as in ChunkSort.
template <class ExecutionSpace, class Codec, class Value, TeamShape FinishShape, bool MakesKeys>
struct SortBins {
  using Key = typename Codec::key_type;
  using Bits = typename Codec::bits_type;
  using Team = TeamMember<ExecutionSpace>;
  using Finish = FinishChunk<ExecutionSpace, Codec, Value, FinishShape>;
  /// What a finish gives up is compared: threads with many codes each would be few in a short bin. Words of codes alone
  /// are sooner compared than codes beside places.
  static constexpr TeamShape tiny_shape{FinishShape.threads, FinishShape.threads > 1 ? 4 : 512, 1};
  static constexpr TeamShape usual_shape{FinishShape.threads, FinishShape.threads > 1 ? 16 : 1024,
                                         1};
  using Tiny =
      ChunkSort<ExecutionSpace, Codec, Value,
                typename SortedAs<ExecutionSpace, Codec, tiny_shape, MakesKeys>::type, MakesKeys>;
  using Merge = MergeCodes<ExecutionSpace, Bits, FinishShape.threads, FinishShape.round()>;
  using Sort = ChunkSort<ExecutionSpace, Codec, Value, Merge, MakesKeys>;
  static constexpr bool has_usual = MakesKeys && Codec::bits <= 64;
  using Words =
      MergeWords<ExecutionSpace, unsigned_of_bits<has_usual ? Codec::bits : 32>, usual_shape>;
  using Usual = std::conditional_t<has_usual,
                                   ChunkSort<ExecutionSpace, Codec, Value, Words, MakesKeys>, Sort>;
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

  static constexpr int threads = FinishShape.threads;
  /// Bins of one code: a team's share of what lies in them.
  struct Alike {
    int bins;
    Share share[bin_count];
  };

  union Scratch {
    typename Sort::Scratch sort;
    typename Tiny::Scratch tiny;
    typename Usual::Scratch usual;
    typename Finish::Scratch finish;
    typename Half::Scratch half;
    typename Few::Scratch few;
    Alike alike;
    KOKKOS_FUNCTION Scratch() {}
  };
  static std::size_t scratch_bytes() { return sizeof(Scratch); }

  KOKKOS_FUNCTION void operator()(const TeamMember<ExecutionSpace>& team) const {
    const int bin = team.league_rank();
    // All of it is far away: nothing waits for what comes before.
    const std::uint64_t begin = top->first[bin], end = top->first[bin + 1];
    const int shift = top->passes.digit[0].shift;
    const bool splits = top->splits;
    if (!top->passes.finishes) return;
    Scratch& scratch = *take_scratch<Scratch>(team, 1);
    if (splits) [[unlikely]] {
      copy_alike(team, scratch.alike);
      if (top->holds_one_code(bin, bits_between<Bits>(all.begin, all.end))) return;
    }
    if (begin == end) return;
    const Chunk mine = Chunk::make(begin, end - begin);
    const Key* const keys = buffers.keys.end(1) + begin;
    const Value* values = nullptr;
    if constexpr (Sort::with_values) values = buffers.values.end(1) + begin;
    const int swept = splits ? top->template swept<Bits>(bin) : shift;
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
    if (mine.size() <= Tiny::most) {
      sort<Tiny>(team, mine, keys, values, scratch.tiny);
    } else if (has_usual && mine.size() <= Usual::most) {
      sort<Usual>(team, mine, keys, values, scratch.usual);
    } else {
      sort<Sort>(team, mine, keys, values, scratch.sort);
    }
  }

 private:
  /// Between the same splitters nothing is left to sort, and there may be any number of elements: each team moves as many.
  KOKKOS_FUNCTION void copy_alike(const Team& team, Alike& alike) const {
    const int thread = team.team_rank();
    const std::uint64_t count = top->first[bin_count];
    const std::uint64_t begin = count * team.league_rank() / bin_count;
    const std::uint64_t end = count * (team.league_rank() + 1) / bin_count;
    if (thread == 0) alike.bins = 0;
    team.team_barrier();
    for (int bin = thread; bin < bin_count; bin += threads) {
      const std::uint64_t first = top->first[bin], last = top->first[bin + 1];
      const Share share{first > begin ? first : begin, last < end ? last : end};
      if (share.begin < share.end &&
          top->holds_one_code(bin, bits_between<Bits>(all.begin, all.end))) {
        alike.share[Kokkos::atomic_fetch_add(&alike.bins, 1)] = share;
      }
    }
    team.team_barrier();
    for (int i = 0; i < alike.bins; ++i) {
      const Share share = alike.share[i];
      for (std::size_t place = share.begin + thread; place < share.end; place += threads) {
        if (!buffers.leaves_keys) buffers.keys.result[place] = buffers.keys.end(1)[place];
        if constexpr (Sort::with_values) {
          buffers.values.result[place] = buffers.values.end(1)[place];
        }
      }
    }
    team.team_barrier();
  }

  /// By comparing.
  template <class As>
  KOKKOS_FUNCTION void sort(const Team& team, const Chunk& bin, const Key* keys,
                            const Value* values, typename As::Scratch& scratch) const {
    Value* values_out = nullptr;
    if constexpr (Sort::with_values) values_out = buffers.values.result + bin.begin();
    const As sort{codec,
                  all,
                  {bin.size(), keys, values,
                   buffers.leaves_keys ? nullptr : buffers.keys.result + bin.begin(), values_out}};
    sort.sort(team, scratch);
  }
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
