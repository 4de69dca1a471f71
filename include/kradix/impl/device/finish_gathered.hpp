// The finish of what is gathered: a team brings a chunk's keys together from the windows of its bin, and sorts them in
// scratch as a chunk; values follow.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>

#include "kradix/impl/backend/lanes.hpp"
#include "kradix/impl/device/finish_chunk.hpp"
#include "kradix/impl/device/gathering.hpp"
#include "kradix/impl/device/wide_array.hpp"

namespace kradix::impl {

/// Chunks that a team brings together, one after the other. While a chunk's keys are on their way it looks up where the next
/// one's lie.
template <class ExecutionSpace, int Threads, std::uint32_t Most, std::uint32_t MostWindows>
struct GatheredChunks {
  using Team = TeamMember<ExecutionSpace>;
  using L = Lanes<ExecutionSpace>;
  using Windows = ChunkWindows<ExecutionSpace, Threads>;
  using Search = ChunkSearch<ExecutionSpace, Threads, MostWindows>;
  using Batch = typename Windows::Batch;
  static constexpr std::uint32_t words = (Most + RunMarks::places - 1) / RunMarks::places;

  /// Where a chunk belongs, and its runs.
  struct Held {
    std::uint32_t marks[words];
    std::uint32_t sources[MostWindows];
    std::uint32_t begin, keys;

    KOKKOS_FUNCTION std::uint32_t source_of(std::uint32_t place) const {
      return sources[RunMarks::run_at(marks[place / RunMarks::places], place)] + place;
    }
  };
  struct Scratch {
    Held held[2];  ///< the chunk that is sorted, and the next one
    typename Search::Firsts firsts;
    typename Search::Sums sums[Threads / L::width];
  };

  /// Chunks side by side are a batch. Those of at most `Most` keys are sorted, as (batch, nth, held, failures of narrow counters in a
  /// row, what to do meanwhile), and longer ones left, as (batch, nth, held).
  template <class Sort, class Leave>
  KOKKOS_FUNCTION static void each(const Team& team, const Windows& windows, Scratch& scratch,
                                   const Sort& sort, const Leave& leave) {
    const auto teams = static_cast<std::uint32_t>(team.league_size());
    const std::uint32_t all = windows.all();
    std::uint32_t each = Windows::pack;
    while (each > 1 && all / each < teams) each /= 2;
    const int thread = team.team_rank();
    std::uint32_t first = team.league_rank() * each;
    Batch batch = windows.batch(first);
    windows.bring(thread, batch, scratch.firsts);
    while (first < all) {
      L::await_brought();
      team.team_barrier();
      find(team, windows, batch, 0, scratch.held[0], scratch);
      team.team_barrier();
      first += teams * each;
      Batch next = batch;
      int failures = 0;
      for (std::uint32_t c = 0; c < each; ++c) {
        const Held& held = scratch.held[c % 2];
        const auto meanwhile = [&] {
          if (c + 1 < each) {
            find(team, windows, batch, c + 1, scratch.held[(c + 1) % 2], scratch);
          } else {
            next = windows.batch(first);
            windows.bring(thread, next, scratch.firsts);
          }
        };
        if (held.keys > Most || held.keys == 0) {
          meanwhile();
          if (held.keys > 0) leave(batch, c, held);
        } else {
          sort(batch, c, held, failures, meanwhile);
        }
        team.team_barrier();
      }
      batch = next;
    }
  }

 private:
  /// The team marks the runs of the next chunk, if all of their keys find room.
  KOKKOS_FUNCTION static void find(const Team& team, const Windows& windows, const Batch& batch,
                                   std::uint32_t nth, Held& held, Scratch& scratch) {
    const int thread = team.team_rank();
    Search::template clear<words>(thread, held.marks);
    const auto search = Search::look(thread, windows, batch, nth, scratch.firsts, scratch.sums,
                                     [](std::uint32_t, std::uint32_t count) { return count; });
    team.team_barrier();
    const auto all = search.tell(thread, scratch.sums,
                                 [&](std::uint32_t nth, const auto& run, std::uint32_t place) {
                                   const std::uint32_t end = place + run.count;
                                   if (end > Most) return;
                                   RunMarks::mark<L>(held.marks, words, nth, place, end);
                                   held.sources[nth] = run.at - place;
                                 });
    if (thread == 0) {
      held.begin = batch.begin + all.before;
      held.keys = all.keys;
    }
  }
};

template <class ExecutionSpace, class Codec, class Value, TeamShape Shape>
struct FinishGathered {
  static constexpr bool with_values = !std::is_same_v<Value, NoValue>;
  using Finish = FinishChunk<ExecutionSpace, Codec, Value, Shape, /*ByValue=*/false, with_values>;
  using Key = typename Codec::key_type;
  using Bits = typename Codec::bits_type;
  using Team = TeamMember<ExecutionSpace>;
  using L = Lanes<ExecutionSpace>;
  static constexpr int threads = Shape.threads, items = Shape.items;
  using Chunks = GatheredChunks<ExecutionSpace, threads, Finish::most,
                                Gathering::most_windows_of(with_values)>;
  using Windows = typename Chunks::Windows;
  using Batch = typename Chunks::Batch;
  using Held = typename Chunks::Held;

