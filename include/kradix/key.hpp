/// What a key is: its order, the bits that count, and how a user's type becomes bits.
#pragma once

#include <Kokkos_BitManipulation.hpp>
#include <Kokkos_Core.hpp>
#include <Kokkos_Half.hpp>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kradix/impl/words.hpp"

namespace kradix {

/// Ascending order is that of `<`; descending is its mirror (equal keys still keep their input order
/// wherever stability is promised).
enum class Order : std::uint8_t { ascending, descending };

/// Bits [begin, end) of the *encoded* key take part in the order, the others only travel.
/// Bit 0 is the least significant; `end = BitRange::all` means every bit of the key.
struct BitRange {
  static constexpr int all = -1;
  int begin = 0;
  int end = all;
  friend bool operator==(const BitRange&, const BitRange&) = default;
};

/// An IEEE 754 half by its bits, a key on every machine (Kokkos' half_t is float where there is no half).
struct float16_bits {
  std::uint16_t bits;
};

/// A bfloat16 by its bits, a key on every machine.
struct bfloat16_bits {
  std::uint16_t bits;
};

namespace impl {

enum class KeyKind { unsupported, unsigned_integer, signed_integer, floating };

template <class T>
KOKKOS_FUNCTION constexpr KeyKind key_kind() {
  if constexpr (std::is_enum_v<T>) {
    return key_kind<std::underlying_type_t<T>>();
  } else if constexpr (std::is_integral_v<T>) {
    return std::is_signed_v<T> ? KeyKind::signed_integer : KeyKind::unsigned_integer;
  } else if constexpr (is_int128<T>) {
    // <type_traits> knows the 128-bit integers only in GNU mode.
    return T(-1) < T(0) ? KeyKind::signed_integer : KeyKind::unsigned_integer;
  } else if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double> ||
                       std::is_same_v<T, Kokkos::Experimental::half_t> ||
                       std::is_same_v<T, Kokkos::Experimental::bhalf_t> ||
                       std::is_same_v<T, float16_bits> || std::is_same_v<T, bfloat16_bits>) {
    return KeyKind::floating;
  } else {
    return KeyKind::unsupported;
  }
}

template <class T>
concept builtin_key = key_kind<T>()
!= KeyKind::unsupported;

template <class T>
inline constexpr bool is_bfloat16 = std::is_same_v<T, bfloat16_bits> ||
                                    (std::is_same_v<T, Kokkos::Experimental::bhalf_t> &&
                                     !std::is_same_v<T, float>);

/// The bits of +infinity: an exponent of ones over a mantissa of zeros.
template <class T>
KOKKOS_FUNCTION constexpr unsigned_of_size<sizeof(T)> infinity_bits() {
  using Word = unsigned_of_size<sizeof(T)>;
  constexpr int mantissa = is_bfloat16<T> ? 7 : sizeof(T) == 2 ? 10 : sizeof(T) == 4 ? 23 : 52;
  constexpr Word all_but_sign = static_cast<Word>(static_cast<Word>(~Word{0}) >> 1);
  return static_cast<Word>((all_but_sign >> mantissa) << mantissa);
}

/// The bits of floats as words in their order, each float's its own: all bits of negative ones flip, of others the sign.
/// Negative NaNs are lowest, then −infinity, … −0, +0, … +infinity, and positive NaNs.
template <class Word>
KOKKOS_FUNCTION constexpr Word float_in_order(Word word) {
  constexpr int bits = 8 * sizeof(Word);
  constexpr Word sign = static_cast<Word>(Word{1} << (bits - 1));
  const Word negative = static_cast<Word>(Word{0} - static_cast<Word>(word >> (bits - 1)));
  return static_cast<Word>(word ^ static_cast<Word>(negative | sign));
}
template <class Word>
KOKKOS_FUNCTION constexpr Word float_of_order(Word in_order) {
  constexpr int bits = 8 * sizeof(Word);
  constexpr Word sign = static_cast<Word>(Word{1} << (bits - 1));
  const Word positive = static_cast<Word>(Word{0} - static_cast<Word>(in_order >> (bits - 1)));
  return static_cast<Word>(in_order ^ static_cast<Word>(static_cast<Word>(~positive) | sign));
}

/// Order-preserving bits of a built-in key given as a word: integers flip their sign bit, floats flip
/// all bits when negative; −0 equals +0, and every NaN lies above +infinity and equals every other.
/// `flip` carries the sign bit of signed integers and the mask of descending order at run time, so
/// that all integers of one width, in either order, share their kernels.
template <class Word, bool Floating>
struct WordCodec {
  using key_type = Word;
  using bits_type = unsigned_of_bits<8 * sizeof(Word)>;
  static constexpr int bits = 8 * sizeof(Word);
  static constexpr bool tells_all_keys_apart = !Floating;
  static constexpr Word sign = static_cast<Word>(Word{1} << (bits - 1));

