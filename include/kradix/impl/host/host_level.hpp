// One level of a host sort over a range: blocks put in order of buckets, then bucket after bucket gathered,
// sorted in a core's cache and written where it belongs.
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kradix/impl/backend/lanes_host.hpp"
#include "kradix/impl/host/block_partition.hpp"
#include "kradix/impl/host/buckets.hpp"
#include "kradix/impl/host/cache_sort.hpp"
#include "kradix/impl/host/memory.hpp"
#include "kradix/impl/host/order.hpp"
#include "kradix/impl/host/record.hpp"

namespace kradix::impl {

/// Where sorted elements go.
template <class Key, class Value>
struct RecordSink {
  Key* keys;  ///< too large buckets lie here between two levels
  Value* values;
  bool leaves_keys;  ///< nobody wants sorted keys
  bool streams;      ///< the result is larger than the caches

  template <class Order, class Rec>
  void write(const Order& order, std::size_t at, const Rec* records, std::size_t count,
             bool with_keys) const {
    if (with_keys) {
      write_objects(keys + at, count, streams,
                    [=](std::size_t i) { return order.leave(records[i].key()); });
    }
    if constexpr (!std::is_same_v<Value, NoValue>) {
      write_objects(values + at, count, streams, [=](std::size_t i) { return records[i].value(); });
    }
  }
};

/// A bucket's keys while they are sorted. But in buckets by a digit they are less by the least that the bucket may have: no
/// more bits vary than it is wide.
template <class Order, class Rec>
class KeysFrom {
  using Stored = typename Order::Stored;
  using Bits = typename Order::Bits;
  static constexpr bool may_be_less = SimdRecords<Order, Rec>::exist || takes_steps<Order>;

 public:
  KeysFrom(const Order& order, const Buckets<Bits>& buckets, std::size_t bucket)
      : order_(order), varying_(buckets.varying_in_one()) {
    if constexpr (may_be_less) {
      if (buckets.by == BucketsBy::splitters) {
        least_ = static_cast<Stored>(buckets.splitters.splitter[bucket]);
      } else if (buckets.by != BucketsBy::digit && buckets.value_steps().are_same_here() &&
                 impl::all_bits_count(order)) {
        const bool has_ends = bucket > 0 && bucket + 1 < buckets.count;
        least_ = static_cast<Stored>(buckets.least_of(bucket));
        if (has_ends) varying_ = bits_below(buckets.least_of(bucket + 1) - least_);
      }
    }
  }
  /// The bits in which keys of the bucket may differ; none where buckets do not tell.
  Bits varying() const { return varying_; }
  /// Are keys not what they were?
  bool changes() const {
    if constexpr (may_be_less) return least_ != 0;
    return false;
  }
  Rec enter(const Rec& record) const {
    if constexpr (may_be_less) {
      return Rec(static_cast<Stored>(record.key() - least_), record.value());
    } else {
      return record;
    }
  }
  auto leave(const Stored& stored) const {
    if constexpr (may_be_less) {
      return order_.leave(static_cast<Stored>(stored + least_));
    } else {
      return order_.leave(stored);
    }
  }

 private:
  static Bits bits_below(Bits end) {
    return low_mask<Bits>(bit_width_of(static_cast<Bits>(end - 1)));
  }

  Order order_;
  Bits varying_;
  std::conditional_t<may_be_less, Stored, NoValue> least_{};
};

/// What a level shares among its threads.
template <class Bits>
struct LevelState {
  enum Verdict : std::uint32_t { good, escaped, special };
  Buckets<Bits> buckets;
  std::uint64_t ticket;
  std::uint64_t rest;  ///< keys of no kind
  std::uint32_t verdict;
  std::uint64_t start[max_buckets + 1];       ///< of each bucket, from the range's begin
  std::uint32_t first_unit[max_buckets + 1];  ///< units of work of each bucket
  std::uint32_t mixed[max_buckets];  ///< a bucket too large for a cache holds different keys
};

/// Places in a row of a block: of each bucket, and the end.
inline std::size_t row_of_buckets(int most_bits) {
  return std::max(least_buckets, std::size_t{1} << most_bits) + 1;
}

struct HostRange {
  std::size_t begin, end;
  int level;
  std::size_t size() const { return end - begin; }
};

template <class Order, class Value>
struct HostLevel {
  using Key = typename Order::Key;
  using Stored = typename Order::Stored;
  using Bits = typename Order::Bits;
  using Rec = Record<Stored, Value>;
  using Bench = Workbench<Rec>;
  using State = LevelState<Bits>;
  using OrderType = Order;
  using ValueType = Value;
  static constexpr bool with_values = !std::is_same_v<Value, NoValue>;
  /// Can keys be written anew from their bits?
  static constexpr bool can_count = Order::is_encoded && !with_values;

