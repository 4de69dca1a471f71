// Counting a pass: digits of each tile, then prefix sums over tiles and over bins.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>

#include "kradix/impl/device/pass.hpp"

namespace kradix::impl {

/// Counts the digits of a tile.
template <class ExecutionSpace, class Codec, TeamShape Shape>
struct CountTile : KeyPass<ExecutionSpace, Codec> {
  using Team = TeamMember<ExecutionSpace>;
  // Neighbours count into different copies of a bin: equal keys would wait for each other.
  static constexpr int copies = 4;
  // Whole batches load before they count, so that loads overlap.
  static constexpr int batch = 8;

  static std::size_t scratch_bytes() { return bin_count * copies * sizeof(std::uint32_t); }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    if (this->idle()) return;
    auto* const counts = take_scratch<std::uint32_t>(team, bin_count * copies);
    for (int i = team.team_rank(); i < bin_count * copies; i += Shape.threads) counts[i] = 0;
    team.team_barrier();
    count_keys(team, counts);
    team.team_barrier();
    for (int bin = team.team_rank(); bin < bin_count; bin += Shape.threads) {
      Place sum = 0;
      for (int copy = 0; copy < copies; ++copy) sum += counts[bin * copies + copy];
      this->place(bin, team) = sum;
    }
  }

  KOKKOS_FUNCTION void count_keys(const Team& team, std::uint32_t* counts) const {
    // By value: stores to the counts could alias what `this` holds, and each key would load it anew.
    const DigitReader<Codec> reader(this->codec, this->digit());
    const auto* const keys = this->source_keys();
    const Share tile = this->tile_of(team);
    std::size_t i = tile.begin + team.team_rank();
    for (; i + (batch - 1) * Shape.threads < tile.end; i += batch * Shape.threads) {
      unsigned bin[batch];
      KRADIX_UNROLL
      for (int b = 0; b < batch; ++b) bin[b] = reader.of(keys[i + b * Shape.threads]);
      KRADIX_UNROLL
      for (int b = 0; b < batch; ++b) add(team, counts, bin[b], b);
    }
    for (; i < tile.end; i += Shape.threads) add(team, counts, reader.of(keys[i]), 0);
  }

  KOKKOS_FUNCTION static void add(const Team& team, std::uint32_t* counts, unsigned bin, int item) {
    if constexpr (Shape.threads == 1) {
      ++counts[bin * copies + item % copies];
    } else {
      Kokkos::atomic_inc(&counts[bin * copies + team.team_rank() % copies]);
    }
  }
};

/// One team per bin: from the tiles' counts to their places within the bin.
template <class ExecutionSpace, class Codec>
struct ScanTiles : KeyPass<ExecutionSpace, Codec> {
  KOKKOS_FUNCTION void operator()(const TeamMember<ExecutionSpace>& team) const {
    if (this->idle()) return;
    Place* const row = this->places + static_cast<std::size_t>(team.league_rank()) * this->tiles;
    Place total = 0;
    Kokkos::parallel_scan(
        Kokkos::TeamThreadRange(team, this->tiles),
        [&](const std::size_t tile, Place& sum, const bool last) {
          const Place counted = row[tile];
          if (last) row[tile] = sum;
          sum += counted;
        },
        total);
    Kokkos::single(Kokkos::PerTeam(team), [&] { this->bins[team.league_rank()] = total; });
  }
};

/// One team: from the counts of bins to their first places.
template <class ExecutionSpace, class Codec>
struct ScanBins : KeyPass<ExecutionSpace, Codec> {
  KOKKOS_FUNCTION void operator()(const TeamMember<ExecutionSpace>& team) const {
    if (this->idle()) return;
    Place* const row = this->bins;
    Kokkos::parallel_scan(Kokkos::TeamThreadRange(team, bin_count),
                          [&](const int bin, Place& sum, const bool last) {
                            const Place counted = row[bin];
                            if (last) row[bin] = sum;
                            sum += counted;
                          });
  }
};

}  // namespace kradix::impl
