// The steps of a tile that is spread over bins in the order in which its elements come: those of a Onesweep pass (Adinets and
// Merrill, "Onesweep: A Faster Least Significant Digit Radix Sort for GPUs", 2022).
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "kradix/impl/backend/lanes.hpp"
#include "kradix/impl/device/bins.hpp"
#include "kradix/impl/device/digit.hpp"
#include "kradix/impl/device/look_back.hpp"
#include "kradix/impl/device/team.hpp"
#include "kradix/impl/device/team_scan.hpp"

namespace kradix::impl {

/// Of a tile of Shape.round() elements, `items` of each thread, and up to `Bins` bins. There is a barrier between any
/// two steps. `bin_of(i)` tells the bin of a thread's item; ranks are packed by two.
template <class ExecutionSpace, TeamShape Shape, int Bins>
struct OrderedSteps {
  using Team = TeamMember<ExecutionSpace>;
  using L = Lanes<ExecutionSpace>;
  static constexpr int threads = Shape.threads, items = Shape.items, tile_size = threads * items;
  static constexpr int groups = threads / L::width;
  static constexpr int bins_per_thread = (Bins + threads - 1) / threads;
  static_assert(tile_size <= 0xffff && items % 2 == 0);
  static_assert(tile_size <= LookBackWord::most >> LookBackShape{}.portion_bits);

  using Mask = typename L::Mask;
  struct GroupCounters {
    /// At first of each group's elements, then first places of these in the tile.
    std::uint16_t of_group[groups][Bins];
  };
  struct Counters : GroupCounters {
    Mask same[groups][Bins];  ///< lanes whose items have a bin; none but while they are ranked
  };

  /// Index in the tile of a thread's item: a lane group reads runs of its width.
  KOKKOS_FUNCTION static int place_of(int thread, int item) {
    const int group = thread / L::width;
    return (group * items + item) * L::width + L::lane(thread);
  }
  KOKKOS_FUNCTION static std::uint32_t rank_of(const std::uint32_t* ranks, int item) {
    return ranks[item / 2] >> (16 * (item % 2)) & 0xffffu;
  }

  /// Each group of lanes its own, of the first `bins` bins.
  KOKKOS_FUNCTION static void clear(int thread, int bins, Counters& counters) {
    for (int bin = L::lane(thread); bin < bins; bin += L::width) {
      counters.of_group[thread / L::width][bin] = 0;
      counters.same[thread / L::width][bin] = 0;
    }
  }

  /// Ranks each item among those of its lane group with its bin; counts them on the way.
  template <class BinOf>
  KOKKOS_FUNCTION static void rank(int thread, const BinOf& bin_of, Counters& all,
                                   std::uint32_t* ranks) {
    const int lane = L::lane(thread);
    volatile std::uint16_t* const counters = all.of_group[thread / L::width];
    Mask* const masks = all.same[thread / L::width];
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      const std::uint32_t bin = bin_of(i);
      L::set(&masks[bin], static_cast<Mask>(Mask{1} << lane));
      L::barrier();
      const Mask same = *static_cast<volatile Mask*>(&masks[bin]);
      const std::uint32_t before = counters[bin];
      const int below = L::rank_in(same, lane);
      L::barrier();
      if (below == 0) {
        counters[bin] = static_cast<std::uint16_t>(before + L::size_of(same));
        *static_cast<volatile Mask*>(&masks[bin]) = 0;
      }
      L::barrier();
      const std::uint32_t rank = before + below;
      ranks[i / 2] = i % 2 == 0 ? rank : ranks[i / 2] | rank << 16;
    }
  }

  /// The same where so few bits tell bins that ballots can tell which lanes share one.
  template <int BinBits = digit_bits, class BinOf>
  KOKKOS_FUNCTION static void rank_by_ballots(int thread, const BinOf& bin_of, GroupCounters& all,
                                              std::uint32_t* ranks) {
    static_assert(Bins == 1 << BinBits);
    const int lane = L::lane(thread);
    volatile std::uint16_t* const counters = all.of_group[thread / L::width];
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      const std::uint32_t bin = bin_of(i);
      const auto same = L::template match<BinBits>(bin);
      const int below = L::rank_in(same, lane);
      const std::uint32_t before = counters[bin];
      L::barrier();
      if (below == 0) counters[bin] = static_cast<std::uint16_t>(before + L::size_of(same));
      L::barrier();
      const std::uint32_t rank = before + below;
      ranks[i / 2] = i % 2 == 0 ? rank : ranks[i / 2] | rank << 16;
    }
  }

  /// Adds up the groups' counters of each of the first `bins` bins, which all elements have, tells the sums, and turns the counters
  /// into the first place in the tile of each group's items, and sums into those of bins.
  template <class Tell>
  KOKKOS_FUNCTION static void publish(const Team& team, int bins, const Tell& tell,
                                      Counters& counters, std::uint32_t* first) {
    publish(
        team, bins, tell, [&](std::uint32_t sum) { return scan_team<threads>(team, sum).before; },
        [&](int bin, std::uint32_t before) { first[bin] = before; }, counters);
  }
  /// `scan` makes prefix sums over the team; `tell_first` tells where bins begin.
  template <class Tell, class Scan, class TellFirst>
  KOKKOS_FUNCTION static void publish(const Team& team, int bins, const Tell& tell,
                                      const Scan& scan, const TellFirst& tell_first,
                                      GroupCounters& counters) {
    const int begin = team.team_rank() * bins_per_thread;
    const int end = begin + bins_per_thread < bins ? begin + bins_per_thread : bins;
    std::uint32_t sum = 0;
    for (int bin = begin; bin < end; ++bin) {
      std::uint32_t counted = 0;
      for (int g = 0; g < groups; ++g) counted += counters.of_group[g][bin];
      tell(bin, counted);
      sum += counted;
    }
    std::uint32_t before = scan(sum);
    for (int bin = begin; bin < end; ++bin) {
      tell_first(bin, before);
      for (int g = 0; g < groups; ++g) {
        const std::uint32_t counted = counters.of_group[g][bin];
        counters.of_group[g][bin] = static_cast<std::uint16_t>(before);
        before += counted;
      }
    }
  }

  /// Ranks become places in the tile.
  template <class BinOf>
  KOKKOS_FUNCTION static void add_group_ranks(int thread, const BinOf& bin_of,
                                              const GroupCounters& all, std::uint32_t* ranks) {
    const std::uint16_t* const counters = all.of_group[thread / L::width];
    KRADIX_UNROLL
    for (int i = 0; i < items; i += 2) {
      const std::uint32_t low = counters[bin_of(i)], high = counters[bin_of(i + 1)];
      ranks[i / 2] += low | high << 16;
      if (i % 8 == 6) L::settle_memory();
    }
  }

  /// Learns by `place(bin, own)` where a bin's elements go, of each that is this thread's.
  template <class Place>
  KOKKOS_FUNCTION static void place_bins(int thread, int bins, const Place& place,
                                         const std::uint32_t* first, std::uint64_t* base) {
    const int begin = thread * bins_per_thread;
    for (int bin = begin; bin < begin + bins_per_thread && bin < bins; ++bin) {
      const std::uint32_t end = bin + 1 < bins ? first[bin + 1] : tile_size;
      base[bin] = place(bin, end - first[bin]) - first[bin];
    }
  }
};

}  // namespace kradix::impl
