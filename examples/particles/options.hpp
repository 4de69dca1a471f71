/// The command line of the particle code.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>

namespace particles {

struct Options {
  std::size_t count = 1'000'000;
  std::size_t steps = 20;
  std::size_t sort_every = 10;
  std::uint64_t seed = 1;
  bool help = false;
};

inline constexpr const char* usage =
    "particles: a particle code that re-sorts its particles by Morton cell, timed with and "
    "without\n"
    "  --particles N     number of particles (default 1000000)\n"
    "  --steps N         time steps of each run (default 20)\n"
    "  --sort-every K    steps between sorts of the particles, 0: never (default 10)\n"
    "  --seed N          which random start (default 1)\n"
    "  --help            this text; options that begin with --kokkos- go to Kokkos\n";

template <class Number>
Number parse_number(std::string_view option, std::string_view text) {
  Number number{};
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || rest != text.data() + text.size()) {
    throw std::invalid_argument(std::string(option) + " needs a whole number, not '" +
                                std::string(text) + "'");
  }
  return number;
}

/// Options for Kokkos are left to Kokkos.
inline Options parse_options(int argc, const char* const* argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view option = argv[i];
    const auto read = [&](auto& number) {
      if (++i == argc) throw std::invalid_argument(std::string(option) + " needs a number");
      number = parse_number<std::decay_t<decltype(number)>>(option, argv[i]);
    };
    if (option == "--particles") {
      read(options.count);
    } else if (option == "--steps") {
      read(options.steps);
    } else if (option == "--sort-every") {
      read(options.sort_every);
    } else if (option == "--seed") {
      read(options.seed);
    } else if (option == "--help") {
      options.help = true;
    } else if (!option.starts_with("--kokkos-")) {
      throw std::invalid_argument("unknown option '" + std::string(option) + "', see --help");
    }
  }
  if (options.steps == 0) throw std::invalid_argument("--steps must be at least 1, not 0");
  return options;
}

}  // namespace particles
