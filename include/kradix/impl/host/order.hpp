// How records of a host sort store their keys, and the bits by which they are ordered.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>

#include "kradix/impl/device/digit.hpp"
#include "kradix/impl/host/word_turn.hpp"
#include "kradix/key.hpp"

namespace kradix::impl {

/// Keys are stored as they are and encoded whenever a digit is wanted: right for every key.
template <class Codec>
struct CodecOrder {
  using Key = typename Codec::key_type;
  using Stored = Key;
  using Bits = typename Codec::bits_type;
  static constexpr bool has_special = false;
  static constexpr bool is_encoded = false;

  Codec codec;
  Bits wanted;  ///< the bits of the caller's range

  const Stored& enter(const Key& key) const { return key; }
  const Key& leave(const Stored& key) const { return key; }
  Bits bits(const Stored& key) const { return codec.encode(key); }
  Bits masked(const Stored& key) const { return bits(key) & wanted; }
};

/// Built-in keys are stored encoded, so that no pass encodes again: right where encoding can be undone.
/// That is for all integers, and for floats but −0 (which equals +0) and NaNs (which equal each other).
template <class Word, bool Floating>
struct EncodedOrder {
  using Key = Word;
  using Stored = Word;
  using Bits = unsigned_of_bits<8 * sizeof(Word)>;
  static constexpr bool has_special = Floating;
  static constexpr bool is_encoded = true;
  static constexpr int top = 8 * sizeof(Word) - 1;

  WordCodec<Word, Floating> codec;
  Bits wanted;

  /// Is any key not stored as it is?
  bool changes() const { return Floating || codec.flip != 0; }
  Stored enter(Word word) const {
    if constexpr (Floating) word = flip_signed(word, word);
    return static_cast<Word>(word ^ codec.flip);
  }
  Word leave(Stored stored) const {
    const Word word = static_cast<Word>(stored ^ codec.flip);
    if constexpr (!Floating) return word;
    return flip_signed(word, static_cast<Word>(~word));
  }
  Bits bits(Stored stored) const { return stored; }
  Bits masked(Stored stored) const { return stored & wanted; }

  /// Not zero in its topmost bit if a key is special. Arithmetic that vectors have, no comparisons.
  Word special(Word word) const {
    constexpr Word sign = static_cast<Word>(Word{1} << top);
    const Word from_minus_zero = static_cast<Word>(word ^ sign);
    const Word is_minus_zero = static_cast<Word>((from_minus_zero - 1) & ~from_minus_zero);
    const Word is_nan = static_cast<Word>(codec.infinity - (word & static_cast<Word>(~sign)));
    return static_cast<Word>(is_minus_zero | is_nan);
  }

 private:
  /// All bits where `sign` is negative, else the sign bit.
  static Word flip_signed(Word word, Word sign) {
    const Word negative = static_cast<Word>(Word{0} - static_cast<Word>(sign >> top));
    return static_cast<Word>(word ^
                             static_cast<Word>(negative | static_cast<Word>(Word{1} << top)));
  }
};

/// Floats by their total order are all stored encoded.
template <class Word>
struct EncodedTotalOrder {
  using Key = Word;
  using Stored = Word;
  using Bits = unsigned_of_bits<8 * sizeof(Word)>;
  static constexpr bool has_special = false;
  static constexpr bool is_encoded = true;

  TotalOrderCodec<Word> codec;
  Bits wanted;

  static constexpr bool changes() { return true; }
  Stored enter(Word word) const { return static_cast<Word>(codec.encode(word)); }
  Word leave(Stored stored) const { return codec.decode(stored); }
  Bits bits(Stored stored) const { return stored; }
  Bits masked(Stored stored) const { return stored & wanted; }
};

/// Is nothing of a key outside the caller's range of bits?
template <class Order>
bool all_bits_count(const Order& order) {
  return order.wanted == low_mask<typename Order::Bits>(8 * sizeof(typename Order::Stored));
}

/// How SIMD turns words to their order.
template <class Word>
WordTurn<Word> turn_of(const EncodedOrder<Word, false>& order) {
  return {0, 0, 0, order.codec.flip};
}
template <class Word>
WordTurn<Word> turn_of(const EncodedTotalOrder<Word>& order) {
  return {static_cast<Word>(~Word{0}), static_cast<Word>(Word{1} << (8 * sizeof(Word) - 1)),
          static_cast<Word>(Word{0} - order.codec.lowest), order.codec.flip};
}

/// Is it an order of doubles?
template <class Order>
inline constexpr bool orders_doubles = false;
template <>
inline constexpr bool orders_doubles<EncodedTotalOrder<std::uint64_t>> = true;
template <>
inline constexpr bool orders_doubles<EncodedOrder<std::uint64_t, true>> = true;

/// What doubles are that such an order stores.
struct StoredDoubles {
  std::uint64_t flip, add;
  double operator()(std::uint64_t stored) const {
    return Kokkos::bit_cast<double>(float_of_order<std::uint64_t>((stored ^ flip) + add));
  }
};
inline StoredDoubles stored_doubles(const EncodedOrder<std::uint64_t, true>& order) {
  return {order.codec.flip, 0};
}
inline StoredDoubles stored_doubles(const EncodedTotalOrder<std::uint64_t>& order) {
  return {order.codec.flip, order.codec.lowest};
}

/// May buckets be steps of its words?
template <class Order>
inline constexpr bool takes_steps = Order::is_encoded && (sizeof(typename Order::Stored) == 4 ||
                                                          sizeof(typename Order::Stored) == 8);

/// Bits as they are.
template <class Word>
struct BitsOrder {
  using Stored = Word;
  using Bits = Word;
  static constexpr bool is_encoded = true;
  static constexpr Bits wanted = static_cast<Bits>(~Bits{0});
  Bits bits(Bits bits) const { return bits; }
  Bits masked(Bits bits) const { return bits; }
};

/// The quick order of a codec's keys, or none.
template <class Codec>
struct QuickOrder {
  static constexpr bool exists = false;
  static constexpr bool serves_all = false;
};
template <class Word, bool Floating>
struct QuickOrder<WordCodec<Word, Floating>> {
  static constexpr bool exists = true;
  static constexpr bool serves_all = !Floating;  ///< no key is special
  using type = EncodedOrder<Word, Floating>;
};
template <class Word>
struct QuickOrder<TotalOrderCodec<Word>> {
  static constexpr bool exists = true;
  static constexpr bool serves_all = true;
  using type = EncodedTotalOrder<Word>;
};

}  // namespace kradix::impl
