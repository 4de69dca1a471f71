// One host sort in one order of keys: levels by all threads together, then the ranges that are left by one
// thread each.
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <string>

#include "kradix/impl/device/team.hpp"
#include "kradix/impl/host/host_level.hpp"

namespace kradix::impl {

/// What threads have for themselves, one after the other in memory.
struct BenchSite {
  static constexpr std::size_t alone_chunks = 64;  ///< a thread sorts so many chunks alone

  std::byte* memory;
  std::size_t record_bytes;

  static BenchSite of(std::byte* memory, std::size_t records, std::size_t each_bytes) {
    // Numbers of buckets lie in place of records between counting and moving.
    const std::size_t bytes = records * std::max<std::size_t>(each_bytes, 2);
    return {memory, (bytes + line_bytes - 1) / line_bytes * line_bytes};
  }
  static constexpr std::size_t counter_bytes =
      std::max(counter_count, DigitStack::counters) * sizeof(std::uint32_t);
  static constexpr std::size_t total_bytes = max_buckets * sizeof(std::uint64_t);
  static constexpr std::size_t rest_bytes = (alone_chunks + 1) * sizeof(HostRange);
  std::size_t bytes() const {
    constexpr std::size_t fixed = counter_bytes + total_bytes + rest_bytes;
    return 2 * record_bytes + (fixed + line_bytes - 1) / line_bytes * line_bytes;
  }

  template <class Rec>
  Workbench<Rec> bench(std::size_t thread) const {
    std::byte* const own = memory + thread * bytes();
    std::byte* const counters = own + 2 * record_bytes;
    return {reinterpret_cast<Rec*>(own), reinterpret_cast<Rec*>(own + record_bytes),
            reinterpret_cast<std::uint32_t*>(counters),
            reinterpret_cast<std::uint64_t*>(counters + counter_bytes)};
  }
  HostRange* rests(std::size_t thread) const {
    return reinterpret_cast<HostRange*>(memory + thread * bytes() + 2 * record_bytes +
                                        counter_bytes + total_bytes);
  }
};

/// The scratch memory of a host sort, by address.
struct HostMemory {
  std::byte* blocks;
  std::uint32_t* rows;
  BenchSite benches;
  std::byte* states;
  HostRange* rests;

  /// Of every level's state, whatever the key.
  static constexpr std::size_t state_bytes =
      (sizeof(LevelState<std::uint64_t>) + 1023) / 1024 * 1024;
  template <class State>
  State* state(std::size_t thread) const {
    static_assert(sizeof(State) <= state_bytes);
    return reinterpret_cast<State*>(states + thread * state_bytes);
  }
};

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

/// What no cache holds and one thread sorts alone, level after level.
template <class Level>
struct LoneSort {
  HostMemory memory;
  std::size_t thread;

  void run(Level level, const HostRange& first) const {
    const auto bench = memory.benches.bench<typename Level::Rec>(thread);
    HostRange* const rests = memory.benches.rests(thread);
    level.threads = 1;
    level.state = memory.state<typename Level::State>(thread);
    std::size_t left = 0;
    rests[left++] = first;
    while (left > 0) {
      level.range = rests[--left];
      if (!level.choose(bench)) continue;
      run_level(level, bench);
      level.for_each_rest([&](const HostRange& rest) { rests[left++] = rest; });
    }
  }

 private:
  template <class Bench>
  static void run_level(const Level& level, const Bench& bench) {
    level.open();
    level.partition(bench);
    if (level.state->verdict == Level::State::escaped) {
      level.retry(bench);
      level.open();
      level.partition(bench);
    }
    level.place([&](std::size_t) -> const Bench& { return bench; });
    level.open();
    level.finish(bench);
  }
};

template <class ExecutionSpace, class Level>
struct SortRanges {
  Level level;
  HostMemory memory;
  std::size_t count;

  void operator()(const TeamMember<ExecutionSpace>& team) const {
    const auto thread = static_cast<std::size_t>(team.league_rank());
    for (std::size_t r = claim(); r < count; r = claim()) {
      const HostRange range = memory.rests[r];
      Level own = level;
      // Rows of ranges do not overlap: a range has at most one more than lie between it and the next.
      own.rows += (range.begin / level.block + r) * row_of_buckets(level.most_bits);
      LoneSort<Level>{memory, thread}.run(own, range);
    }
  }
  std::size_t claim() const { return Kokkos::atomic_fetch_add(ticket, std::uint64_t{1}); }
  std::uint64_t* ticket;
};

/// What fits one thread's cache.
template <class ExecutionSpace, class Level>
struct SortAlone {
  Level level;
  BenchSite benches;
  void operator()(const TeamMember<ExecutionSpace>&) const {
    level.sort_alone(benches.bench<typename Level::Rec>(0));
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
      launch("SortAlone", 1, SortAlone<ExecutionSpace, Level>{level_, memory_.benches});
      return level_.state->verdict != State::special;
    }
    if (!sort_level(level_)) return false;
    // From now on elements lie where they belong, but for the order within ranges.
    level_.source = {level_.sink.keys, level_.sink.values, false};
    sort_rests();
    return true;
  }

 private:
  bool sort_level(const Level& level) {
    const Bench bench = memory_.benches.template bench<typename Level::Rec>(0);
    if (!level.choose(bench)) return true;
    partition(level);
    if (level.state->verdict == State::escaped) {
      level.retry(bench);
      partition(level);
    }
    if (level.state->verdict == State::special) return false;
    level.place([&](std::size_t thread) {
      return memory_.benches.template bench<typename Level::Rec>(thread);
    });
    level.open();
    launch("SortBuckets", level.threads,
           SortBuckets<ExecutionSpace, Level>{level, memory_.benches});
    level.for_each_rest([&](const HostRange& rest) { memory_.rests[rests_++] = rest; });
    return true;
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
      sort_level(level);
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

  const ExecutionSpace& exec_;
  Level level_;
  HostMemory memory_;
  std::string label_;
  std::size_t rests_ = 0;
};

}  // namespace kradix::impl
