// Keys alone of which many are alike: frequent ones are counted and written anew, and only the rest is moved.
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>

#include "kradix/impl/host/benches.hpp"
#include "kradix/impl/host/sampled_kinds.hpp"
#include "kradix/impl/host/simd_kinds.hpp"

namespace kradix::impl {

/// Each thread counts blocks by counters of its own and puts what is of no kind to the rest; the verdict is `escaped` where that
/// holds a key that the order cannot store.
template <class Level>
struct CountFrequentKinds {
  using Key = typename Level::Key;
  using Kinds = SampledKinds<Level>;
  using By = SimdKinds<Key, Key>;

  Level level;
  BenchSite benches;
  Kinds kinds;
  SlotLabels<Level> labels;  ///< of kinds that have their first homes, where they serve
  Key* rest;
  typename Kinds::Kind most_frequent = kinds.most_frequent();
  bool splits = splits_off(kinds);
  static constexpr std::size_t stretch = 4096;
  /// So many kinds are compared with sooner than looked up.
  static constexpr std::size_t most_few = 16;
  static std::size_t few() { return By::exists && has_wide_simd() ? most_few : 4; }

  /// Is one key most of all, or nearly? (A sample of keys of which one is half says now the one, now the other.)
  static bool splits_off(const Kinds& kinds) {
    return 8 * kinds.most_frequent().times > 3 * kinds.looked_at;
  }
  /// May SIMD look up labels? (Of 8 bytes it takes as long as to count where keys live.)
  static bool labels_serve(const Kinds& kinds) {
    return sizeof(Key) == 4 && SimdLabels<Key>::serve() && kinds.count > few() &&
           !splits_off(kinds);
  }
  /// Do counters for all homes, and a stretch's keys?
  static bool fits(const BenchSite& benches, const Kinds& kinds) {
    return std::max(2 * kinds.homes.end() * sizeof(std::uint32_t), sizeof(Key) * (stretch + 1)) <=
           benches.record_bytes;
  }
  /// Of a thread, for each label or slot.
  static std::uint32_t* times_of(const BenchSite& benches, std::size_t thread) {
    return reinterpret_cast<std::uint32_t*>(benches.bench<typename Level::Rec>(thread).a);
  }

  void operator()(std::size_t thread) const {
    std::uint32_t* const times = times_of(benches, thread);
    Key* const missed = reinterpret_cast<Key*>(benches.bench<typename Level::Rec>(thread).b);
    const std::size_t set = counters_of_set();
    std::fill_n(times, sets() * set, 0u);
    level.for_each_block([&](std::size_t begin, std::size_t end) {
      for (std::size_t at = begin; at < end; at += stretch) {
        const std::size_t left =
            count(level.source.keys + at, std::min(stretch, end - at), times, missed);
        if (!give(missed, left)) level.judge(Level::State::escaped);
      }
    });
    for (std::size_t s = 1; s < sets(); ++s) {
      const std::uint32_t* const others = times + s * set;
      for (std::size_t i = 0; i < set; ++i) times[i] += others[i];
    }
  }
  /// How often a kind came to a thread.
  std::uint32_t times_of(std::size_t thread, std::size_t kind) const {
    return times_of(benches, thread)[counter_of(kind)];
  }

 private:
  /// In sets, so that equal keys in a row do not wait for each other.
  static constexpr std::size_t sets_of_labels = 4, sets_of_homes = 2;
  bool by_labels() const { return labels.have_first_homes; }
  std::size_t sets() const { return by_labels() ? sets_of_labels : sets_of_homes; }
  /// (Four of labels take less room than two of the homes of their sample.)
  std::size_t counters_of_set() const { return by_labels() ? kinds.count + 1 : kinds.homes.end(); }
  std::size_t counter_of(std::size_t kind) const {
    return by_labels() ? kind : kinds.kinds[kind].slot;
  }

  /// Counts keys and returns how many are of no kind, which are put to `missed`.
  std::size_t count(const Key* keys, std::size_t size, std::uint32_t* times, Key* missed) const {
    if (kinds.count <= few() && count_few(keys, size, times)) return 0;
    if constexpr (SimdLabels<Key>::exist) {
      if (by_labels()) return count_by_labels(keys, size, times, missed);
    }
    if (!splits) return count_by_homes(keys, size, times, missed);
    const std::size_t left = split_off(keys, size, times, missed);
    return count_by_homes(missed, left, times, missed);
  }

  /// False, and nothing is counted, if there are others.
  bool count_few(const Key* keys, std::size_t size, std::uint32_t* times) const {
    Key few_kinds[most_few];
    std::uint32_t found[most_few];
    for (std::size_t k = 0; k < kinds.count; ++k) few_kinds[k] = kinds.key(k);
    compare(keys, size, few_kinds, found);
    if (std::accumulate(found, found + kinds.count, std::size_t{0}) != size) return false;
    for (std::size_t k = 0; k < kinds.count; ++k) times[counter_of(k)] += found[k];
    return true;
  }
  void compare(const Key* keys, std::size_t size, const Key* few_kinds,
               std::uint32_t* found) const {
    if constexpr (By::exists) {
      if (By::most() > 0) {
        count_few_kinds(keys, size, few_kinds, kinds.count, found);
        return;
      }
    }
    // Compilers use SIMD for one kind after the other.
    for (std::size_t k = 0; k < kinds.count; ++k) {
      const Key kind = few_kinds[k];
      Key alike = 0;
      for (std::size_t i = 0; i < size; ++i) alike += keys[i] == kind;
      found[k] = static_cast<std::uint32_t>(alike);
    }
  }

