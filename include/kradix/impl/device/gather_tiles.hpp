// The passes of keys that are gathered: tiles sorted where they lie, where their runs lie in bins, and tiles gathered from
// those.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "kradix/impl/backend/lanes.hpp"
#include "kradix/impl/buffers.hpp"
#include "kradix/impl/device/bins.hpp"
#include "kradix/impl/device/cells.hpp"
#include "kradix/impl/device/gathering.hpp"
#include "kradix/impl/device/route.hpp"
#include "kradix/impl/device/spread_steps.hpp"
#include "kradix/impl/device/team.hpp"
#include "kradix/impl/device/tell_host.hpp"
#include "kradix/impl/device/wide_array.hpp"

namespace kradix::impl {

/// Bits above the topmost digit in which a key differs, which the samples missed.
template <class L, class Bits>
KOKKOS_FUNCTION void tell_above(Route* route, Bits differ) {
  if (differ == 0) return;
  if ((differ & ~L::load(&route->varying[0])) != 0) {
    Kokkos::atomic_or(&route->varying[0], std::uint64_t{differ});
  }
}

/// Keys alone, in tiles and in windows.
template <class Codec>
struct KeysInTiles {
  using codec_type = Codec;
  using Key = typename Codec::key_type;
  static constexpr int raised = 0;  ///< bits of a code below those that a route knows

  PassBuffers<Key> keys;
  Codec codec;

  KOKKOS_FUNCTION const Key* read(std::uint32_t begin) const { return keys.in + begin; }
  KOKKOS_FUNCTION Key* tile(std::uint32_t begin) const { return keys.result + begin; }
  /// Where a place of tiles lies, as runs tell it.
  using Source = std::uint32_t;
  KOKKOS_FUNCTION static Source source(std::uint32_t place) { return place; }
  KOKKOS_FUNCTION const Key& at(Source source) const { return keys.result[source]; }
  KOKKOS_FUNCTION Key* windows() const { return keys.other; }
};

/// What a group of lanes knows of its part of a window, in scratch.
template <class Source>
struct RunsOfGroup {
  std::uint32_t* marks;
  Source* sources;  ///< of each run, less its first place

  KOKKOS_FUNCTION Source source_of(std::uint32_t place) const {
    return sources[RunMarks::run_at(marks[place / RunMarks::places], place)] + place;
  }
};

/// Where in tiles of `TileSize` the elements of a window lie, of which each group of lanes has `Span` places.
template <class ExecutionSpace, std::uint32_t TileSize, std::uint32_t Span>
struct WindowRuns {
  using L = Lanes<ExecutionSpace>;

  /// A group of lanes looks up its own part of a bin, which is so many places long. `source_at` tells where a tile begins.
  template <class Source, class SourceAt>
  KOKKOS_FUNCTION static void find(const Gathering& shape, const GatherTables& tables,
                                   std::uint32_t bin, std::uint32_t part, std::uint32_t places,
                                   int lane, const RunsOfGroup<Source>& runs,
                                   const SourceAt& source_at) {
    const auto words = static_cast<int>((places + RunMarks::places - 1) / RunMarks::places);
    for (int w = lane; w < words; w += L::width) runs.marks[w] = 0;
    L::barrier();
    const std::uint32_t parts = shape.windows * (TileSize / Span);
    const FirstRun begin = tables.runs[std::size_t{bin} * parts + part];
    const std::size_t row = shape.row_of_tiles();
    const std::uint16_t* const begins = tables.in_tiles + bin * row;
    const std::uint16_t* const ends = begins + row;
    const std::uint32_t tiles = shape.tiles();
    const auto limit = static_cast<int>(places);
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
        L::set(&runs.marks[place / RunMarks::places], RunMarks::begins_at(place));
        runs.sources[listed + L::rank_in(read, lane)] =
            source_at(tile * TileSize) + (static_cast<int>(from) - mine);
      }
      listed += L::size_of(read);
      at = static_cast<int>(L::from_last(mine + run));
    }
    L::barrier();
    std::uint32_t before = 0;
    for (int w = 0; w < words; w += L::width) {
      const bool exists = w + lane < words;
      const std::uint32_t word = exists ? runs.marks[w + lane] : 0, own = RunMarks::begun(word);
      const std::uint32_t lanes_before = before + L::scan(own, lane);
      if (exists) runs.marks[w + lane] = word | RunMarks::after(lanes_before);
      before = L::from_last(lanes_before + own);
    }
    L::barrier();
  }
};

/// The tiles of `Size` keys that are this team's, as (number, keys from there to the end).
template <std::uint32_t Size, class Team, class Sort>
KOKKOS_FUNCTION void each_tile_of(const Team& team, const Gathering& shape, const Sort& sort) {
  const auto teams = static_cast<std::uint32_t>(team.league_size());
  for (auto tile = static_cast<std::uint32_t>(team.league_rank()); tile < shape.tiles();
       tile += teams) {
    sort(tile, shape.count - tile * Size);
    team.team_barrier();
  }
}

