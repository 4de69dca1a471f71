/// Copies of particles that lie near those of other ranks.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <kradix/sort.hpp>
#include <mpi.h>
#include <numeric>
#include <vector>

#include "../particles/forces.hpp"
#include "../particles/grid.hpp"
#include "../particles/particles.hpp"

namespace particles {

using Cells = Kokkos::View<std::uint8_t**, Kokkos::LayoutRight>;  // [rank][code]
using Rows = Kokkos::View<double* [3], Kokkos::LayoutRight>;

/// A particle needs those of its own cell and of the 26 around it.
struct MarkNeededCells {
  Grid grid;
  Vectors position;
  Kokkos::View<std::uint8_t*> needed;

  KOKKOS_FUNCTION void operator()(std::size_t i) const {
    const AxisNeighbours x(grid, position(i, 0), 0), y(grid, position(i, 1), 1),
        z(grid, position(i, 2), 2);
    for (int k = 0; k < 3; ++k) {
      for (int j = 0; j < 3; ++j) {
        for (int m = 0; m < 3; ++m) {
          // Whoever is first writes the same as whoever is last.
          Kokkos::atomic_store(&needed(x.code[m] | y.code[j] | z.code[k]), std::uint8_t{1});
        }
      }
    }
  }
};

/// (rank, particle) for every rank that needs the particle, in no order.
struct ListGhosts {
  Grid grid;
  Vectors position;
  Cells needed;
  int own_rank;
  Kokkos::View<std::uint64_t*> list;
  Kokkos::View<std::uint64_t> length;

  KOKKOS_FUNCTION void operator()(std::size_t i) const {
    const std::uint32_t code = grid.code(position(i, 0), position(i, 1), position(i, 2));
    for (int rank = 0; rank < static_cast<int>(needed.extent(0)); ++rank) {
      if (rank == own_rank || needed(rank, code) == 0) continue;
      const std::uint64_t place = Kokkos::atomic_fetch_add(&length(), std::uint64_t{1});
      if (place < list.extent(0)) list(place) = static_cast<std::uint64_t>(rank) << 32 | i;
    }
  }
};

struct PackGhosts {
  Vectors position;
  Kokkos::View<const std::uint64_t*> list;
  Rows rows;

  KOKKOS_FUNCTION void operator()(std::size_t i) const {
    const auto particle = static_cast<std::uint32_t>(list(i));
    for (int d = 0; d < 3; ++d) rows(i, d) = position(particle, d);
  }
};

/// Who needs which of this rank's particles: sorted by (rank, particle).
inline Kokkos::View<std::uint64_t*> list_ghosts(const Execution& exec, const Grid& grid,
                                                const Vectors& position, int rank, int ranks) {
  const std::size_t codes = grid.code_count();
  const Range all(exec, 0, position.extent(0));
  const Kokkos::View<std::uint8_t*> mine(Kokkos::view_alloc(exec, "particles::needed"), codes);
  Kokkos::parallel_for("particles::MarkNeededCells", all, MarkNeededCells{grid, position, mine});
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, mine);
  const Cells needed("particles::needed by rank", static_cast<std::size_t>(ranks), codes);
  const auto host_needed = Kokkos::create_mirror_view(needed);
  MPI_Allgather(host.data(), static_cast<int>(codes), MPI_BYTE, host_needed.data(),
                static_cast<int>(codes), MPI_BYTE, MPI_COMM_WORLD);
  Kokkos::deep_copy(exec, needed, host_needed);

  const std::size_t most = position.extent(0) * static_cast<std::size_t>(ranks - 1);
  const Kokkos::View<std::uint64_t*> list(
      Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "particles::ghosts"), most);
  const Kokkos::View<std::uint64_t> length(Kokkos::view_alloc(exec, "particles::ghost count"));
  Kokkos::parallel_for("particles::ListGhosts", all,
                       ListGhosts{grid, position, needed, rank, list, length});
  std::uint64_t count = 0;
  exec.fence();
  Kokkos::deep_copy(count, length);
  const auto ghosts = Kokkos::subview(list, std::pair<std::size_t, std::size_t>(0, count));
  kradix::sort(exec, ghosts);  // particles side by side by the rank that needs them
  return ghosts;
}

/// The positions of other ranks' particles that this rank needs.
inline Rows exchange_ghosts(const Execution& exec, const Grid& grid, const Vectors& position) {
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const auto list = list_ghosts(exec, grid, position, rank, ranks);
  const Rows out(Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "particles::out"),
                 list.extent(0));
  Kokkos::parallel_for("particles::PackGhosts", Range(exec, 0, list.extent(0)),
                       PackGhosts{position, list, out});
  exec.fence();
  const auto host_list = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, list);
  const auto host_out = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, out);

  std::vector<int> sends(static_cast<std::size_t>(ranks), 0), receives(sends), from(sends),
      to(sends);
  for (std::size_t i = 0; i < host_list.extent(0); ++i) sends[host_list(i) >> 32] += 3;
  MPI_Alltoall(sends.data(), 1, MPI_INT, receives.data(), 1, MPI_INT, MPI_COMM_WORLD);
  std::exclusive_scan(sends.begin(), sends.end(), from.begin(), 0);
  std::exclusive_scan(receives.begin(), receives.end(), to.begin(), 0);
  const Rows in("particles::in", static_cast<std::size_t>(to.back() + receives.back()) / 3);
  const auto host_in = Kokkos::create_mirror_view(in);
  MPI_Alltoallv(host_out.data(), sends.data(), from.data(), MPI_DOUBLE, host_in.data(),
                receives.data(), to.data(), MPI_DOUBLE, MPI_COMM_WORLD);
  Kokkos::deep_copy(in, host_in);
  return in;
}

}  // namespace particles
