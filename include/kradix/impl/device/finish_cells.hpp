// Keys alone that are spread by their topmost digits: of a key in its cell no more than 16 bits are left to know, its
// suffix. Suffixes are all that the second pass writes, and what a team sorts here and makes keys of again.
//
// Few keys are placed by a bit for each (suffix_bits.hpp). Of more keys each value is counted, after Seward (1954), as in
// count_runs.hpp: counters have four bits, and keys are placed side by side, each by a lane that looks up which of them it
// is. Where a cell may hold few values each has half a word for its count, and the first of a value's keys says which it is
// to all behind it.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>

#include "kradix/impl/backend/lanes.hpp"
#include "kradix/impl/buffers.hpp"
#include "kradix/impl/device/cells.hpp"
#include "kradix/impl/device/chunks.hpp"
#include "kradix/impl/device/count_runs.hpp"
#include "kradix/impl/device/digit.hpp"
#include "kradix/impl/device/suffix_bits.hpp"
#include "kradix/impl/device/team.hpp"
#include "kradix/impl/device/wide_array.hpp"

namespace kradix::impl {

/// Teams draw one cell after another, and tell what they have read. A cell with more keys of a value than its counter
/// holds is left to those that sort long runs.
template <class ExecutionSpace, class Codec, TeamShape Shape, bool ByPieces = false>
struct FinishCells {
  using Key = typename Codec::key_type;
  using Bits = typename Codec::bits_type;
  using Suffix = Suffixes::Suffix;
  using Team = TeamMember<ExecutionSpace>;
  using L = Lanes<ExecutionSpace>;
  static constexpr int threads = Shape.threads, items = Shape.items;
  static constexpr int groups = threads / L::width;
  static constexpr int most_bits = Suffixes::most_bits;  ///< of a cell's values
  static constexpr int fields = 8, counter_bits = ValueCounters<fields>::bits;
  static constexpr std::uint32_t most = (1u << counter_bits) - 1;
  using Bitmap = SuffixBits<ExecutionSpace, threads>;
  /// Words of counters that a lane looks at together.
  using Words = typename Bitmap::Words;
  static constexpr std::uint32_t word_values = Words::count * fields;
  static constexpr std::uint32_t all_words = (1u << most_bits) / word_values;
  static constexpr std::uint32_t most_of_lane = Words::count * most;
  /// Keys that a group places at once: the word that counts each, of those that its lanes look at, and the how
  /// manyth it is there.
  static constexpr std::uint32_t most_staged =
      8 * L::width > most_of_lane ? 8 * L::width : most_of_lane;

  /// Few keys: those that the team's registers hold.
  using Packed = Pack<Suffix>;
  static constexpr std::uint32_t few = threads * items * Packed::size;
  /// Suffixes beside the packs, of each thread.
  static constexpr int edges = (2 * (Packed::size - 1) + threads - 1) / threads;
  static constexpr int marks = items * Packed::size + edges;

  /// Of a cell that may hold no more values each has half a word.
  static constexpr std::uint32_t few_values = 2 * Bitmap::words, most_counted = 0xffff;
  /// Keys of a lane side by side, and of a group: first ones are told to each of those.
  static constexpr int side_by_side = Packed::size, block = L::width * side_by_side;
  static_assert(few % block == 0);
  static constexpr std::uint32_t few_wide = 1024;  ///< codes of a wide cell

  PassBuffers<Key> keys;
  Codec codec;
  Suffixes suffixes;
  const PassTable* passes;
  const Route* route;
  const std::uint64_t* ends;  ///< of cells
  ChunkLists lists;
  Suffixes::State* state;
  PieceArrays<Bits> arrays = {};

  /// Of all keys.
  struct Part {
    int index;
    std::uint32_t begin, end;

