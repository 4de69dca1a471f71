// The kinds of keys that a sample holds, each with a home.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "kradix/impl/host/benches.hpp"
#include "kradix/impl/host/buckets.hpp"
#include "kradix/impl/host/kind_homes.hpp"
#include "kradix/impl/host/simd_kinds.hpp"

namespace kradix::impl {

/// In order; keys that are of none are the rest, which goes between.
template <class Level>
struct SampledKinds {
  using Key = typename Level::Key;
  using Stored = typename Level::Stored;
  using Homes = KindHomes<Key>;
  struct Kind {
    Stored key;
    std::uint32_t slot, times;  ///< in the sample
  };

  std::uint64_t* start;   ///< of each kind in the result, and the end
  std::uint64_t* before;  ///< so many of the rest come before each kind, and in all
  Kind* kinds;
  Homes homes;
  std::size_t count = 0;
  std::size_t looked_at = 0;   ///< keys of the sample
  std::size_t rest_times = 0;  ///< so many of them say that there is a rest

  // Whatever the keys, what HostMemory sets aside is enough.
  static_assert(sizeof(Kind) <= HostMemory::bytes_of_kind &&
                sizeof(Key) <= HostMemory::bytes_of_home);

  /// Of the memory of kinds of a sample of `size` keys.
  static std::size_t bytes(std::size_t size) {
    return 2 * (size + 1) * sizeof(std::uint64_t) + size * sizeof(Kind) +
           Homes::end_of(size) * sizeof(Key);
  }
  static SampledKinds in(std::byte* memory, std::size_t size) {
    auto* const start = reinterpret_cast<std::uint64_t*>(memory);
    std::uint64_t* const before = start + size + 1;
    auto* const kinds = reinterpret_cast<Kind*>(before + size + 1);
    return {start, before, kinds, Homes::of(reinterpret_cast<Key*>(kinds + size), size)};
  }

  /// Finds homes for the kinds of a sample of the level's keys, `size` at most; `times` has as many counters. False if the rest would be
  /// more than `most_rest` 64ths of the keys, or if the order cannot store one.
  bool settle(const Level& level, std::size_t size, std::uint32_t* times, std::size_t most_rest) {
    homes.clear();
    std::fill_n(times, homes.end(), 0u);
    // Most inputs soon show that they are of many kinds, or of few. Few elements have sooner moved than more of them are looked at.
    const std::size_t soon = std::clamp<std::size_t>(level.range.size() / 32, 64, 256);
    // Each round looks everywhere, at places between those of the rounds before.
    constexpr std::size_t rounds = 16;
    constexpr unsigned char first[rounds] = {0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15};
    bool has_looked = false;
    for (std::size_t round = 0; round < rounds; ++round) {
      if (!look(level, size, first[round], rounds, times)) return false;
      if (looked_at >= soon) {
        if (!has_looked && rest_times + 4 >= looked_at) return false;
        has_looked = true;
        if (512 * rest_times <= looked_at) break;
      }
      if (round == rounds / 4 && 16 * rest_times > 15 * looked_at) return false;
    }
    if (64 * rest_times > most_rest * looked_at) return false;
    for (std::size_t slot = 0; slot < homes.end(); ++slot) {
      if (times[slot] == 0) continue;
      kinds[count++] = {level.order.enter(homes.keys[slot]), static_cast<std::uint32_t>(slot),
                        times[slot]};
    }
    std::sort(kinds, kinds + count, [](const Kind& a, const Kind& b) { return a.key < b.key; });
    return true;
  }

  /// How often each kind came, of `threads` that counted, into `start`.
  template <class TimesOf>
  void add_up(std::size_t threads, const TimesOf& times_of) const {
    for (std::size_t k = 0; k < count; ++k) {
      start[k] = 0;
      for (std::size_t t = 0; t < threads; ++t) start[k] += times_of(t, k);
    }
  }

