// Pairs of which many keys are alike: frequent keys are written anew, and of their pairs only labels and values move; the rest is
// sorted by itself.
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "kradix/impl/host/benches.hpp"
#include "kradix/impl/host/sampled_kinds.hpp"
#include "kradix/impl/host/simd_kinds.hpp"

namespace kradix::impl {

/// Where a thread puts values of each label, if none are counted before: as far as a sample tells there is room for some times what
/// comes. Keys of no kind go before them.
struct LabelSegments {
  static constexpr std::size_t most = 64, most_stretch = 1024, least_stretch = 256;

  /// After so many keys it is seen whether there still is room (0: there are no segments).
  std::size_t stretch = 0;
  std::size_t values_at = 0;  ///< bytes
  std::uint32_t begin[most + 1] = {};

  /// Of `labels`, in so many bytes of each thread, which moves `block` elements at a time.
  template <class Key, class Value, class TimesOf>
  static LabelSegments of(std::size_t labels, std::size_t bytes, std::size_t block,
                          const TimesOf& times_of) {
    constexpr std::size_t least_room = 2;
    LabelSegments segments;
    segments.values_at = (block * sizeof(Key) + sizeof(Value) - 1) / sizeof(Value) * sizeof(Value);
    const std::size_t room =
        bytes > segments.values_at ? (bytes - segments.values_at) / sizeof(Value) : 0;
    std::size_t stretch = most_stretch;
    while (stretch >= least_stretch && labels * stretch + least_room * block > room) stretch /= 2;
    if (labels > most || stretch < least_stretch) return segments;
    const std::size_t shared = room - labels * stretch;
    std::size_t all = 0, seen = 0;
    for (std::size_t l = 0; l < labels; ++l) all += times_of(l) + 1;
    for (std::size_t l = 0; l < labels; ++l) {
      seen += times_of(l) + 1;
      segments.begin[l + 1] = static_cast<std::uint32_t>(shared * seen / all + (l + 1) * stretch);
    }
    segments.stretch = stretch;
    return segments;
  }
  bool exist() const { return stretch > 0; }
  bool have_room(const std::uint32_t* at, std::size_t labels) const {
    const auto wanted = static_cast<std::uint32_t>(stretch);
    std::uint32_t missing = 0;  // of numbers below zero
    for (std::size_t l = 0; l < labels; ++l) missing |= begin[l + 1] - at[l] - wanted;
    return missing >> 31 == 0;
  }
};

/// A number for each kind: first those that SIMD parts from the others one by one, then the others as they come.
template <class Level>
struct LabelledKinds {
  using Key = typename Level::Key;
  using Value = typename Level::ValueType;
  using Simd = SimdKinds<Key, Value>;
  using Labels = SimdLabels<Key>;

  SampledKinds<Level> sampled;
  SlotLabels<Level> by_slot;
  std::size_t parted_count = 0;
  std::uint16_t parted[Simd::limit] = {};  ///< in order; so many are parted
  bool crowd = false;                      ///< of the others one is a quarter
  LabelSegments segments{};                ///< if they exist, nothing need be counted

  static LabelledKinds in(std::byte* memory, std::size_t size) {
    return {SampledKinds<Level>::in(memory, size), SlotLabels<Level>::in(memory, size)};
  }

  /// What is of no kind has the label behind all.
  std::uint16_t rest() const { return static_cast<std::uint16_t>(sampled.count); }
  std::size_t labels() const { return sampled.count + 1; }
  std::size_t kind_of(std::size_t label) const {
    if (label < parted_count) return parted[label];
    std::size_t kind = label - parted_count;
    for (std::size_t p = 0; p < parted_count && parted[p] <= kind; ++p) ++kind;
    return kind;
  }

  /// At most `most` are parted. Each thread has so many bytes, and moves `block` elements at a time.
  template <class Order>
  void number(const Order& order, std::size_t most, std::size_t bytes, std::size_t block) {
    constexpr std::size_t least = 9;  // that registers serve sooner than SIMD parts them
    by_slot.have_first_homes = sampled.part(order);
    const bool looks_up = by_slot.lie_in_registers(sampled) && sampled.count >= least &&
                          !crowd_together(sampled.most_frequent().times, sampled.looked_at);
    if (!looks_up) part_frequent(most);
    if (Labels::serve() && parted_count == 0 && !crowd) {
      segments = LabelSegments::of<Key, Value>(labels(), bytes, block, [&](std::size_t l) {
        return l < sampled.count ? sampled.kinds[l].times : sampled.rest_times;
      });
    }
    by_slot.fill(sampled, [&](std::size_t l) { return kind_of(l); });
  }

