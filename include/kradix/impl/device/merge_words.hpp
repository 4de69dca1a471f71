// A team sorts words in its scratch by comparing them, whatever they are: in as many steps for all.
//
// Groups of lanes sort parts in their registers (a thread's words by Batcher's odd-even merges, those of a group by his bitonic
// ones). Then two runs side by side become one, and again: a group searches for where its part of the result
// begins and ends in both, takes that from scratch as one sequence that rises and then falls, and merges it as it sorted.
// (Batcher, "Sorting networks and their applications", 1968; the search is that of Odeh, Green, Mwassi, Shmueli and Birk,
// "Merge path", 2012.)
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "kradix/impl/backend/lanes.hpp"
#include "kradix/impl/device/team.hpp"

namespace kradix::impl {

/// Puts two in order.
template <class Word>
KOKKOS_FUNCTION void put_in_order(Word& a, Word& b) {
  const bool swaps = b < a;
  const Word low = swaps ? b : a;
  b = swaps ? a : b;
  a = low;
}

template <class ExecutionSpace, class Word, TeamShape Shape>
struct MergeWords {
  using Team = TeamMember<ExecutionSpace>;
  using L = Lanes<ExecutionSpace>;
  using word_type = Word;
  static constexpr int most = Shape.round();
  static constexpr int each =
      Shape.threads == 1 ? 16 : Shape.items;    ///< words of a thread in a part
  static constexpr int part = each * L::width;  ///< of a group
  /// Parts of a group: hosts, whose teams are of one thread, sort one after the other.
  static constexpr int parts = Shape.items / each;
  static_assert(Shape.items % each == 0 && (each & (each - 1)) == 0);

  struct Scratch {
    Word words[most];
    KOKKOS_FUNCTION Scratch() {}
  };
  /// Of each part of a group, the words of a lane.
  struct Registers {
    Word words[parts][each];

    KOKKOS_FUNCTION Word& word(int p, int i) { return words[p][i]; }
    KOKKOS_FUNCTION Word word(int p, int i) const { return words[p][i]; }
  };

  /// Where a thread's word lies, when all are in order and before.
  KOKKOS_FUNCTION static int place_of(int thread, int p, int i) {
    return (part_of(thread, p) * each + i) * L::width + L::lane(thread);
  }

  /// Words that are not there are the greatest.
  KOKKOS_FUNCTION static void sort(const Team& team, int size, int, Scratch& scratch,
                                   Registers& registers) {
    const int thread = team.team_rank();
    const auto each_part = [&](const auto& act) {
      KRADIX_UNROLL
      for (int p = 0; p < parts; ++p) {
        const int begin = part_of(thread, p) * part;
        if (begin < size) act(begin, registers.words[p]);
      }
    };
    each_part([&](int begin, Word* words) { sort_part(thread, begin, scratch, words); });
    KRADIX_ROLLED
    for (int run = part; run < size; run *= 2) {
      team.team_barrier();
      each_part(
          [&](int begin, Word* words) { take_part(thread, begin, run, size, scratch, words); });
      team.team_barrier();
      each_part([&](int begin, Word* words) { merge(thread, begin, scratch, words); });
    }
    L::barrier();
    each_part([&](int begin, Word* words) {
      KRADIX_UNROLL
      for (int i = 0; i < each; ++i) words[i] = scratch.words[across(thread, begin, i)];
    });
  }

 private:
  KOKKOS_FUNCTION static int part_of(int thread, int p) {
    return p * (Shape.threads / L::width) + thread / L::width;
  }

  // Where a lane's words of a part lie: side by side, or one in each row across the lanes.
  KOKKOS_FUNCTION static int along(int thread, int begin, int i) {
    return spread(begin + L::lane(thread) * each + i);
  }
  KOKKOS_FUNCTION static int across(int thread, int begin, int i) {
    return spread(begin + i * L::width + L::lane(thread));
  }
  /// Lanes that write `each` words side by side would all meet in a few banks.
  KOKKOS_FUNCTION static int spread(int place) {
    constexpr int shift = sizeof(Word) == 4 ? 5 : 4;
    return place ^ (place >> shift & (each - 1));
  }

  /// The words of a part, in any order, come to lie in scratch in theirs.
  KOKKOS_FUNCTION static void sort_part(int thread, int begin, Scratch& scratch, Word* words) {
    sort_own(words);
    KRADIX_UNROLL
    for (int lanes = 2; lanes < L::width; lanes *= 2) {
      Word other[each];
      KRADIX_UNROLL
      for (int i = 0; i < each; ++i) other[i] = L::from_across(words[each - 1 - i], lanes - 1);
      const bool is_upper = (L::lane(thread) & (lanes / 2)) != 0;
      KRADIX_UNROLL
      for (int i = 0; i < each; ++i) {
        words[i] = (other[i] < words[i]) != is_upper ? other[i] : words[i];
      }
      merge_lanes(thread, lanes / 4, words);
      merge_own(words);
    }
    store(thread, begin, words, scratch);
    if constexpr (L::width > 1) {  // two halves
      L::barrier();
      take(thread, begin, part / 2, begin + part, scratch, words);
      L::barrier();
      merge(thread, begin, scratch, words);
    }
  }

