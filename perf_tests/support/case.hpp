// What is measured, and what came of it: plain values, free of key types.
#pragma once

#include <cstddef>
#include <kradix/sort.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/inputs.hpp"

namespace bench {

using Space = Kokkos::DefaultExecutionSpace;

enum class Operation { sort, sort_by_key, argsort };

constexpr std::string_view name(Operation operation) {
  switch (operation) {
    case Operation::sort:
      return "sort";
    case Operation::sort_by_key:
      return "sort_by_key";
    case Operation::argsort:
      return "argsort";
  }
  return "unknown";
}

/// How long to measure: a fixed number of rounds, or (0) rounds until the seconds are spent, within limits.
struct Pace {
  int rounds = 0;
  double seconds = 1;
  double warm_up_seconds = 0.01;
  static constexpr int fewest = 5;
  static constexpr int most = 51;
};

struct Case {
  Operation operation = Operation::sort;
  std::string key = "u32";
  int value_bytes = 0;  ///< of each value, or of an index of argsort; 0 for sort
  std::size_t count = 0;
  inputs::Input input;
  kradix::Algorithm algorithm = kradix::Algorithm::automatic;
  Pace pace;
  kradix::StudyOptions study{};
};

/// "sort_by_key/u64/4/uniform/1048576", and the algorithm where it is forced.
inline std::string title(const Case& c) {
  std::string text = std::string(name(c.operation)) + '/' + c.key + '/' +
                     std::to_string(c.value_bytes) + '/' + std::string(name(c.input.distribution)) +
                     '/' + std::to_string(c.count);
  if (c.algorithm != kradix::Algorithm::automatic) text += '/' + std::string(name(c.algorithm));
  return text;
}

/// One contender's times, one per round, and its temporary memory where it is known.
struct Series {
  std::string name;
  std::vector<double> seconds;
  std::optional<std::size_t> temporary_bytes;
};

/// All contenders of a case, ours first.
struct Measurement {
  Case what;
  std::vector<Series> series;
  std::string plan;
  int passes = 0;             ///< that our sort made
  double bytes = 0;           ///< that our sort must move, see bytes.hpp
  double copy_bandwidth = 0;  ///< bytes read and written per second by a plain copy
};

}  // namespace bench
