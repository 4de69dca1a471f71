// The cases that Google Benchmark runs.
#pragma once

#include "support/arguments.hpp"

namespace bench {

/// Registers and runs the grid of the request. False when a case failed or gave a wrong result.
bool run_grid(Request& request);

}  // namespace bench
