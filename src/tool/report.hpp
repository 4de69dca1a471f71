// What the user is told: one-line JSON on stdout, progress on a terminal.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace tool {

/// A flat JSON object in one line.
class JsonLine {
 public:
  JsonLine& add(std::string_view name, std::string_view text);
  JsonLine& add(std::string_view name, const char* text) {
    return add(name, std::string_view(text));
  }
  JsonLine& add(std::string_view name, std::uint64_t number);
  JsonLine& add(std::string_view name, int number);
  JsonLine& add(std::string_view name, double number);
  JsonLine& add(std::string_view name, bool yes);
  std::string text() const { return "{" + fields_ + "}"; }

 private:
  JsonLine& field(std::string_view name, const std::string& json);
  std::string fields_;
};

/// Percent done of long work, on stderr when that is a terminal, else nothing.
class Progress {
 public:
  Progress(std::string what, std::uint64_t total_bytes);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void advance(std::uint64_t bytes);

 private:
  std::string what_;
  std::uint64_t total_, done_ = 0;
  std::chrono::steady_clock::time_point next_;
  bool shown_ = false;
};

class Timer {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// "%.3g" and the like.
std::string format_number(const char* format, double number);

/// A line on stdout; an output that cannot be written is a failure.
void print_line(const std::string& line);

/// Line breaks become "; ", so that an error is one line wherever it came from.
std::string one_line(std::string text);

}  // namespace tool
