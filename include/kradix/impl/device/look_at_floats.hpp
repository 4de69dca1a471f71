// What a sample of floats tells beside runs: its ends, and which cells are about even.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "kradix/impl/backend/lanes.hpp"
#include "kradix/impl/device/pieces.hpp"
#include "kradix/impl/device/route.hpp"
#include "kradix/impl/device/team_scan.hpp"
#include "kradix/impl/device/value_cells.hpp"

namespace kradix::impl {

/// Codecs of floats whose bits are all there is to know of them.
template <class Codec>
inline constexpr bool may_be_looked_at = false;
template <class Word>
inline constexpr bool may_be_looked_at<TotalOrderCodec<Word>> = sizeof(Word) >= 4;

/// At the ends: rare floats have exponents that a glance at few does not see. If pieces are wanted, at cells by value, too, and
/// by pieces, which get theirs.
template <class ExecutionSpace, class Codec, int Threads>
struct LookAtFloats {
  using Bits = typename Codec::bits_type;
  using Team = TeamMember<ExecutionSpace>;
  using L = Lanes<ExecutionSpace>;
  using Places = PiecePlaces<Bits>;
  static constexpr std::uint32_t groups = 1024;  ///< of cells, that are counted together
  /// Of scratch.
  static constexpr int words = 2 * Places::count > groups + 1 ? 2 * Places::count : groups + 1;

  Codec codec;
  Pieces* pieces;   ///< or null
  int cell_bits;    ///< of the number of their cells
  int narrow_bits;  ///< of codes in a cell where keys are (0: any)
  ValueCells<typename Codec::key_type>* by_value = nullptr;  ///< where sweeps find them, if any
  float count = 0, most_alike = 0;  ///< all keys, and how many of one value there may be then

  /// By each thread of a team, its samples.
  template <int Count>
  KOKKOS_FUNCTION void see(int thread, const Bits (&codes)[Count], Route* route) const {
    const auto ends = CodeEnds<Bits>::template of<L>(codes);
    if (L::lane(thread) != 0) return;
    Kokkos::atomic_max(&route->least, static_cast<std::uint64_t>(static_cast<Bits>(~ends.least)));
    Kokkos::atomic_max(&route->greatest, static_cast<std::uint64_t>(ends.greatest));
  }

  /// By one team, at some.
  KOKKOS_FUNCTION void operator()(const Team& team, const Bits* shown, int size, Route* route,
                                  std::uint32_t* counts) const {
    if (pieces == nullptr && by_value == nullptr) return;
    if (by_value != nullptr || may_be_cut_by_value<Codec>) {
      look_at_values(team, shown, size, route, counts);
    }
    if constexpr (may_be_cut<ExecutionSpace, Codec>) {
      if (pieces == nullptr) return;
      if (team.team_rank() == 0) place_windows(*route);
      look_at_pieces(team, shown, size, route, counts);
    }
  }

 private:
  KOKKOS_FUNCTION void look_at_values(const Team& team, const Bits* shown, int size, Route* route,
                                      std::uint32_t* counts) const {
    const auto cells = ValueCells<typename Codec::key_type>::of(codec, *route);
    if (!cells.exist()) return;
    if (by_value != nullptr) {
      const float same = keys_of_a_value(cells.steps.first, cells.greatest, count);
      if (!(same < most_alike)) return;
    }
    const auto of = [&](Bits code) { return cells.of_code(codec, code); };
    const float sharing = sharing_of(team, shown, size, Route::cell_bits, of, counts);
    if (team.team_rank() != 0) return;
    route->sharing_by_value = sharing;
    if (by_value != nullptr) *by_value = cells;
  }
  KOKKOS_FUNCTION void look_at_pieces(const Team& team, const Bits* shown, int size, Route* route,
                                      std::uint32_t* counts) const {
    if (!share_cells(team, shown, size, counts)) return;
    const PieceCells<Bits> cells{Places::of(codec, pieces), 0, pieces->piece};
    const auto of = [&](Bits code) { return cells.of(code); };
    const float sharing = sharing_of(team, shown, size, cell_bits, of, counts);
    if (team.team_rank() == 0) route->sharing_by_pieces = sharing;
  }

  KOKKOS_FUNCTION static void clear(const Team& team, std::uint32_t count, std::uint32_t* counts) {
    team.team_barrier();
    for (auto i = static_cast<std::uint32_t>(team.team_rank()); i < count; i += Threads) {
      counts[i] = 0;
    }
    team.team_barrier();
  }

