/// What a caller may choose. Every default is the library's own choice.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "kradix/key.hpp"

namespace kradix {

class Workspace;

/// The sorting algorithms; each has a page in docs/algorithms/.
enum class Algorithm : std::uint8_t {
  automatic,    ///< the plan chooses
  four_kernel,  ///< count, scan tiles, scan bins, scatter: stable, on every Kokkos backend
  onesweep,     ///< one read and one write a pass by decoupled look-back: stable, needs lanes
  msd_hybrid,   ///< sweeps over the top digits, then a finish in scratch: stable, needs lanes
};

/// Every algorithm that can be forced.
inline constexpr std::array all_algorithms{Algorithm::four_kernel, Algorithm::onesweep,
                                           Algorithm::msd_hybrid};

constexpr std::string_view name(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::automatic:
      return "automatic";
    case Algorithm::four_kernel:
      return "four_kernel";
    case Algorithm::onesweep:
      return "onesweep";
    case Algorithm::msd_hybrid:
      return "msd_hybrid";
  }
  return "unknown";
}

/// The algorithm of this name, or nothing.
constexpr std::optional<Algorithm> algorithm_from_name(std::string_view wanted) {
  if (wanted == name(Algorithm::automatic)) return Algorithm::automatic;
  for (const Algorithm algorithm : all_algorithms) {
    if (wanted == name(algorithm)) return algorithm;
  }
  return std::nullopt;
}

/// sort_by_key and argsort are always stable. `sort` alone may by default put keys that compare equal
/// but differ in bits (−0 and +0, NaNs, bits outside the BitRange) in any order; `stable` asks it to
/// keep their input order too.
enum class Stability : std::uint8_t { automatic, stable };

struct Options {
  Order order = Order::ascending;
  BitRange bits{};
  Stability stability = Stability::automatic;
  Algorithm algorithm = Algorithm::automatic;
  /// Scratch memory to reuse from call to call; without it every call allocates and frees its own.
  Workspace* workspace = nullptr;
  /// First part of every kernel, region and allocation label that Kokkos Tools see. Must not be null.
  const char* label = "kradix";
};

}  // namespace kradix
