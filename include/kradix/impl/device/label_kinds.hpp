// Few distinct keys, or kinds of keys, with values: one read writes each key's rank among the kinds, its label;
// then values alone move, in one sweep by labels, and keys are expanded (expand_kinds.hpp).
//
// A label is a rank, so the sample must hold all kinds. A key of another kind makes the labels void, and the
// sort goes on as if they had not been tried: nothing has moved.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "kradix/impl/backend/lanes.hpp"
#include "kradix/impl/device/bins.hpp"
#include "kradix/impl/device/count_kinds.hpp"
#include "kradix/impl/device/digit.hpp"
#include "kradix/impl/device/route.hpp"
#include "kradix/impl/device/team.hpp"

namespace kradix::impl {

/// Kinds and what the sweep by labels needs to know, in device memory; all zero at first.
template <class Key>
struct Labels {
  static constexpr int most = bin_count;

  Key sampled[most];
  Key sorted[most];
  std::uint64_t
      first[most + 1];   ///< counts of kinds, then the first place of each and the end of all
  std::uint64_t listed;  ///< kinds, when they are known to be all
  PassTable passes;      ///< one pass, or none
};

/// Teams that stay label all keys and count labels.
template <class ExecutionSpace, class Codec, TeamShape Shape>
struct LabelKinds {
  using Key = typename Codec::key_type;
  using Team = TeamMember<ExecutionSpace>;
  using L = Lanes<ExecutionSpace>;
  using Slots = KindSlots<Key, 10>;
  static constexpr int threads = Shape.threads, batch = Shape.items;
  static constexpr std::uint32_t no_label = bin_count;

  const Key* keys;
  std::size_t count;
  Codec codec;
  Route* route;
  Labels<Key>* labels;
  std::uint32_t* label_of;  ///< each key

  struct Scratch {
    Key keys[Slots::count + 1];
    std::uint32_t label[Slots::count + 1];
    std::uint32_t counts[bin_count];
    std::uint32_t is_void;
  };
  static std::size_t scratch_bytes() { return sizeof(Scratch); }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    if (route->kinds == 0) return;
    Scratch& scratch = *take_scratch<Scratch>(team, 1);
    list_kinds(team, scratch);
    label_keys(team, scratch);
    team.team_barrier();
    if (scratch.is_void != 0) {
      if (team.team_rank() == 0) L::store(&route->too_many_kinds, std::uint64_t{1});
      return;
    }
    for (int i = team.team_rank(); i < bin_count; i += threads) {
      if (scratch.counts[i] > 0) {
        Kokkos::atomic_add(&labels->first[i], std::uint64_t{scratch.counts[i]});
      }
    }
  }

  /// Each kind's slot and rank; the first team tells them to those that come after.
  KOKKOS_FUNCTION void list_kinds(const Team& team, Scratch& scratch) const {
    const Slots slots{scratch.keys};
    for (int i = team.team_rank(); i <= Slots::count; i += threads) scratch.keys[i] = 0;
    for (int i = team.team_rank(); i < bin_count; i += threads) scratch.counts[i] = 0;
    if (team.team_rank() == 0) {
      scratch.label[Slots::count] = no_label;  // the key 0 has a slot even where it is no kind
      scratch.is_void = 0;
    }
    team.team_barrier();
    for (int i = team.team_rank(); i < route->kinds; i += threads) {
      slots.give_home(labels->sampled[i]);
    }
    team.team_barrier();
    for (int i = team.team_rank(); i < route->kinds; i += threads) {
      const Key key = labels->sampled[i];
      const std::uint32_t slot = slots.find_at_home(key);
      const std::uint32_t rank = rank_of(key);
      if (team.league_rank() == 0) labels->sorted[rank] = key;
      if (slot != Slots::none) {
        scratch.label[slot] = rank;
      } else {
        scratch.is_void = 1;
      }
    }
    team.team_barrier();
  }

  KOKKOS_FUNCTION std::uint32_t rank_of(Key key) const {
    std::uint32_t below = 0;
    for (int i = 0; i < route->kinds; ++i) {
      below += codec.encode(labels->sampled[i]) < codec.encode(key) ? 1 : 0;
    }
    return below;
  }

  KOKKOS_FUNCTION void label_keys(const Team& team, Scratch& scratch) const {
    constexpr std::size_t step = std::size_t{batch} * threads;
    const std::size_t stride = step * static_cast<std::size_t>(team.league_size());
    std::size_t at = step * static_cast<std::size_t>(team.league_rank());
    for (; at + step <= count; at += stride) {
      const std::size_t mine = at + team.team_rank();
      Key key[batch];
      KRADIX_UNROLL
      for (int b = 0; b < batch; ++b) key[b] = keys[mine + b * threads];
      if (*const_cast<volatile std::uint32_t*>(&scratch.is_void) != 0) return;
      KRADIX_UNROLL
      for (int b = 0; b < batch; ++b) label(key[b], mine + b * threads, scratch);
    }
    for (std::size_t i = at + team.team_rank(); i < count && i < at + step; i += threads) {
      label(keys[i], i, scratch);
    }
  }

  KOKKOS_FUNCTION void label(Key key, std::size_t place, Scratch& scratch) const {
    const std::uint32_t slot = Slots{scratch.keys}.find_at_home(key);
    if (slot == Slots::none || scratch.label[slot] == no_label) {
      scratch.is_void = 1;
      return;
    }
    const std::uint32_t label = scratch.label[slot];
    L::increment(&scratch.counts[label]);
    label_of[place] = label;
  }
};

/// One team, once all keys have labels: places of kinds, and the pass that sweeps by them.
template <class ExecutionSpace, class Key, int Threads>
struct PlaceLabels {
  using L = Lanes<ExecutionSpace>;

  std::size_t count;
  const Route* route;
  const PassTable* passes;
  Labels<Key>* labels;

  KOKKOS_FUNCTION void operator()(const TeamMember<ExecutionSpace>& team) const {
    if (!passes->expands || team.team_rank() >= L::width) return;
    scan_bins<L>(labels->first, L::lane(team.team_rank()));
    if (team.team_rank() != 0) return;
    labels->first[Labels<Key>::most] = count;
    labels->listed = static_cast<std::uint64_t>(route->kinds);
    PassTable table{};
    table.count = 1;
    table.digit[0] = {0, bin_count - 1};
    labels->passes = table;
  }
};

}  // namespace kradix::impl
