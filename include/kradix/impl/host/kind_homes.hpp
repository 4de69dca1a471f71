// Where a key of one of the kinds that a sample holds is looked for.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kradix/impl/device/digit.hpp"

namespace kradix::impl {

/// Each kind has one of two slots beside each other, so that a look at either needs no branch. A kind that finds both taken
/// has none: its keys are of the rest.
template <class Key>
struct KindHomes {
  static constexpr int least_bits = 4, most_bits = 13;
  static constexpr std::size_t most_slots = std::size_t{1} << most_bits;
  static constexpr int bits_in_registers = sizeof(Key) <= 4 ? 7 : 6;  ///< eight, of 64 bytes

  Key* keys;  ///< end() of them
  int bits;   ///< of a slot
  std::uint64_t factor = 0x9e3779b97f4a7c15u;

  /// For a sample of so many keys.
  static KindHomes of(Key* keys, std::size_t size) { return {keys, bits_for(2 * size)}; }
  /// The last slot may be somebody's second.
  std::size_t end() const { return (std::size_t{1} << bits) + 1; }
  static std::size_t end_of(std::size_t size) { return KindHomes::of(nullptr, size).end(); }
  /// For so many slots, if there are as many.
  static int bits_for(std::size_t slots) {
    return std::clamp(bit_width_of<std::uint64_t>(slots - 1), least_bits, most_bits);
  }

  /// Of 4 bytes and less by a product of as many bits as SIMD multiplies.
  using Hash = std::conditional_t<sizeof(Key) <= 4, std::uint32_t, std::uint64_t>;
  static constexpr int hash_bits = 8 * sizeof(Hash);
  Hash hash_factor() const { return static_cast<Hash>(factor >> (64 - hash_bits)) | 1; }
  std::size_t first(Key key) const {
    Hash hash = key;
    hash ^= hash >> hash_bits / 2;  // a product has nothing of the topmost bits but in its own
    return static_cast<Hash>(hash * hash_factor()) >> (hash_bits - bits);
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
