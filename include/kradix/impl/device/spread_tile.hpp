// One digit pass over keys alone that need not keep the order of the keys in a bin.
//
// No tile waits for another: the keys of a tile rank themselves by counting in scratch, and the tile takes
// room in every bin by one atomic addition. Equal additions queue up in scratch, so where keys side by side share
// their digits those of a bin in a group of lanes are counted together.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "kradix/impl/backend/lanes.hpp"
#include "kradix/impl/buffers.hpp"
#include "kradix/impl/device/cells.hpp"
#include "kradix/impl/device/digit.hpp"
#include "kradix/impl/device/pieces.hpp"
#include "kradix/impl/device/route.hpp"
#include "kradix/impl/device/spread_steps.hpp"
#include "kradix/impl/device/team.hpp"
#include "kradix/impl/device/tiling.hpp"
#include "kradix/impl/device/value_cells.hpp"

namespace kradix::impl {

/// The first pass of a sort, a team for each tile, in no order. Or the second (`Within`), over the next digit inside the
/// bins of the first: most tiles lie in one of them; of others the part in each bin has a team of its own.
template <class ExecutionSpace, class Codec, TeamShape Shape, bool Within = false>
struct SpreadTile {
  using Key = typename Codec::key_type;
  using Team = TeamMember<ExecutionSpace>;
  using L = Lanes<ExecutionSpace>;
  static constexpr int threads = Shape.threads, items = Shape.items, tile_size = threads * items;
  using Steps = SpreadSteps<ExecutionSpace, Shape>;
  using Tiles = Tiling<tile_size>;
  static constexpr int pass = Within ? 1 : 0;
  using Moving = Moved<Codec>;
  using Reader = typename Moving::Reader;
  using Bits = typename Codec::bits_type;
  static constexpr bool may_leave_suffixes = Within && may_have_suffixes<Codec>;
  static_assert(!Moving::some_are_special, "this keeps no order of equal keys");
  static constexpr std::uint32_t ends_of_bins = 2 * bin_count;
  static std::size_t teams_within(const Tiles& tiling) { return ends_of_bins + tiling.tiles(); }

  PassBuffers<Key> keys;
  Codec codec;
  Tiles tiling;
  const PassTable* passes;
  std::uint64_t* bins;   ///< [row][bin]: the next free place
  std::uint64_t* cells;  ///< [bin of the first pass][bin]: the same of the second
  const Route* route;    ///< is there a second?
  PieceArrays<Bits> arrays = {};
  Suffixes suffixes = {};  ///< of all keys, then

  struct CopyOfPieces {
    Piece piece[PiecePlaces<Bits>::count];
  };
  struct Nothing {};
  struct Scratch {
    Key keys[tile_size];
    std::uint64_t base[bin_count];   ///< place in the output less place in the tile
    std::uint32_t first[bin_count];  ///< counts, then first place in the tile
    std::uint32_t sums[Steps::groups];
    alignas(16) std::conditional_t<may_be_cut<ExecutionSpace, Codec>, CopyOfPieces, Nothing> copy;
  };
  static std::size_t scratch_bytes() { return sizeof(Scratch); }

  struct Registers {
    Key key[items];
    std::uint32_t rank[items / 2];  ///< packed by two
    template <class Reading>
    KOKKOS_FUNCTION std::uint32_t bin_of(const Reading& reader, int i) const {
      return reader.of(key[i]);
    }
  };

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    Scratch& scratch = *take_scratch<Scratch>(team, 1);
    const auto tile = static_cast<std::uint32_t>(team.league_rank());
    if constexpr (Within) {
      spread_within(team, tile, scratch);
    } else {
      const int spreads = route != nullptr ? route->spreads : 0;  // on its way beside what follows
      if (passes->count == 0 || passes->has_moved()) return;
      const Tiles tiling = passes->takes_out ? Tiles::of(passes->elements) : this->tiling;
      if (tiling.ends_before(tile)) return;
      if constexpr (may_be_swept_by_value<Codec, NoValue>) {
        if (Route::is_by_value(spreads)) {
          const int shift = spreads == Route::by_value ? digit_bits : passes->digit[0].shift;
          spread_tile(team, value_reader(shift), tiling, tile, scratch);
          return;
        }
      }
      if constexpr (may_be_cut<ExecutionSpace, Codec>) {
        if (Route::is_by_pieces(spreads)) {
          bring_pieces(team, scratch);
          spread_tile(team, piece_reader(digit_bits, scratch.copy.piece), tiling, tile, scratch);
          return;
        }
      }
      spread_tile(team, Moving::reader(codec, passes->digit[0]), tiling, tile, scratch);
    }
  }

