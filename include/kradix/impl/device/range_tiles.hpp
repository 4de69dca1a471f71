// Keys of a short range, with values, sorted in two moves, in order: each tile is sorted by bins of values side by side, and a team
// gathers a bin's elements from all tiles and sorts them by what is left. Between the moves no more of a key is kept than that.
//
// It is a counting sort (Seward, 1954) by two digits of any width, the upper one first, and needs no count of all keys: the bins
// of tiles add up to it.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>

#include "kradix/impl/backend/lanes.hpp"
#include "kradix/impl/buffers.hpp"
#include "kradix/impl/device/gathering.hpp"
#include "kradix/impl/device/ordered_steps.hpp"
#include "kradix/impl/device/ranging.hpp"
#include "kradix/impl/device/team.hpp"
#include "kradix/impl/device/team_scan.hpp"
#include "kradix/impl/device/tell_host.hpp"

namespace kradix::impl {

/// What is left of a key in its bin.
using Remainder = std::uint16_t;

/// What both moves know.
struct RangeTables {
  RangeState* state = nullptr;
  const RangeTerms* terms = nullptr;
  std::uint16_t* in_tiles =
      nullptr;  ///< [bin][tile]: first places there; a row more: the tile's end
};

/// The first move: from the caller's elements to the other arrays, a tile a team.
template <class ExecutionSpace, class Codec, class Value, TeamShape Shape>
struct SortTilesOfRange {
  using Key = typename Codec::key_type;
  using Bits = typename Codec::bits_type;
  using Team = TeamMember<ExecutionSpace>;
  using L = Lanes<ExecutionSpace>;
  using Steps = OrderedSteps<ExecutionSpace, Shape, int{Ranging::most_bins}>;
  static constexpr int threads = Shape.threads, items = Shape.items, size = threads * items;
  static constexpr int upper = 16;  ///< a register holds a key's bin above its remainder

  SortBuffers<Key, Value> buffers;
  Codec codec;
  Ranging shape;
  RangeTables tables;
  Remainder* remainders;

  struct Scratch {
    union {
      typename Steps::GroupCounters counters;
      Remainder remainders[size];
      Value values[size];
    };
    std::uint32_t sums[Steps::groups];
    KOKKOS_FUNCTION Scratch() {}
  };
  static std::size_t scratch_bytes() { return sizeof(Scratch); }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    Scratch& scratch = *take_scratch<Scratch>(team, 1);
    const auto tile = static_cast<std::uint32_t>(team.league_rank());
    const std::uint32_t left = shape.count - tile * size;
    if (left >= static_cast<std::uint32_t>(size)) {
      sort<true>(team, tile, size, scratch);
    } else {
      sort<false>(team, tile, static_cast<int>(left), scratch);
    }
  }

