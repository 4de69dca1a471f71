// The kinds of keys that a sample holds, each with a home.
#pragma once

#include <algorithm>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "kradix/impl/host/benches.hpp"
#include "kradix/impl/host/buckets.hpp"
#include "kradix/impl/host/kind_homes.hpp"

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
  std::size_t rest_times = 0;  ///< so much of the sample says that there is a rest

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

  /// Finds homes for the kinds of the level's sample; `times` has as many counters. False if the rest would be more than
  /// `most_rest` 64ths of the keys, or if the order cannot store one.
  bool settle(const Level& level, std::uint32_t* times, std::size_t most_rest) {
    homes.clear();
    std::fill_n(times, homes.end(), 0u);
    const std::size_t keys = level.range.size(), size = BucketSample::size_of(keys);
    constexpr std::size_t soon = 256;   // most inputs show that they are of many kinds
    constexpr std::size_t ahead = 128;  // whose loads are under way together
    Key sampled[ahead];
    for (std::size_t i = 0; i < size; ++i) {
      if (i % ahead == 0) {
        for (std::size_t j = i; j < std::min(i + ahead, size); ++j) {
          sampled[j - i] =
              level.source.keys[level.range.begin + BucketSample::place(j, size, keys)];
        }
      }
      const Key key = sampled[i % ahead];
      if (level.is_special(key)) return false;
      const std::size_t slot = homes.settle(key, times);
      const std::uint32_t seen = slot == homes.end() ? 0 : times[slot]++;
      // What was seen once says how much there is that was not seen.
      rest_times += seen == 0;
      rest_times -= seen == 1;
      if (i == soon && rest_times + 4 >= i) return false;
      if (i == size / 4 && 16 * rest_times > 15 * i) return false;
    }
    if (64 * rest_times > most_rest * size) return false;
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
      for (std::size_t t = 0; t < threads; ++t) start[k] += times_of(t)[kinds[k].slot];
    }
  }

  /// Keeps at most so many kinds: of more, those that the sample saw most often.
  void keep(std::size_t most) {
    if (count <= most) return;
    std::nth_element(kinds, kinds + most, kinds + count,
                     [](const Kind& a, const Kind& b) { return a.times > b.times; });
    for (; count > most; --count) rest_times += kinds[count - 1].times;
    std::sort(kinds, kinds + count, [](const Kind& a, const Kind& b) { return a.key < b.key; });
  }

  /// How many kinds, at most `most`, are each a 32nd of `size` sampled keys: their values moved alone cost less than if they were
  /// of the rest. 0 if those leave more than an eighth.
  std::size_t frequent(std::size_t most, std::size_t size) const {
    std::size_t found = 0, left = size;
    for (std::size_t k = 0; k < count; ++k) {
      if (32 * kinds[k].times < size) continue;
      ++found;
      left -= kinds[k].times;
    }
    return found <= most && 8 * left <= size ? found : 0;
  }

  /// Gives kinds first homes that no two share, if they are few: of 256 kinds one factor in 60 does.
  template <class Order>
  void part(const Order& order) {
    if (count * count > 8 * homes.mask) return;
    for (int turn = 0; turn < 1000; ++turn) {
      std::bitset<Homes::most_slots> taken;
      std::size_t k = 0;
      for (; k < count; ++k) {
        const std::size_t slot = homes.first(order.leave(kinds[k].key));
        if (taken[slot]) break;
        taken.set(slot);
        kinds[k].slot = static_cast<std::uint32_t>(slot);
      }
      if (k == count) break;
      homes.factor = homes.factor * 0xd1342543de82ef95u | 1;
    }
    homes.clear();
    for (std::size_t k = 0; k < count; ++k) {
      const Key key = order.leave(kinds[k].key);
      const std::size_t slot = homes.first(key);
      kinds[k].slot = static_cast<std::uint32_t>(slot);
      homes.keys[slot] = key;
    }
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
};

}  // namespace kradix::impl
