// JSON by hand: names and plans hold no character that needs escaping but quotes and backslashes.
#include <cstdio>

#include "support/report.hpp"
#include "support/statistics.hpp"

namespace bench {
namespace {

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

void print_series(const Series& series, const Series& ours) {
  const Spread time = spread_of(series.seconds);
  const Spread ratio = ratio_of(series, ours);
  std::printf("      {\"name\": %s, \"median_s\": %.9g, \"least_s\": %.9g, \"most_s\": %.9g,\n",
              quoted(series.name).c_str(), time.median, time.least, time.most);
  std::printf("       \"ratio\": %.6g, \"ratio_least\": %.6g, \"ratio_most\": %.6g,\n",
              ratio.median, ratio.least, ratio.most);
  if (series.temporary_bytes)
    std::printf("       \"temporary_bytes\": %zu,\n", *series.temporary_bytes);
  std::printf("       \"seconds\": [");
  for (std::size_t i = 0; i < series.seconds.size(); ++i) {
    std::printf("%s%.9g", i == 0 ? "" : ", ", series.seconds[i]);
  }
  std::printf("]}");
}

}  // namespace

JsonReport::JsonReport() {
  std::printf("{\"machine\": %s,\n \"cases\": [", quoted(machine_line()).c_str());
}

void JsonReport::add(const Measurement& m) {
  const Series& ours = m.series.front();
  std::printf("%s\n   {\"operation\": %s, \"key\": %s, \"value_bytes\": %d, \"count\": %zu,\n",
              first_ ? "" : ",", quoted(std::string(name(m.what.operation))).c_str(),
              quoted(m.what.key).c_str(), m.what.value_bytes, m.what.count);
  std::printf("    \"distribution\": %s, \"seed\": %llu, \"plan\": %s,\n",
              quoted(std::string(name(m.what.input.distribution))).c_str(),
              static_cast<unsigned long long>(m.what.input.seed), quoted(m.plan).c_str());
  std::printf("    \"algorithm\": %s,", quoted(std::string(name(m.what.algorithm))).c_str());
  if (m.what.input.distribution == inputs::Distribution::max_value) {
    std::printf(" \"max_value\": %llu,", static_cast<unsigned long long>(m.what.input.max_value));
  }
  std::printf("\n");
  std::printf(
      "    \"passes\": %d, \"bytes\": %.0f, \"copy_bytes_per_s\": %.6g, \"share_of_bound\": "
      "%.4g,\n",
      m.passes, m.bytes, m.copy_bandwidth, share_of_bound(m, spread_of(ours.seconds).median));
  std::printf("    \"contenders\": [\n");
  for (std::size_t s = 0; s < m.series.size(); ++s) {
    if (s > 0) std::printf(",\n");
    print_series(m.series[s], ours);
  }
  std::printf("]}");
  first_ = false;
}

void JsonReport::finish() {
  std::printf("\n ]}\n");
}

}  // namespace bench
