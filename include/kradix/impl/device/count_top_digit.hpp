// Counts the topmost digit that varies, tile by tile: the first kernel of a small sort.
//
// Which digit that is every team learns for itself, from the same few keys. The bits in which its own keys
// differ tell the next kernel whether they were enough. Where they tell that the digit would leave too much in one bin, or may
// not be the topmost, they are sorted, and bins between splitters are counted instead.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "kradix/impl/backend/lanes.hpp"
#include "kradix/impl/device/bins.hpp"
#include "kradix/impl/device/digit.hpp"
#include "kradix/impl/device/sample_places.hpp"
#include "kradix/impl/device/sampled_splitters.hpp"
#include "kradix/impl/device/team.hpp"
#include "kradix/impl/device/tile_table.hpp"

namespace kradix::impl {

/// As the most that samples may have in a bin of the digit.
inline constexpr std::uint32_t never_splits = ~0u;

/// What the kernels of a small sort tell each other of the bins that one sweep fills: those of a digit, or between splitters.
struct TopDigit {
  int end;          ///< bits of the sampled keys vary below this one
  bool splits;      ///< between splitters, as the digit would leave too much in one bin
  int varying_end;  ///< bits of all keys vary below this one
  std::uint64_t first[bin_count + 1];  ///< place of each bin, and the end of all
  PassTable passes;                    ///< one and a finish, or those over all digits
  alignas(16) std::uint64_t splitter_words[2 * bin_count];

  /// Where each bin begins, the first with the least code.
  template <class Bits>
  KOKKOS_FUNCTION Bits* splitters() {
    return reinterpret_cast<Bits*>(splitter_words);
  }
  template <class Bits>
  KOKKOS_FUNCTION const Bits* splitters() const {
    return reinterpret_cast<const Bits*>(splitter_words);
  }

  /// Behind the last bin lies what is greater than all bits of `mask`, in which codes are: 0 if these are all of a word.
  template <class Bits>
  KOKKOS_FUNCTION bool holds_one_code(int bin, const Bits& mask) const {
    const Bits* const its = splitters<Bits>() + bin;
    return impl::holds_one_code(its[0], bin + 1 < bin_count ? its[1] : static_cast<Bits>(mask + 1));
  }
  /// Keys of a bin between splitters agree in the bits from this one on.
  template <class Bits>
  KOKKOS_FUNCTION int swept(int bin) const {
    const Bits* const its = splitters<Bits>() + bin;
    if (bin == 0 || bin + 1 == bin_count || its[0] == its[1]) return varying_end;
    const int differ = bit_width_of(static_cast<Bits>(its[0] ^ static_cast<Bits>(its[1] - 1)));
    return differ < varying_end ? differ : varying_end;
  }

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
  using Counted::items;
  using Counted::keys;
  using Counted::threads;
  using Counted::tiling;
  using typename Counted::Bits;
  using typename Counted::Combined;
  using typename Counted::L;
  using typename Counted::Team;
  static constexpr int samples = 1024, each = samples / threads;
  using Splitters = SampledSplitters<ExecutionSpace, Codec, threads>;
  using Tree = typename Splitters::Tree;
  using TileBins = BinsOfTile<Codec>;

  std::uint32_t most_sampled;  ///< of a bin of the digit that is not too large
  int sorted;                  ///< of the samples, if there are splitters
  bool ends;                   ///< may a sweep over one digit be all?
  TopDigit* top;

  struct Scratch {
    std::uint64_t sampled[Combined::words];
    std::uint64_t seen[Combined::words];
    std::uint32_t counts[bin_count];
    std::uint32_t sampled_counts[bin_count];
    typename Splitters::Scratch splitters;
    std::uint32_t found[items / 4 * threads];  ///< bins of the tile
    int topmost;  ///< samples whose topmost bit that varies is not that of the first key
    bool crowds;  ///< a bin of the digit
    KOKKOS_FUNCTION Scratch() {}

