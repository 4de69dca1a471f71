// A counting sort of a few 2-byte keys, in one kernel of three phases: count, place, expand.
//
// 2^16 counters of a team cost more to clear and to add up than a few keys do, so keys are counted in memory.
// There the same address takes one addition after the other: those of keys that come often are held back in scratch.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "kradix/impl/backend/lanes.hpp"
#include "kradix/impl/device/expand_bins.hpp"
#include "kradix/impl/device/phases.hpp"
#include "kradix/impl/device/place_bins.hpp"
#include "kradix/impl/device/team.hpp"
#include "kradix/impl/device/wide_array.hpp"

namespace kradix::impl {

/// Counts of the keys that came first, in a team's scratch. A word holds a key, from 1 on, above its count.
struct HeldCounts {
  static constexpr int slots = 1024, count_bits = 15;
  static constexpr std::uint32_t most = (1u << count_bits) - 1;  ///< keys of a team

  std::uint32_t word[slots];

  KOKKOS_FUNCTION static std::uint32_t key_of(std::uint32_t word) {
    return (word >> count_bits) - 1;
  }

  /// False for a key that finds its two slots taken by others.
  template <class L>
  KOKKOS_FUNCTION bool add(std::uint32_t key, std::uint32_t times) {
    const std::uint32_t mine = (key + 1) << count_bits;
    const std::uint32_t mixed = key * 0x9e3779b1u;
    return add_at<L>(mixed >> 22, mine, times) || add_at<L>(mixed >> 12 & (slots - 1), mine, times);
  }

 private:
  template <class L>
  KOKKOS_FUNCTION bool add_at(std::uint32_t slot, std::uint32_t mine, std::uint32_t times) {
    std::uint32_t found = *const_cast<volatile std::uint32_t*>(&word[slot]);
    if (found == 0) {
      found = Kokkos::atomic_compare_exchange(&word[slot], 0u, mine);
      if (found == 0) found = mine;
    }
    if ((found ^ mine) > most) return false;
    L::add(&word[slot], times);
    return true;
  }
};

template <class ExecutionSpace, class Codec, TeamShape PlacesShape, TeamShape ExpandShape>
struct SortFewShorts {
  using Key = typename Codec::key_type;
  using Keys = Pack<Key>;
  using Team = TeamMember<ExecutionSpace>;
  using L = Lanes<ExecutionSpace>;
  using Places = PlaceBins<ExecutionSpace, Codec, PlacesShape>;
  using Expand = ExpandBins<ExecutionSpace, Codec, ExpandShape>;
  static constexpr int threads = PlacesShape.threads;
  static constexpr int tiles = Places::tiles;  ///< of each phase
  static_assert(threads == ExpandShape.threads);

  Phases<ExecutionSpace> phases;
  WideArray<const Key> keys;
  std::size_t share;      ///< packs of a tile of keys
  std::uint64_t* counts;  ///< [key], zero
  Places places;
  Expand expand;  ///< as many tiles

  struct Scratch {
    std::uint64_t ticket;
    union {
      HeldCounts held;
      typename Expand::Scratch expand;
    };
    KOKKOS_FUNCTION Scratch() {}
  };
  static std::size_t scratch_bytes() { return sizeof(Scratch); }

  /// Keys of one tile that can be counted, with those that no pack holds.
  static constexpr std::size_t most_counted() { return HeldCounts::most - 4 * Keys::size; }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    Scratch& scratch = *take_scratch<Scratch>(team, 1);
    while (true) {
      const std::uint64_t ticket = phases.draw(team, scratch.ticket);
      const auto phase = static_cast<int>(ticket / tiles);
      const auto tile = static_cast<std::uint32_t>(ticket % tiles);
      if (phase > 2) return;
      if (phase > 0) phases.wait_for(team, phase - 1, /*adds=*/false);
      if (phase == 0) count(team, tile, scratch.held);
      if (phase == 1) places.place(team, tile);
      if (phase == 2) expand.write_row(team, tile, places.places, scratch.expand);
      if (phase < 2) phases.leave(team, phase, scratch.ticket);
    }
  }

 private:
  KOKKOS_FUNCTION void count(const Team& team, std::uint32_t tile, HeldCounts& held) const {
    const int thread = team.team_rank();
    for (int i = thread; i < HeldCounts::slots; i += threads) held.word[i] = 0;
    team.team_barrier();
    const Share mine = share_of(keys.packs(), share, tile);
    for (std::size_t i = mine.begin + thread; i < mine.end; i += threads) add(keys.load(i), held);
    if (tile == 0) {
      for (int i = thread; i < keys.edges(); i += threads) {
        add(keys.at(keys.place_of_edge(i)), 1, held);
      }
    }
    team.team_barrier();
    for (int i = thread; i < HeldCounts::slots; i += threads) {
      const std::uint32_t word = held.word[i];
      if (word != 0) add_to_all(HeldCounts::key_of(word), word & HeldCounts::most);
    }
  }

  KOKKOS_FUNCTION void add(const Keys& pack, HeldCounts& held) const {
    const Keys same = Keys::of(pack.word(0));
    if (pack.bytes.low == same.bytes.low && pack.bytes.high == same.bytes.high) {
      add(pack.word(0), Keys::size, held);
      return;
    }
    KRADIX_UNROLL
    for (int i = 0; i < Keys::size; ++i) add(pack.word(i), 1, held);
  }
  KOKKOS_FUNCTION void add(Key key, std::uint32_t times, HeldCounts& held) const {
    if (!held.template add<L>(key, times)) add_to_all(key, times);
  }
  KOKKOS_FUNCTION void add_to_all(std::uint32_t key, std::uint32_t times) const {
    Kokkos::atomic_add(&counts[key], std::uint64_t{times});
  }
};

}  // namespace kradix::impl
