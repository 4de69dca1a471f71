// Where a key of one of the kinds that a sample holds is looked for.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace kradix::impl {

/// Each kind has one of two slots beside each other, so that a look at either needs no branch. A kind that finds both taken
/// has none: its keys are of the rest.
template <class Key>
struct KindHomes {
  static constexpr int most_bits = 13;
  static constexpr std::size_t most_slots = std::size_t{1} << most_bits;

  Key* keys;  ///< end() of them
  std::size_t mask;
  std::uint64_t factor = 0x9e3779b97f4a7c15u;

  /// For a sample of so many keys.
  static KindHomes of(Key* keys, std::size_t size) { return {keys, end_of(size) - 2}; }
  /// The last slot may be somebody's second.
  std::size_t end() const { return mask + 2; }
  static std::size_t end_of(std::size_t size) {
    return std::min(most_slots, 2 * std::bit_ceil(size)) + 1;
  }

  std::size_t first(Key key) const {
    return static_cast<std::size_t>(key * factor >> (64 - most_bits)) & mask;
  }

  /// Slots of no kind hold keys that are not looked for there.
  void clear() const {
    std::fill_n(keys, end(), Key{0});
    const std::size_t of_zero = first(0);
    Key other = 1;
    while (first(other) + 1 >= of_zero && first(other) <= of_zero + 1) ++other;
    keys[of_zero] = keys[of_zero + 1] = other;
  }

  /// A slot for a key, by `times` that each slot's kind was seen; end() if there is none.
  std::size_t settle(Key key, const std::uint32_t* times) const {
    for (std::size_t slot = first(key); slot <= first(key) + 1; ++slot) {
      if (times[slot] != 0 && keys[slot] != key) continue;
      keys[slot] = key;
      return slot;
    }
    return end();
  }
};

}  // namespace kradix::impl