 private:
  KOKKOS_FUNCTION ValueReader<Key> value_reader(int shift) const {
    return {ValueCells<Key>::of(codec, *route), shift};
  }
  KOKKOS_FUNCTION PieceReader<Bits> piece_reader(int shift, const Piece* pieces) const {
    return {arrays.cells(codec, pieces), shift};
  }
  /// They are there when they have been waited for.
  KOKKOS_FUNCTION void bring_pieces(const Team& team, Scratch& scratch) const {
    struct alignas(16) Some {
      Piece piece[4];
    };
    auto* const to = reinterpret_cast<Some*>(scratch.copy.piece);
    const auto* const from = reinterpret_cast<const Some*>(arrays.pieces->piece);
    constexpr int all = PiecePlaces<Bits>::count / 4;
    for (int i = team.team_rank(); i < all; i += threads) L::bring(to + i, from + i);
  }

  template <class Reading>
  KOKKOS_FUNCTION void spread_tile(const Team& team, const Reading& reader, const Tiles& tiling,
                                   std::uint32_t tile, Scratch& scratch) const {
    std::uint64_t* const next = bins + passes->row[0] * bin_count;
    const std::ptrdiff_t begin = tiling.begin_of(tile);
    if (begin >= 0) {
      load_and_spread<true>(team, reader, static_cast<std::size_t>(begin), tile_size, next,
                            scratch);
    } else {
      load_and_spread<false>(team, reader, 0, tile_size + static_cast<int>(begin), next, scratch);
    }
  }

  KOKKOS_FUNCTION void spread_within(const Team& team, std::uint32_t index,
                                     Scratch& scratch) const {
    if (!route->spreads_by_cells()) return;
    if constexpr (may_be_cut_by_value<Codec>) {
      if (route->spreads == Route::by_value) {
        spread_within(team, index, value_reader(0), value_reader(digit_bits), scratch);
        return;
      }
    }
    const auto reader = Moving::reader(codec, passes->digit[pass]);
    const auto top = Moving::reader(codec, passes->digit[0]);
    if constexpr (may_be_cut<ExecutionSpace, Codec>) {
      const bool by_pieces = route->is_by_pieces();
      if (by_pieces) bring_pieces(team, scratch);
      if constexpr (PieceArrays<Bits>::leave_suffixes) {
        const EitherReader either{by_pieces, piece_reader(digit_bits, scratch.copy.piece), top};
        spread_within(team, index, reader, either, scratch);
        return;
      } else if (by_pieces) {
        const Piece* const pieces = scratch.copy.piece;
        spread_within(team, index, piece_reader(0, pieces), piece_reader(digit_bits, pieces),
                      scratch);
        return;
      }
    }
    spread_within(team, index, reader, top, scratch);
  }
  /// What is spread by suffixes made of codes, or by codes, once it lies in registers.
  struct EitherReader {
    bool by_pieces;
    PieceReader<Bits> of_pieces;
    Reader of_digits;

