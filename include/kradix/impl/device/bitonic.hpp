// A team sorts a few elements in its scratch.
//
// Batcher's bitonic merges (1968) in the form whose every comparison puts the less first: elements that would
// fill a power of two then count as greater than all others and never move, so they need not exist.
#pragma once

#include <Kokkos_Core.hpp>

namespace kradix::impl {

/// Not stable. Enter with a barrier; ends with one.
template <int Threads, class Team, class T, class Less>
KOKKOS_FUNCTION void sort_bitonic(const Team& team, T* array, int count, const Less& less) {
  const auto put_in_order = [&](int low, int high) {
    if (high >= count || !less(array[high], array[low])) return;
    const T least = array[high];
    array[high] = array[low];
    array[low] = least;
  };
  for (int merged = 2; merged / 2 < count; merged *= 2) {
    // The first step of a merge meets the other half from its end, the others at a distance.
    for (int distance = merged / 2; distance > 0; distance /= 2) {
      for (int i = team.team_rank(); i < (count + merged) / 2; i += Threads) {
        const int in_run = i % distance, low = i / distance * distance * 2 + in_run;
        const bool first = distance == merged / 2;
        put_in_order(low, first ? low - in_run + merged - 1 - in_run : low + distance);
      }
      team.team_barrier();
    }
  }
}

}  // namespace kradix::impl
