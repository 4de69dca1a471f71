// Kradix beside its peers: one case from the shell, a sweep of sizes, or a grid by Google Benchmark.
#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <memory>
#include <string_view>

#include "support/arguments.hpp"
#include "support/grid.hpp"
#include "support/key_types.hpp"
#include "support/phases.hpp"
#include "support/report.hpp"
#include "support/stream.hpp"

namespace {

using namespace bench;

std::unique_ptr<Report> make_report(Style style) {
  switch (style) {
    case Style::rows:
      return std::make_unique<RowReport>();
    case Style::json:
      return std::make_unique<JsonReport>();
    default:
      return std::make_unique<TableReport>(style == Style::details);
  }
}

void run_cases(const Request& request) {
  const std::unique_ptr<Report> report = make_report(request.style);
  for (const Case& what : request.cases) report->add(key_type(what.key).measure(what));
  report->finish();
}

/// Before Kokkos, which would answer --help too.
bool wants_help(int argc, char** argv) {
  return std::any_of(argv, argv + argc, [](const char* argument) {
    return std::string_view(argument) == "--help" || std::string_view(argument) == "-h";
  });
}

bool run(int argc, char** argv) {
  bench::decline_fences_of_tools();
  const Kokkos::ScopeGuard kokkos(argc, argv);
  bench::stop_declining();
  Request request = parse(argc, argv);
  if (request.style == Style::grid) return run_grid(request);
  if (request.style == Style::stream) {
    run_stream();
    return true;
  }
  run_cases(request);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (wants_help(argc, argv)) {
    std::fputs(bench::help().c_str(), stdout);
    return 0;
  }
  try {
    return run(argc, argv) ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
