// A chunk sorted in scratch whatever its keys: dealt out to pieces between splitters, and each piece evenly to slots; the few
// keys of a slot are ranked among each other.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "kradix/impl/backend/lanes.hpp"
#include "kradix/impl/device/chunks.hpp"
#include "kradix/impl/device/merge_few.hpp"
#include "kradix/impl/device/packed_counters.hpp"
#include "kradix/impl/device/splitters.hpp"
#include "kradix/impl/device/team.hpp"

namespace kradix::impl {

template <class ExecutionSpace, class Codec, TeamShape Shape>
struct FinishBySplitters {
  using Bits = typename Codec::bits_type;
  using Team = TeamMember<ExecutionSpace>;
  using L = Lanes<ExecutionSpace>;
  static constexpr int threads = Shape.threads, items = Shape.items, most = threads * items;
  static constexpr int groups = threads / L::width;
  using Tree = SplitterTree<Bits, 8>;
  static constexpr int pieces = Tree::bins, slot_bits = 4, slots = pieces << slot_bits;
  static constexpr int words = slots / 2, fours = words / 4 / threads;  ///< fours of a thread
  static_assert(most < 1 << 16 && fours * 4 * threads == words);

  struct Scratch {
    Tree tree;
    Bits begin[pieces];  ///< of a piece
    std::uint8_t
        shift[pieces];  ///< slots of a piece are so many bits wide: of no bit, each is one code
    union {
      Bits codes[most];   ///< by slots
      Bits some[pieces];  ///< of all, that tell the pieces
    };
    std::uint16_t slot[most];        ///< of a code
    FourWords first[words / 4 + 1];  ///< of two slots a word: counts, then first places
    std::uint32_t sums[groups];
    KOKKOS_FUNCTION Scratch() {}
    KOKKOS_FUNCTION std::uint32_t& word_of(std::uint32_t of_slot) {
      return (&first[0].word[0])[of_slot / 2];
    }
    KOKKOS_FUNCTION const std::uint32_t& word_of(std::uint32_t of_slot) const {
      return (&first[0].word[0])[of_slot / 2];
    }
    KOKKOS_FUNCTION std::uint32_t first_of(std::uint32_t of_slot) const {
      return word_of(of_slot) >> (16 * (of_slot % 2)) & 0xffffu;
    }
  };

