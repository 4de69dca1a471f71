// Keys that come in order already, or in reverse: hoped for after a look at some neighbours, proven by the
// read that otherwise counts digits.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "kradix/impl/backend/lanes.hpp"
#include "kradix/impl/device/digit.hpp"
#include "kradix/impl/device/team.hpp"

namespace kradix::impl {

/// What neighbours show that keys in order, or keys in reverse, do not have.
struct Disorder {
  static constexpr std::uint32_t falls = 1;  ///< the keys are not in order
  static constexpr std::uint32_t rises = 2;  ///< they are not in reverse
  static constexpr std::uint32_t both = falls | rises;

  /// Reads before it writes: most often nothing is new.
  template <class ExecutionSpace>
  KOKKOS_FUNCTION static void tell(std::uint64_t* disorder, std::uint32_t found) {
    if ((found & ~Lanes<ExecutionSpace>::load(disorder)) != 0) {
      Kokkos::atomic_or(disorder, std::uint64_t{found});
    }
  }
};

/// The order of keys by the bits that count.
template <class Codec>
struct KeyOrder {
  using Key = typename Codec::key_type;
  using Bits = typename Codec::bits_type;

  const Key* keys;
  std::size_t count;
  Codec codec;
  DigitList all;
  bool keeps_order;  ///< equal keys may differ otherwise: turned round they would not be in order

  KOKKOS_FUNCTION Bits mask() const { return bits_between<Bits>(all.begin, all.end); }
  KOKKOS_FUNCTION std::uint32_t disorder(Bits left, Bits right) const {
    const bool rises = keeps_order ? left <= right : left < right;
    return (right < left ? Disorder::falls : 0) | (rises ? Disorder::rises : 0);
  }
  /// The bits in which a key and the next one differ (all: there is none), whose order is looked at.
  KOKKOS_FUNCTION Bits look_at(std::size_t place, std::uint32_t& found) const {
    if (place + 1 >= count) return mask();
    const Bits left = codec.encode(keys[place]) & mask(),
               right = codec.encode(keys[place + 1]) & mask();
    found |= disorder(left, right);
    return left ^ right;
  }
};

/// Teams that stay look at all neighbours.
template <class ExecutionSpace, class Codec, int Threads>
struct VerifyOrder {
  using Key = typename Codec::key_type;
  using Bits = typename Codec::bits_type;
  static constexpr int batch = sizeof(Key) <= 8 ? 4 : 2;

  KeyOrder<Codec> order;

  struct Seen {
    Bits differ;  ///< bits in which a key differs from the first
    std::uint32_t disorder;
  };

  /// What this thread saw.
  KOKKOS_FUNCTION Seen operator()(const TeamMember<ExecutionSpace>& team) const {
    const KeyOrder<Codec> order = this->order;
    const Bits mask = order.mask(), first = order.codec.encode(order.keys[0]);
    Seen seen{0, 0};
    const auto look_at = [&](const Key& left, const Key& right) {
      const Bits bits = order.codec.encode(right);
      seen.differ |= bits ^ first;
      seen.disorder |= order.disorder(order.codec.encode(left) & mask, bits & mask);
    };
    constexpr std::size_t step = std::size_t{batch} * Threads;
    const std::size_t pairs = order.count - 1;
    const std::size_t stride = step * static_cast<std::size_t>(team.league_size());
    std::size_t at = step * static_cast<std::size_t>(team.league_rank());
    for (; at + step <= pairs; at += stride) {
      const Key* const here = order.keys + at + team.team_rank();
      Key left[batch], right[batch];
      KRADIX_UNROLL
      for (int b = 0; b < batch; ++b) left[b] = here[b * Threads];
      // In the cache: a neighbour reads it too.
      KRADIX_UNROLL
      for (int b = 0; b < batch; ++b) right[b] = (here + 1)[b * Threads];
      KRADIX_UNROLL
      for (int b = 0; b < batch; ++b) look_at(left[b], right[b]);
    }
    for (std::size_t i = at + team.team_rank(); i < pairs && i < at + step; i += Threads) {
      look_at(order.keys[i], order.keys[i + 1]);
    }
    return seen;
  }
};

}  // namespace kradix::impl
