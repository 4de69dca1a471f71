// Pairs of which many keys are alike: frequent keys are written anew, and of their pairs only labels and values move; the rest is
// sorted by itself.
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <utility>

#include "kradix/impl/device/team.hpp"
#include "kradix/impl/host/benches.hpp"
#include "kradix/impl/host/sampled_kinds.hpp"
#include "kradix/impl/host/simd_kinds.hpp"

namespace kradix::impl {

/// A number for each kind: its place among them.
template <class Level>
struct LabelledKinds {
  SampledKinds<Level> sampled;
  std::uint16_t* label;  ///< of each slot
  bool by_simd = false;  ///< they are few, and need no labels

  static LabelledKinds in(std::byte* memory, std::size_t size) {
    const std::size_t behind = (SampledKinds<Level>::bytes(size) + 1) / 2 * 2;
    return {SampledKinds<Level>::in(memory, size),
            reinterpret_cast<std::uint16_t*>(memory + behind)};
  }

  /// What is of no kind has the label behind all.
  std::uint16_t rest() const { return static_cast<std::uint16_t>(sampled.count); }
  std::size_t labels() const { return sampled.count + 1; }

  template <class Order>
  void number(const Order& order) {
    sampled.part(order);
    std::fill_n(label, sampled.homes.end(), rest());
    for (std::size_t k = 0; k < sampled.count; ++k) {
      label[sampled.kinds[k].slot] = static_cast<std::uint16_t>(k);
    }
  }
};

/// Puts the values of a block in order of labels, with the rest's keys behind; the verdict is `escaped` where the order cannot
/// store a key.
template <class ExecutionSpace, class Level>
struct LabelBlocks {
  using Key = typename Level::Key;
  using Stored = typename Level::Stored;
  using Rec = typename Level::Rec;
  using Value = typename Level::ValueType;
  using Bench = Workbench<Rec>;
  using Simd = SimdKinds<Key, Value>;

  Level level;
  BenchSite benches;
  LabelledKinds<Level> kinds;

  void operator()(const TeamMember<ExecutionSpace>& team) const {
    const auto bench = benches.bench<Rec>(static_cast<std::size_t>(team.league_rank()));
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
    if (kinds.by_simd) {
      sort_by_simd(begin, size, bench, row);
    } else {
      sort_by_labels(begin, size, bench, row);
    }
    return true;
  }

  std::byte* out(std::size_t begin) const {
    return reinterpret_cast<std::byte*>(level.blocks + begin);
  }

  void sort_by_labels(std::size_t begin, std::size_t size, const Bench& bench,
                      std::uint32_t* row) const {
    const Key* const keys = level.source.keys + begin;
    auto* const labels = reinterpret_cast<std::uint16_t*>(bench.b);
    std::fill_n(bench.counters, counter_count, 0u);
    count(keys, size, labels, bench.counters);
    const std::size_t rest = place(bench, row);
    move(begin, size, labels, bench);
    auto* const sorted = reinterpret_cast<std::byte*>(bench.a);
    if (rest > 0) take_rest(keys, size, labels, sorted + size * sizeof(Value));
    write_bytes(out(begin), sorted, size * sizeof(Value) + rest * sizeof(Stored),
                level.sink.streams);
  }

  /// Values go where the block's belong at once: each kind's are written one vector after the other.
  void sort_by_simd(std::size_t begin, std::size_t size, const Bench& bench,
                    std::uint32_t* row) const {
    if constexpr (Simd::exists) {
      const Key* const keys = level.source.keys + begin;
      const std::size_t count = kinds.sampled.count;
      Key kind[Simd::limit];
      for (std::size_t k = 0; k < count; ++k) kind[k] = kinds.sampled.key(k);
      std::uint32_t times[Simd::limit + 1];
      count_few_kinds(keys, size, kind, count, times);
      times[count] =
          static_cast<std::uint32_t>(size - std::accumulate(times, times + count, std::size_t{0}));
      Value* to[Simd::limit + 1];
      std::size_t at = 0;
      for (std::size_t k = 0; k <= count; ++k) {
        to[k] = reinterpret_cast<Value*>(out(begin)) + at;
        row[k] = static_cast<std::uint32_t>(at * sizeof(Value));
        bench.totals[k] += times[k];
        at += times[k];
      }
      row[count + 1] =
          static_cast<std::uint32_t>(size * sizeof(Value) + times[count] * sizeof(Stored));
      auto* const rest = reinterpret_cast<Key*>(bench.b);
      const auto& source = level.source;
      move_few_kinds(keys, source.makes_indices ? nullptr : source.values + begin, begin, size,
                     kind, count, to, rest);
      std::byte* const behind = out(begin) + size * sizeof(Value);
      for (std::size_t i = 0; i < times[count]; ++i) {
        const Stored key = level.order.enter(rest[i]);
        std::memcpy(behind + i * sizeof key, &key, sizeof key);
      }
    }
  }

