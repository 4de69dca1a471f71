// Suffixes of a cell put in order by a bit for each value: every suffix sets its own, and its place is the number of bits set
// before.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>

#include "kradix/impl/backend/lanes.hpp"
#include "kradix/impl/device/cells.hpp"
#include "kradix/impl/device/digit.hpp"
#include "kradix/impl/device/team.hpp"
#include "kradix/impl/device/wide_array.hpp"

namespace kradix::impl {

/// A team's. Its suffixes are `held` in registers, where each has a mark: `held.each_some` shows a few at a time, `held.lacks` says
/// which marks there are none of, `held.again` has a bit for each that has the value of another. The team's scratch has
/// `places`, `sums` of groups of lanes and a count of those that come `again`.
template <class ExecutionSpace, int Threads>
struct SuffixBits {
  using Suffix = Suffixes::Suffix;
  using Team = TeamMember<ExecutionSpace>;
  using L = Lanes<ExecutionSpace>;
  static constexpr int groups = Threads / L::width;
  static constexpr std::uint32_t most_again = 1024;

  /// A word has a bit for each of 16 values, and above them the suffixes that have the value of another; then those of all
  /// words before.
  static constexpr int value_bits = 4, values = 1 << value_bits;
  static constexpr std::uint32_t value_mask = (1u << values) - 1;
  static constexpr int words = (1 << Suffixes::most_bits) / values;
  /// Words that a lane looks at together.
  struct alignas(16) Words {
    static constexpr int count = 4;
    std::uint32_t word[count];
  };
  static constexpr int rounds = words / (Words::count * Threads);
  static_assert(rounds > 0 && rounds % 2 == 0);

  /// Of at most so many suffixes.
  template <std::uint32_t Most>
  struct Places {
    static_assert(Most < 0x8000);
    Words bits[words / Words::count];
    std::uint32_t end;  ///< of what the words before count
    /// Suffixes, and above each the how manyth it is of its word.
    std::uint32_t again[most_again];
    /// As far behind a multiple of a pack of keys as the result.
    alignas(16) Suffix sorted[Most + Pack<std::uint32_t>::size];
  };

  /// Suffixes of a word, from `begin` to `end`, those from `at` on again, and the first of those.
  struct Tail {
    std::uint32_t begin, at, end;
    Suffix suffix;
    bool leads;
  };

  /// The two suffixes among which that mark is, by packs in registers, which have no number: all are looked at.
  template <class Packs>
  KOKKOS_FUNCTION static std::uint32_t two_at(const Packs& packs, int mark) {
    constexpr int items = std::extent_v<Packs>;
    static_assert(Pack<Suffix>::size == 8);
    std::uint32_t found = 0;
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      const std::uint32_t first = mark & 2 ? packs[i].two(1) : packs[i].two(0);
      const std::uint32_t last = mark & 2 ? packs[i].two(3) : packs[i].two(2);
      found = mark / 8 == i ? (mark & 4 ? last : first) : found;
    }
    return found;
  }

  template <class Scratch>
  KOKKOS_FUNCTION static void clear(int thread, Scratch& scratch) {
    constexpr int all = words / Words::count;
    for (int i = thread; i < all; i += Threads) scratch.places.bits[i] = {};
    if (thread == 0) scratch.again = 0;
  }

