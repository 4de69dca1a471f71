// One block of a host sort's first level: counted, put in order of buckets in the core's cache, copied out.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "kradix/impl/host/buckets.hpp"
#include "kradix/impl/host/memory.hpp"
#include "kradix/impl/host/order.hpp"
#include "kradix/impl/host/record.hpp"
#include "kradix/impl/host/simd_leaf.hpp"
#include "kradix/impl/host/simd_records.hpp"

namespace kradix::impl {

/// What a thread of a host sort has for itself.
template <class Rec>
struct Workbench {
  Rec *a, *b;               ///< a bucket's records each
  std::uint32_t* counters;  ///< counter_count of them
  std::uint64_t* totals;    ///< max_buckets
};
inline constexpr std::size_t counter_sets = 4;
/// From a set to the next. Not 4096 bytes: cores take a load for one of what was stored there just now.
inline constexpr std::size_t counter_stride = max_buckets + line_bytes / sizeof(std::uint32_t);
inline constexpr std::size_t counter_count = counter_sets * counter_stride;

/// Calls `each(i, quarter)` for places [0, size), of each quarter in order: of many equal keys in a row none waits for
/// the last one's counter. The last quarter is longer: they do not lie a power of two apart, where a cache would
/// keep their lines in the same few places.
template <class Each>
void for_each_in_quarters(std::size_t size, const Each& each) {
  const std::size_t quarter = 8 * size / (8 * counter_sets + 1);
  for (std::size_t i = 0; i < quarter; ++i) {
    for (std::size_t q = 0; q < counter_sets; ++q) each(q * quarter + i, q);
  }
  for (std::size_t i = counter_sets * quarter; i < size; ++i) each(i, counter_sets - 1);
}

/// What a look at a block found.
template <class Bits>
struct BlockFindings {
  Bits differing = 0;    ///< from the reference, of the wanted bits
  bool special = false;  ///< a key that the order cannot store
  bool escapes = false;  ///< a key that has no bucket
};

/// Finds buckets by a digit.
template <class Order>
struct FindByDigit {
  Order order;
  Digit digit;
  std::uint32_t operator()(const typename Order::Key& key) const {
    return digit.of(order.bits(order.enter(key)));
  }
};
/// By steps of words.
template <class Order>
struct FindBySteps {
  Order order;
  KeySteps<typename Order::Bits> steps;
  std::uint32_t operator()(const typename Order::Key& key) const {
    return static_cast<std::uint32_t>(steps.of(order.enter(key)));
  }
};
/// By steps of doubles' values.
struct FindByValues {
  DoubleSteps steps;
  std::uint32_t operator()(std::uint64_t key) const {
    return static_cast<std::uint32_t>(steps.of_value(Kokkos::bit_cast<double>(key)));
  }
};

template <class Order, class Value>
class BlockPartition {
  using Key = typename Order::Key;
  using Stored = typename Order::Stored;
  using Bits = typename Order::Bits;
  using Rec = Record<Stored, Value>;
  using BySimd = SimdRecords<Order, Rec>;
  static constexpr std::size_t value_bytes = Rec::value_bytes;

 public:
  BlockPartition(const Order& order, const RecordSource<Key, Value>& source,
                 const Buckets<Bits>& buckets, const Workbench<Rec>& bench)
      : order_(order), source_(source), buckets_(buckets), bench_(bench) {}

  /// Puts elements [begin, end) to `out` in order of buckets, unless the findings forbid it; `row` gets the
  /// places of the buckets' bytes within the block, and their end.
  BlockFindings<Bits> run(std::size_t begin, std::size_t end, Rec* out, std::uint32_t* row,
                          bool streams) const {
    switch (buckets_.by) {
      case BucketsBy::splitters:
        if constexpr (BySimd::exist) return run_by_splitters(begin, end, out, row, streams);
        break;
      case BucketsBy::table:
        if constexpr (orders_doubles<Order>) {
          if (buckets_.table.cells.by == CellsBy::values) {
            return run_by_table<CellsBy::values>(begin, end, out, row, streams);
          }
        }
        return buckets_.table.cells.by == CellsBy::distance
                   ? run_by_table<CellsBy::distance>(begin, end, out, row, streams)
                   : run_by_table<CellsBy::steps>(begin, end, out, row, streams);
      case BucketsBy::steps:
        if constexpr (takes_steps<Order>) {
          return run_by_steps(FindBySteps<Order>{order_, buckets_.steps}, begin, end, out, row,
                              streams);
        }
        break;
      case BucketsBy::values:
        if constexpr (orders_doubles<Order>) {
          return run_by_steps(FindByValues{buckets_.values}, begin, end, out, row, streams);
        }
        break;
      case BucketsBy::digit:
        break;
    }
    return run_by(FindByDigit<Order>{order_, buckets_.digit}, begin, end, out, row, streams);
  }