  /// Keeps at most so many kinds: of more, those that the sample saw most often.
  void keep(std::size_t most) {
    if (count <= most) return;
    std::nth_element(kinds, kinds + most, kinds + count,
                     [](const Kind& a, const Kind& b) { return a.times > b.times; });
    for (; count > most; --count) {
      const std::uint32_t times = kinds[count - 1].times;
      if (times > 1) rest_times += times;  // those seen once are among them
    }
    std::sort(kinds, kinds + count, [](const Kind& a, const Kind& b) { return a.key < b.key; });
  }

  /// Gives kinds first homes that no two share, if they are few: of 256 kinds one factor in 60 does. False, and each stays where it is,
  /// if none is found. Kinds that were not kept have no homes afterwards.
  template <class Order>
  bool part(const Order& order) {
    const bool are_parted = find_first_homes(order);
    homes.clear();
    for (std::size_t k = 0; k < count; ++k) {
      const Key key = order.leave(kinds[k].key);
      if (are_parted) kinds[k].slot = static_cast<std::uint32_t>(homes.first(key));
      homes.keys[kinds[k].slot] = key;
    }
    return are_parted;
  }

  Key key(std::size_t k) const { return homes.keys[kinds[k].slot]; }
  const Kind& most_frequent() const {
    return *std::max_element(kinds, kinds + count,
                             [](const Kind& a, const Kind& b) { return a.times < b.times; });
  }

  /// The rest is in order and how often each kind came lies in `start`, where it begins afterwards.
  template <class Order>
  void place(const Order& order, const Key* rest, std::size_t rest_size) const {
    const Key* at = rest;
    std::uint64_t counted = 0;
    for (std::size_t k = 0; k < count; ++k) {
      at = std::lower_bound(at, rest + rest_size, kinds[k].key,
                            [&](Key key, Stored kind) { return order.enter(key) < kind; });
      before[k] = static_cast<std::uint64_t>(at - rest);
      counted += std::exchange(start[k], before[k] + counted);
    }
    before[count] = rest_size;
    start[count] = before[count] + counted;
  }
  /// Once they have their places: how often a kind came.
  std::size_t size(std::size_t k) const {
    return start[k + 1] - start[k] - (before[k + 1] - before[k]);
  }

  /// Moves the rest from where the result begins to its places.
  template <class T>
  void spread(T* elements) const {
    for (std::size_t k = count + 1; k-- > 0 && start[k] != before[k];) {
      const std::size_t first = k == 0 ? 0 : before[k - 1];
      std::copy_backward(elements + first, elements + before[k], elements + start[k]);
    }
  }

 private:
  /// Among slots that registers hold, if SIMD looks there, where one factor in some hundreds serves; or among more.
  template <class Order>
  bool find_first_homes(const Order& order) {
    const std::size_t pairs = count * count / 2 + 1;
    const int few_bits = Homes::bits_for(pairs / 5 + 1);
    const bool in_registers = SimdLabels<Key>::serve() && few_bits <= Homes::bits_in_registers;
    if (in_registers && find_first_homes(order, few_bits)) return true;
    return pairs <= std::size_t{4} << homes.bits && find_first_homes(order, Homes::bits_for(pairs));
  }
  template <class Order>
  bool find_first_homes(const Order& order, int bits) {
    Homes parted = homes;
    parted.bits = std::min(homes.bits, bits);
    const std::size_t turns = std::min<std::size_t>(looked_at, 1000);
    for (std::size_t turn = 0; turn < turns; ++turn) {
      if (have_first(parted, order)) {
        homes = parted;
        return true;
      }
      parted.factor = parted.factor * 0xd1342543de82ef95u | 1;
    }
    return false;
  }
  /// Do no two kinds share a first home?
  template <class Order>
  bool have_first(const Homes& parted, const Order& order) const {
    std::array<bool, Homes::most_slots> taken;
    std::fill_n(taken.begin(), std::size_t{1} << parted.bits, false);
    for (std::size_t k = 0; k < count; ++k) {
      const std::size_t slot = parted.first(order.leave(kinds[k].key));
      if (std::exchange(taken[slot], true)) return false;
    }
    return true;
  }