  /// Begins with clear words. There may be too many that come again.
  template <class Held, class Scratch>
  KOKKOS_FUNCTION static void see(int thread, Held& held, Scratch& scratch) {
    constexpr int again_words = (Held::marks + 31) / 32;
    for (int w = 0; w < again_words; ++w) held.again(w) = 0;
    held.each_some([&](auto some, int first, const auto& suffix_at) {
      KRADIX_UNROLL
      for (int j = 0; j < decltype(some)::value; ++j) {
        const int mark = first + j;
        // (No branch, at which others would wait.)
        const std::uint32_t suffix = suffix_at(j), bit = held.lacks(mark) ? 0 : bit_of(suffix);
        const bool again = (L::set(word_of(scratch, suffix), bit) & bit) != 0;
        held.again(mark / 32) |= std::uint32_t{again} << mark % 32;
      }
    });
    std::uint32_t more = 0;
    KRADIX_UNROLL
    for (int w = 0; w < again_words; ++w) more += count_bits(held.again(w));
    const int lane = L::lane(thread);
    std::uint32_t slot = L::scan(more, lane);
    std::uint32_t first = 0;
    if (lane == L::width - 1) first = L::add(&scratch.again, slot + more);
    slot += L::from_last(first);
    KRADIX_UNROLL
    for (int w = 0; w < again_words; ++w) {
      KRADIX_ROLLED
      for (std::uint32_t left = held.again(w); left != 0; left &= left - 1, ++slot) {
        const int mark = 32 * w + bit_width_of(left & (0u - left)) - 1;
        const std::uint32_t suffix = held.suffix(mark);
        const std::uint32_t nth = L::add(word_of(scratch, suffix), 1u << values) >> values;
        if (slot < most_again) scratch.places.again[slot] = suffix | nth << Suffixes::most_bits;
      }
    }
    L::barrier();  // lanes that go on together take shorter ways
  }

  /// A lane takes four words at a time, and two such rounds as halves of one.
  template <class Scratch>
  KOKKOS_FUNCTION static void scan(const Team& team, Scratch& scratch) {
    const int thread = team.team_rank(), group = thread / L::width, lane = L::lane(thread);
    Words* const mine = scratch.places.bits + group * rounds * L::width + lane;
    std::uint32_t before[rounds], sum = 0;
    KRADIX_UNROLL
    for (int r = 0; r < rounds; r += 2) {
      const Words low = mine[r * L::width], high = mine[(r + 1) * L::width];
      const std::uint32_t both = suffixes_of(low) | suffixes_of(high) << 16;
      const std::uint32_t lanes_before = L::scan(both, lane);
      const std::uint32_t all_lanes = L::from_last(lanes_before + both);
      before[r] = sum + (lanes_before & 0xffffu);
      sum += all_lanes & 0xffffu;
      before[r + 1] = sum + (lanes_before >> 16);
      sum += all_lanes >> 16;
    }
    if (lane == 0) scratch.sums[group] = sum;
    team.team_barrier();
    std::uint32_t groups_before = 0;
    KRADIX_UNROLL
    for (int g = 0; g < groups; ++g) groups_before += g < group ? scratch.sums[g] : 0;
    KRADIX_UNROLL
    for (int r = 0; r < rounds; ++r) {
      Words four = mine[r * L::width];
      std::uint32_t next = groups_before + before[r];
      KRADIX_UNROLL
      for (int i = 0; i < Words::count; ++i) {
        const std::uint32_t own = suffixes_of(four.word[i]);
        four.word[i] = (four.word[i] & value_mask) | next << values;
        next += own;
      }
      mine[r * L::width] = four;
      if (r == rounds - 1 && thread == Threads - 1) scratch.places.end = next << values;
    }
  }

  /// Into `sorted`, from a place of `Places::sorted` on. Those that come again follow the others of their word.
  template <class Held, class Scratch>
  KOKKOS_FUNCTION static Tail place(int thread, const Held& held, std::uint32_t more,
                                    Suffix* sorted, Scratch& scratch) {
    held.each_some([&](auto some, int first, const auto& suffix_at) {
      std::uint32_t word[decltype(some)::value];  // all at once
      KRADIX_UNROLL
      for (int j = 0; j < decltype(some)::value; ++j) word[j] = *word_of(scratch, suffix_at(j));
      KRADIX_UNROLL
      for (int j = 0; j < decltype(some)::value; ++j) {
        const std::uint32_t suffix = suffix_at(j);
        const std::uint32_t at = (word[j] >> values) + count_bits(word[j] & (bit_of(suffix) - 1));
        if (!held.lacks(first + j) && !held.comes_again(first + j))
          sorted[at] = static_cast<Suffix>(suffix);
      }
    });
    Tail mine{};
    for (std::uint32_t i = thread; i < more; i += Threads) {
      const Tail tail = tail_of(scratch.places.again[i], scratch);
      sorted[tail.at] = tail.suffix;
      if (i == static_cast<std::uint32_t>(thread)) mine = tail;
    }
    return mine;
  }
  /// One of each word sorts them in.
  template <class Scratch>
  KOKKOS_FUNCTION static void sort_again(int thread, const Tail& mine, std::uint32_t more,
                                         Suffix* sorted, Scratch& scratch) {
    if (mine.leads) sort_in(mine, sorted);
    for (std::uint32_t i = thread + Threads; i < more; i += Threads) {
      const Tail tail = tail_of(scratch.places.again[i], scratch);
      if (tail.leads) sort_in(tail, sorted);
    }
  }