    /// Where hardly any sample, or hardly any other, has the topmost bit, those of other keys may lie above it.
    KOKKOS_FUNCTION bool splits() const {
      constexpr int few = 24;
      return crowds || topmost < few || topmost > samples - few;
    }
  };
  static std::size_t scratch_bytes() { return sizeof(Scratch); }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    Scratch& scratch = *take_scratch<Scratch>(team, 1);
    this->count_tile(team, [&](const auto& mine) {
      const int thread = team.team_rank();
      this->clear(team, scratch.counts, bin_count);
      const Bits first = codec.encode(keys[0]), mask = bits_between<Bits>(all.begin, all.end);
      int end = all.end;
      // Where there are no bits but its own nobody need look.
      if (all.end - all.begin > digit_bits) {
        end = sample(team, static_cast<Bits>(first & mask), mask, scratch);
      } else if (thread == 0) {
        scratch.crowds = false;
        scratch.topmost = samples / 2;
      }
      const Bits differ = this->differing(team, mine, first, scratch.seen);  // and all is clear
      const bool splits = scratch.splits();
      if (splits) [[unlikely]] {
        Splitters::find(team, codec, mask, keys, tiling.count, sorted, &scratch.splitters);
        const std::ptrdiff_t begin = tiling.begin_of(mine.tile);
        TileBins::template find<items, threads>(codec, mask, &scratch.splitters.tree,
                                                keys + (begin < 0 ? 0 : begin), mine.size, thread,
                                                threads, scratch.found + thread);
      }
      add(thread, mine, {codec, TopDigit::below(end, all), splits ? scratch.found : nullptr},
          scratch.counts);
      team.team_barrier();
      this->table.template tell<threads>(thread, mine.tile, scratch.counts, differ);
      if (mine.tile == 0) tell(thread, end, splits, scratch);
    });
  }

 private:
  /// The end of the bits in which some keys differ, the same whoever looks. Notes whether the digit below that would leave
  /// too much in a bin.
  KOKKOS_FUNCTION int sample(const Team& team, Bits first, Bits mask, Scratch& scratch) const {
    const int thread = team.team_rank();
    const SamplePlaces places(tiling.count, samples);
    for (int bin = thread; bin < bin_count; bin += threads) scratch.sampled_counts[bin] = 0;
    if (thread == 0) {
      scratch.crowds = false;
      scratch.topmost = 0;
    }
    Bits code[each], differ = 0;
    KRADIX_UNROLL
    for (int i = 0; i < each; ++i) {
      const std::size_t place = places.of(static_cast<std::size_t>(i) * threads + thread);
      code[i] = static_cast<Bits>(codec.encode(keys[place < tiling.count ? place : 0]) & mask);
      differ |= code[i] ^ first;
    }
    differ = Combined::over(team, differ, scratch.sampled);
    const int end = bit_width_of(differ);
    const Digit digit = TopDigit::below(end, all);
    const bool is_all = ends && (differ & low_mask<Bits>(digit.shift)) == 0;
    if (most_sampled != never_splits && differ != 0 && !is_all) {
      bool crowds = false;
      int topmost = 0;
      KRADIX_UNROLL
      for (int i = 0; i < each; ++i) {
        crowds |= Kokkos::atomic_fetch_add(&scratch.sampled_counts[digit.of(code[i])], 1u) >=
                  most_sampled;
        topmost += L::size_of(L::where(((code[i] ^ first) >> (end - 1) & 1) != 0));
      }
      if (crowds) scratch.crowds = true;
      if (L::lane(thread) == 0) Kokkos::atomic_add(&scratch.topmost, topmost);
    } else if (thread == 0) {
      scratch.topmost = samples / 2;
    }
    return end;
  }

  template <class Mine>
  KOKKOS_FUNCTION static void add(int thread, const Mine& mine, const TileBins& its,
                                  std::uint32_t* counts) {
    std::uint32_t bins[items / 4];
    its.template of<items, threads>(thread, mine.key, bins);
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      if (mine.exists(thread, i, mine.size)) {
        L::increment(&counts[bin_among(bins, i)]);
      }
    }
  }

  KOKKOS_FUNCTION void tell(int thread, int end, bool splits, const Scratch& scratch) const {
    if (thread == 0) {
      top->end = end;
      top->splits = splits;
    }
    if (!splits) return;
    for (int i = thread; i < bin_count; i += threads) {
      const int bin = i > 0 ? Tree::splitter_of(i) : 0;
      top->splitters<Bits>()[bin] = i > 0 ? scratch.splitters.tree.node[i] : Bits{0};
    }
  }
};

}  // namespace kradix::impl
