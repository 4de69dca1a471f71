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

/// Places anywhere among `count`, some of them twice. Keys may follow any pattern, so these follow none:
/// multiplications alone would make a lattice, which meets a pattern's period always or never.
struct RandomPlaces {
  std::size_t count;

  KOKKOS_FUNCTION std::size_t of(std::uint32_t sample) const {
    std::uint64_t mixed = (std::uint64_t{sample} + 1) * 0x9e3779b97f4a7c15u;
    mixed = (mixed ^ mixed >> 29) * 0xbf58476d1ce4e5b9u;
    mixed = (mixed ^ mixed >> 32) * 0x94d049bb133111ebu;
    const std::uint64_t part = mixed >> 32;
    return part * (count >> 32) + (part * (count & 0xffffffffu) >> 32);
  }
};

}  // namespace kradix::impl