  KOKKOS_FUNCTION static void store(int thread, int begin, const Word* words, Scratch& scratch) {
    KRADIX_UNROLL
    for (int i = 0; i < each; ++i) scratch.words[along(thread, begin, i)] = words[i];
  }

  /// Batcher's odd-even merges.
  KOKKOS_FUNCTION static void sort_own(Word* words) {
    KRADIX_UNROLL
    for (int run = 1; run < each; run *= 2) {
      KRADIX_UNROLL
      for (int step = run; step > 0; step /= 2) {
        KRADIX_UNROLL
        for (int i = 0; i < each; ++i) {
          const int other = i + step;
          const bool pairs = i >= step % run && (i - step % run) / step % 2 == 0 && other < each &&
                             i / (2 * run) == other / (2 * run);
          if (pairs) put_in_order(words[i], words[other]);
        }
      }
    }
  }

  /// Of a sequence that rises and falls in a thread's words.
  KOKKOS_FUNCTION static void merge_own(Word* words) {
    KRADIX_UNROLL
    for (int step = each / 2; step > 0; step /= 2) {
      KRADIX_UNROLL
      for (int i = 0; i < each; ++i) {
        if ((i & step) == 0) put_in_order(words[i], words[i + step]);
      }
    }
  }

  /// Of sequences that rise and fall over the lanes, from lanes so far apart on.
  KOKKOS_FUNCTION static void merge_lanes(int thread, int from, Word* words) {
    KRADIX_UNROLL
    for (int step = from; step > 0; step /= 2) {
      const bool is_upper = (L::lane(thread) & step) != 0;
      KRADIX_UNROLL
      for (int i = 0; i < each; ++i) {
        const Word other = L::from_across(words[i], step);
        words[i] = (other < words[i]) != is_upper ? other : words[i];
      }
    }
  }

  /// A part of what runs make, across the lanes: it rises and falls. (Runs end at whole parts.)
  KOKKOS_FUNCTION static void take_part(int thread, int begin, int run, int size,
                                        const Scratch& scratch, Word* words) {
    const int end = (size + part - 1) / part * part;
    const int first = begin / (2 * run) * (2 * run);
    const int middle = first + run < end ? first + run : end;
    const int behind = first + 2 * run < end ? first + 2 * run : end;
    const int before = begin - first;
    const Runs runs{first, middle, middle - first, behind - middle};
    const int from = split(thread, runs, before, scratch);
    const int to = split(thread, runs, before + part, scratch);
    take(thread, first + from, to - from, middle + before + part - to, scratch, words);
  }
  /// `rising` words of one run and what comes before `falling` of the other.
  KOKKOS_FUNCTION static void take(int thread, int from, int rising, int falling,
                                   const Scratch& scratch, Word* words) {
    KRADIX_UNROLL
    for (int i = 0; i < each; ++i) {
      const int place = i * L::width + L::lane(thread);
      words[i] =
          scratch.words[spread(place < rising ? from + place : falling - 1 - (place - rising))];
    }
  }
  /// What was taken, in order, to its part.
  KOKKOS_FUNCTION static void merge(int thread, int begin, Scratch& scratch, Word* words) {
    merge_own(words);
    if constexpr (L::width > 1) {
      KRADIX_UNROLL
      for (int i = 0; i < each; ++i) scratch.words[across(thread, begin, i)] = words[i];
      L::barrier();
      KRADIX_UNROLL
      for (int i = 0; i < each; ++i) words[i] = scratch.words[along(thread, begin, i)];
      merge_lanes(thread, L::width / 2 / each, words);
      merge_own(words);
    }
    store(thread, begin, words, scratch);
  }

  struct Runs {
    int first, second, first_size, second_size;
  };
  /// How many of the first `before` words of the result come from the first run. The lanes look at as many places at once; an odd
  /// number of words apart, for those lie in different banks.
  KOKKOS_FUNCTION static int split(int thread, const Runs& runs, int before,
                                   const Scratch& scratch) {
    int low = before > runs.second_size ? before - runs.second_size : 0;
    int high = before < runs.first_size ? before : runs.first_size;
    while (low < high) {
      const int odd = ((high - low) / (L::width + 1) + 1) | 1;
      const int step = odd < high - low ? odd : high - low;
      const int seen = low + (L::lane(thread) + 1) * step - 1;
      bool comes_before = false;
      if (seen < high) {
        const Word in_first = scratch.words[spread(runs.first + seen)];
        const Word in_second = scratch.words[spread(runs.second + before - 1 - seen)];
        comes_before = !(in_second < in_first);
      }
      const int more = L::size_of(L::where(comes_before)) * step;
      high = low + more + step - 1 < high ? low + more + step - 1 : high;
      low += more;
    }
    return low;
  }
};

}  // namespace kradix::impl
