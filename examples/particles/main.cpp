// A particle code that keeps particles near in space near in memory: every few steps it puts them in
// the order of the Morton code of their cell. It runs once without and once with that, prints the
// time per step of both, and checks that energy, momentum and every particle were kept.
#include <Kokkos_Core.hpp>
#include <cstdio>
#include <exception>
#include <string>

#include "options.hpp"
#include "outcome.hpp"
#include "simulation.hpp"

namespace particles {

bool run(const Options& options) {
  const Grid grid = make_grid(options.count);
  std::printf("%zu particles in %d x %d x %d cells, %zu steps of %g, %s with %d threads\n",
              options.count, grid.side, grid.side, grid.side, options.steps, time_step,
              Execution::name(), Execution().concurrency());
  std::printf("%-20s %8s %8s %10s %8s %10s\n", "ms a step", "total", "forces", "cell list",
              "re-sort", "sorting");

  Options never = options;
  never.sort_every = 0;
  const Outcome without = simulate("never re-sorted", never);
  print_times(without, options.steps);
  if (options.sort_every == 0) return check_kept(without);

  const Outcome with = simulate("re-sorted every " + std::to_string(options.sort_every), options);
  print_times(with, options.steps);

  bool right = check_kept(without);
  right &= check_kept(with);
  right &= check_same(without, with, static_cast<double>(options.steps) * time_step);
  std::printf("particles: %.1f times as fast with re-sorting; %s\n",
              without.times.total / with.times.total,
              right ? "energy, momentum and every particle were kept" : "but the result is WRONG");
  return right;
}

}  // namespace particles

int main(int argc, char** argv) {
  try {
    const particles::Options options = particles::parse_options(argc, argv);
    if (options.help) {
      std::fputs(particles::usage, stdout);
      return 0;
    }
    const Kokkos::ScopeGuard kokkos(argc, argv);
    return particles::run(options) ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "particles: %s\n", error.what());
    return 1;
  }
}
