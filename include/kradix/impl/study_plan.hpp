// Plans of the algorithms for study: their parameters, checked, and their tiles.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>

#include "kradix/impl/plan.hpp"

namespace kradix::impl {

/// Which arrays an algorithm moves elements between.
enum class ArrayUse {
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
  return static_cast<std::size_t>(study_shape(plan.algorithm, machine.shape.serial()).round());
}

/// Makes the plan one of the algorithm for study that it names; throws where that cannot be.
inline void plan_study(const Problem& problem, const Machine& machine, Plan& plan) {
  const Algorithm algorithm = plan.algorithm;
  const StudyTraits traits = study_traits(algorithm);
  plan.study = problem.study;
  if (!problem.builtin_key) refuse_study(algorithm, "sorts built-in keys only");
  check_study_digits(algorithm, traits, problem.study.digit_bits);
  check_study_map(algorithm, problem, plan.bits);
  check_study_scan(algorithm, problem, machine);
  plan.digit_bits = problem.study.digit_bits > 0 ? problem.study.digit_bits : traits.digit_bits;
  plan.study.digit_bits = plan.digit_bits;
  int code_bits = plan.bits.end - plan.bits.begin;
  if (problem.study.map == RangeMap::approximate) code_bits = problem.key_bytes == 4 ? 24 : 53;
  plan.passes = (code_bits + plan.digit_bits - 1) / plan.digit_bits;
  plan.round = plan.tile = study_tile(problem, machine, plan);
  plan.tiles = (plan.count + plan.tile - 1) / plan.tile;
}

}  // namespace kradix::impl
