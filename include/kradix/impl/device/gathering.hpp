// Keys alone that spread evenly, sorted without a count of all: each tile is sorted by the topmost digit where it lies, so
// that a bin's keys are a run in each; a tile of a bin is gathered from such runs and sorted by the next digit; and so is
// a chunk of cells, whose keys agree in both, which a team sorts in scratch.
//
// Writes go side by side, and what passes would know of places before they write is found in the tables that tiles leave.
// (Satish, Harris and Garland, 2009, sort tiles in scratch, too, but then scatter them.)
#pragma once

#include <Kokkos_BitManipulation.hpp>
#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kradix/impl/backend/lanes.hpp"
#include "kradix/impl/device/digit.hpp"
#include "kradix/impl/tuning.hpp"

namespace kradix::impl {

/// Words that are all there is to know of a key, where teams have room for what that takes.
template <class ExecutionSpace, class Codec>
inline constexpr bool may_be_gathered = false;
template <class ExecutionSpace, class Word>
inline constexpr bool may_be_gathered<ExecutionSpace, WordCodec<Word, false>> =
    (sizeof(Word) == 4 || sizeof(Word) == 8) &&
    (has_room_for_long_tiles || is_host_space<ExecutionSpace>);

/// How a sort gathers: it follows from the number of keys alone.
struct Gathering {
  static constexpr std::uint32_t most_windows = 176;  ///< of a bin

  std::uint32_t count;  ///< of keys
  std::uint32_t tile;   ///< keys of one
  int first_bits;  ///< of the topmost digit, which tells bins; the next one tells a bin's cells
  std::uint32_t together;  ///< cells side by side that are a chunk
  std::uint32_t chunks;    ///< of a bin
  std::uint32_t row;       ///< words of a row of a table of those: packs are full
  std::uint32_t most;      ///< keys of a bin
  std::uint32_t windows;   ///< tiles of a bin that has so many

  /// Of keys that spread evenly hardly any chunk is longer than a team's scratch.
  static Gathering of(std::size_t count, std::size_t tile, std::size_t most_of_chunk) {
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
    return {static_cast<std::uint32_t>(count),
            static_cast<std::uint32_t>(tile),
            first_bits,
            together,
            chunks,
            packed(chunks),
            static_cast<std::uint32_t>(bin),
            static_cast<std::uint32_t>((bin + tile - 1) / tile)};
  }
  bool exists() const { return tile > 0 && windows <= most_windows; }

  KOKKOS_FUNCTION int bits() const { return first_bits + digit_bits; }
  KOKKOS_FUNCTION std::uint32_t bins() const { return 1u << first_bits; }
  KOKKOS_FUNCTION std::uint32_t tiles() const { return (count - 1) / tile + 1; }

  /// Of the chunk that begins with that cell of its bin.
  KOKKOS_FUNCTION static std::uint32_t last_cell(std::uint32_t first, std::uint32_t together) {
    const std::uint32_t next = first + together;
    return (next < bin_count ? next : bin_count) - 1;
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
};

/// A tile in scratch goes to its place in memory, from a multiple of a group's lanes on: where groups wrote parts of 32 bytes
/// those would be brought from memory first.
template <class ExecutionSpace, int Threads, int Items>
struct WriteAligned {
  using L = Lanes<ExecutionSpace>;

  template <class Key>
  KOKKOS_FUNCTION static void write(int thread, const Key* scratch, std::uint32_t size, Key* array,
                                    std::size_t begin) {
    const auto past = static_cast<int>(begin % L::width);
    Key* const out = array + (begin - past) + thread;
    const Key* const from = scratch + thread - past;
    const int left = static_cast<int>(size) + past - thread;
    if (thread >= past && left > 0) out[0] = from[0];
    KRADIX_UNROLL
    for (int i = 1; i <= Items; ++i) {
      if (i * Threads < left) out[i * Threads] = from[i * Threads];
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
    return static_cast<std::uint32_t>(
        Kokkos::Experimental::popcount_builtin(word & ((1u << places) - 1)));
  }
  KOKKOS_FUNCTION static std::uint32_t run_at(std::uint32_t word, std::uint32_t place) {
    const std::uint32_t up_to = ((1u << places) - 1) >> (places - 1 - place % places);
    return (word >> places) +
           static_cast<std::uint32_t>(Kokkos::Experimental::popcount_builtin(word & up_to)) - 1;
  }
};

}  // namespace kradix::impl
