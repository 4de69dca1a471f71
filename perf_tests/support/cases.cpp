#include "support/cases.hpp"

#include "support/key_types.hpp"

namespace bench {
namespace {

std::vector<std::size_t> counts_of(const Options& options) {
  std::vector<std::size_t> counts;
  if (options.has("--sweep")) {
    const int from = options.get("--from", 10), to = options.get("--to", 24);
    if (from < 0 || to > 40 || from > to) {
      refuse("--from " + std::to_string(from) + " --to " + std::to_string(to) +
             " are not powers within 0..40");
    }
    for (int power = from; power <= to; ++power) counts.push_back(std::size_t{1} << power);
  } else {
    for (const std::string& text : split(options.text("--count", "1048576"))) {
      counts.push_back(number<std::size_t>("--count", text));
    }
  }
  for (const std::size_t count : counts) {
    if (count == 0) refuse("--count 0 leaves nothing to measure");
  }
  return counts;
}

Operation operation_of(const Options& options, int value_bytes) {
  const std::string wanted = options.text("--operation", value_bytes == 0 ? "sort" : "sort_by_key");
  for (const Operation operation : {Operation::sort, Operation::sort_by_key, Operation::argsort}) {
    if (wanted == name(operation)) return operation;
  }
  refuse("--operation \"" + wanted + "\" is none of sort, sort_by_key, argsort");
}

std::vector<int> value_widths_of(const Options& options, const KeyType& key) {
  std::vector<int> widths;
  if (options.has("--values")) {
    for (const std::string& text : split(options.text("--values", ""))) {
      widths.push_back(number<int>("--values", text));
    }
  } else if (options.has("--operation")) {
    widths.push_back(options.text("--operation", "") == "sort" ? 0 : 4);
  } else {
    widths.push_back(0);
    if (options.has("--sweep")) widths.push_back(key.bytes <= 4 ? 4 : static_cast<int>(key.bytes));
  }
  return widths;
}

/// Values are the indices of their keys.
void require_distinct_values(int width, std::size_t count) {
  if (width == 4 && count > std::size_t{1} << 32) {
    refuse("4-byte values cannot tell " + std::to_string(count) +
           " keys apart, as the check needs");
  }
}

void require_held(const inputs::Input& input, const KeyType& key) {
  if (input.distribution == inputs::Distribution::max_value && key.bytes < 8 &&
      input.parameter >> 8 * key.bytes != 0) {
    refuse("--max-value " + std::to_string(input.parameter) + " is more than " +
           std::string(key.name) + " holds");
  }
}

/// "uniform", or "some_values:1000".
inputs::Input input_from(const std::string& text, std::uint64_t seed) {
  const std::size_t colon = text.find(':');
  const auto found = inputs::distribution_from_name(text.substr(0, colon));
  if (!found) {
    refuse("there is no distribution \"" + text.substr(0, colon) + "\", but all, " +
           names_of(inputs::distributions));
  }
  inputs::Input input{*found, seed};
  if (inputs::takes_parameter(*found) != (colon != std::string::npos)) {
    refuse("--distribution " + text +
           (colon == std::string::npos ? " needs a parameter: NAME:P" : " takes no parameter"));
  }
  if (colon != std::string::npos)
    input.parameter = number<std::uint64_t>("--distribution " + text, text.substr(colon + 1));
  return input;
}

std::vector<inputs::Input> inputs_of(const Options& options, const KeyType& key) {
  const auto seed = options.get("--seed", std::uint64_t{1});
  std::vector<inputs::Input> all;
  if (options.has("--max-value")) {
    if (options.has("--distribution"))
      refuse("--max-value is itself a distribution: leave out --distribution");
    all.push_back(
        {inputs::Distribution::max_value, seed, options.get("--max-value", std::uint64_t{0})});
  } else if (options.text("--distribution", "") == "all") {
    for (const inputs::Entry& entry : inputs::distributions) {
      if (!inputs::takes_parameter(entry.distribution)) all.push_back({entry.distribution, seed});
    }
  } else {
    for (const std::string& text : split(options.text("--distribution", "uniform")))
      all.push_back(input_from(text, seed));
  }
  for (const inputs::Input& input : all) require_held(input, key);
  return all;
}

kradix::Algorithm algorithm_of(const std::string& wanted) {
  const auto found = kradix::algorithm_from_name(wanted);
  if (found) return *found;
  std::string names = "automatic";
  for (const kradix::Algorithm algorithm : kradix::all_algorithms) {
    names += ", " + std::string(kradix::name(algorithm));
  }
  refuse("there is no algorithm \"" + wanted + "\", but " + names);
}

bool takes_range(kradix::Algorithm algorithm) {
  return algorithm == kradix::Algorithm::hp_sort || algorithm == kradix::Algorithm::hp_distinct ||
         algorithm == kradix::Algorithm::hp_compressed;
}

kradix::StudyOptions study_from(const std::string& text) {
  try {
    return kradix::study_from_text(text);
  } catch (const std::invalid_argument& error) {
    refuse("--study " + text + ": " + error.what());
  }
}

/// Parameters for an algorithm for study, with the range of the keys where the input tells it.
kradix::StudyOptions study_of(const Options& options, const Case& what) {
  kradix::StudyOptions study = study_from(options.text("--study", ""));
  const std::uint64_t end = inputs::value_end(what.input, what.count);
  if (takes_range(what.algorithm) && study.range_end == 0 && end > 0) {
    const KeyType& key = key_type(what.key);
    const bool is_signed = key.name.front() == 'i';  // whose encoding begins with the negative keys
    study.range_begin = is_signed ? std::uint64_t{1} << (8 * key.bytes - 1) : 0;
    study.range_end = study.range_begin + end;
  }
  return study;
}

}  // namespace

std::vector<Case> cases_of(const Options& options) {
  std::vector<Case> cases;
  Case what;
  what.pace.rounds = options.get("--repetitions", 0);
  if (what.pace.rounds < 0)
    refuse("--repetitions " + std::to_string(what.pace.rounds) + " is negative");
  if (options.has("--sweep")) what.pace.seconds = 0.3;
  what.pace.seconds = options.get("--seconds", what.pace.seconds);
  what.pace.slow_down = options.get("--slow-down", 0.0);
  if (what.pace.seconds < 0 || what.pace.slow_down < 0)
    refuse("--seconds and --slow-down take no negative numbers");
  what.host_waits = options.has("--host-waits");
  what.phases = options.has("--phases");
  what.peers = !options.has("--no-peers");
  const std::vector<std::size_t> counts = counts_of(options);
  for (const std::string& key : split(options.text("--sweep", options.text("--key", "u32")))) {
    what.key = key;
    const KeyType& type = key_type(key);
    for (const int width : value_widths_of(options, type)) {
      what.value_bytes = width;
      what.operation = operation_of(options, width);
      for (const std::string& algorithm : split(options.text("--algorithm", "automatic"))) {
        what.algorithm = algorithm_of(algorithm);
        for (const inputs::Input& input : inputs_of(options, type)) {
          what.input = input;
          for (const std::size_t count : counts) {
            require_distinct_values(width, count);
            what.count = count;
            what.study = study_of(options, what);
            cases.push_back(what);
          }
        }
      }
    }
  }
  return cases;
}

}  // namespace bench
