#include "support/stream.hpp"

#include <cstdio>
#include <iostream>
#include <sstream>

#include "support/arguments.hpp"
#include "support/json.hpp"
#include "support/key_types.hpp"

namespace bench {
namespace {

void answer(const std::string& json) {
  std::printf("%s\n", json.c_str());
  std::fflush(stdout);
}

std::string measure(const std::string& line) {
  std::istringstream words(line);
  std::vector<std::string> arguments{"bench_sort"};
  for (std::string word; words >> word;) arguments.push_back(word);
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  const Request request = parse(static_cast<int>(pointers.size()), pointers.data());
  if (request.cases.size() != 1)
    throw std::invalid_argument("bench_sort: a line asks for one case, not for " +
                                std::to_string(request.cases.size()));
  const Case& what = request.cases.front();
  return json_of(key_type(what.key).measure(what));
}

}  // namespace

void run_stream() {
  answer(json_of_machine());
  for (std::string line; std::getline(std::cin, line);) {
    try {
      answer(measure(line));
    } catch (const std::exception& error) {
      answer("{\"error\": " + json_of(std::string(error.what())) + '}');
    }
  }
}

}  // namespace bench
