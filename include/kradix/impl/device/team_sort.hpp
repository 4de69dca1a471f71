// One team sorts what it is given: a stable least-significant-digit sort over the bits that vary there.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "kradix/impl/device/bins.hpp"
#include "kradix/impl/device/sweep_tile.hpp"

namespace kradix::impl {

/// The look-back of a team that takes all tiles in turn: the sums are at hand.
struct RunningSums : LoneTiles {
  std::uint64_t* sums;  ///< [bin]

  KOKKOS_FUNCTION explicit RunningSums(std::uint64_t* sums_) : sums(sums_) {}
  KOKKOS_FUNCTION std::uint64_t place(std::uint32_t tile, int bin, std::uint32_t own,
                                      std::uint64_t first) const {
    const std::uint64_t before = tile == 0 ? 0 : sums[bin];
    sums[bin] = before + own;
    return first + before;
  }
};

template <class ExecutionSpace, class Codec, class Value, TeamShape Shape>
struct TeamSort {
  using Key = typename Codec::key_type;
  using Bits = typename Codec::bits_type;
  using Team = TeamMember<ExecutionSpace>;
  using L = Lanes<ExecutionSpace>;
  /// Keys as they are, for other teams may read them to tell where their own begin.
  using Sweep = SweepTile<ExecutionSpace, Codec, Value, Shape, RunningSums, /*Stays=*/false,
                          MovedAsTheyAre<Codec>>;
  using Combined = CombinedBits<ExecutionSpace, Shape.threads, Bits>;
  static constexpr int threads = Shape.threads;

  Codec codec;
  DigitList all;

  struct Scratch {
    typename Sweep::Scratch tile;
    std::uint64_t bins[bin_count];
    std::uint64_t sums[bin_count];
    std::uint64_t seen[Combined::words];
    PassTable passes;
    KOKKOS_FUNCTION Scratch() {}
  };

  /// Leaves the elements where `scratch.passes.count` passes do. Nothing of `scratch` may be in use.
  KOKKOS_FUNCTION void sort(const Team& team, const SortBuffers<Key, Value>& buffers,
                            std::size_t size, Scratch& scratch) const {
    const Bits varying = varying_bits(team, buffers.keys.in, size, scratch);
    if (team.team_rank() == 0) scratch.passes = cover<Bits>(varying);
    team.team_barrier();
    for (int pass = 0; pass < scratch.passes.count; ++pass) {
      const Key* const keys = buffers.keys.source(pass, scratch.passes.count);
      const Digit digit = scratch.passes.digit[pass];
      count_digit(team, keys, size, digit, scratch);
      sweep(team, buffers, size, pass, scratch);
    }
  }

  /// Those of the caller's bits in which keys differ.
  KOKKOS_FUNCTION Bits varying_bits(const Team& team, const Key* keys, std::size_t size,
                                    Scratch& scratch) const {
    const Bits first = codec.encode(keys[0]);
    Bits differ = 0;
    std::size_t i = team.team_rank();
    constexpr std::size_t batch = 8;  // loads under way at once
    for (; i + (batch - 1) * threads < size; i += batch * threads) {
      Key key[batch];
      KRADIX_UNROLL
      for (std::size_t b = 0; b < batch; ++b) key[b] = keys[i + b * threads];
      KRADIX_UNROLL
      for (std::size_t b = 0; b < batch; ++b) differ |= codec.encode(key[b]) ^ first;
    }
    for (; i < size; i += threads) differ |= codec.encode(keys[i]) ^ first;
    return Combined::over(team, differ, scratch.seen) & bits_between<Bits>(all.begin, all.end);
  }

  /// First places of the digit's bins.
  KOKKOS_FUNCTION void count_digit(const Team& team, const Key* keys, std::size_t size,
                                   const Digit& digit, Scratch& scratch) const {
    const int thread = team.team_rank();
    const DigitReader<Codec> reader(codec, digit);
    for (int bin = thread; bin < bin_count; bin += threads) scratch.bins[bin] = 0;
    constexpr std::size_t countable = std::size_t{1} << 31;  // by counters of 32 bits
    for (std::size_t begin = 0; begin < size; begin += countable) {
      const std::size_t end = size - begin < countable ? size : begin + countable;
      auto* const counts = reinterpret_cast<std::uint32_t*>(scratch.sums);
      for (int bin = thread; bin < bin_count; bin += threads) counts[bin] = 0;
      team.team_barrier();
      for (std::size_t i = begin + thread; i < end; i += threads) {
        L::increment(&counts[reader.of(keys[i])]);
      }
      team.team_barrier();
      for (int bin = thread; bin < bin_count; bin += threads) scratch.bins[bin] += counts[bin];
      team.team_barrier();
    }
    if (thread < L::width) scan_bins<L, true>(scratch.bins, L::lane(thread));
    team.team_barrier();
  }

  KOKKOS_FUNCTION void sweep(const Team& team, const SortBuffers<Key, Value>& buffers,
                             std::size_t size, int pass, Scratch& scratch) const {
    const Sweep sweep{buffers,      codec,   Sweep::Tiles::of(size),    &scratch.passes,
                      scratch.bins, nullptr, RunningSums(scratch.sums), pass};
    const Digit digit = scratch.passes.digit[pass];
    for (std::uint32_t tile = 0; !sweep.tiling.ends_before(tile); ++tile) {
      if (team.team_rank() == 0) sweep.take(tile, scratch.tile);
      Sweep::clear_counters(team.team_rank(), scratch.tile);
      team.team_barrier();
      sweep.sweep(team, digit, scratch.tile);
      team.team_barrier();
    }
  }
};

}  // namespace kradix::impl
