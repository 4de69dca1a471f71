// Small sorts in one launch or three: a few thousand elements are ranked by all processors at once; what one sweep over the
// topmost varying digit cuts into pieces that fit a team's scratch is counted, swept and finished by one kernel each.
//
// At these sizes a kernel costs its launch, and a wait for other teams as much: the topmost digit that varies is
// counted tile by tile, swept by teams that each add up all counts, and each of its bins is sorted in scratch. If a
// bin does not fit, that kernel is a Onesweep over all digits.
//
// After Stehle and Jacobsen, "A memory bandwidth-efficient hybrid radix sort on GPUs" (SIGMOD 2017) and
// Adinets and Merrill, "Onesweep" (2022).
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <string>

#include "kradix/impl/device/count_top_digit.hpp"
#include "kradix/impl/device/rank_among_all.hpp"
#include "kradix/impl/device/sort_bins.hpp"
#include "kradix/impl/device/sort_one_chunk.hpp"
#include "kradix/impl/device/sweep_by_tiles.hpp"
#include "kradix/impl/device/sweep_top_digit.hpp"
#include "kradix/impl/plan.hpp"

namespace kradix::impl {

/// How the teams of its kernels work.
struct SmallShapes {
  TeamShape tile;    ///< in a sweep
  TeamShape finish;  ///< in a chunk
  TeamShape lone;    ///< in a handful of keys that are codes
  TeamShape rank;    ///< among few elements

  /// A processor has no more than two bins, so that many teams leave them more registers.
  static constexpr TeamShape of_two(const TeamShape& shape) {
    return {shape.threads, shape.items, std::min(shape.teams, 2)};
  }

  template <class ExecutionSpace>
  static constexpr SmallShapes of(std::size_t key_bytes, std::size_t value_bytes,
                                  std::size_t code_bytes) {
    return {small_sweep_shape<ExecutionSpace>(key_bytes, value_bytes),
            of_two(finish_shape<ExecutionSpace>(key_bytes, value_bytes)),
            lone_shape<ExecutionSpace>(),
            rank_shape<ExecutionSpace>(key_bytes, value_bytes, code_bytes)};
  }
};

struct SmallMsdScratch {
  LookBackShape look_back;
  Slot words;  ///< of the look-back
  Slot tails;  ///< zero at first, as the words and the state are
  Slot state;
  Slot top;  ///< the topmost digit
  Slot seen;
  Slot counts;
  Slot ranks;                  ///< of a sort in one launch, which needs nothing else
  Meeting* meeting = nullptr;  ///< likewise, in place

  static SmallMsdScratch list(const Plan& plan, const LookBackShape& most, ScratchList& list) {
    SmallMsdScratch scratch;
    if (plan.count <= plan.ranked) {
      scratch.ranks = list.add(plan.count, sizeof(std::uint32_t));
      return scratch;
    }
    constexpr std::size_t most_key_words = 2;
    scratch.look_back = most.fitted(plan.tiles);
    scratch.words = list.add(scratch.look_back.bytes(), 1);
    const auto passes = static_cast<std::size_t>(std::max(plan.passes, 1));
    scratch.tails = list.add(passes * scratch.look_back.counters(), sizeof(std::uint64_t));
    scratch.state = list.add(1, sizeof(SweepAllState));
    scratch.top = list.add(1, sizeof(TopDigit));
    scratch.seen = list.add(most_key_words * plan.tiles, sizeof(std::uint64_t));
    const auto digits = static_cast<std::size_t>(digits_by_tile(plan));
    scratch.counts = list.add(plan.tiles * digits * TileTable::row, sizeof(std::uint32_t));
    return scratch;
  }

  /// One or two digits of short keys, or of elements with values, are swept, and no finish follows.
  static bool sweeps_by_tiles(const Plan& plan) {
    return (plan.value_bytes > 0 || plan.chunk == 0) && plan.passes <= 2 &&
           plan.tiles <= most_added_up;
  }
  /// All of these, else the topmost one.
  static int digits_by_tile(const Plan& plan) {
    return sweeps_by_tiles(plan) ? std::max(plan.passes, 1) : 1;
  }
};

template <class ExecutionSpace, class Codec, class Value, SmallShapes Shapes>
class SmallMsd {
  using Key = typename Codec::key_type;
  static constexpr bool with_values = !std::is_same_v<Value, NoValue>;

