// From the counts of many bins to their first places, by several teams in one kernel.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "kradix/impl/backend/lanes.hpp"
#include "kradix/impl/device/pass.hpp"
#include "kradix/impl/device/team_scan.hpp"

namespace kradix::impl {

/// What tiles of bins tell each other, zero at first: the tiles drawn, and of each tile its sum.
struct TileSums {
  static constexpr std::uint64_t known = std::uint64_t{1} << 63;

  std::uint64_t* memory;

  static constexpr std::size_t most_tiles = 256, words = 1 + most_tiles;
  KOKKOS_FUNCTION std::uint64_t* tickets() const { return memory; }
  KOKKOS_FUNCTION std::uint64_t* of(std::uint32_t tile) const { return memory + 1 + tile; }
};

/// A tile waits for the sums of all tiles before it at once, not for one after the other: there are few of
/// them, and they were drawn by teams that run.
template <class ExecutionSpace, class Codec, TeamShape Shape, class Counter = std::uint64_t>
struct PlaceBins {
  using Team = TeamMember<ExecutionSpace>;
  using L = Lanes<ExecutionSpace>;
  static constexpr int tiles = (1 << Codec::bits) / Shape.round();
  static_assert(tiles * Shape.round() == 1 << Codec::bits && tiles <= TileSums::most_tiles);

  Codec codec;
  const Counter* counts;  ///< [key]
  TileSums sums;
  Place* places;  ///< [code]

  static std::size_t scratch_bytes() { return sizeof(std::uint64_t); }

  KOKKOS_FUNCTION void operator()(const Team& team) const { place(team, draw(team)); }

  /// The tile that is this team's.
  KOKKOS_FUNCTION std::uint32_t draw(const Team& team) const {
    auto* const ticket = take_scratch<std::uint64_t>(team, 1);
    if (team.team_rank() == 0) {
      *ticket = Kokkos::atomic_fetch_add(sums.tickets(), std::uint64_t{1});
    }
    team.team_barrier();
    return static_cast<std::uint32_t>(*ticket);
  }

  /// All tiles before this one have been drawn by teams that run.
  KOKKOS_FUNCTION void place(const Team& team, std::uint32_t tile) const {
    const std::uint32_t first = (tile * Shape.threads + team.team_rank()) * Shape.items;
    std::uint64_t counted[Shape.items], sum = 0;
    for (int i = 0; i < Shape.items; ++i) {
      counted[i] = counts[codec.decode(first + i)];
      sum += counted[i];
    }
    const TeamSum<std::uint64_t> own = scan_team<Shape.threads>(team, sum);
    Place place = sum_before(team, tile, own.total) + own.before;
    for (int i = 0; i < Shape.items; ++i) {
      places[first + i] = place;
      place += counted[i];
    }
  }

 private:
  KOKKOS_FUNCTION std::uint64_t sum_before(const Team& team, std::uint32_t tile,
                                           std::uint64_t own) const {
    if (team.team_rank() == 0) L::store(sums.of(tile), own | TileSums::known);
    std::uint64_t sum = 0;
    for (std::uint32_t other = team.team_rank(); other < tile; other += Shape.threads) {
      sum += wait_for(other);
    }
    return scan_team<Shape.threads>(team, sum).total;
  }
  KOKKOS_FUNCTION std::uint64_t wait_for(std::uint32_t tile) const {
    while (true) {
      const std::uint64_t seen = L::load(sums.of(tile));
      if ((seen & TileSums::known) != 0) return seen & ~TileSums::known;
      L::pause();
    }
  }
};

}  // namespace kradix::impl
