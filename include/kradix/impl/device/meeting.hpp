// Where teams of one launch find out that all of them have read what some are about to write over. None waits for long: a team
// that the others keep waiting leaves what it has to the last of them.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>

#include "kradix/impl/backend/lanes.hpp"

namespace kradix::impl {

/// In device memory, zero at first. Each launch adds the same, so that nobody has to clear anything between two.
struct Meeting {
  static constexpr std::uint64_t most = 256;  ///< teams of a launch

  std::uint64_t come;
  std::uint64_t left[most];  ///< the turn in which a team left its elements to the last that came

  /// What a team's coming tells it.
  struct Turn {
    std::uint64_t end;  ///< `come`, once all have come
    bool last;
  };
  KOKKOS_FUNCTION static std::uint64_t added_by(std::uint64_t team, std::uint64_t teams) {
    return team == 0 ? most - (teams - 1) : 1;
  }

  /// By one thread, when its team has read all that it needs. (What it returns need not be waited for at once.)
  KOKKOS_FUNCTION std::uint64_t meet(std::uint64_t team, std::uint64_t teams) {
    return Kokkos::atomic_fetch_add(&come, added_by(team, teams));
  }
  /// Of what that returned.
  KOKKOS_FUNCTION static Turn turn_of(std::uint64_t before, std::uint64_t team,
                                      std::uint64_t teams) {
    const std::uint64_t end = (before / most + 1) * most;
    return {end, before + added_by(team, teams) == end};
  }
  template <class L>
  KOKKOS_FUNCTION bool is_over(std::uint64_t end) const {
    return L::load(&come) >= end;
  }
  /// The same, after a while.
  template <class L>
  KOKKOS_FUNCTION bool is_soon_over(std::uint64_t end, int patience) const {
    for (int i = 0; i < patience; ++i) {
      if (is_over<L>(end)) return true;
      L::pause();
    }
    return false;
  }

  /// By one thread, when others see what its team leaves to the last. True if that may not have seen it: all have come.
  template <class L>
  KOKKOS_FUNCTION bool leaves_too_late(std::uint64_t team, std::uint64_t end) {
    L::store(&left[team], end);
    Kokkos::memory_fence();  // whoever comes later looks there later
    return is_over<L>(end);
  }
};

struct ClearMeeting {
  static_assert(sizeof(Meeting) % sizeof(std::uint64_t) == 0);
  static constexpr std::size_t words = sizeof(Meeting) / sizeof(std::uint64_t);
  Meeting* meeting;

  KOKKOS_FUNCTION void operator()(std::size_t word) const {
    reinterpret_cast<std::uint64_t*>(meeting)[word] = 0;
  }
};

}  // namespace kradix::impl
