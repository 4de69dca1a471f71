// A team sorts codes in its scratch by stable merges, whatever they are, and takes their places with them: for codes that find no
// room in a word beside their place.
//
// A thread's codes are put in order by transpositions of neighbours. Then two runs side by side become one, and again: a thread
// searches for where its part of the result begins in both, and merges from there. (Odeh, Green, Mwassi, Shmueli and
// Birk, "Merge path", 2012.)
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "kradix/impl/backend/lanes.hpp"
#include "kradix/impl/device/team.hpp"

namespace kradix::impl {

template <class ExecutionSpace, class Bits, int Threads, int Most>
struct MergeCodes {
  using Team = TeamMember<ExecutionSpace>;
  using L = Lanes<ExecutionSpace>;
  static constexpr int threads = Threads, most = Most;
  /// Codes of a thread in a part: threads that read an odd number side by side meet in few banks.
  static constexpr int each = threads == 1 ? 8 : (most + threads - 1) / threads | 1;
  /// Parts of a thread: hosts, whose teams are of one thread, merge one after the other.
  static constexpr int parts = (most + each * threads - 1) / (each * threads);
  static constexpr int room = (most + each - 1) / each * each;

  struct Scratch {
    Bits codes[room];
    std::uint16_t places[room];
    KOKKOS_FUNCTION Scratch() {}
  };
  struct Registers {
    Bits code[parts][each];
    std::uint16_t place[parts][each];
  };

  /// Where a thread's code lies, when all are in order and before.
  KOKKOS_FUNCTION static int place_of(int thread, int p, int i) {
    return (p * each + i) * threads + thread;
  }

  /// Codes that are not there are the greatest.
  KOKKOS_FUNCTION static void sort(const Team& team, int size, int, Scratch& scratch,
                                   Registers& registers) {
    const int thread = team.team_rank(), end = (size + each - 1) / each * each;
    KRADIX_UNROLL
    for (int p = 0; p < parts; ++p) {
      KRADIX_UNROLL
      for (int i = 0; i < each; ++i) {
        const int place = place_of(thread, p, i);
        if (place >= end) continue;
        scratch.codes[place] = registers.code[p][i];
        scratch.places[place] = static_cast<std::uint16_t>(place);
      }
    }
    team.team_barrier();
    const auto each_part = [&](const auto& act) {
      KRADIX_UNROLL
      for (int p = 0; p < parts; ++p) {
        const int begin = (p * threads + thread) * each;
        if (begin < end) act(begin, registers.code[p], registers.place[p]);
      }
    };
    each_part([&](int begin, Bits* codes, std::uint16_t* places) {
      KRADIX_UNROLL
      for (int i = 0; i < each; ++i) {
        codes[i] = scratch.codes[begin + i];
        places[i] = static_cast<std::uint16_t>(begin + i);
      }
      sort_own(codes, places);
    });
    KRADIX_ROLLED
    for (int run = each; run < end; run *= 2) {
      const bool is_of_lanes = 2 * run <= each * L::width;
      wait(team, is_of_lanes);
      each_part([&](int begin, Bits* codes, std::uint16_t* places) {
        store(begin, codes, places, scratch);
      });
      wait(team, is_of_lanes);
      each_part([&](int begin, Bits* codes, std::uint16_t* places) {
        merge(begin, run, end, scratch, codes, places);
      });
    }
    team.team_barrier();
    each_part([&](int begin, Bits* codes, std::uint16_t* places) {
      store(begin, codes, places, scratch);
    });
    team.team_barrier();
    KRADIX_UNROLL
    for (int p = 0; p < parts; ++p) {
      KRADIX_UNROLL
      for (int i = 0; i < each; ++i) {
        const int place = place_of(thread, p, i);
        if (place >= size) continue;
        registers.code[p][i] = scratch.codes[place];
        registers.place[p][i] = scratch.places[place];
      }
    }
  }

 private:
  KOKKOS_FUNCTION static void wait(const Team& team, bool is_of_lanes) {
    if (is_of_lanes) {
      L::barrier();
    } else {
      team.team_barrier();
    }
  }

  KOKKOS_FUNCTION static void store(int begin, const Bits* codes, const std::uint16_t* places,
                                    Scratch& scratch) {
    KRADIX_UNROLL
    for (int i = 0; i < each; ++i) {
      scratch.codes[begin + i] = codes[i];
      scratch.places[begin + i] = places[i];
    }
  }

  /// Neighbours change places only if they must, so that those that are equal stay as they were.
  KOKKOS_FUNCTION static void sort_own(Bits* codes, std::uint16_t* places) {
    KRADIX_UNROLL
    for (int round = 0; round < each; ++round) {
      KRADIX_UNROLL
      for (int i = round % 2; i + 1 < each; i += 2) {
        const bool swaps = codes[i + 1] < codes[i];
        const Bits code = swaps ? codes[i + 1] : codes[i];
        const std::uint16_t place = swaps ? places[i + 1] : places[i];
        codes[i + 1] = swaps ? codes[i] : codes[i + 1];
        places[i + 1] = swaps ? places[i] : places[i + 1];
        codes[i] = code;
        places[i] = place;
      }
    }
  }

  /// What two runs make, from `begin` on.
  KOKKOS_FUNCTION static void merge(int begin, int run, int end, const Scratch& scratch,
                                    Bits* codes, std::uint16_t* places) {
    const int first = begin / each / (2 * run / each) * (2 * run);
    const int middle = first + run < end ? first + run : end;
    const int behind = first + 2 * run < end ? first + 2 * run : end;
    const int before = begin - first;
    int low = before > behind - middle ? before - (behind - middle) : 0;
    int high = before < middle - first ? before : middle - first;
    while (low < high) {
      const int half = (low + high) / 2;
      const bool comes_before =
          !(scratch.codes[middle + before - 1 - half] < scratch.codes[first + half]);
      low = comes_before ? half + 1 : low;
      high = comes_before ? high : half;
    }
    int a = first + low, b = middle + before - low;
    Bits of_a = scratch.codes[a], of_b = scratch.codes[b < behind ? b : a];
    int from[each];
    KRADIX_UNROLL
    for (int i = 0; i < each; ++i) {
      const bool takes_b = a >= middle || (b < behind && of_b < of_a);
      codes[i] = takes_b ? of_b : of_a;
      from[i] = takes_b ? b : a;
      if (i + 1 == each) break;
      const int next = from[i] + 1;
      const Bits of_next = scratch.codes[next < behind ? next : first];
      a = takes_b ? a : next;
      b = takes_b ? next : b;
      of_a = takes_b ? of_a : of_next;
      of_b = takes_b ? of_next : of_b;
    }
    KRADIX_UNROLL
    for (int i = 0; i < each; ++i) places[i] = scratch.places[from[i]];
  }
};

}  // namespace kradix::impl