 private:
  /// The bucket of a key is computed twice: cheaper than to keep it.
  template <class Find>
  BlockFindings<Bits> run_by(const Find& find, std::size_t begin, std::size_t end, Rec* out,
                             std::uint32_t* row, bool streams) const {
    const BlockFindings<Bits> found = count(find, begin, end);
    if (found.special || found.escapes) return found;
    place(row);
    move(find, begin, end);
    write_bytes(reinterpret_cast<std::byte*>(out), reinterpret_cast<const std::byte*>(bench_.a),
                (end - begin) * sizeof(Rec), streams);
    return found;
  }

  /// Beside buckets by a digit, not among them: see below.
  template <class Find>
  [[gnu::noinline]] BlockFindings<Bits> run_by_steps(const Find& find, std::size_t begin,
                                                     std::size_t end, Rec* out, std::uint32_t* row,
                                                     bool streams) const {
    return run_by(find, begin, end, out, row, streams);
  }

  /// The most frequent keys are split off; then the others' buckets are kept from counting to moving. (Not inlined, nor splitters: beside
  /// them what compilers make of buckets by a digit takes up to a third longer.)
  template <CellsBy By>
  [[gnu::noinline]] BlockFindings<Bits> run_by_table(std::size_t begin, std::size_t end, Rec* out,
                                                     std::uint32_t* row, bool streams) const {
    BlockFindings<Bits> found;
    if constexpr (Order::has_special) {
      look(source_.keys + begin, end - begin, found);
      if (found.special) return found;
    }
    if constexpr (By == CellsBy::values) {
      look_for_nan(source_.keys + begin, end - begin, found);
      if (found.escapes) return found;
    }
    std::uint16_t* const kept = kept_behind(end - begin);
    std::fill_n(bench_.counters, counter_count, 0u);
    Splits splits = split_off(begin, end - begin);
    std::byte* const rest = a_bytes() + splits.bytes;
    if (buckets_.splits > 0) {
      const Rec* const records = bench_.b;
      const auto record = [=](std::size_t i) { return records[i]; };
      count_quarters<By>([=](std::size_t i) { return records[i].key(); }, splits.left, kept);
      place_quarters(splits, row);
      move_quarters(record, splits.left, kept, rest);
    } else {
      const Order order = order_;
      const RecordSource<Key, Value> source = source_;
      const auto key = [=](std::size_t i) { return order.enter(source.keys[begin + i]); };
      count_quarters<By>(key, end - begin, kept);
      place_quarters(splits, row);
      move_quarters([=](std::size_t i) { return Rec(key(i), source.value(begin + i)); },
                    end - begin, kept, rest);
    }
    copy_out(splits, reinterpret_cast<std::byte*>(out), row, streams);
    return found;
  }

  /// Records are split in two, those parts again, until there is one for each bucket, which goes where the block's belong at once. Two
  /// stacks hold what waits: what is less than a splitter stays on one, the others go to the other one.
  [[gnu::noinline]] BlockFindings<Bits> run_by_splitters(std::size_t begin, std::size_t end,
                                                         Rec* out, std::uint32_t* row,
                                                         bool streams) const {
    BlockFindings<Bits> found;
    if constexpr (Order::has_special) {
      look(source_.keys + begin, end - begin, found);
      if (found.special) return found;
    }
    LineWriter to(reinterpret_cast<std::byte*>(out), streams);
    const std::size_t middle = buckets_.splitters.middle[0];
    const Stack less{bench_.a, make_and_split(begin, end), 0, middle,
                     buckets_.splitters.node_before(0)};
    const Stack others{bench_.b, end - begin - less.count, middle, buckets_.count,
                       buckets_.splitters.node_behind(0, 0)};
    tell_apart(less, bench_.b + others.count, row, to);
    tell_apart(others, bench_.a, row, to);
    row[buckets_.count] = static_cast<std::uint32_t>(to.size());
    return found;
  }