 private:
  static bool crowd_together(std::size_t times, std::size_t all) { return 4 * times >= all; }

  /// Few kinds are all parted; of more those that are frequent, if they are most of all: else labels alone take less time than both.
  void part_frequent(std::size_t most) {
    constexpr std::size_t least_share_of_few = 32;
    const std::size_t least_share = sampled.count <= most ? least_share_of_few : Simd::least_share;
    std::size_t parted_times = 0;
    for (std::size_t k = 0; k < sampled.count && parted_count < most; ++k) {
      const std::size_t times = sampled.kinds[k].times;
      if (least_share * times < sampled.looked_at) continue;
      parted[parted_count++] = static_cast<std::uint16_t>(k);
      parted_times += times;
    }
    if (2 * parted_times < sampled.looked_at) parted_count = parted_times = 0;
    std::size_t greatest = 0;
    for (std::size_t l = parted_count; l < sampled.count; ++l) {
      greatest = std::max<std::size_t>(greatest, sampled.kinds[kind_of(l)].times);
    }
    crowd = crowd_together(greatest, sampled.looked_at - parted_times);
  }
};

/// Puts the values of a block in order of labels, with the rest's keys behind; the verdict is `escaped` where the order cannot
/// store a key.
template <class Level>
struct LabelBlocks {
  using Key = typename Level::Key;
  using Stored = typename Level::Stored;
  using Rec = typename Level::Rec;
  using Value = typename Level::ValueType;
  using Bench = Workbench<Rec>;
  using Simd = SimdKinds<Key, Value>;
  using Labels = SimdLabels<Key>;

  Level level;
  BenchSite benches;
  LabelledKinds<Level> kinds;

  void operator()(std::size_t thread) const {
    const auto bench = benches.bench<Rec>(thread);
    std::fill_n(bench.totals, kinds.labels(), std::uint64_t{0});
    level.for_each_block([&](std::size_t begin, std::size_t end) {
      if (!run(bench, begin, end - begin)) level.judge(Level::State::escaped);
    });
    settle_lines();
  }

 private:
  bool run(const Bench& bench, std::size_t begin, std::size_t size) const {
    const Key* const keys = level.source.keys + begin;
    bool special = false;
    for (std::size_t i = 0; i < size; ++i) special |= level.is_special(keys[i]);
    if (special) return false;
    std::uint32_t* const row = level.row_of((begin - level.range.begin) / level.block);
    if constexpr (Labels::exist) {
      if (kinds.segments.exist() && spread(bench, begin, size, row)) return true;
    }
    if (kinds.parted_count > 0) {
      part(bench, begin, size, row);
    } else {
      const auto source = level.source;
      sort(
          bench, keys, size, [=](std::size_t i) { return source.value(begin + i); }, row,
          out(begin), 0);
    }
    return true;
  }

  std::byte* out(std::size_t begin) const {
    return reinterpret_cast<std::byte*>(level.blocks + begin);
  }

