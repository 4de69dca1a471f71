// Cells by pieces, for floats: the usual ones do not spread over their topmost bits, half of those from 0 to 1 share an
// exponent, but do so over cells of which each piece of their range has as many as a sample finds keys there.
//
// The pieces are a model of how keys are distributed, linear in each, as in Kristo et al., "The case for a learned sorting
// algorithm" (SIGMOD 2020). Within an exponent codes are linear in value.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "kradix/impl/device/digit.hpp"
#include "kradix/impl/device/route.hpp"

namespace kradix::impl {

/// Floats whose bits are all there is to know of them, where teams have room for pieces beside a tile.
template <class ExecutionSpace, class Codec>
inline constexpr bool may_be_cut = false;
template <class ExecutionSpace, class Word>
inline constexpr bool may_be_cut<ExecutionSpace, TotalOrderCodec<Word>> =
    sizeof(Word) >= 4 && (has_room_for_long_tiles || is_host_space<ExecutionSpace>);

/// Cells that lie side by side: the first, and how many.
struct Piece {
  std::uint32_t word;

  KOKKOS_FUNCTION static Piece of(std::uint32_t first, std::uint32_t cells) {
    return {first | cells << 16};
  }
  KOKKOS_FUNCTION std::uint32_t first() const { return word & 0xffffu; }
  KOKKOS_FUNCTION std::uint32_t cells() const { return word >> 16; }
};

/// Pieces of the same number of codes each.
struct Pieces {
  static constexpr int most = 1 << 11;

  std::uint32_t base[2];  ///< of the windows on long codes: those below zero, and the others
  alignas(16) Piece piece[most];
  /// The next place for a code of a cell for which suffixes are too short.
  std::uint32_t wide_at[most];
};

/// Which piece a code belongs to, and where in it that lies. Of 4 bytes: a quarter of an exponent each.
template <class Bits>
struct PiecePlaces {
  static constexpr int bits = 11, count = 1 << bits;
  static constexpr int rest_bits = 32 - bits;

  template <class Codec>
  KOKKOS_FUNCTION static PiecePlaces of(const Codec&, const Pieces*) {
    return {};
  }
  /// Rising: the piece, and above `rest_bits` less of that.
  KOKKOS_FUNCTION std::uint32_t operator()(Bits code) const { return code; }
};

/// Of 8 bytes: an eighth of an exponent each, of as many as there are pieces for on either side of zero, up to the
/// greatest that a sample holds. The first and the last hold what lies beyond, too. Upper halves of codes tell.
template <>
struct PiecePlaces<std::uint64_t> {
  static constexpr int bits = 9, count = 1 << bits;
  static constexpr int rest_bits = 17, window_bits = rest_bits + bits - 1;
  static constexpr std::uint32_t window = 1u << window_bits;

  std::uint32_t base[2], zero;

  template <class Codec>
  KOKKOS_FUNCTION static std::uint32_t zero_of(const Codec& codec) {
    return static_cast<std::uint32_t>(codec.encode(0) >> 32);
  }
  template <class Codec>
  KOKKOS_FUNCTION static PiecePlaces of(const Codec& codec, const Pieces* pieces) {
    return {{pieces->base[0], pieces->base[1]}, zero_of(codec)};
  }
  KOKKOS_FUNCTION std::uint32_t operator()(std::uint64_t code) const {
    const auto half = static_cast<std::uint32_t>(code >> 32);
    const bool upper = half >= zero;
    const std::uint32_t first = upper ? base[1] : base[0];
    const std::uint32_t above = (half > first ? half : first) - first;
    return (above < window ? above : window - 1) + (upper ? window : 0);
  }
};

/// The cell of a code, rising. Of fewer cells numbers are multiples.
template <class Bits>
struct PieceCells {
  using Places = PiecePlaces<Bits>;

  Places places;
  int shift;
  const Piece* pieces;

  KOKKOS_FUNCTION std::uint32_t of(Bits code) const {
    const std::uint32_t place = places(code);
    const Piece piece = pieces[place >> Places::rest_bits];
    const std::uint64_t rest = place << (32 - Places::rest_bits);
    return (piece.first() + static_cast<std::uint32_t>(rest * piece.cells() >> 32)) << shift;
  }
  /// Is its cell the only one of its piece?
  KOKKOS_FUNCTION bool is_alone(Bits code) const {
    return pieces[places(code) >> Places::rest_bits].cells() == 1;
  }
  KOKKOS_FUNCTION std::uint32_t piece_of(Bits code) const {
    return places(code) >> Places::rest_bits;
  }
};

/// The piece of a cell of codes of 4 bytes, whose number is no multiple here.
KOKKOS_INLINE_FUNCTION int piece_of_cell(const Pieces& pieces, std::uint32_t cell) {
  int low = 0, high = PiecePlaces<std::uint32_t>::count;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    (pieces.piece[middle].first() <= cell ? low : high) = middle;
  }
  return low;
}
/// Its least code; one beyond all codes, of a cell behind all others.
KOKKOS_INLINE_FUNCTION std::uint64_t least_code(const Pieces& pieces, std::uint32_t cell) {
  constexpr int rest_bits = PiecePlaces<std::uint32_t>::rest_bits;
  const int p = piece_of_cell(pieces, cell);
  const Piece piece = pieces.piece[p];
  const std::uint64_t nth = cell - piece.first();
  if (nth >= piece.cells()) return std::uint64_t{1} << 32;
  const std::uint64_t rest = ((nth << rest_bits) + piece.cells() - 1) / piece.cells();
  return (static_cast<std::uint64_t>(p) << rest_bits) + rest;
}

/// A digit of the number of a code's cell.
template <class Bits>
struct PieceReader {
  PieceCells<Bits> cells;
  int shift;

  KOKKOS_FUNCTION std::uint32_t of(Bits code) const {
    return cells.of(code) >> shift & (bin_count - 1u);
  }
};
template <class Reader>
inline constexpr bool reads_pieces = false;
template <class Bits>
inline constexpr bool reads_pieces<PieceReader<Bits>> = true;

}  // namespace kradix::impl
