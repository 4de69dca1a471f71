// Heavy keys alone need not be moved to leave the light ones: they are counted, for a kind is all there is to know of
// them. One read looks every key up; light ones go to the front of the other array, a tile at a time, in no order.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "kradix/impl/backend/lanes.hpp"
#include "kradix/impl/device/bins.hpp"
#include "kradix/impl/device/heavy_kinds.hpp"
#include "kradix/impl/device/route.hpp"
#include "kradix/impl/device/team.hpp"
#include "kradix/impl/device/wide_array.hpp"

namespace kradix::impl {

/// Teams that stay, if the route takes heavy keys out. The last of them to leave makes first places of the counts, as if
/// heavy keys lay behind light ones.
template <class ExecutionSpace, class Key, TeamShape Shape>
struct TakeOutKeys {
  using Team = TeamMember<ExecutionSpace>;
  using L = Lanes<ExecutionSpace>;
  using Heavy = HeavyKinds<Key>;
  using Packed = Pack<Key>;
  static constexpr int threads = Shape.threads, items = Shape.items, packs = items / Packed::size;
  static_assert(items == packs * Packed::size && items < 32);
  static constexpr int slots = 1 << Heavy::slot_bits;
  static constexpr std::size_t step = std::size_t{packs} * threads;
  static constexpr std::uint32_t few = 2 * L::width;  ///< light keys of a group

  WideArray<const Key> keys;
  Route* route;
  Heavy* heavy;
  std::uint64_t* bins;  ///< of codes, zero at first; that of light keys tells the next place of one
  Key* lights;

  struct Scratch {
    Key key[slots];  ///< a slot that is free holds the heaviest, which nobody looks up
    std::uint64_t begin, left, counted;
    std::uint32_t counts[slots];
    std::uint32_t found;  ///< light keys of a tile
  };
  static std::size_t scratch_bytes() { return sizeof(Scratch); }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    if (route->heavy == 0) return;
    Scratch& scratch = *take_scratch<Scratch>(team, 1);
    const int kinds = route->heavy, thread = team.team_rank();
    const LookUp look_up{heavy->heaviest, heavy->factor};
    lay_out(team, kinds, look_up, scratch);
    take_tiles(team, look_up, scratch);
    if (team.league_rank() == 0) take_edges(team, look_up, scratch);
    team.team_barrier();
    for (int k = thread; k < kinds; k += threads) {
      if (!has_slot(k, look_up)) continue;
      const std::uint32_t times = scratch.counts[look_up.slot_of(heavy->sorted[k])];
      if (times > 0) Kokkos::atomic_add(&bins[heavy->codes[k]], std::uint64_t{times});
    }
    const auto teams = static_cast<std::uint64_t>(team.league_size());
    if (!leaves_last(team, &heavy->counted, teams, scratch.left)) return;
    count_heaviest(team, kinds, look_up, scratch);
    if (thread < L::width) scan_bins<L>(bins, L::lane(thread));
    team.team_barrier();
    if (thread == 0) route->lights = bins[1];
  }

 private:
  struct LookUp {
    Key heaviest;
    std::uint64_t factor;
    KOKKOS_FUNCTION std::uint32_t slot_of(Key key) const { return Heavy::slot_of(key, factor); }
  };
  KOKKOS_FUNCTION bool has_slot(int kind, const LookUp& look_up) const {
    return heavy->codes[kind] != 0 && heavy->sorted[kind] != look_up.heaviest;
  }

  /// All that is neither light nor of another kind.
  KOKKOS_FUNCTION void count_heaviest(const Team& team, int kinds, const LookUp& look_up,
                                      Scratch& scratch) const {
    const int thread = team.team_rank();
    if (thread == 0) scratch.counted = 0;
    team.team_barrier();
    for (int code = thread; code <= kinds; code += threads) {
      Kokkos::atomic_add(&scratch.counted, L::load(&bins[code]));
    }
    team.team_barrier();
    for (int k = thread; k < kinds; k += threads) {
      if (heavy->sorted[k] == look_up.heaviest)
        L::store(&bins[heavy->codes[k]], keys.count() - scratch.counted);
    }
    team.team_barrier();
  }

  KOKKOS_FUNCTION void lay_out(const Team& team, int kinds, const LookUp& look_up,
                               Scratch& scratch) const {
    const int thread = team.team_rank();
    for (int slot = thread; slot < slots; slot += threads) {
      scratch.key[slot] = look_up.heaviest;
      scratch.counts[slot] = 0;
    }
    if (thread == 0) scratch.found = 0;
    team.team_barrier();
    for (int k = thread; k < kinds; k += threads) {
      const Key key = heavy->sorted[k];
      if (has_slot(k, look_up)) scratch.key[look_up.slot_of(key)] = key;
    }
    team.team_barrier();
  }

