// Keys alone that no digits spread evenly, spread by splitters instead: twice, each time over as many bins as a digit has,
// so that each cell, or a few, fit scratch.
//
// Splitters of all keys from samples at hand, and a count, by one launch; a pass; then samples of each bin, their splitters
// and a count inside of the bins; and a pass there. It takes what keys there are: those that come often have a bin of their
// own, between a splitter and the next code.
//
// After Leischner, Osipov and Sanders, "GPU sample sort" (IPDPS 2010); the first splitters are those of regular sampling (Shi
// and Schaeffer, "Parallel sorting by regular sampling", 1992).
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <bit>
#include <cstdint>
#include <type_traits>

#include "kradix/impl/backend/lanes.hpp"
#include "kradix/impl/buffers.hpp"
#include "kradix/impl/device/bins.hpp"
#include "kradix/impl/device/finish_by_splitters.hpp"
#include "kradix/impl/device/route.hpp"
#include "kradix/impl/device/sample_places.hpp"
#include "kradix/impl/device/splitters.hpp"
#include "kradix/impl/device/spread_steps.hpp"

namespace kradix::impl {

/// Row 0 is of all keys, row 1 + b of bin b of those.
struct SplitterRows {
  static constexpr int count = 1 + bin_count, words = count * bin_count;
  static constexpr std::size_t most_shown = 4096;  ///< samples that row 0 is told from
};

/// What the phases tell each other, in memory that is zero at first.
struct SplitterState {
  static constexpr int phases = 6;
  std::uint64_t ticket[phases], done[phases];
  std::uint64_t counted[SplitterRows::count];  ///< keys of the row
  /// Counts, then the next free places, in the end the ends.
  std::uint64_t bins[SplitterRows::words];
};

/// How many tiles each phase has.
struct SplitterPhases {
  enum Phase { sample_all, count_all, spread_all, sample_bins, count_bins, spread_bins };
  std::size_t counted;  ///< keys of a tile that is counted
  std::size_t tiles[SplitterState::phases];

  static SplitterPhases of(std::size_t count, std::size_t tile) {
    SplitterPhases phases{};
    phases.counted = std::clamp<std::size_t>(count / 1024 / tile, 1, 8) * tile;
    const auto tiles_of = [&](std::size_t all, std::size_t size) {
      return (all + size - 1) / size;
    };
    phases.tiles[sample_all] = 1;
    phases.tiles[count_all] = phases.tiles[count_bins] = tiles_of(count, phases.counted);
    phases.tiles[spread_all] = phases.tiles[spread_bins] = tiles_of(count, tile);
    phases.tiles[sample_bins] = bin_count;
    return phases;
  }
};

/// The phases from `First` to `Last`, by one kernel.
template <class ExecutionSpace, class Codec, TeamShape Shape, int First, int Last>
struct SortBySplitters {
  using Key = typename Codec::key_type;
  using Bits = typename Codec::bits_type;
  using Team = TeamMember<ExecutionSpace>;
  using L = Lanes<ExecutionSpace>;
  using Tree = SplitterTree<Bits, digit_bits>;
  using Spread = SpreadSteps<ExecutionSpace, Shape>;
  using Sort = FinishBySplitters<ExecutionSpace, Codec, Shape>;
  using Phase = SplitterPhases::Phase;
  static_assert(Tree::bins == bin_count);
  static constexpr int threads = Shape.threads, items = Shape.items, tile_size = threads * items;
  static constexpr int groups = threads / L::width;
  /// Samples of a bin.
  static constexpr int samples =
      static_cast<int>(std::bit_floor(static_cast<unsigned>(Sort::most)));

  static constexpr bool samples_first = First == Phase::sample_all || First == Phase::sample_bins;
  static constexpr bool counts = samples_first;
  static constexpr bool spreads = !counts;
  static_assert(Last - First == (counts ? 1 : 0));

  PassBuffers<Key> keys;
  Codec codec;
  std::size_t count;
  const Route* route;
  SplitterPhases phases;
  const Bits* shown;  ///< samples of all keys
  int shown_count;
  Bits* splitters;  ///< [row][bin]: where bins begin
  SplitterState* state;

