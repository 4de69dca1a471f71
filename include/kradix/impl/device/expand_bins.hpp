// Sorted keys from the counts of their codes: nothing is moved, the result is written anew.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "kradix/impl/backend/lanes.hpp"
#include "kradix/impl/device/bins.hpp"
#include "kradix/impl/device/pass.hpp"
#include "kradix/impl/device/wide_array.hpp"

namespace kradix::impl {

/// Where bins begin that follow one another, as numbers in scratch or places in memory.
template <class Begin>
struct BinBorders {
  const Begin* begins;  ///< of the bins after the first
  std::uint32_t count;

  /// The bin that holds a place: how many of them begin at it or before. The first `least` do, and most
  /// likely few more than `near`.
  KOKKOS_FUNCTION std::uint32_t bin_at(Begin place, std::uint32_t least, std::uint32_t near) const {
    std::uint32_t low = least, reach = near;
    while (low + reach < count && begins[low + reach] <= place) {
      low += reach + 1;
      reach = 2 * reach + 1;
    }
    return first_behind(begins, low, low + reach < count ? low + reach : count, place);
  }
  /// Does this bin end at or after a place?
  KOKKOS_FUNCTION bool reaches(std::uint32_t bin, Begin end) const {
    return bin == count || begins[bin] >= end;
  }
};

/// A team writes tiles of the result one after the other. Most lie in one bin or in few, whose borders it
/// takes to scratch and searches for each key; of more bins than fit there, which are nearly empty, it writes one
/// after the other.
template <class ExecutionSpace, class Codec, TeamShape Shape>
struct ExpandBins {
  using Key = typename Codec::key_type;
  using Keys = Pack<Key>;
  using Team = TeamMember<ExecutionSpace>;
  using L = Lanes<ExecutionSpace>;
  static constexpr std::uint32_t bins = std::uint32_t{1} << Codec::bits;
  static constexpr bool few_bins =
      bins == bin_count;  ///< each team makes places from counts itself
  static constexpr std::uint32_t most_borders = few_bins ? bins : 2048;
  static constexpr std::size_t full_tile = Shape.round();

  Codec codec;
  WideArray<Key> out;
  std::size_t tile;                       ///< packs: a full one, or fewer where there are few keys
  std::size_t tiles, row;                 ///< all of them, and those of a team
  const std::uint64_t* counts_or_places;  ///< few bins: counts [key]; many: places [code]
  const std::uint32_t* rows = nullptr;  ///< few bins: instead, if there are some, counts [row][key]
  int row_count = 0;

  struct Bins {
    std::uint32_t first, last;
  };
  static constexpr Place long_bin = 64;  ///< keys, which a group of lanes writes
  struct Scratch {
    Place places[few_bins ? bins : 1];
    std::uint32_t borders[most_borders];
    std::uint32_t listed;  ///< long bins, where borders may lie
    Bins found[2];         ///< of coarse steps, and of all
  };
  static std::size_t scratch_bytes() { return sizeof(Scratch); }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    Scratch& scratch = *take_scratch<Scratch>(team, 1);
    const Place* const places = places_of_bins(team, scratch);
    write_row(team, static_cast<std::size_t>(team.league_rank()), places, scratch);
  }

  /// A team's tiles, and by the first also what no pack holds.
  KOKKOS_FUNCTION void write_row(const Team& team, std::size_t index, const Place* places,
                                 Scratch& scratch) const {
    const Share mine = share_of(tiles, row, index);
    for (std::size_t i = mine.begin; i < mine.end; ++i) {
      const Share packs = share_of(out.packs(), tile, i);
      const Place begin = out.place(packs.begin), last = out.place(packs.end) - 1;
      write(team, packs, begin, find(team, places, begin, last, scratch), places, scratch);
    }
    if (index != 0) return;
    for (int i = team.team_rank(); i < out.edges(); i += Shape.threads) {
      const Place place = out.place_of_edge(i);
      out.at(place) = key_of(bin_of(places, place));
    }
  }

