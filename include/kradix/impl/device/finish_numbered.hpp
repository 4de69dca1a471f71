// The finish of keys that are gathered in one word with their indices: a team brings a chunk's words together, as of keys alone
// (finish_gathered.hpp), and writes the indices.
//
// Where a chunk lies tells all bits of its codes but those below, and what counts them 16 of these. The few bits that are left
// and the index find room in 32, so what is sorted in scratch is half as long as what has come.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "kradix/impl/backend/lanes.hpp"
#include "kradix/impl/device/finish_chunk.hpp"
#include "kradix/impl/device/finish_gathered.hpp"
#include "kradix/impl/device/gathering.hpp"
#include "kradix/impl/device/numbered_tiles.hpp"

namespace kradix::impl {

/// What of a chunk's words is sorted by counters, and what is left of them.
template <int CountedBits>
struct NumberedSplit {
  std::uint32_t least;  ///< code of the chunk
  int shift;            ///< bits of codes below those that are counted
  int index_bits;

  /// Of chunks of so many cells of `cell_bits`.
  KOKKOS_FUNCTION static int shift_of(std::uint32_t cells, int cell_bits) {
    const int below = bit_width_of(cells - 1) + cell_bits - CountedBits;
    return below > 0 ? below : 0;
  }
  /// Wide counters tell one bit less.
  static bool fits(const Gathering& shape) {
    return shift_of(shape.together, 32 - shape.bits()) + 1 + bit_width_of(shape.count - 1) <= 32;
  }

  KOKKOS_FUNCTION std::uint32_t counted(Numbered::Word word) const {
    return (Numbered::code(word) - least) >> shift;
  }
  /// (Bits above those that are left are the same in keys that are counted together.)
  KOKKOS_FUNCTION std::uint32_t rest(Numbered::Word word) const {
    return (Numbered::code(word) - least) << index_bits | Numbered::index(word);
  }
  KOKKOS_FUNCTION std::uint32_t index(std::uint32_t rest) const {
    return rest & low_mask<std::uint32_t>(index_bits);
  }
  KOKKOS_FUNCTION Numbered::Word word(std::uint32_t counted, std::uint32_t rest) const {
    const std::uint32_t low = rest >> index_bits & low_mask<std::uint32_t>(shift);
    return Numbered::make(least + (counted << shift | low), index(rest));
  }
};

template <class ExecutionSpace, TeamShape Shape>
struct FinishNumbered {
  using Finish = FinishChunk<ExecutionSpace, WordCodec<std::uint32_t, false>, NoValue, Shape,
                             /*ByValue=*/false, /*Ordered=*/false, /*HoldsIndices=*/true>;
  using Team = TeamMember<ExecutionSpace>;
  using L = Lanes<ExecutionSpace>;
  static constexpr int threads = Shape.threads, items = Shape.items;
  using Chunks =
      GatheredChunks<ExecutionSpace, threads, Finish::most, Gathering::most_windows_of(false)>;
  using Windows = typename Chunks::Windows;
  using Batch = typename Chunks::Batch;
  using Held = typename Chunks::Held;
  using Split = NumberedSplit<Finish::Narrow::index_bits>;

  const Numbered::Word* words;
  NumberedResult result;
  Windows windows;
  const PassTable* passes;
  Route* route;

  struct Scratch {
    typename Finish::Scratch sorting;
    typename Chunks::Scratch chunks;
    KOKKOS_FUNCTION Scratch() {}
  };
  static std::size_t scratch_bytes() { return sizeof(Scratch); }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    if (route->spreads != Route::gathered) return;
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
  KOKKOS_FUNCTION Split split_of(const Batch& batch, std::uint32_t nth) const {
    const Gathering& shape = windows.shape;
    const int cell_bits = route->digits.begin;
    const std::uint32_t cell = batch.bin * bin_count + (batch.first + nth) * shape.together;
    const auto above = static_cast<std::uint32_t>(route->above);
    return {above + (cell << cell_bits), Split::shift_of(shape.together, cell_bits),
            bit_width_of(shape.count - 1)};
  }

  template <class Meanwhile>
  KOKKOS_FUNCTION void sort(const Team& team, const Batch& batch, std::uint32_t nth,
                            const Held& held, int& failures, typename Finish::Scratch& scratch,
                            const Meanwhile& meanwhile) const {
    const int thread = team.team_rank();
    const auto size = static_cast<int>(held.keys);
    const Split split = split_of(batch, nth);
    typename Finish::Registers registers;
    registers.count = (size - thread + threads - 1) / threads;
    Numbered::Word word[items];
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      const std::uint32_t place = i * threads + thread;
      word[i] = i < registers.count ? words[held.source_of(place)] : 0;
      if (i % 6 == 5) L::settle_memory();
    }
    meanwhile();
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) registers.hold(i, split.rest(word[i]), split.counted(word[i]));
    if (thread == 0) scratch.hopeless = false;
    const Finish finish{{}, {}, {0, 32}, ~std::uint32_t{0}, false, passes, route, {}};
    if (finish.template order_by<HeldIndex>(team, size, 0, scratch, registers, failures)) {
      WriteAligned<ExecutionSpace, threads, items>::write(
          thread, scratch.keys, held.keys, result.indices, held.begin,
          [&](std::uint32_t rest) { return split.index(rest); });
      return;
    }
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      if (i < registers.count) {
        result.give_up(held.begin + i * threads + thread,
                       split.word(registers.held(i), registers.key[i]));
      }
    }
    if (thread == 0) result.list(held.begin, held.keys);
  }

  /// Too many keys for scratch.
  KOKKOS_FUNCTION void leave(const Team& team, const Batch& batch, std::uint32_t nth,
                             const Held& held) const {
    std::uint32_t to = held.begin;
    windows.each_run(batch, nth, [&](std::uint32_t from, std::uint32_t size) {
      KRADIX_ROLLED
      for (std::uint32_t i = team.team_rank(); i < size; i += threads) {
        result.give_up(to + i, words[from + i]);
      }
      to += size;
    });
    if (team.team_rank() == 0) result.list(held.begin, held.keys);
  }
};

}  // namespace kradix::impl
