#include "support/arguments.hpp"

#include <algorithm>
#include <array>

#include "support/cases.hpp"
#include "support/key_types.hpp"

namespace bench {
namespace {

constexpr std::array<std::string_view, 15> options_of_cases{
    "--key",       "--count", "--values",    "--operation", "--distribution",
    "--max-value", "--seed",  "--algorithm", "--sweep",     "--repetitions",
    "--from",      "--to",    "--study",     "--seconds",   "--slow-down"};

bool is_option_of_cases(const std::string& option) {
  return std::find(options_of_cases.begin(), options_of_cases.end(), option) !=
         options_of_cases.end();
}

}  // namespace

Request parse(int argc, char** argv) {
  Request request;
  Options options;
  bool single_cases = false;
  request.google_benchmark.push_back(argv[0]);
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    if (option.rfind("--benchmark_", 0) == 0) {
      request.google_benchmark.push_back(argv[i]);
    } else if (option == "--table" || option == "--json") {
      request.style = option == "--table" ? Style::table : Style::json;
      single_cases = true;
    } else if (option == "--phases" || option == "--no-peers" || option == "--host-waits") {
      options.set(option, "");
      single_cases = true;
    } else if (option == "--stream") {
      request.style = Style::stream;
    } else if (option != "--grid" && !is_option_of_cases(option)) {
      refuse("there is no option " + option + "; --help lists them");
    } else if (i + 1 == argc) {
      refuse(option + " needs an argument");
    } else {
      single_cases |= option != "--grid";
      options.set(option, argv[++i]);
    }
  }
  request.grid = options.text("--grid", request.grid);
  if (request.style == Style::stream && argc > 2)
    refuse("--stream takes the options of cases from its standard input");
  if (!single_cases) return request;
  if (options.has("--grid") || request.google_benchmark.size() > 1) {
    refuse(
        "a grid has its own cases: give either --grid and --benchmark_... or the options of single "
        "cases");
  }
  request.cases = cases_of(options);
  if (request.style == Style::grid) {
    request.style = request.cases.size() > 1 ? Style::rows : Style::details;
  }
  return request;
}

std::string help() {
  std::string text =
      R"(bench_sort: Kradix beside its peers, on the same data, taking turns in one process.

One case, or every combination of what the options list with commas:
  --key TYPE,...           KEY_TYPES
  --count N,...            keys (1048576)
  --values BYTES,...       of the value of each key: 0 (sort), 4, 8 or 16 (sort_by_key)
  --operation NAME         sort, sort_by_key, or argsort (32-bit indices)
  --distribution NAME,...  see below, or all without those that take a parameter P (NAME:P)
  --max-value M            uniform in 0..M
  --seed S                 of the data (1)
  --algorithm NAME,...     of Kradix (automatic)
  --study NAME=VALUE,...   for its algorithms for study (docs/seeds.md); those that need the range of
                           the keys know that of max_value, range_n_50, distinct and values_...
  --repetitions R          rounds; without it as many as fit the seconds, 15 to 51,
                           or from 5 on where one of Kradix takes more than 50 ms
  --seconds S              of all rounds (1)
  --no-peers               Kradix alone
  --host-waits             Kradix as in calls without an instance: the host may wait once inside a sort
  --phases                 also time each kernel of Kradix (--json has them)
  --table                  a short table: medians, keys per second, ratio
  --json                   everything, each round's time too
  --slow-down PERCENT      makes Kradix that much slower: to try whoever looks for slowness
  --stream                 for programs: options of a case a line come in, JSON goes out
Rows of powers of two, keys alone and pairs:
  --sweep TYPE,...         as --key, with
  --from P                 2^P keys at least (10)
  --to P                   2^P keys at most (24)
Without any of these, Google Benchmark runs a grid of cases (--benchmark_out=FILE writes JSON):
  --grid NAME              tiny or quick (quick)

Ratios are a peer's time over ours, round by round. "GB/s" counts the keys and values that were sorted, once;
"moved GB/s" what our algorithm reads and writes. "bound" is the share of the time that moving the
algorithm's bytes would take at the speed of a plain copy; what fits in a cache can pass 100 %.

Distributions:
)";
  const std::string marker = "KEY_TYPES";
  text.replace(text.find(marker), marker.size(), names_of(key_types()));
  for (const inputs::Entry& entry : inputs::distributions) {
    std::string line = "  " + std::string(entry.name);
    line.resize(18, ' ');
    text += line + std::string(entry.summary) + '\n';
  }
  return text;
}

}  // namespace bench
