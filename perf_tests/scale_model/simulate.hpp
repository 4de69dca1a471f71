// The splitter search of the library on any number of ranks, in one process: their histograms are
// added up before they are made, by counting all keys at once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <kradix/impl/mpi/layout.hpp>
#include <kradix/impl/mpi/splitters.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/inputs.hpp"

namespace scale_model {

using Key = std::uint64_t;

/// What a search took, and what sizes it led to.
struct Search {
  int rounds = 0;
  std::uint64_t bytes = 0;       ///< of histograms, in all rounds
  std::uint64_t most_bytes = 0;  ///< in one round
  std::uint64_t cut_runs = 0;    ///< cuts inside a run of equal keys
  double imbalance = 1;
};

/// All keys, sorted: only their order matters to the sums of histograms.
inline std::vector<Key> sorted_keys(inputs::Distribution distribution, std::uint64_t count) {
  const inputs::Input input{distribution, 1};
  std::vector<Key> keys(count);
  for (std::uint64_t i = 0; i < count; ++i) keys[i] = input.at<Key>(i, count);
  std::sort(keys.begin(), keys.end());
  return keys;
}

/// counts[prefix][digit] of sorted keys.
inline std::vector<std::uint64_t> count_digits(const std::vector<Key>& keys,
                                               const std::vector<Key>& prefixes,
                                               kradix::impl::mpi::Window window) {
  std::vector<std::uint64_t> counts(prefixes.size() * 256, 0);
  const int above = window.shift + window.width;
  const auto prefix_of = [&](Key key) { return above >= 64 ? Key{0} : key >> above; };
  auto at = keys.begin();
  for (std::size_t p = 0; p < prefixes.size(); ++p) {
    at = std::lower_bound(at, keys.end(), prefixes[p],
                          [&](Key key, Key prefix) { return prefix_of(key) < prefix; });
    for (; at != keys.end() && prefix_of(*at) == prefixes[p]; ++at) {
      ++counts[p * 256 + (*at >> window.shift & ((Key{1} << window.width) - 1))];
    }
  }
  return counts;
}

inline Search simulate(const std::vector<Key>& keys, std::uint64_t ranks) {
  std::vector<std::uint64_t> targets{};
  for (std::uint64_t r = 1, sum = 0; r < ranks; ++r) {
    targets.push_back(sum += kradix::impl::mpi::balanced_size(keys.size(), ranks, r - 1));
  }
  Key all_set = ~Key{0}, some_set = 0;
  for (const Key key : keys) all_set &= key, some_set |= key;
  kradix::impl::mpi::SplitterSearch<Key> search(64, keys.size(), keys.size(), targets);
  search.leave_out_constant_bits(all_set, all_set ^ some_set);
  Search result;
  while (!search.done()) {
    const auto counts = count_digits(keys, search.prefixes(), search.window());
    result.bytes += counts.size() * sizeof(std::uint64_t);
    result.most_bytes =
        std::max<std::uint64_t>(result.most_bytes, counts.size() * sizeof(std::uint64_t));
    search.refine(counts.data(), counts.data());
  }
  result.rounds = search.rounds();
  std::uint64_t left = 0, largest = 0;
  for (const auto& cut : search.cuts()) {
    const std::uint64_t place = kradix::impl::mpi::elements_left(cut, 0);
    const bool right = place == 0 || place == keys.size() ||
                       (keys[place - 1] <= cut.bits && cut.bits <= keys[place]);
    if (!right) throw std::runtime_error("a cut after " + std::to_string(place) + " keys is wrong");
    if (place > cut.local_less) ++result.cut_runs;
    largest = std::max(largest, place - left);
    left = place;
  }
  largest = std::max<std::uint64_t>(largest, keys.size() - left);
  result.imbalance =
      static_cast<double>(largest) * static_cast<double>(ranks) / static_cast<double>(keys.size());
  return result;
}

}  // namespace scale_model