  /// Counts a heavy one, but for the heaviest.
  KOKKOS_FUNCTION static bool is_light(Key key, const LookUp& look_up, Scratch& scratch) {
    if (key == look_up.heaviest) return false;
    const std::uint32_t slot = look_up.slot_of(key);
    if (scratch.key[slot] != key) return true;
    L::increment(&scratch.counts[slot]);
    return false;
  }

  KOKKOS_FUNCTION void take_tiles(const Team& team, const LookUp& look_up, Scratch& scratch) const {
    const std::size_t stride = step * static_cast<std::size_t>(team.league_size());
    std::size_t at = step * static_cast<std::size_t>(team.league_rank());
    Packed pack[packs];
    if (at + step <= keys.packs()) load(team, at, pack);
    for (; at + step <= keys.packs(); at += stride) {
      // The next tile is on its way while this one's light keys find their places.
      Packed next[packs];
      if (at + stride + step <= keys.packs()) load(team, at + stride, next);
      take_tile(team, pack, (1u << items) - 1, look_up, scratch);
      KRADIX_UNROLL
      for (int p = 0; p < packs; ++p) pack[p] = next[p];
    }
    if (at >= keys.packs()) return;
    std::uint32_t there = 0;
    KRADIX_UNROLL
    for (int p = 0; p < packs; ++p) {
      const std::size_t place = at + static_cast<std::size_t>(p) * threads + team.team_rank();
      if (place >= keys.packs()) continue;
      pack[p] = keys.load(place);
      there |= ((1u << Packed::size) - 1) << p * Packed::size;
    }
    take_tile(team, pack, there, look_up, scratch);
  }

  KOKKOS_FUNCTION void load(const Team& team, std::size_t at, Packed* pack) const {
    KRADIX_UNROLL
    for (int p = 0; p < packs; ++p) pack[p] = keys.load(at + p * threads + team.team_rank());
  }

  /// Of the keys of a thread those are there whose bits are set.
  KOKKOS_FUNCTION void take_tile(const Team& team, const Packed* pack, std::uint32_t there,
                                 const LookUp& look_up, Scratch& scratch) const {
    const int thread = team.team_rank(), lane = L::lane(thread);
    std::uint32_t light = 0, mine = 0;
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      if ((there >> i & 1) == 0 || !is_light(key_of(pack, i), look_up, scratch)) continue;
      light |= 1u << i;
      ++mine;
    }
    const std::uint32_t of_lanes = L::scan(mine, lane);  // before this one
    const std::uint32_t of_group = L::from_last(of_lanes + mine);
    std::uint32_t before = 0;
    if (lane == L::width - 1 && of_group > 0) before = L::add(&scratch.found, of_group);
    before = L::from_last(before);
    team.team_barrier();
    if (thread == 0) {
      if (scratch.found > 0) {
        scratch.begin = Kokkos::atomic_fetch_add(&bins[0], std::uint64_t{scratch.found});
      }
      scratch.found = 0;
    }
    team.team_barrier();
    if (of_group == 0) return;
    Key* out = lights + scratch.begin + before;
    if (of_group <= few) {
      out += of_lanes;
      KRADIX_UNROLL
      for (int i = 0; i < items; ++i) {
        if ((light >> i & 1) != 0) *out++ = key_of(pack, i);
      }
      return;
    }
    // Many lie side by side if lanes write them together.
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      const bool is_mine = (light >> i & 1) != 0;
      const auto mask = L::where(is_mine);
      if (is_mine) out[L::rank_in(mask, lane)] = key_of(pack, i);
      out += L::size_of(mask);
    }
  }
  KOKKOS_FUNCTION static Key key_of(const Packed* pack, int i) {
    return pack[i / Packed::size].word(i % Packed::size);
  }

  /// Keys that no pack holds.
  KOKKOS_FUNCTION void take_edges(const Team& team, const LookUp& look_up, Scratch& scratch) const {
    for (int i = team.team_rank(); i < keys.edges(); i += threads) {
      const Key key = keys.at(keys.place_of_edge(i));
      if (is_light(key, look_up, scratch)) {
        lights[Kokkos::atomic_fetch_add(&bins[0], std::uint64_t{1})] = key;
      }
    }
  }
};

}  // namespace kradix::impl
