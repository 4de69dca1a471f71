// The end of a sort: results that the passes left elsewhere go where the caller wants them.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <type_traits>

#include "kradix/impl/device/pass.hpp"

namespace kradix::impl {

/// Does nothing unless an odd number of passes in place, or none at all, asks for one copy.
template <class ExecutionSpace, class Codec, class Value, int Threads>
struct Settle : ElementPass<ExecutionSpace, Codec, Value> {
  using Team = TeamMember<ExecutionSpace>;

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    if (this->passes->finishes) return;
    if (!this->leaves_keys) settle(team, this->keys);
    if constexpr (Settle::with_values) {
      if (!this->makes_indices) {
        settle(team, this->values);
      } else if (this->passes->count == 0) {
        make_indices(team);
      }
    }
  }

  template <class T>
  KOKKOS_FUNCTION void settle(const Team& team, const PassBuffers<T>& array) const {
    const int passes = this->passes->count;
    if (array.ends_in_other(passes)) copy(team, array.other, array.result);
    if (passes == 0 && !array.in_place()) copy(team, array.in, array.result);
  }

  template <class T>
  KOKKOS_FUNCTION void copy(const Team& team, const T* from, T* to) const {
    const Share tile = this->tile_of(team);
    std::size_t i = tile.begin + team.team_rank();
    // Several loads under way at once; on hosts the compiler sees a plain copy.
    constexpr std::size_t batch = 8;
    for (; i + (batch - 1) * Threads < tile.end; i += batch * Threads) {
      T moving[batch];
      KRADIX_UNROLL
      for (std::size_t b = 0; b < batch; ++b) moving[b] = from[i + b * Threads];
      KRADIX_UNROLL
      for (std::size_t b = 0; b < batch; ++b) to[i + b * Threads] = moving[b];
    }
    for (; i < tile.end; i += Threads) to[i] = from[i];
  }

  KOKKOS_FUNCTION void make_indices(const Team& team) const {
    if constexpr (std::is_integral_v<Value>) {
      const Share tile = this->tile_of(team);
      for (std::size_t i = tile.begin + team.team_rank(); i < tile.end; i += Threads) {
        this->values.result[i] = static_cast<Value>(i);
      }
    }
  }
};

}  // namespace kradix::impl
