#include "report.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <unistd.h>

namespace tool {

namespace {

std::string quoted(std::string_view text) {
  std::string json = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      json += {'\\', c};
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", static_cast<unsigned>(c));
      json += escaped;
    } else {
      json += c;
    }
  }
  return json + "\"";
}

constexpr std::chrono::milliseconds refresh{200};

}  // namespace

JsonLine& JsonLine::field(std::string_view name, const std::string& json) {
  fields_ += (fields_.empty() ? "" : ", ") + quoted(name) + ": " + json;
  return *this;
}
JsonLine& JsonLine::add(std::string_view name, std::string_view text) {
  return field(name, quoted(text));
}
JsonLine& JsonLine::add(std::string_view name, std::uint64_t number) {
  return field(name, std::to_string(number));
}
JsonLine& JsonLine::add(std::string_view name, int number) {
  return field(name, std::to_string(number));
}
JsonLine& JsonLine::add(std::string_view name, double number) {
  return field(name, format_number("%.6g", number));
}
JsonLine& JsonLine::add(std::string_view name, bool yes) {
  return field(name, yes ? "true" : "false");
}

Progress::Progress(std::string what, std::uint64_t total_bytes)
    : what_(std::move(what)),
      total_(total_bytes),
      next_(isatty(STDERR_FILENO) ? std::chrono::steady_clock::now() + refresh
                                  : std::chrono::steady_clock::time_point::max()) {}

Progress::~Progress() {
  if (shown_) std::fputs("\r\033[K", stderr);
}

void Progress::advance(std::uint64_t bytes) {
  done_ += bytes;
  const auto now = std::chrono::steady_clock::now();
  if (now < next_) return;
  next_ = now + refresh;
  shown_ = true;
  const double share = total_ ? static_cast<double>(done_) / static_cast<double>(total_) : 1;
  std::fprintf(stderr, "\r\033[Kkradix: %s %.0f %%", what_.c_str(), 100 * share);
}

std::string format_number(const char* format, double number) {
  char text[64];
  std::snprintf(text, sizeof text, format, number);
  return text;
}

void print_line(const std::string& line) {
  if (std::printf("%s\n", line.c_str()) < 0 || std::fflush(stdout) != 0) {
    throw std::runtime_error(std::string("cannot write to stdout: ") + std::strerror(errno));
  }
}

std::string one_line(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  for (std::size_t at; (at = text.find('\n')) != std::string::npos;) text.replace(at, 1, "; ");
  return text;
}

}  // namespace tool
