// The command line of bench_mpi.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <kradix/mpi/options.hpp>
#include <stdexcept>
#include <string>

#include "support/inputs.hpp"

namespace bench_mpi {

inline constexpr const char* usage =
    R"(bench_mpi: the distributed sort, phase by phase, verified. Start it with mpirun.

  --key u32|u64            (u64)
  --values 0|4             bytes of the value of each key: 0 is sort, 4 sort_by_key (0)
  --arrays 1|3             of such values (1)
  --count N                keys a rank (1048576): weak scaling over runs with more ranks
  --total N                keys of all ranks, instead: strong scaling
  --distribution NAME      as of bench_sort (uniform)
  --transport NAME         automatic, direct, staged, nccl, peer
  --work NAME              automatic, partition_first, sort_first, sort_halves, spread_first
  --route NAME             automatic, one_level, two_level
  --ranges R, --node-size G, --message-bytes B, --epsilon E     as the options of kradix::mpi::sort
  --repetitions R          after one that is not counted (5)
  --json                   one line for programs

"bound" is the time of the local sort alone plus that of an all-to-all of the same bytes, by NCCL where
it was built in, else by MPI. "exchange" is a rate: bytes that a rank sent to others per second.
)";

struct Options {
  std::string key = "u64";
  int values = 0;
  int arrays = 1;
  std::uint64_t count = 1 << 20;
  std::uint64_t total = 0;
  inputs::Input input;
  int repetitions = 5;
  bool json = false;
  bool help = false;
  kradix::mpi::Options sort;
};

template <class Enum>
Enum from_name(const std::string& wanted, Enum last) {
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    if (name(static_cast<Enum>(i)) == wanted) return static_cast<Enum>(i);
  }
  throw std::invalid_argument("there is no " + wanted + "; --help lists what there is");
}

inline std::uint64_t to_number(const std::string& text) {
  std::size_t used = 0;
  const std::uint64_t number = text.empty() || text[0] == '-' ? 0 : std::stoull(text, &used);
  if (used == 0 || used != text.size()) throw std::invalid_argument(text + " is not a number");
  return number;
}

inline void set(Options& options, const std::string& option, const std::string& value) {
  using namespace kradix::mpi;
  if (option == "--key" && (value == "u32" || value == "u64")) {
    options.key = value;
  } else if (option == "--values" && (value == "0" || value == "4")) {
    options.values = std::stoi(value);
  } else if (option == "--arrays" && (value == "1" || value == "3")) {
    options.arrays = std::stoi(value);
  } else if (option == "--count") {
    options.count = to_number(value);
  } else if (option == "--total") {
    options.total = to_number(value);
  } else if (option == "--distribution" && inputs::distribution_from_name(value)) {
    options.input.distribution = *inputs::distribution_from_name(value);
  } else if (option == "--transport") {
    options.sort.transport = from_name(value, Transport::peer);
  } else if (option == "--work") {
    options.sort.work = from_name(value, Work::spread_first);
  } else if (option == "--route") {
    options.sort.route = from_name(value, Route::two_level);
  } else if (option == "--ranges") {
    options.sort.ranges = static_cast<int>(to_number(value));
  } else if (option == "--node-size") {
    options.sort.node_size = static_cast<int>(to_number(value));
  } else if (option == "--message-bytes") {
    options.sort.message_bytes = to_number(value);
  } else if (option == "--epsilon") {
    options.sort.splitters = Splitters::sampled(std::stod(value));
  } else if (option == "--repetitions" && to_number(value) > 0) {
    options.repetitions = static_cast<int>(to_number(value));
  } else {
    throw std::invalid_argument("cannot take " + option + " " + value +
                                "; --help lists the options");
  }
}

inline Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    if (option == "--json") {
      options.json = true;
    } else if (option == "--help") {
      options.help = true;
    } else if (i + 1 == argc) {
      throw std::invalid_argument(option + " needs an argument");
    } else {
      set(options, option, argv[++i]);
    }
  }
  return options;
}

}  // namespace bench_mpi
