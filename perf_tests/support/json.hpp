// Results for programs: JSON objects of one line each.
#pragma once

#include <string>

#include "support/case.hpp"

namespace bench {

/// With quotes around it.
std::string json_of(const std::string& text);

/// A case, its plan and bound, and all rounds of all contenders.
std::string json_of(const Measurement& measurement);

/// Device, memory, versions, speed of a plain copy, and what can be asked for.
std::string json_of_machine();

}  // namespace bench
