// Splitters that samples of the keys tell, and the bin between two of them that a key belongs to.
//
// A tree of splitters is searched by comparisons alone, without branches, after Sanders and Winkel, "Super scalar sample
// sort" (2004); on GPUs after Leischner, Osipov and Sanders, "GPU sample sort" (2010).
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "kradix/impl/device/digit.hpp"

namespace kradix::impl {

/// Splitters 1 to bins - 1, level by level: what is compared first lies in few banks of scratch. A bin begins at its splitter.
template <class Bits, int Levels>
struct SplitterTree {
  static constexpr int bins = 1 << Levels;
  Bits node[bins];  ///< from 1 on; 2 i and 2 i + 1 follow node i

  /// Which splitter a node is.
  KOKKOS_FUNCTION static int splitter_of(int i) {
    const int level = bit_width_of(static_cast<std::uint32_t>(i)) - 1;
    return (2 * (i - (1 << level)) + 1) << (Levels - 1 - level);
  }

  /// The bins of several codes, side by side.
  template <int Size>
  KOKKOS_FUNCTION void find(const Bits* code, std::uint32_t* bin) const {
    KRADIX_UNROLL
    for (int i = 0; i < Size; ++i) bin[i] = 1;
    KRADIX_UNROLL
    for (int level = 0; level < Levels; ++level) {
      KRADIX_UNROLL
      for (int i = 0; i < Size; ++i) bin[i] = 2 * bin[i] + (node[bin[i]] <= code[i] ? 1 : 0);
    }
    KRADIX_UNROLL
    for (int i = 0; i < Size; ++i) bin[i] -= bins;
  }
};

/// Splitter `j` (not the first) of so many bins, from samples in order. What comes more than once takes a bin of its own,
/// for the next splitter is the next code then.
template <class Bits>
KOKKOS_FUNCTION Bits splitter_among(const Bits* samples, int count, int j, int bins) {
  const auto at = [&](int splitter) {
    return samples[static_cast<std::size_t>(splitter) * count / bins];
  };
  const Bits code = at(j);
  const bool again = j > 1 && at(j - 1) == code && static_cast<Bits>(code + 1) != 0;
  return static_cast<Bits>(code + (again ? 1 : 0));
}

/// Do all keys between these splitters have the same code?
template <class Bits>
KOKKOS_FUNCTION bool holds_one_code(const Bits& splitter, const Bits& next) {
  return static_cast<Bits>(next - splitter) == 1;
}

}  // namespace kradix::impl
