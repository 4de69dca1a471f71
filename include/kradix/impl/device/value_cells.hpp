// Cells of equal width in value, for floats: the usual ones do not spread over their topmost bits, half of those from 0 to 1
// share an exponent, but where they spread over their values no cells are as even.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "kradix/impl/backend/lanes.hpp"
#include "kradix/impl/device/digit.hpp"
#include "kradix/impl/device/route.hpp"

namespace kradix::impl {

/// Floats whose bits are all there is to know of them. (Of 4 bytes, many of which are the same where there are many, cells would
/// have to be counted by value.)
template <class Codec>
inline constexpr bool may_be_cut_by_value = false;
template <>
inline constexpr bool may_be_cut_by_value<TotalOrderCodec<std::uint64_t>> = true;

/// With values, which tell equal floats apart, sweeps over the digits of cells keep the order.
template <class Codec, class Value>
inline constexpr bool may_be_swept_by_value = false;
template <class Word, class Value>
inline constexpr bool may_be_swept_by_value<TotalOrderCodec<Word>, Value> = sizeof(Word) >= 4;
template <class Word, class Value>
inline constexpr bool may_be_swept_by_value<WordCodec<Word, true>, Value> =
    sizeof(Word) >= 4 && !std::is_same_v<Value, NoValue>;

/// The least and the greatest code that lanes of a group hold.
template <class Bits>
struct CodeEnds {
  Bits least, greatest;

  template <class L, int Count>
  KOKKOS_FUNCTION static CodeEnds of(const Bits (&codes)[Count]) {
    CodeEnds ends{codes[0], codes[0]};
    KRADIX_UNROLL
    for (int i = 1; i < Count; ++i) {
      ends.least = codes[i] < ends.least ? codes[i] : ends.least;
      ends.greatest = codes[i] > ends.greatest ? codes[i] : ends.greatest;
    }
    return {L::least(ends.least), static_cast<Bits>(~L::least(static_cast<Bits>(~ends.greatest)))};
  }
};

template <class Word>
using float_of = std::conditional_t<sizeof(Word) == 8, double, float>;

template <class Word>
KOKKOS_INLINE_FUNCTION float_of<Word> value_of_bits(Word key) {
  return Kokkos::bit_cast<float_of<Word>>(key);
}
template <class Codec>
KOKKOS_INLINE_FUNCTION auto value_of_code(const Codec& codec, typename Codec::bits_type code) {
  if constexpr (Codec::tells_all_keys_apart) {
    return value_of_bits(codec.decode(code));
  } else {
    return value_of_bits(codec.decode_to_any(code));
  }
}

/// Which of so many steps of equal width from one value to another is the nearest: a difference, and a product and a sum rounded
/// once, whose last bits are a whole number. That never turns an order round, whatever it rounds.
template <class Float>
struct ValueSteps {
  Float first, scale;

  /// There is room for so many more bits in a float with a bit in the first two places of a whole number.
  static constexpr int most_bits = sizeof(Float) == 8 ? 32 : 22;
  static constexpr Float whole = sizeof(Float) == 8 ? Float(6755399441055744.0) : Float(12582912);

  KOKKOS_FUNCTION static ValueSteps between(Float first, Float last, int bits) {
    const auto steps = static_cast<Float>((std::uint32_t{1} << bits) - 2);
    return {first, steps / (last - first)};
  }
  /// Are the ends numbers, not too far from each other, nor too near?
  KOKKOS_FUNCTION bool exist() const {
    constexpr Float far = sizeof(Float) == 8 ? Float(1e300) : Float(1e37f);
    const Float size = Kokkos::abs(scale);
    return size > 1 / far && size < far;
  }
  /// (Rounded once, by name: every kernel must have the same, whatever else a compiler might join.)
  KOKKOS_FUNCTION std::uint32_t of(Float value) const {
    using Word = unsigned_of_size<sizeof(Float)>;
    const Float sum = Kokkos::fma(value - first, scale, whole);
    return static_cast<std::uint32_t>(Kokkos::bit_cast<Word>(sum));
  }
};

/// Of so many keys that spread evenly from one value to another, those that have one value, where floats lie farthest apart.
template <class Float>
KOKKOS_FUNCTION float keys_of_a_value(Float first, Float last, float count) {
  using Word = unsigned_of_size<sizeof(Float)>;
  constexpr int mantissa = sizeof(Float) == 8 ? 52 : 23;
  const Float one = Kokkos::abs(first), other = Kokkos::abs(last);
  const auto bits = Kokkos::bit_cast<Word>(one > other ? one : other);
  const auto power = Kokkos::bit_cast<Float>(static_cast<Word>(bits >> mantissa << mantissa));
  return count * static_cast<float>(power / Kokkos::abs(last - first)) /
         static_cast<float>(std::uint64_t{1} << mantissa);
}

/// The cell of a key. What lies beyond the ends is of the first cell or the last, and what is no number comes last, as in total
/// order.
template <class Word>
struct ValueCells {
  using Float = float_of<Word>;
  using Steps = ValueSteps<Float>;

