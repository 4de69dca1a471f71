/// What came of a run: its times, printed, and what it had to keep, checked.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <string>

#include "measure.hpp"
#include "options.hpp"
#include "simulation.hpp"

namespace particles {

// The error of velocity Verlet goes with the square of the time step. Measured over 1000 steps of
// 0.002: 2e-4 a particle from the first steps on, without growth (9e-4 at 0.004, 5e-5 at 0.001).
inline constexpr double energy_tolerance = 1e-3;
inline constexpr double momentum_tolerance = 1e-12;
// Forces are added up in the order of memory, so two runs round differently, and chaos multiplies
// that: positions can be compared for a while only.
inline constexpr double position_tolerance = 1e-9;
inline constexpr double comparable_time = 2;

struct Outcome {
  std::string name;
  Grid grid;
  Times times;
  double energy, energy_change, momentum;  ///< a particle
  std::size_t ids_once;
  Vectors position;  ///< by id
};

inline Outcome simulate(const std::string& name, const Options& options) {
  Simulation simulation(options);
  const double energy = simulation.energy_per_particle();
  simulation.run();
  const Execution& exec = simulation.exec();
  const Particles& particles = simulation.particles();
  return {name,
          simulation.grid(),
          simulation.times(),
          energy,
          simulation.energy_per_particle() - energy,
          momentum_per_particle(exec, particles),
          ids_seen_once(exec, particles),
          position_by_id(exec, particles)};
}

inline void print_times(const Outcome& outcome, std::size_t steps) {
  const Times& times = outcome.times;
  const double ms = 1e3 / static_cast<double>(steps);
  std::printf("%-20s %8.1f %8.1f %10.1f %8.1f %8.1f %%\n", outcome.name.c_str(), ms * times.total,
              ms * times.forces, ms * times.cell_list, ms * times.permute,
              100 * (times.cell_list + times.permute) / times.total);
}

inline const char* verdict(bool right) {
  return right ? "ok" : "WRONG";
}

/// Prints what was to be kept; false when it was not.
inline bool check_kept(const Outcome& outcome) {
  const bool energy = std::abs(outcome.energy_change) <= energy_tolerance;
  const bool momentum = outcome.momentum <= momentum_tolerance;
  const bool ids = outcome.ids_once == outcome.position.extent(0);
  std::printf("%s\n", outcome.name.c_str());
  std::printf("  energy a particle    %.6f, changed by %.1e, at most %.0e: %s\n", outcome.energy,
              outcome.energy_change, energy_tolerance, verdict(energy));
  std::printf("  momentum a particle  %.1e, at most %.0e: %s\n", outcome.momentum,
              momentum_tolerance, verdict(momentum));
  std::printf("  ids                  %zu of %zu are there exactly once: %s\n", outcome.ids_once,
              outcome.position.extent(0), verdict(ids));
  return energy && momentum && ids;
}

/// Prints how far the two runs are apart; false when it is more than rounding.
inline bool check_same(const Outcome& a, const Outcome& b, double time) {
  const double apart = farthest(Execution(), a.grid, a.position, b.position);
  if (time > comparable_time) {
    std::printf("positions differ by up to %.1e; after a time of %g that is chaos, not checked\n",
                apart, time);
    return true;
  }
  std::printf("positions of the two runs differ by up to %.1e, at most %.0e: %s\n", apart,
              position_tolerance, verdict(apart <= position_tolerance));
  return apart <= position_tolerance;
}

}  // namespace particles
