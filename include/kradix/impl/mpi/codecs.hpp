// What the distributed sort sees of a key: the bits of the caller's range, or between which bounds they
// lie.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "kradix/impl/words.hpp"
#include "kradix/key.hpp"

namespace kradix::impl::mpi {

/// The bits [begin, begin + width) of a key, moved down to bit 0.
template <class Codec>
struct RangeCodec {
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
  /// Are keys that compare equal the same?
  bool tells_all_apart() const {
    return Codec::tells_all_keys_apart && mask == low_mask<bits_type>(bits);
  }
};

/// Of some ascending bounds, how many are not greater than each of a few keys' bits. By arithmetic: on random
/// keys a branch would be mispredicted every other time; and side by side, for every step waits for a load.
template <int Keys, class Bits>
KOKKOS_FUNCTION void find_bounds_reached(const Bits* bounds, std::uint32_t count,
                                         const Bits (&own)[Keys], std::uint32_t (&reached)[Keys]) {
  for (int k = 0; k < Keys; ++k) reached[k] = 0;
  for (std::uint32_t size = count; size > 0; size -= (size + 1) / 2) {
    const std::uint32_t half = (size + 1) / 2;
    KRADIX_UNROLL
    for (int k = 0; k < Keys; ++k) {
      reached[k] += static_cast<std::uint32_t>(bounds[reached[k] + half - 1] <= own[k]) * half;
    }
  }
}

/// A key's class is how many bounds it has reached.
template <class Codec>
struct ClassCodec {
  using key_type = typename Codec::key_type;
  using bits_type = std::uint32_t;
  static constexpr int bits = 32;

  Codec codec;
  const typename Codec::bits_type* bounds;  ///< distinct, ascending
  std::uint32_t count;

  KOKKOS_FUNCTION bits_type encode(const key_type& key) const {
    const typename Codec::bits_type own[1] = {codec.encode(key)};
    std::uint32_t reached[1];
    find_bounds_reached(bounds, count, own, reached);
    return reached[0];
  }
};

}  // namespace kradix::impl::mpi
