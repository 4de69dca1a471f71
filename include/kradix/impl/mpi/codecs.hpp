// What the distributed sort sees of a key: the bits of the caller's range, or which side of the cuts it
// lies on.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "kradix/key.hpp"

namespace kradix::impl::mpi {

/// The bits [begin, begin + width) of a key, moved down to bit 0.
template <class Codec>
struct RangeCodec {
  using inner_type = Codec;
  using key_type = typename Codec::key_type;
  using bits_type = typename Codec::bits_type;
  static constexpr int bits = Codec::bits;
  static constexpr bool tells_all_keys_apart = false;

  Codec codec;
  int begin;
  bits_type mask;

  RangeCodec(const Codec& codec_, int begin_, int width)
      : codec(codec_), begin(width > 0 ? begin_ : 0), mask(low_mask<bits_type>(width)) {}

  KOKKOS_FUNCTION bits_type encode(const key_type& key) const {
    return static_cast<bits_type>(codec.encode(key) >> begin) & mask;
  }
};

/// Class 2 i of a key that lies between splitters i - 1 and i, class 2 i + 1 of one equal to splitter i.
/// Sorting by class is the partition: keys equal to a splitter end up side by side, in their order, so
/// that a cut within them is a place.
template <class Codec>
struct ClassCodec {
  using key_type = typename Codec::key_type;
  using bits_type = std::uint32_t;
  using key_bits_type = typename Codec::bits_type;
  static constexpr int bits = 32;
  static constexpr bool tells_all_keys_apart = false;

  RangeCodec<Codec> codec;
  const key_bits_type* splitters;  ///< distinct, ascending, at least one
  std::uint32_t count;

  KOKKOS_FUNCTION bits_type encode(const key_type& key) const {
    const key_bits_type own = codec.encode(key);
    // Seven splitters by comparing with all took 14 ms for 2^28 keys on an H200, fifteen by search 6.
    KOKKOS_IF_ON_HOST((if (count <= few) return compare_with_all(own);))
    return search(own);
  }

 private:
  static constexpr std::uint32_t few = 8;

  /// Loads that do not wait for each other.
  KOKKOS_FUNCTION bits_type compare_with_all(key_bits_type own) const {
    std::uint32_t place = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
      const key_bits_type splitter = splitters[i];
      place +=
          static_cast<std::uint32_t>(splitter < own) + static_cast<std::uint32_t>(splitter <= own);
    }
    return place;
  }

  KOKKOS_FUNCTION bits_type search(key_bits_type own) const {
    std::uint32_t below = 0;  // splitters less than the key
    // By arithmetic: on random keys a branch would be mispredicted every other time.
    for (std::uint32_t size = count; size > 0; size -= (size + 1) / 2) {
      const std::uint32_t half = (size + 1) / 2;
      below += static_cast<std::uint32_t>(splitters[below + half - 1] < own) * half;
    }
    const std::uint32_t next = below < count ? below : count - 1;
    return 2 * below + static_cast<std::uint32_t>(splitters[next] == own);
  }
};

/// Bits that classes take for this many distinct splitters.
constexpr int class_bits(std::size_t splitters) {
  int bits = 0;
  while (2 * splitters >> bits) ++bits;
  return bits;
}

}  // namespace kradix::impl::mpi
