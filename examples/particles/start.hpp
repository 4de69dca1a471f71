/// The first state: a lattice in random memory order, with velocities of temperature one.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <kradix/sort.hpp>

#include "grid.hpp"
#include "measure.hpp"
#include "particles.hpp"

namespace particles {

/// Random bits that depend on their arguments alone, so that a start can be repeated anywhere
/// (the output function of Steele, Lea and Flood's SplitMix, OOPSLA 2014).
KOKKOS_INLINE_FUNCTION std::uint64_t random_bits(std::uint64_t seed, std::uint64_t counter) {
  std::uint64_t z = (seed + 1) * 0xd1342543de82ef95u + (counter + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

/// Uniform in (0, 1).
KOKKOS_INLINE_FUNCTION double random_unit(std::uint64_t seed, std::uint64_t counter) {
  return (static_cast<double>(random_bits(seed, counter) >> 11) + 0.5) * 0x1p-53;
}

/// Normally distributed (Box and Muller).
KOKKOS_INLINE_FUNCTION double random_normal(std::uint64_t seed, std::uint64_t counter) {
  constexpr double two_pi = 6.283185307179586;
  return Kokkos::sqrt(-2 * Kokkos::log(random_unit(seed, 2 * counter))) *
         Kokkos::cos(two_pi * random_unit(seed, 2 * counter + 1));
}

struct DrawTickets {
  std::uint64_t seed;
  Kokkos::View<std::uint64_t*> tickets;
  Indices id;

  KOKKOS_FUNCTION void operator()(std::size_t i) const {
    tickets(i) = random_bits(~seed, i);
    id(i) = static_cast<Index>(i);
  }
};

/// Everything about a particle follows from its id.
struct PlaceParticles {
  Grid grid;
  std::uint64_t seed;
  Particles particles;

  KOKKOS_FUNCTION void operator()(std::size_t i) const {
    const std::size_t sites = grid.sites;
    const std::size_t id = particles.id(i);
    // Sites that stay empty are spread over the lattice.
    std::size_t site = id * (sites * sites * sites) / particles.count();
    for (int d = 0; d < 3; ++d) {
      particles.position(i, d) = (site % sites + 0.5) * (grid.length / sites);
      particles.velocity(i, d) = random_normal(seed, 3 * id + d);
      site /= sites;
    }
  }
};

struct Boost {
  Vectors velocity;
  int axis;
  double change;
  KOKKOS_FUNCTION void operator()(std::size_t i) const { velocity(i, axis) += change; }
};

/// Particles are dealt to places in memory by a sort of random tickets.
inline Particles make_particles(const Execution& exec, const Grid& grid, std::size_t count,
                                std::uint64_t seed) {
  Particles particles(exec, count);
  const Range all(exec, 0, count);
  const Kokkos::View<std::uint64_t*> tickets(Kokkos::view_alloc(exec, "particles::tickets"), count);
  Kokkos::parallel_for("particles::DrawTickets", all, DrawTickets{seed, tickets, particles.id});
  kradix::sort_by_key(exec, tickets, particles.id);

  Kokkos::parallel_for("particles::PlaceParticles", all, PlaceParticles{grid, seed, particles});
  for (int axis = 0; axis < 3; ++axis) {
    const double mean = momentum(exec, particles, axis) / static_cast<double>(count);
    Kokkos::parallel_for("particles::Boost", all, Boost{particles.velocity, axis, -mean});
  }
  return particles;
}

}  // namespace particles
