// All trials of a table's row on the same data, taking turns, each checked first.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "support/kernels.hpp"
#include "support/statistics.hpp"
#include "support/stopwatch.hpp"
#include "support/verify.hpp"
#include "tune/trial.hpp"

namespace tune {

using bench::Array;

/// "sweep_shape, key 4 B, value 8 B"
struct Row {
  std::string table;
  std::size_t key_bytes, value_bytes;
};

template <class Key, class Value>
class Contest {
  static constexpr bool with_values = bytes_of<Value> > 0;
  using Index = std::conditional_t<with_values, Value, std::uint32_t>;

 public:
  Contest(const Space& exec, std::size_t count, double seconds)
      : exec_(exec),
        seconds_(seconds),
        source_("tune::source", count),
        keys_("tune::keys", count),
        values_("tune::values", with_values ? count : 0),
        stopwatch_(exec) {
    inputs::fill(exec, source_, {});
    if constexpr (!with_values) expected_ = bench::sorted_keys(exec, source_);
  }

  /// Prints every trial beside the present one; returns whether all that ran sorted right.
  bool hold(const Row& row, const std::vector<Trial<Key, Value>>& trials) {
    std::printf("%s, key %zu B, value %zu B, 2^%.1f keys\n", row.table.c_str(), row.key_bytes,
                row.value_bytes, std::log2(static_cast<double>(source_.extent(0))));
    std::vector<const Trial<Key, Value>*> running;
    bool right = true;
    for (const auto& trial : trials) {
      try {
        reserve(trial.scratch_bytes);
        check(trial);
        running.push_back(&trial);
      } catch (const bench::WrongResult& error) {
        std::printf("  %-16s WRONG: %s\n", trial.numbers.c_str(), error.what());
        right = false;
      } catch (const std::exception& error) {
        std::printf("  %-16s does not run: %s\n", trial.numbers.c_str(), error.what());
      }
    }
    show(running, take_turns(running));
    return right;
  }

 private:
  using Series = bench::Series;

  void reserve(std::size_t bytes) {
    if (scratch_.extent(0) < bytes) {
      scratch_ = {};
      scratch_ = Array<std::byte>(Kokkos::view_alloc("tune::scratch", Kokkos::WithoutInitializing),
                                  bytes + impl::scratch_alignment);
    }
  }

  double time(const Trial<Key, Value>& trial) {
    bench::copy_bytes(exec_, keys_.data(), source_.data(), source_.extent(0) * sizeof(Key));
    if constexpr (with_values) bench::number(exec_, values_);
    Value* values = nullptr;
    if constexpr (with_values) values = values_.data();
    stopwatch_.start();
    trial.sort(exec_, keys_.data(), values, impl::aligned_scratch(scratch_.data()));
    return stopwatch_.stop();
  }

  void check(const Trial<Key, Value>& trial) {
    time(trial);
    if constexpr (with_values) {
      bench::require_order(exec_, source_, keys_, values_, true, trial.numbers);
    } else {
      bench::require(exec_, source_.extent(0), bench::CheckKeys<Key>{expected_, keys_},
                     trial.numbers, "wrong key");
    }
  }

  std::vector<Series> take_turns(const std::vector<const Trial<Key, Value>*>& trials) {
    std::vector<Series> series;
    for (const auto* trial : trials) series.push_back({trial->numbers});
    double spent = 0;
    for (int round = 0; round < 5 || spent < seconds_; ++round) {
      for (std::size_t i = 0; i < trials.size(); ++i) {
        series[i].seconds.push_back(time(*trials[i]));
        spent += series[i].seconds.back();
      }
      if (trials.empty()) break;
    }
    return series;
  }

  /// The present numbers' times over a candidate's, round by round, in order.
  static std::vector<double> gains_of(const Series& candidate, const Series& present) {
    std::vector<double> gains;
    for (std::size_t i = 0; i < candidate.seconds.size(); ++i)
      gains.push_back(present.seconds[i] / candidate.seconds[i]);
    std::sort(gains.begin(), gains.end());
    return gains;
  }

  /// The first trial is the present one. Another one must win three of four rounds to be named.
  static void show(const std::vector<const Trial<Key, Value>*>& trials,
                   const std::vector<Series>& series) {
    if (series.empty()) return;
    std::size_t best = 0;
    double best_gain = 1;
    for (std::size_t i = 0; i < series.size(); ++i) {
      const bench::Spread time = bench::spread_of(series[i].seconds);
      const std::vector<double> gains = gains_of(series[i], series.front());
      const double gain = gains[gains.size() / 2];
      std::printf("  %-16s %10.4f ms  %10.4f..%-10.4f  %6.3f x%s\n", series[i].name.c_str(),
                  time.median * 1e3, time.least * 1e3, time.most * 1e3, gain,
                  trials[i]->present ? "  present" : "");
      if (gain > best_gain && gains[gains.size() / 4] > 1) {
        best_gain = gain;
        best = i;
      }
    }
    if (best == 0) {
      std::printf("  => none is faster than the present %s\n\n", series.front().name.c_str());
    } else {
      std::printf("  => %s, %.1f %% faster than the present %s\n\n", series[best].name.c_str(),
                  100 * (best_gain - 1), series.front().name.c_str());
    }
    std::fflush(stdout);
  }

  Space exec_;
  double seconds_;
  Array<Key> source_, keys_, expected_;
  Array<Index> values_;
  Array<std::byte> scratch_;
  bench::Stopwatch<Space> stopwatch_;
};

}  // namespace tune
