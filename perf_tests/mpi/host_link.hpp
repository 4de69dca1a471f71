// What staging is measured against: copies between a device and pinned host memory, on all ranks at once.
#pragma once

#include <Kokkos_Core.hpp>
#include <mpi.h>

#include "mpi/alltoall.hpp"

namespace bench_mpi {

/// Seconds of the slowest rank for `bytes` out and as many in: one after the other, and both at once.
struct HostLink {
  std::uint64_t bytes = 0;
  double out = 0, in = 0, both = 0;
};

#ifdef KOKKOS_HAS_SHARED_HOST_PINNED_SPACE
using PinnedSpace = Kokkos::SharedHostPinnedSpace;
#else
using PinnedSpace = Kokkos::HostSpace;
#endif

inline HostLink time_host_link(const Space& exec, int repetitions) {
  using Pinned = Kokkos::View<std::byte*, PinnedSpace>;
  constexpr std::uint64_t bytes = std::uint64_t{1} << 28;
  const Bytes from("from", bytes), to("to", bytes);
  const Pinned leaves("leaves", bytes), comes("comes", bytes);
  const auto instances = Kokkos::Experimental::partition_space(exec, 1, 1);
  const auto time = [&](bool out, bool in) {
    std::vector<double> samples;
    for (int i = 0; i <= repetitions; ++i) {
      MPI_Barrier(MPI_COMM_WORLD);
      const double begin = MPI_Wtime();
      if (out) Kokkos::deep_copy(instances[0], leaves, from);
      if (in) Kokkos::deep_copy(instances[1], to, comes);
      instances[0].fence();
      instances[1].fence();
      const double seconds = slowest(MPI_Wtime() - begin);
      if (i > 0) samples.push_back(seconds);
    }
    std::sort(samples.begin(), samples.end());
    return samples[samples.size() / 2];
  };
  return {bytes, time(true, false), time(false, true), time(true, true)};
}

}  // namespace bench_mpi
