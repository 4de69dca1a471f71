// What the finish in scratch could not take: runs that are too long for it, and chunks with too many keys
// alike. Each is sorted by one team, a stable least-significant-digit sort over the bits that vary in it.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>

#include "kradix/impl/device/chunks.hpp"
#include "kradix/impl/device/sweep_tile.hpp"

namespace kradix::impl {

/// The look-back of a team that takes all tiles in turn: the sums are at hand.
struct RunningSums {
  std::uint64_t* sums;  ///< [bin]

  KOKKOS_FUNCTION void enter(std::uint32_t) const {}
  KOKKOS_FUNCTION void leave(std::uint32_t) const {}
  KOKKOS_FUNCTION void publish(std::uint32_t, int bin, LookBackWord::Kind kind,
                               std::uint64_t count) const {
    if (kind == LookBackWord::inclusive) sums[bin] = count;
  }
  KOKKOS_FUNCTION std::uint64_t count_before(std::uint32_t tile, int bin) const {
    return tile == 0 ? 0 : sums[bin];
  }
};

template <class ExecutionSpace, class Codec, class Value, TeamShape Shape>
struct FinishRanges {
  using Key = typename Codec::key_type;
  using Bits = typename Codec::bits_type;
  using Team = TeamMember<ExecutionSpace>;
  using Sweep = SweepTile<ExecutionSpace, Codec, Value, Shape, RunningSums>;
  static constexpr bool with_values = Sweep::with_values;
  static constexpr int threads = Shape.threads;
  static constexpr int looks = 32;  ///< chunks that a team looks at together

  SortBuffers<Key, Value> buffers;
  Codec codec;
  DigitList all;
  const PassTable* passes;
  const Route* route;
  const std::uint64_t* chunks;

  struct Scratch {
    typename Sweep::Scratch tile;
    std::uint64_t bins[bin_count];
    std::uint64_t sums[bin_count];
    std::uint64_t varying[2];
    PassTable passes;
    std::uint64_t left[looks];
    std::uint32_t left_count;
    KOKKOS_FUNCTION Scratch() {}
  };
  static std::size_t scratch_bytes() { return sizeof(Scratch); }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    if (!passes->finishes) return;
    Scratch& scratch = *take_scratch<Scratch>(team, 1);
    const std::uint64_t listed = route->chunks;
    const auto step = static_cast<std::uint64_t>(team.league_size()) * looks;
    for (auto first = static_cast<std::uint64_t>(team.league_rank()) * looks; first < listed;
         first += step) {
      if (team.team_rank() == 0) scratch.left_count = 0;
      team.team_barrier();
      for (int i = team.team_rank(); i < looks; i += threads) {
        if (first + i >= listed || !Chunk{chunks[first + i]}.is_left()) continue;
        scratch.left[Kokkos::atomic_fetch_add(&scratch.left_count, 1u)] = chunks[first + i];
      }
      team.team_barrier();
      const std::uint32_t left = scratch.left_count;
      team.team_barrier();
      for (std::uint32_t i = 0; i < left; ++i) {
        sort(team, Chunk{scratch.left[i]}, scratch);
        team.team_barrier();
      }
    }
  }

  KOKKOS_FUNCTION void sort(const Team& team, const Chunk& chunk, Scratch& scratch) const {
    const Share range = range_of(chunk);
    const SortBuffers<Key, Value> mine{of_range(buffers.keys, range),
                                       of_range(buffers.values, range)};
    const std::size_t size = range.end - range.begin;
    team.team_barrier();  // everybody has read where the range ends
    list_passes(team, mine.keys.in, size, scratch);
    for (int pass = 0; pass < scratch.passes.count; ++pass) {
      count_digit(team, mine.keys.source(pass, scratch.passes.count), size,
                  scratch.passes.digit[pass], scratch);
      sweep(team, mine, size, pass, scratch);
    }
    settle(team, mine.keys, scratch.passes.count, buffers.keys.result + range.begin, size);
    if constexpr (with_values) {
      settle(team, mine.values, scratch.passes.count, buffers.values.result + range.begin, size);
    }
  }