  /// Records to `a` if they are less than the first splitter, the others to `b`; returns how many are.
  std::size_t make_and_split(std::size_t begin, std::size_t end) const {
    constexpr std::size_t stretch = 8192 / sizeof(Rec);  // stays in the nearest cache
    const Order order = order_;
    const RecordSource<Key, Value> source = source_;
    const auto splitter =
        static_cast<Stored>(buckets_.splitters.splitter[buckets_.splitters.middle[0]]);
    alignas(line_bytes) std::byte bytes[stretch * sizeof(Rec)];
    Rec* const records = reinterpret_cast<Rec*>(bytes);
    Rec *less = bench_.a, *others = bench_.b;
    for (std::size_t at = begin; at < end; at += stretch) {
      const std::size_t size = std::min(stretch, end - at);
      for (std::size_t i = 0; i < size; ++i) {
        records[i] = Rec(order.enter(source.keys[at + i]), source.value(at + i));
      }
      const std::size_t below =
          split_records(words(records), size, splitter, words(less), words(others));
      less += below;
      others += size - below;
    }
    return static_cast<std::size_t>(less - bench_.a);
  }
  static Stored* words(Rec* records) { return reinterpret_cast<Stored*>(records); }

  /// Records of buckets [begin, end).
  struct Stack {
    Rec* records;  ///< nothing lies behind them
    std::size_t count;
    std::size_t begin, end, node;
  };

  void tell_apart(const Stack& stack, Rec* other, std::uint32_t* row, LineWriter& to) const {
    const auto& splitters = buckets_.splitters;
    if (stack.end - stack.begin == 1 || stack.count == 0) return put_bucket(stack, other, row, to);
    const std::size_t middle = splitters.middle[stack.node];
    const auto splitter = static_cast<Stored>(splitters.splitter[middle]);
    const std::size_t below = split_records(words(stack.records), stack.count, splitter,
                                            words(stack.records), words(other));
    const std::size_t above = stack.count - below;
    tell_apart({stack.records, below, stack.begin, middle, splitters.node_before(stack.node)},
               other + above, row, to);
    tell_apart({other, above, middle, stack.end, splitters.node_behind(stack.node, stack.begin)},
               stack.records, row, to);
  }

  /// There is one bucket, or no record. Of a bucket of equal keys values go alone.
  void put_bucket(const Stack& stack, Rec* other, std::uint32_t* row, LineWriter& to) const {
    std::fill(row + stack.begin, row + stack.end, static_cast<std::uint32_t>(to.size()));
    if (stack.count == 0) return;
    bench_.totals[stack.begin] += stack.count;
    const auto* bytes = reinterpret_cast<const std::byte*>(stack.records);
    std::size_t size = stack.count * sizeof(Rec);
    if (buckets_.holds_one_key(stack.begin)) {
      values_of_records(words(stack.records), stack.count, words(other));
      bytes = reinterpret_cast<const std::byte*>(other);
      size = stack.count * value_bytes;
    }
    to.put(bytes, size);
  }

  /// What was split off: values, in `a` one bucket after the other, and other records, in `b`.
  struct Splits {
    std::size_t counts[Buckets<Bits>::most_splits] = {};
    std::size_t first_byte[Buckets<Bits>::most_splits] = {};
    std::size_t in_order[Buckets<Bits>::most_splits] = {};  ///< of their buckets
    std::size_t bytes = 0;
    std::size_t left = 0;
  };
  std::byte* a_bytes() const { return reinterpret_cast<std::byte*>(bench_.a); }

  /// Behind records that were not split off.
  std::uint16_t* kept_behind(std::size_t size) const {
    const std::size_t bytes = (size * sizeof(Rec) + 1) / 2 * 2;
    return reinterpret_cast<std::uint16_t*>(reinterpret_cast<std::byte*>(bench_.b) + bytes);
  }

  Splits split_off(std::size_t begin, std::size_t size) const {
    Splits splits;
    splits.left = size;
    const Order order = order_;
    const RecordSource<Key, Value> source = source_;
    const Rec* const rest = bench_.b;
    for (std::size_t s = 0; s < buckets_.splits; ++s) {
      const std::size_t left = splits.left;
      if (s == 0) {
        splits.left = split(
            [=](std::size_t i) {
              return Rec(order.enter(source.keys[begin + i]), source.value(begin + i));
            },
            left, buckets_.only_key(buckets_.split[s]), a_bytes());
      } else {
        splits.left = split([=](std::size_t i) { return rest[i]; }, left,
                            buckets_.only_key(buckets_.split[s]), a_bytes() + splits.bytes);
      }
      splits.counts[s] = left - splits.left;
      splits.first_byte[s] = splits.bytes;
      splits.bytes += splits.counts[s] * value_bytes;
    }
    return splits;
  }