/// Likewise the windows, as (bin, window, where it begins, keys from there to the bin's end). Teams that run together gather from the
/// same tiles.
template <std::uint32_t Size, class Team, class Gather>
KOKKOS_FUNCTION void each_window_of(const Team& team, const Gathering& shape,
                                    const GatherTables& tables, const Gather& gather) {
  const auto teams = static_cast<std::uint32_t>(team.league_size());
  const auto all = static_cast<std::uint32_t>(shape.rows());
  for (auto index = static_cast<std::uint32_t>(team.league_rank()); index < all; index += teams) {
    const std::uint32_t bin = index & (shape.bins() - 1), window = index >> shape.first_bits;
    const auto begin = static_cast<std::uint32_t>(tables.state->begins[bin]);
    const auto end = static_cast<std::uint32_t>(tables.state->begins[bin + 1]);
    const std::uint32_t from = window * Size;
    if (from >= end - begin) continue;
    const std::uint32_t left = end - begin - from;
    gather(bin, window, begin + from, left);
    team.team_barrier();
  }
}

/// One tile sorted by a digit, in no order of equal digits. Item i of a thread is `Step` places behind its item before.
template <class ExecutionSpace, class Codec, TeamShape Shape, int Step,
          class Source = std::uint32_t>
struct SortTile {
  using Key = typename Codec::key_type;
  using Team = TeamMember<ExecutionSpace>;
  using L = Lanes<ExecutionSpace>;
  using Spread = SpreadSteps<ExecutionSpace, Shape>;
  using Reader = DigitReader<Codec>;
  static constexpr int threads = Shape.threads, items = Shape.items, size = threads * items;
  static constexpr int groups = threads / L::width, span = items * L::width;
  static_assert(span % RunMarks::places == 0 && groups <= GatherTables::most_groups);

  struct Scratch {
    union {
      Key keys[size];
      Source sources[size];  ///< of runs, while keys are gathered
    };
    std::uint32_t marks[size / RunMarks::places];
    std::uint32_t first[bin_count];  ///< counts, then first places in the tile
    std::uint32_t sums[groups];
    KOKKOS_FUNCTION Scratch() {}
    KOKKOS_FUNCTION RunsOfGroup<Source> runs_of(int group) {
      return {marks + group * (span / static_cast<int>(RunMarks::places)), sources + group * span};
    }
  };

  struct Registers {
    Key key[items];
    std::uint32_t rank[items / 2];

    KOKKOS_FUNCTION std::uint32_t bin_of(const Reader& reader, int i) const {
      return reader.of(key[i]);
    }
  };

  /// Begins with no counts and ends so, with keys in scratch. Tells each bin's first place there.
  template <class Tell>
  KOKKOS_FUNCTION static void sort(const Team& team, const Reader& reader, Registers& registers,
                                   Scratch& scratch, const Tell& tell) {
    const int thread = team.team_rank();
    if (Spread::crowds(registers.bin_of(reader, 0))) {
      Spread::template rank<true, true>(thread, reader, size, scratch, registers);
    } else {
      Spread::template rank<true, false>(thread, reader, size, scratch, registers);
    }
    place_bins(team, scratch, tell);
    Spread::template exchange<true>(thread, reader, size, scratch, registers);
    team.team_barrier();
    clear(team, scratch);
  }
  /// The same of part of a tile, whose keys are read twice: `each_key` shows them.
  template <class EachKey, class Tell>
  KOKKOS_FUNCTION static void sort_part(const Team& team, const Reader& reader, Scratch& scratch,
                                        const EachKey& each_key, const Tell& tell) {
    each_key([&](const Key& key) { L::add(&scratch.first[reader.of(key)], 1u); });
    place_bins(team, scratch, tell);
    each_key(
        [&](const Key& key) { scratch.keys[L::add(&scratch.first[reader.of(key)], 1u)] = key; });
    team.team_barrier();
    clear(team, scratch);
  }

  KOKKOS_FUNCTION static void clear(const Team& team, Scratch& scratch) {
    for (int bin = team.team_rank(); bin < bin_count; bin += threads) scratch.first[bin] = 0;
  }

 private:
  template <class Tell>
  KOKKOS_FUNCTION static void place_bins(const Team& team, Scratch& scratch, const Tell& tell) {
    team.team_barrier();
    const auto bins = Spread::place_bins(team, scratch, [](int, std::uint32_t) { return 0; });
    Spread::for_bins(team.team_rank(), bins,
                     [&](int bin, std::uint32_t first, int) { tell(bin, first); });
    team.team_barrier();
  }
};

