// Keys alone that differ in few bits are counted and written anew, not moved.
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kradix/impl/device/team.hpp"
#include "kradix/impl/host/benches.hpp"
#include "kradix/impl/host/host_level.hpp"

namespace kradix::impl {

/// Which of the keys' bits are counted, and where.
template <class Stored>
struct KeyCounts {
  static constexpr int max_bits = 20, max_word_bits = 16;

  Digit digit;
  Stored others;         ///< the bits that all keys share
  std::uint64_t* start;  ///< counts of whole values, then where each begins, and the end

  std::size_t values() const { return digit.mask + std::size_t{1}; }
  /// More values than words have room for in a core's cache are counted in bytes, each thread's behind `start`.
  bool in_bytes() const { return values() > std::size_t{1} << max_word_bits; }
  std::size_t bytes_to(std::size_t thread) const {
    const std::size_t start_bytes = (values() + 1) * sizeof(std::uint64_t);
    return (start_bytes + line_bytes - 1) / line_bytes * line_bytes + thread * values();
  }
  std::uint8_t* bytes_of(std::size_t thread) const {
    return reinterpret_cast<std::uint8_t*>(start) + bytes_to(thread);
  }
  /// Few values are counted in several sets: equal keys in a row do not wait for each other.
  static constexpr std::size_t sets = 4;
  bool in_sets() const { return values() <= 1 << 10; }
  std::size_t counters() const { return in_sets() ? sets * values() : values(); }
  Stored key(std::size_t value) const {
    return static_cast<Stored>(others |
                               static_cast<Stored>(static_cast<Stored>(value) << digit.shift));
  }

  /// Where keys of a sample differ in few bits; the digit has no values where they do not.
  template <class Bits>
  static KeyCounts of(Bits reference, Bits differing, std::uint64_t* memory) {
    KeyCounts counts{{0, 0}, 0, memory};
    if (differing == 0) return counts;
    while ((differing >> counts.digit.shift & 1) == 0) ++counts.digit.shift;
    const int width = bit_width_of(differing) - counts.digit.shift;
    if (width > max_bits) return counts;
    counts.digit.mask = static_cast<unsigned>(low_mask<std::uint32_t>(width));
    const Bits field = static_cast<Bits>(Bits{counts.digit.mask} << counts.digit.shift);
    counts.others = static_cast<Stored>(reference & static_cast<Bits>(~field));
    return counts;
  }
};

/// Each thread counts blocks; the verdict is `escaped` where a key differs elsewhere.
template <class Level, class Stored>
struct CountKeys {
  Level level;
  BenchSite benches;
  KeyCounts<Stored> counts;
  static constexpr std::size_t sets = KeyCounts<Stored>::sets;

  void operator()(std::size_t thread) const {
    if (counts.in_bytes()) return count_in_bytes(counts.bytes_of(thread));
    auto* const own =
        reinterpret_cast<std::uint32_t*>(benches.bench<typename Level::Rec>(thread).a);
    const std::size_t used = counts.counters();
    std::fill_n(own, used, 0u);
    std::size_t counted = 0;
    level.for_each_block([&](std::size_t begin, std::size_t end) {
      if (!count(own, begin, end)) level.judge(Level::State::escaped);
      counted += end - begin;
      if (counted >> 31 == 0) return;  // a counter holds twice that
      give(own, used, thread);
      counted = 0;
    });
    give(own, used, thread);
  }

  /// A byte that turns over has counted 256.
  void count_in_bytes(std::uint8_t* own) const {
    std::fill_n(own, counts.values(), std::uint8_t{0});
    level.for_each_block([&](std::size_t begin, std::size_t end) {
      if (!count(own, begin, end)) level.judge(Level::State::escaped);
    });
  }

