// One host sort in one order of keys: by proof that nothing is to do, by counting, or by levels of all
// threads together, with the ranges that are left by one thread each.
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <numeric>
#include <string>

#include "kradix/impl/host/benches.hpp"
#include "kradix/impl/host/counting.hpp"
#include "kradix/impl/host/frequent_kinds.hpp"
#include "kradix/impl/host/labelled_kinds.hpp"
#include "kradix/impl/host/lone_sort.hpp"
#include "kradix/impl/host/simd_parts.hpp"
#include "kradix/impl/host/threads.hpp"
#include "kradix/impl/host/trend.hpp"
#include "kradix/impl/tuning.hpp"

namespace kradix::impl {

template <class Level>
struct PartitionBlocks {
  Level level;
  BenchSite benches;
  void operator()(std::size_t thread) const {
    level.partition(benches.bench<typename Level::Rec>(thread));
  }
};

template <class Level>
struct SortBuckets {
  Level level;
  BenchSite benches;
  void operator()(std::size_t thread) const {
    level.finish(benches.bench<typename Level::Rec>(thread));
  }
};

template <class ExecutionSpace, class Order, class Value>
class HostSort {
  using Level = HostLevel<Order, Value>;
  using State = typename Level::State;
  using Bench = typename Level::Bench;
  using Kinds = SampledKinds<Level>;
  using Counts = KeyCounts<typename Level::Stored>;

  /// Memory that is not used yet.
  class Room {
   public:
    template <class T>
    Room(T* memory, std::size_t count) : at_(memory), bytes_(count * sizeof(T)) {}

    /// Null where no more is left.
    template <class T>
    std::byte* take(std::size_t count) {
      const std::size_t bytes = count * sizeof(T);
      if (std::align(line_bytes, bytes, at_, bytes_) == nullptr) return nullptr;
      auto* const taken = static_cast<std::byte*>(at_);
      at_ = taken + bytes;
      bytes_ -= bytes;
      return taken;
    }

   private:
    void* at_;
    std::size_t bytes_;
  };

 public:
  HostSort(const HostThreads<ExecutionSpace>& threads, const Level& level, const HostMemory& memory)
      : threads_(threads), level_(level), memory_(memory) {
    level_.blocks = reinterpret_cast<typename Level::Rec*>(memory.blocks);
    level_.rows = memory.rows;
    level_.state = memory.template state<State>(level.threads);  // each thread has one besides
  }