    KOKKOS_FUNCTION std::uint32_t of(Bits code) const {
      return by_pieces ? of_pieces.of(code) : of_digits.of(code);
    }
  };
  /// The first teams take what lies at the ends of the bins of the first pass, the others tiles that lie in one bin.
  template <class Reading, class Top>
  KOKKOS_FUNCTION void spread_within(const Team& team, std::uint32_t index, const Reading& reader,
                                     const Top& top, Scratch& scratch) const {
    if (index < ends_of_bins) {
      const std::uint32_t bin = index / 2;
      const Share part = index % 2 == 0 ? head_of(bin) : tail_of(bin);
      if (part.begin >= part.end) return;
      Registers registers;
      const int size = static_cast<int>(part.end - part.begin);
      load<false, reads_keys<Reading>>(team.team_rank(), part.begin, size, registers);
      prepare<false>(team, top, part.begin, size, registers);
      spread<false>(team, reader, size, cells + bin * bin_count, registers, scratch);
      return;
    }
    const std::ptrdiff_t from = tiling.begin_of(index - ends_of_bins);
    if (from < 0) return;
    const auto begin = static_cast<std::size_t>(from);
    const Key* const in = keys.source(passes->number(pass), passes->all()) + begin;
    Registers registers;
    load<true, reads_keys<Reading>>(team.team_rank(), begin, tile_size, registers);
    await_pieces(team, top);
    const std::uint32_t bin = top.of(in[0]);
    if (bin != top.of(in[tile_size - 1])) return;
    prepare<true>(team, top, begin, tile_size, registers);
    spread<true>(team, reader, tile_size, cells + bin * bin_count, registers, scratch);
  }

  template <class Top>
  KOKKOS_FUNCTION static void await_pieces(const Team& team, const Top& top) {
    bool awaits = reads_pieces<Top>;
    if constexpr (std::is_same_v<Top, EitherReader>) awaits = top.by_pieces;
    if (!awaits) return;
    L::await_brought();
    team.team_barrier();
  }
  template <bool Full, class Top>
  KOKKOS_FUNCTION void prepare(const Team& team, const Top& top, std::size_t begin, int size,
                               Registers& registers) const {
    if constexpr (!Full) await_pieces(team, top);
    if constexpr (std::is_same_v<Top, EitherReader>) {
      if (!top.by_pieces) return;
      const PieceReader<Bits> reader{top.of_pieces.cells, 0};
      make_suffixes<Full>(team.team_rank(), reader, begin, size, registers);
    }
  }

  /// What a bin has of the tile in which it begins, if that began before.
  KOKKOS_FUNCTION Share head_of(std::uint32_t bin) const {
    const Share whole = bin_of(bin);
    const std::size_t end = begin_of_tile_at(whole.begin + (tile_size - 1));
    return {whole.begin, end < whole.end ? end : whole.end};
  }
  /// And of the one in which it ends before that does.
  KOKKOS_FUNCTION Share tail_of(std::uint32_t bin) const {
    const std::size_t end = bin_of(bin).end, head = head_of(bin).end;
    const std::size_t begin = begin_of_tile_at(end);
    return {begin > head ? begin : head, end};
  }
  KOKKOS_FUNCTION Share bin_of(std::uint32_t bin) const {
    const std::uint64_t* const ends = bins + passes->row[0] * bin_count;
    return {bin > 0 ? static_cast<std::size_t>(ends[bin - 1]) : 0,
            static_cast<std::size_t>(ends[bin])};
  }
  /// The last beginning of a tile up to there; 0 if the array begins inside of it.
  KOKKOS_FUNCTION std::size_t begin_of_tile_at(std::size_t place) const {
    const std::size_t begin = (place + tiling.missing) / tile_size * tile_size;
    return begin > tiling.missing ? begin - tiling.missing : 0;
  }

  template <bool Full, class Reading>
  KOKKOS_FUNCTION void load_and_spread(const Team& team, const Reading& reader, std::size_t begin,
                                       int size, std::uint64_t* next, Scratch& scratch) const {
    Registers registers;
    load<Full, reads_keys<Reading>>(team.team_rank(), begin, size, registers);
    spread<Full>(team, reader, size, next, registers, scratch);
  }

  template <bool Full, class Reading>
  KOKKOS_FUNCTION void spread(const Team& team, const Reading& reader, int size,
                              std::uint64_t* next, Registers& registers, Scratch& scratch) const {
    const int thread = team.team_rank();
    for (int bin = thread; bin < bin_count; bin += threads) scratch.first[bin] = 0;
    if constexpr (reads_pieces<Reading>) L::await_brought();
    Steps::template sort<Full>(team, reader, size, Steps::room_at(next), scratch, registers);
    scatter<Full>(thread, reader, size, scratch);
  }

