// The last step of sorts whose tiles were put in order in memory: copy each run to its place.
#pragma once

#include <Kokkos_Core.hpp>

#include "kradix/impl/device/code_pass.hpp"
#include "kradix/impl/device/tile_order.hpp"

namespace kradix::impl {

/// Neighbours of one digit go to neighbouring places, so stores coalesce. `Pass` says by `second_step`
/// what to move; `places` are those of each tile's runs, [bin][tile].
template <class Pass, int Threads>
struct CopySortedTile : Pass {
  using Team = typename Pass::Team;
  const Place* places_of_runs;

  static std::size_t scratch_bytes(int digit_bits, int tile) {
    return (std::size_t{2} << digit_bits) * sizeof(std::uint32_t) +
           static_cast<std::size_t>(tile) * sizeof(std::uint16_t) + 32;
  }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    if (this->idle()) return;
    const int bins = 1 << this->width;
    auto* const begin = take_scratch<std::uint32_t>(team, bins);
    auto* const end = take_scratch<std::uint32_t>(team, bins);
    auto* const digits = take_scratch<std::uint16_t>(team, this->tile);
    const auto reader = this->reader();
    const auto move = this->second_step();
    const Share tile = this->tile_of(team);
    const int size = static_cast<int>(tile.end - tile.begin);
    for (int p = team.team_rank(); p < size; p += Threads) {
      digits[p] = static_cast<std::uint16_t>(reader.of(move.key(tile.begin + p)));
    }
    team.team_barrier();
    TileRuns{begin, end}.find<Threads>(team, size, bins,
                                       [=](int p) -> std::uint32_t { return digits[p]; });
    const auto row = static_cast<std::size_t>(team.league_rank());
    for (int p = team.team_rank(); p < size; p += Threads) {
      const std::uint32_t digit = digits[p];
      move(tile.begin + p, places_of_runs[digit * this->tiles + row] + (p - begin[digit]));
    }
  }
};

}  // namespace kradix::impl
