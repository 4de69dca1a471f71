// How a distributed sort will go: pure functions of plain numbers that are the same on every rank.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kradix/impl/device/digit.hpp"
#include "kradix/mpi/options.hpp"

namespace kradix::impl::mpi {

using kradix::mpi::Route;
using kradix::mpi::Transport;
using kradix::mpi::Work;

/// What the choices depend on.
struct Situation {
  int ranks = 1;
  int node_size = 1;
  std::uint64_t total = 0;
  std::uint64_t element_bytes = 0;
  bool on_host = true;
  bool partitions = true;  ///< is there a partition for these elements?
  bool merges = false;     ///< can sorted runs of them be merged?
  bool beside = false;     ///< do they arrive beside kernels that merge?
  bool fetches = false;    ///< or can those read them afar?
  bool halves = false;     ///< can halves be sorted one after the other, and merged?
  bool spreads = false;    ///< can keys be spread over cells before they travel?
  bool kept = false;       ///< has every rank a workspace, whose memory others can keep mapped?
};

/// Latency and bandwidth, of a message between nodes and within one. (Seconds, bytes per second.)
struct Network {
  double latency = 10e-6;
  double between_nodes = 45e9;
  double within_node = 350e9;
};

/// Seconds of an exchange of `bytes` per rank in which every rank sends to every other.
inline double one_level_seconds(const Network& network, double ranks, double bytes) {
  return (ranks - 1) * network.latency + bytes / network.between_nodes;
}

/// The same through nodes of `node` ranks: first within them, then between ranks of the same place.
inline double two_level_seconds(const Network& network, double ranks, double node, double bytes) {
  return bytes / network.within_node + ranks / node * network.latency +
         (1 - node / ranks) * bytes / network.between_nodes;
}

inline bool has_nodes(const Situation& s) {
  return s.node_size > 1 && s.node_size < s.ranks && s.ranks % s.node_size == 0;
}

inline Route choose_route(const Situation& s, Route wanted) {
  if (wanted == Route::one_level || !has_nodes(s)) return Route::one_level;
  if (wanted == Route::two_level) return wanted;
  const double bytes = static_cast<double>(s.total / static_cast<std::uint64_t>(s.ranks)) *
                       static_cast<double>(s.element_bytes);
  const bool faster =
      two_level_seconds({}, s.ranks, s.node_size, bytes) < one_level_seconds({}, s.ranks, bytes);
  return faster ? Route::two_level : Route::one_level;
}

/// Cuts whose classes, at most two each and one more, fit one pass of a partition.
inline constexpr int most_cuts_of_a_pass = bin_count / 2 - 1;

/// Runs that are sooner merged than sorted anew: on an H200 a level of merges takes a fifth of a local sort.
inline constexpr int most_merged_runs = 16;

/// Runs that become one at a time, unless there are fewer.
inline constexpr int merge_ways = 8;

/// How many levels of merges make one of so many runs.
inline int merge_levels(std::size_t runs) {
  int levels = 0;
  for (; runs > 1; runs = (runs + merge_ways - 1) / merge_ways) ++levels;
  return levels;
}

inline bool wants_sort_first(Work wanted) {
  return wanted == Work::sort_first || wanted == Work::sort_halves;
}

/// On a device a sort, one exchange and a merge take less than a partition whose exchange shares the
/// processors with sorts.
inline bool merges_sooner(const Situation& s, Work wanted) {
  return !s.on_host && s.ranks > 1 && s.ranks <= most_merged_runs &&
         (wants_sort_first(wanted) || (wanted == Work::automatic && s.merges));
}

inline std::uint64_t bytes_of_a_rank(const Situation& s) {
  return s.total / static_cast<std::uint64_t>(s.ranks) * s.element_bytes;
}

/// The exchange of the first half hides behind the sort of the second. That takes longer by halves where they do not fill the
/// device, and of elements of 4 bytes as much longer as the exchange takes. More ranks would merge in two levels.
inline bool halves_pay(const Situation& s) {
  constexpr std::uint64_t least_bytes = std::uint64_t{1} << 29;
  return s.halves && s.kept && s.ranks >= 2 && 2 * s.ranks <= merge_ways && s.element_bytes >= 8 &&
         bytes_of_a_rank(s) >= least_bytes;
}
inline bool sorts_halves(const Situation& s, Work wanted) {
  if (!s.halves || s.ranks < 2 || 2 * s.ranks > most_merged_runs) return false;
  return wanted == Work::sort_halves || (wanted == Work::automatic && s.fetches && halves_pay(s));
}

/// Ranks whose keys, spread into cells, one kernel takes from where they lie.
inline constexpr int most_spread_ranks = 16;

/// What is left of a local sort goes on while keys arrive, so the exchange hides it. Of fewer keys a sample, and what is planned by
/// it, take as long as splitters. Measured with up to four ranks.
inline bool spreads_first(const Situation& s, Work wanted) {
  constexpr std::uint64_t least = std::uint64_t{1} << 21;
  if (!s.spreads || s.ranks < 2 || s.ranks > most_spread_ranks) return false;
  const bool hides = s.kept && (s.fetches || (s.beside && s.ranks <= 4));
  return wanted == Work::spread_first || (wanted == Work::automatic && hides &&
                                          s.total / static_cast<std::uint64_t>(s.ranks) >= least);
}
/// Parts of the result that arrive one after the other. Two ranks exchange less than they then work on, so the last part counts
/// (but NCCL takes processors for each).
inline int spread_ranges(const Situation& s, int wanted) {
  constexpr std::uint64_t least = std::uint64_t{1} << 23;
  const int most = s.ranks == 2 && s.fetches ? 10 : 6;
  if (wanted > 0 || s.on_host) return std::max(wanted, 1);
  const std::uint64_t by_size = s.total / static_cast<std::uint64_t>(s.ranks) / least;
  return std::max(1, static_cast<int>(std::min<std::uint64_t>(by_size, most)));
}

/// Does what ranks fetch from each other arrive beside sorts and merges, and sooner than NCCL brings it? Measured with up to four.
inline bool fetching_hides(const Situation& s, bool merges_words) {
  return s.kept && merges_words && s.ranks <= 4;
}

/// Where elements arrive beside kernels, parts of the result are sorted, or merged, while others do; parts of less than
/// some million elements would not fill the device. Of two ranks one merge reads what the other shows, and waits for nothing.
inline int choose_ranges(const Situation& s, int wanted, Work work) {
  if (wanted > 0) return wanted;
  const bool merges = merges_sooner(s, work);
  if (s.on_host || s.ranks == 1 || (merges && !s.beside)) return 1;
  const bool halves = sorts_halves(s, work), two = s.ranks == 2;
  if (merges && !halves && s.fetches && s.kept && two) return 1;
  const std::uint64_t least = std::uint64_t{1} << (!merges ? 22 : two ? 23 : 24);
  const int most = halves ? two ? 16 : 8 : merges ? 6 : 4;
  const std::uint64_t by_size = s.total / static_cast<std::uint64_t>(s.ranks) / least;
  const int by_cuts = (most_cuts_of_a_pass + 1) / s.ranks;
  return std::max(
      1, std::min({most, by_cuts, static_cast<int>(std::min<std::uint64_t>(by_size, most))}));
}

/// A partition takes one pass; more cuts than that are easier made in sorted keys.
inline Work choose_work(const Situation& s, int ranges, Work wanted) {
  if (sorts_halves(s, wanted)) return Work::sort_halves;
  const std::int64_t cuts = std::int64_t{s.ranks} * ranges - 1;
  const bool fits = s.partitions && cuts <= most_cuts_of_a_pass;
  const bool sorts =
      wants_sort_first(wanted) || ((ranges == 1 || s.beside) && merges_sooner(s, wanted));
  return fits && !sorts ? Work::partition_first : Work::sort_first;
}

/// Keys that a sample needs so that no part exceeds its share by epsilon, but for rare luck: parts hold
/// 16 / epsilon^2 samples, whose number varies by epsilon / 4. (Who asks for more than MPI's collectives
/// count will as a rule get the exact search.)
inline std::uint64_t sample_size(int ranks, double epsilon) {
  constexpr double most = 1 << 30;
  return static_cast<std::uint64_t>(std::min(most, 16.0 * ranks / (epsilon * epsilon))) + 1;
}

}  // namespace kradix::impl::mpi