  /// Counts a stretch while it is near; false if a key is none of the values.
  template <class Counter>
  bool count(Counter* own, std::size_t begin, std::size_t end) const {
    constexpr std::size_t stretch = 4096 / sizeof(Stored);
    const auto uncounted = static_cast<Stored>(
        ~static_cast<Stored>(static_cast<Stored>(counts.digit.mask) << counts.digit.shift));
    const bool may_escape = uncounted != 0 || Level::OrderType::has_special;
    for (std::size_t at = begin; at < end; at += stretch) {
      const auto* const keys = level.source.keys + at;
      const std::size_t size = std::min(stretch, end - at);
      if (may_escape && escapes(keys, size, uncounted)) return false;
      count_stretch(own, keys, size);
    }
    return true;
  }

  bool escapes(const Stored* keys, std::size_t size, Stored uncounted) const {
    const auto order = level.order;
    const auto others = counts.others;
    Stored differing = 0, special = 0;
    for (std::size_t i = 0; i < size; ++i) {
      differing = static_cast<Stored>(differing | (order.enter(keys[i]) ^ others));
      if constexpr (Level::OrderType::has_special) {
        special = static_cast<Stored>(special | order.special(keys[i]));
      }
    }
    return (differing & uncounted) != 0 || special >> (8 * sizeof(Stored) - 1) != 0;
  }

  void count_stretch(std::uint8_t* own, const Stored* keys, std::size_t size) const {
    const auto order = level.order;
    const Digit digit = counts.digit;
    for (std::size_t i = 0; i < size; ++i) {
      const std::size_t value = digit.of(order.bits(order.enter(keys[i])));
      if (++own[value] == 0) Kokkos::atomic_add(&counts.start[value], std::uint64_t{256});
    }
  }

  void count_stretch(std::uint32_t* own, const Stored* keys, std::size_t size) const {
    const auto order = level.order;
    const Digit digit = counts.digit;
    const std::size_t step = counts.in_sets() ? counts.values() : 0;
    std::size_t i = 0;
    for (; i + sets <= size; i += sets) {
      for (std::size_t set = 0; set < sets; ++set) {
        ++own[set * step + digit.of(order.bits(order.enter(keys[i + set])))];
      }
    }
    for (; i < size; ++i) ++own[digit.of(order.bits(order.enter(keys[i])))];
  }

  /// Adds what a thread counted to what all did; each thread begins elsewhere.
  void give(std::uint32_t* own, std::size_t used, std::size_t thread) const {
    const std::size_t values = counts.values();
    for (std::size_t i = 0; i < used; ++i) {
      const std::size_t at = (i + used / level.threads * thread) % used;
      if (own[at] == 0) continue;
      Kokkos::atomic_add(&counts.start[at % values], std::uint64_t{own[at]});
      own[at] = 0;
    }
  }
};

/// What was counted in bytes, added up: each thread takes its share of the values.
template <class Level>
struct AddBytes {
  Level level;
  KeyCounts<typename Level::Stored> counts;

  void operator()(std::size_t thread) const {
    const std::size_t values = counts.values();
    const Share mine = share_of(values, (values + level.threads - 1) / level.threads, thread);
    for (std::size_t t = 0; t < level.threads; ++t) {
      const std::uint8_t* const bytes = counts.bytes_of(t);
      for (std::size_t v = mine.begin; v < mine.end; ++v) counts.start[v] += bytes[v];
    }
  }
};

/// Writes each value as often as it was counted.
template <class Level>
struct ExpandCounts {
  Level level;
  KeyCounts<typename Level::Stored> counts;

  void operator()(std::size_t) const {
    const std::uint64_t* const start = counts.start;
    level.for_each_block([&](std::size_t begin, std::size_t end) {
      const std::uint64_t* const after =
          std::upper_bound(start, start + counts.values() + 1, std::uint64_t{begin});
      auto value = static_cast<std::size_t>(after - start) - 1;
      for (std::size_t at = begin; at < end; ++value) {
        const auto until = std::min<std::size_t>(start[value + 1], end);
        const auto key = level.order.leave(counts.key(value));
        write_objects(level.sink.keys + at, until - at, level.sink.streams,
                      [=](std::size_t) { return key; });
        at = until;
      }
    });
    settle_lines();
  }
};

}  // namespace kradix::impl
