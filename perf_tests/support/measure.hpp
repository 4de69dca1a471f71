// All contenders of a case on the same data in one process, taking turns.
#pragma once

#include <algorithm>
#include <chrono>
#include <numeric>
#include <random>
#include <sstream>
#include <vector>

#include "peers.hpp"
#include "support/phases.hpp"
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
    verify();
    for (const auto& entrant : entrants_.list)
      result.series.push_back({entrant.name, {}, {}, entrant.wrong});
    warm_up();
    const Clock::time_point begin = Clock::now();
    std::vector<std::size_t> order(entrants_.list.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::mt19937 random;
    for (int round = 0; goes_on(round, begin); ++round) {
      // Nobody follows the same one always: a device may be busy yet with memory that the one before has freed.
      std::shuffle(order.begin(), order.end(), random);
      for (const std::size_t e : order) {
        if (takes_part(round, e)) result.series[e].seconds.push_back(time_counted(e));
      }
    }
    if (what_.phases) result.phases = measure_phases();
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
    const bool is_long = entrants_.list.front().quickest > Pace::long_from;
    if (round < (is_long ? Pace::fewest_of_long : Pace::fewest)) return true;
    return round < Pace::most && seconds_since(begin) < what_.pace.seconds;
  }

  bool takes_part(int round, std::size_t e) const {
    const Entrant<Task>& entrant = entrants_.list[e];
    if (!entrant.wrong.empty()) return false;
    if (e == 0 || what_.pace.rounds > 0 || round < Pace::fewest_of_slow) return true;
    if (round < Pace::fewest && entrant.quickest <= Pace::quick_until) return true;
    const double share = what_.pace.seconds / static_cast<double>(entrants_.list.size());
    return entrant.spent <= 2 * share;
  }

  double time_counted(std::size_t entrant) {
    const double slow_down = entrant == 0 ? what_.pace.slow_down : 0;
    const double seconds = time(entrants_.list[entrant], slow_down);
    entrants_.list[entrant].spent += seconds;
    return seconds;
  }

  /// Every contender starts from the same fresh data, just written.
  void refresh() {
    if constexpr (Task::operation != Operation::argsort) {
      copy_bytes(exec_, arrays_.keys.data(), arrays_.source.data(), what_.count * sizeof(Key));
    }
    if constexpr (Task::operation == Operation::sort_by_key) number(exec_, arrays_.values);
  }

  double time(Entrant<Task>& entrant, double slow_down = 0) {
    Contender<Task>& contender = *entrant.contender;
    refresh();
    contender.before_run();
    stopwatch_.start();
    const Clock::time_point begin = Clock::now();
    contender.run(exec_, arrays_);
    if (slow_down > 0) linger(begin, slow_down);
    const double seconds = stopwatch_.stop();
    contender.after_run();
    entrant.quickest = std::min(entrant.quickest, seconds);
    return seconds;
  }

  /// Waits for what was started at `begin` and then that many percent longer.
  void linger(Clock::time_point begin, double percent) {
    exec_.fence("bench: before lingering");
    const double end = seconds_since(begin) * (1 + percent / 100);
    while (seconds_since(begin) < end) {
    }
  }

  std::vector<Phase> measure_phases() {
    constexpr int sorts = 5;
    PhaseClock clock;
    for (int i = 0; i < sorts; ++i) {
      refresh();
      clock.start(exec_);
      entrants_.list.front().contender->run(exec_, arrays_);
      clock.stop();
    }
    return clock.medians();
  }

  /// A wrong result of ours is thrown; a peer that gives one takes no further part.
  void verify() {
    Array<Key> expected;
    if constexpr (Task::operation == Operation::sort) expected = sorted_keys(exec_, arrays_.source);
    for (auto& entrant : entrants_.list) {
      try {
        verify(entrant, expected);
      } catch (const WrongResult& error) {
        if (&entrant == &entrants_.list.front()) throw;
        entrant.wrong = error.what();
      }
    }
  }

  void verify(Entrant<Task>& entrant, const Array<Key>& expected) {
    const std::string who = entrant.name + ", " + title(what_);
    if constexpr (Arrays<Task>::with_values) {
      // What the last contender left there would be right.
      spoil_bytes(exec_, arrays_.values.data(), what_.count * sizeof(Value));
    }
    time(entrant);
    if constexpr (Task::operation == Operation::sort) {
      require(exec_, what_.count, CheckKeys<Key>{expected, arrays_.keys}, who, "wrong key");
    } else {
      const Array<Key> none;
      require_order(exec_, arrays_.source,
                    Task::operation == Operation::argsort ? none : arrays_.keys, arrays_.values,
                    entrant.stable, who);
    }
  }

  /// Beside the verified run: everyone while that costs little, who is quick some times at least.
  void warm_up() {
    const Clock::time_point begin = Clock::now();
    for (int turn = 0;; ++turn) {
      const bool everyone = seconds_since(begin) < what_.pace.warm_up_seconds;
      if (!everyone && turn >= Pace::warm_ups_of_quick) return;
      for (auto& entrant : entrants_.list) {
        if (entrant.wrong.empty() && (everyone || entrant.quickest <= Pace::quick_until))
          time(entrant);
      }
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