 public:
  SmallMsd(const ExecutionSpace& exec, const Plan& plan, const Codec& codec,
           const SortBuffers<Key, Value>& buffers, const SmallMsdScratch& scratch, std::byte* base,
           const char* label)
      : exec_(exec),
        plan_(plan),
        scratch_(scratch),
        label_(std::string(label) + "::small_msd::"),
        buffers_(buffers),
        codec_(codec),
        all_{plan.bits.begin, plan.bits.end},
        base_(base) {}

  void sort() {
    if (plan_.count <= plan_.ranked) {
      sort_few();
    } else if (SmallMsdScratch::sweeps_by_tiles(plan_)) {
      if constexpr (with_values || !Shapes.finish.exists()) {
        count_by_tiles();
        sweep_by_tiles();
        if (buffers_.keys.in_place() || plan_.passes == 0) settle();
      }
    } else if constexpr (Shapes.finish.exists()) {
      count();
      sweep();
      sort_bins();
    }
  }

 private:
  /// Are codes all that travels, of keys alone in the order of all their bits?
  static constexpr bool may_make_keys = !with_values && invertible_codec<Codec>;
  bool makes_keys() const { return may_make_keys && all_.begin == 0 && all_.end == Codec::bits; }

  void sort_few() {
    if constexpr (may_make_keys && sizeof(typename Codec::bits_type) == 4) {
      if (makes_keys() && plan_.count <= static_cast<std::size_t>(Shapes.lone.round())) {
        using Sort = SortOneChunk<ExecutionSpace, Codec, Shapes.lone>;
        launch<Shapes.lone>("SortOneChunk", 1, Sort::scratch_bytes(),
                            Sort{buffers_.keys, codec_, all_, static_cast<int>(plan_.count)});
        return;
      }
    }
    if (plan_.count <= most_ranked_by_few) {
      rank<rank_few_shape<ExecutionSpace>()>();
    } else {
      rank<Shapes.rank>();
    }
  }
  template <TeamShape Shape>
  void rank() {
    using Rank = RankAmongAll<ExecutionSpace, Codec, Value, Shape>;
    const Ranking ranking = Ranking::of(plan_.count);
    const bool meet = ranking.teams > 1 && plan_.passes > 0 && Rank::is_in_place(buffers_);
    const auto mask = bits_between<typename Codec::bits_type>(all_.begin, all_.end);
    launch<Shape>("RankAmongAll", ranking.teams, Rank::scratch_bytes(plan_.count),
                  Rank{buffers_, codec_, mask, ranking, meet ? scratch_.meeting : nullptr,
                       scratch_.ranks.in<std::uint32_t>(base_)});
  }

  void count() {
    using Count = CountTopDigit<ExecutionSpace, Codec, Shapes.tile>;
    launch<Shapes.tile>("CountTopDigit", plan_.tiles, Count::scratch_bytes(),
                        Count{counting<Count>(), most_of(Count::samples), sorted_samples<Count>(),
                              /*ends=*/!buffers_.keys.in_place(), top()});
  }
  /// Of so many samples those in a bin that fits a chunk. Where these are few, a bin between splitters is as likely not to fit: then
  /// nobody looks for splitters.
  std::uint32_t most_of(int samples) const {
    const std::size_t most = plan_.chunk * static_cast<std::size_t>(samples) / plan_.count;
    return most < least_of_samples ? never_splits : static_cast<std::uint32_t>(most);
  }
  template <class Count>
  int sorted_samples() const {
    constexpr int few = Count::Splitters::together * Count::Splitters::part;
    return most_of(few) != never_splits ? few : Count::Splitters::most;
  }
  static constexpr std::size_t least_of_samples = 16;