 private:
  template <bool Full>
  KOKKOS_FUNCTION void sort(const Team& team, std::uint32_t tile, int count,
                            Scratch& scratch) const {
    const int thread = team.team_rank();
    const std::uint32_t begin = tile * size;
    const RangeTerms terms = *tables.terms;
    std::uint32_t key[items], rank[items / 2];
    bool holds = true;
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      const int place = Steps::place_of(thread, i);
      const Key& found = buffers.keys.in[begin + (Full || place < count ? place : 0)];
      const auto above = static_cast<Bits>(codec.encode(found) - static_cast<Bits>(terms.least));
      holds = holds && above < terms.values;
      key[i] = static_cast<std::uint32_t>(above);
    }
    clear(thread, scratch.counters);
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      const std::uint32_t above = key[i] < terms.values ? key[i] : 0, bin = terms.bin_of(above);
      key[i] = bin << upper | (above - bin * terms.width);
      // Places beyond the end lie in the last bin, behind all others.
      if (!Full && Steps::place_of(thread, i) >= count) key[i] = (terms.bins - 1) << upper;
    }
    if (!holds) L::store(&tables.state->fails, std::uint64_t{1});
    team.team_barrier();
    const auto bin_of = [&](int i) {
      L::settle(key[i]);
      return key[i] >> upper;
    };
    Steps::template rank_by_ballots<Ranging::digit_bits>(thread, bin_of, scratch.counters, rank);
    team.team_barrier();
    const auto last = static_cast<int>(terms.bins - 1);
    const std::size_t row = shape.row();
    std::uint16_t* const in_tiles = tables.in_tiles + tile;
    const auto bins = static_cast<int>(terms.bins);
    Steps::publish(
        team, bins,
        [&](int bin, std::uint32_t counted) {
          const std::uint32_t beyond = Full || bin < last ? 0 : size - count;
          if (counted > beyond) Kokkos::atomic_add(&tables.state->totals[bin], counted - beyond);
        },
        [&](std::uint32_t sum) { return scan_lanes<L>(team, sum, scratch.sums); },
        [&](int bin, std::uint32_t first) {
          in_tiles[bin * row] = static_cast<std::uint16_t>(first);
        },
        scratch.counters);
    if (thread == 0) in_tiles[bins * row] = static_cast<std::uint16_t>(count);
    team.team_barrier();
    Steps::add_group_ranks(thread, bin_of, scratch.counters, rank);
    team.team_barrier();
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i)
      scratch.remainders[Steps::rank_of(rank, i)] = static_cast<Remainder>(key[i]);
    team.team_barrier();
    write<Full>(thread, count, scratch.remainders, remainders + begin);
    Value values[items];
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      const int place = Steps::place_of(thread, i);
      values[i] = value(begin + (Full || place < count ? place : 0));
      if (i % 4 == 3) L::settle_memory();
    }
    team.team_barrier();
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) scratch.values[Steps::rank_of(rank, i)] = values[i];
    team.team_barrier();
    write<Full>(thread, count, scratch.values, buffers.values.other + begin);
  }

  KOKKOS_FUNCTION static void clear(int thread, typename Steps::GroupCounters& counters) {
    auto* const words = reinterpret_cast<std::uint64_t*>(&counters);
    constexpr int all = sizeof(counters) / sizeof(std::uint64_t);
    for (int i = thread; i < all; i += threads) words[i] = 0;
  }
  KOKKOS_FUNCTION Value value(std::uint32_t place) const {
    if constexpr (std::is_integral_v<Value>) {
      if (buffers.makes_indices) return static_cast<Value>(place);
    }
    return buffers.values.in[place];
  }
  template <bool Full, class T>
  KOKKOS_FUNCTION static void write(int thread, int count, const T* scratch, T* out) {
    // Short words by twos: a tile begins with a multiple of four bytes.
    using Stored = std::conditional_t<Full && sizeof(T) == 2 && !is_host_space<ExecutionSpace>,
                                      std::uint32_t, T>;
    constexpr int each = items * static_cast<int>(sizeof(T)) / static_cast<int>(sizeof(Stored));
    const auto* const from = reinterpret_cast<const Stored*>(scratch) + thread;
    auto* const to = reinterpret_cast<Stored*>(out) + thread;
    KRADIX_UNROLL
    for (int i = 0; i < each; ++i) {
      if (Full || i * threads + thread < count) to[i * threads] = from[i * threads];
      if (i % 4 == 3) L::settle_memory();
    }
  }
};

/// The second move: a bin a team, or a window of a longer one.
template <class ExecutionSpace, class Codec, class Value, TeamShape Shape>
struct SortBinsOfRange {
  using Key = typename Codec::key_type;
  using Bits = typename Codec::bits_type;
  using Team = TeamMember<ExecutionSpace>;
  using L = Lanes<ExecutionSpace>;
  static constexpr int most_values = Ranging::most_values;
  using Steps = OrderedSteps<ExecutionSpace, Shape, most_values>;
  static constexpr int threads = Shape.threads, items = Shape.items, size = threads * items;
  /// Values of 8 bytes go through scratch in two parts.
  static constexpr int parts = sizeof(Value) > 4 ? 2 : 1, part = size / parts;
  static constexpr int together = items / 2 / parts;  ///< values that registers hold
  static constexpr std::uint32_t words = size / RunMarks::places;
  static_assert(size % RunMarks::places == 0 && items % (2 * parts) == 0);

  SortBuffers<Key, Value> buffers;
  Codec codec;
  Ranging shape;
  RangeTables tables;
  const Remainder* remainders;
  TellHost to_host;  ///< whether it was in vain

