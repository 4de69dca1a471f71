#include "support/json.hpp"

#include <cstdarg>
#include <cstdio>
#include <fstream>
#include <unistd.h>

#include "support/bytes.hpp"
#include "support/key_types.hpp"
#include "support/report.hpp"
#include "support/statistics.hpp"
#include "support/stopwatch.hpp"

namespace bench {
namespace {

#ifdef __GNUC__
__attribute__((format(printf, 1, 2)))
#endif
std::string
printed(const char* format, ...) {
  char text[256];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return text;
}

/// [of(items[0]), of(items[1]), ...]
template <class Items, class Of>
std::string list_of(const Items& items, const Of& of) {
  std::string text;
  for (const auto& item : items) text += (text.empty() ? "" : ", ") + of(item);
  return '[' + text + ']';
}

std::string json_of_series(const Series& series, const Series& ours) {
  if (!series.wrong.empty())
    return "{\"name\": " + json_of(series.name) + ", \"wrong\": " + json_of(series.wrong) + '}';
  const Spread time = spread_of(series.seconds);
  const Spread ratio = ratio_of(series, ours);
  std::string text = "{\"name\": " + json_of(series.name);
  text += printed(", \"median_s\": %.9g, \"least_s\": %.9g, \"most_s\": %.9g", time.median,
                  time.least, time.most);
  text += printed(", \"ratio\": %.6g, \"ratio_least\": %.6g, \"ratio_most\": %.6g", ratio.median,
                  ratio.least, ratio.most);
  if (series.temporary_bytes)
    text += printed(", \"temporary_bytes\": %zu", *series.temporary_bytes);
  return text + ", \"seconds\": " +
         list_of(series.seconds, [](double seconds) { return printed("%.9g", seconds); }) + '}';
}

std::string json_of_phase(const Phase& phase) {
  return "{\"kernel\": " + json_of(phase.label) +
         printed(", \"seconds\": %.9g, \"launches\": %d}", phase.seconds, phase.launches);
}

/// That can be had now.
std::size_t memory_bytes() {
#ifdef KOKKOS_ENABLE_CUDA
  std::size_t available = 0, all = 0;
  check(cudaMemGetInfo(&available, &all), "cudaMemGetInfo");
  return available;
#else
  std::ifstream table("/proc/meminfo");
  std::string word;
  std::size_t kilobytes = 0;
  while (table >> word && word != "MemAvailable:") {
  }
  if (table >> kilobytes) return kilobytes * 1024;
  return static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) *
         static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
#endif
}

}  // namespace

std::string json_of(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return out + '"';
}

std::string json_of(const Measurement& m) {
  const Series& ours = m.series.front();
  std::string text = "{\"operation\": " + json_of(std::string(name(m.what.operation))) +
                     ", \"key\": " + json_of(m.what.key);
  text += printed(", \"value_bytes\": %d, \"count\": %zu", m.what.value_bytes, m.what.count);
  text += ", \"distribution\": " + json_of(std::string(name(m.what.input.distribution)));
  if (takes_parameter(m.what.input.distribution)) {
    text +=
        printed(", \"parameter\": %llu", static_cast<unsigned long long>(m.what.input.parameter));
  }
  text += printed(", \"seed\": %llu", static_cast<unsigned long long>(m.what.input.seed));
  text += ", \"algorithm\": " + json_of(std::string(name(m.what.algorithm)));
  text += std::string(", \"host_waits\": ") + (m.what.host_waits ? "true" : "false");
  text += ", \"plan\": " + json_of(m.plan);
  text += printed(", \"passes\": %d, \"bytes\": %.0f, \"copy_bytes_per_s\": %.6g", m.passes,
                  m.bytes, m.copy_bandwidth);
  text += printed(", \"share_of_bound\": %.4g", share_of_bound(m, spread_of(ours.seconds).median));
  if (!m.phases.empty()) text += ", \"phases\": " + list_of(m.phases, json_of_phase);
  return text + ", \"contenders\": " +
         list_of(m.series, [&](const Series& series) { return json_of_series(series, ours); }) +
         '}';
}

std::string json_of_machine() {
  const Space exec;
  std::string text =
      "{\"machine\": " + json_of(machine_line()) + ", \"device\": " + json_of(device_name());
  text += printed(", \"threads\": %d, \"memory_bytes\": %zu, \"copy_bytes_per_s\": %.6g",
                  exec.concurrency(), memory_bytes(), copy_bandwidth(exec));
  text += std::string(", \"host\": ") + (in_host_memory ? "true" : "false");
  text += printed(", \"devices\": %d", in_host_memory ? 0 : Kokkos::num_devices());
  return text + ", \"keys\": " +
         list_of(key_types(),
                 [](const KeyType& type) {
                   return "{\"name\": " + json_of(std::string(type.name)) +
                          printed(", \"bytes\": %zu}", type.bytes);
                 }) +
         ", \"distributions\": " +
         list_of(inputs::distributions,
                 [](const auto& entry) {
                   return "{\"name\": " + json_of(std::string(entry.name)) + ", \"parameter\": " +
                          (takes_parameter(entry.distribution) ? "true" : "false") +
                          ", \"summary\": " + json_of(std::string(entry.summary)) + '}';
                 }) +
         '}';
}

// One document: the machine, and its cases as they come.
JsonReport::JsonReport() {
  std::printf("{\"machine\": %s,\n \"cases\": [", json_of_machine().c_str());
}

void JsonReport::add(const Measurement& m) {
  std::printf("%s\n   %s", first_ ? "" : ",", json_of(m).c_str());
  first_ = false;
}

void JsonReport::finish() {
  std::printf("\n ]}\n");
}

}  // namespace bench
