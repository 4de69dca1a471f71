// What the command line asks for.
#pragma once

#include <string>
#include <vector>

#include "support/case.hpp"

namespace bench {

/// How results are shown. `grid`: Google Benchmark runs and reports a registered grid of cases.
/// `stream`: cases come from the standard input.
enum class Style { grid, details, table, rows, json, stream };

struct Request {
  Style style = Style::grid;
  std::string grid = "quick";
  std::vector<Case> cases;                ///< of every style but the grid
  std::vector<char*> google_benchmark{};  ///< argv[0] and the options that are Google Benchmark's
};

/// Throws std::invalid_argument that names the option.
Request parse(int argc, char** argv);

/// The text of --help.
std::string help();

}  // namespace bench
