/// What a caller may choose. Every default is the library's own choice.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "kradix/key.hpp"
#include "kradix/study_options.hpp"

namespace kradix {

class Workspace;

/// The sorting algorithms; each has a page in docs/algorithms/.
enum class Algorithm : std::uint8_t {
  automatic,    ///< the plan chooses
  four_kernel,  ///< count, scan tiles, scan bins, scatter: stable, on every Kokkos backend
  onesweep,     ///< one read and one write a pass by decoupled look-back: stable, needs lanes
  blocked_radix,  ///< blocks to buckets and buckets to order, each in a core's cache: stable, on hosts
  msd_hybrid,     ///< sweeps over the top digits, then a finish in scratch: stable, needs lanes
  small_msd,  ///< one launch for a few thousand elements, three to a million: stable, needs lanes
  counting,   ///< keys of 1 and 2 bytes alone, counted and written anew: needs lanes
  // For study and comparison: never chosen by a plan, built-in keys only, in Kradix::compiled only.
  bit_split,        ///< a bit at a time by map, scan and scatter of whole arrays
  serial_radix,     ///< counting sort of digit after digit on one host thread
  zagha_blelloch,   ///< processors count, one scan over all buckets, processors permute
  satish,           ///< tiles sorted by one-bit splits, histograms scanned, runs copied
  four_prefix,      ///< two bits a pass, four prefix sums in one divide and conquer
  ha_kruger_silva,  ///< two bits a pass, three counts in a word, pairs side by side
  hp_sort,          ///< integers in a range, from histograms and prefix sums
  hp_distinct,      ///< the same for keys of which none comes twice
  hp_compressed,    ///< the same, skipping values that do not occur
  hp_stable,        ///< histogram and prefix sums as a stable digit pass
  transposed,       ///< histogram, transpose, scan, transpose, rank and permute
  one_team,         ///< small arrays in one kernel of one team
};

/// Every algorithm that can be forced.
inline constexpr std::array all_algorithms{
    Algorithm::four_kernel, Algorithm::onesweep,     Algorithm::msd_hybrid,
    Algorithm::small_msd,   Algorithm::counting,     Algorithm::blocked_radix,
    Algorithm::bit_split,   Algorithm::serial_radix, Algorithm::zagha_blelloch,
    Algorithm::satish,      Algorithm::four_prefix,  Algorithm::ha_kruger_silva,
    Algorithm::hp_sort,     Algorithm::hp_distinct,  Algorithm::hp_compressed,
    Algorithm::hp_stable,   Algorithm::transposed,   Algorithm::one_team,
};

/// Is this one of the algorithms for study (docs/seeds.md)? They are the last enumerators.
constexpr bool is_study(Algorithm algorithm) {
  return algorithm >= Algorithm::bit_split;
}

constexpr std::string_view name(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::automatic:
      return "automatic";
    case Algorithm::four_kernel:
      return "four_kernel";
    case Algorithm::onesweep:
      return "onesweep";
    case Algorithm::msd_hybrid:
      return "msd_hybrid";
    case Algorithm::small_msd:
      return "small_msd";
    case Algorithm::counting:
      return "counting";
    case Algorithm::blocked_radix:
      return "blocked_radix";
    case Algorithm::bit_split:
      return "bit_split";
    case Algorithm::serial_radix:
      return "serial_radix";
    case Algorithm::zagha_blelloch:
      return "zagha_blelloch";
    case Algorithm::satish:
      return "satish";
    case Algorithm::four_prefix:
      return "four_prefix";
    case Algorithm::ha_kruger_silva:
      return "ha_kruger_silva";
    case Algorithm::hp_sort:
      return "hp_sort";
    case Algorithm::hp_distinct:
      return "hp_distinct";
    case Algorithm::hp_compressed:
      return "hp_compressed";
    case Algorithm::hp_stable:
      return "hp_stable";
    case Algorithm::transposed:
      return "transposed";
    case Algorithm::one_team:
      return "one_team";
  }
  return "unknown";
}

/// The algorithm of this name, or nothing.
constexpr std::optional<Algorithm> algorithm_from_name(std::string_view wanted) {
  if (wanted == name(Algorithm::automatic)) return Algorithm::automatic;
  for (const Algorithm algorithm : all_algorithms) {
    if (wanted == name(algorithm)) return algorithm;
  }
  return std::nullopt;
}

/// sort_by_key and argsort are always stable. `sort` alone need not be, where keys that compare equal
/// differ in bits: by default it puts −0 before +0, and NaNs in the order of their bits, positive ones
/// first (keys outside the BitRange's bits stay as they came). So its result never depends on the order of
/// its input, and it is faster. `stable` asks it to keep the input order of equal keys.
enum class Stability : std::uint8_t { automatic, stable };

/// May a call wait, on the host, for what its first kernels find out about the data? Kernels that would find nothing to do are
/// not launched then: sorts by msd_hybrid on GPUs take 2 to 10 % less, those that find little to do up to a third, and integers
/// that spread evenly a tenth to a quarter, for what suits them alone is tried. A call that waits returns when its first kernels
/// and all work that was enqueued before are done, and, if something was tried, the kernels that see whether it does (after about
/// half of the sort). It must not be captured into a graph, and needs a Workspace, which keeps 4 KB of host memory for it; without
/// one it does not wait.
enum class HostWait : std::uint8_t {
  automatic,  ///< in calls without an instance, which fence anyway
  never,
  allowed,
};

struct Options {
  Order order = Order::ascending;
  BitRange bits{};
  Stability stability = Stability::automatic;
  Algorithm algorithm = Algorithm::automatic;
  HostWait host_wait = HostWait::automatic;
  /// Scratch memory to reuse from call to call; without it every call allocates and frees its own.
  Workspace* workspace = nullptr;
  /// First part of every kernel, region and allocation label that Kokkos Tools see. Must not be null.
  const char* label = "kradix";
  StudyOptions study{};  ///< read by the algorithms for study alone
};

}  // namespace kradix