/// Each tile by the topmost digit: from the caller's keys, or where they lie.
template <class ExecutionSpace, class Tiles, TeamShape Shape>
struct SortTiles {
  using Codec = typename Tiles::codec_type;
  using Tile = SortTile<ExecutionSpace, Codec, Shape, Shape.threads>;
  using Key = typename Codec::key_type;
  using Bits = typename Codec::bits_type;
  using Team = TeamMember<ExecutionSpace>;
  using L = Lanes<ExecutionSpace>;
  using Scratch = typename Tile::Scratch;
  static constexpr int threads = Shape.threads, items = Shape.items;

  Tiles tiles;
  Gathering shape;
  GatherTables tables;
  Route* route;

  static std::size_t scratch_bytes() { return sizeof(Scratch); }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    if (route->spreads != Route::gathered) return;
    Scratch& scratch = *take_scratch<Scratch>(team, 1);
    Tile::clear(team, scratch);
    team.team_barrier();
    each_tile_of<Tile::size>(team, shape, [&](std::uint32_t tile, std::uint32_t left) {
      if (left >= Tile::size) {
        sort(team, tile, scratch);
      } else {
        sort_part(team, tile, left, scratch);
      }
    });
  }

 private:
  KOKKOS_FUNCTION int top() const { return route->top + Tiles::raised; }
  KOKKOS_FUNCTION Bits above() const { return static_cast<Bits>(route->above) << Tiles::raised; }
  /// Of bits in which keys differ from those.
  KOKKOS_FUNCTION void tell_beyond(Bits differ, int top) const {
    tell_above<L>(route, static_cast<Bits>((differ & ~low_mask<Bits>(top)) >> Tiles::raised));
  }

  KOKKOS_FUNCTION void sort(const Team& team, std::uint32_t tile, Scratch& scratch) const {
    const int thread = team.team_rank(), top = this->top();
    const std::uint32_t begin = tile * Tile::size;
    typename Tile::Registers registers;
    const auto in = tiles.read(begin) + thread;
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) registers.key[i] = in[i * threads];
    const Bits above = this->above();
    Bits differ = 0;
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i)
      differ |= static_cast<Bits>(tiles.codec.encode(registers.key[i]) ^ above);
    tell_beyond(differ, top);
    const typename Tile::Reader reader(tiles.codec, shape.first_digit(top));
    Tile::sort(team, reader, registers, scratch,
               [&](int bin, std::uint32_t first) { tables.tell_in_tile(shape, tile, bin, first); });
    if (thread == 0) tables.tell_in_tile(shape, tile, shape.bins(), Tile::size);
    Key* const out = tiles.tile(begin) + thread;
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      out[i * threads] = (scratch.keys + thread)[i * threads];
      if (i % 4 == 3) L::settle_memory();
    }
  }
  KOKKOS_FUNCTION void sort_part(const Team& team, std::uint32_t tile, std::uint32_t size,
                                 Scratch& scratch) const {
    const int thread = team.team_rank(), top = this->top();
    const auto in = tiles.read(tile * Tile::size);
    const auto each_key = [&](const auto& see) {
      KRADIX_ROLLED
      for (std::uint32_t i = thread; i < size; i += threads) see(in[i]);
    };
    const Bits above = this->above();
    Bits differ = 0;
    each_key([&](const Key& key) { differ |= static_cast<Bits>(tiles.codec.encode(key) ^ above); });
    tell_beyond(differ, top);
    const typename Tile::Reader reader(tiles.codec, shape.first_digit(top));
    Tile::sort_part(team, reader, scratch, each_key, [&](int bin, std::uint32_t first) {
      tables.tell_in_tile(shape, tile, bin, first);
    });
    if (thread == 0) tables.tell_in_tile(shape, tile, shape.bins(), size);
    Key* const out = tiles.tile(tile * Tile::size);
    for (std::uint32_t i = thread; i < size; i += threads) out[i] = scratch.keys[i];
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
  int otherwise;       ///< how keys are spread then
  TellHost to_host{};  ///< whether it has come to that

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
    to_host.template tell<threads>(team);
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
      route->spreads = otherwise;
      tables.state->fails = 1;
    } else {
      route->digits = {route->top - shape.bits(), route->top};
      route->together = static_cast<int>(shape.together);
    }
  }
};

/// A window is a tile of a bin: gathered, sorted by the next digit, and written side by side, or no more than `Suffixed` of it.
template <class ExecutionSpace, class Tiles, TeamShape Shape, bool Suffixed = false>
struct GatherTiles {
  using Codec = typename Tiles::codec_type;
  using L = Lanes<ExecutionSpace>;
  using Tile = SortTile<ExecutionSpace, Codec, Shape, L::width, typename Tiles::Source>;
  using Key = typename Codec::key_type;
  using Team = TeamMember<ExecutionSpace>;
  using Scratch = typename Tile::Scratch;
  using Runs = WindowRuns<ExecutionSpace, Tile::size, Tile::span>;
  static constexpr int threads = Shape.threads, items = Shape.items;
  static constexpr std::uint32_t span = Tile::span;

