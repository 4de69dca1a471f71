// Cells of equal width, into which all ranks' keys are spread, and a cell's parts.
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdint>

#include "kradix/impl/device/digit.hpp"

namespace kradix::impl::mpi {

/// Cuts what lies between two codes into parts of equal width, numbered in order, and so many of them, a power of two, make a
/// cell. No code beyond the ends may be asked for.
template <class Bits>
struct EvenCells {
  Bits least = 0, greatest = 0;
  int shift = 0;             ///< leaves 32 bits of what a code is above the least
  std::uint32_t factor = 0;  ///< of a part for each of them, over 2^32
  int part_bits = 0;         ///< of the number of parts of a cell
  std::uint32_t parts = 0;   ///< in all

  /// `parts` or a few less. None exist where the codes are hardly more than those.
  static EvenCells between(Bits least, Bits greatest, std::uint32_t parts, int part_bits) {
    EvenCells cells{least, greatest};
    const auto span = static_cast<Bits>(greatest - least);
    cells.shift = std::max(bit_width_of(span) - 32, 0);
    const std::uint64_t last = static_cast<std::uint64_t>(span >> cells.shift);
    if (last / least_width < parts) return cells;
    cells.factor = static_cast<std::uint32_t>((std::uint64_t{parts} << 32) / (last + 1));
    cells.part_bits = part_bits;
    cells.parts = static_cast<std::uint32_t>(last * cells.factor >> 32) + 1;
    return cells;
  }
  bool exist() const { return parts > 0; }
  /// That they hold.
  double codes() const { return static_cast<double>(static_cast<Bits>(greatest - least)) + 1; }
  KOKKOS_FUNCTION std::uint32_t cells() const {
    return parts == 0 ? 0 : ((parts - 1) >> part_bits) + 1;
  }
  KOKKOS_FUNCTION std::uint32_t parts_of_cell() const { return std::uint32_t{1} << part_bits; }

  KOKKOS_FUNCTION bool holds(Bits code) const {
    return static_cast<Bits>(code - least) <= static_cast<Bits>(greatest - least);
  }
  KOKKOS_FUNCTION std::uint32_t part_of(Bits code) const {
    auto above = static_cast<Bits>(code - least);
    if constexpr (sizeof(Bits) > 4) above >>= shift;
    return static_cast<std::uint32_t>(std::uint64_t{static_cast<std::uint32_t>(above)} * factor >>
                                      32);
  }

  /// The least code of a part.
  KOKKOS_FUNCTION Bits first_of(std::uint32_t part) const {
    const std::uint64_t place = ((std::uint64_t{part} << 32) + (factor - 1)) / factor;
    return static_cast<Bits>(least + (static_cast<Bits>(place) << shift));
  }
  /// And the greatest.
  KOKKOS_FUNCTION Bits last_of(std::uint32_t part) const {
    return part + 1 < parts ? static_cast<Bits>(first_of(part + 1) - 1) : greatest;
  }

 private:
  static constexpr std::uint64_t least_width = 16;  ///< codes: parts have one more or one less
};

}  // namespace kradix::impl::mpi
