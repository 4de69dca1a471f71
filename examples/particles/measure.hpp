/// What a simulation must keep: energy, momentum, and every particle.
#pragma once

#include <Kokkos_Core.hpp>
#include <cmath>
#include <cstddef>

#include "grid.hpp"
#include "particles.hpp"

namespace particles {

struct AddKineticEnergy {
  Kokkos::View<const double* [3]> velocity;

  KOKKOS_FUNCTION void operator()(std::size_t i, double& sum) const {
    for (int d = 0; d < 3; ++d) sum += velocity(i, d) * velocity(i, d) / 2;
  }
};

inline double kinetic_energy(const Execution& exec, const Particles& particles) {
  double sum = 0;
  Kokkos::parallel_reduce("particles::AddKineticEnergy", Range(exec, 0, particles.count()),
                          AddKineticEnergy{particles.velocity}, sum);
  return sum;
}

struct AddMomentum {
  Kokkos::View<const double* [3]> velocity;
  int axis;
  KOKKOS_FUNCTION void operator()(std::size_t i, double& sum) const { sum += velocity(i, axis); }
};

inline double momentum(const Execution& exec, const Particles& particles, int axis) {
  double sum = 0;
  Kokkos::parallel_reduce("particles::AddMomentum", Range(exec, 0, particles.count()),
                          AddMomentum{particles.velocity, axis}, sum);
  return sum;
}

inline double momentum_per_particle(const Execution& exec, const Particles& particles) {
  return std::hypot(momentum(exec, particles, 0), momentum(exec, particles, 1),
                    momentum(exec, particles, 2)) /
         static_cast<double>(particles.count());
}

struct TickId {
  Indices id, seen;
  KOKKOS_FUNCTION void operator()(std::size_t i) const {
    if (id(i) < seen.extent(0)) Kokkos::atomic_inc(&seen(id(i)));
  }
};

struct AddSeenOnce {
  Indices seen;
  KOKKOS_FUNCTION void operator()(std::size_t i, std::size_t& sum) const { sum += seen(i) == 1; }
};

/// How many of the ids 0 ... n - 1 are there exactly once: n when no particle was lost or doubled.
inline std::size_t ids_seen_once(const Execution& exec, const Particles& particles) {
  const Range all(exec, 0, particles.count());
  const Indices seen(Kokkos::view_alloc(exec, "particles::seen"), particles.count());
  Kokkos::parallel_for("particles::TickId", all, TickId{particles.id, seen});
  std::size_t sum = 0;
  Kokkos::parallel_reduce("particles::AddSeenOnce", all, AddSeenOnce{seen}, sum);
  return sum;
}

struct SpreadById {
  Particles particles;
  Vectors position;

  KOKKOS_FUNCTION void operator()(std::size_t i) const {
    for (int d = 0; d < 3; ++d) position(particles.id(i), d) = particles.position(i, d);
  }
};

/// The position of each id, whatever the order in memory.
inline Vectors position_by_id(const Execution& exec, const Particles& particles) {
  const Vectors position(Kokkos::view_alloc(exec, "particles::position_by_id"), particles.count());
  Kokkos::parallel_for("particles::SpreadById", Range(exec, 0, particles.count()),
                       SpreadById{particles, position});
  return position;
}

struct FindFarthest {
  Grid grid;
  Vectors a, b;

  KOKKOS_FUNCTION void operator()(std::size_t i, double& farthest) const {
    for (int d = 0; d < 3; ++d) {
      const double apart = Kokkos::abs(a(i, d) - b(i, d));
      farthest = Kokkos::max(farthest, Kokkos::min(apart, grid.length - apart));
    }
  }
};

/// The largest difference of a coordinate, across the periodic boundary where that is nearer.
inline double farthest(const Execution& exec, const Grid& grid, const Vectors& a,
                       const Vectors& b) {
  double result = 0;
  Kokkos::parallel_reduce("particles::FindFarthest", Range(exec, 0, a.extent(0)),
                          FindFarthest{grid, a, b}, Kokkos::Max<double>(result));
  return result;
}

}  // namespace particles