  /// False, and nothing is written, if a key is one that the order cannot store.
  bool sort() {
    if (is_for_one_cache(level_)) {
      if constexpr (Level::with_values) {
        if (memory_.kinds != nullptr && (follow_trend() || label_kinds())) return true;
      }
      return sort_alone();
    }
    if (follow_trend()) return true;
    if (is_soon_sorted()) return sort_alone();
    if (count_kinds() || label_kinds()) return true;
    if (part_whatever_spreads()) return true;
    level_.choose(bench_of(0), splits_);
    if (count_keys()) return true;
    if (part_by_simd()) return true;
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

  /// Elements of a bucket, by all threads of the level.
  std::uint64_t counted(const Level& level, std::size_t bucket) const {
    std::uint64_t size = 0;
    for (std::size_t t = 0; t < level.threads; ++t) size += bench_of(t).totals[bucket];
    return size;
  }

  static bool is_for_one_cache(const Level& level) {
    return level.threads == 1 && level.range.size() <= level.capacity;
  }
  /// By the calling thread.
  bool sort_alone() {
    threads_.run_here("SortAlone", SortAlone<Level>{level_, memory_.benches});
    return level_.state->verdict != State::special;
  }

  /// Of so few keys that are soon looked at: how many are the same as another one, and in how many bits side by side they differ.
  static constexpr std::size_t soon_looked_at = 32;
  struct SoonSeen {
    std::size_t alike;
    int differing;
    std::size_t kinds() const { return soon_looked_at - alike; }
  };
  SoonSeen look_soon() const {
    using Stored = typename Level::Stored;
    const std::size_t size = level_.range.size();
    std::array<Stored, soon_looked_at> some;
    for (std::size_t i = 0; i < some.size(); ++i) {
      const std::size_t place = BucketSample::place(i, some.size(), size);
      some[i] = level_.order.enter(level_.source.keys[level_.range.begin + place]);
    }
    if constexpr (SimdLeaf<Stored>::exists) {
      sort_leaf(some.data(), some.size());
    } else {
      std::sort(some.begin(), some.end());
    }
    Stored differing = 0;
    for (const Stored word : some) differing |= word ^ some[0];
    const int lowest = bit_width_of(static_cast<Stored>(differing & (Stored{0} - differing)));
    return {count_alike(some.data(), some.size()),
            differing == 0 ? 0 : bit_width_of(differing) - lowest + 1};
  }

  /// Keys alone of so few kinds that one thread has sorted them by SIMD before another one is awake.
  bool is_soon_sorted() const {
    if constexpr (Level::can_count && SimdLeaf<typename Level::Stored>::exists) {
      // Of keys, for each kind; and of the kinds of so few that two threads hardly pay.
      constexpr std::size_t soon_bytes = std::size_t{1} << 19, few_bytes = 96;
      const std::size_t size = level_.range.size();
      if (!level_.all_bits_count() || size < soon_looked_at ||
          size > SimdLeaf<typename Level::Stored>::in_place.most()) {
        return false;
      }
      const std::size_t kinds_bytes = look_soon().kinds() * sizeof(typename Level::Key);
      return kinds_bytes * size <= soon_bytes ||
             (size <= least_for_two_threads && kinds_bytes <= few_bytes);
    }
    return false;
  }

  /// Keys of so many bytes are read sooner than other threads wake.
  static constexpr std::size_t alone_bytes = std::size_t{1} << 18;

  bool follow_trend() {
    const Trend trend = TrendOf(level_.order, level_.source.keys, level_.range.end).guess();
    if (trend == Trend::none) return false;
    open();
    if (level_.range.size() * sizeof(typename Level::Key) <= alone_bytes) {
      threads_.run_here("ProveTrend", [&] { prove_trend(level_, trend); });
    } else {
      launch("ProveTrend", level_.threads, ProveTrend<Level>{level_, trend});
    }
    if (level_.state->verdict != State::good) return false;
    if (trend == Trend::rising && stay_in_place(level_)) return true;
    level_.open();
    launch("FollowTrend", level_.threads, FollowTrend<Level>{level_, trend});
    return true;
  }

  /// Keys alone whose bits all count: of few values, as a sample says, while each is as it says.
  bool count_keys() {
    if constexpr (Level::can_count) {
      using Stored = typename Level::Stored;
      const auto counts =
          Counts::of(level_.state->buckets.reference, level_.state->buckets.differing,
                     reinterpret_cast<std::uint64_t*>(memory_.blocks));
      if (!worth_counting(counts)) return false;
      std::fill_n(counts.start, counts.values() + 1, std::uint64_t{0});
      open();
      launch("CountKeys", level_.threads,
             CountKeys<Level, Stored>{level_, memory_.benches, counts});
      if (!was_good()) return false;
      if (counts.in_bytes()) {
        launch("AddBytes", level_.threads, AddBytes<Level>{level_, counts});
      }
      std::exclusive_scan(counts.start, counts.start + counts.values() + 1, counts.start,
                          std::uint64_t{0});
      level_.open();
      launch("ExpandCounts", level_.threads, ExpandCounts<Level>{level_, counts});
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

  /// Are whole keys that a cache holds many of all there is to order by?
  bool may_have_kinds() const {
    constexpr std::size_t most_keys = std::size_t{1} << 31;  // of counters of 32 bits
    const std::size_t size = level_.range.size();
    return memory_.kinds != nullptr && level_.sink.keys != nullptr && level_.all_bits_count() &&
           size >= BucketSample::least && size <= most_keys;
  }

  /// Keys alone of frequent kinds, wherever their bits differ, are counted; then the rest is sorted by itself, and goes between.
  bool count_kinds() {
    if constexpr (Level::can_count && sizeof(typename Level::Key) >= 4 &&
                  sizeof(typename Level::Key) <= 8) {
      using Count = CountFrequentKinds<Level>;
      const bool has_parts = SimdParts<Level>::serve(level_);
      // Of 64; the others' sort must pay for a look at all.
      const std::size_t most_rest = !has_parts ? 40 : has_wide_simd() ? 2 : 10;
      if (!may_have_kinds()) return false;
      const std::size_t sample = BucketSample::size_of(level_.range.size());
      auto kinds = Kinds::in(memory_.kinds, sample);
      std::uint32_t* const times = Count::times_of(memory_.benches, 0);
      if (!Count::fits(memory_.benches, kinds) || !kinds.settle(level_, sample, times, most_rest))
        return false;
      // One key that is most of all is parted from many others sooner than it is counted.
      const bool are_few = kinds.count <= Count::few() && kinds.rest_times == 0;
      if (has_parts && !are_few && Count::splits_off(kinds)) return false;
      auto* const rest = reinterpret_cast<typename Level::Key*>(memory_.blocks);
      level_.state->rest = 0;
      auto labels = SlotLabels<Level>::in(memory_.kinds, sample);
      if (Count::labels_serve(kinds) && kinds.part(level_.order)) {
        labels.have_first_homes = true;
        labels.fill(kinds, [](std::size_t l) { return l; });
      }
      const Count count{level_, memory_.benches, kinds, labels, rest};
      open();
      launch("CountFrequentKinds", level_.threads, count);
      if (!was_good()) return false;
      const std::size_t rest_size = level_.state->rest;
      kinds.add_up(level_.threads,
                   [&](std::size_t t, std::size_t k) { return count.times_of(t, k); });
      HostMemory memory = memory_;
      Room room{level_.sink.keys, level_.range.size()};
      memory.blocks = room.template take<typename Level::Rec>(rest_size);
      if (memory.blocks == nullptr) return false;
      memory.kinds = room.template take<std::byte>(HostMemory::kinds_bytes(rest_size, false));
      sort_rest(level_of_rest(rest, nullptr, rest_size), memory);
      kinds.place(level_.order, rest, rest_size);
      level_.open();
      launch("ExpandFrequentKinds", level_.threads,
             ExpandFrequentKinds<Level>{level_, kinds, rest});
      return true;
    }
    return false;
  }

  /// Blocks begin where values may lie.
  std::size_t most_simd_kinds() const {
    const bool aligned = level_.block * sizeof(typename Level::Rec) % alignof(Value) == 0;
    return aligned ? SimdKinds<typename Level::Key, Value>::most() : 0;
  }

  /// Pairs likewise: their values move by labels, or of few kinds by SIMD. Of not so many by one thread.
  bool label_kinds() {
    if constexpr (has_labels) {
      constexpr std::size_t soon_seen = std::size_t{1} << 16, few = std::size_t{1} << 13;
      const std::size_t size = level_.range.size();
      if (!may_have_kinds()) return false;
      if (size < soon_seen) {
        const SoonSeen seen = look_soon();
        // One pass in cache is as quick, but for few kinds.
        const bool by_one_pass = seen.differing <= DigitStack::max_bits && size <= level_.capacity;
        if (seen.alike < (by_one_pass ? 20u : size < few ? 8u : 2u)) return false;
      }
      const std::size_t threads = level_.threads;
      const bool done = label_whatever_is_alike();
      level_.threads = threads;
      return done;
    }
    return false;
  }
  static constexpr bool has_labels =
      Level::OrderType::is_encoded && Level::with_values && sizeof(typename Level::Key) <= 8;
  /// Are so many sooner labelled by one thread? To part them takes as long for each kind.
  static bool labels_alone(const LabelledKinds<Level>& labelled, std::size_t size) {
    constexpr std::size_t most = std::size_t{1} << 14, most_parted = std::size_t{1} << 16;
    return labelled.parted_count > 0 ? labelled.parted_count * size <= most_parted : size <= most;
  }

  bool label_whatever_is_alike() {
    if constexpr (has_labels) {
      using Labelled = LabelledKinds<Level>;
      const std::size_t size = level_.range.size(), sample = BucketSample::size_for_labels(size);
      auto labelled = Labelled::in(memory_.kinds, sample);
      Kinds& kinds = labelled.sampled;
      auto* const times = reinterpret_cast<std::uint32_t*>(bench_of(0).a);
      // Of 64; where vectors are wide splitters soon tell the others apart.
      const std::size_t most_rest = has_wide_simd() ? 6 : 16;
      if (kinds.homes.end() * sizeof(std::uint32_t) > memory_.benches.record_bytes ||
          !kinds.settle(level_, sample, times, most_rest)) {
        return false;
      }
      kinds.keep(row_of_buckets(level_.most_bits) - 2);
      if (64 * kinds.rest_times > most_rest * kinds.looked_at) return false;
      const std::size_t most_parted = most_simd_kinds();
      if (most_parted == 0) {
        const std::size_t most_times = kinds.most_frequent().times;
        using BySimd = SimdRecords<typename Level::OrderType, typename Level::Rec>;
        if (BySimd::serve_all && BySimd::serve(level_.order)) {
          // Splitters soon tell a frequent key from others, if there are.
          if (4 * most_times >= kinds.looked_at && 32 * kinds.rest_times > kinds.looked_at) {
            return false;
          }
        } else {
          constexpr std::size_t most_splits = 2;
          splits_ = kinds.count <= most_splits || 2 * most_times >= kinds.looked_at;
          if (splits_) return false;  // which costs less
        }
      }
      labelled.number(level_.order, most_parted, 2 * memory_.benches.record_bytes, level_.block);
      level_.state->buckets.count = labelled.labels();
      if (labels_alone(labelled, size)) level_.threads = 1;
      open();
      launch("LabelBlocks", level_.threads, LabelBlocks<Level>{level_, memory_.benches, labelled});
      if (!was_good()) return false;
      level_.place([&](std::size_t label) { return counted(level_, label); });
      const std::size_t rest_size = level_.size_of(kinds.count);
      const Level rest = level_of_rest(level_.sink.keys, level_.sink.values, rest_size);
      HostMemory memory = memory_;
      if (!is_for_one_cache(rest)) {
        Room room{level_.sink.keys + rest_size, size - rest_size};
        memory.blocks = room.template take<typename Level::Rec>(rest_size);
        memory.rows = reinterpret_cast<std::uint32_t*>(
            room.template take<std::uint32_t>(rest.row_count() * row_of_buckets(rest.most_bits)));
        if (memory.blocks == nullptr || memory.rows == nullptr) return false;
      }
      memory.kinds = nullptr;
      for (std::size_t l = 0; l < kinds.count; ++l) {
        kinds.start[labelled.kind_of(l)] = level_.size_of(l);
      }
      launch("GatherRest", level_.threads, GatherRest<Level>{level_, kinds.count});
      sort_rest(rest, memory);
      kinds.place(level_.order, level_.sink.keys, rest_size);
      kinds.spread(level_.sink.keys);
      kinds.spread(level_.sink.values);
      level_.state->buckets.count = labelled.labels();
      level_.place([&](std::size_t l) {
        return l == kinds.count ? rest_size : kinds.size(labelled.kind_of(l));
      });
      level_.open();
      launch("PutKinds", level_.threads, PutKinds<Level>{level_, labelled});
      return true;
    }
    return false;
  }

  /// Words alone that SIMD parts and sorts sooner than they are moved to buckets, whatever those would be. False if they may be of
  /// few values, which are counted.
  bool part_whatever_spreads() {
    if constexpr (SimdParts<Level>::exists) {
      if (!can_part() || !SimdParts<Level>::serve_spread(level_.range.size(), level_.threads)) {
        return false;
      }
      const std::size_t sampled =
          level_.sample(bench_of(0), BucketSample::size_of(level_.range.size()));
      auto* const sample = reinterpret_cast<typename Level::Stored*>(bench_of(0).a);
      typename Level::Stored differing = 0;
      for (std::size_t i = 1; i < sampled; ++i) differing |= sample[i] ^ sample[0];
      if (worth_counting(Counts::of(sample[0], differing, nullptr))) return false;
      part(sample, sampled);
      return true;
    }
    return false;
  }

  /// Likewise those that buckets by a table hold.
  bool part_by_simd() {
    if constexpr (SimdParts<Level>::exists) {
      const bool serves = level_.state->buckets.by == BucketsBy::table ||
                          SimdParts<Level>::serve_spread(level_.range.size(), level_.threads);
      if (!serves || !can_part()) return false;
      const std::size_t sampled =
          level_.sample(bench_of(0), BucketSample::size_of(level_.range.size()));
      part(reinterpret_cast<typename Level::Stored*>(bench_of(0).a), sampled);
      return true;
    }
    return false;
  }
  bool can_part() const {
    if constexpr (SimdParts<Level>::exists) {
      return SimdParts<Level>::serve(level_) &&
             memory_.benches.record_bytes >= SimdParts<Level>::bytes();
    }
    return false;
  }
  /// By a sample, which is put in order.
  template <class Word>
  void part(Word* sample, std::size_t sampled) {
    open();
    sort_leaf(sample, sampled);
    auto* const memory = reinterpret_cast<std::byte*>(bench_of(0).b);
    const SimdParts<Level> parts(level_, sample, sampled, memory);
    SortByParts<ExecutionSpace, SimdParts<Level>>{threads_, parts}.sort();
  }

  /// What was taken out of the others is sorted by itself, with no more rows.
  Level level_of_rest(typename Level::Key* keys, typename Level::ValueType* values,
                      std::size_t size) const {
    Level level = level_;
    level.range = {0, size, 0};
    level.threads = host_threads(size, level_.threads);
    level.block =
        std::max(host_block(size, level.threads, level_.block), size / level_.block_count() + 1);
    level.source = {keys, values, false};
    level.sink = {keys, values, false, false};
    return level;
  }
  void sort_rest(const Level& level, const HostMemory& memory) {
    if (level.range.size() > 1) HostSort(threads_, level, memory).sort();
  }

  /// All bits of keys count, and the tables are small beside keys and cache: each thread adds its own to all.
  bool worth_counting(const Counts& counts) const {
    const std::size_t values = counts.values(), keys = level_.range.size();
    const std::size_t bytes = keys * sizeof(typename Level::Rec);
    if (values <= 1 || !level_.all_bits_count() ||
        values * std::max<std::size_t>(level_.threads, 2) > keys / 2) {
      return false;
    }
    // Fewer keys a value take as long to be written anew as to be sorted, if that is done by SIMD.
    constexpr std::size_t least_keys = 16;
    const bool have_enough = values * least_keys <= keys;
    if (counts.in_bytes()) {
      return have_enough && counts.bytes_to(level_.threads) <= bytes &&
             values <= 4 * memory_.benches.record_bytes;
    }
    if (!have_enough && can_part()) return false;
    return (values + 1) * sizeof(std::uint64_t) <= bytes &&
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
    level.place([&](std::size_t bucket) { return counted(level, bucket); });
    level.open();
    launch("SortBuckets", level.threads, SortBuckets<Level>{level, memory_.benches});
    level.for_each_rest([&](const HostRange& rest) { memory_.rests[rests_++] = rest; });
    return true;
  }

  void open() {
    level_.state->verdict = State::good;
    level_.open();
  }

  void partition(const Level& level) {
    level.open();
    launch("PartitionBlocks", level.threads, PartitionBlocks<Level>{level, memory_.benches});
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
           SortRanges<Level>{level_, memory_, rests_, &level_.state->ticket});
  }

  template <class Work>
  void launch(const char* name, std::size_t threads, const Work& work) {
    threads_.launch(name, threads, work);
  }

  const HostThreads<ExecutionSpace>& threads_;
  Level level_;
  HostMemory memory_;
  std::size_t rests_ = 0;
  bool splits_ = false;  ///< a few keys are most of all
};

}  // namespace kradix::impl
