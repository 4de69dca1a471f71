// Prefix sums over a team: of one number a thread, and of an array in its scratch.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>

#include "kradix/impl/device/team.hpp"

namespace kradix::impl {

/// A sum over the threads before this one, and over all of them.
template <class T>
struct TeamSum {
  T before, total;
};

/// Every thread calls it with its number. Ends with a barrier.
template <int Threads, class Team, class T>
KOKKOS_FUNCTION TeamSum<T> scan_team([[maybe_unused]] const Team& team, T value) {
  if constexpr (Threads == 1) {
    return {T{0}, value};
  } else {
    const T before = team.team_scan(value);
    T total = before + value;
    team.team_broadcast(total, Threads - 1);
    team.team_barrier();
    return {before, total};
  }
}

/// The sum over the threads before this one, by lanes: `sums` are those of their groups, in scratch. There is a barrier in it, and
/// one is wanted before the next scan.
template <class L, class Team>
KOKKOS_FUNCTION std::uint32_t scan_lanes(const Team& team, std::uint32_t value,
                                         std::uint32_t* sums) {
  const int thread = team.team_rank(), group = thread / L::width, lane = L::lane(thread);
  std::uint32_t before = L::scan(value, lane);
  if (lane == L::width - 1) sums[group] = before + value;
  team.team_barrier();
  for (int g = 0; g < group; ++g) before += sums[g];
  return before;
}

/// Items [begin, end) of `count` that a thread works on when each takes a run of its own.
struct Run {
  int begin, end;
};
template <int Threads>
KOKKOS_FUNCTION Run run_of(int count, int thread) {
  const int length = (count + Threads - 1) / Threads;
  const int begin = thread * length, end = begin + length;
  return {begin < count ? begin : count, end < count ? end : count};
}

/// Exclusive prefix sums of an array in scratch, in place. Enter and leave with a barrier.
template <int Threads, class Team, class T>
KOKKOS_FUNCTION void scan_scratch(const Team& team, T* array, int count) {
  using Sum = std::conditional_t<(sizeof(T) > 4), T, std::uint32_t>;
  const Run run = run_of<Threads>(count, team.team_rank());
  Sum sum = 0;
  for (int i = run.begin; i < run.end; ++i) sum += array[i];
  Sum before = scan_team<Threads>(team, sum).before;
  for (int i = run.begin; i < run.end; ++i) {
    const Sum counted = array[i];
    array[i] = static_cast<T>(before);
    before += counted;
  }
  team.team_barrier();
}

}  // namespace kradix::impl