    KOKKOS_FUNCTION bool is_last(const Suffixes& suffixes) const { return end == suffixes.count; }
    KOKKOS_FUNCTION void go_on(const Suffixes& suffixes) {
      *this = {index + 1, end, static_cast<std::uint32_t>(suffixes.end_of_part(end))};
    }
  };
  struct Scratch {
    union {
      struct {
        Words counts[all_words];
        std::uint16_t staged[groups][most_staged];
      };
      typename Bitmap::template Places<few> places;
      Bits wide[few_wide];
    };
    alignas(16) std::uint32_t sums[groups];
    std::uint32_t again;    ///< keys that have the value of another
    std::uint32_t turn[2];  ///< drawn ahead: one is read, and the other written
    Part reading, writing;
    KOKKOS_FUNCTION Scratch() {}
  };
  static std::size_t scratch_bytes() { return sizeof(Scratch); }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    if (route->spreads != (ByPieces ? Route::pieces_to_values : Route::to_values)) return;
    Scratch& scratch = *take_scratch<Scratch>(team, 1);
    const int thread = team.team_rank();
    const Part last = last_part();
    copy(team, last, scratch);
    if (thread == 0) {
      scratch.reading =
          scratch.writing = {0, 0, static_cast<std::uint32_t>(suffixes.end_of_part(0))};
      scratch.turn[1] = draw(&state->drawn);
      scratch.turn[0] = draw(&state->drawn);
    }
    Bitmap::clear(thread, scratch);
    team.team_barrier();
    Cell cell = cell_at(scratch.turn[1]);
    Held held;
    load(team, cell, last, held);
    team.team_barrier();
    for (int round = 0; cell.exists(); ++round) {
      const Cell next = cell_at(scratch.turn[round % 2]);
      const std::uint32_t turn = thread == 0 ? draw(&state->drawn) : 0;
      const auto load_next = [&] { load(team, next, last, held); };
      if (!sort_held(team, cell, last, held, scratch, load_next)) {
        if (cell.size() > 0) sort_others(team, cell, last, scratch);
        load_next();
      }
      if (thread == 0) scratch.turn[(round + 1) % 2] = turn;
      team.team_barrier();
      cell = next;
    }
  }

 private:
  struct Cell {
    int index;
    /// No more than loaded: who reckons with them waits for them.
    std::uint32_t begin, end;
    Bits least = 0, next = 0;  ///< codes, of a cell by pieces

    KOKKOS_FUNCTION bool exists() const { return index < Cells::count; }
    KOKKOS_FUNCTION std::uint32_t size() const { return end - begin; }
    KOKKOS_FUNCTION bool is_wide() const { return PieceArrays<Bits>::is_wide(least, next); }
  };
  /// The keys of a cell, if they are few, in registers.
  struct Held {
    Packed pack[items];
    std::uint32_t edge[edges];
    std::uint32_t again[(marks + 31) / 32];  ///< those whose value has been seen, a bit each

    /// Word `j` of a pack, from the least on: only that is subtracted by which two words are taken apart.
    KOKKOS_FUNCTION std::uint32_t distance(int i, int j, std::uint32_t least) const {
      const std::uint32_t two = pack[i].word(j & ~1) | std::uint32_t{pack[i].word(j | 1)} << 16;
      return j % 2 == 0 ? (two - least) & 0xffffu : (two - (least << 16)) >> 16;
    }

    KOKKOS_FUNCTION std::uint32_t suffix(int mark) const {
      const std::uint32_t found = Bitmap::two_at(pack, mark);
      KRADIX_UNROLL
      for (int i = 0; i < edges; ++i) {
        if (mark == items * Packed::size + i) return edge[i];
      }
      return found >> 16 * (mark % 2) & 0xffffu;
    }
  };

  /// As their bits are set.
  struct Shown {
    static constexpr int marks = items * Packed::size + edges;
    Held& held;
    WideArray<const Suffix, int> array;
    const Cell& cell;
    int thread;

    template <class Work>
    KOKKOS_FUNCTION void each_some(const Work& work) const {
      const std::uint32_t least = last_of_least(cell);
      KRADIX_UNROLL
      for (int i = 0; i < items; ++i) {
        if (i * threads + thread >= array.packs()) continue;
        work(std::integral_constant<int, Packed::size>{}, i * Packed::size,
             [&](int j) { return held.distance(i, j, least); });
      }
      each_edge(thread, array, [&](int i, int) {
        work(std::integral_constant<int, 1>{}, items * Packed::size + i,
             [&](int) { return distance(cell, held.edge[i]); });
      });
    }
    KOKKOS_FUNCTION static constexpr bool lacks(int) { return false; }
    KOKKOS_FUNCTION std::uint32_t& again(int word) const { return held.again[word]; }
    KOKKOS_FUNCTION bool comes_again(int mark) const {
      return (held.again[mark / 32] >> mark % 32 & 1) != 0;
    }
    KOKKOS_FUNCTION std::uint32_t suffix(int mark) const {
      return distance(cell, held.suffix(mark));
    }
  };