  Word flip;
  Word infinity;  ///< only read when Floating: tells half from bfloat16

  KOKKOS_FUNCTION constexpr bits_type encode(Word word) const {
    if constexpr (Floating) {
      const Word magnitude = static_cast<Word>(word & static_cast<Word>(~sign));
      // Selections, not branches: this runs for every key in every pass.
      word = float_in_order(word);
      word = magnitude == 0 ? sign : word;
      word = magnitude > infinity ? static_cast<Word>(~Word{0}) : word;
    }
    return static_cast<Word>(word ^ flip);
  }
  /// The key of an encoding.
  KOKKOS_FUNCTION constexpr Word decode(bits_type code) const requires(!Floating) {
    return static_cast<Word>(static_cast<Word>(code) ^ flip);
  }
  /// One of the keys of an encoding.
  KOKKOS_FUNCTION constexpr Word decode_to_any(bits_type code) const requires Floating {
    return float_of_order(static_cast<Word>(static_cast<Word>(code) ^ flip));
  }

  /// Has no other key its encoding? Zeros have two, and what is no number has one for all.
  KOKKOS_FUNCTION constexpr bool is_lone(Word word) const requires Floating {
    const Word magnitude = static_cast<Word>(word & static_cast<Word>(~sign));
    return magnitude != 0 && magnitude <= infinity;
  }

  /// Of what `float_in_order` made of a float.
  KOKKOS_FUNCTION constexpr bits_type encode_in_order(Word in_order) const requires Floating {
    const Word apart_from_zero = in_order == negative_zero ? sign : in_order;
    const Word word = is_nan(in_order) ? static_cast<Word>(~Word{0}) : apart_from_zero;
    return static_cast<Word>(word ^ flip);
  }

 private:
  static constexpr Word negative_zero = static_cast<Word>(~sign);
  /// Outside of what lies between the infinities.
  KOKKOS_FUNCTION constexpr bool is_nan(Word in_order) const {
    const auto highest = static_cast<Word>(infinity | sign);
    const auto lowest = static_cast<Word>(~highest);
    return static_cast<Word>(in_order - lowest) > static_cast<Word>(highest - lowest);
  }
};

/// The same order with no two keys equal: −0 comes just before +0, and NaNs after +infinity, positive ones
/// first, by their bits. A sort of keys alone by it gives the same bits whatever the order of its input,
/// and it takes fewer steps. Of floats only.
template <class Word>
struct TotalOrderCodec {
  using key_type = Word;
  using bits_type = unsigned_of_bits<8 * sizeof(Word)>;
  static constexpr int bits = 8 * sizeof(Word);
  static constexpr bool tells_all_keys_apart = true;

  Word flip;
  Word lowest;  ///< the bits of −infinity, in order: negative NaNs lie below, and wrap to the top

  KOKKOS_FUNCTION constexpr bits_type encode(Word word) const {
    return static_cast<Word>(static_cast<Word>(float_in_order(word) - lowest) ^ flip);
  }
  KOKKOS_FUNCTION constexpr Word decode(bits_type code) const {
    return float_of_order(
        static_cast<Word>(static_cast<Word>(static_cast<Word>(code) ^ flip) + lowest));
  }
};

/// Can keys be made anew from their encodings, all of which are keys? Then counting serves for moving.
template <class Codec>
concept invertible_codec = Codec::tells_all_keys_apart &&
                               Codec::bits == 8 * sizeof(typename Codec::key_type) &&
                           requires(const Codec& codec, typename Codec::bits_type code) {
  codec.decode(code);
};

template <class Word>
constexpr TotalOrderCodec<Word> total_order(const WordCodec<Word, true>& codec) {
  constexpr Word sign = static_cast<Word>(Word{1} << (8 * sizeof(Word) - 1));
  return {codec.flip, static_cast<Word>(~static_cast<Word>(codec.infinity | sign))};
}

template <builtin_key T>
using builtin_codec = WordCodec<unsigned_of_size<sizeof(T)>, key_kind<T>() == KeyKind::floating>;

template <builtin_key T>
KOKKOS_FUNCTION constexpr builtin_codec<T> make_builtin_codec(Order order) {
  using Word = unsigned_of_size<sizeof(T)>;
  Word flip = order == Order::descending ? static_cast<Word>(~Word{0}) : Word{0};
  if (key_kind<T>() == KeyKind::signed_integer) {
    flip = static_cast<Word>(flip ^ static_cast<Word>(Word{1} << (8 * sizeof(T) - 1)));
  }
  if constexpr (key_kind<T>() == KeyKind::floating) {
    return {flip, infinity_bits<T>()};
  } else {
    return {flip, 0};
  }
}

}  // namespace impl

