/// The periodic box, its cells, and their Morton codes.
#pragma once

#include <Kokkos_Core.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace particles {

/// Spreads the low ten bits of `x` to every third bit: bits of x, y and z side by side are the
/// Morton code of a cell, so that cells near in space have codes near each other.
KOKKOS_INLINE_FUNCTION std::uint32_t spread_bits(std::uint32_t x) {
  x = (x | x << 16) & 0x030000ffu;
  x = (x | x << 8) & 0x0300f00fu;
  x = (x | x << 4) & 0x030c30c3u;
  return (x | x << 2) & 0x09249249u;
}

/// A cubic box of edge `length`, cut into `side`³ cells no smaller than the reach of the force.
struct Grid {
  std::size_t sites;  ///< of the lattice that particles start on, a side
  double length;
  int side;

  KOKKOS_FUNCTION int coordinate(double x) const {
    // A tiny negative x plus the length is the length itself, which belongs to the last cell.
    const int c = static_cast<int>(x * (side / length));
    return c < side ? c : side - 1;
  }

  KOKKOS_FUNCTION std::uint32_t code(double x, double y, double z) const {
    return spread_bits(coordinate(x)) | spread_bits(coordinate(y)) << 1 |
           spread_bits(coordinate(z)) << 2;
  }

  KOKKOS_FUNCTION double wrap(double x) const { return x - length * Kokkos::floor(x / length); }

  int code_bits() const {
    int bits = 0;
    while (side > 1 << bits) ++bits;
    return 3 * bits;
  }
  std::size_t code_count() const { return std::size_t{1} << code_bits(); }
};

/// A lattice of at least `count` sites, `spacing` apart, fills the box.
inline Grid make_grid(std::size_t count, double spacing, double reach) {
  const double sites = std::ceil(std::cbrt(static_cast<double>(count)) - 1e-9);
  const double side = std::floor(sites * spacing / reach);
  if (side < 3 || side > 1024) {
    throw std::invalid_argument(std::to_string(count) + " particles make a box of " +
                                std::to_string(static_cast<std::size_t>(side)) +
                                " cells a side, it must be 3 to 1024");
  }
  return {static_cast<std::size_t>(sites), sites * spacing, static_cast<int>(side)};
}

}  // namespace particles