  KOKKOS_FUNCTION static std::uint32_t draw(std::uint64_t* turns) {
    return static_cast<std::uint32_t>(Kokkos::atomic_fetch_add(turns, std::uint64_t{1}));
  }
  KOKKOS_FUNCTION Cell cell_at(std::uint32_t turn) const {
    const int shift = ByPieces ? arrays.shift() : 0;
    if (turn >= static_cast<std::uint32_t>(Cells::count) >> shift) return {Cells::count, 0, 0};
    const std::uint32_t index = turn << shift;
    const auto begin = static_cast<std::uint32_t>(index == 0 ? 0 : ends[index - 1]);
    const auto end = static_cast<std::uint32_t>(ends[index]);
    Cell cell{static_cast<int>(index), begin, end};
    if constexpr (ByPieces) {
      cell.least = arrays.least[index];
      cell.next = arrays.least[index + (1u << shift)];
    }
    return cell;
  }
  KOKKOS_FUNCTION Bits least_of(const Cell& cell) const {
    if constexpr (ByPieces) return cell.least;
    return static_cast<Bits>(static_cast<Bits>(route->above) | static_cast<Bits>(cell.index)
                                                                   << passes->digit[1].shift);
  }
  /// That a key in the cell may have.
  KOKKOS_FUNCTION std::uint32_t values_of(const Cell& cell) const {
    if constexpr (ByPieces) return static_cast<std::uint32_t>(cell.next - cell.least);
    return 1u << passes->digit[1].shift;
  }
  KOKKOS_FUNCTION Key key_of(Bits least, std::uint32_t suffix) const {
    return codec.decode(static_cast<Bits>(least + suffix));
  }
  KOKKOS_FUNCTION const Suffix* suffixes_of(const Cell& cell, const Part& last) const {
    if (cell.begin >= last.begin) return suffixes.copy + (cell.begin - last.begin);
    return suffixes.in(keys.end(passes->count)) + cell.begin;
  }

  /// If they are in registers.
  template <class Then>
  KOKKOS_FUNCTION bool sort_held(const Team& team, const Cell& cell, const Part& last, Held& held,
                                 Scratch& scratch, const Then& then) const {
    if (cell.size() == 0 || cell.size() > few) return false;
    if constexpr (ByPieces) {
      if (cell.is_wide()) return false;
      if (is_counted(cell)) {
        increment_held(team, cell, last, held, scratch);
        sort_counted(team, cell, scratch, then);
        return true;
      }
    }
    return sort_few(team, cell, last, held, scratch, then);
  }
  KOKKOS_FUNCTION void sort_others(const Team& team, const Cell& cell, const Part& last,
                                   Scratch& scratch) const {
    if constexpr (ByPieces) {
      if (cell.is_wide()) {
        sort_wide(team, cell, scratch);
        return;
      }
      if (is_counted(cell)) {
        increment_all(team, cell, {suffixes_of(cell, last), std::size_t{cell.size()}}, scratch);
        sort_counted(team, cell, scratch, [] {});
        return;
      }
    }
    sort_many(team, cell, last, scratch);
  }

  /// Of a suffix where it lies, from the least of its cell.
  KOKKOS_FUNCTION static std::uint32_t distance(const Cell& cell, std::uint32_t suffix) {
    return (suffix - last_of_least(cell)) & 0xffffu;
  }
  KOKKOS_FUNCTION static std::uint32_t last_of_least(const Cell& cell) {
    return ByPieces ? static_cast<std::uint32_t>(cell.least) & 0xffffu : 0;
  }

  KOKKOS_FUNCTION WideArray<const Suffix, int> array_of(const Cell& cell, const Part& last) const {
    return {suffixes_of(cell, last), static_cast<int>(cell.size())};
  }

  KOKKOS_FUNCTION Part last_part() const {
    Part part{0, 0, static_cast<std::uint32_t>(suffixes.end_of_part(0))};
    while (!part.is_last(suffixes)) part.go_on(suffixes);
    return part;
  }
  /// In shares, before any cell is drawn.
  KOKKOS_FUNCTION void copy(const Team& team, const Part& last, Scratch& scratch) const {
    constexpr std::uint32_t shares = 16;
    const std::size_t size = last.end - last.begin;
    const Suffix* const from = suffixes.in(keys.end(passes->count)) + last.begin;
    while (true) {
      if (team.team_rank() == 0) scratch.turn[0] = draw(&state->copied);
      team.team_barrier();
      const std::uint32_t turn = scratch.turn[0];
      if (turn >= shares) break;
      const Share share = share_of(size, (size + shares - 1) / shares, turn);
      copy_elements<threads>(team, share.end - share.begin, from + share.begin,
                             suffixes.copy + share.begin);
      Kokkos::memory_fence();
      team.team_barrier();
      if (team.team_rank() == 0) {
        Kokkos::atomic_add(&state->read[last.index], std::uint64_t{share.end - share.begin});
      }
    }
    team.team_barrier();
  }
  KOKKOS_FUNCTION void wait_for(const Part& part) const {
    while (L::load(&state->read[part.index]) < part.end - part.begin) L::pause();
  }