  Order order;
  RecordSource<Key, Value> source;
  RecordSink<Key, Value> sink;
  Rec* blocks;  ///< one place per element
  std::uint32_t* rows;
  State* state;
  std::size_t block, capacity;
  int most_bits;  ///< of a bucket's number
  HostRange range;
  std::size_t threads;
  bool parts_words = false;  ///< words alone are better parted by SIMD

  std::size_t block_count() const { return (range.size() + block - 1) / block; }
  /// Rows that its blocks and those of the ranges that are left take.
  std::size_t row_count() const { return block_count() + range.size() / capacity + 1; }

  /// Buckets by a sample; deeper down by all bits that vary, so that each level gets somewhere. False:
  /// nothing is left to sort. `splits`: a few keys that are most of all are to be split off.
  bool choose(const Bench& bench, bool splits = false) const {
    state->verdict = State::good;
    if (range.level < 2) {
      const std::size_t size = sample(bench, BucketSample::size_of(range.size()));
      if (splits || !state->buckets.choose(bits_of(bench.a), size, bucket_bits(), bench.counters)) {
        choose_uneven(bench, splits);
      }
      return true;
    }
    const Bits first = order.masked(order.enter(source.keys[range.begin]));
    Bits differing = 0;
    for (std::size_t i = range.begin; i < range.end; ++i) {
      differing |= order.masked(order.enter(source.keys[i])) ^ first;
    }
    state->buckets.take_digit(first, differing, bucket_bits().enough);
    return differing != 0;
  }

  /// A key left the range of the sample's: no key leaves a table's.
  void retry(const Bench& bench) const {
    state->verdict = State::good;
    choose_uneven(bench, false, true);
  }

  /// Is nothing of a key outside the caller's range of bits?
  bool all_bits_count() const { return impl::all_bits_count(order); }

  /// Is it a key that the order cannot store?
  bool is_special([[maybe_unused]] const Key& key) const {
    if constexpr (Order::has_special) return order.special(key) >> Order::top != 0;
    return false;
  }

  /// Before threads come to `partition`, and to `finish`.
  void open() const { state->ticket = 0; }

  /// Calls `each(begin, end)` for the blocks that this thread claims, while the verdict is good.
  template <class Each>
  void for_each_block(const Each& each) const {
    const std::size_t all = block_count();
    for (std::size_t b = claim(); b < all; b = claim()) {
      if (HostLanes::load(&state->verdict) != State::good) return;
      const std::size_t begin = range.begin + b * block;
      each(begin, std::min(begin + block, range.end));
    }
  }

  /// Of several bad verdicts, `special` stays.
  void judge(typename State::Verdict verdict) const {
    Kokkos::atomic_max(&state->verdict, static_cast<std::uint32_t>(verdict));
  }

  void partition(const Bench& bench) const {
    std::fill_n(bench.totals, state->buckets.count, std::uint64_t{0});
    if (!state->buckets.value_steps().are_same_here()) return judge(State::escaped);
    const BlockPartition<Order, Value> blocks_of(order, source, state->buckets, bench);
    for_each_block([&](std::size_t begin, std::size_t end) {
      const BlockFindings<Bits> found = blocks_of.run(
          begin, end, blocks + begin, row_of((begin - range.begin) / block), sink.streams);
      if (found.special) judge(State::special);
      if (found.escapes) judge(State::escaped);
    });
    settle_lines();
  }

  /// Between the two, on one thread: where buckets begin, and how many units of work each is.
  template <class SizeOf>
  void place(const SizeOf& size_of) const {
    const std::size_t share = std::max(capacity, range.size() / (8 * threads));
    std::uint64_t start = 0;
    std::uint32_t unit = 0;
    for (std::size_t b = 0; b < state->buckets.count; ++b) {
      const std::uint64_t size = size_of(b);
      state->start[b] = start;
      state->first_unit[b] = unit;
      state->mixed[b] = 0;
      start += size;
      unit += size <= share ? 1 : static_cast<std::uint32_t>((size + share - 1) / share);
    }
    state->start[state->buckets.count] = start;
    state->first_unit[state->buckets.count] = unit;
  }