  Finish finish;
  Windows windows;
  std::size_t alone;  ///< elements beyond a chunk that FinishCrowded still has scratch for

  struct Scratch {
    typename Finish::Scratch sorting;
    typename Chunks::Scratch chunks;
    KOKKOS_FUNCTION Scratch() {}
  };
  static std::size_t scratch_bytes() { return sizeof(Scratch); }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    if (finish.route->spreads != Route::gathered) return;
    Scratch& scratch = *take_scratch<Scratch>(team, 1);
    Chunks::each(
        team, windows, scratch.chunks,
        [&](const Batch& batch, std::uint32_t nth, const Held& held, int& failures,
            const auto& meanwhile) {
          sort(team, batch, nth, held, failures, scratch.sorting, meanwhile);
        },
        [&](const Batch& batch, std::uint32_t nth, const Held& held) {
          leave(team, batch, nth, held);
        });
  }

 private:
  template <class Meanwhile>
  KOKKOS_FUNCTION void sort(const Team& team, const Batch& batch, std::uint32_t nth,
                            const Held& held, int& failures, typename Finish::Scratch& scratch,
                            const Meanwhile& meanwhile) const {
    std::uint32_t thread = team.team_rank();
    if constexpr (with_values) L::settle(thread);
    const auto size = static_cast<int>(held.keys);
    const int swept = finish.route->digits.begin;
    const Key* const keys = finish.buffers.keys.other;
    typename Finish::Registers registers;
    registers.count = (size - static_cast<int>(thread) + threads - 1) / threads;
    std::uint32_t source[with_values ? items : 1];  // kept: to look it up again takes longer
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      const bool exists = i < registers.count;
      const std::uint32_t place = i * threads + thread;
      if constexpr (with_values) {
        source[i] = held.source_of(exists ? place : 0);
        registers.key[i] = keys[source[i]];
      } else {
        registers.key[i] = exists ? keys[held.source_of(place)] : Key{};
      }
      if (i % 6 == 5) L::settle_memory();
    }
    meanwhile();
    if (thread == 0) {
      const std::uint32_t together = windows.shape.together;
      const std::uint32_t first = (batch.first + nth) * together;
      const std::uint32_t last = Gathering::last_cell(first, together);
      const auto of_bin = static_cast<Bits>(
          Finish::above(static_cast<Bits>(finish.route->above), swept) | batch.bin * bin_count);
      scratch.hopeless = false;
      scratch.first = static_cast<Bits>(of_bin + first);
      scratch.last = static_cast<Bits>(of_bin + last);
    }
    if (finish.template order_by<typename Finish::Index>(team, size, swept, scratch, registers,
                                                         failures)) {
      write(team, held, registers.count, source, scratch);
      return;
    }
    const auto put = [&](int i, const auto& what, auto* array) {
      if (i < registers.count) (array + held.begin + thread)[i * threads] = what;
    };
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) put(i, registers.key[i], finish.buffers.keys.result);
    if constexpr (with_values) {
      KRADIX_UNROLL
      for (int i = 0; i < items; ++i) {
        put(i, finish.buffers.values.other[source[i]], finish.buffers.values.result);
      }
    }
    if (thread == 0) finish.give_up(Chunk::make(held.begin, held.keys));
  }

  /// What lies in scratch, in order. Values are loaded when keys have left the registers.
  KOKKOS_FUNCTION void write(const Team& team, const Held& held, int count,
                             [[maybe_unused]] const std::uint32_t* source,
                             typename Finish::Scratch& sorting) const {
    using Write = WriteAligned<ExecutionSpace, threads, items>;
    const int thread = team.team_rank();
    std::conditional_t<with_values, Value, char> values[with_values ? items : 1];
    if constexpr (with_values) {
      KRADIX_UNROLL
      for (int i = 0; i < items; ++i) values[i] = finish.buffers.values.other[source[i]];
    }
    if (!with_values || !finish.buffers.leaves_keys) {
      Write::write(thread, sorting.keys, held.keys, finish.buffers.keys.result, held.begin,
                   [](const Key& key) { return key; });
    }
    if constexpr (with_values) {
      team.team_barrier();
      KRADIX_UNROLL
      for (int i = 0; i < items; ++i) {
        if (i < count) (sorting.values + thread)[i * threads] = values[i];
      }
      team.team_barrier();
      Write::write(thread, sorting.from, held.keys, finish.buffers.values.result, held.begin,
                   [&](std::uint16_t from) { return sorting.values[from]; });
    }
  }

  /// Too many keys for scratch are brought together where they belong.
  KOKKOS_FUNCTION void leave(const Team& team, const Batch& batch, std::uint32_t nth,
                             const Held& held) const {
    std::uint32_t to = held.begin;
    windows.each_run(batch, nth, [&](std::uint32_t from, std::uint32_t size) {
      const auto bring = [&](const auto& array) {
        copy_elements<threads>(team, size, array.other + from, array.result + to);
      };
      bring(finish.buffers.keys);
      if constexpr (with_values) bring(finish.buffers.values);
      to += size;
    });
    if (team.team_rank() == 0)
      finish.lists.left.add(Chunk::make(held.begin, held.keys <= alone ? held.keys : 0));
  }
};

}  // namespace kradix::impl
