// How often each of few kinds of keys comes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace kradix::impl {

/// A table of which hardly any key has its slot taken.
template <class Key>
struct KindTable {
  static constexpr int slot_bits = 12;
  static constexpr std::size_t slots = std::size_t{1} << slot_bits, most = 512;
  /// A table's part of a bench's records.
  static constexpr std::size_t bytes = slots * (sizeof(Key) + sizeof(std::uint32_t));

  Key* keys;
  std::uint32_t* counts;  ///< 0: the slot is free
  std::size_t used = 0;

  static KindTable in(std::byte* memory) {
    auto* const keys = reinterpret_cast<Key*>(memory);
    return {keys, reinterpret_cast<std::uint32_t*>(keys + slots)};
  }
  void clear() {
    std::fill_n(counts, slots, 0u);
    used = 0;
  }

  static std::size_t home(Key key) {
    return static_cast<std::size_t>(key * 0x9e3779b97f4a7c15u >> (64 - slot_bits));
  }

  /// Counts a key that lies where it is looked for first; false of others.
  bool add_at_home(Key key) const {
    const std::size_t slot = home(key);
    if (keys[slot] != key || counts[slot] == 0) return false;
    ++counts[slot];
    return true;
  }

  /// True if it is the first of its kind.
  bool add(Key key, std::uint32_t times) {
    std::size_t slot = home(key);
    while (counts[slot] != 0) {
      if (keys[slot] == key) {
        counts[slot] += times;
        return false;
      }
      slot = (slot + 1) % slots;
    }
    keys[slot] = key;
    counts[slot] = times;
    ++used;
    return true;
  }

  /// As another thread left it.
  void count_used() { used = slots - std::count(counts, counts + slots, 0u); }

  /// False if they are too many together.
  bool add_all(const KindTable& other) {
    for (std::size_t slot = 0; slot < slots; ++slot) {
      if (other.counts[slot] != 0) add(other.keys[slot], other.counts[slot]);
      if (used > slots / 2) return false;
    }
    return true;
  }

  /// Were kinds seen once no more than kinds seen twice, but for chance? Then few were missed.
  bool is_complete() const {
    constexpr std::ptrdiff_t by_chance = 8;
    return std::count(counts, counts + slots, 1u) <=
           std::count(counts, counts + slots, 2u) + by_chance;
  }
};

}  // namespace kradix::impl
