// The options of the command line, before anyone gives them a meaning.
#pragma once

#include <charconv>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace bench {

[[noreturn]] inline void refuse(const std::string& message) {
  throw std::invalid_argument("bench_sort: " + message);
}

/// The names of a table's entries, for messages.
template <class Entries>
std::string names_of(const Entries& entries) {
  std::string names;
  for (const auto& entry : entries) names += (names.empty() ? "" : ", ") + std::string(entry.name);
  return names;
}

inline std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> parts(1);
  for (const char c : list) {
    if (c == ',') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

template <class Number>
Number number(const std::string& option, const std::string& text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) {
    refuse(option + " takes a number, not \"" + text + "\"");
  }
  return value;
}

/// Options with an argument, as they were given.
class Options {
 public:
  void set(const std::string& option, const std::string& text) { given_[option] = text; }
  bool has(const std::string& option) const { return given_.count(option) > 0; }
  std::string text(const std::string& option, const std::string& otherwise) const {
    const auto found = given_.find(option);
    return found == given_.end() ? otherwise : found->second;
  }
  template <class Number>
  Number get(const std::string& option, Number otherwise) const {
    return has(option) ? number<Number>(option, given_.at(option)) : otherwise;
  }

 private:
  std::map<std::string, std::string> given_;
};

}  // namespace bench
