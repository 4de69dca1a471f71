// Where samples of the keys lie.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>

namespace kradix::impl {

/// Spreads samples over the keys, each at a random place of its own stretch.
struct SamplePlaces {
  std::size_t stride;

  KOKKOS_FUNCTION SamplePlaces(std::size_t count, std::size_t samples)
      : stride(count > samples ? count / samples : 1) {}
  KOKKOS_FUNCTION std::size_t of(std::size_t sample) const {
    // Two rounds of a multiplicative mixer: neighbours' places must not follow a pattern.
    auto mixed = static_cast<std::uint32_t>(sample) * 0x9e3779b9u;
    mixed = (mixed ^ mixed >> 16) * 0x85ebca6bu;
    mixed ^= mixed >> 13;
    return sample * stride +
           static_cast<std::size_t>((mixed * static_cast<std::uint64_t>(stride)) >> 32);
  }
};

}  // namespace kradix::impl
