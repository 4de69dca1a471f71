// From options to the cases they ask for.
#pragma once

#include <vector>

#include "support/case.hpp"
#include "support/options.hpp"

namespace bench {

/// Every combination of what the options list. Throws std::invalid_argument that names the option.
std::vector<Case> cases_of(const Options& options);

}  // namespace bench
