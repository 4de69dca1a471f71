// How keys alone that spread evenly are dealt out to bins that fit scratch, in one pass: how many bins there are, and which one a
// key belongs to.
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "kradix/impl/device/digit.hpp"
#include "kradix/impl/tuning.hpp"

namespace kradix::impl {

/// Words that are all there is to know of a key, where teams have room for what that takes.
template <class ExecutionSpace, class Codec>
inline constexpr bool may_be_dealt = false;
template <class ExecutionSpace, class Word>
inline constexpr bool may_be_dealt<ExecutionSpace, WordCodec<Word, false>> =
    (sizeof(Word) == 4 || sizeof(Word) == 8) && deal_shape<ExecutionSpace>(sizeof(Word)).exists();

/// It follows from the number of keys alone.
struct Dealing {
  static constexpr std::uint32_t most_bins = 1 << 12;

  std::uint32_t bins = 0, room = 0;  ///< for keys of a bin

  /// Beyond the ends of a sample bins reach by such a part of what lies between: keys of which 4096 have been seen lie farther out
  /// once in some million sorts.
  static constexpr int beyond = 1 << 8;

  /// Parts of what lies between may be so much denser than all of it.
  static constexpr double uneven = 1.1;

  /// By chance one bin of 4096 in some thousand sorts is longer than it has room for, which is no more than a team's scratch has.
  static Dealing of(std::size_t count, std::size_t most_of_bin) {
    constexpr double deviations = 5.25, filled = 1 / (uneven + 2.0 / beyond);
    constexpr std::size_t unit = 32;
    const auto most = static_cast<double>(most_of_bin);
    const double root = (std::sqrt(deviations * deviations + 4 * most) - deviations) / 2;
    const auto mean = std::max<std::size_t>(static_cast<std::size_t>(root * root * filled), 1);
    const std::size_t bins = (count + mean - 1) / mean;
    if (bins < 2 || bins > most_bins) return {};
    const double even = static_cast<double>(count) / static_cast<double>(bins);
    const auto room = static_cast<std::size_t>(even / filled + deviations * std::sqrt(even)) + 1;
    return {static_cast<std::uint32_t>(bins),
            static_cast<std::uint32_t>(
                std::min((room + unit - 1) / unit * unit, most_of_bin / unit * unit))};
  }
  bool exists() const { return bins > 0; }
  std::size_t places() const { return std::size_t{bins} * room; }
};

/// Bins of equal width between two codes: a factor for how many units of codes a key's lies above the first.
struct DealTerms {
  static constexpr int factor_bits = 32;
  /// Of a bin, at most: enough to tell its keys apart, and so few that factors are 4096 or more, exact to so small a part.
  static constexpr int unit_bits = 20;

  std::uint64_t least, last;  ///< codes, the second less the first
  std::uint32_t factor;
  int shift;  ///< of codes to units

  /// None, if so few codes lie there that bins would not be of one width.
  template <class Bits>
  KOKKOS_FUNCTION static DealTerms between(Bits first, Bits greatest, std::uint32_t bins) {
    const auto last = static_cast<std::uint64_t>(greatest - first);
    const std::uint64_t most = std::uint64_t{bins} << unit_bits;
    int shift = 0;
    while (last >> shift >= most) ++shift;
    const std::uint64_t units = (last >> shift) + 1;
    const bool exist = units >= std::uint64_t{256} * bins;
    const std::uint64_t factor = exist ? (std::uint64_t{bins} << factor_bits) / units : 0;
    return {static_cast<std::uint64_t>(first), last, static_cast<std::uint32_t>(factor), shift};
  }
  KOKKOS_FUNCTION bool exist() const { return factor > 0; }
};

/// The bin of a key's code.
template <class Codec>
struct DealReader {
  using Bits = typename Codec::bits_type;
  Codec codec;
  Bits least, last;
  std::uint32_t factor;
  int shift;

  KOKKOS_FUNCTION DealReader(const Codec& codec_, const DealTerms& terms)
      : codec(codec_),
        least(static_cast<Bits>(terms.least)),
        last(static_cast<Bits>(terms.last)),
        factor(terms.factor),
        shift(terms.shift) {}
  KOKKOS_FUNCTION bool holds(const typename Codec::key_type& key) const {
    return static_cast<Bits>(codec.encode(key) - least) <= last;
  }
  /// Of a key that it holds, as what follows.
  KOKKOS_FUNCTION std::uint32_t of(const typename Codec::key_type& key) const {
    return static_cast<std::uint32_t>(std::uint64_t{above(key)} * factor >> DealTerms::factor_bits);
  }
  /// How far behind the least code of its bin a key's lies, of 2^32 parts of what the bin spans.
  KOKKOS_FUNCTION std::uint32_t within(const typename Codec::key_type& key) const {
    return above(key) * factor;
  }

 private:
  KOKKOS_FUNCTION std::uint32_t above(const typename Codec::key_type& key) const {
    return static_cast<std::uint32_t>(static_cast<Bits>(codec.encode(key) - least) >> shift);
  }
};

/// What teams tell each other; all of it is zero at first.
struct DealState {
  std::uint64_t fails;
  std::uint32_t next[Dealing::most_bins];  ///< keys in bins
};

}  // namespace kradix::impl
