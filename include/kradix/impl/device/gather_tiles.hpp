// The passes of keys that are gathered: tiles sorted where they lie, where their runs lie in bins, and tiles gathered from
// those.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "kradix/impl/backend/lanes.hpp"
#include "kradix/impl/buffers.hpp"
#include "kradix/impl/device/bins.hpp"
#include "kradix/impl/device/gathering.hpp"
#include "kradix/impl/device/route.hpp"
#include "kradix/impl/device/spread_tile.hpp"
#include "kradix/impl/device/team.hpp"
#include "kradix/impl/device/wide_array.hpp"

namespace kradix::impl {

/// One tile sorted by a digit, in no order of equal digits. Item i of a thread is `Step` places behind its item before.
template <class ExecutionSpace, class Codec, TeamShape Shape, int Step>
struct SortTile {
  using Key = typename Codec::key_type;
  using Team = TeamMember<ExecutionSpace>;
  using L = Lanes<ExecutionSpace>;
  using Spread = SpreadTile<ExecutionSpace, Codec, Shape>;
  using Reader = DigitReader<Codec>;
  static constexpr int threads = Shape.threads, items = Shape.items, size = threads * items;
  static constexpr int groups = threads / L::width, span = items * L::width;
  static_assert(span % RunMarks::places == 0 && groups <= GatherTables::most_groups);

  struct Scratch {
    union {
      Key keys[size];
      std::uint32_t sources[size];  ///< of runs, while keys are gathered
    };
    std::uint32_t marks[size / RunMarks::places];
    std::uint32_t first[bin_count +
                        1];  ///< counts, then first places in the tile; what is missing comes last
    std::uint32_t sums[groups];
    KOKKOS_FUNCTION Scratch() {}
  };

  /// A tile may not be `Full`.
  template <bool Full>
  struct Registers {
    Key key[items];
    std::uint32_t rank[items / 2];
    int left;  ///< places of the tile from the thread's first item on

    KOKKOS_FUNCTION bool exists(int i) const { return Full || i * Step < left; }
    KOKKOS_FUNCTION std::uint32_t bin_of(const Reader& reader, int i) const {
      return exists(i) ? reader.of(key[i]) : std::uint32_t{bin_count};
    }
  };

  /// Begins with no counts and ends with keys in scratch. Tells each bin's first place there.
  template <bool Full, class Tell>
  KOKKOS_FUNCTION static void sort(const Team& team, const Reader& reader, std::uint32_t existing,
                                   Registers<Full>& registers, Scratch& scratch, const Tell& tell) {
    const int thread = team.team_rank();
    if (Full && Spread::crowds(registers.bin_of(reader, 0))) {
      Spread::template rank<true, true>(thread, reader, size, scratch, registers);
    } else {
      Spread::template rank<true, false>(thread, reader, size, scratch, registers);
    }
    team.team_barrier();
    Spread::place_bins(
        team, scratch, [](int, std::uint32_t) { return 0; },
        [&](int bin, std::uint32_t first, int) { tell(bin, first); });
    if (thread == 0) scratch.first[bin_count] = existing;
    team.team_barrier();
    Spread::template exchange<true>(thread, reader, size, scratch, registers);
    team.team_barrier();
  }

  KOKKOS_FUNCTION static void clear(const Team& team, Scratch& scratch) {
    for (int bin = team.team_rank(); bin <= bin_count; bin += threads) scratch.first[bin] = 0;
  }
};

/// Each tile by the topmost digit: from the caller's keys, or where they lie.
template <class ExecutionSpace, class Codec, TeamShape Shape>
struct SortTiles {
  using Tile = SortTile<ExecutionSpace, Codec, Shape, Shape.threads>;
  using Key = typename Codec::key_type;
  using Bits = typename Codec::bits_type;
  using Team = TeamMember<ExecutionSpace>;
  using L = Lanes<ExecutionSpace>;
  using Scratch = typename Tile::Scratch;
  static constexpr int threads = Shape.threads, items = Shape.items;

  PassBuffers<Key> keys;
  Codec codec;
  Gathering shape;
  GatherTables tables;
  Route* route;

