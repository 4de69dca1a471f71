// Where samples of the keys lie.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>

#include "kradix/impl/device/bins.hpp"
#include "kradix/impl/device/digit.hpp"

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

/// Places anywhere among `count`, none of them twice for up to as many samples. Keys may follow any pattern, so these follow
/// none: multiplications alone would make a lattice, which meets a pattern's period always or never.
struct RandomPlaces {
  std::size_t count;

  /// A permutation of the numbers of as many bits as it takes: those that are no places are permuted on.
  KOKKOS_FUNCTION std::size_t of(std::uint32_t sample) const {
    const int bits = bit_width_of(static_cast<std::uint64_t>(count - 1)), half = bits / 2 + 1;
    const std::uint64_t mask = low_mask<std::uint64_t>(bits);
    std::uint64_t place = sample < count ? sample : sample % count;
    do {
      place = (place + 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u & mask;
      place = (place ^ place >> half) * 0x94d049bb133111ebu & mask;
      place = (place ^ place >> half) * 0xd6e8feb86659fd93u & mask;
      place ^= place >> half;
    } while (place >= count);
    return place;
  }
};

}  // namespace kradix::impl
