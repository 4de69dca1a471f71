// Threads of a host that work together.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <string>

#include "kradix/impl/device/team.hpp"

namespace kradix::impl {

/// A team of one thread, which is told its number.
template <class ExecutionSpace, class Work>
struct OnThread {
  Work work;
  void operator()(const TeamMember<ExecutionSpace>& team) const {
    work(static_cast<std::size_t>(team.league_rank()));
  }
};

/// All that a sort launches, under its label.
template <class ExecutionSpace>
class HostThreads {
 public:
  HostThreads(const ExecutionSpace& exec, const std::string& label) : exec_(exec), label_(label) {}

  const ExecutionSpace& exec() const { return exec_; }
  const std::string& label() const { return label_; }

  /// Calls `work` with the numbers below `threads`, each on a thread of its own.
  template <class Work>
  void launch(const char* name, std::size_t threads, const Work& work) const {
    if (threads == 1) {
      run_here(name, [&] { work(0); });
    } else {
      launch_teams<TeamShape{1, 0}>(exec_, label_ + name, threads, 0,
                                    OnThread<ExecutionSpace, Work>{work});
    }
  }

  /// On the calling thread, which host spaces keep waiting anyway: to wake others costs more than to sort
  /// few keys.
  template <class Work>
  void run_here(const char* name, const Work& work) const {
    if (!Kokkos::Tools::profileLibraryLoaded()) {
      work();
      return;
    }
    std::uint64_t id = 0;
    Kokkos::Tools::beginParallelFor(label_ + name, Kokkos::Tools::Experimental::device_id(exec_),
                                    &id);
    work();
    Kokkos::Tools::endParallelFor(id);
  }

 private:
  const ExecutionSpace& exec_;
  std::string label_;
};

}  // namespace kradix::impl