  static std::size_t scratch_bytes() { return sizeof(Scratch); }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    if (route->spreads != Route::gathered) return;
    Scratch& scratch = *take_scratch<Scratch>(team, 1);
    const auto teams = static_cast<std::uint32_t>(team.league_size());
    for (auto tile = static_cast<std::uint32_t>(team.league_rank()); tile < shape.tiles();
         tile += teams) {
      const std::uint32_t left = shape.count - tile * Tile::size;
      if (left >= Tile::size) {
        sort<true>(team, tile, Tile::size, scratch);
      } else {
        sort<false>(team, tile, left, scratch);
      }
      team.team_barrier();
    }
  }

 private:
  template <bool Full>
  KOKKOS_FUNCTION void sort(const Team& team, std::uint32_t tile, std::uint32_t size,
                            Scratch& scratch) const {
    const int thread = team.team_rank(), top = route->top;
    const std::uint32_t begin = tile * Tile::size;
    typename Tile::template Registers<Full> registers;
    registers.left = static_cast<int>(size) - thread;
    const Key* const in = keys.in + begin;
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i)
      registers.key[i] = in[registers.exists(i) ? i * threads + thread : 0];
    Tile::clear(team, scratch);
    const auto above = static_cast<Bits>(route->above);
    Bits differ = 0;
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i)
      differ |= static_cast<Bits>(codec.encode(registers.key[i]) ^ above);
    tell_above(static_cast<Bits>(differ & ~low_mask<Bits>(top)));
    team.team_barrier();
    const typename Tile::Reader reader(codec, shape.first_digit(top));
    const std::size_t row = shape.row_of_tiles();
    std::uint16_t* const firsts = tables.in_tiles + tile;
    Tile::sort(team, reader, size, registers, scratch, [&](int bin, std::uint32_t first) {
      if (static_cast<std::uint32_t>(bin) < shape.bins())
        firsts[bin * row] = static_cast<std::uint16_t>(first);
    });
    if (thread == 0) firsts[shape.bins() * row] = static_cast<std::uint16_t>(size);
    Key* const out = keys.result + begin + thread;
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      if (registers.exists(i)) out[i * threads] = (scratch.keys + thread)[i * threads];
      if (i % 4 == 3) L::settle_memory();
    }
  }

  /// What the samples missed.
  KOKKOS_FUNCTION void tell_above(Bits differ) const {
    if (differ == 0) return;
    if ((differ & ~L::load(&route->varying[0])) != 0) {
      Kokkos::atomic_or(&route->varying[0], std::uint64_t{differ});
    }
  }
};

/// Where each bin's runs lie, a team a bin. The last one decides: what is uneven, or varies where no sample did, goes another way.
template <class ExecutionSpace, TeamShape Shape, int Span>
struct PlaceRuns {
  using Team = TeamMember<ExecutionSpace>;
  using L = Lanes<ExecutionSpace>;
  using Packed = Pack<std::uint16_t>;
  static constexpr int threads = Shape.threads, groups = threads / L::width, each = Packed::size;

  Gathering shape;
  GatherTables tables;
  Route* route;