  KOKKOS_FUNCTION Share range_of(const Chunk& chunk) const {
    const std::size_t begin = chunk.begin();
    if (chunk.size() > 0) return {begin, begin + chunk.size()};
    return {begin, LongRun::end(buffers.keys.spare(passes->count) + begin)};
  }

  /// A sort in place, where the sweeps left the range; the caller's other array takes turns with it.
  template <class T>
  KOKKOS_FUNCTION PassBuffers<T> of_range(const PassBuffers<T>& array, const Share& range) const {
    if constexpr (std::is_same_v<T, NoValue>) {
      return {};
    } else {
      T* const here = array.end(passes->count);
      T* const there = array.spare(passes->count);
      return {here + range.begin, here + range.begin, there + range.begin};
    }
  }

  KOKKOS_FUNCTION void list_passes(const Team& team, const Key* keys, std::size_t size,
                                   Scratch& scratch) const {
    const int thread = team.team_rank();
    if (thread == 0) scratch.varying[0] = scratch.varying[1] = 0;
    team.team_barrier();
    const Bits first = codec.encode(keys[0]);
    Bits differ = 0;
    for (std::size_t i = thread; i < size; i += threads) differ |= codec.encode(keys[i]) ^ first;
    for (int w = 0; w < words_in<Bits>; ++w) {
      Kokkos::atomic_or(&scratch.varying[w], word_of(differ, w));
    }
    team.team_barrier();
    if (thread == 0) {
      scratch.passes =
          cover<Bits>(joined<Bits>(scratch.varying) & bits_between<Bits>(all.begin, all.end));
    }
    team.team_barrier();
  }

  /// First places of the digit's bins in the range.
  KOKKOS_FUNCTION void count_digit(const Team& team, const Key* keys, std::size_t size, Digit digit,
                                   Scratch& scratch) const {
    const int thread = team.team_rank();
    for (int bin = thread; bin < bin_count; bin += threads) scratch.bins[bin] = 0;
    team.team_barrier();
    for (std::size_t i = thread; i < size; i += threads) {
      Kokkos::atomic_add(&scratch.bins[digit.of(codec.encode(keys[i]))], std::uint64_t{1});
    }
    team.team_barrier();
    if (thread == 0) {
      std::uint64_t before = 0;
      for (int bin = 0; bin < bin_count; ++bin) {
        const std::uint64_t counted = scratch.bins[bin];
        scratch.bins[bin] = before;
        before += counted;
      }
    }
    team.team_barrier();
  }

  KOKKOS_FUNCTION void sweep(const Team& team, const SortBuffers<Key, Value>& mine,
                             std::size_t size, int pass, Scratch& scratch) const {
    const Sweep sweep{mine,         codec,   size,           &scratch.passes,
                      scratch.bins, nullptr, {scratch.sums}, pass};
    const DigitReader<Codec> reader(codec, scratch.passes.digit[pass]);
    for (std::size_t begin = 0; begin < size; begin += Sweep::tile_size) {
      Sweep::clear_counters(team.team_rank(), scratch.tile);
      team.team_barrier();
      sweep.sweep(team, static_cast<std::uint32_t>(begin / Sweep::tile_size), begin, reader,
                  scratch.tile);
      team.team_barrier();
    }
  }

  template <class T>
  KOKKOS_FUNCTION static void settle(const Team& team, const PassBuffers<T>& array,
                                     int range_passes, T* result, std::size_t size) {
    const T* const from = array.ends_in_other(range_passes) ? array.other : array.result;
    if (from == result) return;
    for (std::size_t i = team.team_rank(); i < size; i += threads) result[i] = from[i];
  }
};

}  // namespace kradix::impl
