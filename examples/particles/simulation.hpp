/// The simulation: velocity Verlet steps, timed by their parts.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>

#include "cell_list.hpp"
#include "forces.hpp"
#include "grid.hpp"
#include "measure.hpp"
#include "options.hpp"
#include "particles.hpp"
#include "start.hpp"

namespace particles {

inline constexpr double spacing = 1.077;  // of the lattice: a density of 0.8 when it is full
inline constexpr double time_step = 0.002;

inline Grid make_grid(std::size_t count) {
  return make_grid(count, spacing, Potential::reach);
}

/// Half a step of velocity, then a whole step of position.
struct KickAndDrift {
  Grid grid;
  Particles particles;

  KOKKOS_FUNCTION void operator()(std::size_t i) const {
    for (int d = 0; d < 3; ++d) {
      particles.velocity(i, d) += time_step / 2 * particles.force(i, d);
      particles.position(i, d) =
          grid.wrap(particles.position(i, d) + time_step * particles.velocity(i, d));
    }
  }
};

/// The other half step of velocity, with the new forces.
struct Kick {
  Particles particles;

  KOKKOS_FUNCTION void operator()(std::size_t i) const {
    for (int d = 0; d < 3; ++d) particles.velocity(i, d) += time_step / 2 * particles.force(i, d);
  }
};

/// Seconds spent in the parts of all steps.
struct Times {
  double total = 0, forces = 0, cell_list = 0, permute = 0;
};

class Simulation {
 public:
  explicit Simulation(const Options& options)
      : options_(options),
        grid_(make_grid(options.count)),
        particles_(make_particles(exec_, grid_, options.count, options.seed)),
        spare_(exec_, options.count),
        list_(exec_, grid_, options.count) {
    list_.build(exec_, particles_.position);
    potential_energy_ = compute_forces(exec_, grid_, particles_, list_);
  }

  void run() {
    timed(times_.total, [&] {
      for (std::size_t step = 0; step < options_.steps; ++step) {
        advance(options_.sort_every > 0 && step % options_.sort_every == 0);
      }
    });
  }

  const Execution& exec() const { return exec_; }
  const Grid& grid() const { return grid_; }
  const Particles& particles() const { return particles_; }
  const Times& times() const { return times_; }
  /// In units of the temperature at the start.
  double energy_per_particle() const {
    return (potential_energy_ + kinetic_energy(exec_, particles_)) /
           static_cast<double>(options_.count);
  }

 private:
  void advance(bool sort_particles) {
    const Range all(exec_, 0, options_.count);
    Kokkos::parallel_for("particles::KickAndDrift", all, KickAndDrift{grid_, particles_});
    timed(times_.cell_list, [&] { list_.build(exec_, particles_.position); });
    if (sort_particles) {
      timed(times_.permute, [&] {
        permute(exec_, particles_, spare_, list_.order());
        list_.number_in_order(exec_);
      });
    }
    timed(times_.forces,
          [&] { potential_energy_ = compute_forces(exec_, grid_, particles_, list_); });
    Kokkos::parallel_for("particles::Kick", all, Kick{particles_});
  }

  template <class Work>
  void timed(double& seconds, const Work& work) {
    exec_.fence("particles: fence before a timed part");
    const Kokkos::Timer timer;
    work();
    exec_.fence("particles: fence after a timed part");
    seconds += timer.seconds();
  }

  Execution exec_;
  Options options_;
  Grid grid_;
  Particles particles_, spare_;
  CellList list_;
  Times times_;
  double potential_energy_ = 0;
};

}  // namespace particles
