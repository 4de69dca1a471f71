// Sweeps the numbers of kradix/impl/tuning.hpp on this device: prints each row beside the present one.
#include "tune/tune.hpp"

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string_view>

#include "kradix/impl/words.hpp"
#include "tune_chosen_words.hpp"

namespace tune {

bool Request::wants(const std::string& table) const {
  return tables.empty() || std::find(tables.begin(), tables.end(), table) != tables.end();
}

namespace {

constexpr const char* usage = R"(tune: the numbers of impl/tuning.hpp, swept on this device.

  --table NAME     sweep_shape, spread_shape, finish_shape, small_shapes (of 2^18 keys), look_back,
                   counting_shapes (of keys of 1 and 2 bytes), blocks, serial_round (all that this device has)
  --words NAME     one of those built in, listed below (all)
  --count N        keys (2^26 on devices, 2^22 on hosts)
  --seconds S      for each row (1)

Each candidate's result is checked; times are medians of rounds in which all candidates take turns, and "x"
is the present numbers' time over the candidate's. Words:)";

const std::vector<Words>& all_words() {
  static const std::vector<Words> all{
#define KRADIX_TUNE_ENTRY(name, key, value) Words{name, &tune_words<key, value>},
      KRADIX_TUNE_CHOSEN_WORDS(KRADIX_TUNE_ENTRY)
#undef KRADIX_TUNE_ENTRY
  };
  return all;
}

struct Command {
  Request request;
  std::string words;
  bool help = false;
};

template <class Number>
Number number(const std::string& option, const std::string& text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !(value > 0))
    throw std::invalid_argument("tune: " + option + " takes a number above 0, not \"" + text +
                                "\"");
  return value;
}

void set(Command& command, const std::string& option, const std::string& text) {
  if (option == "--table") {
    if (std::find(std::begin(all_tables), std::end(all_tables), text) == std::end(all_tables))
      throw std::invalid_argument("tune: there is no table " + text + "; --help lists them");
    command.request.tables.push_back(text);
  } else if (option == "--words") {
    const auto known = [&](const Words& words) { return words.name == text; };
    if (std::none_of(all_words().begin(), all_words().end(), known))
      throw std::invalid_argument("tune: there are no words " + text + "; --help lists them");
    command.words = text;
  } else if (option == "--count") {
    command.request.count = number<std::size_t>(option, text);
  } else if (option == "--seconds") {
    command.request.seconds = number<double>(option, text);
  } else {
    throw std::invalid_argument("tune: there is no option " + option + "; --help lists them");
  }
}

Command parse(int argc, char** argv) {
  Command command;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    if (option == "--help") {
      command.help = true;
    } else if (i + 1 == argc) {
      throw std::invalid_argument("tune: " + option + " needs an argument");
    } else {
      set(command, option, argv[++i]);
    }
  }
  return command;
}

bool run(const Command& command) {
  bool right = true;
  for (const Words& words : all_words()) {
    if (command.words.empty() || command.words == words.name) right &= words.tune(command.request);
  }
  return right;
}

}  // namespace
}  // namespace tune

int main(int argc, char** argv) {
  try {
    const tune::Command command = tune::parse(argc, argv);
    if (command.help) {
      std::fputs(tune::usage, stdout);
      for (const tune::Words& words : tune::all_words()) std::printf(" %s", words.name.c_str());
      std::printf("\n");
      return 0;
    }
    const Kokkos::ScopeGuard kokkos(argc, argv);
    return tune::run(command) ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