/// The order of a key type, as a map to unsigned bits: `a` sorts before `b` exactly when
/// `encode(a) < encode(b)`, and keys whose bits are equal are equal. Only digits are read from it;
/// the keys themselves move whole, so `encode` need not be invertible.
///
/// Built-in keys have it: bool, characters, integers of 8 to 128 bits, enums, float, double, Kokkos'
/// half_t and bhalf_t, float16_bits, bfloat16_bits. Give a type of your own by specialising it:
/// \code
/// struct Ghost { int cell; std::uint32_t id; double mass; };
/// template <> struct kradix::KeyCodec<Ghost> {
///   KOKKOS_FUNCTION static auto encode(const Ghost& g) { return kradix::key_bits(g.cell, g.id); }
/// };
/// \endcode
/// `encode` must be callable in kernels and return an unsigned integer of 8 to 128 bits; a
/// `static constexpr int bits` may say that only so many low bits are ever set. The type must be
/// trivially copyable.
template <class T>
struct KeyCodec;

template <class T>
  requires impl::builtin_key<T>
struct KeyCodec<T> {
  KOKKOS_FUNCTION static auto encode(T key) {
    return impl::make_builtin_codec<T>(Order::ascending)
        .encode(Kokkos::bit_cast<impl::unsigned_of_size<sizeof(T)>>(key));
  }
  static constexpr int bits = 8 * sizeof(T);
};

namespace impl {

template <class T>
using encoded_type = std::remove_cvref_t<decltype(KeyCodec<T>::encode(std::declval<const T&>()))>;

template <class T>
KOKKOS_FUNCTION constexpr int key_bit_count() {
  if constexpr (requires { KeyCodec<T>::bits; }) {
    return KeyCodec<T>::bits;
  } else {
    return 8 * sizeof(encoded_type<T>);
  }
}

template <class T>
concept key = std::is_trivially_copyable_v<T> && requires(const T& value) {
  KeyCodec<T>::encode(value);
};

/// A user's codec with the order folded in.
template <class T>
struct UserCodec {
  using key_type = T;
  static constexpr int bits = key_bit_count<T>();
  using bits_type = unsigned_of_bits<bits>;
  static constexpr bool tells_all_keys_apart = false;

  bits_type flip;

  KOKKOS_FUNCTION bits_type encode(const T& value) const {
    return static_cast<bits_type>(KeyCodec<T>::encode(value)) ^ flip;
  }
};

/// Low bits set, all others clear.
template <class Bits>
KOKKOS_FUNCTION constexpr Bits low_mask(int bits) {
  return bits >= static_cast<int>(8 * sizeof(Bits)) ? static_cast<Bits>(~Bits{0})
                                                    : static_cast<Bits>((Bits{1} << bits) - 1);
}

template <class T>
auto make_codec(Order order) {
  if constexpr (builtin_key<T>) {
    return make_builtin_codec<T>(order);
  } else {
    using Codec = UserCodec<T>;
    using Bits = typename Codec::bits_type;
    return Codec{order == Order::descending ? low_mask<Bits>(Codec::bits) : Bits{0}};
  }
}

template <class T>
using codec_of = decltype(make_codec<T>(Order::ascending));

/// What kernels see of a key type: a word where it is built in, the type itself otherwise.
template <class T>
using key_word = typename codec_of<T>::key_type;

}  // namespace impl

/// Bits of a composite key: the encodings of its fields side by side, the first the most
/// significant, so that it orders as std::tuple would. At most 128 bits together.
template <class... Fields>
KOKKOS_FUNCTION auto key_bits(const Fields&... fields) {
  constexpr int total = (impl::key_bit_count<Fields>() + ...);
  static_assert(total <= 128, "kradix::key_bits: the fields have more than 128 bits together");
  using Bits = impl::unsigned_of_bits<total>;
  Bits bits = 0;
  if constexpr (sizeof...(Fields) == 1) {
    ((bits = static_cast<Bits>(KeyCodec<Fields>::encode(fields))), ...);
  } else {
    ((bits = static_cast<Bits>((bits << impl::key_bit_count<Fields>()) |
                               static_cast<Bits>(KeyCodec<Fields>::encode(fields)))),
     ...);
  }
  return bits;
}

}  // namespace kradix
