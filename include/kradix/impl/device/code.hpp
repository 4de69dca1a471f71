// Codes: what the algorithms for study take digits from. A code is the encoded key, cut to the caller's
// bits, and on request made smaller by the range of the keys present.
#pragma once

#include <Kokkos_Core.hpp>

#include "kradix/key.hpp"
#include "kradix/options.hpp"

namespace kradix::impl {

/// A built-in key's codec with integer or float told at run time: both share their kernels.
template <class Word>
struct StudyCodec {
  using key_type = Word;
  using bits_type = unsigned_of_bits<8 * sizeof(Word)>;
  static constexpr int bits = 8 * sizeof(Word);
  static constexpr bool may_float = sizeof(Word) == 2 || sizeof(Word) == 4 || sizeof(Word) == 8;

  Word flip, infinity;
  bool floating;

  KOKKOS_FUNCTION bits_type encode(Word word) const {
    if constexpr (may_float) {
      if (floating) return WordCodec<Word, true>{flip, infinity}.encode(word);
    }
    return WordCodec<Word, false>{flip, 0}.encode(word);
  }
  /// The integer key of an encoding.
  KOKKOS_FUNCTION Word decode(bits_type encoded) const {
    return WordCodec<Word, false>{flip, 0}.decode(encoded);
  }
};

/// The linear map of finite floats in [least, greatest] to the numbers from 0.5 to 1, whose bits less
/// those of 0.5 are 24 (of f64: 53) bits.
template <class Word>
struct FloatMap {
  static constexpr bool exists = sizeof(Word) == 4 || sizeof(Word) == 8;
  using Float = std::conditional_t<sizeof(Word) == 4, float, double>;
  static constexpr int mantissa = sizeof(Word) == 4 ? 23 : 52;
  static constexpr int bits = mantissa + 1;
  // Beside the 2^mantissa + 1 numbers: one place below for -infinity, two above for +infinity and NaN.
  static constexpr Word most =
      exists ? static_cast<Word>((Word{1} << (exists ? mantissa : 0)) + 3) : 0;

  Word least, greatest;  ///< as words

  KOKKOS_FUNCTION Word of(Word word, Word infinity) const {
    constexpr Word sign = static_cast<Word>(Word{1} << (8 * sizeof(Word) - 1));
    const Word magnitude = static_cast<Word>(word & static_cast<Word>(~sign));
    if (magnitude > infinity) return most;
    if (magnitude == infinity) return word & sign ? Word{0} : static_cast<Word>(most - 1);
    // Halves where the span would not be finite. Every step is monotone.
    const Float low = Kokkos::bit_cast<Float>(least), high = Kokkos::bit_cast<Float>(greatest);
    const Float scale = high - low <= Kokkos::Experimental::finite_max_v<Float> ? 1 : Float(0.5);
    const Float span = high * scale - low * scale;
    const Float above = Kokkos::bit_cast<Float>(word) * scale - low * scale;
    const Float share = span > 0 ? above / span : Float{0};
    return static_cast<Word>(Kokkos::bit_cast<Word>(Float(0.5) + Float(0.5) * share) -
                             Kokkos::bit_cast<Word>(Float(0.5)) + 1);
  }
};

/// What the device learns about the range of the keys.
template <class Word>
struct CodeRange {
  using Bits = typename StudyCodec<Word>::bits_type;
  Bits low;               ///< subtracted from every code
  FloatMap<Word> floats;  ///< of RangeMap::approximate
};

/// Which codes a call sorts by: the caller's bits, and how ranges are mapped.
template <class Word>
struct CodeRule {
  using Bits = typename StudyCodec<Word>::bits_type;
  StudyCodec<Word> codec;
  Bits mask;  ///< of the caller's bits
  int begin;  ///< the lowest of them
  RangeMap map;

  /// Before the range is known.
  KOKKOS_FUNCTION Bits plain(Word word) const { return (codec.encode(word) & mask) >> begin; }

  KOKKOS_FUNCTION Bits of(Word word, const CodeRange<Word>& range) const {
    if constexpr (FloatMap<Word>::exists) {
      if (map == RangeMap::approximate) {
        const Word ascending = range.floats.of(word, codec.infinity);
        return codec.flip ? FloatMap<Word>::most - ascending : ascending;
      }
    }
    return plain(word) - range.low;
  }
};

/// Takes the digit of one pass from key after key.
template <class Word>
struct CodeReader {
  CodeRule<Word> rule;
  CodeRange<Word> range;
  int shift;
  std::uint32_t mask;

  KOKKOS_FUNCTION std::uint32_t of(Word word) const {
    return static_cast<std::uint32_t>(rule.of(word, range) >> shift) & mask;
  }
};

}  // namespace kradix::impl
