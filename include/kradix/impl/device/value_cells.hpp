// Cells of equal width in value, for doubles: the usual ones do not spread over their topmost bits, half of those from 0 to 1
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
template <class Codec>
inline constexpr bool has_value_cells = may_be_cut_by_value<Codec>;
template <>
inline constexpr bool has_value_cells<WordCodec<std::uint64_t, true>> = true;
template <class Codec, class Value>
inline constexpr bool may_be_swept_by_value = has_value_cells<Codec> &&
                                              (may_be_cut_by_value<Codec> ||
                                               !std::is_same_v<Value, NoValue>);

KOKKOS_INLINE_FUNCTION double value_of_bits(std::uint64_t key) {
  return Kokkos::bit_cast<double>(key);
}
template <class Codec>
KOKKOS_INLINE_FUNCTION double value_of_code(const Codec& codec, std::uint64_t code) {
  if constexpr (Codec::tells_all_keys_apart) {
    return value_of_bits(codec.decode(code));
  } else {
    return value_of_bits(codec.decode_to_any(code));
  }
}

/// The cell of a key: a product and a sum rounded once, whose last bits are a whole number. That never turns an order round,
/// whatever it rounds. What lies beyond the ends is of the first cell or the last, and what is no number comes last, as in
/// total order.
struct ValueCells {
  double least, greatest;  ///< or somebody else's: all that lies outside is taken for these
  double scale, offset;
  std::uint32_t flip;  ///< of falling order

  static constexpr std::uint32_t count = Route::cells;

  /// Between the first code and the last of a sample; `exists()` tells if those are numbers, not too near or too far.
  template <class Codec>
  KOKKOS_FUNCTION static ValueCells of(const Codec& codec, const Route& route) {
    const double one = value_of_code(codec, ~route.least),
                 other = value_of_code(codec, route.greatest);
    const double least = one < other ? one : other, greatest = one < other ? other : one;
    // A whole number that a double of 2^52 to 2^53 has room for; the outermost cells are for what is rounded.
    constexpr double whole = 6755399441055744.0;
    const double scale = (count - 3) / (greatest - least);
    // (Rounded once, by name: every kernel must have the same, whatever else a compiler might join.)
    const double offset = Kokkos::fma(-least, scale, whole + 1);
    return {least, greatest, scale, offset, codec.flip != 0 ? count - 1 : 0};
  }
  KOKKOS_FUNCTION bool exists() const {
    constexpr double far = 1e15;
    const double first = least * scale;
    return least < greatest && greatest - least < 1e300 && first > -far && first < far;
  }
  KOKKOS_FUNCTION std::uint32_t of(std::uint64_t key) const { return of_value(value_of_bits(key)); }
  template <class Codec>
  KOKKOS_FUNCTION std::uint32_t of_code(const Codec& codec, std::uint64_t code) const {
    return of_value(value_of_code(codec, code));
  }

 private:
  KOKKOS_FUNCTION std::uint32_t of_value(double value) const {
    // Comparisons with what is no number do not hold.
    const double below = value < greatest ? value : greatest,
                 inside = below > least ? below : least;
    const double sum = Kokkos::fma(inside, scale, offset);
    return (static_cast<std::uint32_t>(Kokkos::bit_cast<std::uint64_t>(sum)) & (count - 1)) ^ flip;
  }
};

/// A digit of the number of a key's cell.
struct ValueReader {
  ValueCells cells;
  int shift;

  template <class Key>
  KOKKOS_FUNCTION std::uint32_t of(const Key& key) const {
    return cells.of(key) >> shift & (bin_count - 1u);
  }
};
/// Do passes that read so move keys as they are?
template <class Reader>
inline constexpr bool reads_keys = false;
template <>
inline constexpr bool reads_keys<ValueReader> = true;

/// What sweeps by value share: the cells, which are made by the kernel before, and the passes, if there are any.
struct ValueSweeps {
  ValueCells cells;
  PassTable passes;
};

/// The number of a key's cell as its code.
struct ValueCodec {
  using key_type = std::uint64_t;
  using bits_type = std::uint32_t;
  static constexpr int bits = Route::cell_bits;
  static constexpr bool tells_all_keys_apart = false;

  const ValueCells* cells;

  struct AtHand {
    ValueCells cells;
    KOKKOS_FUNCTION bits_type encode(key_type key) const { return cells.of(key); }
  };
  KOKKOS_FUNCTION AtHand at_hand() const { return {*cells}; }
  KOKKOS_FUNCTION bits_type encode(key_type key) const { return at_hand().encode(key); }
};
template <>
struct DigitReader<ValueCodec> : ValueReader {
  KOKKOS_FUNCTION DigitReader(const ValueCodec& codec, Digit digit)
      : ValueReader{*codec.cells, digit.shift} {}
};

}  // namespace kradix::impl