  struct TileScratch {
    Key keys[tile_size];
    std::uint8_t bin[tile_size];     ///< of a key
    std::uint64_t base[bin_count];   ///< place in the output less place in the tile
    std::uint32_t first[bin_count];  ///< counts, then first place in the tile
    std::uint32_t sums[groups];
  };
  struct Nothing {};
  struct Scratch {
    std::uint64_t word;
    std::uint64_t ends[bin_count];  ///< of the bins that a phase works in
    Tree tree;
    union {
      std::uint32_t seen[bin_count];
      std::conditional_t<spreads, TileScratch, Nothing> tile;
      std::conditional_t<counts, typename Sort::Scratch, Nothing> sample;
    };
    KOKKOS_FUNCTION Scratch() {}
  };
  static std::size_t scratch_bytes() { return sizeof(Scratch); }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    if (route->spreads != Route::by_splitters) return;
    Scratch& scratch = *take_scratch<Scratch>(team, 1);
    int at = -1;
    KRADIX_ROLLED
    while (true) {
      team.team_barrier();
      if (team.team_rank() == 0) {
        scratch.word = Kokkos::atomic_fetch_add(&state->ticket[First], std::uint64_t{1});
      }
      team.team_barrier();
      std::uint64_t tile = scratch.word;
      int phase = First;
      while (phase <= Last && tile >= phases.tiles[phase]) tile -= phases.tiles[phase++];
      if (phase > Last) return;
      if (phase != at) begin(team, phase, scratch);
      at = phase;
      work(team, phase, tile, scratch);
      if (phase == Last) continue;
      Kokkos::memory_fence();
      team.team_barrier();
      if (team.team_rank() == 0) Kokkos::atomic_add(&state->done[phase], std::uint64_t{1});
    }
  }

 private:
  /// What a team needs for all of its tiles of a phase.
  KOKKOS_FUNCTION void begin(const Team& team, int phase, Scratch& scratch) const {
    const int thread = team.team_rank();
    if (phase > First) {
      if (thread == 0) {
        while (L::load(&state->done[phase - 1]) < phases.tiles[phase - 1]) L::pause();
        Kokkos::memory_fence();
      }
      team.team_barrier();
    }
    const bool in_bins = phase > Phase::spread_all;
    for (int bin = thread; bin < bin_count; bin += threads) {
      scratch.ends[bin] = in_bins ? L::load(&state->bins[bin]) : count;
    }
    if (phase == Phase::count_all || phase == Phase::spread_all) load_tree(team, 0, scratch);
    team.team_barrier();
  }

  KOKKOS_FUNCTION void work(const Team& team, int phase, std::uint64_t tile,
                            Scratch& scratch) const {
    if constexpr (samples_first) {
      if (phase == First) {
        sample(team, phase == Phase::sample_all ? 0 : 1 + static_cast<int>(tile), scratch);
        return;
      }
    }
    work_on_parts(team, phase, tile, scratch);
  }

  KOKKOS_FUNCTION void work_on_parts(const Team& team, int phase, std::uint64_t tile,
                                     Scratch& scratch) const {
    const bool in_bins = phase > Phase::spread_all;
    const std::size_t size = counts ? phases.counted : tile_size;
    std::size_t begin = tile * size;
    const std::size_t end = begin + size < count ? begin + size : count;
    int bin = first_behind(scratch.ends, 0, bin_count, static_cast<std::uint64_t>(begin));
    KRADIX_ROLLED
    while (begin < end) {
      const std::size_t its = scratch.ends[bin];
      const std::size_t to = its < end ? its : end;
      if (begin < to) {
        const int row = in_bins ? 1 + bin : 0;
        if (in_bins) {
          team.team_barrier();
          load_tree(team, row, scratch);
          team.team_barrier();
        }
        if constexpr (counts) {
          const std::size_t first = in_bins && bin > 0 ? scratch.ends[bin - 1] : 0;
          count_part(team, row, {begin, to}, {first, its}, scratch);
        } else {
          spread_part(team, row, begin, static_cast<int>(to - begin), scratch);
        }
        begin = to;
      }
      ++bin;
    }
  }

  KOKKOS_FUNCTION void load_tree(const Team& team, int row, Scratch& scratch) const {
    for (int i = team.team_rank(); i < bin_count; i += threads) {
      if (i > 0) scratch.tree.node[i] = splitters[row * bin_count + Tree::splitter_of(i)];
    }
  }

