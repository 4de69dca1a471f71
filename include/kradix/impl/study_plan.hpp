// Plans of the algorithms for study: their parameters, checked, and their tiles.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>

#include "kradix/impl/plan.hpp"

namespace kradix::impl {

/// Which arrays an algorithm moves elements between.
enum class ArrayUse {
  none,       ///< the result is made from counts
  straight,   ///< from one to the other and back, a pass each
  two_steps,  ///< there and back in every pass
};

/// What an algorithm for study can do.
struct StudyTraits {
  int digit_bits;  ///< unless the caller says otherwise
  int most_digit_bits;
  ArrayUse arrays = ArrayUse::straight;
};

constexpr StudyTraits study_traits(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::bit_split:
      return {1, 1};
    case Algorithm::serial_radix:
    case Algorithm::zagha_blelloch:
      return {8, 16};
    case Algorithm::satish:
      return {4, 8, ArrayUse::two_steps};
    case Algorithm::four_prefix:
      return {2, 2};
    case Algorithm::ha_kruger_silva:
      return {2, 2, ArrayUse::two_steps};
    case Algorithm::hp_sort:
    case Algorithm::hp_distinct:
    case Algorithm::hp_compressed:
      return {1, 1, ArrayUse::none};
    case Algorithm::hp_stable:
      return {4, 6};
    case Algorithm::transposed:
      return {8, 8};
    case Algorithm::one_team:
      return {8, 16, ArrayUse::two_steps};
    default:
      return {0, 0};
  }
}

/// How a team works through its tile: `items` elements of each of `threads` threads.
constexpr TeamShape study_shape(Algorithm algorithm, bool host) {
  switch (algorithm) {
    case Algorithm::zagha_blelloch:  // a processor is a thread
      return host ? TeamShape{1, 1} : TeamShape{64, 1};
    case Algorithm::satish:
      return host ? TeamShape{1, 1024} : TeamShape{256, 4};
    case Algorithm::ha_kruger_silva:  // counts of a tile must fit 10 bits
      return host ? TeamShape{1, 1020} : TeamShape{128, 4};
    case Algorithm::hp_stable:
      return host ? TeamShape{1, 2048} : TeamShape{128, 16};
    default:
      return host ? TeamShape{1, 4096} : TeamShape{256, 16};
  }
}

[[noreturn]] inline void refuse_study(Algorithm algorithm, const std::string& why) {
  throw std::invalid_argument("kradix: " + std::string(name(algorithm)) + " " + why);
}

inline void check_study_digits(Algorithm algorithm, const StudyTraits& traits, int wanted) {
  if (wanted == 0 || (wanted >= 1 && wanted <= traits.most_digit_bits)) return;
  refuse_study(algorithm, "takes digits of 1 to " + std::to_string(traits.most_digit_bits) +
                              " bits, not " + std::to_string(wanted));
}

/// Options come as plain numbers too.
inline void check_study_choices(Algorithm algorithm, const StudyOptions& study) {
  const auto map = static_cast<std::size_t>(study.map);
  const auto scan = static_cast<std::size_t>(study.scan);
  if (map >= range_map_names.size()) {
    refuse_study(algorithm, "knows no range map " + std::to_string(map));
  }
  if (scan >= array_scan_names.size()) {
    refuse_study(algorithm, "knows no array scan " + std::to_string(scan));
  }
}

inline void check_study_map(Algorithm algorithm, const Problem& problem, BitRange bits) {
  if (problem.study.map != RangeMap::approximate) return;
  const bool whole = bits.begin == 0 && bits.end == problem.key_bits;
  if (problem.floating && problem.key_bytes >= 4 && whole) return;
  refuse_study(algorithm,
               "maps ranges approximately for float and double alone and all their bits: these "
               "are " +
                   std::string(problem.floating ? "floats" : "integers") + " of " +
                   std::to_string(problem.key_bits) + " bits, bits [" + std::to_string(bits.begin) +
                   ", " + std::to_string(bits.end) + ")");
}

inline void check_study_scan(Algorithm algorithm, const Problem& problem, const Machine& machine) {
  if (problem.study.scan == ArrayScan::divide_and_conquer || machine.has_lanes) return;
  refuse_study(algorithm, "scans in one kernel only where there are lanes (scan method " +
                              std::to_string(static_cast<int>(problem.study.scan)) + ")");
}

/// Values that a key may have there.
constexpr std::uint64_t range_size(const StudyOptions& study) {
  return study.range_end - study.range_begin;
}

