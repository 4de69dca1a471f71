// scale_model: what a distributed sort would take on up to 100000 ranks. The splitter search is the
// library's own, run on simulated ranks; seconds follow from measured rates.
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>

#include "scale_model/model.hpp"
#include "scale_model/plot.hpp"
#include "scale_model/simulate.hpp"

namespace scale_model {

constexpr const char* usage =
    "scale_model [--per-rank N] [--most-ranks P] [--sort-rate KEYS/S] [--latency S] [--svg FILE]\n"
    "  --per-rank N     simulated 64-bit keys of each rank (100)\n"
    "  --most-ranks P   (100000)\n"
    "  --sort-rate R    measured keys per second of one rank's sort of 32-bit keys (49.4e9)\n"
    "  --latency S      of a message between nodes, seconds (10e-6)\n"
    "  --svg FILE       plots predicted seconds over ranks\n";

struct Options {
  std::uint64_t per_rank = 100;
  std::uint64_t most_ranks = 100000;
  Machine machine;
  std::string svg;
};

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; i += 2) {
    const std::string option = argv[i];
    if (i + 1 == argc) throw std::invalid_argument(option + " needs an argument\n" + usage);
    const std::string value = argv[i + 1];
    if (option == "--per-rank") {
      options.per_rank = std::stoull(value);
    } else if (option == "--most-ranks") {
      options.most_ranks = std::stoull(value);
    } else if (option == "--sort-rate") {
      options.machine.sort_rate = std::stod(value);
    } else if (option == "--latency") {
      options.machine.network.latency = std::stod(value);
    } else if (option == "--svg") {
      options.svg = value;
    } else {
      throw std::invalid_argument("there is no option " + option + "\n" + usage);
    }
  }
  return options;
}

void print_searches(const Options& options) {
  using inputs::Distribution;
  std::printf("Splitter search, %llu 64-bit keys a rank\n",
              static_cast<unsigned long long>(options.per_rank));
  std::printf("%-14s %8s %7s %12s %12s %10s %10s\n", "keys", "ranks", "rounds", "MB in all",
              "MB a round", "cut runs", "imbalance");
  for (const Distribution distribution :
       {Distribution::uniform, Distribution::zipf_hashed, Distribution::one_key_99,
        Distribution::log_uniform, Distribution::and3, Distribution::constant}) {
    for (std::uint64_t ranks = 10; ranks <= options.most_ranks; ranks *= 10) {
      const Search s = simulate(sorted_keys(distribution, ranks * options.per_rank), ranks);
      std::printf("%-14s %8llu %7d %12.3f %12.3f %10llu %10.6f\n",
                  std::string(name(distribution)).c_str(), static_cast<unsigned long long>(ranks),
                  s.rounds, static_cast<double>(s.bytes) * 1e-6,
                  static_cast<double>(s.most_bytes) * 1e-6,
                  static_cast<unsigned long long>(s.cut_runs), s.imbalance);
    }
  }
}

/// Rounds of 32-bit keys: one of a single histogram, then one of up to p - 1 each.
Work work_of(double ranks) {
  Work work;
  work.histogram_bytes = 2048 * (1 + std::min(ranks - 1, 256.0) + 2 * (ranks - 1));
  return work;
}

void print_prediction(const Options& options) {
  std::printf(
      "\nPredicted for 1e9 32-bit keys a rank: sort %.3g keys/s, %.3g GB/s within nodes of %g, "
      "%.3g GB/s and "
      "%.3g us between\n",
      options.machine.sort_rate, options.machine.network.within_node * 1e-9, options.machine.node,
      options.machine.network.between_nodes * 1e-9, options.machine.network.latency * 1e6);
  std::printf("%8s %9s %10s %10s %10s %10s %8s %12s %12s %11s %9s\n", "ranks", "survey",
              "splitters", "partition", "one level", "two level", "sort", "whole, one",
              "whole, two", "device GB", "host MB");
  Plot plot(10, 100000, 0.01, 10);
  Line exchange[2] = {{"exchange, one level", "#c33", "", {}, {}},
                      {"exchange, two levels", "#36c", "", {}, {}}};
  Line whole[2] = {{"whole sort, one level", "#c33", "6 3", {}, {}},
                   {"whole sort, two levels", "#36c", "6 3", {}, {}}};
  Line sort{"local sort", "#393", "", {}, {}};
  for (double ranks : {10., 30., 100., 300., 1e3, 3e3, 1e4, 3e4, 1e5}) {
    const Work work = work_of(ranks);
    const Seconds s = predict(options.machine, work, ranks);
    const double levels[2] = {s.one_level, s.two_level};
    std::printf(
        "%8.0f %7.1f ms %7.1f ms %7.1f ms %7.1f ms %7.1f ms %5.1f ms %9.1f ms %9.1f ms %11.1f "
        "%9.1f\n",
        ranks, s.survey * 1e3, s.splitters * 1e3, s.partition * 1e3, s.one_level * 1e3,
        s.two_level * 1e3, s.sort * 1e3, s.with(s.one_level) * 1e3, s.with(s.two_level) * 1e3,
        device_bytes(work, ranks) * 1e-9, host_bytes(ranks) * 1e-6);
    sort.x.push_back(ranks), sort.y.push_back(s.sort);
    for (int l = 0; l < 2; ++l) {
      exchange[l].x.push_back(ranks), exchange[l].y.push_back(levels[l]);
      whole[l].x.push_back(ranks), whole[l].y.push_back(s.with(levels[l]));
    }
  }
  if (options.svg.empty()) return;
  for (const Line& line : {whole[0], whole[1], exchange[0], exchange[1], sort}) plot.add(line);
  plot.write(options.svg, "Predicted: 10^9 32-bit keys a rank", "ranks", "seconds");
  std::printf("plotted in %s\n", options.svg.c_str());
}

}  // namespace scale_model

int main(int argc, char** argv) {
  try {
    const scale_model::Options options = scale_model::parse(argc, argv);
    scale_model::print_searches(options);
    scale_model::print_prediction(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "scale_model: %s\n", error.what());
    return 1;
  }
  return 0;
}
