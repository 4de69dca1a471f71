// Counts the topmost digit that varies, tile by tile: the first kernel of a small sort.
//
// Which digit that is every team learns for itself, from the same few keys. The bits in which its own keys
// differ tell the next kernel whether they were enough.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "kradix/impl/backend/lanes.hpp"
#include "kradix/impl/device/bins.hpp"
#include "kradix/impl/device/count_all_digits.hpp"
#include "kradix/impl/device/digit.hpp"
#include "kradix/impl/device/sample_places.hpp"
#include "kradix/impl/device/team.hpp"
#include "kradix/impl/device/tile_table.hpp"
#include "kradix/impl/device/tiling.hpp"

namespace kradix::impl {

/// What the kernels of a small sort tell each other of that digit.
struct TopDigit {
  int end;                             ///< bits of the sampled keys vary below this one
  std::uint64_t first[bin_count + 1];  ///< place of each bin, and the end of all
  PassTable passes;                    ///< one and a finish, or those over all digits

  /// Of keys that do not vary at all it is empty.
  KOKKOS_FUNCTION static Digit below(int end, const DigitList& all) {
    if (end <= all.begin) return {0, 0};
    const int begin = end - digit_bits > all.begin ? end - digit_bits : all.begin;
    return DigitList{begin, end}.digit(0);
  }
};

/// A team for each tile; together they also zero what the kernels to come want zero.
template <class ExecutionSpace, class Codec, TeamShape Shape>
struct CountTopDigit {
  using Key = typename Codec::key_type;
  using Bits = typename Codec::bits_type;
  using Team = TeamMember<ExecutionSpace>;
  using L = Lanes<ExecutionSpace>;
  using Tiles = Tiling<Shape.round()>;
  using Combined = CombinedBits<ExecutionSpace, Shape.threads, Bits>;
  static constexpr int threads = Shape.threads, items = Shape.items, samples = 1024;
  static_assert(Shape.round() <= 0xffff);

  const Key* keys;
  Codec codec;
  DigitList all;
  Tiles tiling;
  ClearWords<ExecutionSpace, threads> zeros;
  TileTable table;
  TopDigit* top;

  struct Scratch {
    std::uint64_t sampled[Combined::words];
    std::uint64_t seen[Combined::words];
    std::uint32_t counts[bin_count];
  };
  static std::size_t scratch_bytes() { return sizeof(Scratch); }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    Scratch& scratch = *take_scratch<Scratch>(team, 1);
    const auto tile = static_cast<std::uint32_t>(team.league_rank());
    const std::ptrdiff_t begin = tiling.begin_of(tile);
    if (begin >= 0) {
      count<true>(team, tile, keys + begin, Shape.round(), scratch);
    } else {
      count<false>(team, tile, keys, Shape.round() + static_cast<int>(begin), scratch);
    }
  }

  template <bool Full>
  KOKKOS_FUNCTION void count(const Team& team, std::uint32_t tile, const Key* mine, int size,
                             Scratch& scratch) const {
    const int thread = team.team_rank();
    Key key[items];
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      const int place = i * threads + thread;
      key[i] = mine[Full || place < size ? place : 0];
    }
    const Bits first = codec.encode(keys[0]);
    const int end = end_of_digit(team, first, scratch);
    clear(team, scratch);
    Bits differ = 0;
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) differ |= codec.encode(key[i]) ^ first;
    differ = Combined::over(team, differ, scratch.seen);  // and counters are clear
    const DigitReader<Codec> reader(codec, TopDigit::below(end, all));
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      if (Full || i * threads + thread < size) L::increment(&scratch.counts[reader.of(key[i])]);
    }
    team.team_barrier();
    table.template tell<threads>(thread, tile, scratch.counts, differ);
    if (thread == 0 && tile == 0) top->end = end;
  }

  /// Where there are no bits but its own nobody need look.
  KOKKOS_FUNCTION int end_of_digit(const Team& team, Bits first, Scratch& scratch) const {
    if (all.end - all.begin <= digit_bits) return all.end;
    return bit_width_of(sample(team, first, scratch));
  }

  /// The bits in which the same keys differ, whoever looks.
  KOKKOS_FUNCTION Bits sample(const Team& team, Bits first, Scratch& scratch) const {
    const SamplePlaces places(tiling.count, samples);
    Bits differ = 0;
    KRADIX_UNROLL
    for (int i = 0; i < samples / threads; ++i) {
      const std::size_t place = places.of(static_cast<std::size_t>(i) * threads + team.team_rank());
      differ |= codec.encode(keys[place < tiling.count ? place : 0]) ^ first;
    }
    return Combined::over(team, differ, scratch.sampled) & bits_between<Bits>(all.begin, all.end);
  }

  KOKKOS_FUNCTION void clear(const Team& team, Scratch& scratch) const {
    for (int bin = team.team_rank(); bin < bin_count; bin += threads) scratch.counts[bin] = 0;
    zeros.clear(team, team.league_rank(), team.league_size());
  }
};

}  // namespace kradix::impl
