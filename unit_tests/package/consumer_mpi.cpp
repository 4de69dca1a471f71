// SPDX-License-Identifier: BSD-3-Clause
// What the smallest user of the component MPI writes.
#include <Kokkos_Core.hpp>
#include <cstdint>
#include <cstdio>
#include <kradix/mpi/sort.hpp>
#include <mpi.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  bool sorted = false;
  {
    const Kokkos::ScopeGuard kokkos(argc, argv);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const Kokkos::View<std::uint32_t*> keys("keys", 2);
    Kokkos::deep_copy(keys, 9u - static_cast<unsigned>(rank));  // 9 9 on rank 0, 8 8 on rank 1

    const auto result = kradix::mpi::sort(MPI_COMM_WORLD, Kokkos::DefaultExecutionSpace{}, keys);

    const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, result.keys);
    const unsigned expected = 8u + static_cast<unsigned>(rank);
    sorted = host.extent(0) == 2 && host(0) == expected && host(1) == expected;
    if (!sorted)
      std::fprintf(stderr, "rank %d got something else than %u %u\n", rank, expected, expected);
  }
  MPI_Finalize();
  return sorted ? 0 : 1;
}
