// The finish of suffixes that are gathered: a team brings those of a cell together from the windows of its bin, puts them in
// order by a bit for each, and makes keys of them.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>

#include "kradix/impl/backend/lanes.hpp"
#include "kradix/impl/buffers.hpp"
#include "kradix/impl/device/cells.hpp"
#include "kradix/impl/device/chunks.hpp"
#include "kradix/impl/device/gathering.hpp"
#include "kradix/impl/device/suffix_bits.hpp"
#include "kradix/impl/device/team.hpp"
#include "kradix/impl/device/wide_array.hpp"

namespace kradix::impl {

/// Suffixes are read by packs, those at the ends of a run with what lies beside it: in which order a cell's come does not
/// matter. A cell of too many is left to those that sort long runs.
template <class ExecutionSpace, class Codec, TeamShape Shape>
struct FinishGatheredCells {
  using Key = typename Codec::key_type;
  using Bits = typename Codec::bits_type;
  using Suffix = Suffixes::Suffix;
  using Team = TeamMember<ExecutionSpace>;
  using L = Lanes<ExecutionSpace>;
  static constexpr int threads = Shape.threads, items = Shape.items, groups = threads / L::width;
  using Packed = Pack<Suffix>;
  using Bitmap = SuffixBits<ExecutionSpace, threads>;
  using Windows = ChunkWindows<ExecutionSpace, threads>;
  using Search = ChunkSearch<ExecutionSpace, threads, Gathering::most_windows_of_suffixes>;
  using Batch = typename Windows::Batch;
  static constexpr std::uint32_t size = Packed::size, most_packs = threads * items;
  static constexpr std::uint32_t most_windows = Gathering::most_windows_of_suffixes;
  /// Suffixes of a cell: each run's ends may take a pack more.
  static constexpr std::uint32_t most = (most_packs - most_windows) * size;
  static_assert(is_host_space<ExecutionSpace> || most >= Gathering::most_suffixes);
  static constexpr std::uint32_t words = most_packs / RunMarks::places;
  static_assert(most_packs % RunMarks::places == 0 && most_packs <= 1024);
  static constexpr std::uint32_t batch = Windows::pack;  ///< cells side by side, sorted one by one

  PassBuffers<Key> keys;
  Codec codec;
  Windows windows;
  const Route* route;
  ChunkLists lists;

  /// A run of a cell in packs: how far they lie from their places in the cell; the first place; and the run's suffixes.
  struct Run {
    static constexpr int place_bits = 10, head_bits = 3;
    std::uint32_t source, rest;

    KOKKOS_FUNCTION static Run make(std::uint32_t at, std::uint32_t count, std::uint32_t place) {
      return {at / size - place,
              place | at % size << place_bits | count << (place_bits + head_bits)};
    }
    /// The suffixes of a pack that are not the run's, a bit each.
    KOKKOS_FUNCTION std::uint32_t lacking(std::uint32_t place) const {
      const std::uint32_t head = rest >> place_bits & ((1u << head_bits) - 1);
      const std::uint32_t end = head + (rest >> (place_bits + head_bits));
      const std::uint32_t nth = place - (rest & ((1u << place_bits) - 1));
      const std::uint32_t left = end - nth * size;
      const std::uint32_t before = nth == 0 ? (1u << head) - 1 : 0;
      return before | (left < size ? ~0u << left : 0);
    }
  };
  static_assert(size == 1u << Run::head_bits);

  struct Cell {
    std::uint32_t begin, keys, packs;

    KOKKOS_FUNCTION bool fits() const { return keys <= most && packs <= most_packs; }
  };
  struct Scratch {
    typename Bitmap::template Places<most> places;
    typename Search::Firsts firsts;
    typename Search::Sums of_groups[groups];
    Run runs[most_windows];
    std::uint32_t marks[words];
    alignas(16) std::uint32_t sums[groups];
    std::uint32_t again;
    KOKKOS_FUNCTION Scratch() {}
  };
  static std::size_t scratch_bytes() { return sizeof(Scratch); }

