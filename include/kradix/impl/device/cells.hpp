// Keys counted by their topmost varying bits, two digits at once: where the bins of two passes in no order begin.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kradix/impl/backend/lanes.hpp"
#include "kradix/impl/device/count_shorts.hpp"
#include "kradix/impl/device/digit.hpp"
#include "kradix/impl/device/pieces.hpp"
#include "kradix/impl/device/place_bins.hpp"
#include "kradix/impl/device/route.hpp"
#include "kradix/impl/device/value_cells.hpp"

namespace kradix::impl {

/// The cells of a sort: keys of a cell agree in two digits. As the codec of their own numbers, for those that place them.
struct Cells {
  static constexpr int bits = Route::cell_bits, count = Route::cells;

  /// What each team adds to all cells is what their count costs beside one read: as short as it may be.
  using Counter = std::uint32_t;
  static constexpr std::size_t most_keys = std::numeric_limits<Counter>::max();

  KOKKOS_FUNCTION static std::uint32_t decode(std::uint32_t cell) { return cell; }
};

/// Keys that are words and may be counted by cells.
template <class Codec>
inline constexpr bool may_have_cells =
    may_be_kind<Codec>&& std::is_unsigned_v<typename Codec::key_type> &&
    sizeof(typename Codec::key_type) >= 4;

/// And of which, in their cells, codes are all there is to know.
template <class Codec>
inline constexpr bool may_have_suffixes = may_have_cells<Codec>&& invertible_codec<Codec>;

/// What is left to know of keys in their cells, at most 16 bits of each, at the end of the array in which the keys will
/// lie: a key is written over suffixes of keys before it, or its own.
///
/// So the array is cut: its first half, half of what is left, and so on. Keys of a part may be written as soon as the
/// suffixes of all parts before are read; those of the last have a copy.
struct Suffixes {
  using Suffix = std::uint16_t;
  static constexpr int most_bits = 16;

  std::size_t count = 0;   ///< of keys
  Suffix* copy = nullptr;  ///< of the last part
  std::size_t most_copied = room;

  /// What those who read them tell each other; all zero at first.
  struct State {
    static constexpr int most_parts = 33;
    std::uint64_t drawn, copied;     ///< cells, and shares of what is copied
    std::uint64_t read[most_parts];  ///< suffixes of each part
    std::uint64_t counted, wide;     ///< teams that have counted cells; keys of wide ones
  };
  static constexpr std::size_t room = Cells::count * sizeof(Cells::Counter) / sizeof(Suffix);

  KOKKOS_FUNCTION std::size_t end_of_part(std::size_t begin) const {
    return count - begin > most_copied ? begin + (count - begin) / 2 : count;
  }
  template <class Key>
  KOKKOS_FUNCTION Suffix* in(Key* keys) const {
    return reinterpret_cast<Suffix*>(keys + count) - count;
  }
};

/// Of cells by pieces: suffixes are the last bits of codes, and say how far a code is from the least of its cell. Codes of cells
/// too wide for that, where the sample found none, have a place of their own.
template <class Bits>
struct PieceArrays {
  Pieces* pieces = nullptr;
  int cell_bits = 0;      ///< of the number of cells
  Bits* least = nullptr;  ///< code of each cell, and of what follows the last
  Bits* wide = nullptr;   ///< codes of wide cells
  std::size_t most_wide = 0;

  static constexpr bool leave_suffixes = sizeof(Bits) == 4;
  KOKKOS_FUNCTION int shift() const { return Route::cell_bits - cell_bits; }
  template <class Codec>
  KOKKOS_FUNCTION PieceCells<Bits> cells(const Codec& codec, const Piece* copy) const {
    return {PiecePlaces<Bits>::of(codec, pieces), shift(), copy};
  }
  static constexpr std::size_t room_for_least = Route::cells + 2;

  KOKKOS_FUNCTION static bool is_wide(Bits least, Bits next) {
    return static_cast<Bits>(next - least - 1) >> Suffixes::most_bits != 0;
  }
};

/// Which cell a key belongs to, by bits below `top`. One that varies from the first above tells the route so.
template <class ExecutionSpace, class Codec>
struct CellOfKey {
  using Word = typename Codec::key_type;
  using Bits = typename Codec::bits_type;
  using L = Lanes<ExecutionSpace>;

  Codec codec;
  int top;
  Bits above;  ///< the first key's
  Route* route;

  KOKKOS_FUNCTION static CellOfKey of(const Codec& codec, const Word& first, Route* route) {
    const int top = route->top;
    return {codec, top, static_cast<Bits>(codec.encode(first) & ~low_mask<Bits>(top)), route};
  }
  KOKKOS_FUNCTION std::uint32_t operator()(const Word& key) const {
    const auto differ = static_cast<Bits>(codec.encode(key) ^ above);
    if (differ > low_mask<Bits>(top)) tell(differ);
    return static_cast<std::uint32_t>(differ >> (top - Cells::bits)) & (Cells::count - 1u);
  }

 private:
  KOKKOS_FUNCTION void tell(Bits differ) const {
    const auto seen = static_cast<std::uint64_t>(differ & ~low_mask<Bits>(top));
    if ((seen & ~L::load(&route->varying[0])) != 0) Kokkos::atomic_or(&route->varying[0], seen);
  }
};

/// The same, by value.
struct ValueCellOfKey {
  using Word = std::uint64_t;

  ValueCells<Word> cells;

  KOKKOS_FUNCTION std::uint32_t operator()(const Word& key) const { return cells.of(key); }
};

/// Or by pieces.
template <class Codec>
struct PieceCellOfKey {
  using Word = typename Codec::key_type;