  /// Each value goes behind those of its label that came before. False, and nothing is written to the block, where the sample has told
  /// too little.
  bool spread(const Bench& bench, std::size_t begin, std::size_t size, std::uint32_t* row) const {
    const auto source = level.source;
    const LabelSegments& segments = kinds.segments;
    auto* const memory = reinterpret_cast<std::byte*>(bench.a);
    auto* const values = reinterpret_cast<Value*>(memory + segments.values_at);
    auto* const missed = reinterpret_cast<Key*>(memory);
    std::uint32_t* const at = bench.counters;
    const std::size_t labels = kinds.labels();
    std::copy_n(segments.begin, labels, at);
    std::size_t rest = 0;
    for (std::size_t done = 0; done < size; done += segments.stretch) {
      if (!segments.have_room(at, labels)) return false;
      const std::size_t first = begin + done, some = std::min(segments.stretch, size - done);
      rest += put(
          source.keys + first, some, [=](std::size_t i) { return source.value(first + i); }, values,
          at, missed + rest);
    }
    LineWriter writer(out(begin), level.sink.streams);
    for (std::size_t l = 0; l < labels; ++l) {
      const std::size_t count = at[l] - segments.begin[l];
      row[l] = static_cast<std::uint32_t>(writer.size());
      bench.totals[l] += count;
      writer.put(reinterpret_cast<const std::byte*>(values + segments.begin[l]),
                 count * sizeof(Value));
    }
    for (std::size_t i = 0; i < rest; ++i) {
      const Stored key = level.order.enter(missed[i]);
      writer.put(reinterpret_cast<const std::byte*>(&key), sizeof key);
    }
    row[labels] = static_cast<std::uint32_t>(writer.size());
    return true;
  }
  /// A stretch; returns how many of its keys are of the rest.
  template <class ValueOf>
  std::size_t put(const Key* keys, std::size_t size, const ValueOf& value_of, Value* values,
                  std::uint32_t* places, Key* missed) const {
    std::uint16_t labels[LabelSegments::most_stretch];
    const std::size_t rest = kinds.by_slot.find(kinds.sampled, keys, size, labels, missed);
    const ValueOf value = value_of;
    for (std::size_t i = 0; i < size; ++i) values[places[labels[i]]++] = value(i);
    return rest;
  }
  /// Values of kinds that are parted go where the block's belong at once, each kind's one vector after the other; what is left is
  /// sorted by labels.
  void part(const Bench& bench, std::size_t begin, std::size_t size, std::uint32_t* row) const {
    if constexpr (Simd::exists) {
      const auto& source = level.source;
      const Key* const keys = source.keys + begin;
      const std::size_t count = kinds.parted_count;
      Key kind[Simd::limit] = {};
      for (std::size_t l = 0; l < count; ++l) kind[l] = kinds.sampled.key(kinds.kind_of(l));
      std::uint32_t times[Simd::limit];
      count_few_kinds(keys, size, kind, count, times);
      Value* to[Simd::limit + 1];
      to[0] = reinterpret_cast<Value*>(out(begin));
      for (std::size_t l = 0; l < count; ++l) {
        row[l] = static_cast<std::uint32_t>(reinterpret_cast<std::byte*>(to[l]) - out(begin));
        bench.totals[l] += times[l];
        to[l + 1] = to[l] + times[l];
      }
      auto* const others = reinterpret_cast<Key*>(bench.b);
      auto* const values = reinterpret_cast<Value*>(others + (size + 1) / 2 * 2);
      const auto parted_bytes =
          static_cast<std::size_t>(reinterpret_cast<std::byte*>(to[count]) - out(begin));
      const std::size_t left =
          move_few_kinds(keys, source.makes_indices ? nullptr : source.values + begin, begin, size,
                         kind, count, to, others, values);
      sort(
          bench, others, left, [=](std::size_t i) { return values[i]; }, row, out(begin),
          parted_bytes);
    }
  }

  /// Pairs of which none is parted go behind the others in `to`, where a block belongs.
  template <class ValueOf>
  void sort(const Bench& bench, const Key* keys, std::size_t size, const ValueOf& value,
            std::uint32_t* row, std::byte* to, std::size_t parted_bytes) const {
    auto* const others = reinterpret_cast<Key*>(bench.b);
    const std::size_t behind_records = ((level.block + 1) * sizeof(Rec) + 1) / 2 * 2;
    auto* const labels =
        reinterpret_cast<std::uint16_t*>(reinterpret_cast<std::byte*>(bench.b) + behind_records);
    auto* const sorted = reinterpret_cast<std::byte*>(bench.a);
    std::byte* const behind = sorted + size * sizeof(Value);
    for (std::size_t q = 0; q < counter_sets; ++q) {
      std::fill_n(bench.counters + q * counter_stride, kinds.labels(), 0u);
    }
    std::size_t rest;
    if (Labels::serve()) {
      rest = kinds.by_slot.find(kinds.sampled, keys, size, labels, others);
      enter(others, rest, behind);
      count_labels(labels, size, bench.counters);
      place(bench, parted_bytes, row);
    } else {
      count(keys, size, labels, bench.counters);
      rest = place(bench, parted_bytes, row);
      if (rest > 0) take_rest(keys, size, labels, behind);
    }
    move(size, labels, value, bench);
    write_bytes(to + parted_bytes, sorted, size * sizeof(Value) + rest * sizeof(Stored),
                level.sink.streams);
  }

  /// The rest's keys, as they are stored.
  void enter(const Key* keys, std::size_t size, std::byte* to) const {
    for (std::size_t i = 0; i < size; ++i) {
      const Stored key = level.order.enter(keys[i]);
      std::memcpy(to + i * sizeof key, &key, sizeof key);
    }
  }

  void count_labels(const std::uint16_t* labels, std::size_t size, std::uint32_t* counters) const {
    for_each(size,
             [=](std::size_t i, std::size_t q) { ++counters[q * counter_stride + labels[i]]; });
  }