  /// Thread t holds codes t, t + threads, … of `size`, all from `low` to `high`; `take` gets each with its place in order.
  /// Begins and ends where nobody uses the scratch.
  template <class Take>
  KOKKOS_FUNCTION static void sort(const Team& team, const Bits* code, int size, Bits low,
                                   Bits high, Scratch& scratch, const Take& take) {
    const int thread = team.team_rank();
    divide(team, code, size, low, high, scratch);
    std::uint32_t at[items];  // slot; above it the rank in it
    find_slots(code, at, scratch);
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      if (i * threads + thread >= size) continue;
      const std::uint32_t half = 16 * (at[i] % 2);
      const std::uint32_t before = L::add(&scratch.word_of(at[i]), 1u << half);
      at[i] |= (before >> half & 0xffffu) << 16;
    }
    team.team_barrier();
    place_slots(team, size, scratch);
    team.team_barrier();
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      if (i * threads + thread >= size) continue;
      const std::uint32_t slot = at[i] & 0xffffu;
      const std::uint32_t place = scratch.first_of(slot) + (at[i] >> 16);
      scratch.codes[place] = code[i];
      scratch.slot[place] = static_cast<std::uint16_t>(slot);
    }
    team.team_barrier();
    constexpr int batch = 3;  // whose loads are on their way together
    KRADIX_ROLLED
    for (int next = thread; next < size; next += batch * threads) {
      Mates mates[batch];
      Bits mine[batch];
      KRADIX_UNROLL
      for (int b = 0; b < batch; ++b) {
        const int place = next + b * threads;
        mine[b] = scratch.codes[place < size ? place : next];
        mates[b] = mates_at(place < size ? place : next, scratch);
      }
      KRADIX_UNROLL
      for (int b = 0; b < batch; ++b) {
        const int place = next + b * threads;
        if (place < size) take(place_among(mates[b], place, mine[b], scratch), mine[b]);
      }
    }
    team.team_barrier();
  }

 private:
  /// By some of the codes, from all over them.
  KOKKOS_FUNCTION static void divide(const Team& team, const Bits* code, int size, Bits low,
                                     Bits high, Scratch& scratch) {
    const int thread = team.team_rank(), rows = (size + threads - 1) / threads;
    for (int i = thread; i < pieces; i += threads) {
      scratch.some[i] = threads < pieces ? code[i * rows / pieces] : one_of(code, i % rows);
    }
    for (int i = thread; i <= words / 4; i += threads) scratch.first[i] = {};
    team.team_barrier();
    sort_by_merges<threads, pieces>(team, scratch.some, pieces,
                                    [](const Bits& a, const Bits& b) { return a < b; });
    const auto splitter = [&](int piece) {
      return piece == 0 ? low : splitter_among(scratch.some, pieces, piece, pieces);
    };
    for (int i = thread; i < pieces; i += threads) {
      const Bits begin = splitter(i);
      const auto end = i + 1 < pieces ? static_cast<Bits>(splitter(i + 1) - 1) : high;
      const int width = end > begin ? bit_width_of(static_cast<Bits>(end - begin)) : 0;
      scratch.begin[i] = begin;
      scratch.shift[i] = static_cast<std::uint8_t>(width > slot_bits ? width - slot_bits : 0);
      if (i > 0) scratch.tree.node[i] = splitter(Tree::splitter_of(i));
    }
    team.team_barrier();
  }
  /// Which one of registers is not known beforehand.
  KOKKOS_FUNCTION static Bits one_of(const Bits* code, int item) {
    Bits one = code[0];
    KRADIX_UNROLL
    for (int i = 1; i < (threads < pieces ? 1 : items); ++i) one = item == i ? code[i] : one;
    return one;
  }

  /// Some at a time, or all loads of all would want registers at once.
  KOKKOS_FUNCTION static void find_slots(const Bits* code, std::uint32_t* at,
                                         const Scratch& scratch) {
    constexpr int batch = 3, batches = items / batch, done = batches * batch;
    KRADIX_UNROLL
    for (int i = 0; i < batches; ++i) find_slots<batch>(code + i * batch, at + i * batch, scratch);
    if constexpr (done < items) find_slots<items - done>(code + done, at + done, scratch);
  }
  template <int Size>
  KOKKOS_FUNCTION static void find_slots(const Bits* code, std::uint32_t* at,
                                         const Scratch& scratch) {
    scratch.tree.template find<Size>(code, at);
    KRADIX_UNROLL
    for (int i = 0; i < Size; ++i) {
      const std::uint32_t piece = at[i];
      const auto above = static_cast<Bits>(code[i] - scratch.begin[piece]);
      at[i] = piece << slot_bits | static_cast<std::uint32_t>(above >> scratch.shift[piece]);
    }
    L::settle_memory();
  }

  KOKKOS_FUNCTION static void place_slots(const Team& team, int size, Scratch& scratch) {
    const int thread = team.team_rank();
    FourWords* const mine = scratch.first + thread * fours;
    std::uint32_t sum = 0;
    for (int f = 0; f < fours; ++f) sum += both_of(sum_of(mine[f]));
    std::uint32_t before = L::scan(sum, L::lane(thread));
    if (L::lane(thread) == L::width - 1) scratch.sums[thread / L::width] = before + sum;
    team.team_barrier();
    for (int g = 0; g < thread / L::width; ++g) before += scratch.sums[g];
    for (int f = 0; f < fours; ++f) {
      FourWords four = mine[f];
      KRADIX_UNROLL
      for (int w = 0; w < 4; ++w) {
        const std::uint32_t counts = four.word[w];
        four.word[w] = before | (before + (counts & 0xffffu)) << 16;
        before += both_of(counts);
      }
      mine[f] = four;
    }
    if (thread == 0) scratch.word_of(slots) = static_cast<std::uint32_t>(size);
  }
  /// Counts of two slots each, side by side, which sum up to no more than 16 bits hold.
  KOKKOS_FUNCTION static std::uint32_t sum_of(const FourWords& four) {
    return four.word[0] + four.word[1] + four.word[2] + four.word[3];
  }
  KOKKOS_FUNCTION static std::uint32_t both_of(std::uint32_t counts) {
    return (counts & 0xffffu) + (counts >> 16);
  }

  /// Codes of a slot, which may differ.
  struct Mates {
    std::uint32_t begin, end;
  };
  KOKKOS_FUNCTION static Mates mates_at(int place, const Scratch& scratch) {
    const std::uint32_t slot = scratch.slot[place];
    const Mates mates{scratch.first_of(slot), scratch.first_of(slot + 1)};
    const bool differ = scratch.shift[slot >> slot_bits] != 0;
    const auto lone = static_cast<std::uint32_t>(place);
    return differ ? mates : Mates{lone, lone};
  }
  /// Behind the smaller ones, and of equal ones those before it.
  KOKKOS_FUNCTION static std::uint32_t place_among(const Mates& mates, int place, Bits code,
                                                   const Scratch& scratch) {
    std::uint32_t to = mates.begin;
    KRADIX_ROLLED
    for (std::uint32_t other = mates.begin; other < mates.end; ++other) {
      const Bits its = scratch.codes[other];
      to += its < code || (its == code && static_cast<int>(other) < place) ? 1 : 0;
    }
    return to;
  }
};

