#include "support/bytes.hpp"

#include <algorithm>

#include "support/kernels.hpp"
#include "support/statistics.hpp"
#include "support/stopwatch.hpp"

namespace bench {

namespace {

using kradix::Algorithm;

/// Scans read a number twice and write it once in divide and conquer, else once and once.
double scan_bytes(const kradix::Plan& plan) {
  return plan.study.scan == kradix::ArrayScan::divide_and_conquer ? 24 : 16;
}

/// Per key of one pass of an algorithm for study.
double study_pass_bytes(const kradix::Plan& plan) {
  const double k = plan.key_bytes, v = plan.value_bytes;
  switch (plan.algorithm) {
    case Algorithm::bit_split:
      return 3 * k + 2 * v + 16 + scan_bytes(plan);
    case Algorithm::satish:
      return 4 * (k + v);
    case Algorithm::ha_kruger_silva:
      return v == 0 || plan.study.separate_arrays ? 4 * (k + v) : 8 * std::max(k, v);
    default:
      return 3 * k + 2 * v;
  }
}

/// Of all values of the range, and per key, for sorts that make keys from counts.
double hp_bytes(const kradix::Plan& plan) {
  const auto range = static_cast<double>(plan.study.range_end - plan.study.range_begin);
  const double n = static_cast<double>(plan.count), k = plan.key_bytes, scan = scan_bytes(plan);
  switch (plan.algorithm) {
    case Algorithm::hp_sort:
      return range * (16 + scan) + n * (2 * k + 16 + scan);
    case Algorithm::hp_distinct:
      return range * (16 + scan) + n * 2 * k;
    default:
      return range * 24 + n * (2 * k + 16 + scan);
  }
}

double study_bytes(const kradix::Plan& plan, Operation operation, int passes) {
  if (plan.algorithm == Algorithm::hp_sort || plan.algorithm == Algorithm::hp_distinct ||
      plan.algorithm == Algorithm::hp_compressed) {
    return hp_bytes(plan);
  }
  const double k = plan.key_bytes, v = plan.value_bytes;
  const bool two_steps = plan.algorithm == Algorithm::satish ||
                         plan.algorithm == Algorithm::ha_kruger_silva ||
                         plan.algorithm == Algorithm::one_team;
  double per_key = plan.study.map == kradix::RangeMap::none ? 0 : k;
  per_key += plan.algorithm == Algorithm::one_team && passes > 0 ? 4 * (k + v)
                                                                 : passes * study_pass_bytes(plan);
  const bool mixed = plan.algorithm == Algorithm::ha_kruger_silva && v > 0 &&
                     !plan.study.separate_arrays && passes > 0;
  if (mixed) per_key -= 2 * (2 * std::max(k, v) - k - v);  // the ends of the sort are not pairs
  if (operation == Operation::argsort) {
    per_key += passes == 0 ? v : -(k + v);
  } else if (passes % 2 == 1 && !two_steps) {
    per_key += 2 * (k + v);
  }
  return static_cast<double>(plan.count) * per_key;
}

/// From the caller's lowest bit to the highest that varies.
int width_that_varies(const kradix::Plan& plan, const BitMask& varying) {
  int end = plan.bits.begin;
  for (int bit = plan.bits.begin; bit < plan.bits.end; ++bit) {
    if (varying[bit / 64] >> bit % 64 & 1) end = bit + 1;
  }
  return end - plan.bits.begin;
}

int study_passes(const kradix::Plan& plan, const BitMask& varying) {
  if (plan.study.map != kradix::RangeMap::exact) return plan.passes;
  return (width_that_varies(plan, varying) + plan.digit_bits - 1) / plan.digit_bits;
}

/// Moves of elements: one while a cache takes all, else one a level and that out of the cache.
int blocked_passes(const kradix::Plan& plan) {
  int moves = 1;
  for (std::size_t run = plan.count; run > plan.chunk; run >>= plan.digit_bits) ++moves;
  return moves;
}

}  // namespace

int passes_of(const kradix::Plan& plan, const BitMask& varying) {
  if (is_study(plan.algorithm)) return study_passes(plan, varying);
  const auto varies = [&](int bit) { return (varying[bit / 64] >> bit % 64 & 1) != 0; };
  if (plan.algorithm == kradix::Algorithm::blocked_radix) return blocked_passes(plan);
  if (plan.algorithm == kradix::Algorithm::counting) return 1;
  const bool fixed_digits = plan.algorithm != kradix::Algorithm::four_kernel;
  int passes = 0;
  int bit = plan.bits.begin;
  while (bit < plan.bits.end) {
    if (!varies(bit)) {
      ++bit;
      continue;
    }
    ++passes;
    const int into_digit = fixed_digits ? (bit - plan.bits.begin) % plan.digit_bits : 0;
    bit += plan.digit_bits - into_digit;
  }
  if (plan.algorithm == kradix::Algorithm::msd_hybrid ||
      plan.algorithm == kradix::Algorithm::small_msd) {
    int moves = 2;  // a sweep and the finish
    for (std::size_t run = plan.count >> plan.digit_bits; run > plan.chunk; run >>= plan.digit_bits)
      ++moves;
    // Of many keys alone two passes leave few values in a run, which are counted.
    const bool counts = plan.value_bytes == 0 && plan.count >= std::size_t{1} << 28 &&
                        width_that_varies(plan, varying) <= 2 * plan.digit_bits + 16;
    return std::min(passes, counts ? 3 : moves);
  }
  return passes;
}

double bytes_moved(const kradix::Plan& plan, Operation operation, int passes) {
  if (is_study(plan.algorithm)) return study_bytes(plan, operation, passes);
  const double n = static_cast<double>(plan.count);
  const double k = plan.key_bytes;
  const double v = plan.value_bytes;
  if (plan.algorithm == kradix::Algorithm::counting) return n * 2 * k;
  const bool finishes = plan.algorithm == kradix::Algorithm::msd_hybrid ||
                        plan.algorithm == kradix::Algorithm::small_msd;
  const double reads_of_keys = plan.algorithm == kradix::Algorithm::four_kernel ? 2 : 1;
  const bool blocks = plan.algorithm == kradix::Algorithm::blocked_radix;
  double per_key = (blocks ? 0 : k) + passes * ((reads_of_keys + 1) * k + 2 * v);
  if (operation == Operation::argsort) {
    per_key += passes == 0 ? v : -(k + v);
  } else if (passes % 2 == 1 && !finishes && !blocks) {
    per_key += 2 * (k + v);
  }
  return n * per_key;
}

double copy_bandwidth(const Space& exec) {
  static const double bandwidth = [&] {
    constexpr std::size_t bytes = std::size_t{1} << 28;
    const Array<std::uint64_t> from("bench::copy from", bytes / sizeof(std::uint64_t));
    const Array<std::uint64_t> to("bench::copy to", bytes / sizeof(std::uint64_t));
    inputs::fill(exec, from, {});
    Stopwatch<Space> stopwatch(exec);
    std::vector<double> seconds;
    for (int round = 0; round < 9; ++round) {
      stopwatch.start();
      copy_bytes(exec, to.data(), from.data(), bytes);
      seconds.push_back(stopwatch.stop());
    }
    return 2.0 * bytes / spread_of(seconds).median;
  }();
  return bandwidth;
}

}  // namespace bench
