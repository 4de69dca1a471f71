#include "support/report.hpp"

#include <cmath>
#include <cstdio>
#include <map>
#include <sstream>

#include "support/key_types.hpp"
#include "support/statistics.hpp"

namespace bench {
namespace {

double million_keys(const Measurement& m, double seconds) {
  return static_cast<double>(m.what.count) / seconds * 1e-6;
}

/// Of the keys and their values.
double input_bytes(const Measurement& m) {
  const std::size_t key_bytes = key_type(m.what.key).bytes;
  const auto value_bytes = static_cast<std::size_t>(m.what.value_bytes);
  return static_cast<double>(m.what.count * (key_bytes + value_bytes));
}

std::string input_of(const Case& what) {
  if (what.input.distribution != inputs::Distribution::max_value) return text_of(what.input);
  return "0.." + std::to_string(what.input.parameter);
}

/// "sort_by_key of u32 keys with 4-byte values", after `count` where there is one.
std::string subject(const Case& what, const std::string& count = "") {
  std::ostringstream text;
  text << name(what.operation) << " of " << count << what.key << " keys";
  if (what.operation == Operation::sort_by_key) {
    text << " with " << what.value_bytes << "-byte values";
  }
  if (what.algorithm != kradix::Algorithm::automatic) text << " by " << name(what.algorithm);
  return text.str();
}

void print_bound(const Measurement& m) {
  const double seconds = spread_of(m.series.front().seconds).median;
  std::printf("plan: %s\n", m.plan.c_str());
  std::printf(
      "byte bound: %d passes move %.3f GB, %.3f ms at the %.1f GB/s of a copy; Kradix moves them "
      "at "
      "%.1f GB/s, %.0f %% of the bound\n",
      m.passes, m.bytes * 1e-9, m.bytes / m.copy_bandwidth * 1e3, m.copy_bandwidth * 1e-9,
      m.bytes / seconds * 1e-9, 100 * share_of_bound(m, seconds));
}

std::string megabytes(const std::optional<std::size_t>& bytes) {
  if (!bytes) return "-";
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", static_cast<double>(*bytes) * 1e-6);
  return text;
}

}  // namespace

std::string device_name() {
#ifdef KOKKOS_ENABLE_CUDA
  return Kokkos::Cuda().cuda_device_prop().name;
#else
  return std::string(Space::name()) + ", " + std::to_string(Space().concurrency()) + " threads";
#endif
}

std::string machine_line() {
  std::ostringstream line;
  line << device_name() << ", Kokkos " << KOKKOS_VERSION / 10000 << '.'
       << KOKKOS_VERSION / 100 % 100 << '.' << KOKKOS_VERSION % 100 << ", Kradix "
       << KRADIX_VERSION_MAJOR << '.' << KRADIX_VERSION_MINOR << '.' << KRADIX_VERSION_PATCH;
  return line.str();
}

void TableReport::add(const Measurement& m) {
  std::printf("%s, %s: medians of %zu rounds (%s)\n",
              subject(m.what, std::to_string(m.what.count) + ' ').c_str(), input_of(m.what).c_str(),
              m.series.front().seconds.size(), machine_line().c_str());
  std::printf("%-32s %11s %10s %8s %8s", "", "ms", "Mkeys/s", "GB/s", "ratio");
  if (details_)
    std::printf("   %-21s  %-17s %12s", "ms least..most", "ratio least..most", "temporary MB");
  std::printf("\n");
  for (const Series& series : m.series) {
    if (!series.wrong.empty()) {
      std::printf("%-32s was wrong: %s\n", series.name.c_str(), series.wrong.c_str());
      continue;
    }
    const Spread time = spread_of(series.seconds);
    const Spread ratio = ratio_of(series, m.series.front());
    std::printf("%-32s %11.4f %10.1f %8.2f %8.2f", series.name.c_str(), time.median * 1e3,
                million_keys(m, time.median), input_bytes(m) / time.median * 1e-9, ratio.median);
    if (details_) {
      std::printf("   %9.4f..%-10.4f  %7.2f..%-8.2f %12s", time.least * 1e3, time.most * 1e3,
                  ratio.least, ratio.most, megabytes(series.temporary_bytes).c_str());
    }
    std::printf("\n");
  }
  if (details_) print_bound(m);
  std::fflush(stdout);
}

void RowReport::add(const Measurement& m) {
  if (heading_.empty()) std::printf("%s\n", machine_line().c_str());
  const std::string what = subject(m.what);
  std::string heading = what;
  for (const Series& series : m.series) heading += '|' + series.name;
  if (heading != heading_) {
    std::printf("\n%s\n%-14s %12s %11s %9s %10s %6s", what.c_str(), "input", "keys", "Kradix ms",
                "Mkeys/s", "moved GB/s", "bound");
    for (std::size_t s = 1; s < m.series.size(); ++s) {
      std::printf(" | %19s ms  ratio  %-12s", m.series[s].name.c_str(), "least..most");
    }
    std::printf("\n");
    heading_ = heading;
  }
  const double seconds = spread_of(m.series.front().seconds).median;
  std::printf("%-14s %12zu %11.4f %9.1f %10.1f %5.0f%%", input_of(m.what).c_str(), m.what.count,
              seconds * 1e3, million_keys(m, seconds), m.bytes / seconds * 1e-9,
              100 * share_of_bound(m, seconds));
  for (std::size_t s = 1; s < m.series.size(); ++s) {
    if (!m.series[s].wrong.empty()) {
      std::printf(" | %22s %6s  %-12s", "wrong", "-", "-");
      continue;
    }
    const Spread ratio = ratio_of(m.series[s], m.series.front());
    std::printf(" | %22.4f %6.2f  %5.2f..%-5.2f", spread_of(m.series[s].seconds).median * 1e3,
                ratio.median, ratio.least, ratio.most);
    ratios_.push_back({m.series[s].name, title(m.what), ratio.median});
  }
  std::printf("\n");
  std::fflush(stdout);
}

void RowReport::finish() {
  struct Sum {
    double logarithms = 0;
    int cases = 0;
    const Ratio* least = nullptr;
  };
  std::map<std::string, Sum> sums;
  for (const Ratio& ratio : ratios_) {
    Sum& sum = sums[ratio.peer];
    sum.logarithms += std::log(ratio.value);
    ++sum.cases;
    if (!sum.least || ratio.value < sum.least->value) sum.least = &ratio;
  }
  std::printf("\n");
  for (const auto& [peer, sum] : sums) {
    std::printf("%s: ratio %.2f in the geometric mean of %d cases, least %.2f at %s\n",
                peer.c_str(), std::exp(sum.logarithms / sum.cases), sum.cases, sum.least->value,
                sum.least->where.c_str());
  }
}

}  // namespace bench
