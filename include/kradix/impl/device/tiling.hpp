// How the tiles of a pass lie in an array.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>

namespace kradix::impl {

/// Tiles end where the array ends, so that the partial one comes first: its guards cost time, which passes
/// beside that of the others, where a last one's would be waited for.
template <int tile_size>
struct Tiling {
  std::size_t count;      ///< elements of the array
  std::uint32_t missing;  ///< places of the first tile that lie before it

  KOKKOS_FUNCTION static Tiling of(std::size_t count) {
    return {count, static_cast<std::uint32_t>((tile_size - count % tile_size) % tile_size)};
  }
  KOKKOS_FUNCTION std::size_t tiles() const { return (count + missing) / tile_size; }
  KOKKOS_FUNCTION bool ends_before(std::uint32_t tile) const {
    return static_cast<std::size_t>(tile) * tile_size >= count + missing;
  }
  /// Below zero where places are missing.
  KOKKOS_FUNCTION std::ptrdiff_t begin_of(std::uint32_t tile) const {
    return static_cast<std::ptrdiff_t>(tile) * tile_size - static_cast<std::ptrdiff_t>(missing);
  }
};

}  // namespace kradix::impl