  /// Values of a key go to `values`, other records to `b`; returns how many those are. No branches.
  template <class RecordOf>
  std::size_t split(const RecordOf& record, std::size_t size, Bits key, std::byte* values) const {
    const Order order = order_;
    Rec* const others = bench_.b;
    std::size_t left = 0;
    for (std::size_t i = 0; i < size; ++i) {
      const Rec moving = record(i);
      if constexpr (value_bytes > 0) {
        const Value value = moving.value();
        std::memcpy(values + (i - left) * value_bytes, &value, sizeof value);
      }
      others[left] = moving;
      left += order.bits(moving.key()) != key;
    }
    return left;
  }

  template <CellsBy By, class KeyOf>
  void count_quarters(const KeyOf& key, std::size_t size, std::uint16_t* kept) const {
    const Order order = order_;
    const auto look_up = buckets_.table.look_up();
    std::uint32_t* const counters = bench_.counters;
    if (find_by_simd(key, size, kept)) {
      for_each_in_quarters(
          size, [=](std::size_t i, std::size_t q) { ++counters[q * counter_stride + kept[i]]; });
      return;
    }
    for_each_in_quarters(size, [=](std::size_t i, std::size_t q) {
      const std::uint32_t bucket = look_up.template of<By>(order.bits(key(i)));
      kept[i] = static_cast<std::uint16_t>(bucket);
      ++counters[q * counter_stride + bucket];
    });
  }

  /// The bucket of each key to `kept`, by SIMD. False where that does not serve.
  template <class KeyOf>
  bool find_by_simd([[maybe_unused]] const KeyOf& key, [[maybe_unused]] std::size_t size,
                    [[maybe_unused]] std::uint16_t* kept) const {
#ifdef KRADIX_ENABLE_HIGHWAY
    if constexpr (std::is_same_v<Bits, TableNumbers::Word>) {
      if (!has_simd()) return false;
      constexpr std::size_t stretch = 256;
      const TableNumbers table = buckets_.table.numbers();
      const Order order = order_;
      Bits bits[stretch];
      for (std::size_t at = 0; at < size; at += stretch) {
        const std::size_t here = std::min(stretch, size - at);
        for (std::size_t i = 0; i < here; ++i) bits[i] = order.bits(key(at + i));
        find_buckets(bits, here, table, kept + at);
      }
      return true;
    }
#endif
    return false;
  }

  /// Counts to places: of bytes in `row`, in counters of bytes that were not split off.
  void place_quarters(Splits& splits, std::uint32_t* row) const {
    std::uint32_t at = 0, left_at = 0;
    std::size_t found = 0;
    for (std::size_t b = 0; b < buckets_.count; ++b) {
      row[b] = at;
      const auto stride = static_cast<std::uint32_t>(buckets_.table.key_bytes[b] + value_bytes);
      const std::uint32_t before = left_at;
      for (std::size_t q = 0; q < counter_sets; ++q) {
        std::uint32_t& counter = bench_.counters[q * counter_stride + b];
        const std::uint32_t counted = counter;
        counter = left_at;
        left_at += counted * stride;
        bench_.totals[b] += counted;
      }
      at += left_at - before;
      for (std::size_t s = 0; s < buckets_.splits; ++s) {
        if (buckets_.split[s] != b) continue;
        splits.in_order[found++] = s;
        at += static_cast<std::uint32_t>(splits.counts[s] * value_bytes);
        bench_.totals[b] += splits.counts[s];
      }
    }
    row[buckets_.count] = at;
  }

  /// Of a bucket of equal keys values move alone.
  template <class RecordOf>
  void move_quarters(const RecordOf& record, std::size_t size, const std::uint16_t* kept,
                     std::byte* to) const {
    std::uint32_t* const counters = bench_.counters;
    const std::uint32_t* const key_bytes = buckets_.table.key_bytes;
    const std::size_t nowhere = size * sizeof(Rec);
    for_each_in_quarters(size, [=](std::size_t i, std::size_t q) {
      const std::uint32_t bucket = kept[i];
      std::uint32_t& next = counters[q * counter_stride + bucket];
      const std::size_t at = next, before_value = key_bytes[bucket];
      next += static_cast<std::uint32_t>(before_value + value_bytes);
      const Rec moving = record(i);
      const Stored key = moving.key();
      const bool covers =
          sizeof key <= value_bytes;  // the value, written later, what is no place of the key's
      std::memcpy(to + (covers || before_value > 0 ? at : nowhere), &key, sizeof key);
      if constexpr (value_bytes > 0) {
        const Value value = moving.value();
        std::memcpy(to + at + before_value, &value, sizeof value);
      }
    });
  }