  /// (Of a wide cell, whatever lies there.)
  KOKKOS_FUNCTION void load(const Team& team, const Cell& cell, const Part& last,
                            Held& held) const {
    if (cell.size() == 0) return;
    const int thread = team.team_rank();
    if (cell.begin >= last.begin) {
      if (thread == 0) wait_for(last);
      Kokkos::memory_fence();
      team.team_barrier();
    }
    if (cell.size() > few) return;
    const auto array = array_of(cell, last);
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      if (i * threads + thread < array.packs()) held.pack[i] = array.load(i * threads + thread);
    }
    each_edge(thread, array, [&](int i, int place) { held.edge[i] = array.at(place); });
  }

  /// All suffixes of the cell are in scratch, or in registers, where nothing that others write can change them: on a device
  /// there is no read left to be fenced, and a fence would wait for all that the team wrote last.
  KOKKOS_FUNCTION void tell_read(const Cell& cell, Scratch& scratch) const {
    if constexpr (is_host_space<ExecutionSpace>) Kokkos::memory_fence();
    Part& part = scratch.reading;
    const std::uint32_t end = cell.end;
    for (std::uint32_t begin = cell.begin; !part.is_last(suffixes);) {
      const std::uint32_t here = end < part.end ? end : part.end;
      if (begin < here) {
        Kokkos::atomic_add(&state->read[part.index], std::uint64_t{here - begin});
        begin = here;
      }
      if (begin == end) return;
      part.go_on(suffixes);
    }
  }
  /// Until all that the cell's keys are written over has been read.
  KOKKOS_FUNCTION void wait_to_write(const Cell& cell, Scratch& scratch) const {
    Part& part = scratch.writing;
    const std::uint32_t end = cell.end;
    if (end <= part.end && !part.is_last(suffixes)) return;
    for (; end > part.end; part.go_on(suffixes)) wait_for(part);
    if (part.is_last(suffixes)) wait_for(part);
    Kokkos::memory_fence();
  }

  // ---- Few keys: bits, and a place for each.

  /// False if there are too many keys, or too many of them that have the value of another.
  template <class Then>
  KOKKOS_FUNCTION bool sort_few(const Team& team, const Cell& cell, const Part& last, Held& held,
                                Scratch& scratch, const Then& then) const {
    const int thread = team.team_rank();
    Shown shown{held, array_of(cell, last), cell, thread};
    Bitmap::see(thread, shown, scratch);
    team.team_barrier();
    const std::uint32_t more = scratch.again;
    if (more > Bitmap::most_again) return false;
    if (thread == groups / 2 * L::width) tell_read(cell, scratch);
    const WideArray<Key, int> out(keys.result + cell.begin, static_cast<int>(cell.size()));
    Suffix* const sorted = Bitmap::sorted_for(out, scratch);
    Bitmap::scan(team, scratch);
    team.team_barrier();
    const auto tail = Bitmap::place(thread, shown, more, sorted, scratch);
    then();
    if (thread == threads - 1) wait_to_write(cell, scratch);
    team.team_barrier();
    if (more > 0) {
      Bitmap::sort_again(thread, tail, more, sorted, scratch);
      team.team_barrier();
    }
    Bitmap::clear(thread, scratch);
    const Bits least = least_of(cell);
    Bitmap::write(thread, out, sorted, [&](Suffix suffix) { return key_of(least, suffix); });
    return true;
  }

  template <class Array, class Work>
  KOKKOS_FUNCTION static void each_edge(int thread, const Array& array, const Work& work) {
    KRADIX_UNROLL
    for (int i = 0; i < edges; ++i) {
      const int edge = i * threads + thread;
      if (edge < array.edges()) work(i, array.place_of_edge(edge));
    }
  }

  // ---- Few values: half a word for each, zero before and after.

  KOKKOS_FUNCTION static bool is_counted(const Cell& cell) {
    return cell.next - cell.least <= few_values && cell.size() <= most_counted;
  }
  KOKKOS_FUNCTION static void increment(Scratch& scratch, std::uint32_t suffix) {
    L::add(&scratch.places.bits[0].word[0] + suffix / 2, suffix % 2 == 0 ? 1u : 0x10000u);
  }
  KOKKOS_FUNCTION void increment_held(const Team& team, const Cell& cell, const Part& last,
                                      const Held& held, Scratch& scratch) const {
    const int thread = team.team_rank();
    const auto array = array_of(cell, last);
    const std::uint32_t least = last_of_least(cell);
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      if (i * threads + thread >= array.packs()) continue;
      KRADIX_UNROLL
      for (int j = 0; j < Packed::size; ++j) {
        increment(scratch, held.distance(i, j, least));
      }
    }
    each_edge(thread, array, [&](int i, int) { increment(scratch, distance(cell, held.edge[i])); });
  }
  KOKKOS_FUNCTION void increment_all(const Team& team, const Cell& cell,
                                     const WideArray<const Suffix>& array, Scratch& scratch) const {
    each_suffix(team, array,
                [&](std::uint32_t suffix) { increment(scratch, distance(cell, suffix)); });
  }

  template <class Then>
  KOKKOS_FUNCTION void sort_counted(const Team& team, const Cell& cell, Scratch& scratch,
                                    const Then& then) const {
    const int thread = team.team_rank(), group = thread / L::width, lane = L::lane(thread);
    team.team_barrier();
    if (thread == groups / 2 * L::width) tell_read(cell, scratch);
    constexpr int of_all = 2 * Words::count * threads;  // values
    const int looks = (static_cast<int>(values_of(cell)) + of_all - 1) / of_all;
    Words* const mine = scratch.places.bits + group * looks * L::width + lane;
    std::uint32_t sum = 0;
    KRADIX_ROLLED
    for (int i = 0; i < looks; ++i) sum += counted(mine[i * L::width]);
    sum = L::from_last(L::scan(sum, lane) + sum);
    if (lane == 0) scratch.sums[group] = sum;
    const WideArray<Key, int> out(keys.result + cell.begin, static_cast<int>(cell.size()));
    // Places as far behind a multiple of a pack as in the result.
    constexpr std::uint32_t size = Pack<Key>::size;
    const auto head = static_cast<std::uint32_t>(out.place(0)) % size;
    const std::uint32_t begin = (size - head) % size, end = begin + cell.size();
    const auto first =
        static_cast<std::uint32_t>(group * looks * L::width + lane) * (2 * Words::count);
    KRADIX_ROLLED
    for (std::uint32_t window = 0; window < end; window += few) {
      clear_sorted(thread, scratch);
      team.team_barrier();
      std::uint32_t at = begin;
      KRADIX_UNROLL
      for (int g = 0; g < groups; ++g) at += g < group ? scratch.sums[g] : 0;
      const bool is_last = window + few >= end;
      KRADIX_ROLLED
      for (int i = 0; i < looks; ++i) {
        const Words counts = mine[i * L::width];
        if (is_last) mine[i * L::width] = {};
        const std::uint32_t own = counted(counts), before = L::scan(own, lane);
        tell_first(counts, first + i * L::width * (2 * Words::count), at + before, window, scratch);
        at += L::from_last(before + own);
      }
      if (is_last) then();
      if (window == 0 && thread == threads - 1) wait_to_write(cell, scratch);
      team.team_barrier();
      write_window(team, cell.least, out, begin, end, window, scratch);
    }
  }
  /// By all counters of the words.
  KOKKOS_FUNCTION static std::uint32_t counted(const Words& words) {
    const std::uint32_t halves = words.word[0] + words.word[1] + (words.word[2] + words.word[3]);
    return (halves & 0xffffu) + (halves >> 16);
  }
  KOKKOS_FUNCTION static void clear_sorted(int thread, Scratch& scratch) {
    auto* const wide = reinterpret_cast<Words*>(scratch.places.sorted);
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) wide[i * threads + thread] = {};
  }
  /// Values that lie side by side, and the place of the first. A value is told where it begins, and where blocks do that have
  /// more of it.
  KOKKOS_FUNCTION static void tell_first(const Words& counts, std::uint32_t value, std::uint32_t at,
                                         std::uint32_t window, Scratch& scratch) {
    KRADIX_UNROLL
    for (int v = 0; v < 2 * Words::count; ++v) {
      const std::uint32_t end = at + (counts.word[v / 2] >> 16 * (v % 2) & 0xffffu);
      while (at < end) {
        const std::uint32_t place = at - window;
        if (place < few) scratch.places.sorted[place] = static_cast<Suffix>(value + v);
        at = at / block * block + block;
      }
      at = end;
    }
  }
  KOKKOS_FUNCTION void write_window(const Team& team, Bits least, const WideArray<Key, int>& out,
                                    std::uint32_t begin, std::uint32_t end, std::uint32_t window,
                                    const Scratch& scratch) const {
    constexpr int size = Pack<Key>::size;
    const int group = team.team_rank() / L::width, lane = L::lane(team.team_rank());
    const std::uint32_t here = end - window < few ? end - window : few;
    const int skipped = begin > 0 ? 1 : 0;  // packs
    KRADIX_ROLLED
    for (std::uint32_t at = group * block; at < here; at += groups * block) {
      const std::uint32_t place = at + lane * side_by_side;
      std::uint32_t value[side_by_side];
      const Packed told = *reinterpret_cast<const Packed*>(scratch.places.sorted + place);
      value[0] = told.word(0);
      KRADIX_UNROLL
      for (int j = 1; j < side_by_side; ++j) {
        const std::uint32_t own = told.word(j);
        value[j] = own > value[j - 1] ? own : value[j - 1];
      }
      const std::uint32_t before = L::greatest_before(value[side_by_side - 1], lane);
      KRADIX_UNROLL
      for (int j = 0; j < side_by_side; j += size) {
        Pack<Key> pack;
        KRADIX_UNROLL
        for (int k = 0; k < size; ++k) {
          const std::uint32_t suffix = value[j + k] > before ? value[j + k] : before;
          pack.put(k, key_of(least, suffix));
        }
        const int index = static_cast<int>((window + place + j) / size) - skipped;
        if (index >= 0 && index < out.packs()) {
          out.store(index, pack);
          continue;
        }
        KRADIX_ROLLED
        for (int k = 0; k < size; ++k) {
          const std::uint32_t nth = window + place + j + k;
          if (nth >= begin && nth < end) out.at(static_cast<int>(nth - begin)) = pack.word(k);
        }
      }
    }
  }

  // ---- Codes of which suffixes do not tell all.

  KOKKOS_FUNCTION void sort_wide(const Team& team, const Cell& cell, Scratch& scratch) const {
    const int thread = team.team_rank(), size = static_cast<int>(cell.size());
    const auto number = static_cast<std::uint32_t>(cell.index) >> arrays.shift();
    const std::uint32_t end = arrays.pieces->wide_at[piece_of_cell(*arrays.pieces, number)];
    const Bits* const from = arrays.wide + (end - cell.size());
    if (cell.size() > few_wide) {
      leave(team, cell, scratch, [&](std::uint32_t i) { return codec.decode(from[i]); });
    } else {
      for (int i = thread; i < size; i += threads) scratch.wide[i] = from[i];
      if (thread == 0) {
        tell_read(cell, scratch);
        wait_to_write(cell, scratch);
      }
      team.team_barrier();
      Key* const out = keys.result + cell.begin;
      KRADIX_ROLLED
      for (int i = thread; i < size; i += threads) {
        const Bits code = scratch.wide[i];
        int before = 0;
        KRADIX_ROLLED
        for (int j = 0; j < size; ++j) {
          const Bits other = scratch.wide[j];
          before += other < code || (other == code && j < i) ? 1 : 0;
        }
        out[before] = codec.decode(code);
      }
    }
    team.team_barrier();
    Bitmap::clear(thread, scratch);
  }

  // ---- More keys: a counter for each value.

  KOKKOS_FUNCTION void sort_many(const Team& team, const Cell& cell, const Part& last,
                                 Scratch& scratch) const {
    const Suffix* const from = suffixes_of(cell, last);
    if (!count_values(team, cell, from, scratch)) {
      const Bits least = least_of(cell);
      leave(team, cell, scratch,
            [&](std::uint32_t i) { return key_of(least, distance(cell, from[i])); });
    }
    team.team_barrier();
    Bitmap::clear(team.team_rank(), scratch);
  }

  /// False if there are too many keys of a value, and then they have not been told read.
  KOKKOS_FUNCTION bool count_values(const Team& team, const Cell& cell, const Suffix* from,
                                    Scratch& scratch) const {
    constexpr std::uint32_t most_keys = most << most_bits;
    if (cell.size() > most_keys) return false;
    const int thread = team.team_rank(), group = thread / L::width, lane = L::lane(thread);
    const std::uint32_t used = (values_of(cell) + word_values - 1) / word_values;
    for (std::uint32_t i = thread; i < used; i += threads) scratch.counts[i] = {};
    team.team_barrier();
    count_all(team, cell, {from, static_cast<std::size_t>(cell.size())}, scratch);
    team.team_barrier();
    constexpr std::uint32_t lanes = groups * L::width;
    const std::uint32_t share = (used + lanes - 1) / lanes * L::width;
    const std::uint32_t first = group * share < used ? group * share : used;
    const std::uint32_t end = first + share < used ? first + share : used;
    std::uint32_t sum = 0;
    KRADIX_ROLLED
    for (std::uint32_t i = first + lane; i < end; i += L::width) {
      const Words counts = scratch.counts[i];  // all at once
      KRADIX_UNROLL
      for (int w = 0; w < Words::count; ++w) sum += sum_of(counts.word[w]);
    }
    sum = L::from_last(L::scan(sum, lane) + sum);
    if (lane == 0) scratch.sums[group] = sum;
    team.team_barrier();
    std::uint32_t before = 0, counted = 0;
    for (int g = 0; g < groups; ++g) {
      if (g == group) before = counted;
      counted += scratch.sums[g];
    }
    // A counter that overflows takes more from the sum than it adds to the next one.
    if (counted != cell.size()) return false;
    if (thread == 0) {
      tell_read(cell, scratch);
      wait_to_write(cell, scratch);
    }
    team.team_barrier();
    write_counted(least_of(cell), first, end, keys.result + cell.begin + before, lane, group,
                  scratch);
    return true;
  }

  KOKKOS_FUNCTION void count_all(const Team& team, const Cell& cell,
                                 const WideArray<const Suffix>& array, Scratch& scratch) const {
    const ValueCounters<fields> counters{reinterpret_cast<std::uint32_t*>(scratch.counts)};
    each_suffix(team, array, [&](std::uint32_t suffix) {
      counters.template increment<L>(distance(cell, suffix));
    });
  }
  template <class See>
  KOKKOS_FUNCTION static void each_suffix(const Team& team, const WideArray<const Suffix>& array,
                                          const See& see) {
    visit_packs<Shape>(team, array, {0, array.packs()}, static_cast<std::size_t>(Shape.round()),
                       [&](const Packed& pack) {
                         KRADIX_UNROLL
                         for (int j = 0; j < Packed::size; ++j) see(pack.word(j));
                       });
    for (int i = team.team_rank(); i < array.edges(); i += threads) {
      see(array.at(array.place_of_edge(i)));
    }
  }

  /// Keys of a cell, in no order, where their suffixes lay: a run for those that sort long ones.
  template <class KeyAt>
  KOKKOS_FUNCTION void leave(const Team& team, const Cell& cell, Scratch& scratch,
                             const KeyAt& key_at) const {
    const int thread = team.team_rank();
    Key* const spare = keys.spare(passes->count) + cell.begin;
    for (std::uint32_t i = thread; i < cell.size(); i += threads) spare[i] = key_at(i);
    team.team_barrier();
    if (thread == 0) {
      tell_read(cell, scratch);
      wait_to_write(cell, scratch);
    }
    team.team_barrier();
    copy_elements<threads>(team, cell.size(), spare, keys.result + cell.begin);
    team.team_barrier();
    if (thread == 0) {
      LongRun::set_end(spare, std::size_t{cell.begin} + cell.size());
      lists.left.add(Chunk::make(cell.begin, 0));
    }
  }

  KOKKOS_FUNCTION static std::uint32_t sum_of(std::uint32_t word) {
    constexpr std::uint32_t even = 0x0f0f0f0f, ones = 0x01010101;
    return ((word & even) + (word >> counter_bits & even)) * ones >> 24;
  }

  /// The keys of a group's counters, those of all its lanes at once, side by side from a place on.
  KOKKOS_FUNCTION void write_counted(Bits least, std::uint32_t first, std::uint32_t end, Key* place,
                                     int lane, int group, Scratch& scratch) const {
    std::uint16_t* const staged = scratch.staged[group];
    KRADIX_ROLLED
    for (; first < end; first += L::width) {
      const std::uint32_t mine = first + lane;
      const Words counts = mine < end ? scratch.counts[mine] : Words{};
      std::uint32_t own[Words::count], sum = 0;
      bool fits = true;
      KRADIX_UNROLL
      for (int w = 0; w < Words::count; ++w) {
        own[w] = sum_of(counts.word[w]);
        fits = fits && own[w] <= most;
        sum += own[w];
      }
      const std::uint32_t begin = L::scan(sum, lane), all = L::from_last(begin + sum);
      Key* const out = place;
      place += all;
      if (L::where(!fits) != 0 || (ByPieces && all > most_staged)) {
        write_own(counts, least + mine * word_values, out + begin);
        continue;
      }
      // As many lanes at once as have room. (All, by pieces: there it would spill what others hold.)
      const auto* const words = reinterpret_cast<const std::uint32_t*>(scratch.counts + first);
      std::uint32_t staged_keys = 0;
      do {
        const bool here =
            ByPieces || (begin >= staged_keys && begin + sum <= staged_keys + most_staged);
        if (here) {
          stage(own, static_cast<std::uint32_t>(lane) * Words::count,
                staged + (begin - staged_keys));
        }
        std::uint32_t end = all;
        if (!ByPieces && all - staged_keys > most_staged) {
          end = L::of_lane(begin + sum, bit_width_of(L::where(here)) - 1);
        }
        L::barrier();
        write_staged(staged, end - staged_keys, words, least + first * word_values,
                     out + staged_keys, lane);
        L::barrier();
        staged_keys = end;
      } while (staged_keys < all);
    }
  }

  KOKKOS_FUNCTION static std::uint16_t staged_key(std::uint32_t word, std::uint32_t nth) {
    return static_cast<std::uint16_t>(word << counter_bits | nth);
  }
  /// The keys of a lane's words, from that word on.
  KOKKOS_FUNCTION static void stage(const std::uint32_t* own, std::uint32_t word,
                                    std::uint16_t* staged) {
    KRADIX_UNROLL
    for (int w = 0; w < Words::count; ++w, ++word) {
      if (own[w] > 0) staged[0] = staged_key(word, 0);
      if (own[w] > 1) staged[1] = staged_key(word, 1);
      KRADIX_ROLLED
      for (std::uint32_t nth = 2; nth < own[w]; ++nth) staged[nth] = staged_key(word, nth);
      staged += own[w];
    }
  }
  /// A lane writes every 32nd.
  KOKKOS_FUNCTION void write_staged(const std::uint16_t* staged, std::uint32_t all,
                                    const std::uint32_t* words, Bits least, Key* out,
                                    int lane) const {
    KRADIX_ROLLED
    for (std::uint32_t place = lane; place < all; place += L::width) {
      const std::uint32_t key = staged[place], word = key >> counter_bits;
      const std::uint32_t value = word * fields + value_of(words[word], key & most);
      out[place] = codec.decode(static_cast<Bits>(least + value));
    }
  }
  /// Of the keys that a word counts, at most fifteen, the value of one: all values whose keys end behind it are not
  /// below it.
  KOKKOS_FUNCTION static std::uint32_t value_of(std::uint32_t word, std::uint32_t nth) {
    constexpr std::uint32_t even = 0x0f0f0f0f, ones = 0x01010101, high = 0x80808080;
    const std::uint32_t ends = word * 0x11111111u, enough = (0x7f - nth) * ones;
    const std::uint32_t behind = ((ends & even) + enough) & high;
    const std::uint32_t behind_odd = ((ends >> counter_bits & even) + enough) & high;
    return fields - count_bits(behind | behind_odd >> 1);
  }

  /// A lane writes the keys of its own counters.
  KOKKOS_FUNCTION void write_own(const Words& counts, Bits least, Key* out) const {
    KRADIX_UNROLL
    for (int w = 0; w < Words::count; ++w) {
      KRADIX_ROLLED
      for (int field = 0; field < fields; ++field) {
        const Key key = codec.decode(static_cast<Bits>(least + w * fields + field));
        std::uint32_t left = counts.word[w] >> (counter_bits * field) & most;
        KRADIX_ROLLED
        for (; left > 0; --left) *out++ = key;
      }
    }
  }
};

}  // namespace kradix::impl