  void count(const Key* keys, std::size_t size, std::uint16_t* labels,
             std::uint32_t* counters) const {
    const auto homes = kinds.sampled.homes;
    const std::uint16_t* const label = kinds.label;
    const std::uint16_t rest = kinds.rest();
    const auto count = [=](std::uint16_t found, std::size_t i, std::size_t q) {
      labels[i] = found;
      ++counters[q * counter_stride + found];
    };
    if (are_many()) {
      for_each(size, [=](std::size_t i, std::size_t q) {
        const Key key = keys[i];
        // Without branches: which of the two it is, and then whether it is.
        std::size_t slot = homes.first(key);
        slot += homes.keys[slot] != key;
        const auto is_kind = static_cast<std::uint16_t>(-(homes.keys[slot] == key));
        count(static_cast<std::uint16_t>(((label[slot] ^ rest) & is_kind) ^ rest), i, q);
      });
      return;
    }
    for_each(size, [=](std::size_t i, std::size_t q) {
      const Key key = keys[i];
      std::size_t slot = homes.first(key);
      if (homes.keys[slot] == key) [[likely]]
        return count(label[slot], i, q);
      ++slot;
      count(homes.keys[slot] == key ? label[slot] : rest, i, q);
    });
  }

  /// Of few kinds each has its first home, and hardly a key is of the rest.
  bool are_many() const { return kinds.labels() > 257; }

  /// Many kinds have a line of the cache each to write to, not four, and seldom come in a row.
  template <class Each>
  void for_each(std::size_t size, const Each& each) const {
    constexpr std::size_t many = 512;
    if (kinds.labels() <= many) return for_each_in_quarters(size, each);
    for (std::size_t i = 0; i < size; ++i) each(i, 0);
  }

  /// Counts to places; returns how many are of the rest.
  std::size_t place(const Bench& bench, std::uint32_t* row) const {
    std::uint32_t at = 0, size = 0;
    for (std::size_t l = 0; l < kinds.labels(); ++l) {
      row[l] = static_cast<std::uint32_t>(at * sizeof(Value));
      const std::uint32_t before = at;
      for (std::size_t q = 0; q < counter_sets; ++q) {
        at += std::exchange(bench.counters[q * counter_stride + l], at);
      }
      size = at - before;
      bench.totals[l] += size;
    }
    row[kinds.labels()] = static_cast<std::uint32_t>(at * sizeof(Value) + size * sizeof(Stored));
    return size;
  }

  void move(std::size_t begin, std::size_t size, const std::uint16_t* labels,
            const Bench& bench) const {
    const auto source = level.source;
    std::uint32_t* const counters = bench.counters;
    Value* const to = reinterpret_cast<Value*>(bench.a);
    for_each(size, [=](std::size_t i, std::size_t q) {
      to[counters[q * counter_stride + labels[i]]++] = source.value(begin + i);
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
template <class ExecutionSpace, class Level>
struct GatherRest {
  using Value = typename Level::ValueType;
  using Stored = typename Level::Stored;

  Level level;
  std::size_t label;

  void operator()(const TeamMember<ExecutionSpace>& team) const {
    const auto thread = static_cast<std::size_t>(team.league_rank());
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
template <class ExecutionSpace, class Level>
struct PutKinds {
  Level level;
  SampledKinds<Level> kinds;

  void operator()(const TeamMember<ExecutionSpace>&) const {
    level.for_each_unit([&](std::size_t label, std::size_t unit, std::size_t units) {
      if (label == kinds.count) return;  // the rest lies where it belongs
      level.put_one_key(label, kinds.start[label], kinds.key(label), unit, units);
    });
    settle_lines();
  }
};

}  // namespace kradix::impl
