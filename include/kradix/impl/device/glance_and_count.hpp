// Where a glance alone chooses, it is taken while other teams count all digits, and the last team to leave lists the
// passes: one launch for what takes three where a sample has to tell first which digits are worth counting.
//
// What the glance wants otherwise, the order of neighbours, kinds, or digits that begin at other bits, all teams
// look for as soon as they know of it. Where that does not hold, the digits are there.
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdint>

#include "kradix/impl/backend/lanes.hpp"
#include "kradix/impl/device/count_all_digits.hpp"
#include "kradix/impl/device/route.hpp"
#include "kradix/impl/device/team.hpp"

namespace kradix::impl {

/// What its teams tell each other, in device memory; all zero at first.
struct GlanceState {
  std::uint64_t begun, chosen, left;  ///< teams; is there a route?
  std::uint64_t varying[2];           ///< bits in which any key differs from the first
};

template <class Glance, class Count, class List, class Kinds, class WithKinds>
struct GlanceAndCount {
  using Team = typename Glance::Team;
  using L = typename Glance::L;
  using Bits = typename Glance::Bits;
  using Scratch = typename Glance::Scratch;
  static constexpr std::size_t word = sizeof(std::uint64_t);

  Glance glance;
  Count count;  ///< of all digits, to the first set of bins
  Count other;  ///< to the second, when there is a route
  int second;   ///< its first row
  List list;
  PassTable* sweeps;  ///< those of the passes that are sweeps
  Kinds kinds;
  WithKinds with_kinds;
  GlanceState* state;

  /// One piece, as of two nvcc does not know where the second lies, and counts key by key.
  KOKKOS_FUNCTION static constexpr std::size_t scratch_bytes(int digit_count) {
    const std::size_t sizes[] = {
        static_cast<std::size_t>(digit_count) * bin_count * sizeof(std::uint32_t), sizeof(Scratch),
        Kinds::scratch_bytes(), WithKinds::scratch_bytes(), word + List::scratch_bytes()};
    std::size_t most = 0;
    for (const std::size_t size : sizes) most = size > most ? size : most;
    return (most + word - 1) / word * word;
  }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    const DigitList& all = list.digits;
    auto* const scratch = take_scratch<std::uint64_t>(team, scratch_bytes(all.count()) / word);
    auto* const counts = reinterpret_cast<std::uint32_t*>(scratch);
    // By turns, and not by rank: all wait for the first, which must have begun.
    const int turn = turn_of(team, scratch[0]);
    if (turn == 0) take_glance(team, *reinterpret_cast<Scratch*>(scratch));
    const int teams = team.league_size() > 1 ? team.league_size() - 1 : 1;
    if (turn > 0 || teams == team.league_size()) {
      count.count_digits(team, all, counts, {turn > 0 ? turn - 1 : 0, teams});
    }
    wait_for_route(team);
    const Route* const route = other.route;
    const DigitList wanted = this->wanted(*route);
    if (route->verifies != 0) {
      other.verify_order(team);
    } else if (route->kinds != 0) {
      kinds.count_in(team, scratch);
    } else if (!are_counted(wanted)) {
      other.count_digits(team, wanted, counts);
    }
    const auto all_teams = static_cast<std::uint64_t>(team.league_size());
    if (leaves_last(team, &state->left, all_teams, scratch[0])) list_passes(team, scratch);
  }

 private:
  KOKKOS_FUNCTION int turn_of(const Team& team, std::uint64_t& turn) const {
    if (team.team_rank() == 0) turn = Kokkos::atomic_fetch_add(&state->begun, std::uint64_t{1});
    team.team_barrier();
    const auto mine = static_cast<int>(turn);
    team.team_barrier();
    return mine;
  }
  KOKKOS_FUNCTION void take_glance(const Team& team, Scratch& scratch) const {
    glance(team, scratch);
    team.team_barrier();                // kinds are written by all
    if (team.team_rank() != 0) return;  // who has chosen
    Kokkos::memory_fence();
    L::store(&state->chosen, std::uint64_t{1});
  }
  KOKKOS_FUNCTION void wait_for_route(const Team& team) const {
    if (team.team_rank() == 0) {
      while (L::load(&state->chosen) == 0) L::pause();
      Kokkos::memory_fence();
    }
    team.team_barrier();
  }

  /// Before a finish, digits above what the glance saw as well: a key may vary there.
  KOKKOS_FUNCTION DigitList wanted(const Route& route) const {
    if (route.finishes == 0) return route.digits;
    const int begin = route.digits.begin, most = begin + Route::most_recounted * digit_bits;
    return {begin, most < list.digits.end ? most : list.digits.end};
  }
  KOKKOS_FUNCTION bool are_counted(const DigitList& digits) const {
    return digits.width == digit_bits && (digits.begin - list.digits.begin) % digit_bits == 0;
  }

  KOKKOS_FUNCTION void list_passes(const Team& team, std::uint64_t* scratch) const {
    Route* const route = other.route;
    if (route->needs_no_passes()) {
      if (route->has_counted_kinds()) with_kinds.rank_in(team, scratch, 0, 1);
      if (team.team_rank() != 0) return;
      list.passes->begin(0, route->but_sweeps());
      sweeps->begin(0, route->but_sweeps());
      return;
    }
    const DigitList& all = list.digits;
    const DigitList wanted = this->wanted(*route);
    const auto varying =
        static_cast<Bits>(joined<Bits>(state->varying) & bits_between<Bits>(all.begin, all.end));
    const int end = bit_width_of(varying);
    const bool holds =
        route->kinds == 0 && end <= wanted.end && (route->verifies == 0 || are_counted(wanted));
    const bool as_hoped = holds && route->verifies == 0 && end <= route->digits.end;
    const DigitList digits = holds ? wanted : all;
    PassTable others{};
    others.finishes = holds ? route->finishes : 0;
    const int row = are_counted(digits) ? (digits.begin - all.begin) / digit_bits : second;
    list.list(team, digits, row, second, others, sweeps, scratch + 1);
    if (team.team_rank() != 0 || as_hoped) return;
    route->recounts = 1;
    route->finishes = others.finishes;
    route->digits = {digits.begin, others.finishes != 0 ? end : digits.end, digits.width};
  }
};

}  // namespace kradix::impl
