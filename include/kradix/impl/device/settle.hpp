// The end of a sort: results that the passes left elsewhere go where the caller wants them. Elements that
// needed no passes, being in reverse, are turned round.
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

  KOKKOS_FUNCTION bool idle() const {
    return passes.mirrors >= PassTable::turning_ties_back ||
           !(settles_keys() || settles_values() || makes_indices());
  }

  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& team, const Share& share) const {
    if (settles_keys()) copy(team, share, end_of(buffers.keys), buffers.keys.result);
    if constexpr (with_values) {
      if (settles_values()) copy(team, share, end_of(buffers.values), buffers.values.result);
      if (makes_indices()) make_indices(team, share);
    }
  }

 private:
  /// Where keys are expanded, values have moved by labels.
  KOKKOS_FUNCTION int moves() const { return passes.expands ? passes.expands : passes.count; }
  KOKKOS_FUNCTION bool settles_keys() const {
    return !passes.finishes && !passes.expands && !buffers.leaves_keys &&
           end_of(buffers.keys) != buffers.keys.result;
  }
  KOKKOS_FUNCTION bool settles_values() const {
    return with_values && !passes.finishes && !buffers.makes_indices &&
           end_of(buffers.values) != buffers.values.result;
  }
  KOKKOS_FUNCTION bool makes_indices() const {
    return with_values && buffers.makes_indices && !passes.finishes && moves() == 0;
  }
  template <class T>
  KOKKOS_FUNCTION const T* end_of(const PassBuffers<T>& array) const {
    return moves() == 0 ? array.in : array.end(moves());
  }

  template <class Team, class T>
  KOKKOS_FUNCTION static void copy(const Team& team, const Share& share, const T* from, T* to) {
    copy_elements<Threads>(team, share.end - share.begin, from + share.begin, to + share.begin);
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

/// A team's share of the pairs of elements that lie as far from the beginning as from the end: each goes
/// where the other was, in place or not.
template <class Key, class Value, int Threads>
struct MirrorShare {
  static constexpr bool with_values = !std::is_same_v<Value, NoValue>;

  const SortBuffers<Key, Value>& buffers;
  std::size_t count;

  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& team, const Share& pairs) const {
    if (!buffers.leaves_keys) mirror(team, pairs, buffers.keys);
    if constexpr (with_values) {
      if (!buffers.makes_indices) {
        mirror(team, pairs, buffers.values);
      } else {
        make_indices(team, pairs);
      }
    }
  }

 private:
  template <class Team, class T>
  KOKKOS_FUNCTION void mirror(const Team& team, const Share& pairs,
                              const PassBuffers<T>& array) const {
    const T* const from = array.in;
    T* const to = array.result;
    const std::size_t last = count - 1;
    std::size_t i = pairs.begin + team.team_rank();
    constexpr std::size_t batch = sizeof(T) <= 8 ? 4 : 2;  // loads under way at once, twice
    for (; i + (batch - 1) * Threads < pairs.end; i += batch * Threads) {
      T left[batch], right[batch];
      KRADIX_UNROLL
      for (std::size_t b = 0; b < batch; ++b) {
        left[b] = from[i + b * Threads];
        right[b] = from[last - i - b * Threads];
      }
      KRADIX_UNROLL
      for (std::size_t b = 0; b < batch; ++b) {
        to[i + b * Threads] = right[b];
        to[last - i - b * Threads] = left[b];
      }
    }
    for (; i < pairs.end; i += Threads) {
      const T left = from[i], right = from[last - i];
      to[i] = right;
      to[last - i] = left;
    }
  }

  template <class Team>
  KOKKOS_FUNCTION void make_indices(const Team& team, const Share& pairs) const {
    if constexpr (std::is_integral_v<Value>) {
      const std::size_t last = count - 1;
      for (std::size_t i = pairs.begin + team.team_rank(); i < pairs.end; i += Threads) {
        buffers.values.result[i] = static_cast<Value>(last - i);
        buffers.values.result[last - i] = static_cast<Value>(i);
      }
    }
  }
};

/// Teams take share after share, side by side: far apart, they would wait for the same banks of memory.
template <class Team, class Work>
KOKKOS_FUNCTION void for_each_share(const Team& team, std::size_t count, std::size_t share,
                                    const Work& work) {
  const auto teams = static_cast<std::size_t>(team.league_size());
  for (auto index = static_cast<std::size_t>(team.league_rank()); index * share < count;
       index += teams) {
    work(team, share_of(count, share, index));
  }
}

/// All those pairs.
template <class Key, class Value, int Threads>
struct Mirror {
  SortBuffers<Key, Value> buffers;
  std::size_t count, share;  ///< all elements; those that a team takes at once

  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& team) const {
    for_each_share(team, (count + 1) / 2, (share + 1) / 2,
                   MirrorShare<Key, Value, Threads>{buffers, count});
  }
};

/// What the passes, or none, have left to be copied or turned round.
template <class ExecutionSpace, class Key, class Value, int Threads>
struct Settle {
  SortBuffers<Key, Value> buffers;
  const PassTable* passes;
  std::size_t count, share;  ///< all elements; those that a team takes at once

  KOKKOS_FUNCTION void operator()(const TeamMember<ExecutionSpace>& team) const {
    if (passes->mirrors == PassTable::turning_ties_back) return;
    if (passes->mirrors == PassTable::turning_round) {
      Mirror<Key, Value, Threads>{buffers, count, share}(team);
    } else {
      const SettleShare<Key, Value, Threads> settle{buffers, *passes};
      if (!settle.idle()) for_each_share(team, count, share, settle);
    }
  }
};

/// Two kernels in one launch, of which hardly ever both have something to do.
template <class First, class Second>
struct Both {
  First first;
  Second second;

  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& team) const {
    first(team);
    second(team);
  }
};

/// Ties are turned back, or heavy keys merged where that is this launch's work.
template <class Turning, class Merging>
struct TurnOrMerge {
  Turning turning;
  Merging merging;
  bool merges;

  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& team) const {
    turning(team);
    if (merges) merging(team);
  }
};

/// Where no finish follows the passes, what they left elsewhere may be settled by the same launch.
template <class Finishing, class Settling>
struct FinishOrSettle {
  Finishing finishing;
  Settling settling;
  const PassTable* passes;
  bool settles;

  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team& team) const {
    if (passes->finishes) {
      finishing(team);
    } else if (settles) {
      settling(team);
    }
  }
};

struct NothingMore {
  KOKKOS_FUNCTION static constexpr std::size_t scratch_bytes() { return 0; }

  template <class Team>
  KOKKOS_FUNCTION void count_in(const Team&, std::uint64_t*) const {}
  template <class Team>
  KOKKOS_FUNCTION void rank_in(const Team&, std::uint64_t*) const {}

  template <class Team>
  KOKKOS_FUNCTION void operator()(const Team&) const {}
};

}  // namespace kradix::impl
