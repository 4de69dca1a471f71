// What one thread sorts alone: all that fits its cache, or a range that several threads left.
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kradix/impl/host/benches.hpp"
#include "kradix/impl/host/simd_leaf.hpp"
#include "kradix/impl/host/sort_in_place.hpp"
#include "kradix/impl/host/trend.hpp"

namespace kradix::impl {

/// All of a sort, where it fits one thread's cache. The verdict is `special` where the order does not serve.
template <class Level>
struct SortAlone {
  using Rec = typename Level::Rec;

  Level level;
  BenchSite benches;

  void operator()() const {
    const std::size_t size = level.range.size();
    const auto* const keys = level.source.keys;
    level.state->verdict = Level::State::good;
    const TrendOf order_of(level.order, keys, size);
    const Trend trend = order_of.guess();
    if (trend != Trend::none && order_of.follows(trend, 0, size)) {
      follow_trend(level, trend, 0, size);
    } else if (order_of.any_special(0, size)) {
      level.judge(Level::State::special);
    } else {
      sort(benches.bench<Rec>(0), size);
    }
  }

 private:
  void sort(const Workbench<Rec>& bench, std::size_t size) const {
    const auto& order = level.order;
    if constexpr (Level::can_count && SimdLeaf<typename Level::Stored>::exists) {
      if (level.all_bits_count() && size <= SimdLeaf<typename Level::Stored>::in_place.most()) {
        sort_in_place(order, level.source.keys, level.sink.keys, size);
        return;
      }
    }
    for (std::size_t i = 0; i < size; ++i) {
      bench.a[i] = Rec(order.enter(level.source.keys[i]), level.source.value(i));
    }
    const CacheSort<typename Level::OrderType, Rec> cache(order, bench.counters);
    const Rec* const sorted = cache.sort(bench.a, bench.b, size, cache.survey(bench.a, size));
    level.sink.write(order, 0, sorted, size, !level.sink.leaves_keys);
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
    level.place([&](std::size_t bucket) { return bench.totals[bucket]; });
    level.open();
    level.finish(bench);
  }
};

template <class Level>
struct SortRanges {
  Level level;
  HostMemory memory;
  std::size_t count;
  std::uint64_t* ticket;

  void operator()(std::size_t thread) const {
    for (std::size_t r = claim(); r < count; r = claim()) {
      const HostRange range = memory.rests[r];
      Level own = level;
      // Rows of ranges do not overlap: a range has at most one more than lie between it and the next.
      own.rows += (range.begin / level.block + r) * row_of_buckets(level.most_bits);
      LoneSort<Level>{memory, thread}.run(own, range);
    }
  }
  std::size_t claim() const { return Kokkos::atomic_fetch_add(ticket, std::uint64_t{1}); }
};

}  // namespace kradix::impl