  Tiles tiles;
  Gathering shape;
  GatherTables tables;
  const Route* route;

  static std::size_t scratch_bytes() { return sizeof(Scratch); }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    if (route->spreads != Route::gathered) return;
    Scratch& scratch = *take_scratch<Scratch>(team, 1);
    Tile::clear(team, scratch);
    team.team_barrier();
    each_window_of<Tile::size>(
        team, shape, tables,
        [&](std::uint32_t bin, std::uint32_t window, std::uint32_t begin, std::uint32_t left) {
          if (left >= Tile::size) {
            gather(team, bin, window, begin, scratch);
          } else {
            gather_rest(team, bin, window, begin, left, scratch);
          }
        });
  }

 private:
  KOKKOS_FUNCTION void gather(const Team& team, std::uint32_t bin, std::uint32_t window,
                              std::uint32_t begin, Scratch& scratch) const {
    const int thread = team.team_rank(), group = thread / L::width, lane = L::lane(thread);
    typename Tile::Registers registers;
    Runs::find(shape, tables, bin, window * Tile::groups + group, span, lane,
               scratch.runs_of(group), [&](std::uint32_t place) { return tiles.source(place); });
    load(group, lane, scratch, registers);
    team.team_barrier();  // (beside what follows ptxas would spill more keys)
    const typename Tile::Reader reader(tiles.codec, shape.next_digit(route->top + Tiles::raised));
    std::uint16_t* const firsts = tables.row(shape, bin, window);
    Tile::sort(team, reader, registers, scratch,
               [&](int cell, std::uint32_t first) { shape.tell_in_window(firsts, cell, first); });
    write(thread, begin, Tile::size, scratch);
  }
  /// What is left of a bin, from its first run on.
  KOKKOS_FUNCTION void gather_rest(const Team& team, std::uint32_t bin, std::uint32_t window,
                                   std::uint32_t begin, std::uint32_t size,
                                   Scratch& scratch) const {
    const int thread = team.team_rank(), group = thread / L::width, lane = L::lane(thread);
    const FirstRun first = tables.runs[(std::size_t{bin} * shape.windows + window) * Tile::groups];
    const std::uint16_t* const begins = tables.in_tiles + bin * std::size_t{shape.row_of_tiles()};
    const std::uint16_t* const ends = begins + shape.row_of_tiles();
    const auto each_key = [&](const auto& see) {
      KRADIX_ROLLED
      for (std::uint32_t tile = first.tile + group; tile < shape.tiles(); tile += Tile::groups) {
        const Key* const from = tiles.tile(tile * Tile::size);
        const std::uint32_t skipped = tile == first.tile ? first.before : 0;
        KRADIX_ROLLED
        for (std::uint32_t i = begins[tile] + skipped + lane; i < ends[tile]; i += L::width) {
          see(from[i]);
        }
      }
    };
    const typename Tile::Reader reader(tiles.codec, shape.next_digit(route->top + Tiles::raised));
    std::uint16_t* const firsts = tables.row(shape, bin, window);
    Tile::sort_part(team, reader, scratch, each_key, [&](int cell, std::uint32_t first) {
      shape.tell_in_window(firsts, cell, first);
    });
    write(thread, begin, size, scratch);
  }

  KOKKOS_FUNCTION void write(int thread, std::uint32_t begin, std::uint32_t size,
                             const Scratch& scratch) const {
    using Write = WriteAligned<ExecutionSpace, threads, items>;
    if constexpr (Suffixed) {
      using Suffix = Suffixes::Suffix;
      const std::uint32_t mask = (1u << (route->top - shape.bits())) - 1;
      const auto suffix_of = [&](const Key& key) {
        return static_cast<Suffix>(static_cast<std::uint32_t>(tiles.codec.encode(key)) & mask);
      };
      Write::write(thread, scratch.keys, size, reinterpret_cast<Suffix*>(tiles.windows()), begin,
                   suffix_of);
    } else {
      Write::write(thread, scratch.keys, size, tiles.windows(), begin,
                   [](const Key& key) { return key; });
    }
  }

  KOKKOS_FUNCTION void load(int group, int lane, Scratch& scratch,
                            typename Tile::Registers& registers) const {
    const auto runs = scratch.runs_of(group);
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      registers.key[i] = tiles.at(runs.source_of(i * L::width + lane));
      if (i % 4 == 3) L::settle_memory();
    }
  }
};

}  // namespace kradix::impl