  KOKKOS_FUNCTION const Key* source(int row) const { return keys.source(row == 0 ? 0 : 1, 2); }

  /// Sorts samples, which tell splitters of a row.
  KOKKOS_FUNCTION void sample(const Team& team, int row, Scratch& scratch) const {
    const int thread = team.team_rank();
    std::size_t begin = 0;
    int size = samples;
    if (row == 0) {
      size = shown_count < samples ? shown_count : samples;
    } else {
      begin = row > 1 ? scratch.ends[row - 2] : 0;
      if (begin == scratch.ends[row - 1]) {
        skip(team, row, begin);
        return;
      }
    }
    auto& its = scratch.sample;
    KRADIX_ROLLED
    for (int i = thread; i < size; i += threads) {
      its.codes[i] = sample_at(row, i, size, begin, scratch);
    }
    team.team_barrier();
    Bits code[Sort::items];
    KRADIX_UNROLL
    for (int i = 0; i < Sort::items; ++i) {
      const int place = i * threads + thread;
      code[i] = its.codes[place < size ? place : 0];
    }
    team.team_barrier();
    Sort::sort(team, code, size, 0, ~Bits{0}, its, [&](std::uint32_t place, const Bits& in_order) {
      show(splitters + row * bin_count, bin_count, place, size, in_order);
    });
    tell_splitters(team, row, scratch);
  }

  KOKKOS_FUNCTION Bits sample_at(int row, int sample, int size, std::size_t begin,
                                 const Scratch& scratch) const {
    if (row == 0) return shown[sample * shown_count / size];
    const std::size_t keys = scratch.ends[row - 1] - begin;
    const std::size_t place = SamplePlaces(keys, samples).of(static_cast<std::size_t>(sample));
    return codec.encode(source(row)[begin + (place < keys ? place : place % keys)]);
  }

  /// What a sample tells by its place among all.
  KOKKOS_FUNCTION static void show(Bits* to, int all, std::uint32_t place, int samples,
                                   const Bits& code) {
    const auto first_from = [&](std::uint32_t sample) {
      return static_cast<int>((sample * static_cast<std::uint32_t>(all) + samples - 1) / samples);
    };
    for (int i = first_from(place); i < first_from(place + 1); ++i) to[i] = code;
  }
  /// Of the samples shown for a row, which nobody else has read.
  KOKKOS_FUNCTION void tell_splitters(const Team& team, int row, Scratch& scratch) const {
    Bits* const its = splitters + row * bin_count;
    const auto for_each = [&](const auto& work) {
      for (int i = team.team_rank(); i < bin_count; i += threads) {
        if (i > 0) work(scratch.tree.node[i], Tree::splitter_of(i));
      }
    };
    for_each([&](Bits& node, int bin) { node = splitter_among(its, bin_count, bin, bin_count); });
    team.team_barrier();
    for_each([&](const Bits& node, int bin) { its[bin] = node; });
    if (team.team_rank() == 0) its[0] = row > 0 ? splitters[row - 1] : Bits{0};
  }
  /// Of a bin without keys.
  KOKKOS_FUNCTION void skip(const Team& team, int row, std::size_t begin) const {
    const Bits first = splitters[row - 1];
    for (int bin = team.team_rank(); bin < bin_count; bin += threads) {
      state->bins[row * bin_count + bin] = begin;
      splitters[row * bin_count + bin] = first;
    }
  }

