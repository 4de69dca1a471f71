// Keys alone that spread evenly, sorted without a count of all: each tile is sorted by the topmost digit where it lies, so
// that a bin's keys are a run in each; a tile of a bin is gathered from such runs and sorted by the next digit; and so is
// a chunk of cells, whose keys agree in both, which a team sorts in scratch.
//
// Writes go side by side, and what passes would know of places before they write is found in the tables that tiles leave.
// (Satish, Harris and Garland, 2009, sort tiles in scratch, too, but then scatter them.)
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kradix/impl/backend/lanes.hpp"
#include "kradix/impl/device/digit.hpp"
#include "kradix/impl/device/route.hpp"
#include "kradix/impl/device/wide_array.hpp"
#include "kradix/impl/tuning.hpp"

namespace kradix::impl {

/// Words that are all there is to know of a key, where teams have room for what that takes.
template <class ExecutionSpace, class Codec, class Value>
inline constexpr bool may_be_gathered = false;
template <class ExecutionSpace, class Word, class Value>
inline constexpr bool may_be_gathered<ExecutionSpace, WordCodec<Word, false>, Value> =
    (sizeof(Word) == 4 || sizeof(Word) == 8) &&
    gather_shape<ExecutionSpace>(sizeof(Word), std::is_same_v<Value, NoValue> ? 0 : sizeof(Value))
        .exists();

/// How a sort gathers: it follows from the number of keys alone.
struct Gathering {
  static constexpr std::uint32_t most_windows = 176;  ///< of a bin
  static constexpr std::uint32_t most_windows_of_suffixes = 128;
  /// Tiles of pairs are shorter.
  static constexpr std::uint32_t most_windows_of(bool with_values) {
    return with_values ? 256 : most_windows;
  }
  static constexpr double most_suffixes = 6144;  ///< of a cell

  std::uint32_t count;  ///< of keys
  std::uint32_t tile;   ///< keys of one
  int first_bits;  ///< of the topmost digit, which tells bins; the next one tells a bin's cells
  std::uint32_t together;  ///< cells side by side that are a chunk
  std::uint32_t chunks;    ///< of a bin
  std::uint32_t row;       ///< words of a row of a table of those: packs are full
  std::uint32_t most;      ///< keys of a bin
  std::uint32_t windows;   ///< tiles of a bin that has so many

  /// Of keys that spread evenly hardly any chunk is longer than a team's scratch.
  static Gathering of(std::size_t count, std::size_t tile, std::size_t most_of_chunk,
                      bool with_values = false) {
    constexpr double uneven = 1.01;
    const auto most = static_cast<double>(most_of_chunk);
    const double room = (most - 2.75 * std::sqrt(most)) / uneven;
    int chunk_bits = 2;
    while (static_cast<double>(count >> chunk_bits) > room) ++chunk_bits;
    if (chunk_bits > 2 * digit_bits || count > 0xffffffffu) return {};
    // Tiles have about as many runs for a window as windows have for a chunk, or twice as many if chunks are fuller so.
    int first_bits = (chunk_bits + 1) / 2;
    const auto fit = [&] {
      const double cell = static_cast<double>(count) / (1 << (first_bits + digit_bits));
      return std::clamp(std::floor(room / std::max(cell, 1.0)), 1.0, 1.0 * bin_count);
    };
    const auto filled = [&] {
      return fit() * static_cast<double>(count >> (first_bits + digit_bits));
    };
    if (filled() < 0.8 * room && first_bits < digit_bits) ++first_bits;
    const auto together = static_cast<std::uint32_t>(fit());
    // What bins may hold beyond the mean is chance, or what chunks still have room for.
    const double even = static_cast<double>(count) / (1 << first_bits);
    const double full = (most - 1.5 * std::sqrt(most)) / together * bin_count;
    const auto bin = static_cast<std::size_t>(full + 5 * std::sqrt(even));
    const std::uint32_t chunks = (bin_count - 1) / together + 1;
    if ((bin + tile - 1) / tile > most_windows_of(with_values)) return {};
    return {static_cast<std::uint32_t>(count),
            static_cast<std::uint32_t>(tile),
            first_bits,
            together,
            chunks,
            packed(chunks),
            static_cast<std::uint32_t>(bin),
            static_cast<std::uint32_t>((bin + tile - 1) / tile)};
  }
  /// Of keys of which windows leave suffixes alone: a chunk is a cell.
  static Gathering of_suffixes(std::size_t count, std::size_t tile) {
    constexpr int first_bits = Route::cell_bits - digit_bits;
    constexpr double uneven = 1.05;
    const auto longest = [](double mean) { return uneven * mean + 6 * std::sqrt(mean); };
    const auto n = static_cast<double>(count);
    const auto bin = static_cast<std::size_t>(longest(n / (1 << first_bits)));
    const std::size_t windows = (bin + tile - 1) / tile;
    if (count > 0xffffffffu || windows > most_windows_of_suffixes ||
        longest(n / Route::cells) > most_suffixes) {
      return {};
    }
    return {static_cast<std::uint32_t>(count),
            static_cast<std::uint32_t>(tile),
            first_bits,
            1,
            bin_count,
            bin_count,
            static_cast<std::uint32_t>(bin),
            static_cast<std::uint32_t>(windows)};
  }
  bool exists() const { return tile > 0; }

