// A team sorts words in its registers digit by digit, by way of its scratch.
//
// A pass ranks words among those of their group of lanes that have their digit,
// counts them on the way, and adds counters up by digits and, of each, by
// groups: that is where a group's words of a digit begin.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>

#include "kradix/impl/backend/lanes.hpp"
#include "kradix/impl/device/bins.hpp"
#include "kradix/impl/device/digit.hpp"
#include "kradix/impl/device/team.hpp"

namespace kradix::impl {

/// `CodeBits` lie above those in whose order words are. Where that is no more than two digits nobody looks which bits vary. Words of 2
/// bytes are that in scratch alone.
template <class ExecutionSpace, class Word, TeamShape Shape, int CodeBits>
struct DigitWords {
  using Team = TeamMember<ExecutionSpace>;
  using L = Lanes<ExecutionSpace>;
  using word_type = Word;
  using Combined = CombinedBits<ExecutionSpace, Shape.threads, Word>;
  static constexpr int threads = Shape.threads, most = Shape.round(), each = Shape.items, parts = 1;
  static constexpr int groups = threads / L::width;
  static_assert(most <= 0xffff && each % 2 == 0);
  static constexpr bool looks = CodeBits > 2 * digit_bits;

  /// Short words whose digits cycle would meet in one bank, did not every 32nd place stay empty.
  static constexpr bool pads = L::width > 1 && sizeof(Word) < 8;
  static constexpr int places = pads ? most + most / 32 : most;
  KOKKOS_FUNCTION static std::uint32_t padded(std::uint32_t place) {
    return pads ? place + place / 32 : place;
  }

  /// Digits of one group lie in different banks.
  static constexpr int row = groups + 2;
  union Shared {
    Word words[places];
    std::uint16_t counters[bin_count * row];
    KOKKOS_FUNCTION Shared() {}
  };
  struct Own {
    Word words[places];
    std::uint16_t counters[bin_count * row];
    KOKKOS_FUNCTION Own() {}
  };
  /// Counters have places of their own as long as Kokkos' 48 KB, of which it takes 8 bytes a thread, are enough.
  static constexpr bool shares = sizeof(Own) + 8 * threads > (47 << 10);
  struct Scratch {
    std::conditional_t<shares, Shared, Own> of;
    std::uint32_t sums[groups];
    std::uint64_t seen[Combined::words];
    KOKKOS_FUNCTION Scratch() {}
  };
  using Held = std::conditional_t<sizeof(Word) < sizeof(std::uint32_t), std::uint32_t, Word>;
  struct Registers {
    Held words[each];

    KOKKOS_FUNCTION Held& word(int, int i) { return words[i]; }
    KOKKOS_FUNCTION Held word(int, int i) const { return words[i]; }
  };

  /// Where a thread's word lies, before a pass and after it.
  KOKKOS_FUNCTION static int place_of(int thread, int, int i) {
    return (thread / L::width * each + i) * L::width + L::lane(thread);
  }

  /// Words that are not there are the greatest. All are in the order of their
  /// lowest `ordered` bits.
  KOKKOS_FUNCTION static void sort(const Team& team, int size, int ordered, Scratch& scratch,
                                   Registers& registers) {
    int begin = ordered, end = ordered + CodeBits;
    if constexpr (looks) {
      Held* const words = registers.words;
      if (team.team_rank() == 0) scratch.of.words[0] = words[0];
      team.team_barrier();
      const Word first = scratch.of.words[0];
      Word varying = 0;
      KRADIX_UNROLL
      for (int i = 0; i < each; ++i) {
        varying |= place_of(team.team_rank(), 0, i) < size ? words[i] ^ first : Word{0};
      }
      varying =
          static_cast<Word>(Combined::over(team, varying, scratch.seen) >> ordered << ordered);
      if (varying == 0) return;
      end = bit_width_of(varying);
      begin = bit_width_of(static_cast<Word>(varying & (Word{0} - varying))) - 1;
    }
    KRADIX_ROLLED
    for (int shift = begin; shift < end; shift += digit_bits) {
      if constexpr (shares) team.team_barrier();
      sort_by_digit(team, size, shift, scratch, registers);
    }
  }