  Float greatest;  ///< what lies beyond is taken for this, or for the first
  Steps steps;
  std::uint32_t flip;  ///< of falling order

  static constexpr std::uint32_t count = Route::cells;

  /// Between the first code and the last of a sample, if those `exist`.
  template <class Codec>
  KOKKOS_FUNCTION static ValueCells of(const Codec& codec, const Route& route) {
    const Float one = value_of_code(codec, static_cast<Word>(~route.least)),
                other = value_of_code(codec, static_cast<Word>(route.greatest));
    const Float least = one < other ? one : other, greatest = one < other ? other : one;
    return {greatest, Steps::between(least, greatest, Route::cell_bits),
            codec.flip != 0 ? count - 1 : 0};
  }
  KOKKOS_FUNCTION bool exist() const { return steps.first < greatest && steps.exist(); }
  KOKKOS_FUNCTION std::uint32_t of(Word key) const { return of_value(value_of_bits(key)); }
  template <class Codec>
  KOKKOS_FUNCTION std::uint32_t of_code(const Codec& codec, Word code) const {
    return of_value(value_of_code(codec, code));
  }

 private:
  KOKKOS_FUNCTION std::uint32_t of_value(Float value) const {
    return (steps.of(inside(value)) & (count - 1)) ^ flip;
  }
  /// Of what is no number and a number the minimum is the number; comparisons do not hold. (For doubles minima are more steps,
  /// for floats of 4 bytes comparisons are more predicates than ptxas finds room for.)
  KOKKOS_FUNCTION Float inside(Float value) const {
    if constexpr (sizeof(Float) == 4) {
      return Kokkos::fmax(Kokkos::fmin(value, greatest), steps.first);
    } else {
      const Float below = value < greatest ? value : greatest;
      return below > steps.first ? below : steps.first;
    }
  }
};

/// A digit of the number of a key's cell.
template <class Word>
struct ValueReader {
  ValueCells<Word> cells;
  int shift;

  KOKKOS_FUNCTION std::uint32_t of(Word key) const {
    return cells.of(key) >> shift & (bin_count - 1u);
  }
};
/// Do passes that read so move keys as they are?
template <class Reader>
inline constexpr bool reads_keys = false;
template <class Word>
inline constexpr bool reads_keys<ValueReader<Word>> = true;

/// What sweeps by value share: the cells, which are made by the kernel before, and the passes, if there are any.
template <class Word>
struct ValueSweeps {
  ValueCells<Word> cells;
  PassTable passes;
};

/// The number of a key's cell as its code.
template <class Word>
struct ValueCodec {
  using key_type = Word;
  using bits_type = std::uint32_t;
  static constexpr int bits = Route::cell_bits;
  static constexpr bool tells_all_keys_apart = false;

  const ValueCells<Word>* cells;

  struct AtHand {
    ValueCells<Word> cells;
    KOKKOS_FUNCTION bits_type encode(Word key) const { return cells.of(key); }
  };
  KOKKOS_FUNCTION AtHand at_hand() const { return {*cells}; }
  KOKKOS_FUNCTION bits_type encode(Word key) const { return at_hand().encode(key); }
};
template <class Word>
struct DigitReader<ValueCodec<Word>> : ValueReader<Word> {
  KOKKOS_FUNCTION DigitReader(const ValueCodec<Word>& codec, Digit digit)
      : ValueReader<Word>{*codec.cells, digit.shift} {}
};

}  // namespace kradix::impl