/// The chunks that a finish gave up, of keys that splitters have spread.
template <class ExecutionSpace, class Codec, TeamShape Shape>
struct FinishUneven {
  using Key = typename Codec::key_type;
  using Bits = typename Codec::bits_type;
  using Team = TeamMember<ExecutionSpace>;
  using Finish = FinishBySplitters<ExecutionSpace, Codec, Shape>;
  static constexpr int threads = Shape.threads, items = Shape.items;

  PassBuffers<Key> keys;
  Codec codec;
  const PassTable* passes;
  ChunkLists lists;

  static std::size_t scratch_bytes() { return sizeof(typename Finish::Scratch); }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    if (passes->finishes != PassTable::splitting) return;
    auto& scratch = *take_scratch<typename Finish::Scratch>(team, 1);
    const auto listed = static_cast<std::uint64_t>(lists.left.size());
    const auto step = static_cast<std::uint64_t>(team.league_size());
    for (auto entry = static_cast<std::uint64_t>(team.league_rank()); entry < listed;
         entry += step) {
      const Chunk chunk = lists.left.at(entry);
      if (chunk.size() > 0) sort(team, chunk, scratch);
    }
  }

  KOKKOS_FUNCTION void sort(const Team& team, const Chunk& chunk,
                            typename Finish::Scratch& scratch) const {
    const Key* const from = keys.end(passes->count) + chunk.begin();
    const auto bounds = ChunkBounds<Bits>::of(keys.spare(passes->count) + chunk.begin());
    Bits code[items];
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      const int place = i * threads + team.team_rank();
      code[i] = codec.encode(from[place < chunk.size() ? place : 0]);
    }
    team.team_barrier();
    Key* const out = keys.result + chunk.begin();
    Finish::sort(
        team, code, chunk.size(), bounds.low, bounds.high, scratch,
        [&](std::uint32_t place, const Bits& in_order) { out[place] = codec.decode(in_order); });
  }
};

}  // namespace kradix::impl
