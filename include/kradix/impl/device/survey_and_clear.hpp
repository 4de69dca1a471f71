// Which bits of the keys vary: all are looked at, nothing is guessed.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "kradix/impl/backend/lanes.hpp"
#include "kradix/impl/device/bins.hpp"
#include "kradix/impl/device/team.hpp"

namespace kradix::impl {

/// How teams walk over the keys, several loads of each thread under way at once.
template <class Key, int Threads>
struct KeyWalk {
  static constexpr int batch = 8;
  const Key* keys;
  std::size_t count;

  template <class Team, class Visit>
  KOKKOS_FUNCTION void visit(const Team& team, const Visit& each) const {
    constexpr std::size_t step = std::size_t{batch} * Threads;
    const std::size_t stride = step * static_cast<std::size_t>(team.league_size());
    std::size_t at = step * static_cast<std::size_t>(team.league_rank());
    for (; at + step <= count; at += stride) {
      Key key[batch];
      KRADIX_UNROLL
      for (int b = 0; b < batch; ++b) key[b] = keys[at + b * Threads + team.team_rank()];
      KRADIX_UNROLL
      for (int b = 0; b < batch; ++b) each(key[b]);
    }
    for (std::size_t i = at + team.team_rank(); i < count && i < at + step; i += Threads) {
      each(keys[i]);
    }
  }
};

/// What all of them saw is quickly read by each team of the next kernel.
inline constexpr std::size_t most_survey_teams = 256;

/// Each team gathers the bits in which its keys differ from the first, and zeroes its share of what the
/// kernels to come want zero.
template <class ExecutionSpace, class Codec, int Threads>
struct SurveyAndClear {
  using Bits = typename Codec::bits_type;
  using Combined = CombinedBits<ExecutionSpace, Threads, Bits>;

  KeyWalk<typename Codec::key_type, Threads> walk;
  Codec codec;
  std::uint64_t* zeros;
  std::size_t zero_count;
  std::uint64_t* seen;  ///< [word][team]

  static std::size_t scratch_bytes() { return Combined::words * sizeof(std::uint64_t); }

  KOKKOS_FUNCTION void operator()(const TeamMember<ExecutionSpace>& team) const {
    const auto index = static_cast<std::size_t>(team.league_rank());
    const auto teams = static_cast<std::size_t>(team.league_size());
    for (std::size_t i = index * Threads + team.team_rank(); i < zero_count; i += teams * Threads) {
      zeros[i] = 0;
    }
    const Codec codec = this->codec;
    const Bits first = codec.encode(walk.keys[0]);
    Bits differ = 0;
    walk.visit(team, [&](const auto& key) { differ |= codec.encode(key) ^ first; });
    differ = Combined::over(team, differ, take_scratch<std::uint64_t>(team, Combined::words));
    if (team.team_rank() != 0) return;
    for (int w = 0; w < words_in<Bits>; ++w) seen[w * teams + index] = word_of(differ, w);
  }
};

}  // namespace kradix::impl
