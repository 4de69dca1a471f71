// A team sorts a few elements in its scratch by merges.
//
// Two runs side by side become one: an element's place is its own in its run and that which a binary search finds for it in
// the other, so that all elements of all runs move at once. (Merging by ranks, as Shiloach and Vishkin, "Finding the maximum,
// merging, and sorting in a parallel computation model", 1981.)
#pragma once

#include <Kokkos_Core.hpp>

#include "kradix/impl/words.hpp"

namespace kradix::impl {

/// Stable; `count` is at most `Most`. Enter with a barrier; ends with one.
template <int Threads, int Most, class Team, class T, class Less>
KOKKOS_FUNCTION void sort_by_merges(const Team& team, T* array, int count, const Less& less) {
  constexpr int each = (Most + Threads - 1) / Threads;
  T mine[each];
  int before[each];  // of the other run
  KRADIX_ROLLED
  for (int run = 1; run < count; run *= 2) {
    const auto other_of = [&](int place) { return (place & ~(run - 1)) ^ run; };
    KRADIX_UNROLL
    for (int i = 0; i < each; ++i) {
      const int place = i * Threads + team.team_rank();
      mine[i] = array[place < count ? place : 0];
      before[i] = 0;
    }
    // The searches of a thread side by side, in as many steps for all.
    KRADIX_ROLLED
    for (int step = run; step > 0; step /= 2) {
      KRADIX_UNROLL
      for (int i = 0; i < each; ++i) {
        const int place = i * Threads + team.team_rank(), other = other_of(place);
        const int seen = other + before[i] + step - 1;
        const T its = array[seen < count ? seen : 0];
        const bool comes_before = place < other ? less(its, mine[i]) : !less(mine[i], its);
        if (seen < count && before[i] + step <= run && comes_before) before[i] += step;
      }
    }
    team.team_barrier();
    KRADIX_UNROLL
    for (int i = 0; i < each; ++i) {
      const int place = i * Threads + team.team_rank(), other = other_of(place);
      const int first = place < other ? place : place - run;  // less what comes before in the other
      if (place < count) array[first + before[i]] = mine[i];
    }
    team.team_barrier();
  }
}

}  // namespace kradix::impl
