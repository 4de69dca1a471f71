// Counts the topmost digit that varies, tile by tile: the first kernel of a small sort.
//
// Which digit that is every team learns for itself, from the same few keys. The bits in which its own keys
// differ tell the next kernel whether they were enough.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "kradix/impl/backend/lanes.hpp"
#include "kradix/impl/device/bins.hpp"
#include "kradix/impl/device/digit.hpp"
#include "kradix/impl/device/sample_places.hpp"
#include "kradix/impl/device/team.hpp"
#include "kradix/impl/device/tile_table.hpp"

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

template <class ExecutionSpace, class Codec, TeamShape Shape>
struct CountTopDigit : CountedTiles<ExecutionSpace, Codec, Shape> {
  using Counted = CountedTiles<ExecutionSpace, Codec, Shape>;
  using Counted::all;
  using Counted::codec;
  using Counted::keys;
  using Counted::threads;
  using Counted::tiling;
  using typename Counted::Bits;
  using typename Counted::Combined;
  using typename Counted::Team;
  static constexpr int samples = 1024;

  TopDigit* top;

  struct Scratch {
    std::uint64_t sampled[Combined::words];
    std::uint64_t seen[Combined::words];
    std::uint32_t counts[bin_count];
  };
  static std::size_t scratch_bytes() { return sizeof(Scratch); }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    Scratch& scratch = *take_scratch<Scratch>(team, 1);
    this->count_tile(team, [&](const auto& mine) {
      const int thread = team.team_rank();
      const Bits first = codec.encode(keys[0]);
      const int end = end_of_digit(team, first, scratch);
      this->clear(team, scratch.counts, bin_count);
      const Bits differ = this->differing(team, mine, first, scratch.seen);  // and all is clear
      this->add(thread, mine, {codec, TopDigit::below(end, all)}, scratch.counts);
      team.team_barrier();
      this->table.template tell<threads>(thread, mine.tile, scratch.counts, differ);
      if (thread == 0 && mine.tile == 0) top->end = end;
    });
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
};

}  // namespace kradix::impl
