// A team writes words on a board that the host reads while kernels behind this one run.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <desul/atomics.hpp>

#include "kradix/impl/host_board.hpp"

namespace kradix::impl {

struct TellHost {
  const std::uint64_t* words = nullptr;
  std::size_t count = 0;
  HostBoard* board = nullptr;  ///< null: nobody listens
  std::uint64_t turn = 0;

  /// What any of its threads has written before.
  template <int Threads, class Team>
  KOKKOS_FUNCTION void tell(const Team& team) const {
    if (board == nullptr) return;
    team.team_barrier();
    for (auto i = static_cast<std::size_t>(team.team_rank()); i < count; i += Threads) {
      board->words[i] = words[i];
    }
    // The host sees the turn after all words.
    desul::atomic_thread_fence(desul::MemoryOrderRelease(), desul::MemoryScopeNode());
    team.team_barrier();
    if (team.team_rank() != 0) return;
    desul::atomic_thread_fence(desul::MemoryOrderRelease(), desul::MemoryScopeNode());
    *const_cast<volatile std::uint64_t*>(&board->turn) = turn;
  }
};

}  // namespace kradix::impl
