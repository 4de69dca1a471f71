/// The particles, one array per property, and how all arrays take one permutation.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace particles {

using Execution = Kokkos::DefaultExecutionSpace;
using Range = Kokkos::RangePolicy<Execution, Kokkos::IndexType<std::size_t>>;
using Index = std::uint32_t;  // the grid holds fewer than 2^32 particles
using Vectors = Kokkos::View<double* [3]>;
using Indices = Kokkos::View<Index*>;

struct Particles {
  Vectors position, velocity, force;
  Indices id;

  Particles(const Execution& exec, std::size_t count)
      : position(Kokkos::view_alloc(exec, "particles::position"), count),
        velocity(Kokkos::view_alloc(exec, "particles::velocity"), count),
        force(Kokkos::view_alloc(exec, "particles::force"), count),
        id(Kokkos::view_alloc(exec, "particles::id"), count) {}

  KOKKOS_FUNCTION std::size_t count() const { return id.extent(0); }
};

/// Moves all that a particle keeps from step to step; its force is computed anew.
struct PermuteParticles {
  Particles from, to;
  Kokkos::View<const Index*> order;

  KOKKOS_FUNCTION void operator()(std::size_t i) const {
    const Index source = order(i);
    for (int d = 0; d < 3; ++d) {
      to.position(i, d) = from.position(source, d);
      to.velocity(i, d) = from.velocity(source, d);
    }
    to.id(i) = from.id(source);
  }
};

/// Particle i becomes what particle order(i) was. `spare` is memory for as many particles.
inline void permute(const Execution& exec, Particles& particles, Particles& spare,
                    const Indices& order) {
  Kokkos::parallel_for("particles::PermuteParticles", Range(exec, 0, particles.count()),
                       PermuteParticles{particles, spare, order});
  std::swap(particles, spare);
}

}  // namespace particles
