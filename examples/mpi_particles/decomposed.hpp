/// The particle code on several ranks: each has a stretch of the Morton curve.
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <kradix/mpi/sort.hpp>
#include <mpi.h>

#include "../particles/simulation.hpp"
#include "ghosts.hpp"

namespace particles {

/// All that a particle keeps from step to step, as it travels between ranks.
struct Traveller {
  double position[3], velocity[3];
  Index id;
};

using Codes = Kokkos::View<std::uint32_t*>;
using Travellers = Kokkos::View<Traveller*>;

struct Pack {
  Grid grid;
  Particles from;
  Codes codes;
  Travellers to;

  KOKKOS_FUNCTION void operator()(std::size_t i) const {
    codes(i) = grid.code(from.position(i, 0), from.position(i, 1), from.position(i, 2));
    for (int d = 0; d < 3; ++d) {
      to(i).position[d] = from.position(i, d);
      to(i).velocity[d] = from.velocity(i, d);
    }
    to(i).id = from.id(i);
  }
};

struct Unpack {
  Travellers from;
  Particles to;

  KOKKOS_FUNCTION void operator()(std::size_t i) const {
    for (int d = 0; d < 3; ++d) {
      to.position(i, d) = from(i).position[d];
      to.velocity(i, d) = from(i).velocity[d];
    }
    to.id(i) = from(i).id;
  }
};

/// Particles [first, first + count) of all.
struct TakeShare {
  Particles from, to;
  std::size_t first;

  KOKKOS_FUNCTION void operator()(std::size_t i) const {
    for (int d = 0; d < 3; ++d) {
      to.position(i, d) = from.position(first + i, d);
      to.velocity(i, d) = from.velocity(first + i, d);
    }
    to.id(i) = from.id(first + i);
  }
};

/// Own particles, then ghosts.
struct PlaceTogether {
  Vectors own;
  Rows ghosts;
  Vectors all;

  KOKKOS_FUNCTION void operator()(std::size_t i) const {
    const std::size_t n = own.extent(0);
    for (int d = 0; d < 3; ++d) all(i, d) = i < n ? own(i, d) : ghosts(i - n, d);
  }
};

/// Ghosts only act on others.
struct ComputeOwnForces {
  ComputeForces forces;
  std::size_t own;

  KOKKOS_FUNCTION void operator()(std::size_t slot, double& energy) const {
    if (forces.order(slot) < own) forces(slot, energy);
  }
};

inline double sum_over_ranks(double value) {
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return value;
}

class DecomposedSimulation {
 public:
  explicit DecomposedSimulation(const Options& options)
      : options_(options), grid_(make_grid(options.count)), particles_(first_share()) {
    rebalance();
    compute();
  }

  void run() {
    for (std::size_t step = 0; step < options_.steps; ++step) {
      const Range own(exec_, 0, particles_.count());
      Kokkos::parallel_for("particles::KickAndDrift", own, KickAndDrift{grid_, particles_});
      if (options_.sort_every > 0 && step % options_.sort_every == 0) rebalance();
      compute();
      Kokkos::parallel_for("particles::Kick", Range(exec_, 0, particles_.count()),
                           Kick{particles_});
    }
    exec_.fence();
  }

  const Execution& exec() const { return exec_; }
  const Particles& particles() const { return particles_; }
  double energy_per_particle() const {
    return sum_over_ranks(potential_energy_ + kinetic_energy(exec_, particles_)) /
           static_cast<double>(options_.count);
  }
  double momentum_per_particle(int axis) const {
    return sum_over_ranks(momentum(exec_, particles_, axis)) / static_cast<double>(options_.count);
  }
  std::uint64_t bytes_sent() const { return bytes_sent_; }
  std::size_t most_ghosts() const { return most_ghosts_; }
  double imbalance() const { return imbalance_; }

 private:
  Particles first_share() {
    int rank = 0;
    int ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const auto r = static_cast<std::size_t>(rank), p = static_cast<std::size_t>(ranks);
    const std::size_t first = options_.count * r / p;
    Particles share(exec_, options_.count * (r + 1) / p - first);
    const Particles all = make_particles(exec_, grid_, options_.count, options_.seed);
    Kokkos::parallel_for("particles::TakeShare", Range(exec_, 0, share.count()),
                         TakeShare{all, share, first});
    exec_.fence();
    return share;
  }

  /// Gives every rank as many particles, each a stretch of the curve, wherever they have drifted.
  void rebalance() {
    const std::size_t before = particles_.count();
    const Codes codes("particles::codes", before);
    const Travellers travellers("particles::travellers", before);
    Kokkos::parallel_for("particles::Pack", Range(exec_, 0, before),
                         Pack{grid_, particles_, codes, travellers});
    const auto result =
        kradix::mpi::sort_by_key(MPI_COMM_WORLD, exec_, codes, travellers,
                                 {.bits = {0, grid_.code_bits()}, .workspace = &workspace_});
    particles_ = Particles(exec_, result.values.extent(0));
    Kokkos::parallel_for("particles::Unpack", Range(exec_, 0, particles_.count()),
                         Unpack{result.values, particles_});
    exec_.fence();
    bytes_sent_ += result.report.bytes_sent;
    imbalance_ = std::max(imbalance_, result.report.imbalance);
  }

  void compute() {
    const std::size_t own = particles_.count();
    const Rows ghosts = exchange_ghosts(exec_, grid_, particles_.position);
    most_ghosts_ = std::max(most_ghosts_, ghosts.extent(0));
    const std::size_t count = own + ghosts.extent(0);
    const Vectors position("particles::with ghosts", count);
    Kokkos::parallel_for("particles::PlaceTogether", Range(exec_, 0, count),
                         PlaceTogether{particles_.position, ghosts, position});
    CellList list(exec_, grid_, count);
    list.build(exec_, position);
    const ComputeForces forces{grid_, position, particles_.force, list.order(), list.cells()};
    Kokkos::parallel_reduce("particles::ComputeOwnForces", Range(exec_, 0, count),
                            ComputeOwnForces{forces, own}, potential_energy_);
  }

  Execution exec_;
  Options options_;
  Grid grid_;
  Particles particles_;
  kradix::mpi::Workspace workspace_;
  double potential_energy_ = 0, imbalance_ = 0;
  std::uint64_t bytes_sent_ = 0;
  std::size_t most_ghosts_ = 0;
};

}  // namespace particles
