#include "command_line.hpp"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>
#include <vector>

#include "commands.hpp"
#include "device.hpp"
#include "distributions.hpp"
#include "ranks.hpp"
#include "report.hpp"

namespace tool {

namespace {

constexpr int usage_error = 2;

void add_record_options(CLI::App& command, RecordOptions& records) {
  command.add_option("--key", records.key,
                     "Key type: " + key_type_names() + " (a .npy file says it itself)");
  command
      .add_option("--record-size", records.record_size,
                  "Bytes of a record (the key's, if not given)")
      ->check(CLI::NonNegativeNumber);
  command.add_option("--key-offset", records.key_offset, "Where in the record the key begins (0)")
      ->check(CLI::NonNegativeNumber);
}

void add_order_options(CLI::App& command, OrderOptions& order) {
  command
      .add_option_function<std::string>(
          "--order", [&order](const std::string& name) { order.descending = name == "descending"; },
          "ascending (the default) or descending")
      ->check(CLI::IsMember({"ascending", "descending"}));
  command.add_option("--bits", order.bits,
                     "B:E, the key's bits that count: from B up to but not E, 0 the lowest (all)");
}

void add_algorithm(CLI::App& command, OrderOptions& order) {
  command.add_option("--algorithm", order.algorithm,
                     "An algorithm that 'kradix algorithms' lists, or automatic (the default)");
  command.add_option("--study", order.study,
                     "NAME=VALUE,... for an algorithm for study: see docs/seeds.md");
}

void add_json(CLI::App& command, bool& json) {
  command.add_flag("--json", json, "One line of JSON on stdout");
}

/// What would be done by each rank is refused, once.
void require_one_rank(const std::string& command) {
  if (Ranks::size() == 1) return;
  throw CommonError("'" + command + "' runs on one rank, not on " + std::to_string(Ranks::size()));
}

void add_sort(CLI::App& app, SortCommand& settings) {
  CLI::App& command = *app.add_subcommand("sort", "Sort a file of records stably by one key field");
  add_record_options(command, settings.records);
  add_order_options(command, settings.order);
  add_algorithm(command, settings.order);
  add_json(command, settings.json);
  command.add_option("INPUT", settings.input, "Little-endian records, or a .npy array")->required();
  command
      .add_option("OUTPUT", settings.output,
                  "Appears when complete; another file than INPUT, which is never changed")
      ->required();
  command.callback([&settings] { run_sort(settings); });
}

void add_gen(CLI::App& app, GenCommand& settings) {
  CLI::App& command = *app.add_subcommand("gen", "Generate a file of records, the same for a seed");
  add_record_options(command, settings.records);
  command.add_option("--count", settings.count, "Records")
      ->required()
      ->check(CLI::NonNegativeNumber);
  command.add_option("--distribution", settings.distribution, "One of those below (uniform)");
  command.add_option("--seed", settings.seed, "A number (0)")->check(CLI::NonNegativeNumber);
  add_json(command, settings.json);
  command.add_option("OUTPUT", settings.output, "Records carry their index beside the key")
      ->required();
  std::string distributions = "Distributions:";
  for (const Distribution& distribution : all_distributions) {
    std::string name(distribution.name);
    name.resize(16, ' ');
    distributions += "\n  " + name + std::string(distribution.description);
  }
  command.footer(distributions);
  command.callback([&settings] {
    require_one_rank("gen");
    run_gen(settings);
  });
}

void add_check(CLI::App& app, CheckCommand& settings) {
  CLI::App& command = *app.add_subcommand(
      "check", "Prove that OUTPUT is INPUT sorted: order, same records, stability");
  add_record_options(command, settings.records);
  add_order_options(command, settings.order);
  add_json(command, settings.json);
  command.add_option("INPUT", settings.input, "What was sorted")->required();
  command.add_option("OUTPUT", settings.output, "What came of it")->required();
  command.callback([&settings] { run_check(settings); });
}

void add_plan(CLI::App& app, PlanCommand& settings) {
  CLI::App& command = *app.add_subcommand("plan", "Print how a file would be sorted");
  add_record_options(command, settings.records);
  add_order_options(command, settings.order);
  add_algorithm(command, settings.order);
  add_json(command, settings.json);
  command
      .add_option_function<std::uint64_t>(
          "--count", [&settings](const std::uint64_t& count) { settings.count = count; },
          "Records, instead of a file")
      ->check(CLI::NonNegativeNumber);
  command.add_option("INPUT", settings.input, "The file, which is opened but not read");
  command.callback([&settings] {
    require_one_rank("plan");
    run_plan(settings);
  });
}

void add_algorithms(CLI::App& app, bool& json) {
  CLI::App& command = *app.add_subcommand("algorithms", "List the sorting algorithms");
  add_json(command, json);
  command.callback([&json] {
    require_one_rank("algorithms");
    run_algorithms(json);
  });
}

/// Takes Kokkos' own options out; CLI11 wants the rest last first.
std::vector<std::string> split_arguments(int argc, char** argv) {
  std::vector<std::string> ours, kokkos;
  for (int i = argc - 1; i > 0; --i) {
    const std::string argument = argv[i];
    (argument.starts_with("--kokkos-") ? kokkos : ours).push_back(argument);
  }
  set_kokkos_arguments({kokkos.rbegin(), kokkos.rend()});
  return ours;
}

}  // namespace

int run_command_line(int argc, char** argv) {
  SortCommand sort;
  GenCommand gen;
  CheckCommand check;
  PlanCommand plan;
  bool algorithms_json = false;

  CLI::App app("Sorts files of records with the Kradix library.", "kradix");
  app.require_subcommand(1);
  app.footer("Options that begin with --kokkos- go to Kokkos. 'kradix COMMAND --help' tells more.");
  add_sort(app, sort);
  add_gen(app, gen);
  add_check(app, check);
  add_plan(app, plan);
  add_algorithms(app, algorithms_json);
  try {
    app.parse(split_arguments(argc, argv));
  } catch (const CLI::Success& help) {
    return Ranks::rank() == 0 ? app.exit(help) : 0;
  } catch (const CLI::ParseError& error) {
    if (Ranks::rank() == 0) std::fprintf(stderr, "kradix: %s\n", one_line(error.what()).c_str());
    return usage_error;
  }
  return 0;
}

}  // namespace tool
