// The steps of a tile that is spread over bins in no order of the keys in a bin.
#pragma once

#include <Kokkos_Core.hpp>
#include <bit>
#include <cstdint>

#include "kradix/impl/backend/lanes.hpp"
#include "kradix/impl/device/digit.hpp"
#include "kradix/impl/device/team.hpp"

namespace kradix::impl {

/// Of a tile of Shape.round() keys in registers, `items` of each thread, and `Bins` bins, a power of two. Counts begin at zero, and
/// there is a barrier between any two steps.
template <class ExecutionSpace, TeamShape Shape, int Bins = bin_count>
struct SpreadSteps {
  using Team = TeamMember<ExecutionSpace>;
  using L = Lanes<ExecutionSpace>;
  static constexpr int threads = Shape.threads, items = Shape.items, bins = Bins;
  static constexpr int groups = threads / L::width;
  static constexpr int bins_per_thread = threads >= bins ? 1 : bins / threads;
  static constexpr int bits = std::bit_width(static_cast<unsigned>(bins)) - 1;
  static_assert(std::has_single_bit(static_cast<unsigned>(bins)));
  static_assert(Shape.round() <= 0xffff && items % 2 == 0 && bins % bins_per_thread == 0);

  /// Do more of a group of lanes' keys meet in a bin than by chance? One of each lane tells.
  KOKKOS_FUNCTION static bool crowds(std::uint32_t bin) {
    constexpr int by_chance = 5;
    const auto same = L::template match<bits>(bin);
    return L::where(L::size_of(same) > by_chance) != 0;
  }

  /// Ranks each key among those of the tile with its bin, in the order in which they come, two ranks a word. If they crowd,
  /// the first lane of those with one bin adds for all of them.
  template <bool Full, bool Crowded, class Reading, class TileScratch, class Held>
  KOKKOS_FUNCTION static void rank(int thread, const Reading& reader, int size,
                                   TileScratch& scratch, Held& registers) {
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      const bool exists = Full || i * threads + thread < size;
      const std::uint32_t bin = registers.bin_of(reader, i);
      std::uint32_t rank = 0;
      if constexpr (Crowded) {
        const auto same = L::template match<bits>(bin) & L::where(exists);
        const int below = L::rank_in(same, L::lane(thread));
        if (exists && below == 0) {
          rank = L::add(&scratch.first[bin], static_cast<std::uint32_t>(L::size_of(same)));
        }
        rank = L::from_first(rank, same) + static_cast<std::uint32_t>(below);
      } else if (exists) {
        rank = L::add(&scratch.first[bin], 1u);
      }
      registers.rank[i / 2] = i % 2 == 0 ? rank : registers.rank[i / 2] | rank << 16;
    }
  }

  /// What a thread knows of its bins: what was taken for their keys, and their first places in the tile.
  template <class T>
  struct Taken {
    T taken[bins_per_thread] = {};
    std::uint32_t first[bins_per_thread] = {};
  };

  /// Counts become first places in the tile. What is taken for the counts is on its way meanwhile.
  template <class TileScratch, class Take>
  KOKKOS_FUNCTION static auto place_bins(const Team& team, TileScratch& scratch, const Take& take) {
    const int thread = team.team_rank();
    const bool has_bins = thread * bins_per_thread < bins;
    Taken<decltype(take(0, 0u))> room;
    std::uint32_t counted[bins_per_thread] = {}, sum = 0;
    for (int b = 0; has_bins && b < bins_per_thread; ++b) {
      const int bin = thread * bins_per_thread + b;
      counted[b] = scratch.first[bin];
      sum += counted[b];
      room.taken[b] = take(bin, counted[b]);
    }
    std::uint32_t before = L::scan(sum, L::lane(thread));
    if (L::lane(thread) == L::width - 1) scratch.sums[thread / L::width] = before + sum;
    team.team_barrier();
    for (int g = 0; g < thread / L::width && has_bins; ++g) before += scratch.sums[g];
    for (int b = 0; has_bins && b < bins_per_thread; ++b) {
      scratch.first[thread * bins_per_thread + b] = room.first[b] = before;
      before += counted[b];
    }
    return room;
  }
  template <class T, class Tell>
  KOKKOS_FUNCTION static void for_bins(int thread, const Taken<T>& room, const Tell& tell) {
    if (thread * bins_per_thread >= bins) return;
    for (int b = 0; b < bins_per_thread; ++b) {
      tell(thread * bins_per_thread + b, room.first[b], room.taken[b]);
    }
  }

  /// Places in the output, which are not needed before keys lie in the tile's own ones.
  using Room = Taken<std::uint64_t>;
  /// What takes them from where each bin's next one is told.
  KOKKOS_FUNCTION static auto room_at(std::uint64_t* next) {
    return [next](int bin, std::uint32_t counted) {
      return Kokkos::atomic_fetch_add(&next[bin], std::uint64_t{counted});
    };
  }
  template <class TileScratch>
  KOKKOS_FUNCTION static void tell_room(int thread, const Room& room, TileScratch& scratch) {
    for_bins(thread, room, [&](int bin, std::uint32_t first, std::uint64_t place) {
      scratch.base[bin] = place - first;
    });
  }

  /// All of them: keys come to the tile's own places, and what is added to each for its place in the output to `base`. Begins and
  /// ends with a barrier.
  template <bool Full, class Reading, class Take, class TileScratch, class Held>
  KOKKOS_FUNCTION static void sort(const Team& team, const Reading& reader, int size,
                                   const Take& take, TileScratch& scratch, Held& registers) {
    const int thread = team.team_rank();
    team.team_barrier();
    if (crowds(registers.bin_of(reader, 0))) {
      rank<Full, true>(thread, reader, size, scratch, registers);
    } else {
      rank<Full, false>(thread, reader, size, scratch, registers);
    }
    team.team_barrier();
    const Room room = place_bins(team, scratch, take);
    team.team_barrier();
    exchange<Full>(thread, reader, size, scratch, registers);
    tell_room(thread, room, scratch);
    team.team_barrier();
  }

  /// To the tile's own places.
  template <bool Full, class Reading, class TileScratch, class Held>
  KOKKOS_FUNCTION static void exchange(int thread, const Reading& reader, int size,
                                       TileScratch& scratch, Held& registers) {
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      L::settle(registers.key[i]);
      const std::uint32_t rank = registers.rank[i / 2] >> (16 * (i % 2)) & 0xffffu;
      if (Full || i * threads + thread < size) {
        scratch.keys[scratch.first[registers.bin_of(reader, i)] + rank] = registers.key[i];
      }
    }
  }
};

}  // namespace kradix::impl