  void count(const Key* keys, std::size_t size, std::uint16_t* labels,
             std::uint32_t* counters) const {
    const auto homes = kinds.sampled.homes;
    const LabelSlot<Key>* const label = kinds.by_slot.slots;
    const std::uint16_t rest = kinds.rest();
    const auto count = [=](std::uint32_t found, std::size_t i, std::size_t q) {
      labels[i] = static_cast<std::uint16_t>(found);
      ++counters[q * counter_stride + found];
    };
    if (!kinds.by_slot.have_first_homes) {
      for_each(size, [=](std::size_t i, std::size_t q) {
        const Key key = keys[i];
        // Without branches: which of the two it is, and then whether it is.
        std::size_t slot = homes.first(key);
        slot += homes.keys[slot] != key;
        const auto is_kind = static_cast<std::uint32_t>(-(homes.keys[slot] == key));
        count(((label[slot].label ^ rest) & is_kind) ^ rest, i, q);
      });
      return;
    }
    for_each(size, [=](std::size_t i, std::size_t q) {
      const Key key = keys[i];
      const std::size_t slot = homes.first(key);
      count(homes.keys[slot] == key ? label[slot].label : rest, i, q);
    });
  }

  /// Where one kind is often the next one's, too; others have a line of the cache each to write to, not four.
  template <class Each>
  void for_each(std::size_t size, const Each& each) const {
    if (kinds.crowd) return for_each_in_quarters(size, each);
    for (std::size_t i = 0; i < size; ++i) each(i, 0);
  }

  /// Counts to places, behind what was parted; returns how many are of the rest.
  std::size_t place(const Bench& bench, std::size_t parted_bytes, std::uint32_t* row) const {
    std::uint32_t at = 0, size = 0;
    for (std::size_t l = kinds.parted_count; l < kinds.labels(); ++l) {
      row[l] = static_cast<std::uint32_t>(parted_bytes + at * sizeof(Value));
      const std::uint32_t before = at;
      for (std::size_t q = 0; q < counter_sets; ++q) {
        at += std::exchange(bench.counters[q * counter_stride + l], at);
      }
      size = at - before;
      bench.totals[l] += size;
    }
    row[kinds.labels()] =
        static_cast<std::uint32_t>(parted_bytes + at * sizeof(Value) + size * sizeof(Stored));
    return size;
  }

  template <class ValueOf>
  void move(std::size_t size, const std::uint16_t* labels, const ValueOf& value_of,
            const Bench& bench) const {
    std::uint32_t* const counters = bench.counters;
    Value* const to = reinterpret_cast<Value*>(bench.a);
    const ValueOf value = value_of;
    for_each(size, [=](std::size_t i, std::size_t q) {
      to[counters[q * counter_stride + labels[i]]++] = value(i);
    });
  }

  void take_rest(const Key* keys, std::size_t size, const std::uint16_t* labels,
                 std::byte* to) const {
    const auto order = level.order;
    const std::uint16_t rest = kinds.rest();
    for (std::size_t i = 0; i < size; ++i) {
      const Stored key = order.enter(keys[i]);
      std::memcpy(to, &key, sizeof key);
      to += labels[i] == rest ? sizeof key : 0;
    }
  }
};

/// Each thread gathers the rest of its share of the blocks to where the result begins.
template <class Level>
struct GatherRest {
  using Value = typename Level::ValueType;
  using Stored = typename Level::Stored;

  Level level;
  std::size_t label;

  void operator()(std::size_t thread) const {
    const std::size_t blocks = level.block_count();
    const std::size_t begin = blocks * thread / level.threads;
    const std::size_t end = blocks * (thread + 1) / level.threads;
    std::size_t at = 0;
    for (std::size_t b = 0; b < end; ++b) {
      const auto run = level.run_of(label, b);
      const std::size_t size = run.size / sizeof(typename Level::Rec);
      if (b >= begin) gather(run.bytes, at, size);
      at += size;
    }
  }

 private:
  void gather(const std::byte* values, std::size_t at, std::size_t size) const {
    std::memcpy(level.sink.values + at, values, size * sizeof(Value));
    const std::byte* const keys = values + size * sizeof(Value);
    for (std::size_t i = 0; i < size; ++i) {
      Stored key;
      std::memcpy(&key, keys + i * sizeof key, sizeof key);
      level.sink.keys[at + i] = level.order.leave(key);
    }
  }
};

/// Writes kinds anew and gathers their values.
template <class Level>
struct PutKinds {
  Level level;
  LabelledKinds<Level> kinds;

  void operator()(std::size_t) const {
    level.for_each_unit([&](std::size_t label, std::size_t unit, std::size_t units) {
      if (label == kinds.rest()) return;  // the rest lies where it belongs
      const std::size_t kind = kinds.kind_of(label);
      level.put_one_key(label, kinds.sampled.start[kind], kinds.sampled.key(kind), unit, units);
    });
    settle_lines();
  }
};

}  // namespace kradix::impl
