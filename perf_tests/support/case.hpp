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
inline constexpr bool in_host_memory =
    Kokkos::SpaceAccessibility<Kokkos::HostSpace, Space::memory_space>::accessible;

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

/// How long to measure: a fixed number of rounds, or (0) rounds until the seconds are spent, within
/// limits. A peer that has used up its share of them sits out after `fewest_of_slow` rounds, so that
/// a slow one does not take the time of the others; a quick one stays for the `fewest`. Where
/// our own sort takes long, `fewest_of_long` rounds will do.
struct Pace {
  int rounds = 0;
  double seconds = 1;
  double warm_up_seconds = 0.01;
  double slow_down =
      0;  ///< makes Kradix this many percent slower, to try out who looks for slowness
  static constexpr double quick_until = 0.002;  ///< seconds of a sort
  static constexpr double long_from = 0.05;
  static constexpr int warm_ups_of_quick = 10;
  static constexpr int fewest = 15;
  static constexpr int fewest_of_slow = 3;
  static constexpr int fewest_of_long = 5;
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
  bool phases = false;      ///< also time each kernel of our sort
  bool peers = true;        ///< or ours alone
  bool host_waits = false;  ///< in our sort, as in calls without an instance
};

/// "sort_by_key/u64/4/uniform/1048576", the algorithm where it is forced, and whether the host waits.
inline std::string title(const Case& c) {
  std::string text = std::string(name(c.operation)) + '/' + c.key + '/' +
                     std::to_string(c.value_bytes) + '/' + text_of(c.input) + '/' +
                     std::to_string(c.count);
  if (c.algorithm != kradix::Algorithm::automatic) text += '/' + std::string(name(c.algorithm));
  if (c.host_waits) text += "/host waits";
  return text;
}

/// One contender's times, of the first rounds or all, and its temporary memory where it is known.
struct Series {
  std::string name;
  std::vector<double> seconds{};
  std::optional<std::size_t> temporary_bytes{};
  std::string wrong{};  ///< what was wrong with a peer's result, which was not timed then
};

/// A kernel of our sort: all its launches in one sort together.
struct Phase {
  std::string label;
  double seconds;
  int launches;
};

/// All contenders of a case, ours first.
struct Measurement {
  Case what;
  std::vector<Series> series;
  std::vector<Phase> phases{};
  std::string plan{};
  int passes = 0;             ///< that our sort made
  double bytes = 0;           ///< that our sort must move, see bytes.hpp
  double copy_bandwidth = 0;  ///< bytes read and written per second by a plain copy
};

}  // namespace bench
