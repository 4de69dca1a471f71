// The particle code decomposed over ranks by Morton order: every few steps the distributed sort gives
// each rank as many particles of the curve. It checks that momentum, energy and every particle were
// kept, and, for few particles, that a run on one rank goes the same way.
#include <Kokkos_Core.hpp>
#include <cmath>
#include <cstdio>
#include <exception>
#include <mpi.h>

#include "decomposed.hpp"

namespace particles {

/// Of each id, where it is and how often: on all ranks together.
struct Everywhere {
  Kokkos::View<double* [3], Kokkos::LayoutRight, Kokkos::HostSpace> position;
  bool once = true;
};

inline Everywhere gather(const Particles& particles, std::size_t total) {
  const auto id = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, particles.id);
  const auto position =
      Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, particles.position);
  Everywhere all{decltype(Everywhere::position)("particles::everywhere", total)};
  std::vector<int> seen(total, 0);
  for (std::size_t i = 0; i < id.extent(0); ++i) {
    ++seen.at(id(i));
    for (int d = 0; d < 3; ++d) all.position(id(i), d) = position(i, d);
  }
  MPI_Allreduce(MPI_IN_PLACE, seen.data(), static_cast<int>(total), MPI_INT, MPI_SUM,
                MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, all.position.data(), static_cast<int>(3 * total), MPI_DOUBLE, MPI_SUM,
                MPI_COMM_WORLD);
  for (const int times : seen) all.once = all.once && times == 1;
  return all;
}

/// How far positions are from those of a run on one rank.
inline double distance_to_one_rank(const Options& options, const Everywhere& all) {
  Simulation alone(options);
  alone.run();
  const auto expected = Kokkos::create_mirror_view_and_copy(
      Kokkos::HostSpace{}, position_by_id(alone.exec(), alone.particles()));
  double distance = 0;
  for (std::size_t i = 0; i < options.count; ++i) {
    for (int d = 0; d < 3; ++d) {
      const double apart = std::abs(expected(i, d) - all.position(i, d));
      distance = std::max(distance, std::min(apart, alone.grid().length - apart));
    }
  }
  return distance;
}

bool run(const Options& options) {
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  DecomposedSimulation simulation(options);
  const double energy = simulation.energy_per_particle();
  const double begin = MPI_Wtime();
  simulation.run();
  const double seconds = MPI_Wtime() - begin;

  const double drift = std::abs(simulation.energy_per_particle() - energy);
  double momentum = 0;
  for (int axis = 0; axis < 3; ++axis) {
    momentum = std::max(momentum, std::abs(simulation.momentum_per_particle(axis)));
  }
  const Everywhere all = gather(simulation.particles(), options.count);
  constexpr std::size_t few = 20000;
  double distance = options.count <= few && rank == 0 ? distance_to_one_rank(options, all) : 0;
  MPI_Bcast(&distance, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);

  const bool right = drift < 1e-3 && momentum < 1e-12 && all.once && distance < 1e-6;
  if (rank == 0) {
    std::printf("%zu particles on %d ranks, %zu steps, re-balanced every %zu: %.2f ms a step\n",
                options.count, ranks, options.steps, options.sort_every,
                1e3 * seconds / static_cast<double>(options.steps));
    std::printf("imbalance after a sort %.6f, %zu ghosts and %.1f kB sent by sorts on rank 0\n",
                simulation.imbalance(), simulation.most_ghosts(),
                static_cast<double>(simulation.bytes_sent()) * 1e-3);
    std::printf("energy drifted by %.1e, momentum is %.1e a particle, each id is %s", drift,
                momentum, all.once ? "there once" : "NOT there once");
    if (options.count <= few)
      std::printf(", positions are within %.1e of those of one rank", distance);
    std::printf("\nmpi_particles: %s\n",
                right ? "momentum, energy and every particle were kept" : "WRONG");
  }
  return right;
}

}  // namespace particles

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int status = 0;
  try {
    const particles::Options options = particles::parse_options(argc, argv);
    const Kokkos::ScopeGuard kokkos(argc, argv);
    status = particles::run(options) ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "mpi_particles: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return status;
}
