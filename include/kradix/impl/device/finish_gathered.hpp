// The finish of keys that are gathered: a team brings a chunk's keys together from the windows of its bin, and sorts them in
// scratch as a chunk.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "kradix/impl/backend/lanes.hpp"
#include "kradix/impl/device/finish_chunk.hpp"
#include "kradix/impl/device/gathering.hpp"
#include "kradix/impl/device/wide_array.hpp"

namespace kradix::impl {

template <class ExecutionSpace, class Codec, TeamShape Shape>
struct FinishGathered {
  using Finish = FinishChunk<ExecutionSpace, Codec, NoValue, Shape, false, /*Ordered=*/false>;
  using Key = typename Codec::key_type;
  using Bits = typename Codec::bits_type;
  using Team = TeamMember<ExecutionSpace>;
  using L = Lanes<ExecutionSpace>;
  static constexpr int threads = Shape.threads, items = Shape.items, groups = threads / L::width;
  static constexpr std::uint32_t most = Finish::most;
  static constexpr std::uint32_t words = (most + RunMarks::places - 1) / RunMarks::places;

  Finish finish;
  Gathering shape;
  GatherTables tables;
  std::size_t alone;  ///< elements beyond a chunk that FinishCrowded still has scratch for

  /// Where a chunk belongs, and its runs.
  struct Held {
    std::uint32_t marks[words];
    std::uint32_t sources[Gathering::most_windows];
    std::uint32_t begin, keys;
  };
  /// First places in a window of the chunks of a batch.
  using Packed = Pack<std::uint16_t>;
  struct Scratch {
    typename Finish::Scratch sorting;
    Held held[2];  ///< the chunk that is sorted, and the next one
    alignas(16) Packed firsts[Gathering::most_windows];
    KOKKOS_FUNCTION Scratch() {}
  };
  static std::size_t scratch_bytes() { return sizeof(Scratch); }

  /// Chunks side by side are a batch, of which a window's pack of the table tells all first places. While a chunk's keys are
  /// on their way a group of lanes looks up where the next one's lie.
  KOKKOS_FUNCTION void operator()(const Team& team) const {
    if (finish.passes->finishes != PassTable::gathering) return;
    Scratch& scratch = *take_scratch<Scratch>(team, 1);
    const auto teams = static_cast<std::uint32_t>(team.league_size());
    const std::uint32_t all = shape.bins() * shape.row;
    std::uint32_t batch = Packed::size;
    while (batch > 1 && all / batch < teams) batch /= 2;
    const int thread = team.team_rank(), group = thread / L::width;
    std::uint32_t first = team.league_rank() * batch;
    bring(thread, first, scratch);
    for (; first < all; first += teams * batch) {
      L::await_brought();
      team.team_barrier();
      if (group == 0) find(first, L::lane(thread), scratch.firsts, scratch.held[0]);
      team.team_barrier();
      int failures = 0;  // of narrow counters, in a row
      for (std::uint32_t c = 0; c < batch; ++c) {
        const Held& held = scratch.held[c % 2];
        const bool is_last = c + 1 == batch;
        const auto meanwhile = [&] {
          if (is_last) {
            bring(thread, first + teams * batch, scratch);
          } else if (group == static_cast<int>((c + 1) % groups)) {
            find(first + c + 1, L::lane(thread), scratch.firsts, scratch.held[(c + 1) % 2]);
          }
        };
        if (held.keys > most || held.keys == 0) {
          meanwhile();
          if (held.keys > 0) leave(team, first + c, held);
        } else {
          sort(team, first + c, held, failures, scratch, meanwhile);
        }
        team.team_barrier();
      }
    }
  }

 private:
  /// Chunks have the numbers of words in rows of the table.
  KOKKOS_FUNCTION std::uint32_t bin_of(std::uint32_t index) const { return index / shape.row; }
  KOKKOS_FUNCTION std::uint32_t nth_of(std::uint32_t index) const { return index % shape.row; }
  KOKKOS_FUNCTION const std::uint16_t* first_of(std::uint32_t index, std::uint32_t window) const {
    return tables.in_windows + (std::size_t{bin_of(index)} * shape.windows + window) * shape.row +
           nth_of(index);
  }

  /// The packs in which a batch lies in each window, on their way.
  KOKKOS_FUNCTION void bring(int thread, std::uint32_t first, Scratch& scratch) const {
    if (first >= shape.bins() * shape.row) return;
    const auto* const packs =
        reinterpret_cast<const Packed*>(first_of(first / Packed::size * Packed::size, 0));
    const std::uint32_t row = shape.row / Packed::size;
    const std::uint64_t* const begins = tables.state->begins + bin_of(first);
    const auto total = static_cast<std::uint32_t>(begins[1] - begins[0]);
    for (std::uint32_t window = thread; window * shape.tile < total; window += threads) {
      L::bring(&scratch.firsts[window], packs + window * row);
    }
  }

  /// Of a chunk in a window.
  struct Run {
    std::uint32_t from, to;
  };
  /// It is the `nth` of its pack. In the table `next` is what lies behind it; behind a bin's last chunk the window ends.
  KOKKOS_FUNCTION Run run_of(std::uint32_t nth, std::uint32_t window, std::uint32_t total,
                             const Packed* firsts, const std::uint16_t* next, bool is_last) const {
    const std::uint32_t begin = window * shape.tile, left = total - begin;
    if (begin >= total) return {0, 0};
    const auto* const mine = reinterpret_cast<const std::uint16_t*>(firsts + window) + nth;
    if (is_last) return {mine[0], left < shape.tile ? left : shape.tile};
    return {mine[0], nth + 1 < Packed::size ? mine[1] : next[std::size_t{window} * shape.row]};
  }