  struct Scratch {
    std::uint32_t sums[2][groups];
    std::uint64_t left;
  };
  static std::size_t scratch_bytes() { return sizeof(Scratch); }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    if (route->spreads != Route::gathered) return;
    Scratch& scratch = *take_scratch<Scratch>(team, 1);
    const auto bin = static_cast<std::uint32_t>(team.league_rank());
    const std::uint32_t total = place(team, bin, scratch);
    if (team.team_rank() == 0) tables.state->totals[bin] = total;
    if (!leaves_last(team, &tables.state->placed, shape.bins(), scratch.left)) return;
    if (team.team_rank() < L::width) decide(L::lane(team.team_rank()));
  }

 private:
  KOKKOS_FUNCTION std::uint32_t place(const Team& team, std::uint32_t bin, Scratch& scratch) const {
    const int thread = team.team_rank(), group = thread / L::width, lane = L::lane(thread);
    const std::size_t row = shape.row_of_tiles();
    const auto* const begins = reinterpret_cast<const Packed*>(tables.in_tiles + bin * row);
    const auto* const ends = begins + row / each;
    const std::uint32_t tiles = shape.tiles();
    std::uint32_t at = 0;
    int turn = 0;
    constexpr std::uint32_t step = threads * each;
    for (std::uint32_t first = 0; first < tiles; first += step, turn ^= 1) {
      const std::uint32_t tile = first + thread * each;
      Packed begin, end;
      if (tile < tiles) {
        begin = begins[tile / each];
        end = ends[tile / each];
      }
      std::uint32_t run[each], sum = 0;
      KRADIX_UNROLL
      for (int i = 0; i < each; ++i) {
        run[i] = tile + i < tiles ? std::uint32_t{end.word(i)} - begin.word(i) : 0;
        sum += run[i];
      }
      std::uint32_t before = L::scan(sum, lane);
      if (lane == L::width - 1) scratch.sums[turn][group] = before + sum;
      team.team_barrier();
      std::uint32_t all = 0;
      for (int g = 0; g < groups; ++g) {
        if (g == group) before += all;
        all += scratch.sums[turn][g];
      }
      before += at;
      at += all;
      KRADIX_UNROLL
      for (int i = 0; i < each; ++i) {
        tell_spans(bin, tile + i, before, before + run[i]);
        before += run[i];
      }
    }
    return at;
  }

  KOKKOS_FUNCTION void tell_spans(std::uint32_t bin, std::uint32_t tile, std::uint32_t begin,
                                  std::uint32_t end) const {
    const std::uint32_t spans = shape.windows * (shape.tile / Span);
    for (std::uint32_t span = (begin + Span - 1) / Span; span * Span < end && span < spans;
         ++span) {
      tables.runs[std::size_t{bin} * spans + span] = {tile, span * Span - begin};
    }
  }

  KOKKOS_FUNCTION void decide(int lane) const {
    const std::uint64_t longest = scan_bins<L>(tables.state->totals, tables.state->begins, lane);
    const bool uneven = L::where(longest > shape.most) != 0;
    if (lane != 0) return;
    tables.state->begins[bin_count] = shape.count;
    if (uneven || (L::load(&route->varying[0]) & ~low_mask<std::uint64_t>(route->top)) != 0) {
      route->spreads = 0;
    } else {
      route->digits = {route->top - shape.bits(), route->top};
      route->together = static_cast<int>(shape.together);
    }
  }
};

/// A window is a tile of a bin: gathered, sorted by the next digit, and written side by side.
template <class ExecutionSpace, class Codec, TeamShape Shape>
struct GatherTiles {
  using L = Lanes<ExecutionSpace>;
  using Tile = SortTile<ExecutionSpace, Codec, Shape, L::width>;
  using Key = typename Codec::key_type;
  using Team = TeamMember<ExecutionSpace>;
  using Scratch = typename Tile::Scratch;
  static constexpr int threads = Shape.threads, items = Shape.items;
  static constexpr std::uint32_t span = Tile::span;

  PassBuffers<Key> keys;
  Codec codec;
  Gathering shape;
  GatherTables tables;
  const PassTable* passes;
  const Route* route;

