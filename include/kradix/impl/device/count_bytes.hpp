// How often each byte comes, in one read.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "kradix/impl/backend/lanes.hpp"
#include "kradix/impl/device/digit.hpp"
#include "kradix/impl/device/team.hpp"
#include "kradix/impl/device/wide_array.hpp"

namespace kradix::impl {

/// Every lane of a group counts into bins of its own, which lie side by side: lanes never meet in a counter
/// or in a bank of scratch, whatever the keys. Teams stay, and then add to the whole's bins, or leave their own as a row.
template <class ExecutionSpace, TeamShape Shape>
struct CountBytes {
  using Team = TeamMember<ExecutionSpace>;
  using L = Lanes<ExecutionSpace>;
  static constexpr int copies = L::width;

  WideArray<const std::uint8_t> keys;
  std::uint64_t* counts;  ///< [byte], zero
  std::uint32_t* rows;    ///< instead, if not null: [team][byte], whatever was there

  static std::size_t scratch_bytes() { return bin_count * copies * sizeof(std::uint32_t); }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    auto* const bins = take_scratch<std::uint32_t>(team, bin_count * copies);
    for (int i = team.team_rank(); i < bin_count * copies; i += Shape.threads) bins[i] = 0;
    team.team_barrier();
    count(team, bins);
    team.team_barrier();
    for (int bin = team.team_rank(); bin < bin_count; bin += Shape.threads) {
      add(bins, bin, static_cast<std::size_t>(team.league_rank()));
    }
  }

 private:
  KOKKOS_FUNCTION void count(const Team& team, std::uint32_t* bins) const {
    std::uint32_t* const mine = bins + L::lane(team.team_rank());
    const auto index = static_cast<std::size_t>(team.league_rank());
    const auto teams = static_cast<std::size_t>(team.league_size());
    constexpr std::size_t step = static_cast<std::size_t>(Shape.round());
    visit_packs<Shape>(team, keys, {index * step, keys.packs()}, teams * step,
                       [&](const Pack<std::uint8_t>& pack) {
                         KRADIX_UNROLL
                         for (int i = 0; i < pack.size; ++i)
                           L::increment(&mine[pack.word(i) * copies]);
                       });
    if (index != 0) return;
    for (int i = team.team_rank(); i < keys.edges(); i += Shape.threads) {
      L::increment(&mine[keys.at(keys.place_of_edge(i)) * copies]);
    }
  }

  KOKKOS_FUNCTION void add(const std::uint32_t* bins, int bin, std::size_t index) const {
    std::uint64_t sum = 0;
    // Each bin begins at another copy, so that neighbours read other banks.
    for (int i = 0; i < copies; ++i) sum += bins[bin * copies + (bin + i) % copies];
    if (rows != nullptr) {
      rows[index * bin_count + bin] = static_cast<std::uint32_t>(sum);
    } else if (sum > 0) {
      Kokkos::atomic_add(&counts[bin], sum);
    }
  }
};

}  // namespace kradix::impl
