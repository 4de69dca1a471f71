// Memory of the host on which a device writes down what the host waits for.
#pragma once

#include <Kokkos_Core.hpp>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace kradix::impl {

/// Where both reach it; void: nowhere.
template <class ExecutionSpace>
struct BoardSpace {
#ifdef KOKKOS_HAS_SHARED_HOST_PINNED_SPACE
  using of_devices = Kokkos::SharedHostPinnedSpace;
#else
  using of_devices = void;
#endif
  using type =
      std::conditional_t<std::is_same_v<typename ExecutionSpace::memory_space, Kokkos::HostSpace>,
                         Kokkos::HostSpace, of_devices>;
};
template <class ExecutionSpace>
using board_space = typename BoardSpace<ExecutionSpace>::type;
template <class ExecutionSpace>
inline constexpr bool has_board = !std::is_void_v<board_space<ExecutionSpace>>;

/// Words, and then the number of the turn in which they were written.
struct HostBoard {
  static constexpr std::size_t most_words = 504;

  std::uint64_t turn;
  std::uint64_t asked;  ///< the host's own: the latest turn that it wants to see
  alignas(64) std::uint64_t words[most_words];

  /// By the host: the number of the next turn.
  std::uint64_t next() { return ++asked; }

  /// By the host: does that come before so much time has gone?
  bool comes(std::chrono::microseconds patience) {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point begin = Clock::now();
    do {
      if (is_there()) return true;
    } while (Clock::now() - begin < patience);
    return false;
  }
  bool is_there() {
    return std::atomic_ref<std::uint64_t>(turn).load(std::memory_order_acquire) == asked;
  }
};

}  // namespace kradix::impl