/// Sorts that make keys from counts: which keys, and from which range.
inline void plan_range(const Problem& problem, Plan& plan) {
  constexpr std::uint64_t most = std::uint64_t{1} << 30;  // 8 GB of counts
  const Algorithm algorithm = plan.algorithm;
  const auto number = [](auto value) { return std::to_string(value); };
  if (problem.floating || plan.bits.begin > 0 || plan.bits.end < problem.key_bits) {
    refuse_study(algorithm,
                 "makes keys from counts: it takes integers by all their bits, these are " +
                     std::string(problem.floating ? "floats" : "integers") + " of " +
                     number(problem.key_bits) + " bits, bits [" + number(plan.bits.begin) + ", " +
                     number(plan.bits.end) + ")");
  }
  if (problem.value_bytes > 0) {
    refuse_study(algorithm, "makes keys from counts: it takes no values, these have " +
                                number(problem.value_bytes) + " bytes");
  }
  if (problem.study.map != RangeMap::none) {
    refuse_study(algorithm, "takes its range from range_begin and range_end, it maps none");
  }
  StudyOptions& study = plan.study;
  if (study.range_begin == 0 && study.range_end == 0 && problem.key_bits <= 16) {
    study.range_end = std::uint64_t{1} << problem.key_bits;
  }
  const bool fits = problem.key_bits >= 64 || study.range_end >> problem.key_bits == 0 ||
                    study.range_end == std::uint64_t{1} << problem.key_bits;
  if (study.range_begin >= study.range_end || range_size(study) > most || !fits) {
    refuse_study(algorithm, "takes ranges of 1 to " + number(most) + " values of the key's " +
                                number(problem.key_bits) + " bits, not [" +
                                number(study.range_begin) + ", " + number(study.range_end) + ")");
  }
}

/// The document's Q and B, and copies of the histograms.
inline void plan_team(const Problem& problem, Plan& plan) {
  constexpr int most_items = 32, most_copies = 8;  // registers of a thread, scratch of a team
  const auto number = [](int value) { return std::to_string(value); };
  StudyOptions& study = plan.study;
  study.threads = problem.study.threads == 0 ? 256 : problem.study.threads;
  study.items = problem.study.items == 0 ? 22 : problem.study.items;
  study.copies = problem.study.copies == 0 ? 1 : problem.study.copies;
  const int threads = study.threads, items = study.items, copies = study.copies;
  if (threads != 128 && threads != 256 && threads != 512) {
    refuse_study(plan.algorithm, "takes teams of 128, 256 or 512 threads, not " + number(threads));
  }
  // Words of the tile and two numbers a bin must fit 48 KB, what Kokkos keeps there besides.
  constexpr int most_tile = 10240;
  if (items < 1 || items > most_items || items * threads > most_tile) {
    refuse_study(plan.algorithm, "takes 1 to " + number(std::min(most_items, most_tile / threads)) +
                                     " items of each of " + number(threads) + " threads, not " +
                                     number(items));
  }
  if (copies < 1 || copies > most_copies) {
    refuse_study(plan.algorithm, "takes 1 to " + number(most_copies) +
                                     " copies of a histogram, not " + number(copies));
  }
}

inline void check_one_team(const Plan& plan) {
  if (plan.count <= plan.tile) return;
  refuse_study(plan.algorithm, "sorts at most " + std::to_string(plan.tile) + " keys, these are " +
                                   std::to_string(plan.count));
}

/// How many processors zagha_blelloch takes: threads that run at once, but buckets of at most 128 MB.
inline std::size_t processor_count(const Problem& problem, const Machine& machine, int digit_bits) {
  if (problem.study.tiles > 0) return std::min(problem.study.tiles, problem.count);
  constexpr std::size_t most_buckets = std::size_t{1} << 24, least_share = 256;
  const auto threads = static_cast<std::size_t>(machine.concurrency);
  return std::clamp<std::size_t>(problem.count / least_share, 1,
                                 std::min(threads, most_buckets >> digit_bits));
}

/// Elements per tile.
inline std::size_t study_tile(const Problem& problem, const Machine& machine, const Plan& plan) {
  if (plan.algorithm == Algorithm::serial_radix) return std::max<std::size_t>(1, plan.count);
  if (plan.algorithm == Algorithm::zagha_blelloch) {
    const std::size_t processors =
        std::max<std::size_t>(1, processor_count(problem, machine, plan.digit_bits));
    return std::max<std::size_t>(1, (plan.count + processors - 1) / processors);
  }
  if (plan.algorithm == Algorithm::transposed) {
    return static_cast<std::size_t>(plan.study.items) * plan.study.threads;
  }
  return static_cast<std::size_t>(study_shape(plan.algorithm, machine.shape.serial()).round());
}

/// Makes the plan one of the algorithm for study that it names; throws where that cannot be.
inline void plan_study(const Problem& problem, const Machine& machine, Plan& plan) {
  const Algorithm algorithm = plan.algorithm;
  const StudyTraits traits = study_traits(algorithm);
  plan.study = problem.study;
  check_study_digits(algorithm, traits, problem.study.digit_bits);
  check_study_choices(algorithm, problem.study);
  check_study_map(algorithm, problem, plan.bits);
  check_study_scan(algorithm, problem, machine);
  plan.digit_bits = problem.study.digit_bits > 0 ? problem.study.digit_bits : traits.digit_bits;
  plan.study.digit_bits = plan.digit_bits;
  int code_bits = plan.bits.end - plan.bits.begin;
  if (problem.study.map == RangeMap::approximate) code_bits = problem.key_bytes == 4 ? 24 : 53;
  plan.passes = (code_bits + plan.digit_bits - 1) / plan.digit_bits;
  if (traits.arrays == ArrayUse::none) plan.passes = 1;
  if (algorithm == Algorithm::transposed) plan_team(problem, plan);
  plan.round = plan.tile = study_tile(problem, machine, plan);
  plan.tiles = (plan.count + plan.tile - 1) / plan.tile;
  if (traits.arrays == ArrayUse::none) plan_range(problem, plan);
  if (algorithm == Algorithm::one_team) check_one_team(plan);
}

}  // namespace kradix::impl