  /// Keys of a part of a bin, which lies at `whole`. Who counts the last of them tells where its bins begin.
  KOKKOS_FUNCTION void count_part(const Team& team, int row, const Share& part, const Share& whole,
                                  Scratch& scratch) const {
    const int thread = team.team_rank();
    for (int bin = thread; bin < bin_count; bin += threads) scratch.seen[bin] = 0;
    team.team_barrier();
    const Key* const from = source(row);
    std::size_t i = part.begin + thread;
    constexpr std::size_t batch = 8;  // loads under way at once
    for (; i + (batch - 1) * threads < part.end; i += batch * threads) {
      Bits code[batch];
      std::uint32_t bin[batch];
      KRADIX_UNROLL
      for (std::size_t b = 0; b < batch; ++b) code[b] = codec.encode(from[i + b * threads]);
      scratch.tree.template find<batch>(code, bin);
      KRADIX_UNROLL
      for (std::size_t b = 0; b < batch; ++b) L::increment(&scratch.seen[bin[b]]);
    }
    for (; i < part.end; i += threads) {
      const Bits code = codec.encode(from[i]);
      std::uint32_t bin = 0;
      scratch.tree.template find<1>(&code, &bin);
      L::increment(&scratch.seen[bin]);
    }
    team.team_barrier();
    std::uint64_t* const bins = state->bins + row * bin_count;
    for (int bin = thread; bin < bin_count; bin += threads) {
      if (scratch.seen[bin] > 0) {
        Kokkos::atomic_add(&bins[bin], std::uint64_t{scratch.seen[bin]});
      }
    }
    Kokkos::memory_fence();
    team.team_barrier();
    if (thread == 0) {
      scratch.word =
          Kokkos::atomic_add_fetch(&state->counted[row], std::uint64_t{part.end - part.begin});
      Kokkos::memory_fence();
    }
    team.team_barrier();
    if (scratch.word == whole.end - whole.begin && thread < L::width) {
      scan_bins<L>(bins, L::lane(thread));
      constexpr int run = bin_count / L::width;
      for (int b = 0; b < run; ++b) bins[L::lane(thread) * run + b] += whole.begin;
    }
  }

  KOKKOS_FUNCTION void spread_part(const Team& team, int row, std::size_t begin, int size,
                                   Scratch& scratch) const {
    if (size == tile_size) {
      spread<true>(team, row, begin, size, scratch);
    } else {
      spread<false>(team, row, begin, size, scratch);
    }
  }

  /// Bins have been found.
  struct NoReader {};
  struct Registers {
    Key key[items];
    std::uint32_t rank[items / 2];  ///< packed by two
    std::uint32_t bin[items / 4];   ///< packed by four
    KOKKOS_FUNCTION std::uint32_t bin_of(NoReader, int i) const { return bin_among(bin, i); }
  };

  template <bool Full>
  KOKKOS_FUNCTION void spread(const Team& team, int row, std::size_t begin, int size,
                              Scratch& all) const {
    TileScratch& scratch = all.tile;
    const int thread = team.team_rank();
    const Key* const from = source(row) + begin;
    Registers registers;
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      const int place = i * threads + thread;
      registers.key[i] = from[Full || place < size ? place : 0];
    }
    for (int bin = thread; bin < bin_count; bin += threads) scratch.first[bin] = 0;
    KRADIX_UNROLL
    for (int i = 0; i < items; i += 4) {
      Bits code[4];
      std::uint32_t bin[4];
      KRADIX_UNROLL
      for (int b = 0; b < 4; ++b) code[b] = codec.encode(registers.key[i + b]);
      all.tree.template find<4>(code, bin);
      registers.bin[i / 4] = packed_bins(bin);
    }
    team.team_barrier();
    const NoReader none{};
    if (Spread::crowds(registers.bin_of(none, 0))) {
      Spread::template rank<Full, true>(thread, none, size, scratch, registers);
    } else {
      Spread::template rank<Full, false>(thread, none, size, scratch, registers);
    }
    team.team_barrier();
    const auto room =
        Spread::place_bins(team, scratch, Spread::room_at(state->bins + row * bin_count));
    team.team_barrier();
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      const std::uint32_t its = registers.rank[i / 2] >> (16 * (i % 2)) & 0xffffu;
      if (Full || i * threads + thread < size) {
        const std::uint32_t bin = registers.bin_of(none, i), place = scratch.first[bin] + its;
        scratch.keys[place] = registers.key[i];
        scratch.bin[place] = static_cast<std::uint8_t>(bin);
      }
    }
    Spread::tell_room(thread, room, scratch);
    team.team_barrier();
    Key* const out = keys.destination(row == 0 ? 0 : 1, 2) + thread;
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      const int place = i * threads + thread;
      if (Full || place < size) {
        (out + scratch.base[scratch.bin[place]])[i * threads] = scratch.keys[place];
      }
      if (i % 4 == 3) L::settle_memory();
    }
  }
};

}  // namespace kradix::impl
