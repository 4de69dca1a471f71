// One block of a host sort's first level: counted, put in order of buckets in the core's cache, copied out.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kradix/impl/host/buckets.hpp"
#include "kradix/impl/host/memory.hpp"
#include "kradix/impl/host/record.hpp"

namespace kradix::impl {

/// What a thread of a host sort has for itself.
template <class Rec>
struct Workbench {
  Rec *a, *b;               ///< a bucket's records each
  std::uint32_t* counters;  ///< counter_count of them
  std::uint64_t* totals;    ///< max_buckets
};
inline constexpr std::size_t counter_sets = 4;
inline constexpr std::size_t counter_count = counter_sets * max_buckets;

/// What a look at a block found.
template <class Bits>
struct BlockFindings {
  Bits differing;  ///< from the reference, of the wanted bits
  bool special;    ///< a key that the order cannot store
};

template <class Order, class Value>
class BlockPartition {
  using Key = typename Order::Key;
  using Stored = typename Order::Stored;
  using Bits = typename Order::Bits;
  using Rec = Record<Stored, Value>;

 public:
  BlockPartition(const Order& order, const RecordSource<Key, Value>& source,
                 const Buckets<Bits>& buckets, const Workbench<Rec>& bench)
      : order_(order), source_(source), buckets_(buckets), bench_(bench) {}

  /// Puts elements [begin, end) to `out` in order of buckets, unless the findings forbid it; `row` gets the
  /// bucket's places within the block, and its end.
  BlockFindings<Bits> run(std::size_t begin, std::size_t end, Rec* out, std::uint32_t* row,
                          bool streams) const {
    if (buckets_.by_table && buckets_.table.cells.by_width) {
      return run_by(TableBuckets<true>{&buckets_.table}, begin, end, out, row, streams);
    }
    if (buckets_.by_table) {
      return run_by(TableBuckets<false>{&buckets_.table}, begin, end, out, row, streams);
    }
    return run_by(DigitBuckets{buckets_.digit}, begin, end, out, row, streams);
  }

 private:
  /// The bucket of a key is computed twice: cheaper than to keep it.
  struct DigitBuckets {
    Digit digit;
    void count(std::size_t, Bits bits, std::uint32_t* counters) { ++counters[digit.of(bits)]; }
    std::uint32_t of(std::size_t, Bits bits) const { return digit.of(bits); }
  };
  /// It is kept from counting to moving.
  template <bool ByWidth>
  struct TableBuckets {
    const BucketTable<Bits>* table;
    std::uint16_t* kept = nullptr;
    void count(std::size_t i, Bits bits, std::uint32_t* counters) {
      const std::uint32_t bucket = table->template of<ByWidth>(bits);
      kept[i] = static_cast<std::uint16_t>(bucket);
      ++counters[bucket];
    }
    std::uint32_t of(std::size_t i, Bits) const { return kept[i]; }
  };

  template <class BucketOf>
  BlockFindings<Bits> run_by(BucketOf bucket_of, std::size_t begin, std::size_t end, Rec* out,
                             std::uint32_t* row, bool streams) const {
    if constexpr (requires { bucket_of.kept; }) {
      bucket_of.kept = reinterpret_cast<std::uint16_t*>(bench_.b);
    }
    const BlockFindings<Bits> found = count(bucket_of, begin, end);
    if (found.special || buckets_.escapes(found.differing)) return found;
    place(row, end - begin);
    move(bucket_of, begin, end);
    const Rec* const sorted = bench_.a;
    write_objects(out, end - begin, streams, [=](std::size_t i) { return sorted[i]; });
    return found;
  }

  /// Looks at a stretch, then counts it while it is near.
  template <class BucketOf>
  BlockFindings<Bits> count(BucketOf& bucket_of, std::size_t begin, std::size_t end) const {
    constexpr std::size_t stretch = std::max<std::size_t>(counter_sets, 4096 / sizeof(Key));
    std::fill_n(bench_.counters, counter_count, 0u);
    BlockFindings<Bits> found{0, false};
    for (std::size_t at = begin; at < end; at += stretch) {
      const std::size_t size = std::min(stretch, end - at);
      look(source_.keys + at, size, found);
      count_stretch(bucket_of, at - begin, source_.keys + at, size);
    }
    found.differing &= order_.wanted;
    return found;
  }

  void look(const Key* keys, std::size_t size, BlockFindings<Bits>& found) const {
    const Order order = order_;
    const Bits reference = buckets_.reference;
    Bits differing = 0;
    if constexpr (Order::has_special) {
      Key special = 0;
      for (std::size_t i = 0; i < size; ++i) {
        special = static_cast<Key>(special | order.special(keys[i]));
        differing |= order.bits(order.enter(keys[i])) ^ reference;
      }
      found.special = found.special || special >> Order::top != 0;
    } else {
      for (std::size_t i = 0; i < size; ++i) {
        differing |= order.bits(order.enter(keys[i])) ^ reference;
      }
    }
    found.differing |= differing;
  }

  /// Equal keys in a row count in different sets: none waits for the last one's counter.
  template <class BucketOf>
  void count_stretch(BucketOf& bucket_of, std::size_t first, const Key* keys,
                     std::size_t size) const {
    const Order order = order_;
    std::uint32_t* const counters = bench_.counters;
    BucketOf now = bucket_of;
    std::size_t i = 0;
    for (; i + counter_sets <= size; i += counter_sets) {
      for (std::size_t set = 0; set < counter_sets; ++set) {
        now.count(first + i + set, order.bits(order.enter(keys[i + set])),
                  counters + set * max_buckets);
      }
    }
    for (; i < size; ++i) now.count(first + i, order.bits(order.enter(keys[i])), counters);
  }

  /// Counts to places.
  void place(std::uint32_t* row, std::size_t size) const {
    std::uint32_t* const counters = bench_.counters;
    std::uint32_t sum = 0;
    for (std::size_t b = 0; b < buckets_.count; ++b) {
      std::uint32_t counted = 0;
      for (std::size_t set = 0; set < counter_sets; ++set) {
        counted += counters[set * max_buckets + b];
      }
      row[b] = sum;
      counters[b] = sum;
      sum += counted;
      bench_.totals[b] += counted;
    }
    row[buckets_.count] = static_cast<std::uint32_t>(size);
  }

  template <class BucketOf>
  void move(BucketOf bucket_of, std::size_t begin, std::size_t end) const {
    const Order order = order_;
    const RecordSource<Key, Value> source = source_;
    std::uint32_t* const next = bench_.counters;
    Rec* const to = bench_.a;
    const auto record = [=](std::size_t i) {
      return Rec(order.enter(source.keys[i]), source.value(i));
    };
    // Loads of several records before the first store, which might alias them.
    std::size_t i = begin;
    for (; i + 4 <= end; i += 4) {
      const Rec moving[4] = {record(i), record(i + 1), record(i + 2), record(i + 3)};
      std::uint32_t bucket[4];
      for (std::size_t j = 0; j < 4; ++j) {
        bucket[j] = bucket_of.of(i + j - begin, order.bits(moving[j].key()));
      }
      for (std::size_t j = 0; j < 4; ++j) to[next[bucket[j]]++] = moving[j];
    }
    for (; i < end; ++i) {
      const Rec moving = record(i);
      to[next[bucket_of.of(i - begin, order.bits(moving.key()))]++] = moving;
    }
  }

  Order order_;
  RecordSource<Key, Value> source_;
  const Buckets<Bits>& buckets_;
  Workbench<Rec> bench_;
};

}  // namespace kradix::impl
