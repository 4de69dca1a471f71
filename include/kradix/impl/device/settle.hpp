// The end of a sort: results that the passes left elsewhere go where the caller wants them.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <type_traits>

#include "kradix/impl/device/pass.hpp"

namespace kradix::impl {

/// A team's share of that. Nothing is left to do unless an odd number of passes in place, or none at
/// all, asks for one copy.
template <class Key, class Value, int Threads>
struct SettleShare {
  static constexpr bool with_values = !std::is_same_v<Value, NoValue>;

  const SortBuffers<Key, Value>& buffers;
  const PassTable& passes;

  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& team, const Share& share) const {
    if (passes.finishes) return;
    if (!buffers.leaves_keys) settle(team, share, buffers.keys);
    if constexpr (with_values) {
      if (!buffers.makes_indices) {
        settle(team, share, buffers.values);
      } else if (passes.count == 0) {
        make_indices(team, share);
      }
    }
  }

 private:
  template <class Team, class T>
  KOKKOS_FUNCTION void settle(const Team& team, const Share& share,
                              const PassBuffers<T>& array) const {
    if (array.ends_in_other(passes.count)) copy(team, share, array.other, array.result);
    if (passes.count == 0 && !array.in_place()) copy(team, share, array.in, array.result);
  }

  template <class Team, class T>
  KOKKOS_FUNCTION static void copy(const Team& team, const Share& share, const T* from, T* to) {
    std::size_t i = share.begin + team.team_rank();
    // Several loads under way at once; on hosts the compiler sees a plain copy.
    constexpr std::size_t batch = 8;
    for (; i + (batch - 1) * Threads < share.end; i += batch * Threads) {
      T moving[batch];
      KRADIX_UNROLL
      for (std::size_t b = 0; b < batch; ++b) moving[b] = from[i + b * Threads];
      KRADIX_UNROLL
      for (std::size_t b = 0; b < batch; ++b) to[i + b * Threads] = moving[b];
    }
    for (; i < share.end; i += Threads) to[i] = from[i];
  }

  template <class Team>
  KOKKOS_FUNCTION void make_indices(const Team& team, const Share& share) const {
    if constexpr (std::is_integral_v<Value>) {
      for (std::size_t i = share.begin + team.team_rank(); i < share.end; i += Threads) {
        buffers.values.result[i] = static_cast<Value>(i);
      }
    }
  }
};

template <class ExecutionSpace, class Key, class Value, int Threads>
struct Settle {
  SortBuffers<Key, Value> buffers;
  const PassTable* passes;
  std::size_t count, share;  ///< all elements; those of a team

  KOKKOS_FUNCTION void operator()(const TeamMember<ExecutionSpace>& team) const {
    SettleShare<Key, Value, Threads>{buffers, *passes}(
        team, share_of(count, share, static_cast<std::size_t>(team.league_rank())));
  }
};

}  // namespace kradix::impl
