// A few kinds of keys that make up much of all: found in a sample, and told from the light ones by a table.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "kradix/impl/device/digit.hpp"
#include "kradix/impl/words.hpp"

namespace kradix::impl {

/// In device memory, made by the team that samples. Keys alone need no slots here.
template <class Key>
struct HeavyKinds {
  static constexpr int most = 63, slot_bits = 11, factors = 8;

  /// Light keys have the code 0, and slots that are free hold it.
  struct alignas(2 * sizeof(Key)) Slot {
    Key key;
    std::uint32_t code;
  };
  Slot slots[1 << slot_bits];
  std::uint64_t factor;  ///< by which each heavy key finds a slot of its own
  Key sorted[most];
  std::uint32_t codes[most];  ///< of these: 1, 2, ..., or 0 of one that has no slot and stays light
  Key heaviest;               ///< of keys alone it needs no slot
  PassTable taking;           ///< the pass that takes them out with their values
  std::uint64_t counted;      ///< teams that have counted them, alone

  /// The factors are tried one after the other.
  KOKKOS_FUNCTION static std::uint64_t factor_of(int trial) {
    return (0x9e3779b97f4a7c15u + static_cast<std::uint64_t>(trial) * 0xd1342543de82ef94u) | 1;
  }
  KOKKOS_FUNCTION static std::uint32_t slot_of(Key key, std::uint64_t factor) {
    using Word = unsigned_of_bits<8 * sizeof(Key)>;
    const auto mine = static_cast<Word>(factor >> (64 - 8 * sizeof(Word)) | 1);
    return static_cast<std::uint32_t>(static_cast<Word>(Word{key} * mine) >>
                                      (8 * sizeof(Word) - slot_bits));
  }
};

/// Encodes a key as one of these kinds, or as light. Plain loads: the table does not change for as long as anyone
/// encodes, and a processor keeps it at hand.
template <class Key>
struct HeavyReader {
  const HeavyKinds<Key>* heavy;
  std::uint64_t factor;

  KOKKOS_FUNCTION std::uint32_t encode(Key key) const {
    const auto slot = heavy->slots[HeavyKinds<Key>::slot_of(key, factor)];
    return slot.key == key ? slot.code : 0;
  }
};

/// The codec of such codes, whose table is made by the kernel before.
template <class Key>
struct HeavyCodec {
  using key_type = Key;
  using bits_type = std::uint32_t;
  static constexpr int bits = digit_bits;
  static constexpr bool tells_all_keys_apart = false;
  static_assert(HeavyKinds<Key>::most < bin_count);

  const HeavyKinds<Key>* heavy;

  KOKKOS_FUNCTION HeavyReader<Key> at_hand() const { return {heavy, heavy->factor}; }
  KOKKOS_FUNCTION bits_type encode(Key key) const { return at_hand().encode(key); }
};

/// The code is the digit.
template <class Key>
struct DigitReader<HeavyCodec<Key>> {
  HeavyReader<Key> codec;

  KOKKOS_FUNCTION DigitReader(const HeavyCodec<Key>& codec_, Digit) : codec(codec_.at_hand()) {}
  KOKKOS_FUNCTION std::uint32_t of(Key key) const { return codec.encode(key); }
};

}  // namespace kradix::impl
