#include "support/grid.hpp"

#include <algorithm>
#include <benchmark/benchmark.h>
#include <memory>
#include <optional>

#include "support/key_types.hpp"
#include "support/options.hpp"
#include "support/report.hpp"
#include "support/statistics.hpp"

namespace bench {
namespace {

using inputs::Distribution;

/// Any combination of what is listed.
struct Block {
  Operation operation;
  std::vector<std::string> keys;
  int value_bytes;
  std::vector<std::size_t> counts;
  std::vector<Distribution> distributions{Distribution::uniform};
};

std::vector<Distribution> all_distributions() {
  std::vector<Distribution> all;
  for (const inputs::Entry& entry : inputs::distributions) {
    if (!takes_parameter(entry.distribution)) all.push_back(entry.distribution);
  }
  return all;
}

std::vector<std::string> all_keys() {
  std::vector<std::string> all;
  for (const KeyType& type : key_types()) all.emplace_back(type.name);
  return all;
}

struct Grid {
  std::string name;
  Pace pace;
  std::vector<Block> blocks;
};

/// A grid is one entry here.
std::vector<Grid> grids() {
  using enum Operation;
  constexpr std::size_t ki = 1024, mi = ki * ki;
  const Grid tiny{"tiny",
                  {1, 0, 0},
                  {{sort, all_keys(), 0, {1, 3000}},
                   {sort_by_key, all_keys(), 4, {3000}},
                   {sort_by_key, {"u32", "u64"}, 8, {3000}},
                   {sort_by_key, {"u32", "u64"}, 16, {3000}},
                   {argsort, all_keys(), 4, {1, 3000}},
                   {sort, {"u32", "f64"}, 0, {3000}, all_distributions()}}};
  const Grid quick{"quick",
                   {0, 0.2},
                   {{sort, {"u32", "u64"}, 0, {64 * ki, mi, 4 * mi}},
                    {sort, {"u8", "u16", "i32", "i64", "f32", "f64", "u128"}, 0, {mi}},
                    {sort_by_key, {"u32", "u64"}, 4, {64 * ki, mi}},
                    {sort_by_key, {"u64"}, 8, {64 * ki, mi}},
                    {argsort, {"u32", "u64"}, 4, {mi}},
                    {sort, {"u32"}, 0, {mi}, all_distributions()}}};
  return {tiny, quick};
}

std::vector<Case> cases_of(const Grid& grid) {
  std::vector<Case> cases;
  for (const Block& block : grid.blocks) {
    for (const std::string& key : block.keys) {
      for (const Distribution distribution : block.distributions) {
        for (const std::size_t count : block.counts) {
          Case what{block.operation, key, block.value_bytes, count, {}, {}, grid.pace};
          what.input.distribution = distribution;
          cases.push_back(what);
        }
      }
    }
  }
  return cases;
}

/// The case measured last: its contenders are Google Benchmark's neighbours but were measured together.
class Last {
 public:
  const Measurement& measure(const Case& what, std::size_t contender) {
    // A contender asked for again wants another measurement (--benchmark_repetitions).
    if (!measurement_ || title_ != title(what) || told_.at(contender)) {
      measurement_.reset();
      measurement_ = key_type(what.key).measure(what);
      title_ = title(what);
      told_.assign(measurement_->series.size(), false);
    }
    told_.at(contender) = true;
    return *measurement_;
  }

 private:
  std::optional<Measurement> measurement_;
  std::string title_;
  std::vector<bool> told_;
};

void count_ours(benchmark::State& state, const Measurement& m, double seconds) {
  state.counters["passes"] = m.passes;
  state.counters["GB/s"] = m.bytes / seconds * 1e-9;
  state.counters["share_of_bound"] = share_of_bound(m, seconds);
}

void count_peer(benchmark::State& state, const Measurement& m, std::size_t contender) {
  const Spread ratio = ratio_of(m.series[contender], m.series.front());
  state.counters["ratio"] = ratio.median;
  state.counters["ratio_least"] = ratio.least;
  state.counters["ratio_most"] = ratio.most;
}

/// One contender's row. Its time is the median of its rounds.
void show(benchmark::State& state, const Measurement& m, std::size_t contender) {
  const Series& series = m.series[contender];
  if (!series.wrong.empty()) return state.SkipWithError(series.wrong.c_str());
  const Spread time = spread_of(series.seconds);
  for (auto _ : state) state.SetIterationTime(time.median);
  state.counters["keys/s"] = static_cast<double>(m.what.count) / time.median;
  state.counters["least_ms"] = time.least * 1e3;
  state.counters["most_ms"] = time.most * 1e3;
  state.counters["rounds"] = static_cast<double>(series.seconds.size());
  if (series.temporary_bytes)
    state.counters["temporary_bytes"] = static_cast<double>(*series.temporary_bytes);
  if (contender == 0) {
    count_ours(state, m, time.median);
  } else {
    count_peer(state, m, contender);
  }
}

struct Progress {
  Last last;
  bool failed = false;
};

void register_case(const Case& what, const std::shared_ptr<Progress>& progress) {
  const std::vector<std::string> names = key_type(what.key).contenders(what);
  for (std::size_t contender = 0; contender < names.size(); ++contender) {
    const auto run = [=](benchmark::State& state) {
      try {
        show(state, progress->last.measure(what, contender), contender);
      } catch (const std::exception& error) {
        progress->failed = true;
        state.SkipWithError(error.what());
      }
    };
    benchmark::RegisterBenchmark((title(what) + '/' + names[contender]).c_str(), run)
        ->Iterations(1)
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond);
  }
}

}  // namespace

bool run_grid(Request& request) {
  const std::vector<Grid> all = grids();
  const auto grid =
      std::find_if(all.begin(), all.end(), [&](const Grid& g) { return g.name == request.grid; });
  if (grid == all.end()) refuse("there is no grid \"" + request.grid + "\", but " + names_of(all));
  const auto progress = std::make_shared<Progress>();
  for (const Case& what : cases_of(*grid)) {
    bool built_in = false;
    for (const KeyType& type : key_types()) built_in |= type.name == what.key;
    if (built_in) register_case(what, progress);
  }
  int argc = static_cast<int>(request.google_benchmark.size());
  benchmark::Initialize(&argc, request.google_benchmark.data());
  if (argc > 1)
    refuse(std::string("Google Benchmark knows no option ") + request.google_benchmark[1]);
  benchmark::AddCustomContext("machine", machine_line());
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return !progress->failed;
}

}  // namespace bench
