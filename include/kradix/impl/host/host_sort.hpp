// One host sort in one order of keys: by proof that nothing is to do, by counting, or by levels of all
// threads together, with the ranges that are left by one thread each.
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <numeric>
#include <string>

#include "kradix/impl/device/team.hpp"
#include "kradix/impl/host/benches.hpp"
#include "kradix/impl/host/counting.hpp"
#include "kradix/impl/host/kinds.hpp"
#include "kradix/impl/host/lone_sort.hpp"
#include "kradix/impl/host/trend.hpp"

namespace kradix::impl {

template <class ExecutionSpace, class Level>
struct PartitionBlocks {
  Level level;
  BenchSite benches;
  void operator()(const TeamMember<ExecutionSpace>& team) const {
    level.partition(benches.bench<typename Level::Rec>(team.league_rank()));
  }
};

template <class ExecutionSpace, class Level>
struct SortBuckets {
  Level level;
  BenchSite benches;
  void operator()(const TeamMember<ExecutionSpace>& team) const {
    level.finish(benches.bench<typename Level::Rec>(team.league_rank()));
  }
};

template <class ExecutionSpace, class Order, class Value>
class HostSort {
  using Level = HostLevel<Order, Value>;
  using State = typename Level::State;
  using Bench = typename Level::Bench;

 public:
  HostSort(const ExecutionSpace& exec, const Level& level, const HostMemory& memory,
           const std::string& label)
      : exec_(exec), level_(level), memory_(memory), label_(label) {
    level_.blocks = reinterpret_cast<typename Level::Rec*>(memory.blocks);
    level_.rows = memory.rows;
    level_.state = memory.template state<State>(level.threads);  // each thread has one besides
  }

  /// False, and nothing is written, if a key is one that the order cannot store.
  bool sort() {
    if (level_.threads == 1 && level_.range.size() <= level_.capacity) {
      run_here("SortAlone", SortAlone<Level>{level_, memory_.benches});
      return level_.state->verdict != State::special;
    }
    if (follow_trend()) return true;
    level_.choose(bench_of(0));
    if (count_keys() || count_kinds()) return true;
    if (!move_level(level_)) return false;
    // From now on elements lie where they belong, but for the order within ranges.
    level_.source = {level_.sink.keys, level_.sink.values, false};
    sort_rests();
    return true;
  }

 private:
  Bench bench_of(std::size_t thread) const {
    return memory_.benches.template bench<typename Level::Rec>(thread);
  }

  /// Keys of so many bytes are read sooner than other threads wake.
  static constexpr std::size_t alone_bytes = std::size_t{1} << 16;

  bool follow_trend() {
    const Trend trend = TrendOf(level_.order, level_.source.keys, level_.range.end).guess();
    if (trend == Trend::none) return false;
    open();
    if (level_.range.size() * sizeof(typename Level::Key) <= alone_bytes) {
      run_here("ProveTrend", [&] { prove_trend(level_, trend); });
    } else {
      launch("ProveTrend", level_.threads, ProveTrend<ExecutionSpace, Level>{level_, trend});
    }
    if (level_.state->verdict != State::good) return false;
    if (trend == Trend::rising && stay_in_place(level_)) return true;
    level_.open();
    launch("FollowTrend", level_.threads, FollowTrend<ExecutionSpace, Level>{level_, trend});
    return true;
  }

  /// Keys alone whose bits all count: of few values, as a sample says, while each is as it says.
  bool count_keys() {
    if constexpr (Level::can_count) {
      using Stored = typename Level::Stored;
      const auto counts =
          KeyCounts<Stored>::of(level_.state->buckets.reference, level_.state->buckets.differing,
                                reinterpret_cast<std::uint64_t*>(memory_.blocks));
      if (!worth_counting(counts)) return false;
      std::fill_n(counts.start, counts.values() + 1, std::uint64_t{0});
      open();
      launch("CountKeys", level_.threads,
             CountKeys<ExecutionSpace, Level, Stored>{level_, memory_.benches, counts});
      if (!was_good()) return false;
      std::exclusive_scan(counts.start, counts.start + counts.values() + 1, counts.start,
                          std::uint64_t{0});
      expand(counts);
      return true;
    }
    return false;
  }

  /// The verdict of a count, after which the sort may go on as if there had been none.
  bool was_good() {
    const bool good = level_.state->verdict == State::good;
    level_.state->verdict = State::good;
    return good;
  }

  template <class Counts>
  void expand(const Counts& counts) {
    level_.open();
    launch("ExpandCounts", level_.threads,
           ExpandCounts<ExecutionSpace, Level, Counts>{level_, counts});
  }

