#include "support/bytes.hpp"

#include <algorithm>

#include "support/kernels.hpp"
#include "support/statistics.hpp"
#include "support/stopwatch.hpp"

namespace bench {

int passes_of(const kradix::Plan& plan, const BitMask& varying) {
  const auto varies = [&](int bit) { return (varying[bit / 64] >> bit % 64 & 1) != 0; };
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
  if (plan.algorithm == kradix::Algorithm::msd_hybrid) {
    int moves = 2;  // a sweep and the finish
    for (std::size_t run = plan.count >> plan.digit_bits; run > plan.chunk; run >>= plan.digit_bits)
      ++moves;
    return std::min(passes, moves);
  }
  return passes;
}

double bytes_moved(const kradix::Plan& plan, Operation operation, int passes) {
  const double n = static_cast<double>(plan.count);
  const double k = plan.key_bytes;
  const double v = plan.value_bytes;
  const bool finishes = plan.algorithm == kradix::Algorithm::msd_hybrid;
  const double reads_of_keys = plan.algorithm == kradix::Algorithm::four_kernel ? 2 : 1;
  double per_key = k + passes * ((reads_of_keys + 1) * k + 2 * v);
  if (operation == Operation::argsort) {
    per_key += passes == 0 ? v : -(k + v);
  } else if (passes % 2 == 1 && !finishes) {
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
