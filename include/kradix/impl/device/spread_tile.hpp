// One digit pass over keys alone that need not keep the order of the keys in a bin.
//
// No tile waits for another: the keys of a tile rank themselves by counting in scratch, and the tile takes
// room in every bin by one atomic addition. Equal additions queue up in scratch, so where keys side by side share
// their digits those of a bin in a group of lanes are counted together.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "kradix/impl/backend/lanes.hpp"
#include "kradix/impl/buffers.hpp"
#include "kradix/impl/device/digit.hpp"
#include "kradix/impl/device/team.hpp"
#include "kradix/impl/device/tiling.hpp"

namespace kradix::impl {

/// The first pass of a sort. A team for each tile, in no order.
template <class ExecutionSpace, class Codec, TeamShape Shape>
struct SpreadTile {
  using Key = typename Codec::key_type;
  using Team = TeamMember<ExecutionSpace>;
  using L = Lanes<ExecutionSpace>;
  static constexpr int threads = Shape.threads, items = Shape.items, tile_size = threads * items;
  static constexpr int groups = threads / L::width;
  static constexpr int bins_per_thread = threads >= bin_count ? 1 : bin_count / threads;
  using Tiles = Tiling<tile_size>;
  static_assert(tile_size <= 0xffff && items % 2 == 0 && bin_count % bins_per_thread == 0);

  PassBuffers<Key> keys;
  Codec codec;
  Tiles tiling;
  const PassTable* passes;
  std::uint64_t* bins;  ///< [row][bin]: the next free place

  struct Scratch {
    Key keys[tile_size];
    std::uint64_t base[bin_count];   ///< place in the output less place in the tile
    std::uint32_t first[bin_count];  ///< counts, then first place in the tile
    std::uint32_t sums[groups];
  };
  static std::size_t scratch_bytes() { return sizeof(Scratch); }

  struct Registers {
    Key key[items];
    std::uint32_t rank[items / 2];  ///< packed by two
  };

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    if (passes->count == 0) return;
    Scratch& scratch = *take_scratch<Scratch>(team, 1);
    const DigitReader<Codec> reader(codec, passes->digit[0]);
    const auto tile = static_cast<std::uint32_t>(team.league_rank());
    const Tiles tiling = passes->takes_out ? Tiles::of(passes->elements) : this->tiling;
    if (tiling.ends_before(tile)) return;
    const std::ptrdiff_t begin = tiling.begin_of(tile);
    for (int bin = team.team_rank(); bin < bin_count; bin += threads) scratch.first[bin] = 0;
    team.team_barrier();
    if (begin >= 0) {
      spread<true>(team, reader, static_cast<std::size_t>(begin), tile_size, scratch);
    } else {
      spread<false>(team, reader, 0, tile_size + static_cast<int>(begin), scratch);
    }
  }

 private:
  template <bool Full>
  KOKKOS_FUNCTION void spread(const Team& team, const DigitReader<Codec>& reader, std::size_t begin,
                              int size, Scratch& scratch) const {
    const int thread = team.team_rank();
    Registers registers;
    load<Full>(thread, begin, size, registers);
    if (crowds(reader, registers.key[0])) {
      rank<Full, true>(thread, reader, size, scratch, registers);
    } else {
      rank<Full, false>(thread, reader, size, scratch, registers);
    }
    team.team_barrier();
    take_room(team, scratch);
    team.team_barrier();
    exchange<Full>(thread, reader, size, scratch, registers);
    team.team_barrier();
    scatter<Full>(thread, reader, size, scratch);
  }

  template <bool Full>
  KOKKOS_FUNCTION void load(int thread, std::size_t begin, int size, Registers& registers) const {
    const Key* const in = keys.source(passes->number(0), passes->all()) + begin;
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      const int place = i * threads + thread;
      registers.key[i] = in[Full || place < size ? place : 0];
    }
  }

  /// Do more of a group of lanes' keys meet in a bin than by chance? One of each lane tells.
  KOKKOS_FUNCTION static bool crowds(const DigitReader<Codec>& reader, const Key& key) {
    constexpr int by_chance = 5;
    const auto same = L::template match<digit_bits>(reader.of(key));
    return L::where(L::size_of(same) > by_chance) != 0;
  }

  /// Ranks each key among those of the tile with its digit, in the order in which they come. If they crowd, the first
  /// lane of those with one digit adds for all of them.
  template <bool Full, bool Crowded>
  KOKKOS_FUNCTION static void rank(int thread, const DigitReader<Codec>& reader, int size,
                                   Scratch& scratch, Registers& registers) {
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      const bool exists = Full || i * threads + thread < size;
      const std::uint32_t bin = reader.of(registers.key[i]);
      std::uint32_t rank = 0;
      if constexpr (Crowded) {
        const auto same = L::template match<digit_bits>(bin) & L::where(exists);
        const int below = L::rank_in(same, L::lane(thread));
        if (exists && below == 0) {
          rank = L::add(&scratch.first[bin], static_cast<std::uint32_t>(L::size_of(same)));
        }
        rank = L::from_first(rank, same) + static_cast<std::uint32_t>(below);
      } else if (exists) {
        rank = L::add(&scratch.first[bin], 1u);
      }
      registers.rank[i / 2] = i % 2 == 0 ? rank : registers.rank[i / 2] | rank << 16;
    }
  }

  /// Room in the output for each bin's keys, and their first places in the tile.
  KOKKOS_FUNCTION void take_room(const Team& team, Scratch& scratch) const {
    const int thread = team.team_rank();
    std::uint64_t* const next = bins + passes->row[0] * bin_count;
    const bool has_bins = thread * bins_per_thread < bin_count;
    std::uint32_t counted[bins_per_thread] = {}, sum = 0;
    std::uint64_t place[bins_per_thread] = {};
    for (int b = 0; has_bins && b < bins_per_thread; ++b) {
      const int bin = thread * bins_per_thread + b;
      counted[b] = scratch.first[bin];
      sum += counted[b];
      place[b] = Kokkos::atomic_fetch_add(&next[bin], std::uint64_t{counted[b]});
    }
    std::uint32_t before = L::scan(sum, L::lane(thread));
    if (L::lane(thread) == L::width - 1) scratch.sums[thread / L::width] = before + sum;
    team.team_barrier();
    for (int g = 0; g < thread / L::width && has_bins; ++g) before += scratch.sums[g];
    for (int b = 0; has_bins && b < bins_per_thread; ++b) {
      const int bin = thread * bins_per_thread + b;
      scratch.first[bin] = before;
      scratch.base[bin] = place[b] - before;
      before += counted[b];
    }
  }

  template <bool Full>
  KOKKOS_FUNCTION static void exchange(int thread, const DigitReader<Codec>& reader, int size,
                                       Scratch& scratch, Registers& registers) {
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      L::settle(registers.key[i]);
      const std::uint32_t rank = registers.rank[i / 2] >> (16 * (i % 2)) & 0xffffu;
      if (Full || i * threads + thread < size) {
        scratch.keys[scratch.first[reader.of(registers.key[i])] + rank] = registers.key[i];
      }
    }
  }

  template <bool Full>
  KOKKOS_FUNCTION void scatter(int thread, const DigitReader<Codec>& reader, int size,
                               const Scratch& scratch) const {
    Key* const out = keys.destination(passes->number(0), passes->all_and_counting()) + thread;
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      const int place = i * threads + thread;
      if (Full || place < size) {
        const Key key = scratch.keys[place];
        (out + scratch.base[reader.of(key)])[i * threads] = key;
      }
      if (i % 4 == 3) L::settle_memory();
    }
  }
};

}  // namespace kradix::impl
