// Which bits differ between keys, and so which passes a sort makes: decided without asking the host.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "kradix/impl/device/digit.hpp"
#include "kradix/impl/device/team.hpp"

namespace kradix::impl {

/// Each team gathers the bits in which its share of the keys differs from the first key.
template <class ExecutionSpace, class Codec, int Threads>
struct SurveyKeys {
  using Key = typename Codec::key_type;
  using Bits = typename Codec::bits_type;
  using Word = std::uint64_t;
  static constexpr int words = words_in<Bits>;

  const Key* keys;
  std::size_t count;
  std::size_t share;
  Codec codec;
  Bits* varying;  ///< one per team

  static std::size_t scratch_bytes() { return words * sizeof(Word); }

  KOKKOS_FUNCTION void operator()(const TeamMember<ExecutionSpace>& team) const {
    Word* const all = take_scratch<Word>(team, words);
    if (team.team_rank() == 0) {
      for (int w = 0; w < words; ++w) all[w] = 0;
    }
    team.team_barrier();
    const Share mine = share_of(count, share, static_cast<std::size_t>(team.league_rank()));
    const Bits first = codec.encode(keys[0]);
    Bits seen = 0;
    for (std::size_t i = mine.begin + team.team_rank(); i < mine.end; i += Threads) {
      seen |= codec.encode(keys[i]) ^ first;
    }
    for (int w = 0; w < words; ++w) Kokkos::atomic_or(&all[w], word_of(seen, w));
    team.team_barrier();
    if (team.team_rank() == 0) varying[team.league_rank()] = joined<Bits>(all);
  }
};

/// One thread joins what the teams saw, within the caller's bits, into the list of passes.
template <class ExecutionSpace, class Bits>
struct ListPasses {
  const Bits* varying;
  std::size_t teams;
  Bits wanted;
  PassTable* passes;

  KOKKOS_FUNCTION void operator()(const TeamMember<ExecutionSpace>& team) const {
    if (team.team_rank() != 0) return;
    Bits all = 0;
    for (std::size_t t = 0; t < teams; ++t) all |= varying[t];
    *passes = cover<Bits>(all & wanted);
  }
};

}  // namespace kradix::impl