  /// Of codes: a code's digit above its last bits, by which no two of a narrow cell are the same. Those of wide ones, which
  /// are alone in their pieces, are kept as they are.
  template <bool Full>
  KOKKOS_FUNCTION void make_suffixes(int thread, const PieceReader<Bits>& reader, std::size_t begin,
                                     int size, Registers& registers) const {
    constexpr Bits all = (Bits{1} << Suffixes::most_bits) - 1;
    std::uint32_t wide[(items + 31) / 32] = {};  // a bit for each item
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      const bool exists = Full || i * threads + thread < size;
      const Bits code = registers.key[i];
      wide[i / 32] |= exists && reader.cells.is_alone(code) ? 1u << i % 32 : 0;
      registers.key[i] = static_cast<Bits>(reader.of(code) << Suffixes::most_bits | (code & all));
      if (i % 4 == 3) L::settle_memory();
    }
    const Key* const in = keys.source(passes->number(pass), passes->all()) + begin + thread;
    KRADIX_UNROLL
    for (int w = 0; w < (items + 31) / 32; ++w) {
      KRADIX_ROLLED
      for (std::uint32_t left = wide[w]; left != 0; left &= left - 1) {
        const int item = 32 * w + bit_width_of(left & (0u - left)) - 1;
        const Bits code = in[item * threads];
        std::uint32_t* const next = &arrays.pieces->wide_at[reader.cells.piece_of(code)];
        arrays.wide[Kokkos::atomic_fetch_add(next, 1u)] = code;
      }
    }
  }

  template <bool Full, bool AsTheyAre>
  KOKKOS_FUNCTION void load(int thread, std::size_t begin, int size, Registers& registers) const {
    const Key* const in = keys.source(passes->number(pass), passes->all()) + begin;
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      const int place = i * threads + thread;
      registers.key[i] = in[Full || place < size ? place : 0];
    }
    if constexpr (Moving::are_codes && pass == 0 && !AsTheyAre) {
      KRADIX_UNROLL
      for (int i = 0; i < items; ++i) registers.key[i] = Moving::encode(codec, registers.key[i]);
    }
  }

  template <bool Full, class Reading>
  KOKKOS_FUNCTION void scatter(int thread, const Reading& reader, int size,
                               const Scratch& scratch) const {
    if (may_leave_suffixes && route->leaves_suffixes()) {
      scatter_suffixes<Full>(thread, reader, size, scratch);
    } else if (Moving::are_codes && !reads_keys<Reading> && pass == passes->count - 1) {
      scatter_keys<Full, Moving::are_codes>(thread, reader, size, scratch);
    } else {
      scatter_keys<Full, false>(thread, reader, size, scratch);
    }
  }

  template <bool Full, class Reading>
  KOKKOS_FUNCTION void scatter_suffixes(int thread, const Reading& reader, int size,
                                        const Scratch& scratch) const {
    if constexpr (may_leave_suffixes) {
      Key* const array = keys.destination(passes->number(pass), passes->all());
      Suffixes::Suffix* const out = suffixes.in(array) + thread;
      const std::uint32_t mask = (1u << passes->digit[pass].shift) - 1;
      KRADIX_UNROLL
      for (int i = 0; i < items; ++i) {
        const int place = i * threads + thread;
        if (Full || place < size) {
          const Key key = scratch.keys[place];
          const auto code = static_cast<std::uint32_t>(Moving::are_codes ? key : codec.encode(key));
          (out + scratch.base[reader.of(key)])[i * threads] =
              static_cast<Suffixes::Suffix>(code & mask);
        }
        if (i % 4 == 3) L::settle_memory();
      }
    }
  }
  /// Makes keys of codes.
  template <bool Full, bool Decode, class Reading>
  KOKKOS_FUNCTION void scatter_keys(int thread, const Reading& reader, int size,
                                    const Scratch& scratch) const {
    Key* const out = keys.destination(passes->number(pass), passes->all_and_counting()) + thread;
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      const int place = i * threads + thread;
      if (Full || place < size) {
        const Key key = scratch.keys[place];
        Key* const to = out + scratch.base[reader.of(key)];
        if constexpr (Decode) {
          to[i * threads] = Moving::decode(codec, key);
        } else {
          to[i * threads] = key;
        }
      }
      if (i % 4 == 3) L::settle_memory();
    }
  }
};

}  // namespace kradix::impl