 private:
  /// A stable pass.
  KOKKOS_FUNCTION static void sort_by_digit(const Team& team, int size, int shift, Scratch& scratch,
                                            Registers& registers) {
    const int thread = team.team_rank();
    const bool has_any = place_of(thread / L::width * L::width, 0, 0) < size;
    std::uint32_t ranks[each / 2];
    auto* const clear = reinterpret_cast<std::uint32_t*>(scratch.of.counters);
    for (int i = thread; i < bin_count * row / 2; i += threads) clear[i] = 0;
    team.team_barrier();
    if (has_any) rank(thread, shift, scratch, registers.words, ranks);
    team.team_barrier();
    add_up(team, scratch);
    team.team_barrier();
    if (has_any) {
      KRADIX_UNROLL
      for (int i = 0; i < each; ++i) {
        const std::uint32_t first = counter(thread, shift, scratch, registers.words[i]);
        ranks[i / 2] += first << (16 * (i % 2));
      }
    }
    if constexpr (shares) team.team_barrier();
    if (has_any) {
      KRADIX_UNROLL
      for (int i = 0; i < each; ++i) {
        const std::uint32_t place = ranks[i / 2] >> (16 * (i % 2)) & 0xffffu;
        scratch.of.words[padded(place)] = static_cast<Word>(registers.words[i]);
      }
    }
    team.team_barrier();
    if (has_any) {
      KRADIX_UNROLL
      for (int i = 0; i < each; ++i) {
        const auto place = static_cast<std::uint32_t>(place_of(thread, 0, i));
        registers.words[i] = scratch.of.words[padded(place)];
      }
    }
  }

  KOKKOS_FUNCTION static std::uint32_t digit_of(Held word, int shift) {
    return static_cast<std::uint32_t>(word >> shift) & (bin_count - 1);
  }
  KOKKOS_FUNCTION static volatile std::uint16_t& counter(int thread, int shift, Scratch& scratch,
                                                         Held word) {
    return scratch.of.counters[digit_of(word, shift) * row + thread / L::width];
  }

  KOKKOS_FUNCTION static void rank(int thread, int shift, Scratch& scratch, Held* words,
                                   std::uint32_t* ranks) {
    KRADIX_UNROLL
    for (int i = 0; i < each; ++i) {
      L::settle(words[i]);
      const auto same = L::template match<digit_bits>(digit_of(words[i], shift));
      const int below = L::rank_in(same, L::lane(thread));
      volatile std::uint16_t& counted = counter(thread, shift, scratch, words[i]);
      const std::uint32_t before = counted;
      L::barrier();
      if (below == 0) counted = static_cast<std::uint16_t>(before + L::size_of(same));
      L::barrier();
      const std::uint32_t rank = before + below;
      ranks[i / 2] = i % 2 == 0 ? rank : ranks[i / 2] | rank << 16;
    }
  }

  /// Of each counter those before it, by digits and groups.
  KOKKOS_FUNCTION static void add_up(const Team& team, Scratch& scratch) {
    constexpr int mine = bin_count * groups / threads;
    static_assert(mine * threads == bin_count * groups);
    const int thread = team.team_rank(), lane = L::lane(thread), group = thread / L::width;
    std::uint32_t counted[mine], sum = 0;
    KRADIX_UNROLL
    for (int i = 0; i < mine; ++i) {
      counted[i] = scratch.of.counters[at(thread * mine + i)];
      sum += counted[i];
    }
    std::uint32_t before = L::scan(sum, lane);
    if (lane == L::width - 1) scratch.sums[group] = before + sum;
    team.team_barrier();
    before += L::sum(lane < group ? scratch.sums[lane] : 0);
    KRADIX_UNROLL
    for (int i = 0; i < mine; ++i) {
      scratch.of.counters[at(thread * mine + i)] = static_cast<std::uint16_t>(before);
      before += counted[i];
    }
  }
  KOKKOS_FUNCTION static int at(int counter) { return counter / groups * row + counter % groups; }
};

}  // namespace kradix::impl
