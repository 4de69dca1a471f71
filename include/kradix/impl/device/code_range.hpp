// The range of the codes present, and so how many passes a sort makes: decided without asking the host.
#pragma once

#include <Kokkos_Core.hpp>

#include "kradix/impl/device/code.hpp"
#include "kradix/impl/device/digit.hpp"
#include "kradix/impl/device/team.hpp"

namespace kradix::impl {

/// The least and greatest of what one thread saw; none yet when least > greatest.
template <class Bits>
struct Extremes {
  Bits least, greatest;

  KOKKOS_FUNCTION static Extremes none() { return {static_cast<Bits>(~Bits{0}), Bits{0}}; }
  KOKKOS_FUNCTION void join(const Extremes& other) {
    if (other.least < least) least = other.least;
    if (other.greatest > greatest) greatest = other.greatest;
  }
};

/// Each thread looks through its share; it stores what it saw, so that nothing is combined atomically.
template <class ExecutionSpace, class Word, int Threads>
struct MeasureRange {
  using Bits = typename StudyCodec<Word>::bits_type;

  const Word* keys;
  std::size_t count;
  CodeRule<Word> rule;
  Extremes<Bits>* seen;  ///< one per thread of the league

  KOKKOS_FUNCTION void operator()(const TeamMember<ExecutionSpace>& team) const {
    const std::size_t thread =
        static_cast<std::size_t>(team.league_rank()) * Threads + team.team_rank();
    const std::size_t stride = static_cast<std::size_t>(team.league_size()) * Threads;
    Extremes<Bits> mine = Extremes<Bits>::none();
    for (std::size_t i = thread; i < count; i += stride) add(mine, keys[i]);
    seen[thread] = mine;
  }

  KOKKOS_FUNCTION void add(Extremes<Bits>& mine, Word word) const {
    if constexpr (FloatMap<Word>::exists) {
      if (rule.map == RangeMap::approximate) {
        constexpr Word magnitude = static_cast<Word>(~Word{0}) >> 1;
        if ((word & magnitude) >= rule.codec.infinity) return;  // these keep places of their own
        const Bits ascending = WordCodec<Word, true>{0, rule.codec.infinity}.encode(word);
        mine.join({ascending, ascending});
        return;
      }
    }
    const Bits code = rule.plain(word);
    mine.join({code, code});
  }
};

/// One team joins what the threads saw into the range, and counts the passes.
template <class ExecutionSpace, class Word, int Threads>
struct SetRange {
  using Bits = typename StudyCodec<Word>::bits_type;

  const Extremes<Bits>* seen;
  std::size_t threads;  ///< that saw some; 0: nothing is mapped
  CodeRule<Word> rule;
  int code_bits;  ///< of codes as they are
  int width;
  bool two_steps;
  Bits low;  ///< of codes that are not mapped
  CodeRange<Word>* range;
  PassTable* passes;
  PassTable*
      settles;  ///< what the end of the sort is told: passes of two steps end where they should

  static std::size_t scratch_bytes() { return Threads * sizeof(Extremes<Bits>) + alignof(Bits); }

  KOKKOS_FUNCTION void operator()(const TeamMember<ExecutionSpace>& team) const {
    auto* const of_thread = take_scratch<Extremes<Bits>>(team, Threads);
    Extremes<Bits> mine = Extremes<Bits>::none();
    for (std::size_t t = team.team_rank(); t < threads; t += Threads) mine.join(seen[t]);
    of_thread[team.team_rank()] = mine;
    team.team_barrier();
    if (team.team_rank() != 0) return;
    for (int t = 1; t < Threads; ++t) mine.join(of_thread[t]);
    set(mine);
  }

  KOKKOS_FUNCTION void set(const Extremes<Bits>& all) const {
    CodeRange<Word> result{low, {}};
    int bits = code_bits;
    if (rule.map == RangeMap::exact) {
      result.low = all.least;
      bits = 0;
      for (Bits left = all.greatest - all.least; left != 0; left >>= 1) ++bits;
    } else if (rule.map == RangeMap::approximate) {
      bits = FloatMap<Word>::bits;
      if (all.least <= all.greatest) result.floats = {float_of(all.least), float_of(all.greatest)};
    }
    *range = result;
    PassTable table{};
    table.count = (bits + width - 1) / width;
    *passes = table;
    if (two_steps && table.count > 0) table.count = 2;
    *settles = table;
  }

  /// The float of an ascending encoding.
  KOKKOS_FUNCTION static Word float_of(Bits encoded) {
    constexpr Word sign = static_cast<Word>(Word{1} << (8 * sizeof(Word) - 1));
    const Word word = static_cast<Word>(encoded);
    return static_cast<Word>(word & sign ? word ^ sign : ~word);
  }
};

}  // namespace kradix::impl