  Codec codec;
  PieceCells<typename Codec::bits_type> cells;

  KOKKOS_FUNCTION std::uint32_t operator()(const Word& key) const {
    return cells.of(codec.encode(key));
  }
};

/// Where the route spreads keys twice: how many each cell holds.
template <class ExecutionSpace, class Codec, TeamShape Shape>
struct CountCells {
  using Key = typename Codec::key_type;
  using Bits = typename Codec::bits_type;
  using L = Lanes<ExecutionSpace>;
  using Cell = CellOfKey<ExecutionSpace, Codec>;
  template <class Of>
  using CountBy = CountShorts<ExecutionSpace, Shape, Of, Cells::Counter>;
  using Team = TeamMember<ExecutionSpace>;

  WideArray<const Key> keys;
  Codec codec;
  std::size_t share;  ///< packs of a team
  Route* route;
  Cells::Counter* counts;  ///< [cell], zero
  PieceArrays<Bits> arrays;
  Suffixes::State* state;

  static std::size_t scratch_bytes() {
    return CountBy<Cell>::scratch_bytes() + sizeof(std::uint64_t);
  }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    if (!route->spreads_by_cells()) return;
    if constexpr (may_be_cut_by_value<Codec>) {
      if (route->spreads == Route::by_value) {
        count_by(team, ValueCellOfKey{ValueCells<Key>::of(codec, *route)});
        return;
      }
    }
    if constexpr (may_be_cut<ExecutionSpace, Codec>) {
      if (route->is_by_pieces()) {
        count_by_pieces(team);
        return;
      }
    }
    const Cell cell = Cell::of(codec, keys.at(0), route);
    if (team.league_rank() == 0 && team.team_rank() == 0) route->above = cell.above;
    count_by(team, cell);
  }

 private:
  /// (No cell has many keys, where a sample found them to spread.)
  template <class Of>
  KOKKOS_FUNCTION void count_by(const Team& team, const Of& of,
                                std::size_t held = CountBy<Of>::most_held) const {
    constexpr std::uint32_t few_others = 6;
    CountBy<Of>{keys, share, counts, of, held, few_others}(team);
  }
  KOKKOS_FUNCTION void count_by_pieces(const Team& team) const {
    using OfKey = PieceCellOfKey<Codec>;
    count_by(team, OfKey{codec, arrays.cells(codec, arrays.pieces->piece)},
             CountBy<OfKey>::most_held / 2 >> arrays.shift());
    if constexpr (PieceArrays<Bits>::leave_suffixes) {
      auto& word = *take_scratch<std::uint64_t>(team, 1);
      if (!leaves_last(team, &state->counted, team.league_size(), word)) return;
      look_at_wide_cells(team);
    }
  }
  /// Wide cells are those alone in their pieces.
  KOKKOS_FUNCTION void look_at_wide_cells(const Team& team) const {
    const Pieces& pieces = *arrays.pieces;
    std::uint64_t wide = 0;
    for (int p = team.team_rank(); p < PiecePlaces<Bits>::count; p += Shape.threads) {
      const Piece piece = pieces.piece[p];
      if (piece.cells() == 1) wide += L::load(&counts[piece.first() << arrays.shift()]);
    }
    wide = scan_team<Shape.threads>(team, wide).total;
    if (team.team_rank() == 0 && wide > arrays.most_wide) route->too_wide = 1;
  }
};

/// Then where each begins, and the bins of the first pass.
template <class ExecutionSpace, class Codec, TeamShape Shape>
struct PlaceCells {
  using Bits = typename Codec::bits_type;
  using Place = PlaceBins<ExecutionSpace, Cells, Shape, Cells::Counter>;
  using Team = TeamMember<ExecutionSpace>;
  static constexpr int tiles = Place::tiles;

  const Route* route;
  const PassTable* passes;
  TileSums sums;
  const Cells::Counter* counts;
  std::uint64_t* cells;  ///< where each begins
  std::uint64_t* bins;   ///< [row][bin]
  PieceArrays<Bits> arrays;
  Suffixes::State* state;

  static std::size_t scratch_bytes() { return Place::scratch_bytes(); }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    if (!route->spreads_by_cells()) return;
    const Place place{{}, counts, sums, cells};
    const std::uint32_t tile = place.draw(team);
    place.place(team, tile);
    std::uint64_t* const firsts = bins + passes->row[0] * bin_count;
    for (int i = 0; i < Shape.items; ++i) {
      const std::uint32_t cell = (tile * Shape.threads + team.team_rank()) * Shape.items + i;
      if (cell % bin_count == 0) firsts[cell / bin_count] = cells[cell];
      if constexpr (may_be_cut<ExecutionSpace, Codec> && PieceArrays<Bits>::leave_suffixes) {
        if (route->is_by_pieces()) tell_codes(cell);
      }
    }
  }

 private:
  KOKKOS_FUNCTION void tell_codes(std::uint32_t cell) const {
    Pieces& pieces = *arrays.pieces;
    const std::uint32_t number = cell >> arrays.shift(), step = 1u << arrays.shift();
    if (cell % step != 0) return;
    arrays.least[cell] = static_cast<Bits>(least_code(pieces, number));
    if (cell + step == Cells::count) {
      arrays.least[Cells::count] = static_cast<Bits>(least_code(pieces, number + 1));
    }
    const int p = piece_of_cell(pieces, number);
    if (counts[cell] == 0 || pieces.piece[p].cells() > 1) return;
    const std::uint64_t at = Kokkos::atomic_fetch_add(&state->wide, std::uint64_t{counts[cell]});
    pieces.wide_at[p] = static_cast<std::uint32_t>(at);
  }
};

}  // namespace kradix::impl