  /// As keys, side by side.
  template <class Key, class KeyOf>
  KOKKOS_FUNCTION static void write(int thread, const WideArray<Key, int>& out,
                                    const Suffix* sorted, const KeyOf& key_of) {
    constexpr int size = Pack<Key>::size;
    constexpr int edges = (2 * (size - 1) + Threads - 1) / Threads;
    struct alignas(size * sizeof(Suffix)) Some {
      Suffix suffix[size];
    };
    for (int i = thread; i < out.packs(); i += Threads) {
      const Some some = *reinterpret_cast<const Some*>(sorted + out.place(i));
      Pack<Key> pack;
      KRADIX_UNROLL
      for (int j = 0; j < size; ++j) pack.put(j, key_of(some.suffix[j]));
      out.store(i, pack);
    }
    KRADIX_UNROLL
    for (int i = 0; i < edges; ++i) {
      const int edge = i * Threads + thread;
      if (edge >= out.edges()) continue;
      const int place = out.place_of_edge(edge);
      out.at(place) = key_of(sorted[place]);
    }
  }
  /// Where the first of them lies, so that packs are packs in both.
  template <class Key, class Scratch>
  KOKKOS_FUNCTION static Suffix* sorted_for(const WideArray<Key, int>& out, Scratch& scratch) {
    constexpr int size = Pack<Key>::size;
    return scratch.places.sorted + (size - out.place(0) % size) % size;
  }

 private:
  template <class Scratch>
  KOKKOS_FUNCTION static std::uint32_t* word_of(Scratch& scratch, std::uint32_t suffix) {
    return &scratch.places.bits[0].word[0] + (suffix >> value_bits);
  }
  KOKKOS_FUNCTION static std::uint32_t bit_of(std::uint32_t suffix) {
    return 1u << (suffix & (values - 1));
  }
  KOKKOS_FUNCTION static std::uint32_t suffixes_of(std::uint32_t word) {
    return count_bits(word & value_mask) + (word >> values);
  }
  KOKKOS_FUNCTION static std::uint32_t suffixes_of(const Words& words) {
    std::uint32_t sum = 0, again = 0;  // by halves
    KRADIX_UNROLL
    for (int i = 0; i < Words::count; i += 2) {
      const std::uint32_t low = words.word[i], high = words.word[i + 1];
      sum += count_bits((low & value_mask) | high << values);
      again += low >> values | (high & ~value_mask);
    }
    return sum + (again & value_mask) + (again >> values);
  }

  template <class Scratch>
  KOKKOS_FUNCTION static Tail tail_of(std::uint32_t again, Scratch& scratch) {
    const auto suffix = static_cast<Suffix>(again);
    const std::uint32_t* const word = word_of(scratch, suffix);
    const std::uint32_t begin = word[0] >> values, nth = again >> Suffixes::most_bits;
    const std::uint32_t at = begin + count_bits(word[0] & value_mask) + nth;
    return {begin, at, word[1] >> values, suffix, nth == 0};
  }
  KOKKOS_FUNCTION static void sort_in(const Tail& tail, Suffix* sorted) {
    Suffix suffix = tail.suffix;
    std::uint32_t at = tail.at;
    while (true) {
      std::uint32_t to = at;
      for (; to > tail.begin && sorted[to - 1] > suffix; --to) sorted[to] = sorted[to - 1];
      sorted[to] = suffix;
      if (++at == tail.end) return;
      suffix = sorted[at];
    }
  }
};

}  // namespace kradix::impl