  /// Square sum of the shares of cells, for one thread.
  template <class Of>
  KOKKOS_FUNCTION static float sharing_of(const Team& team, const Bits* shown, int size, int bits,
                                          const Of& of, std::uint32_t* counts) {
    const int thread = team.team_rank(), group_bits = bits - (bit_width_of(groups) - 1);
    clear(team, groups + 1, counts);
    for (int i = thread; i < size; i += Threads) L::increment(&counts[of(shown[i]) >> group_bits]);
    team.team_barrier();
    std::uint32_t pairs = 0;
    for (auto i = static_cast<std::uint32_t>(thread); i < groups; i += Threads) {
      pairs += counts[i] * (counts[i] - 1);
    }
    pairs = L::from_last(L::scan(pairs, L::lane(thread)) + pairs);
    if (L::lane(thread) == 0) L::add(&counts[groups], pairs);
    team.team_barrier();
    const auto all = static_cast<float>(size);
    return static_cast<float>(counts[groups] + 1) / (all * (all - 1)) * groups /
           static_cast<float>(1 << bits);
  }

  /// Up to what lies farthest from zero on either side, and somewhat beyond.
  KOKKOS_FUNCTION void place_windows(const Route& route) const {
    if constexpr (sizeof(Bits) > 4) {
      constexpr std::uint32_t piece = 1u << Places::rest_bits, beyond = 2 * piece;
      const std::uint32_t zero = Places::zero_of(codec);
      const std::uint64_t first = (~route.least >> 32) / piece * piece;
      const std::uint64_t end = ((route.greatest >> 32) / piece + 1) * piece + beyond;
      pieces->base[0] =
          first < zero && first > beyond ? static_cast<std::uint32_t>(first - beyond) : 0;
      pieces->base[1] = end > zero + std::uint64_t{Places::window}
                            ? static_cast<std::uint32_t>(end - Places::window)
                            : zero;
    }
  }

  /// Each piece has as many as its cells are narrow with, and a share of the others. False if those are too few.
  KOKKOS_FUNCTION bool share_cells(const Team& team, const Bits* shown, int size,
                                   std::uint32_t* counts) const {
    const int thread = team.team_rank();
    clear(team, Places::count, counts);
    const PieceCells<Bits> cells{Places::of(codec, pieces), 0, nullptr};
    for (int i = thread; i < size; i += Threads) L::increment(&counts[cells.piece_of(shown[i])]);
    team.team_barrier();
    std::uint32_t* const own = counts + Places::count;
    const Run run = run_of<Threads>(Places::count, thread);
    std::uint32_t sum = 0, weights = 0;
    for (int p = run.begin; p < run.end; ++p) {
      sum += own[p] = least_cells(p, counts);
      weights += weight_of(p, counts);
    }
    const std::uint32_t all = 1u << cell_bits, given = scan_team<Threads>(team, sum).total;
    if (given > all / 2) return false;
    const std::uint32_t others = all - given;
    const std::uint64_t all_weights = scan_team<Threads>(team, weights).total;
    sum = 0;
    for (int p = run.begin; p < run.end; ++p) {
      const std::uint64_t share = std::uint64_t{others} * weight_of(p, counts) / all_weights;
      sum += own[p] += static_cast<std::uint32_t>(share);
    }
    std::uint32_t first = scan_team<Threads>(team, sum).before;
    for (int p = run.begin; p < run.end; ++p) {
      pieces->piece[p] = Piece::of(first, own[p]);
      first += own[p];
    }
    return true;
  }

  /// Keys in a piece, by those of the sample in it, or beside it: a few may be missed by chance.
  KOKKOS_FUNCTION static std::uint32_t weight_of(int piece, const std::uint32_t* counts) {
    constexpr std::uint32_t missed = 8;
    const std::uint32_t own = 8 * counts[piece];
    std::uint32_t beside = 0;  // four: half as much as they have is expected at least
    for (int p = piece - 2; p <= piece + 2; ++p) {
      if (p != piece && p >= 0 && p < Places::count) beside += counts[p];
    }
    if (beside > 8 * missed) beside = 8 * missed;
    return own > beside ? own : beside;
  }

  /// A sample may have missed those of a piece. Narrow are the cells of pieces in which or near which it has keys.
  KOKKOS_FUNCTION std::uint32_t least_cells(int piece, const std::uint32_t* counts) const {
    constexpr std::uint32_t missed = 8;
    if (narrow_bits == 0) return missed;
    const std::uint32_t narrow = 1u << (Places::rest_bits - narrow_bits);
    constexpr int to_zero = 24, from_zero = 4;  // six exponents, and one
    const int zero = static_cast<int>(codec.encode(0) >> Places::rest_bits);
    const int begin = piece - (piece < zero ? to_zero : from_zero);
    const int end = piece + (piece < zero ? from_zero : to_zero);
    for (int p = begin > 0 ? begin : 0; p <= end && p < Places::count; ++p) {
      if (counts[p] != 0) return narrow;
    }
    return 1;
  }
};

}  // namespace kradix::impl