  /// Calls `each(bucket, unit, units)` for the units of work that this thread claims.
  template <class Each>
  void for_each_unit(const Each& each) const {
    const std::uint32_t* const units = state->first_unit;
    std::size_t bucket = 0;
    for_each_claimed(units[state->buckets.count], [&](std::size_t u) {
      while (units[bucket + 1] <= u) ++bucket;
      if (size_of(bucket) > 0) each(bucket, u - units[bucket], units[bucket + 1] - units[bucket]);
    });
  }

  std::size_t size_of(std::size_t bucket) const {
    return state->start[bucket + 1] - state->start[bucket];
  }

  void finish(const Bench& bench) const {
    for_each_unit([&](std::size_t bucket, std::size_t unit, std::size_t units) {
      if constexpr (Order::is_encoded) {
        if (state->buckets.holds_one_key(bucket)) {
          const auto key = static_cast<Stored>(state->buckets.only_key(bucket));
          put_one_key(bucket, range.begin + state->start[bucket], order.leave(key), unit, units);
          return;
        }
      }
      if (size_of(bucket) <= capacity) {
        sort_bucket(bench, bucket);
      } else {
        gather_unit(bucket, unit, units);
      }
    });
    settle_lines();
  }

  /// One of several units of a bucket of equal keys, which begins at `start`: keys are written anew, values came alone.
  void put_one_key(std::size_t bucket, std::size_t start, const Key& key, std::size_t unit,
                   std::size_t units) const {
    const std::size_t size = size_of(bucket);
    const std::size_t begin = size * unit / units, end = size * (unit + 1) / units;
    if (!sink.leaves_keys) {
      write_objects(sink.keys + start + begin, end - begin, sink.streams,
                    [=](std::size_t) { return key; });
    }
    if constexpr (with_values) gather_values(bucket, sink.values + start, unit, units);
  }

  /// Bytes of a bucket's elements in one block.
  struct Run {
    const std::byte* bytes;
    std::size_t size;
    const Rec* records() const { return reinterpret_cast<const Rec*>(bytes); }
    std::size_t count() const { return size / sizeof(Rec); }
  };
  Run run_of(std::size_t bucket, std::size_t block_index) const {
    const std::uint32_t* const row = row_of(block_index) + bucket;
    const Rec* const out = blocks + range.begin + block_index * block;
    return {reinterpret_cast<const std::byte*>(out) + row[0], row[1] - row[0]};
  }
  /// The places of a block's buckets.
  std::uint32_t* row_of(std::size_t block_index) const {
    return rows + block_index * (state->buckets.count + 1);
  }

  /// Calls `each(range)` for the buckets that are still to be sorted, where they lie.
  template <class Each>
  void for_each_rest(const Each& each) const {
    for (std::size_t b = 0; b < state->buckets.count; ++b) {
      if (state->mixed[b] == 0) continue;
      each(HostRange{range.begin + state->start[b], range.begin + state->start[b + 1],
                     range.level + 1});
    }
  }

  /// Takes a sample to where a bucket's records will lie; returns its size.
  std::size_t sample(const Bench& bench, std::size_t size) const {
    const std::size_t most = std::max<std::size_t>(1, capacity * sizeof(Rec) / sizeof(Bits));
    size = std::min(size, most);
    for (std::size_t i = 0; i < size; ++i) {
      const std::size_t place = range.begin + BucketSample::place(i, size, range.size());
      bits_of(bench.a)[i] = order.masked(order.enter(source.keys[place]));
    }
    return size;
  }

  /// Calls `each(i)` for those of `count` pieces of work that this thread claims.
  template <class Each>
  void for_each_claimed(std::size_t count, const Each& each) const {
    for (std::size_t i = claim(); i < count; i = claim()) each(i);
  }

 private:
  std::size_t claim() const { return Kokkos::atomic_fetch_add(&state->ticket, std::uint64_t{1}); }
  static Bits* bits_of(Rec* records) { return reinterpret_cast<Bits*>(records); }