  KOKKOS_FUNCTION int bits() const { return first_bits + digit_bits; }
  KOKKOS_FUNCTION std::uint32_t bins() const { return 1u << first_bits; }
  KOKKOS_FUNCTION std::uint32_t tiles() const { return (count - 1) / tile + 1; }

  /// Of the chunk that begins with that cell of its bin.
  KOKKOS_FUNCTION static std::uint32_t last_cell(std::uint32_t first, std::uint32_t together) {
    const std::uint32_t next = first + together;
    return (next < bin_count ? next : bin_count) - 1;
  }

  /// Where a cell of a window begins, which may be where a chunk does.
  KOKKOS_FUNCTION void tell_in_window(std::uint16_t* firsts, std::uint32_t cell,
                                      std::uint32_t first) const {
    const std::uint32_t chunk = cell / together;
    if (chunk * together == cell) firsts[chunk] = static_cast<std::uint16_t>(first);
  }

  /// Below the bits in which keys differ.
  KOKKOS_FUNCTION Digit first_digit(int top) const { return {top - first_bits, bins() - 1}; }
  KOKKOS_FUNCTION Digit next_digit(int top) const { return {top - bits(), bin_count - 1u}; }

  /// Of a table of tiles.
  KOKKOS_FUNCTION std::uint32_t row_of_tiles() const { return packed(tiles()); }
  /// Of a table of windows.
  KOKKOS_FUNCTION std::size_t rows() const { return std::size_t{bins()} * windows; }

 private:
  KOKKOS_FUNCTION static std::uint32_t packed(std::uint32_t words) { return (words + 7) / 8 * 8; }
};

/// A run that a group of lanes reads first, and what of it belongs to those before.
struct FirstRun {
  std::uint32_t tile, before;
};

/// What the launches tell each other.
struct GatherState {
  std::uint64_t placed;             ///< bins; zero at first, as what follows
  std::uint64_t left;               ///< chunks of numbered keys that are given up
  std::uint64_t fails;              ///< bins are uneven, or keys vary where no sample did
  std::uint64_t totals[bin_count];  ///< of keys in bins
  std::uint64_t begins[bin_count + 1];
};

/// Tables in device memory.
struct GatherTables {
  GatherState* state = nullptr;
  std::uint16_t* in_tiles =
      nullptr;               ///< [bin][tile]: first places there; a row more: the tile's end
  FirstRun* runs = nullptr;  ///< [bin][window][group of lanes]
  std::uint16_t* in_windows = nullptr;  ///< [bin][window][chunk]: first places there

  static std::size_t words_in_tiles(const Gathering& shape) {
    return (std::size_t{shape.bins()} + 1) * shape.row_of_tiles();
  }
  static constexpr int most_groups = 16;
  static std::size_t first_runs(const Gathering& shape) { return shape.rows() * most_groups; }
  static std::size_t words_in_windows(const Gathering& shape) { return shape.rows() * shape.row; }
  /// Of the bins that there are, and the tile's end.
  KOKKOS_FUNCTION void tell_in_tile(const Gathering& shape, std::uint32_t tile, std::uint32_t bin,
                                    std::uint32_t first) const {
    if (bin <= shape.bins())
      (in_tiles + tile)[bin * std::size_t{shape.row_of_tiles()}] =
          static_cast<std::uint16_t>(first);
  }
  KOKKOS_FUNCTION std::uint16_t* row(const Gathering& shape, std::uint32_t bin,
                                     std::uint32_t window) const {
    return in_windows + (std::size_t{bin} * shape.windows + window) * shape.row;
  }
};

/// A tile in scratch goes to its place in memory, as what `make` makes of each key, from a multiple of a group's lanes on: where
/// groups wrote parts of 32 bytes those would be brought from memory first.
template <class ExecutionSpace, int Threads, int Items>
struct WriteAligned {
  using L = Lanes<ExecutionSpace>;