  /// Marks its runs, if all of their keys find room.
  KOKKOS_FUNCTION void find(std::uint32_t index, int lane, const Packed* firsts, Held& held) const {
    const std::uint32_t bin = bin_of(index), own = index - bin * shape.row;
    if (own >= shape.chunks) {
      if (lane == 0) held.keys = 0;
      return;
    }
    const bool is_last = own + 1 == shape.chunks;
    const std::uint16_t* const next = first_of(index, 0) + 1;
    for (std::uint32_t w = lane; w < words; w += L::width) held.marks[w] = 0;
    const std::uint64_t* const begins = tables.state->begins + bin;
    const auto begin = static_cast<std::uint32_t>(begins[0]);
    const auto total = static_cast<std::uint32_t>(begins[1]) - begin;
    L::barrier();
    std::uint32_t keys = 0, runs = 0, before = 0;
    for (std::uint32_t first = 0; first * shape.tile < total; first += L::width) {
      const std::uint32_t window = first + lane;
      const Run mine = run_of(own % Packed::size, window, total, firsts, next, is_last);
      const std::uint32_t run = mine.to - mine.from;
      before += mine.from;
      const auto holds = L::where(run > 0);
      const std::uint32_t place = keys + L::scan(run, lane), end = place + run;
      if (run > 0 && end <= most) {
        const std::uint32_t rank = runs + static_cast<std::uint32_t>(L::rank_in(holds, lane));
        std::uint32_t w = place / RunMarks::places;
        L::set(&held.marks[w], RunMarks::begins_at(place));
        held.sources[rank] = begin + window * shape.tile + mine.from - place;
        for (++w; w < words && w * RunMarks::places <= end; ++w) {
          L::set(&held.marks[w], RunMarks::after(rank + 1));
        }
      }
      keys = L::from_last(end);
      runs += static_cast<std::uint32_t>(L::size_of(holds));
    }
    before = L::from_last(L::scan(before, lane) + before);
    if (lane == 0) {
      held.begin = begin + before;
      held.keys = keys;
    }
  }
  KOKKOS_FUNCTION static std::uint32_t source_of(const Held& held, std::uint32_t place) {
    return held.sources[RunMarks::run_at(held.marks[place / RunMarks::places], place)] + place;
  }

  template <class Meanwhile>
  KOKKOS_FUNCTION void sort(const Team& team, std::uint32_t index, const Held& held, int& failures,
                            Scratch& scratch, const Meanwhile& meanwhile) const {
    const int thread = team.team_rank(), size = static_cast<int>(held.keys);
    const int swept = finish.route->digits.begin;
    const Key* const keys = finish.buffers.keys.other;
    typename Finish::Registers registers;
    registers.count = (size - thread + threads - 1) / threads;
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      registers.key[i] = i < registers.count ? keys[source_of(held, i * threads + thread)] : Key{};
      if (i % 6 == 5) L::settle_memory();
    }
    meanwhile();
    if (thread == 0) {
      const std::uint32_t first = nth_of(index) * shape.together;
      const std::uint32_t last = Gathering::last_cell(first, shape.together);
      const auto of_bin = static_cast<Bits>(
          Finish::above(static_cast<Bits>(finish.route->above), swept) | bin_of(index) * bin_count);
      scratch.sorting.hopeless = false;
      scratch.sorting.first = static_cast<Bits>(of_bin + first);
      scratch.sorting.last = static_cast<Bits>(of_bin + last);
    }
    if (finish.template order_by<typename Finish::Index>(team, size, swept, scratch.sorting,
                                                         registers, failures)) {
      WriteAligned<ExecutionSpace, threads, items>::write(thread, scratch.sorting.keys, held.keys,
                                                          finish.buffers.keys.result, held.begin);
      return;
    }
    Key* const out = finish.buffers.keys.result + held.begin + thread;
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      if (i < registers.count) out[i * threads] = registers.key[i];
    }
    if (thread == 0) finish.give_up(Chunk::make(held.begin, held.keys));
  }

  /// Too many keys for scratch are brought together where they belong.
  KOKKOS_FUNCTION void leave(const Team& team, std::uint32_t index, const Held& held) const {
    const std::uint64_t* const begins = tables.state->begins + bin_of(index);
    const std::uint64_t total = begins[1] - begins[0];
    const bool is_last = nth_of(index) + 1 == shape.chunks;
    Key* out = finish.buffers.keys.result + held.begin;
    for (std::uint32_t window = 0; std::uint64_t{window} * shape.tile < total; ++window) {
      const std::uint64_t begin = std::uint64_t{window} * shape.tile, left = total - begin;
      const std::uint16_t* const firsts = first_of(index, window);
      const std::uint64_t to = !is_last ? firsts[1] : left < shape.tile ? left : shape.tile;
      copy_elements<threads>(team, to - firsts[0],
                             finish.buffers.keys.other + begins[0] + begin + firsts[0], out);
      out += to - firsts[0];
    }
    if (team.team_rank() == 0)
      finish.lists.left.add(Chunk::make(held.begin, held.keys <= alone ? held.keys : 0));
  }
};

}  // namespace kradix::impl