  /// So many that a bucket fits a cache, but is no crumb.
  BucketBits bucket_bits() const {
    const std::size_t count = range.size();
    // Half full on average: a range of keys may leave nearly half of the buckets empty.
    const int enough = bit_width_of<std::uint64_t>((count - 1) / (capacity / 2));
    const int crumbs = bit_width_of<std::uint64_t>(count >> 12);
    const int fine = bit_width_of<std::uint64_t>(count >> 14);
    return {std::min(most_bits, std::max(enough, std::clamp(crumbs, 1, 8))),
            std::min(most_bits, std::max(enough, fine))};
  }

  /// Puts the sample in order.
  const Bits* sort_sample(const Bench& bench, std::size_t size) const {
    const CacheSort<BitsOrder<Bits>, Record<Bits, NoValue>> sort({}, bench.counters);
    auto* const a = reinterpret_cast<Record<Bits, NoValue>*>(bench.a);
    auto* const b = reinterpret_cast<Record<Bits, NoValue>*>(bench.b);
    return reinterpret_cast<const Bits*>(sort.sort(a, b, size, sort.survey(a, size)));
  }

  /// Of keys that no digit spreads.
  void choose_uneven(const Bench& bench, bool splits, bool have_escaped = false) const {
    using BySimd = SimdRecords<Order, Rec>;
    const std::size_t size = sample(bench, BucketSample::size_for_buckets(range.size()));
    const Bits* const keys = sort_sample(bench, size);
    const bool by_simd = BySimd::serve(order) && fits_splitters();
    if (!by_simd || !BySimd::serve_all) {
      const std::size_t full = size * capacity / range.size();  // of the sample, as a cache is
      const bool may_step =
          !splits && !have_escaped && all_bits_count() && 8 * count_alike(keys, size) <= size;
      if (may_step && take_steps(keys, size, full)) return;
      take_table(keys, size, full, may_step);
      if (!by_simd || splits || !state->buckets.table_crowds(keys, size, 2 * full)) return;
    }
    state->buckets.take_splitters(keys, size, bucket_bits());
  }
  /// Do caches hold buckets between splitters, which are less even than those by a digit?
  bool fits_splitters() const {
    return range.size() <= (std::size_t{3} << most_bits) / 4 * capacity;
  }

  /// Of whole keys, few of them alike: false if no steps are even enough.
  bool take_steps(const Bits* sample, std::size_t size, std::size_t most) const {
    if constexpr (takes_steps<Order>) {
      const int enough = bucket_bits().enough;
      const BucketBits bits{enough, std::min(enough + 2, most_bits)};
      if (state->buckets.take_steps(sample, size, bits, most)) return true;
      if constexpr (orders_doubles<Order>) {
        return state->buckets.take_values(stored_doubles(order), sample, size, bits, most);
      }
    }
    return false;
  }
  void take_table(const Bits* sample, std::size_t size, std::size_t full,
                  [[maybe_unused]] bool by_values) const {
    DoubleSteps values{};
    if constexpr (orders_doubles<Order>) {
      if (by_values) {
        values = DoubleSteps::between(stored_doubles(order), sample[0], sample[size - 1],
                                      KeyCells<Bits>::count);
      }
    }
    state->buckets.take_table(sample, size, order.wanted, Order::is_encoded && all_bits_count(),
                              static_cast<std::uint32_t>(sizeof(Stored)),
                              {bucket_bits().enough, most_bits}, full, values);
  }
  void prefetch_run(std::size_t bucket, std::size_t block_index) const {
    constexpr std::size_t most_lines = 9;
    const Run run = run_of(bucket, block_index);
    const std::size_t lines = std::min(most_lines, run.size / line_bytes + 1);
    for (std::size_t l = 0; l < lines; ++l) prefetch_line(run.bytes + l * line_bytes);
  }
  /// Calls `each(run)` for the bucket's runs in blocks [begin, end), with the next ones under way.
  template <class Each>
  void for_each_run(std::size_t bucket, std::size_t begin, std::size_t end,
                    const Each& each) const {
    constexpr std::size_t ahead = 10;
    const std::size_t row = state->buckets.count + 1;
    for (std::size_t i = begin; i < end; ++i) {
      if (i + 2 * ahead < end) prefetch_line(rows + (i + 2 * ahead) * row + bucket);
      if (i + ahead < end) prefetch_run(bucket, i + ahead);
      const Run run = run_of(bucket, i);
      if (run.size > 0) each(run);
    }
  }