  template <class Key, class Made, class Make>
  KOKKOS_FUNCTION static void write(int thread, const Key* scratch, std::uint32_t size, Made* array,
                                    std::size_t begin, const Make& make) {
    const auto past = static_cast<int>(begin % L::width);
    Made* const out = array + (begin - past) + thread;
    const Key* const from = scratch + thread - past;
    const int left = static_cast<int>(size) + past - thread;
    if (thread >= past && left > 0) out[0] = make(from[0]);
    KRADIX_UNROLL
    for (int i = 1; i <= Items; ++i) {
      if (i * Threads < left) out[i * Threads] = make(from[i * Threads]);
      if (i % 4 == 3) L::settle_memory();
    }
  }
};

/// Which of the runs a place belongs to: a bit where each begins, and above them how many begin in the words before.
struct RunMarks {
  static constexpr std::uint32_t places = 16;

  KOKKOS_FUNCTION static constexpr std::uint32_t begins_at(std::uint32_t place) {
    return 1u << place % places;
  }
  KOKKOS_FUNCTION static constexpr std::uint32_t after(std::uint32_t runs) {
    return runs << places;
  }
  KOKKOS_FUNCTION static std::uint32_t begun(std::uint32_t word) {
    return count_bits(word & ((1u << places) - 1));
  }
  KOKKOS_FUNCTION static std::uint32_t run_at(std::uint32_t word, std::uint32_t place) {
    const std::uint32_t up_to = ((1u << places) - 1) >> (places - 1 - place % places);
    return (word >> places) + count_bits(word & up_to) - 1;
  }

  /// The run of that number, from `begin` to `end`, into words that are zero.
  template <class L>
  KOKKOS_FUNCTION static void mark(std::uint32_t* marks, std::uint32_t words, std::uint32_t run,
                                   std::uint32_t begin, std::uint32_t end) {
    std::uint32_t w = begin / places;
    L::set(&marks[w], begins_at(begin));
    for (++w; w < words && w * places <= end; ++w) L::set(&marks[w], after(run + 1));
  }
};

/// Where chunks lie in the windows of their bin. Chunks have the numbers of words in rows of the table; a team sorts some side by
/// side, of which a pack of each row tells all first places.
template <class ExecutionSpace, int Threads>
struct ChunkWindows {
  using L = Lanes<ExecutionSpace>;
  using Packed = Pack<std::uint16_t>;
  static constexpr std::uint32_t pack = Packed::size;

  Gathering shape;
  GatherTables tables;

  /// Chunks side by side, at most a pack: the bin, where that begins, and its keys; which of its chunks is the first.
  struct Batch {
    std::uint32_t bin, begin, total, first;
  };
  /// First places of the chunks of a pack in each window, and, in a word, that of the next one.
  template <std::uint32_t MostWindows>
  struct Firsts {
    static constexpr int each = static_cast<int>((MostWindows - 1) / Threads + 1);
    alignas(16) Packed packs[MostWindows];
    std::uint32_t next[MostWindows];
  };

  KOKKOS_FUNCTION std::uint32_t all() const { return shape.bins() * shape.row; }
  KOKKOS_FUNCTION Batch batch(std::uint32_t index) const {
    if (index >= all()) return {0, 0, 0, 0};
    const std::uint32_t bin = index / shape.row;
    const std::uint64_t* const begins = tables.state->begins + bin;
    return {bin, static_cast<std::uint32_t>(begins[0]),
            static_cast<std::uint32_t>(begins[1] - begins[0]), index - bin * shape.row};
  }

  /// On their way. (Behind a row's last pack is what nobody asks for.)
  template <class Firsts>
  KOKKOS_FUNCTION void bring(int thread, const Batch& batch, Firsts& firsts) const {
    const std::uint32_t chunk = batch.first / pack * pack;
    KRADIX_UNROLL
    for (int i = 0; i < Firsts::each; ++i) {
      const std::uint32_t window = i * Threads + thread;
      if (window * shape.tile >= batch.total) break;
      const std::uint16_t* const from = row(batch, window) + chunk;
      L::bring(&firsts.packs[window], reinterpret_cast<const Packed*>(from));
      if (chunk + pack < shape.row)
        L::bring(&firsts.next[window], reinterpret_cast<const std::uint32_t*>(from + pack));
    }
  }

  /// Of a chunk in a window.
  struct Run {
    std::uint32_t from, to;
  };
  /// Of the `nth` of a batch whose first places have come. Behind a bin's last chunk the window ends.
  template <class Firsts>
  KOKKOS_FUNCTION Run run_of(const Batch& batch, std::uint32_t nth, std::uint32_t window,
                             const Firsts& firsts) const {
    const std::uint32_t chunk = batch.first + nth, of_pack = chunk % pack;
    if (window * shape.tile >= batch.total || chunk >= shape.chunks) return {0, 0};
    const auto* const mine =
        reinterpret_cast<const std::uint16_t*>(firsts.packs + window) + of_pack;
    const auto* const next = reinterpret_cast<const std::uint16_t*>(firsts.next + window);
    const std::uint32_t behind = of_pack + 1 < pack ? mine[1] : next[0];
    return {mine[0], chunk + 1 < shape.chunks ? behind : end_of(batch, window)};
  }

