// One read of a rank's keys: bits set in all and in some, whether they are in order, first digits.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "kradix/impl/device/digit.hpp"
#include "kradix/impl/device/team.hpp"
#include "kradix/impl/mpi/splitters.hpp"

namespace kradix::impl::mpi {

/// What a rank saw of its keys. Wide keys take two words, the low one first.
struct Seen {
  std::uint64_t all_set[2];   ///< starts as all ones
  std::uint64_t some_set[2];  ///< starts as zero
  std::uint64_t descents;     ///< keys that belong before their left neighbour
};

template <class ExecutionSpace, class Codec, TeamShape Shape>
struct SurveyPart {
  using Key = typename Codec::key_type;
  using Bits = typename Codec::bits_type;
  using Team = TeamMember<ExecutionSpace>;
  static constexpr int words = words_in<Bits>;
  static constexpr int batch = 8;

  const Key* keys;
  Codec codec;
  std::size_t count, share;
  Window window;
  Seen* seen;
  std::uint64_t* counts;  ///< of the window's bins, zero

  static std::size_t scratch_bytes() {
    return bin_count * sizeof(std::uint32_t) + sizeof(Seen) + 2 * alignof(std::max_align_t);
  }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    auto* const bins = take_scratch<std::uint32_t>(team, bin_count);
    auto* const ours = take_scratch<Seen>(team, 1);
    for (int bin = team.team_rank(); bin < bin_count; bin += Shape.threads) bins[bin] = 0;
    if (team.team_rank() == 0) {
      for (int w = 0; w < 2; ++w) {
        ours->all_set[w] = ~std::uint64_t{0};
        ours->some_set[w] = 0;
      }
      ours->descents = 0;
    }
    team.team_barrier();
    look_at_keys(team, bins, ours);
    team.team_barrier();
    for (int bin = team.team_rank(); bin < bin_count; bin += Shape.threads) {
      if (bins[bin] > 0) Kokkos::atomic_add(&counts[bin], std::uint64_t{bins[bin]});
    }
    if (team.team_rank() == 0) {
      for (int w = 0; w < words; ++w) {
        Kokkos::atomic_and(&seen->all_set[w], ours->all_set[w]);
        Kokkos::atomic_or(&seen->some_set[w], ours->some_set[w]);
      }
      if (ours->descents > 0) Kokkos::atomic_add(&seen->descents, ours->descents);
    }
  }

  KOKKOS_FUNCTION void look_at_keys(const Team& team, std::uint32_t* bins, Seen* ours) const {
    const RangeOfTeam range(team, count, share);
    const Digit digit{window.shift, (1u << window.width) - 1};
    Bits all_set = static_cast<Bits>(~Bits{0});
    Bits some_set = 0;
    std::uint64_t descents = 0;
    std::size_t i = range.begin;
    for (; i + (batch - 1) * Shape.threads < range.end; i += batch * Shape.threads) {
      Key key[batch];
      Key left[batch];
      KRADIX_UNROLL
      for (int b = 0; b < batch; ++b) {
        const std::size_t at = i + b * Shape.threads;
        key[b] = keys[at];
        left[b] = keys[at > 0 ? at - 1 : 0];  // in cache: the neighbour thread loads it
      }
      KRADIX_UNROLL
      for (int b = 0; b < batch; ++b) {
        look(codec.encode(key[b]), codec.encode(left[b]), digit, bins, all_set, some_set, descents);
      }
    }
    for (; i < range.end; i += Shape.threads) {
      look(codec.encode(keys[i]), codec.encode(keys[i > 0 ? i - 1 : 0]), digit, bins, all_set,
           some_set, descents);
    }
    for (int w = 0; w < words; ++w) {
      Kokkos::atomic_and(&ours->all_set[w], word_of(all_set, w));
      Kokkos::atomic_or(&ours->some_set[w], word_of(some_set, w));
    }
    if (descents > 0) Kokkos::atomic_add(&ours->descents, descents);
  }

 private:
  struct RangeOfTeam {
    std::size_t begin, end;
    KOKKOS_FUNCTION RangeOfTeam(const Team& team, std::size_t count, std::size_t share) {
      const Share mine = share_of(count, share, static_cast<std::size_t>(team.league_rank()));
      begin = mine.begin + team.team_rank();
      end = mine.end;
    }
  };

  KOKKOS_FUNCTION static void look(Bits own, Bits left, Digit digit, std::uint32_t* bins,
                                   Bits& all_set, Bits& some_set, std::uint64_t& descents) {
    all_set &= own;
    some_set |= own;
    descents += own < left ? 1 : 0;
    if constexpr (Shape.threads == 1) {
      ++bins[digit.of(own)];
    } else {
      Kokkos::atomic_inc(&bins[digit.of(own)]);
    }
  }
};

}  // namespace kradix::impl::mpi