 private:
  KOKKOS_FUNCTION Key key_of(std::uint32_t bin) const { return codec.decode(bin); }

  KOKKOS_FUNCTION const Place* places_of_bins(const Team& team, Scratch& scratch) const {
    if constexpr (few_bins) {
      for (std::uint32_t bin = team.team_rank(); bin < bins; bin += Shape.threads) {
        scratch.places[bin] = count_of(key_of(bin));
      }
      team.team_barrier();
      if (team.team_rank() < L::width) scan_bins<L, true>(scratch.places, team.team_rank());
      team.team_barrier();
      return scratch.places;
    } else {
      return counts_or_places;
    }
  }

  KOKKOS_FUNCTION Place count_of(Key key) const {
    if (row_count == 0) return counts_or_places[key];
    constexpr int batch = 8;  // whose counts are on their way together
    Place sum = 0;
    for (int row = 0; row < row_count; row += batch) {
      KRADIX_UNROLL
      for (int r = row; r < row + batch; ++r) {
        if (r < row_count) sum += rows[r * bin_count + key];
      }
    }
    return sum;
  }

  /// The last bin that begins at or before a place.
  KOKKOS_FUNCTION static std::uint32_t bin_of(const Place* places, Place place) {
    return BinBorders<Place>{places + 1, bins - 1}.bin_at(place, 0, bins / 2);
  }

  /// Those of the first and the last place of a tile. The team looks at many bins at once, for of a search one by
  /// one each step would wait for memory.
  KOKKOS_FUNCTION static Bins find(const Team& team, const Place* places, Place begin, Place last,
                                   Scratch& scratch) {
    if constexpr (few_bins) {
      return {bin_of(places, begin), bin_of(places, last)};
    } else {
      constexpr std::uint32_t step = 1u << Codec::bits / 2;
      for (std::uint32_t i = team.team_rank(); i < bins / step; i += Shape.threads) {
        note(places, i * step, step, begin, scratch.found[0].first);
        note(places, i * step, step, last, scratch.found[0].last);
      }
      team.team_barrier();
      const Bins coarse = scratch.found[0];
      for (std::uint32_t i = team.team_rank(); i < step; i += Shape.threads) {
        note(places, coarse.first + i, 1, begin, scratch.found[1].first);
        note(places, coarse.last + i, 1, last, scratch.found[1].last);
      }
      team.team_barrier();
      return scratch.found[1];
    }
  }
  /// If it lies between this bin's begin and that of the bin so many after it.
  KOKKOS_FUNCTION static void note(const Place* places, std::uint32_t bin, std::uint32_t step,
                                   Place place, std::uint32_t& found) {
    if (places[bin] > place) return;
    if (bin + step < bins && places[bin + step] <= place) return;
    found = bin;
  }

  KOKKOS_FUNCTION void write(const Team& team, const Share& packs, Place begin, const Bins& held,
                             const Place* places, Scratch& scratch) const {
    const std::uint32_t borders = held.last - held.first;
    if (borders == 0) {
      fill(team, packs, Keys::of(key_of(held.first)));
    } else if (borders <= most_borders) {
      take_borders(team, places + held.first + 1, borders, begin, scratch.borders);
      search_bins(team, packs, {scratch.borders, borders}, held.first);
    } else if constexpr (!few_bins) {
      write_bins(team, {begin, begin + (packs.end - packs.begin) * Keys::size}, held, places,
                 scratch);
    }
  }

  KOKKOS_FUNCTION void fill(const Team& team, const Share& packs, const Keys& same) const {
    if (packs.end - packs.begin == full_tile) {
      KRADIX_UNROLL
      for (int i = 0; i < Shape.items; ++i) {
        out.store(packs.begin + i * Shape.threads + team.team_rank(), same);
      }
    } else {
      for (std::size_t i = packs.begin + team.team_rank(); i < packs.end; i += Shape.threads) {
        out.store(i, same);
      }
    }
  }