  /// By the table: all runs of the `nth` of a batch, in order, as (where it lies, how long it is).
  template <class See>
  KOKKOS_FUNCTION void each_run(const Batch& batch, std::uint32_t nth, const See& see) const {
    const std::uint32_t chunk = batch.first + nth;
    for (std::uint32_t window = 0; window * shape.tile < batch.total; ++window) {
      const std::uint16_t* const firsts = row(batch, window) + chunk;
      const std::uint32_t to = chunk + 1 < shape.chunks ? firsts[1] : end_of(batch, window);
      see(batch.begin + window * shape.tile + firsts[0], to - firsts[0]);
    }
  }

 private:
  KOKKOS_FUNCTION const std::uint16_t* row(const Batch& batch, std::uint32_t window) const {
    return tables.row(shape, batch.bin, window);
  }
  KOKKOS_FUNCTION std::uint32_t end_of(const Batch& batch, std::uint32_t window) const {
    const std::uint32_t left = batch.total - window * shape.tile;
    return left < shape.tile ? left : shape.tile;
  }
};

/// A team looks up where a chunk's runs lie, a thread a window, and between both steps is a barrier. (One group of lanes, while
/// others sort, was what those waited for.)
template <class ExecutionSpace, int Threads, std::uint32_t MostWindows>
struct ChunkSearch {
  using L = Lanes<ExecutionSpace>;
  using Windows = ChunkWindows<ExecutionSpace, Threads>;
  static constexpr int groups = Threads / L::width;
  using Firsts = typename Windows::template Firsts<MostWindows>;
  using Batch = typename Windows::Batch;
  static constexpr int each = Firsts::each;
  static_assert(each == 1 || Threads == 1);

  /// Marks of `words` words are none, before the first step.
  template <std::uint32_t Words>
  KOKKOS_FUNCTION static void clear(int thread, std::uint32_t* marks) {
    constexpr int rounds = static_cast<int>((Words - 1) / Threads + 1);
    KRADIX_UNROLL
    for (int i = 0; i < rounds; ++i) {
      const std::uint32_t w = i * Threads + thread;
      if (w < Words) marks[w] = 0;
    }
  }

  /// Of a group's windows, then of all.
  struct alignas(16) Sums {
    std::uint32_t places, runs, keys, before;
  };
  /// A run where it lies.
  struct Run {
    std::uint32_t at, count, places;
  };

  Run run[each];
  Sums before;  ///< of the first one, in the group

  /// Of the `nth` of a batch. A run takes as many of the chunk's places as `places_of` says.
  template <class PlacesOf>
  KOKKOS_FUNCTION static ChunkSearch look(int thread, const Windows& windows, const Batch& batch,
                                          std::uint32_t nth, const Firsts& firsts, Sums* sums,
                                          const PlacesOf& places_of) {
    ChunkSearch search;
    Sums own{};
    KRADIX_UNROLL
    for (int i = 0; i < each; ++i) {
      const std::uint32_t window = i * Threads + thread;
      const auto run = windows.run_of(batch, nth, window, firsts);
      const std::uint32_t count = run.to - run.from;
      const std::uint32_t at = batch.begin + window * windows.shape.tile + run.from;
      search.run[i] = {at, count, count > 0 ? places_of(at, count) : 0};
      own.places += search.run[i].places;
      own.runs += count > 0 ? 1 : 0;
      own.keys += count;
      own.before += run.from;
    }
    const int lane = L::lane(thread);
    search.before.places = L::scan(own.places, lane);
    search.before.runs = static_cast<std::uint32_t>(L::rank_in(L::where(own.runs > 0), lane));
    own = {L::sum(own.places), L::sum(own.runs), L::sum(own.keys), L::sum(own.before)};
    if (lane == 0) sums[thread / L::width] = own;
    return search;
  }
  /// Tells each run with its number and its first place. Returns the sums of all.
  template <class Tell>
  KOKKOS_FUNCTION Sums tell(int thread, const Sums* sums, const Tell& tell) const {
    Sums all{}, mine{};
    KRADIX_UNROLL
    for (int g = 0; g < groups; ++g) {
      if (g == thread / L::width) mine = all;
      const Sums own = sums[g];
      all = {all.places + own.places, all.runs + own.runs, all.keys + own.keys,
             all.before + own.before};
    }
    std::uint32_t place = mine.places + before.places, nth = mine.runs + before.runs;
    KRADIX_UNROLL
    for (int i = 0; i < each; ++i) {
      if (run[i].count == 0) continue;
      tell(nth++, run[i], place);
      place += run[i].places;
    }
    return all;
  }
};

}  // namespace kradix::impl