  /// A team's work.
  struct Window {
    std::uint32_t bin, nth, all;
    std::uint32_t begin, total;  ///< of the bin
    KOKKOS_FUNCTION std::uint32_t first() const { return nth * size; }
    KOKKOS_FUNCTION int count() const {
      const std::uint32_t left = total - first();
      return static_cast<int>(left < size ? left : size);
    }
  };
  struct Scratch {
    union {
      struct {
        typename Steps::GroupCounters counters;
        std::uint32_t totals[most_values];  ///< of a longer bin's values, then their first places
        std::uint32_t places[most_values];  ///< elements before the window's, then their places
      };
      Remainder remainders[size];
      Value values[part];
    };
    std::uint32_t marks[words];
    std::uint32_t sources[Ranging::most_tiles];  ///< of runs, less their first places
    std::uint32_t sums[Steps::groups];
    std::uint32_t more_sums[Steps::groups];
    Window window;
    std::uint32_t windows, in_vain;
    KOKKOS_FUNCTION Scratch() {}
  };
  static std::size_t scratch_bytes() { return sizeof(Scratch); }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    Scratch& scratch = *take_scratch<Scratch>(team, 1);
    const int thread = team.team_rank();
    const auto index = static_cast<std::uint32_t>(team.league_rank());
    if (thread == 0) scratch.in_vain = tables.state->fails != 0 ? 1 : 0;
    clear(thread, scratch);
    find_window(team, index, scratch);
    if (index == 0) tell(team, scratch.in_vain);
    if (scratch.in_vain != 0 || index >= scratch.windows) return;
    const Window window = scratch.window;
    if (window.all > 1) count_others(team, window, scratch);
    find_runs(team, window, window.nth, scratch);
    team.team_barrier();
    sort(team, window, scratch);
  }

 private:
  KOKKOS_FUNCTION static void clear(int thread, Scratch& scratch) {
    auto* const counters = reinterpret_cast<std::uint64_t*>(&scratch.counters);
    constexpr int all = sizeof(scratch.counters) / sizeof(std::uint64_t);
    for (int i = thread; i < all; i += threads) counters[i] = 0;
    for (int i = thread; i < most_values; i += threads) scratch.totals[i] = scratch.places[i] = 0;
    clear_marks(thread, scratch);
  }
  KOKKOS_FUNCTION static void clear_marks(int thread, Scratch& scratch) {
    for (std::uint32_t i = thread; i < words; i += threads) scratch.marks[i] = 0;
  }

  /// All teams see the same totals: are there enough teams for all, and is no bin too long? Ends with a barrier.
  KOKKOS_FUNCTION void find_window(const Team& team, std::uint32_t index, Scratch& scratch) const {
    constexpr std::uint32_t each = (Ranging::most_bins - 1) / threads + 1;
    const std::uint32_t first_bin = team.team_rank() * each;
    const std::uint32_t* const totals = tables.state->totals + first_bin;
    std::uint32_t total[each], elements = 0, windows = 0;
    bool fits = true;
    KRADIX_UNROLL
    for (std::uint32_t b = 0; b < each; ++b) {
      total[b] = first_bin + b < Ranging::most_bins ? totals[b] : 0;
      elements += total[b];
      windows += windows_of(total[b]);
      fits = fits && windows_of(total[b]) <= Ranging::most_windows;
    }
    team.team_barrier();
    std::uint32_t begin = scan_lanes<L>(team, elements, scratch.sums),
                  window = scan_lanes<L>(team, windows, scratch.more_sums);
    const auto teams = static_cast<std::uint32_t>(team.league_size());
    if (!fits || window + windows > teams) scratch.in_vain = 1;
    if (team.team_rank() == threads - 1) scratch.windows = window + windows;
    KRADIX_UNROLL
    for (std::uint32_t b = 0; b < each; ++b) {
      const std::uint32_t all = windows_of(total[b]);
      if (index - window < all)
        scratch.window = {first_bin + b, index - window, all, begin, total[b]};
      begin += total[b];
      window += all;
    }
    team.team_barrier();
  }
  KOKKOS_FUNCTION static std::uint32_t windows_of(std::uint32_t total) {
    return (total + size - 1) / size;
  }
  KOKKOS_FUNCTION void tell(const Team& team, std::uint32_t in_vain) const {
    if (team.team_rank() == 0) tables.state->in_vain = in_vain;
    to_host.template tell<threads>(team);
  }

  /// Where in tiles the elements of a bin's window of that number lie: a run in each. Marks are clear.
  KOKKOS_FUNCTION void find_runs(const Team& team, const Window& window, std::uint32_t nth,
                                 Scratch& scratch) const {
    constexpr std::uint32_t each = (Ranging::most_tiles - 1) / threads + 1;
    const std::uint32_t first = team.team_rank() * each, tiles = shape.tiles();
    const std::uint16_t* const begins = tables.in_tiles + window.bin * shape.row() + first;
    const std::uint16_t* const ends = begins + shape.row();
    std::uint32_t from[each], run[each], places = 0, runs = 0;
    KRADIX_UNROLL
    for (std::uint32_t i = 0; i < each; ++i) {
      const bool exists = first + i < tiles;
      from[i] = exists ? begins[i] : 0;
      run[i] = exists ? ends[i] - from[i] : 0;
      places += run[i];
    }
    // Places in the window: runs may begin before it, and end behind it.
    const auto begin_of_all =
        static_cast<int>(scan_lanes<L>(team, places, scratch.sums)) - static_cast<int>(nth * size);
    int begin = begin_of_all;
    KRADIX_UNROLL
    for (std::uint32_t i = 0; i < each; ++i) {
      runs += is_there(begin, run[i]) ? 1 : 0;
      begin += static_cast<int>(run[i]);
    }
    std::uint32_t number = scan_lanes<L>(team, runs, scratch.more_sums);
    begin = begin_of_all;
    KRADIX_UNROLL
    for (std::uint32_t i = 0; i < each; ++i) {
      const int end = begin + static_cast<int>(run[i]);
      if (is_there(begin, run[i])) {
        const int place = begin > 0 ? begin : 0;
        RunMarks::mark<L>(scratch.marks, words, number, place, end < size ? end : size);
        scratch.sources[number++] =
            (first + i) * shape.tile + from[i] - static_cast<std::uint32_t>(begin);
      }
      begin = end;
    }
  }
  KOKKOS_FUNCTION static bool is_there(int begin, std::uint32_t length) {
    return length > 0 && begin < size && begin + static_cast<int>(length) > 0;
  }
  KOKKOS_FUNCTION static std::uint32_t source_of(const Scratch& scratch, std::uint32_t place) {
    return scratch.sources[RunMarks::run_at(scratch.marks[place / RunMarks::places], place)] +
           place;
  }

  /// How often values come in other windows of the bin, and in those before.
  KOKKOS_FUNCTION void count_others(const Team& team, const Window& window,
                                    Scratch& scratch) const {
    const int thread = team.team_rank();
    for (std::uint32_t nth = 0; nth < window.all; ++nth) {
      if (nth == window.nth) continue;
      find_runs(team, window, nth, scratch);
      team.team_barrier();
      const Window other{window.bin, nth, window.all, window.begin, window.total};
      const auto count = static_cast<std::uint32_t>(other.count());
      for (std::uint32_t place = thread; place < count; place += threads) {
        const Remainder value = remainders[source_of(scratch, place)];
        L::add(&scratch.totals[value], 1u);
        if (nth < window.nth) L::add(&scratch.places[value], 1u);
      }
      team.team_barrier();
      clear_marks(thread, scratch);
      team.team_barrier();
    }
  }

  KOKKOS_FUNCTION void sort(const Team& team, const Window& window, Scratch& scratch) const {
    const std::uint32_t thread = team.team_rank();
    const RangeTerms terms = *tables.terms;
    const int count = window.count();
    std::uint32_t first = Steps::place_of(thread, 0);
    const auto exists = [&](int i) { return static_cast<int>(first) + i * L::width < count; };
    const auto source = [&](int i) { return source_of(scratch, first + i * L::width); };
    // Remainders and ranks are packed by two. Places beyond the end come behind all others.
    std::uint32_t remainder[items / 2], rank[items / 2];
    L::settle(first);
    KRADIX_UNROLL
    for (int i = 0; i < items; i += 2) {
      const std::uint32_t beyond = terms.width - 1;
      const std::uint32_t low = exists(i) ? remainders[source(i)] : beyond,
                          high = exists(i + 1) ? remainders[source(i + 1)] : beyond;
      remainder[i / 2] = low | high << 16;
      if (i % 4 == 2) L::settle_memory();
    }
    const auto value_of = [&](int i) {
      L::settle(remainder[i / 2]);
      return Steps::rank_of(remainder, i);
    };
    Steps::template rank_by_ballots<Ranging::digit_bits>(thread, value_of, scratch.counters, rank);
    team.team_barrier();
    // Of a longer bin a value's elements go behind those of windows before.
    Steps::publish(
        team, static_cast<int>(terms.width),
        [&](int value, std::uint32_t counted) { scratch.totals[value] += counted; },
        [&](std::uint32_t sum) { return scan_lanes<L>(team, sum, scratch.sums); },
        [&](int value, std::uint32_t place) { scratch.places[value] -= place; }, scratch.counters);
    team.team_barrier();
    Steps::add_group_ranks(thread, value_of, scratch.counters, rank);
    if (window.all > 1) {
      scatter(team, window, terms, remainder, rank, exists, source, scratch);
      return;
    }
    if (!buffers.leaves_keys) write_keys(team, window, terms, remainder, rank, scratch);
    L::settle(first);
    KRADIX_UNROLL
    for (int p = 0; p < parts; ++p) {
      KRADIX_UNROLL
      for (int i = 0; i < items; i += together) {
        Value values[together];
        const auto is_of_part = [&](int k) {
          const auto place = static_cast<int>(Steps::rank_of(rank, i + k));
          return exists(i + k) && (parts == 1 || place / part == p);
        };
        KRADIX_UNROLL
        for (int k = 0; k < together; ++k) {
          values[k] = is_of_part(k) ? buffers.values.other[source(i + k)] : Value{};
          if (k % 4 == 3) L::settle_memory();
        }
        if (i == 0) team.team_barrier();  // what lay in scratch has been written
        KRADIX_UNROLL
        for (int k = 0; k < together; ++k) {
          if (is_of_part(k)) scratch.values[Steps::rank_of(rank, i + k) - p * part] = values[k];
        }
      }
      team.team_barrier();
      const int left = count - p * part;
      if (left > 0)
        write<items / parts>(thread, left < part ? left : part, scratch.values,
                             buffers.values.result, window.begin + p * part,
                             [](const Value& value) { return value; });
    }
  }

  KOKKOS_FUNCTION void write_keys(const Team& team, const Window& window, const RangeTerms& terms,
                                  const std::uint32_t* remainder, const std::uint32_t* rank,
                                  Scratch& scratch) const {
    team.team_barrier();
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      scratch.remainders[Steps::rank_of(rank, i)] =
          static_cast<Remainder>(Steps::rank_of(remainder, i));
    }
    team.team_barrier();
    const Bits least = least_of(terms, window.bin);
    write<items>(team.team_rank(), window.count(), scratch.remainders, buffers.keys.result,
                 window.begin,
                 [&](Remainder above) { return codec.decode(static_cast<Bits>(least + above)); });
  }
  KOKKOS_FUNCTION static Bits least_of(const RangeTerms& terms, std::uint32_t bin) {
    return static_cast<Bits>(terms.least + std::uint64_t{bin} * terms.width);
  }
  template <int Items, class From, class To, class Make>
  KOKKOS_FUNCTION static void write(int thread, int count, const From* scratch, To* array,
                                    std::uint32_t begin, const Make& make) {
    WriteAligned<ExecutionSpace, threads, Items>::write(
        thread, scratch, static_cast<std::uint32_t>(count), array, begin, make);
  }

  /// A window of a longer bin, whose values' elements do not lie side by side.
  template <class Exists, class Source>
  KOKKOS_FUNCTION void scatter(const Team& team, const Window& window, const RangeTerms& terms,
                               const std::uint32_t* remainder, const std::uint32_t* rank,
                               const Exists& exists, const Source& source, Scratch& scratch) const {
    team.team_barrier();
    const Run run = run_of<threads>(most_values, team.team_rank());
    std::uint32_t sum = 0;
    for (int v = run.begin; v < run.end; ++v) sum += scratch.totals[v];
    std::uint32_t before = scan_lanes<L>(team, sum, scratch.more_sums);
    for (int v = run.begin; v < run.end; ++v) {
      scratch.places[v] += before;
      before += scratch.totals[v];
    }
    team.team_barrier();
    const Bits least = least_of(terms, window.bin);
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      if (!exists(i)) continue;
      const std::uint32_t value = Steps::rank_of(remainder, i);
      const std::uint32_t to = window.begin + scratch.places[value] + Steps::rank_of(rank, i);
      if (!buffers.leaves_keys)
        buffers.keys.result[to] = codec.decode(static_cast<Bits>(least + value));
      buffers.values.result[to] = buffers.values.other[source(i)];
    }
  }
};

}  // namespace kradix::impl