  std::size_t count_by_labels(const Key* keys, std::size_t size, std::uint32_t* times,
                              Key* missed) const {
    std::uint16_t found[stretch];
    const std::size_t left = labels.find(kinds, keys, size, found, missed);
    const std::size_t set = counters_of_set();
    std::size_t i = 0;
    for (; i + sets_of_labels <= size; i += sets_of_labels) {
      for (std::size_t q = 0; q < sets_of_labels; ++q) ++times[q * set + found[i + q]];
    }
    for (; i < size; ++i) ++times[found[i]];
    return left;
  }

  /// To compare with the most frequent kind costs half of what a look for a home does.
  std::size_t split_off(const Key* keys, std::size_t size, std::uint32_t* times,
                        Key* others) const {
    const Key frequent = kinds.homes.keys[most_frequent.slot];
    std::size_t left = 0;
    for (std::size_t i = 0; i < size; ++i) {
      const Key key = keys[i];
      others[left] = key;
      left += key != frequent;
    }
    times[most_frequent.slot] += static_cast<std::uint32_t>(size - left);
    return left;
  }

  /// Each key is counted where it is looked for first, and if that was wrong taken back: no branch, and equal keys in a row count in two
  /// sets, so that one does not wait for the other. `keys` may be `missed`.
  std::size_t count_by_homes(const Key* keys, std::size_t size, std::uint32_t* times,
                             Key* missed) const {
    const auto homes = kinds.homes;
    std::uint32_t* const others = times + homes.end();
    std::size_t misses = 0;
    const auto look = [=, &misses](Key key, std::size_t slot, std::uint32_t* set) {
      missed[misses] = key;
      misses += homes.keys[slot] != key;
      ++set[slot];
    };
    std::size_t i = 0;
    for (; i + 4 <= size; i += 4) {
      const Key key[4] = {keys[i], keys[i + 1], keys[i + 2], keys[i + 3]};
      std::size_t slot[4];
      for (int j = 0; j < 4; ++j) slot[j] = homes.first(key[j]);
      for (int j = 0; j < 4; ++j) look(key[j], slot[j], j % 2 == 0 ? times : others);
    }
    for (; i < size; ++i) {
      const Key key = keys[i];
      look(key, homes.first(key), times);
    }
    std::size_t left = 0;
    for (std::size_t m = 0; m < misses; ++m) {
      const Key key = missed[m];
      const std::size_t slot = homes.first(key);
      const bool found = homes.keys[slot + 1] == key;
      --times[slot];
      times[slot + 1] += found;
      missed[left] = key;
      left += !found;
    }
    return left;
  }

  /// False if one is special.
  bool give(const Key* missed, std::size_t size) const {
    if (size == 0) return true;
    for (std::size_t m = 0; m < size; ++m) {
      if (level.is_special(missed[m])) return false;
    }
    const std::size_t at = Kokkos::atomic_fetch_add(&level.state->rest, std::uint64_t{size});
    std::copy_n(missed, size, rest + at);
    return true;
  }
};

/// Writes each kind as often as it was counted, and the rest, in order, between.
template <class Level>
struct ExpandFrequentKinds {
  Level level;
  SampledKinds<Level> kinds;
  const typename Level::Key* rest;

  void operator()(std::size_t) const {
    level.for_each_block([&](std::size_t begin, std::size_t end) { expand(begin, end); });
    settle_lines();
  }

 private:
  void expand(std::size_t begin, std::size_t end) const {
    const std::uint64_t* const start = kinds.start;
    const std::uint64_t* const before = kinds.before;
    auto k = static_cast<std::size_t>(
        std::upper_bound(start, start + kinds.count, std::uint64_t{begin}) - start);
    for (std::size_t at = begin; at < end; ++k) {
      if (k > 0) {
        const std::size_t until =
            std::min<std::size_t>(end, start[k] - (before[k] - before[k - 1]));
        const auto key = kinds.key(k - 1);
        at = write(at, until, [=](std::size_t) { return key; });
      }
      const auto* const from = rest + before[k] - (start[k] - at);
      at = write(at, std::min<std::size_t>(end, start[k]), [=](std::size_t i) { return from[i]; });
    }
  }
  template <class Of>
  std::size_t write(std::size_t at, std::size_t until, const Of& of) const {
    if (at >= until) return at;
    write_objects(level.sink.keys + at, until - at, level.sink.streams, of);
    return until;
  }
};

}  // namespace kradix::impl