  const Rec& first_of(std::size_t bucket) const {
    std::size_t i = 0;
    while (run_of(bucket, i).size == 0) ++i;
    return *run_of(bucket, i).records();
  }

  void sort_bucket(const Bench& bench, std::size_t bucket) const {
    const Order by = order;
    const KeysFrom<Order, Rec> from(order, state->buckets, bucket);
    const Bits first = by.bits(from.enter(first_of(bucket)).key());
    const CacheSort<Order, Rec> cache(order, bench.counters);
    const DigitPair ahead = cache.counted_ahead(from.varying(), size_of(bucket));
    Bits differing = 0;
    Rec* to = bench.a;
    const auto take = [&](const Run& run, const auto& enter) {
      const std::size_t count = run.count();
      if (ahead.exists()) {
        differing |= copy_and_count(run.records(), count, to, by, first, enter, ahead.digit[0],
                                    ahead.digit[1], cache.counters_of(0), cache.counters_of(1));
      } else {
        differing |= copy_records(run.records(), count, to, by, first, enter);
      }
      to += count;
    };
    for_each_run(bucket, 0, block_count(), [&](const Run& run) {
      if (from.changes()) {
        take(run, [=](const Rec& record) { return from.enter(record); });
      } else {
        take(run, [](const Rec& record) { return record; });
      }
    });
    const auto size = static_cast<std::size_t>(to - bench.a);
    const Rec* const sorted = cache.sort(bench.a, bench.b, size, differing & order.wanted, ahead);
    const std::size_t at = range.begin + state->start[bucket];
    if (from.changes()) {
      sink.write(from, at, sorted, size, !sink.leaves_keys);
    } else {
      sink.write(by, at, sorted, size, !sink.leaves_keys);
    }
  }

  void gather_values(std::size_t bucket, Value* to, std::size_t unit, std::size_t units) const {
    const std::size_t begin = block_count() * unit / units;
    const std::size_t end = block_count() * (unit + 1) / units;
    for (std::size_t i = 0; i < begin; ++i) to += run_of(bucket, i).size / sizeof(Value);
    LineWriter writer(reinterpret_cast<std::byte*>(to), sink.streams);
    for_each_run(bucket, begin, end, [&](const Run& run) { writer.put(run.bytes, run.size); });
  }

  /// Returns the bits in which any differs from `first`. (Arguments by value: what a loop reads that stores to records is read anew after
  /// each store, if it lies in memory.)
  template <class Enter>
  static Bits copy_records(const Rec* from, std::size_t count, Rec* to, Order by, Bits first,
                           Enter enter) {
    Bits differing = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const Rec record = enter(from[i]);
      differing |= by.bits(record.key()) ^ first;
      to[i] = record;
    }
    return differing;
  }

  /// Likewise; two digits of each are counted.
  template <class Enter>
  static Bits copy_and_count(const Rec* from, std::size_t count, Rec* to, Order by, Bits first,
                             Enter enter, Digit high, Digit low, std::uint32_t* times_high,
                             std::uint32_t* times_low) {
    Bits differing = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const Rec record = enter(from[i]);
      const Bits bits = by.bits(record.key());
      differing |= bits ^ first;
      ++times_high[high.of(bits)];
      ++times_low[low.of(bits)];
      to[i] = record;
    }
    return differing;
  }

  /// One of several units of a bucket that no cache holds: its runs go one behind the other to the sink.
  void gather_unit(std::size_t bucket, std::size_t unit, std::size_t units) const {
    const std::size_t begin = block_count() * unit / units;
    const std::size_t end = block_count() * (unit + 1) / units;
    std::size_t at = range.begin + state->start[bucket];
    for (std::size_t i = 0; i < begin; ++i) at += run_of(bucket, i).count();
    const Order by = order;
    const Bits first = by.bits(first_of(bucket).key());
    Bits differing = 0;
    for_each_run(bucket, begin, end, [&](const Run& run) {
      const Rec* const records = run.records();
      const std::size_t count = run.count();
      for (std::size_t i = 0; i < count; ++i) differing |= by.bits(records[i].key()) ^ first;
      sink.write(by, at, records, count, true);
      at += count;
    });
    if ((differing & order.wanted) != 0) {
      HostLanes::store(&state->mixed[bucket], std::uint32_t{1});
    }
  }
};

}  // namespace kradix::impl
