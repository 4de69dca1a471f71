// Heavy keys, a few kinds that make up much of all, leave before the light ones are sorted, and come back after.
//
// A sweep by the codes of heavy_kinds.hpp moves light keys, whose code is least, to the front of the other array,
// and behind them every heavy kind. Sweeps over digits sort the light ones, and one copy brings all together.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>

#include "kradix/impl/buffers.hpp"
#include "kradix/impl/device/bins.hpp"
#include "kradix/impl/device/heavy_kinds.hpp"
#include "kradix/impl/device/route.hpp"
#include "kradix/impl/device/team.hpp"

namespace kradix::impl {

/// If the route takes heavy keys out: how often each code occurs; the last team to leave makes first places of that.
template <class CountCodes, class Key>
struct CountHeavy {
  using Team = typename CountCodes::Team;
  using L = typename CountCodes::L;

  Route* route;
  CountCodes count;
  HeavyKinds<Key>* heavy;

  static std::size_t scratch_bytes() { return CountCodes::scratch_bytes(1); }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    if (route->heavy == 0) return;
    auto* const scratch = take_scratch<std::uint64_t>(team, count.counters() / 2);
    count.count_in(team, reinterpret_cast<std::uint32_t*>(scratch));
    const auto teams = static_cast<std::uint64_t>(team.league_size());
    if (leaves_last(team, &heavy->counted, teams, scratch[0])) place(team);
  }

 private:
  KOKKOS_FUNCTION void place(const Team& team) const {
    if (team.team_rank() < L::width) scan_bins<L>(count.bins, L::lane(team.team_rank()));
    team.team_barrier();
    if (team.team_rank() != 0) return;
    route->lights = count.bins[1];
    PassTable& taking = heavy->taking;
    taking.digit[0] = {0, bin_count - 1};
    taking.count = 1;
  }
};

/// Teams that stay write the result, a share at a time: each heavy kind where the sorted light keys leave room.
template <class ExecutionSpace, class Codec, class Value, int Threads>
struct MergeHeavy {
  using Key = typename Codec::key_type;
  using Bits = typename Codec::bits_type;
  using Team = TeamMember<ExecutionSpace>;
  using Heavy = HeavyKinds<Key>;
  static constexpr bool with_values = !std::is_same_v<Value, NoValue>;
  static constexpr int most = Heavy::most, batch = 4;
  static constexpr std::size_t share = std::size_t{2} * batch * Threads;

  SortBuffers<Key, Value> buffers;
  Codec codec;
  std::size_t count;
  const Route* route;
  const PassTable* passes;
  const Heavy* heavy;
  const std::uint64_t* bins;  ///< first places of codes, in the other array

  struct Scratch {
    std::uint64_t first[most + 1];   ///< place of each kind in the result, and the end of all
    std::uint64_t before[most + 1];  ///< heavy keys of the kinds before it, and of all
    std::uint64_t from[most];        ///< its place in the other array
    Key key[most];
  };
  static std::size_t scratch_bytes() { return sizeof(Scratch); }

  /// Where an element comes from.
  struct Source {
    std::uint64_t from;
    int kind;  ///< or -1: a light one
  };

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    if (!passes->takes_out) return;
    Scratch& scratch = *take_scratch<Scratch>(team, 1);
    const int kinds = route->heavy;
    place_kinds(team, kinds, scratch);
    const auto step = share * static_cast<std::size_t>(team.league_size());
    for (std::size_t at = share * static_cast<std::size_t>(team.league_rank()); at < count;
         at += step) {
      merge(team, {at, at + share < count ? at + share : count}, kinds, scratch);
    }
  }

  KOKKOS_FUNCTION void place_kinds(const Team& team, int kinds, Scratch& scratch) const {
    const auto code_of = HeavyCodec<Key>{heavy}.at_hand();
    for (int k = team.team_rank(); k < kinds; k += Threads) {
      const Key key = heavy->sorted[k];
      const std::uint32_t code = code_of.encode(key);
      scratch.key[k] = key;
      scratch.from[k] = bins[code];
      // One without a slot of its own stayed with the light ones.
      scratch.before[k + 1] = code == 0 ? 0 : bins[code + 1] - bins[code];
      scratch.first[k] = lights_before(codec.encode(key));
    }
    team.team_barrier();
    if (team.team_rank() == 0) {
      scratch.before[0] = 0;
      for (int k = 0; k < kinds; ++k) {
        scratch.first[k] += scratch.before[k];
        scratch.before[k + 1] += scratch.before[k];
      }
      scratch.first[kinds] = count;
    }
    team.team_barrier();
  }

  KOKKOS_FUNCTION std::uint64_t lights_before(Bits bits) const {
    const Key* const keys = buffers.keys.other;
    std::uint64_t low = 0, high = route->lights;
    while (low < high) {
      const std::uint64_t middle = (low + high) / 2;
      if (codec.encode(keys[middle]) < bits) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  KOKKOS_FUNCTION void merge(const Team& team, const Share& mine, int kinds,
                             const Scratch& scratch) const {
    std::size_t place = mine.begin + team.team_rank();
    if (place >= mine.end) return;
    int next = first_behind(scratch.first, 0, kinds, static_cast<std::uint64_t>(place));
    KRADIX_ROLLED
    for (; place < mine.end; place += batch * Threads) {
      Key key[batch];
      std::conditional_t<with_values, Value, char> value[batch];
      KRADIX_UNROLL
      for (int b = 0; b < batch; ++b) {
        const std::size_t here = place + static_cast<std::size_t>(b) * Threads;
        if (here >= mine.end) break;
        while (scratch.first[next] <= here) ++next;
        const Source source = source_of(here, next, scratch);
        if (!buffers.leaves_keys) {
          key[b] = source.kind >= 0 ? scratch.key[source.kind] : buffers.keys.other[source.from];
        }
        if constexpr (with_values) value[b] = buffers.values.other[source.from];
      }
      KRADIX_UNROLL
      for (int b = 0; b < batch; ++b) {
        const std::size_t here = place + static_cast<std::size_t>(b) * Threads;
        if (here >= mine.end) break;
        if (!buffers.leaves_keys) buffers.keys.result[here] = key[b];
        if constexpr (with_values) buffers.values.result[here] = value[b];
      }
    }
  }

  /// `next` kinds begin there or before.
  KOKKOS_FUNCTION static Source source_of(std::size_t place, int next, const Scratch& scratch) {
    if (next > 0) {
      const int kind = next - 1;
      const std::uint64_t past = place - scratch.first[kind];
      if (past < scratch.before[next] - scratch.before[kind]) {
        return {scratch.from[kind] + past, kind};
      }
    }
    return {place - scratch.before[next], -1};
  }
};

}  // namespace kradix::impl