  void sweep() {
    using Sweep = SweepTopDigit<ExecutionSpace, Codec, Value, Shapes.tile>;
    launch<Shapes.tile>("SweepTopDigit",
                        std::min(plan_.tiles, resident_teams_of<Shapes.tile>(exec_)),
                        Sweep::scratch_bytes(),
                        Sweep{{buffers_, codec_, plan_.count, plan_.tiles,
                               scratch_.state.in<SweepAllState>(base_), look_back()},
                              all_,
                              plan_.chunk,
                              /*ends=*/!buffers_.keys.in_place(),
                              table(),
                              top()});
  }

  void sort_bins() {
    if constexpr (may_make_keys) {
      if (makes_keys()) {
        sort_bins<true>();
        return;
      }
    }
    sort_bins<false>();
  }
  template <bool MakesKeys>
  void sort_bins() {
    using Sort = SortBins<ExecutionSpace, Codec, Value, Shapes.finish, MakesKeys>;
    launch<Shapes.finish>("SortBins", bin_count, Sort::scratch_bytes(),
                          Sort{buffers_, codec_, all_, equal_keys_differ(codec_, all_), top()});
  }

  void count_by_tiles() {
    using Count = CountByTiles<ExecutionSpace, Codec, Shapes.tile>;
    launch<Shapes.tile>("CountByTiles", plan_.tiles, Count::scratch_bytes(),
                        Count{counting<Count>()});
  }

  void sweep_by_tiles() {
    using Sweep = SweepByTiles<ExecutionSpace, Codec, Value, Shapes.tile>;
    launch<Shapes.tile>(
        "SweepByTiles", std::min(plan_.tiles, resident_teams_of<Shapes.tile>(exec_)),
        Sweep::scratch_bytes(),
        Sweep{buffers_, codec_, all_, plan_.count, table(), by_tiles(), look_back()});
  }

  template <class Count>
  typename Count::Counted counting() const {
    return {buffers_.keys.in, codec_, all_, Count::Tiles::of(plan_.count), zeros(), table()};
  }

  /// What one sweep has left elsewhere.
  void settle() {
    constexpr TeamShape shape = count_shape<ExecutionSpace>();
    const std::size_t teams = std::min(plan_.tiles, resident_teams_of<shape>(exec_));
    launch<shape>(
        "Settle", teams, 0,
        Settle<ExecutionSpace, Key, Value, shape.threads>{
            buffers_, &by_tiles()->passes, plan_.count, (plan_.count + teams - 1) / teams});
  }

  /// Words, tails and state lie side by side, the gaps between them included.
  ClearWords<ExecutionSpace, Shapes.tile.threads> zeros() const {
    return {scratch_.words.in<std::uint64_t>(base_),
            (scratch_.state.offset - scratch_.words.offset + scratch_.state.bytes) /
                sizeof(std::uint64_t)};
  }
  LookBack<ExecutionSpace> look_back() const {
    return LookBack<ExecutionSpace>::of(scratch_.words.in<std::uint32_t>(base_),
                                        scratch_.tails.in<std::uint64_t>(base_), scratch_.look_back,
                                        plan_.tiles);
  }
  TileTable table() const {
    return {scratch_.counts.in<std::uint32_t>(base_), scratch_.seen.in<std::uint64_t>(base_),
            plan_.tiles, SmallMsdScratch::digits_by_tile(plan_)};
  }
  SweepByTilesState* by_tiles() const { return scratch_.state.in<SweepByTilesState>(base_); }
  TopDigit* top() const { return scratch_.top.in<TopDigit>(base_); }

  template <TeamShape LaunchShape, class Kernel>
  void launch(const char* name, std::size_t teams, std::size_t scratch_bytes,
              const Kernel& kernel) {
    launch_teams<LaunchShape>(exec_, label_ + name, teams, scratch_bytes, kernel);
  }

  const ExecutionSpace& exec_;
  const Plan& plan_;
  const SmallMsdScratch& scratch_;
  std::string label_;
  SortBuffers<Key, Value> buffers_;
  Codec codec_;
  DigitList all_;
  std::byte* base_;
};

}  // namespace kradix::impl
