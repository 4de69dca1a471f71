// Few distinct keys, or kinds of keys, with values: one read writes each key's rank among the kinds, its label;
// then values alone move, in one or two sweeps by labels, and keys are expanded (expand_kinds.hpp).
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
#include "kradix/impl/device/team_scan.hpp"

namespace kradix::impl {

/// Kinds and what the sweeps by labels need to know, in device memory; all zero at first.
template <class Key>
struct Labels {
  static constexpr int most = most_sampled_kinds, most_sweeps = 2;
  static_assert(most <= bin_count * bin_count);

  std::uint64_t
      first[most + 1];     ///< counts of kinds, then the first place of each and the end of all
  std::uint64_t listed;    ///< kinds, when they are known to be all
  std::uint64_t labelled;  ///< teams that have labelled their keys
  std::uint64_t bins[most_sweeps][bin_count];
  PassTable passes;  ///< over the digits of labels, or none
};

/// For one team, once all keys have labels: places of kinds, and the passes that sweep by them.
template <class ExecutionSpace, class Key, int Threads>
struct PlaceLabels {
  using L = Lanes<ExecutionSpace>;
  static constexpr int most_sweeps = Labels<Key>::most_sweeps;

  std::size_t count;
  Labels<Key>* labels;

  struct Scratch {
    std::uint64_t first[Labels<Key>::most];
    std::uint64_t bins[most_sweeps][bin_count];
  };

  KOKKOS_FUNCTION void operator()(const TeamMember<ExecutionSpace>& team, int kinds,
                                  Scratch& scratch) const {
    const int sweeps = Route::sweeps_of_kinds(kinds), thread = team.team_rank();
    const int bits = bit_width_of(static_cast<std::uint32_t>(kinds - 1));
    const int width = (bits + sweeps - 1) / sweeps;
    for (int bin = thread; bin < most_sweeps * bin_count; bin += Threads) {
      scratch.bins[0][bin] = 0;
    }
    team.team_barrier();
    const auto mask = low_mask<std::uint32_t>(width);
    for (int kind = thread; kind < kinds; kind += Threads) {
      const std::uint64_t counted = L::load(&labels->first[kind]);
      scratch.first[kind] = counted;
      Kokkos::atomic_add(&scratch.bins[0][kind & mask], counted);
      Kokkos::atomic_add(&scratch.bins[1][kind >> width], counted);
    }
    team.team_barrier();
    scan_scratch<Threads>(team, scratch.first, kinds);
    for (int sweep = 0; sweep < sweeps; ++sweep) {
      if (thread < L::width) scan_bins<L, true>(scratch.bins[sweep], L::lane(thread));
    }
    team.team_barrier();
    for (int kind = thread; kind < kinds; kind += Threads) {
      labels->first[kind] = scratch.first[kind];
    }
    for (int bin = thread; bin < sweeps * bin_count; bin += Threads) {
      labels->bins[bin / bin_count][bin % bin_count] =
          scratch.bins[bin / bin_count][bin % bin_count];
    }
    if (thread == 0) list(kinds, sweeps, width, mask);
  }

  KOKKOS_FUNCTION void list(int kinds, int sweeps, int width, unsigned mask) const {
    labels->first[kinds] = count;
    labels->listed = static_cast<std::uint64_t>(kinds);
    PassTable table{};
    table.count = sweeps;
    for (int sweep = 0; sweep < sweeps; ++sweep) {
      table.digit[sweep] = {sweep * width, mask};
      table.row[sweep] = sweep;
    }
    labels->passes = table;
  }
};

/// Teams that stay label all keys and count labels. The last of them places kinds.
template <class ExecutionSpace, class Codec, TeamShape Shape>
struct LabelKinds {
  using Key = typename Codec::key_type;
  using Team = TeamMember<ExecutionSpace>;
  using L = Lanes<ExecutionSpace>;
  using Slots = KindSlots<Key, 12>;  // a quarter full at most: each kind must find a home
  static constexpr int threads = Shape.threads, batch = Shape.items, most = Labels<Key>::most;
  static constexpr std::uint16_t no_label = most;

  const Key* keys;
  std::size_t count;
  Route* route;
  const Key* sampled;  ///< in order
  Labels<Key>* labels;
  std::uint32_t* label_of;  ///< each key

  using Place = PlaceLabels<ExecutionSpace, Key, threads>;

  struct Scratch {
    union {
      Key keys[Slots::count + 1];
      typename Place::Scratch place;
    };
    std::uint64_t labelled;  ///< teams
    std::uint32_t counts[most];
    std::uint32_t is_void;
    std::uint16_t label[Slots::count + 1];
    KOKKOS_FUNCTION Scratch() {}
  };
  KOKKOS_FUNCTION static constexpr std::size_t scratch_bytes() {
    return (sizeof(Scratch) + 7) / 8 * 8;
  }

  KOKKOS_FUNCTION void count_in(const Team& team, std::uint64_t* memory) const {
    if (route->kinds == 0) return;
    Scratch& scratch = *reinterpret_cast<Scratch*>(memory);
    list_kinds(team, scratch);
    label_keys(team, scratch);
    team.team_barrier();
    if (scratch.is_void == 0) {
      add_counts(team, scratch);
    } else if (team.team_rank() == 0) {
      L::store(&route->too_many_kinds, std::uint64_t{1});
    }
    const auto teams = static_cast<std::uint64_t>(team.league_size());
    if (!leaves_last(team, &labels->labelled, teams, scratch.labelled)) return;
    if (L::load(&route->too_many_kinds) == 0)
      Place{count, labels}(team, route->kinds, scratch.place);
  }

  KOKKOS_FUNCTION void add_counts(const Team& team, const Scratch& scratch) const {
    for (int i = team.team_rank(); i < route->kinds; i += threads) {
      if (scratch.counts[i] > 0) {
        Kokkos::atomic_add(&labels->first[i], std::uint64_t{scratch.counts[i]});
      }
    }
  }

  /// Each kind's slot and rank.
  KOKKOS_FUNCTION void list_kinds(const Team& team, Scratch& scratch) const {
    const Slots slots{scratch.keys};
    for (int i = team.team_rank(); i <= Slots::count; i += threads) scratch.keys[i] = 0;
    for (int i = team.team_rank(); i < most; i += threads) scratch.counts[i] = 0;
    if (team.team_rank() == 0) {
      scratch.label[Slots::count] = no_label;  // the key 0 has a slot even where it is no kind
      scratch.is_void = 0;
    }
    team.team_barrier();
    for (int i = team.team_rank(); i < route->kinds; i += threads) {
      slots.give_home(sampled[i]);
    }
    team.team_barrier();
    for (int i = team.team_rank(); i < route->kinds; i += threads) {
      const std::uint32_t slot = slots.find_at_home(sampled[i]);
      if (slot != Slots::none) {
        scratch.label[slot] = static_cast<std::uint16_t>(i);
      } else {
        scratch.is_void = 1;
      }
    }
    team.team_barrier();
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

}  // namespace kradix::impl