  /// While a cell is sorted the team looks up where the next one's suffixes lie, and asks for them.
  KOKKOS_FUNCTION void operator()(const Team& team) const {
    if (route->spreads != Route::gathered) return;
    Scratch& scratch = *take_scratch<Scratch>(team, 1);
    const std::uint32_t all = windows.all();
    // From the last cell of a batch to the team's next batch.
    const std::uint32_t step = static_cast<std::uint32_t>(team.league_size() - 1) * batch + 1;
    const int thread = team.team_rank();
    std::uint32_t index = static_cast<std::uint32_t>(team.league_rank()) * batch;
    Batch ahead = windows.batch(index);
    windows.bring(thread, ahead, scratch.firsts);
    Bitmap::clear(thread, scratch);
    L::await_brought();
    team.team_barrier();
    auto search = look(thread, ahead, 0, scratch);
    team.team_barrier();
    Cell cell = mark(thread, search, ahead, scratch);
    team.team_barrier();
    Held held;
    load(thread, cell, scratch, held);
    team.team_barrier();
    while (index < all) {
      const std::uint32_t nth = index % batch, next = index + (nth + 1 < batch ? 1 : step);
      Cell found;
      const auto look_for_next = [&] { search = look(thread, ahead, next % batch, scratch); };
      const auto mark_next = [&] {
        found = mark(thread, search, ahead, scratch);
        if (nth + 2 == batch) {
          ahead = windows.batch(next + step);
          windows.bring(thread, ahead, scratch.firsts);
        }
      };
      const auto load_next = [&] { load(thread, found, scratch, held); };
      sort(team, cell, index, held, scratch, look_for_next, mark_next, load_next);
      L::await_brought();
      team.team_barrier();
      cell = found;
      index = next;
    }
  }

 private:
  /// The suffixes of a cell in registers.
  struct Held {
    static constexpr int marks = items * Packed::size;
    Packed pack[items];
    int packs;  ///< of the thread
    std::uint32_t lacking[(marks + 31) / 32], come_again[(marks + 31) / 32];

    template <class Work>
    KOKKOS_FUNCTION void each_some(const Work& work) const {
      KRADIX_UNROLL
      for (int i = 0; i < items; ++i) {
        if (i >= packs) continue;
        work(std::integral_constant<int, Packed::size>{}, i * Packed::size,
             [&](int j) { return std::uint32_t{pack[i].word(j)}; });
      }
    }
    KOKKOS_FUNCTION bool lacks(int mark) const {
      return (lacking[mark / 32] >> mark % 32 & 1) != 0;
    }
    KOKKOS_FUNCTION std::uint32_t& again(int word) { return come_again[word]; }
    KOKKOS_FUNCTION bool comes_again(int mark) const {
      return (come_again[mark / 32] >> mark % 32 & 1) != 0;
    }
    KOKKOS_FUNCTION std::uint32_t suffix(int mark) const {
      return Bitmap::two_at(pack, mark) >> 16 * (mark % 2) & 0xffffu;
    }
  };

  KOKKOS_FUNCTION Search look(int thread, const Batch& batch, std::uint32_t nth,
                              Scratch& scratch) const {
    Search::template clear<words>(thread, scratch.marks);
    return Search::look(
        thread, windows, batch, nth, scratch.firsts, scratch.of_groups,
        [](std::uint32_t at, std::uint32_t count) { return (at % size + count - 1) / size + 1; });
  }
  /// Those of its runs that find room.
  KOKKOS_FUNCTION Cell mark(int thread, const Search& search, const Batch& batch,
                            Scratch& scratch) const {
    const auto all = search.tell(thread, scratch.of_groups,
                                 [&](std::uint32_t nth, const auto& run, std::uint32_t place) {
                                   const std::uint32_t end = place + run.places;
                                   if (end > most_packs) return;
                                   RunMarks::mark<L>(scratch.marks, words, nth, place, end);
                                   scratch.runs[nth] = Run::make(run.at, run.count, place);
                                 });
    return {batch.begin + all.before, all.keys, all.places};
  }

