// Medians and spreads of interleaved times.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "support/case.hpp"

namespace bench {

struct Spread {
  double median, least, most;
};

inline Spread spread_of(std::vector<double> samples) {
  if (samples.empty()) throw std::invalid_argument("bench: the spread of 0 samples");
  std::sort(samples.begin(), samples.end());
  const std::size_t half = samples.size() / 2;
  const double median =
      samples.size() % 2 == 1 ? samples[half] : (samples[half - 1] + samples[half]) / 2;
  return {median, samples.front(), samples.back()};
}

/// How many times longer a peer took than we did. Times of one round are neighbours in time, so what
/// slows the machine slows both and their ratio stays.
inline Spread ratio_of(const Series& peer, const Series& ours) {
  std::vector<double> ratios(peer.seconds.size());
  for (std::size_t i = 0; i < ratios.size(); ++i) ratios[i] = peer.seconds[i] / ours.seconds.at(i);
  return spread_of(ratios);
}

/// Share of the time that moving the bytes at copy speed would take; caches can bring it past 1.
inline double share_of_bound(const Measurement& m, double seconds) {
  return m.bytes / m.copy_bandwidth / seconds;
}

}  // namespace bench
