// How keys of a short range that travel with values are sorted in two moves: by bins of so many values side by side, which tiles are
// sorted by, and by what is left of a value in its bin.
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kradix/impl/device/digit.hpp"
#include "kradix/impl/tuning.hpp"

namespace kradix::impl {

/// Words that are made again from their codes, where teams have room for what that takes.
template <class ExecutionSpace, class Codec, class Value>
inline constexpr bool may_be_ranged = false;
template <class ExecutionSpace, class Word, class Value>
inline constexpr bool may_be_ranged<ExecutionSpace, WordCodec<Word, false>, Value> =
    (sizeof(Word) == 4 || sizeof(Word) == 8) &&
    !std::is_same_v<Value, NoValue> && range_tile_shape<ExecutionSpace>(sizeof(Value)).exists();

/// Bins of a sort: as many as a bin's elements find room in a team's scratch, if they spread evenly.
struct Ranging {
  static constexpr int digit_bits = 10;
  static constexpr std::uint32_t most_bins = 1 << digit_bits;
  static constexpr std::uint32_t most_values = 1 << digit_bits;  ///< of a bin
  static constexpr int most_bits = 2 * digit_bits;               ///< of a range
  static constexpr std::uint32_t most_tiles = 1 << 11;
  /// Longer bins are as many teams' work, of which each counts what belongs to the others.
  static constexpr std::uint32_t most_windows = 8;

  /// Parts of a range may be so much denser than all of it. (Of denser ones a bin is two windows.)
  static constexpr double uneven = 1.05;
  /// Beyond the ends of a sample a range reaches by such a part of what lies between: keys of which 4096 have been seen lie farther
  /// out once in some million sorts.
  static constexpr int beyond = 1 << 8;

  std::uint32_t count = 0, tile = 0;
  std::uint32_t bins = 0;  ///< about as many
  float even = 0;          ///< elements of a bin, of which hardly any is longer than a window then

  /// As many teams as run at once take as many bins, one after the other.
  static Ranging of(std::size_t count, std::size_t tile, std::size_t window, std::size_t teams) {
    constexpr double deviations = 4;
    if (tile == 0 || count == 0 || count > tile * most_tiles) return {};
    const auto most = static_cast<double>(window);
    const double even = (most - deviations * std::sqrt(most)) / uneven;
    const double least = static_cast<double>(count) / even;
    const auto rounds = std::max(1.0, std::ceil(least / static_cast<double>(teams)));
    const double bins =
        std::min(rounds * static_cast<double>(teams), static_cast<double>(most_bins));
    if (least > bins) return {};
    return {static_cast<std::uint32_t>(count), static_cast<std::uint32_t>(tile),
            static_cast<std::uint32_t>(bins), static_cast<float>(even)};
  }
  KOKKOS_FUNCTION bool exists() const { return tile > 0; }
  /// Bins of a range of few values, of which some more are needed.
  KOKKOS_FUNCTION std::uint32_t most_of_range() const {
    const std::uint32_t some_more = bins + bins / 4;
    return some_more < most_bins ? some_more : most_bins;
  }
  /// Of the second move, as some bins may be longer.
  std::size_t most_teams() const { return bins + bins / 2 + most_windows; }

  KOKKOS_FUNCTION std::uint32_t tiles() const { return (count - 1) / tile + 1; }
  /// Of the table of tiles, whose rows are bins.
  KOKKOS_FUNCTION std::size_t row() const { return (tiles() + 7) / 8 * 8; }
  static std::size_t words(std::size_t count, std::size_t tile) {
    return (std::size_t{most_bins} + 1) * ((count - 1) / tile / 8 + 1) * 8;
  }
};

/// The range that a sort's keys lie in, in device memory: codes from `least` on, of which each bin has `width`.
struct RangeTerms {
  static constexpr int factor_bits = 31;

  std::uint64_t least;
  std::uint32_t values;  ///< codes of the range
  std::uint32_t width;
  std::uint32_t bins;
  std::uint32_t factor;  ///< exact for so few values

  /// None, if the range is too long, or so short that its values would be too frequent, or are sooner labelled.
  KOKKOS_FUNCTION static RangeTerms between(std::uint64_t first, std::uint64_t last,
                                            const Ranging& shape) {
    constexpr std::uint64_t most = std::uint64_t{1} << Ranging::most_bits;
    static_assert(Ranging::most_bits + Ranging::digit_bits < factor_bits);
    const std::uint64_t between = last - first;
    RangeTerms terms{first, 0, 0, 0, 0};
    if (between >= most || between < bin_count) return terms;
    const auto values = static_cast<std::uint32_t>(between + 1);
    const float even = static_cast<float>(shape.count) / static_cast<float>(values);
    std::uint32_t width = (values - 1) / shape.bins + 1;
    if (even * static_cast<float>(width) > shape.even)  // of few values a bin one more is too much
      width = static_cast<std::uint32_t>(shape.even / even);
    if (width == 0 || width > Ranging::most_values) return terms;
    const std::uint32_t bins = (values - 1) / width + 1;
    if (bins > shape.most_of_range()) return terms;
    terms.values = values;
    terms.width = width;
    terms.bins = bins;
    terms.factor = (std::uint32_t{1} << factor_bits) / width + 1;
    return terms;
  }
  KOKKOS_FUNCTION bool exist() const { return bins > 0; }

  /// Of a code above the least one, in the range.
  KOKKOS_FUNCTION std::uint32_t bin_of(std::uint32_t above) const {
    return static_cast<std::uint32_t>(std::uint64_t{above} * factor >> factor_bits);
  }
};

/// What teams tell each other; all of it is zero at first.
struct RangeState {
  std::uint64_t fails;                       ///< a key lies beyond the range
  std::uint64_t in_vain;                     ///< or a bin is too long
  std::uint32_t totals[Ranging::most_bins];  ///< elements of bins
};

}  // namespace kradix::impl