  KOKKOS_FUNCTION void load(int thread, const Cell& cell, const Scratch& scratch,
                            Held& held) const {
    const auto* const suffixes = reinterpret_cast<const Suffix*>(keys.other);
    held.packs = 0;
    if (cell.packs == 0 || !cell.fits()) return;
    held.packs = static_cast<int>(cell.packs + threads - 1 - thread) / threads;
    Run run[items];
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      const std::uint32_t place = i < held.packs ? i * threads + thread : 0;
      run[i] = scratch.runs[RunMarks::run_at(scratch.marks[place / RunMarks::places], place)];
    }
    for (std::uint32_t& word : held.lacking) word = 0;
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      const std::uint32_t place = i * threads + thread;
      if (i < held.packs) held.pack[i] = Packed::load(suffixes + (run[i].source + place) * size);
      constexpr std::uint32_t of_pack = (1u << size) - 1;
      const int first = i * Packed::size;
      held.lacking[first / 32] |= (run[i].lacking(place) & of_pack) << first % 32;
    }
  }

  /// A cell of none, or of too many, or of too many that have the value of another is not sorted.
  template <class Look, class Mark, class Load>
  KOKKOS_FUNCTION void sort(const Team& team, const Cell& cell, std::uint32_t index, Held& held,
                            Scratch& scratch, const Look& look_for_next, const Mark& mark_next,
                            const Load& load_next) const {
    const int thread = team.team_rank();
    const bool fits = cell.keys > 0 && cell.fits();
    if (fits) Bitmap::see(thread, held, scratch);
    look_for_next();
    team.team_barrier();
    mark_next();
    const std::uint32_t more = scratch.again;
    if (!fits || more > Bitmap::most_again) {
      team.team_barrier();
      if (cell.keys > 0) leave(team, index, cell, scratch);
      load_next();
      return;
    }
    const WideArray<Key, int> out(keys.result + cell.begin, static_cast<int>(cell.keys));
    Suffix* const sorted = Bitmap::sorted_for(out, scratch);
    Bitmap::scan(team, scratch);
    team.team_barrier();
    const auto tail = Bitmap::place(thread, held, more, sorted, scratch);
    load_next();
    team.team_barrier();
    if (more > 0) {
      Bitmap::sort_again(thread, tail, more, sorted, scratch);
      team.team_barrier();
    }
    Bitmap::clear(thread, scratch);
    const Bits least = least_of(index);
    Bitmap::write(thread, out, sorted, [&](Suffix suffix) { return key_of(least, suffix); });
  }

  KOKKOS_FUNCTION Bits least_of(std::uint32_t index) const {
    return static_cast<Bits>(static_cast<Bits>(route->above) | static_cast<Bits>(index)
                                                                   << route->digits.begin);
  }
  KOKKOS_FUNCTION Key key_of(Bits least, std::uint32_t suffix) const {
    return codec.decode(static_cast<Bits>(least + suffix));
  }

  /// As keys, in no order, where they belong.
  KOKKOS_FUNCTION void leave(const Team& team, std::uint32_t index, const Cell& cell,
                             Scratch& scratch) const {
    const int thread = team.team_rank();
    const auto* const from = reinterpret_cast<const Suffix*>(keys.other);
    const Bits least = least_of(index);
    Key* out = keys.result + cell.begin;
    windows.each_run(windows.batch(index), 0, [&](std::uint32_t at, std::uint32_t count) {
      for (std::uint32_t i = thread; i < count; i += threads) out[i] = key_of(least, from[at + i]);
      out += count;
    });
    if (thread == 0) lists.left.add(Chunk::make(cell.begin, 0));
    team.team_barrier();
    Bitmap::clear(thread, scratch);
  }
};

}  // namespace kradix::impl