  static std::size_t scratch_bytes() { return sizeof(Scratch); }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    if (passes->finishes != PassTable::gathering) return;
    Scratch& scratch = *take_scratch<Scratch>(team, 1);
    // Teams that run together gather from the same tiles.
    const auto teams = static_cast<std::uint32_t>(team.league_size());
    const auto all = static_cast<std::uint32_t>(shape.rows());
    for (auto index = static_cast<std::uint32_t>(team.league_rank()); index < all; index += teams) {
      const std::uint32_t bin = index & (shape.bins() - 1), window = index >> shape.first_bits;
      const auto begin = static_cast<std::uint32_t>(tables.state->begins[bin]);
      const auto end = static_cast<std::uint32_t>(tables.state->begins[bin + 1]);
      const std::uint32_t from = window * Tile::size;
      if (from >= end - begin) continue;
      const std::uint32_t left = end - begin - from;
      if (left >= Tile::size) {
        gather<true>(team, bin, window, begin + from, Tile::size, scratch);
      } else {
        gather_part(team, bin, window, begin + from, left, scratch);
      }
      team.team_barrier();
    }
  }

 private:
  /// A function of its own: beside it ptxas would spill the keys of full windows.
  __attribute__((noinline)) KOKKOS_FUNCTION void gather_part(const Team& team, std::uint32_t bin,
                                                             std::uint32_t window,
                                                             std::uint32_t begin,
                                                             std::uint32_t size,
                                                             Scratch& scratch) const {
    gather<false>(team, bin, window, begin, size, scratch);
  }
  template <bool Full>
  KOKKOS_FUNCTION void gather(const Team& team, std::uint32_t bin, std::uint32_t window,
                              std::uint32_t begin, std::uint32_t size, Scratch& scratch) const {
    const int thread = team.team_rank(), group = thread / L::width, lane = L::lane(thread);
    const std::uint32_t first = group * span;
    const std::uint32_t some = size > first ? (size - first < span ? size - first : span) : 0;
    const std::uint32_t existing = Full ? span : some;
    typename Tile::template Registers<Full> registers;
    registers.left = static_cast<int>(existing) - lane;
    Tile::clear(team, scratch);
    find_runs(bin, window, group, existing, lane, scratch);
    load(group, lane, scratch, registers);
    team.team_barrier();
    const typename Tile::Reader reader(codec, shape.next_digit(route->top));
    std::uint16_t* const firsts =
        tables.in_windows + (std::size_t{bin} * shape.windows + window) * shape.row;
    Tile::sort(team, reader, size, registers, scratch, [&](int cell, std::uint32_t first) {
      const std::uint32_t chunk = cell / shape.together;
      if (chunk * shape.together == static_cast<std::uint32_t>(cell))
        firsts[chunk] = static_cast<std::uint16_t>(first);
    });
    WriteAligned<ExecutionSpace, threads, items>::write(thread, scratch.keys, size, keys.other,
                                                        begin);
  }

  /// A group of lanes looks up its own part of the window.
  KOKKOS_FUNCTION void find_runs(std::uint32_t bin, std::uint32_t window, int group,
                                 std::uint32_t existing, int lane, Scratch& scratch) const {
    constexpr int words = span / RunMarks::places;
    std::uint32_t* const marks = scratch.marks + group * words;
    std::uint32_t* const sources = scratch.sources + group * span;
    for (int w = lane; w < words; w += L::width) marks[w] = 0;
    L::barrier();
    if (existing > 0) {
      const FirstRun begin =
          tables.runs[(std::size_t{bin} * shape.windows + window) * Tile::groups + group];
      const std::size_t row = shape.row_of_tiles();
      const std::uint16_t* const begins = tables.in_tiles + bin * row;
      const std::uint16_t* const ends = begins + row;
      const std::uint32_t tiles = shape.tiles();
      const auto limit = static_cast<int>(existing);
      int at = -static_cast<int>(begin.before);
      std::uint32_t listed = 0;
      for (std::uint32_t next = begin.tile; at < limit; next += L::width) {
        const std::uint32_t tile = next + lane;
        const std::uint32_t from = tile < tiles ? begins[tile] : 0,
                            to = tile < tiles ? ends[tile] : 0;
        const int run = static_cast<int>(to - from);
        const int mine = at + static_cast<int>(L::scan(run, lane));
        const bool is_read = run > 0 && mine < limit;
        const auto read = L::where(is_read);
        if (is_read) {
          const int place = mine > 0 ? mine : 0;
          L::set(&marks[place / RunMarks::places], RunMarks::begins_at(place));
          sources[listed + L::rank_in(read, lane)] = tile * Tile::size + from - mine;
        }
        listed += L::size_of(read);
        at = static_cast<int>(L::from_last(mine + run));
      }
    }
    L::barrier();
    std::uint32_t before = 0;
    for (int w = 0; w < words; w += L::width) {
      const bool exists = w + lane < words;
      const std::uint32_t word = exists ? marks[w + lane] : 0, own = RunMarks::begun(word);
      const std::uint32_t lanes_before = before + L::scan(own, lane);
      if (exists) marks[w + lane] = word | RunMarks::after(lanes_before);
      before = L::from_last(lanes_before + own);
    }
    L::barrier();
  }

  template <class Held>
  KOKKOS_FUNCTION void load(int group, int lane, const Scratch& scratch, Held& registers) const {
    const std::uint32_t* const marks = scratch.marks + group * (span / RunMarks::places);
    const std::uint32_t* const sources = scratch.sources + group * span;
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      const std::uint32_t place = i * L::width + lane;
      const bool exists = registers.exists(i);
      const std::uint32_t run =
          exists ? RunMarks::run_at(marks[place / RunMarks::places], place) : 0;
      registers.key[i] = keys.result[exists ? sources[run] + place : 0];
      if (i % 4 == 3) L::settle_memory();
    }
  }
};

}  // namespace kradix::impl