  KOKKOS_FUNCTION void search_bins(const Team& team, const Share& packs,
                                   const BinBorders<std::uint32_t>& borders,
                                   std::uint32_t first) const {
    const auto count = static_cast<std::uint32_t>(packs.end - packs.begin);
    for (std::uint32_t i = team.team_rank(); i < count; i += Shape.threads) {
      out.store(packs.begin + i, keys_at(borders, i * Keys::size, first));
    }
  }

  /// Each thread writes the keys of every bin of its own but long ones, which groups of lanes do then.
  KOKKOS_FUNCTION void write_bins(const Team& team, const Share& keys, const Bins& held,
                                  const Place* places, Scratch& scratch) const {
    constexpr int batch = 4;  // whose places are on their way together
    static_assert(full_tile * Keys::size / long_bin <= most_borders);
    if (team.team_rank() == 0) scratch.listed = 0;
    team.team_barrier();  // the tile before is done with the borders, too
    for (std::uint32_t at = held.first + team.team_rank(); at <= held.last;
         at += batch * Shape.threads) {
      Share bin[batch];
      KRADIX_UNROLL
      for (int b = 0; b < batch; ++b) bin[b] = part_of(at + b * Shape.threads, held, places, keys);
      KRADIX_UNROLL
      for (int b = 0; b < batch; ++b) {
        if (bin[b].end - bin[b].begin > long_bin) {
          scratch.borders[L::add(&scratch.listed, 1u)] = at + b * Shape.threads;
        } else {
          for (std::size_t i = bin[b].begin; i < bin[b].end; ++i) {
            out.at(i) = key_of(at + b * Shape.threads);
          }
        }
      }
    }
    team.team_barrier();
    constexpr int groups = Shape.threads / L::width;
    for (std::uint32_t i = team.team_rank() / L::width; i < scratch.listed; i += groups) {
      const std::uint32_t bin = scratch.borders[i];
      const Share mine = part_of(bin, held, places, keys);
      const int lane = L::lane(team.team_rank());
      for (std::size_t at = mine.begin + lane; at < mine.end; at += L::width) {
        out.at(at) = key_of(bin);
      }
    }
  }

  /// The places of a bin's keys in a tile that holds keys of these bins.
  KOKKOS_FUNCTION static Share part_of(std::uint32_t bin, const Bins& held, const Place* places,
                                       const Share& keys) {
    if (bin > held.last) return {0, 0};
    return {bin == held.first ? keys.begin : places[bin],
            bin == held.last ? keys.end : places[bin + 1]};
  }

  KOKKOS_FUNCTION static void take_borders(const Team& team, const Place* places,
                                           std::uint32_t count, Place begin,
                                           std::uint32_t* borders) {
    team.team_barrier();  // the tile before is done with them
    for (std::uint32_t i = team.team_rank(); i < count; i += Shape.threads) {
      borders[i] = static_cast<std::uint32_t>(places[i] - begin);
    }
    team.team_barrier();
  }

  /// The keys from a place on: one search if they are alike, and one more for each bin that follows.
  KOKKOS_FUNCTION Keys keys_at(const BinBorders<std::uint32_t>& borders, std::uint32_t place,
                               std::uint32_t first) const {
    std::uint32_t bin = borders.bin_at(place, 0, borders.count);
    if (borders.reaches(bin, place + Keys::size)) return Keys::of(key_of(first + bin));
    Keys keys;
    KRADIX_UNROLL
    for (int i = 0; i < Keys::size; ++i) {
      if (!borders.reaches(bin, place + i + 1)) bin = borders.bin_at(place + i, bin + 1, 0);
      keys.put(i, key_of(first + bin));
    }
    return keys;
  }
};

}  // namespace kradix::impl
