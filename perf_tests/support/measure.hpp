// All contenders of a case on the same data in one process, taking turns.
#pragma once

#include <chrono>
#include <sstream>

#include "peers.hpp"
#include "support/stopwatch.hpp"
#include "support/verify.hpp"

namespace bench {

template <class Task>
class Contest {
  using Key = typename Task::Key;
  using Value = typename Task::Value;

 public:
  explicit Contest(const Case& what)
      : what_(what),
        entrants_(what),
        arrays_(exec_, what.count, entrants_.want_spares),
        stopwatch_(exec_) {
    inputs::fill(exec_, arrays_.source, what.input);
  }

  Measurement measure() {
    Measurement result;
    result.what = what_;
    describe_plan(result);
    for (const auto& entrant : entrants_.list) result.series.push_back({entrant.name, {}, {}});
    verify();
    warm_up();
    const Clock::time_point begin = Clock::now();
    for (int round = 0; goes_on(round, begin); ++round) {
      for (std::size_t e = 0; e < entrants_.list.size(); ++e) {
        result.series[e].seconds.push_back(time(*entrants_.list[e].contender));
      }
    }
    for (std::size_t e = 0; e < entrants_.list.size(); ++e) {
      result.series[e].temporary_bytes = entrants_.list[e].contender->temporary_bytes();
    }
    return result;
  }

 private:
  using Clock = std::chrono::steady_clock;

  static double seconds_since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
  }

  bool goes_on(int round, Clock::time_point begin) const {
    if (what_.pace.rounds > 0) return round < what_.pace.rounds;
    if (round < Pace::fewest) return true;
    return round < Pace::most && seconds_since(begin) < what_.pace.seconds;
  }

  /// Every contender starts from the same fresh data, just written.
  void refresh() {
    if constexpr (Task::operation != Operation::argsort) {
      copy_bytes(exec_, arrays_.keys.data(), arrays_.source.data(), what_.count * sizeof(Key));
    }
    if constexpr (Task::operation == Operation::sort_by_key) number(exec_, arrays_.values);
  }

  double time(Contender<Task>& contender) {
    refresh();
    stopwatch_.start();
    contender.run(exec_, arrays_);
    return stopwatch_.stop();
  }

  void verify() {
    Array<Key> expected;
    if constexpr (Task::operation == Operation::sort) expected = sorted_keys(exec_, arrays_.source);
    for (const auto& entrant : entrants_.list) {
      const std::string who = entrant.name + ", " + title(what_);
      if constexpr (Arrays<Task>::with_values) {
        // What the last contender left there would be right.
        spoil_bytes(exec_, arrays_.values.data(), what_.count * sizeof(Value));
      }
      refresh();
      entrant.contender->run(exec_, arrays_);
      if constexpr (Task::operation == Operation::sort) {
        require(exec_, what_.count, CheckKeys<Key>{expected, arrays_.keys}, who, "wrong key");
      } else {
        const Array<Key> none;
        require_order(exec_, arrays_.source,
                      Task::operation == Operation::argsort ? none : arrays_.keys, arrays_.values,
                      entrant.stable, who);
      }
    }
  }

  /// Beside the verified run, while that costs little.
  void warm_up() {
    const Clock::time_point begin = Clock::now();
    while (seconds_since(begin) < what_.pace.warm_up_seconds) {
      for (const auto& entrant : entrants_.list) time(*entrant.contender);
    }
  }

  void describe_plan(Measurement& result) {
    const kradix::Plan plan = kradix_plan<Task>(exec_, arrays_, what_);
    std::ostringstream text;
    text << plan;
    result.plan = text.str();
    result.passes = passes_of(plan, varying_bits(exec_, arrays_.source));
    result.bytes = bytes_moved(plan, what_.operation, result.passes);
    result.copy_bandwidth = copy_bandwidth(exec_);
  }

  Case what_;
  Space exec_;
  Entrants<Task> entrants_;
  Arrays<Task> arrays_;
  Stopwatch<Space> stopwatch_;
};

}  // namespace bench