  /// Puts what was split off between the others.
  void copy_out(const Splits& splits, std::byte* out, const std::uint32_t* row,
                bool streams) const {
    const std::byte* rest = a_bytes() + splits.bytes;
    std::size_t at = 0;
    const auto copy = [&](const std::byte* from, std::size_t bytes) {
      write_bytes(out + at, from, bytes, streams);
      at += bytes;
    };
    const auto copy_rest = [&](std::size_t bytes) {
      copy(rest, bytes);
      rest += bytes;
    };
    for (std::size_t i = 0; i < buckets_.splits; ++i) {
      const std::size_t s = splits.in_order[i];
      copy_rest(row[buckets_.split[s]] - at);
      copy(a_bytes() + splits.first_byte[s], splits.counts[s] * value_bytes);
    }
    copy_rest(row[buckets_.count] - at);
  }

  /// Looks at a stretch, then counts it while it is near.
  template <class Find>
  BlockFindings<Bits> count(const Find& find, std::size_t begin, std::size_t end) const {
    constexpr std::size_t stretch = std::max<std::size_t>(counter_sets, 4096 / sizeof(Key));
    std::fill_n(bench_.counters, counter_count, 0u);
    BlockFindings<Bits> found;
    for (std::size_t at = begin; at < end; at += stretch) {
      const std::size_t size = std::min(stretch, end - at);
      prefetch_values(at, size);
      if constexpr (std::is_same_v<Find, FindByValues>) {
        look_for_nan(source_.keys + at, size, found);
        if (found.escapes) return found;
      }
      look(source_.keys + at, size, found);
      count_stretch(find, source_.keys + at, size);
    }
    found.escapes |= buckets_.escapes(static_cast<Bits>(found.differing & order_.wanted));
    return found;
  }

  /// They come while keys are counted, and are moved after that.
  void prefetch_values([[maybe_unused]] std::size_t begin,
                       [[maybe_unused]] std::size_t size) const {
    if constexpr (value_bytes > 0) {
      if (source_.makes_indices) return;
      const auto* const bytes = reinterpret_cast<const std::byte*>(source_.values + begin);
      for (std::size_t b = 0; b < size * value_bytes; b += line_bytes) prefetch_line(bytes + b);
    }
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

  /// NaNs have no step.
  void look_for_nan(const Key* keys, std::size_t size, BlockFindings<Bits>& found) const {
    constexpr std::uint64_t magnitude = ~std::uint64_t{0} >> 1, infinity = infinity_bits<double>();
    std::uint64_t beyond = 0;
    for (std::size_t i = 0; i < size; ++i) beyond |= infinity - (keys[i] & magnitude);
    found.escapes |= beyond >> 63 != 0;
  }

  /// Equal keys in a row count in different sets: none waits for the last one's counter.
  template <class Find>
  void count_stretch(const Find& find_bucket, const Key* keys, std::size_t size) const {
    const Find find = find_bucket;
    std::uint32_t* const counters = bench_.counters;
    std::size_t i = 0;
    for (; i + counter_sets <= size; i += counter_sets) {
      for (std::size_t set = 0; set < counter_sets; ++set) {
        ++counters[set * counter_stride + find(keys[i + set])];
      }
    }
    for (; i < size; ++i) ++counters[find(keys[i])];
  }

  /// Counts to places.
  void place(std::uint32_t* row) const {
    std::uint32_t* const counters = bench_.counters;
    std::uint32_t sum = 0;
    for (std::size_t b = 0; b < buckets_.count; ++b) {
      std::uint32_t counted = 0;
      for (std::size_t set = 0; set < counter_sets; ++set) {
        counted += counters[set * counter_stride + b];
      }
      row[b] = static_cast<std::uint32_t>(sum * sizeof(Rec));
      counters[b] = sum;
      sum += counted;
      bench_.totals[b] += counted;
    }
    row[buckets_.count] = static_cast<std::uint32_t>(sum * sizeof(Rec));
  }

  template <class Find>
  void move(const Find& find_bucket, std::size_t begin, std::size_t end) const {
    const Order order = order_;
    const Find find = find_bucket;
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
      for (std::size_t j = 0; j < 4; ++j) bucket[j] = find(source.keys[i + j]);
      for (std::size_t j = 0; j < 4; ++j) to[next[bucket[j]]++] = moving[j];
    }
    for (; i < end; ++i) {
      const Rec moving = record(i);
      to[next[find(source.keys[i])]++] = moving;
    }
  }

  Order order_;
  RecordSource<Key, Value> source_;
  const Buckets<Bits>& buckets_;
  Workbench<Rec> bench_;
};

}  // namespace kradix::impl