  static std::size_t scattered(std::size_t i) {
    return static_cast<std::size_t>((i * 0x9e3779b97f4a7c15u) >> 32);
  }

  /// Looks at one key of each `step`, a power of two, of `size` places: at each of them for some `first` below it. False if the order
  /// cannot store one.
  bool look(const Level& level, std::size_t size, std::size_t first, std::size_t step,
            std::uint32_t* times) {
    constexpr std::size_t ahead = 128;  // whose loads are under way together
    Key found[ahead];
    for (std::size_t group = 0; group < size;) {
      std::size_t here = 0;
      for (; here < ahead && group < size; group += step) {
        // In each group another one: keys may come back after as many places as lie between equal ones.
        const std::size_t nth = group + (first ^ scattered(group / step) % step);
        if (nth >= size) continue;
        const std::size_t place = BucketSample::place(nth, size, level.range.size());
        found[here++] = level.source.keys[level.range.begin + place];
      }
      for (std::size_t i = 0; i < here; ++i) {
        if (level.is_special(found[i])) return false;
        const std::size_t slot = homes.settle(found[i], times);
        const std::uint32_t seen = slot == homes.end() ? 0 : times[slot]++;
        // What was seen once says how much there is that was not seen.
        rest_times += seen == 0;
        rest_times -= seen == 1;
      }
      looked_at += here;
    }
    return true;
  }
};

/// A number for each kind, kept by slots.
template <class Level>
struct SlotLabels {
  using Key = typename Level::Key;
  using Kinds = SampledKinds<Level>;
  using Homes = KindHomes<Key>;
  using Simd = SimdLabels<Key>;
  using Slot = LabelSlot<Key>;
  static_assert(sizeof(Slot) + sizeof(Key) <=
                HostMemory::bytes_of_label + HostMemory::bytes_of_home);

  Slot* slots;
  bool have_first_homes = false;  ///< each kind has its first home

  /// Behind the kinds of a sample of `size` keys.
  static SlotLabels in(std::byte* memory, std::size_t size) {
    const std::size_t behind =
        (Kinds::bytes(size) + sizeof(Slot) - 1) / sizeof(Slot) * sizeof(Slot);
    return {reinterpret_cast<Slot*>(memory + behind)};
  }
  /// Are slots few enough for registers?
  bool lie_in_registers(const Kinds& kinds) const {
    return Simd::serve() && have_first_homes && kinds.homes.bits <= Homes::bits_in_registers;
  }
  /// Label l is that of kind `kind_of(l)`; what is of no kind has the one behind all.
  template <class KindOf>
  void fill(const Kinds& kinds, const KindOf& kind_of) const {
    for (std::size_t slot = 0; slot < kinds.homes.end(); ++slot) {
      if constexpr (requires { slots->key; }) slots[slot].key = kinds.homes.keys[slot];
      slots[slot].label = static_cast<std::uint32_t>(kinds.count);
    }
    for (std::size_t l = 0; l < kinds.count; ++l) {
      slots[kinds.kinds[kind_of(l)].slot].label = static_cast<std::uint32_t>(l);
    }
  }
  /// By SIMD: the label of each key, and those of no kind to `missed`, which may be where keys lie; returns how many these are.
  std::size_t find(const Kinds& kinds, const Key* keys, std::size_t size, std::uint16_t* labels,
                   Key* missed) const {
    if constexpr (Simd::exist) {
      return find_labels(
          keys, size,
          {kinds.homes.keys, slots, kinds.homes.hash_factor(), Homes::hash_bits - kinds.homes.bits,
           static_cast<std::uint16_t>(kinds.count), !have_first_homes},
          labels, missed);
    }
    return 0;
  }
};

}  // namespace kradix::impl
