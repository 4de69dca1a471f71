// Keys alone that are spread by their topmost digits: a team counts the keys of a cell in scratch, value by value, and
// writes them anew in order.
//
// The counting sort of Seward (1954), as in count_runs.hpp, for values of which few come more than once: counters have
// four bits, and keys are placed side by side, each by a lane that looks up which of them it is.
#pragma once

#include <Kokkos_BitManipulation.hpp>
#include <Kokkos_Core.hpp>
#include <cstdint>

#include "kradix/impl/backend/lanes.hpp"
#include "kradix/impl/buffers.hpp"
#include "kradix/impl/device/cells.hpp"
#include "kradix/impl/device/chunks.hpp"
#include "kradix/impl/device/count_runs.hpp"
#include "kradix/impl/device/digit.hpp"
#include "kradix/impl/device/team.hpp"

namespace kradix::impl {

/// A cell with more keys of a value than its counter holds is left to those that sort long runs.
template <class ExecutionSpace, class Codec, TeamShape Shape>
struct FinishCells {
  using Key = typename Codec::key_type;
  using Bits = typename Codec::bits_type;
  using Team = TeamMember<ExecutionSpace>;
  using L = Lanes<ExecutionSpace>;
  static constexpr int threads = Shape.threads, items = Shape.items;
  static constexpr int groups = threads / L::width;
  static constexpr int most_bits = 16;  ///< of a cell's values
  static constexpr int fields = 8, counter_bits = ValueCounters<fields>::bits;
  static constexpr std::uint32_t most = (1u << counter_bits) - 1;
  /// Words of counters that a lane looks at together.
  struct alignas(16) Words {
    static constexpr int count = 4;
    static constexpr std::uint32_t values = count * fields;
    std::uint32_t word[count];
  };
  static constexpr std::uint32_t all_words = (1u << most_bits) / Words::values;
  /// Keys that a group places at once: the word that counts each, of those that its lanes look at, and the how
  /// manyth it is there.
  static constexpr std::uint32_t most_staged = 16 * L::width;

  PassBuffers<Key> keys;
  Codec codec;
  const PassTable* passes;
  const Route* route;
  const std::uint64_t* ends;  ///< of cells
  ChunkLists lists;

  struct Scratch {
    Words counts[all_words];
    std::uint32_t sums[groups];
    std::uint16_t staged[groups][most_staged];
  };
  static std::size_t scratch_bytes() { return sizeof(Scratch); }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    if (route->spreads != Route::to_values) return;
    Scratch& scratch = *take_scratch<Scratch>(team, 1);
    const Key* const from = keys.end(passes->count);
    const int left = passes->digit[1].shift;
    const Bits above = codec.encode(from[0]) & ~low_mask<Bits>(left + Cells::bits);
    for (int cell = team.league_rank(); cell < Cells::count; cell += team.league_size()) {
      const std::uint64_t begin = cell == 0 ? 0 : ends[cell - 1], size = ends[cell] - begin;
      const Bits least = above | static_cast<Bits>(cell) << left;
      if (size > 0 &&
          !sort(team, {from + begin, keys.result + begin, size, least, left}, scratch) &&
          team.team_rank() == 0) {
        LongRun::set_end(keys.spare(passes->count) + begin, begin + size);
        lists.left.add(Chunk::make(begin, 0));
      }
    }
  }

 private:
  struct Cell {
    const Key* keys;
    Key* result;
    std::uint64_t size;
    Bits least;
    int bits;  ///< of its values
  };

  /// False if there are too many keys of a value.
  KOKKOS_FUNCTION bool sort(const Team& team, const Cell& cell, Scratch& scratch) const {
    constexpr std::uint32_t most_keys = most << most_bits;
    if (cell.size > most_keys) return false;
    const int thread = team.team_rank(), group = thread / L::width, lane = L::lane(thread);
    const std::uint32_t used = ((1u << cell.bits) + Words::values - 1) / Words::values;
    for (std::uint32_t i = thread; i < used; i += threads) scratch.counts[i] = {};
    team.team_barrier();
    count(thread, cell, scratch);
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
    if (counted == cell.size) write(cell, first, end, before, lane, group, scratch);
    team.team_barrier();
    return counted == cell.size;
  }

  KOKKOS_FUNCTION void count(int thread, const Cell& cell, Scratch& scratch) const {
    const auto mask = static_cast<std::uint32_t>(low_mask<Bits>(cell.bits));
    const ValueCounters<fields> counters{reinterpret_cast<std::uint32_t*>(scratch.counts)};
    const auto see = [&](const Key& key) {
      counters.template increment<L>(static_cast<std::uint32_t>(codec.encode(key)) & mask);
    };
    const auto size = static_cast<std::uint32_t>(cell.size);
    constexpr std::uint32_t step = items * threads;
    std::uint32_t at = thread;
    KRADIX_ROLLED
    for (; at + (step - threads) < size; at += step) {
      const Key* const from = cell.keys + at;
      Key key[items];
      KRADIX_UNROLL
      for (int i = 0; i < items; ++i) key[i] = from[i * threads];
      KRADIX_UNROLL
      for (int i = 0; i < items; ++i) see(key[i]);
    }
    KRADIX_ROLLED
    for (; at < size; at += threads) see(cell.keys[at]);
  }

  KOKKOS_FUNCTION static std::uint32_t sum_of(std::uint32_t word) {
    constexpr std::uint32_t even = 0x0f0f0f0f, ones = 0x01010101;
    return ((word & even) + (word >> counter_bits & even)) * ones >> 24;
  }

  /// The keys of a group's counters, those of all its lanes at once, side by side from a place on.
  KOKKOS_FUNCTION void write(const Cell& cell, std::uint32_t first, std::uint32_t end,
                             std::uint32_t place, int lane, int group, Scratch& scratch) const {
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
      Key* const out = cell.result + place;
      place += all;
      if (all > most_staged || L::where(!fits) != 0) {
        write_own(counts, cell.least | mine * Words::values, out + begin);
        continue;
      }
      stage(own, static_cast<std::uint32_t>(lane) * Words::count, staged + begin);
      L::barrier();
      const auto* const words = reinterpret_cast<const std::uint32_t*>(scratch.counts + first);
      write_staged(staged, all, words, cell.least | first * Words::values, out, lane);
      L::barrier();
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
    return fields - static_cast<std::uint32_t>(
                        Kokkos::Experimental::popcount_builtin(behind | behind_odd >> 1));
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