  /// Likewise of few kinds, wherever their bits differ. Their list lies where blocks would.
  bool count_kinds() {
    if constexpr (Level::can_count && sizeof(typename Level::Key) >= 4 &&
                  sizeof(typename Level::Key) <= 8) {
      using Count = CountFewKinds<ExecutionSpace, Level>;
      using Kinds = SortedKinds<typename Level::Stored>;
      if (Kinds::bytes > level_.range.size() * sizeof(typename Level::Rec)) return false;
      if (!may_be_few_kinds(Count::table_of(memory_.benches, 0))) return false;
      open();
      launch("CountFewKinds", level_.threads, Count{level_, memory_.benches});
      if (!was_good()) return false;
      auto all = Count::table_of(memory_.benches, 0);
      all.count_used();
      for (std::size_t t = 1; t < level_.threads; ++t) {
        if (!all.add_all(Count::table_of(memory_.benches, t))) return false;
      }
      Kinds kinds = Kinds::in(memory_.blocks);
      if (!kinds.take(level_.order, all)) return false;
      expand(kinds);
      return true;
    }
    return false;
  }

  /// As the sample of the buckets says, whose places a cache holds by now.
  template <class Table>
  bool may_be_few_kinds(Table table) const {
    const std::size_t keys = level_.range.size();
    constexpr std::size_t most_keys = std::size_t{1} << 31;  // of counters of 32 bits
    if (!level_.all_bits_count() || Table::bytes > memory_.benches.record_bytes ||
        keys > most_keys) {
      return false;
    }
    table.clear();
    const std::size_t size = BucketSample::size_of(keys);
    for (std::size_t i = 0; i < size; ++i) {
      table.add(level_.source.keys[level_.range.begin + BucketSample::place(i, size, keys)], 1);
      if (table.used > Table::most || (i == size / 4 && 8 * table.used > 7 * i)) return false;
    }
    return table.is_complete();
  }

  /// All bits of keys count, and the tables are small beside keys and cache: each thread adds its own to all.
  template <class Counts>
  bool worth_counting(const Counts& counts) const {
    const std::size_t values = counts.values(), keys = level_.range.size();
    return values > 1 && level_.all_bits_count() &&
           values * std::max<std::size_t>(level_.threads, 2) <= keys / 2 &&
           (values + 1) * sizeof(std::uint64_t) <= keys * sizeof(typename Level::Rec) &&
           counts.counters() * sizeof(std::uint32_t) <= memory_.benches.record_bytes;
  }

  /// Tells a level's blocks to buckets and its buckets to where they belong. False, and nothing is written,
  /// if a key is special.
  bool move_level(const Level& level) {
    partition(level);
    if (level.state->verdict == State::escaped) {
      level.retry(bench_of(0));
      partition(level);
    }
    if (level.state->verdict == State::special) return false;
    level.place([&](std::size_t thread) { return bench_of(thread); });
    level.open();
    launch("SortBuckets", level.threads,
           SortBuckets<ExecutionSpace, Level>{level, memory_.benches});
    level.for_each_rest([&](const HostRange& rest) { memory_.rests[rests_++] = rest; });
    return true;
  }

  void open() {
    level_.state->verdict = State::good;
    level_.open();
  }

  void partition(const Level& level) {
    level.open();
    launch("PartitionBlocks", level.threads,
           PartitionBlocks<ExecutionSpace, Level>{level, memory_.benches});
  }

  /// Long ranges by all threads together, short ones by one each.
  void sort_rests() {
    HostRange* const rests = memory_.rests;
    const auto is_long = [&](const HostRange& range) {
      return rests_ < level_.threads || range.size() > BenchSite::alone_chunks * level_.capacity;
    };
    for (HostRange* at = std::find_if(rests, rests + rests_, is_long); at != rests + rests_;
         at = std::find_if(rests, rests + rests_, is_long)) {
      Level level = level_;
      level.range = *at;
      *at = rests[--rests_];
      if (level.choose(bench_of(0))) move_level(level);
    }
    if (rests_ == 0) return;
    std::sort(rests, rests + rests_,
              [](const HostRange& a, const HostRange& b) { return a.begin < b.begin; });
    level_.open();
    launch("SortRanges", level_.threads,
           SortRanges<ExecutionSpace, Level>{level_, memory_, rests_, &level_.state->ticket});
  }

  template <class Kernel>
  void launch(const char* name, std::size_t teams, const Kernel& kernel) {
    launch_teams<TeamShape{1, 0}>(exec_, label_ + name, teams, 0, kernel);
  }

  /// On the calling thread, which host spaces keep waiting anyway: to wake others costs more than to sort
  /// few keys.
  template <class Kernel>
  void run_here(const char* name, const Kernel& kernel) {
    if (!Kokkos::Tools::profileLibraryLoaded()) {
      kernel();
      return;
    }
    std::uint64_t id = 0;
    Kokkos::Tools::beginParallelFor(label_ + name, Kokkos::Tools::Experimental::device_id(exec_),
                                    &id);
    kernel();
    Kokkos::Tools::endParallelFor(id);
  }

  const ExecutionSpace& exec_;
  Level level_;
  HostMemory memory_;
  std::string label_;
  std::size_t rests_ = 0;
};

}  // namespace kradix::impl
