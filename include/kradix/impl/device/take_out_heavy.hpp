// Heavy keys, a few kinds that make up much of all, leave before the light ones are sorted, and come back after.
//
// Where they have values, a sweep by the codes of heavy_kinds.hpp moves light keys, whose code is least, to the front of
// the other array, and behind them every heavy kind; keys alone are taken out by take_out_keys.hpp. Sweeps over digits
// sort the light ones, and one copy brings all together.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>

#include "kradix/impl/buffers.hpp"
#include "kradix/impl/device/bins.hpp"
#include "kradix/impl/device/digit.hpp"
#include "kradix/impl/device/heavy_kinds.hpp"
#include "kradix/impl/device/route.hpp"
#include "kradix/impl/device/team.hpp"
#include "kradix/impl/device/wide_array.hpp"

namespace kradix::impl {

/// Digits of all keys anew; or, if the route takes heavy ones out, how often each of their codes occurs, and digits of light
/// ones, in the same read.
template <class Count>
struct CountAgainOrLights : Count {
  using Key = typename Count::Key;
  using Bits = typename Count::Bits;
  using Team = typename Count::Team;
  using L = typename Count::L;
  using Heavy = HeavyKinds<Key>;
  static constexpr int codes = Heavy::most + 1;

  Heavy* heavy;
  std::uint64_t* counts_of_codes;  ///< zero

  /// Light keys of a group of lanes, few among others, until there is one for each lane.
  static constexpr int groups = Count::threads / L::width, queued = 2 * L::width;
  static constexpr std::size_t queue_bytes = groups * queued * sizeof(Key);
  static constexpr std::size_t more = codes + (queue_bytes + 7) / 8 * 2;

  static std::size_t scratch_bytes(int digit_count) {
    return Count::scratch_bytes(digit_count) + more * sizeof(std::uint32_t);
  }
  KOKKOS_FUNCTION std::size_t counters() const { return Count::counters() + more; }

  /// Those of codes lie behind those of digits.
  KOKKOS_FUNCTION void count_lights(const Team& team, const DigitList& digits,
                                    std::uint32_t* counts) const {
    const int rows = digits.count() * bin_count;
    this->clear(team, counts, rows + codes);
    const auto reader = HeavyCodec<Key>{heavy}.at_hand();
    const auto shifts = this->shifts_of(digits);
    const int lane = L::lane(team.team_rank());
    Key* const queue =
        reinterpret_cast<Key*>(counts + rows + codes) + team.team_rank() / L::width * queued;
    int waiting = 0;
    const auto is_light = [&](const Key& key) {
      const std::uint32_t code = reader.encode(key);
      L::increment(&counts[rows + static_cast<int>(code)]);
      return code == 0;
    };
    const auto add_light = [&](const Key& key) {
      Bits bits[1] = {this->codec.encode(key)};
      this->add(counts, shifts, bits);
    };
    const auto queue_light = [&](const Key& key) {
      const bool waits = is_light(key);
      const auto light = L::where(waits);
      if (waits) queue[waiting + L::rank_in(light, lane)] = key;
      waiting += L::size_of(light);
      if (waiting < L::width) return;
      waiting -= L::width;
      L::barrier();
      add_light(queue[waiting + lane]);
      L::barrier();
    };
    this->for_each(
        team, this->keys, this->count,
        [&](const Key(&keys)[Count::batch]) {
          KRADIX_UNROLL
          for (int k = 0; k < Count::batch; ++k) queue_light(keys[k]);
        },
        [&](const Key(&key)[1]) {
          if (is_light(key[0])) add_light(key[0]);
        });
    L::barrier();
    if (lane < waiting) add_light(queue[lane]);
    team.team_barrier();
    this->add_to_all(team, counts, this->bins, rows);
    this->add_to_all(team, counts + rows, counts_of_codes, codes);
  }

  /// By one team, once all have counted: first places of codes, and the pass that takes them out. How many are light.
  KOKKOS_FUNCTION std::uint64_t list_codes(const Team& team) const {
    if (team.team_rank() < L::width) scan_bins<L>(counts_of_codes, L::lane(team.team_rank()));
    team.team_barrier();
    const std::uint64_t lights = counts_of_codes[1];
    if (team.team_rank() == 0) {
      PassTable taking{};
      taking.digit[0] = {0, bin_count - 1};
      taking.count = 1;
      heavy->taking = taking;
      this->route->lights = lights;
    }
    return lights;
  }
};

/// One launch takes heavy keys out with their values, or moves values by labels, if either is to be done.
template <class TakeOut, class SweepLabels>
struct TakeOutOrSweepLabels {
  using Team = typename TakeOut::Team;
  static_assert(TakeOut::threads == SweepLabels::threads);

  const Route* route;
  TakeOut take_out;
  SweepLabels sweep_labels;

  KOKKOS_FUNCTION static constexpr std::size_t scratch_bytes() {
    constexpr std::size_t most =
        sizeof(typename TakeOut::Scratch) > sizeof(typename SweepLabels::Scratch)
            ? sizeof(typename TakeOut::Scratch)
            : sizeof(typename SweepLabels::Scratch);
    return (most + 7) / 8 * 8;
  }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    const bool takes = route->heavy != 0;
    if (!takes && sweep_labels.is_idle()) return;
    // One piece of scratch: of two, nvcc no longer knows where the second lies.
    auto* const scratch = take_scratch<std::uint64_t>(team, scratch_bytes() / 8);
    if (takes) {
      take_out.sweep_all(team, *reinterpret_cast<typename TakeOut::Scratch*>(scratch));
    } else {
      sweep_labels.sweep_all(team, *reinterpret_cast<typename SweepLabels::Scratch*>(scratch));
    }
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
  static constexpr int most = Heavy::most;
  static constexpr std::size_t share = std::size_t{16} * Threads;

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
    for (int k = team.team_rank(); k < kinds; k += Threads) {
      const Key key = heavy->sorted[k];
      const std::uint32_t code = heavy->codes[k];
      scratch.key[k] = key;
      scratch.from[k] = bins[code];
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

  /// Stretch after stretch: of a heavy kind, or of light keys between two.
  KOKKOS_FUNCTION void merge(const Team& team, const Share& mine, int kinds,
                             const Scratch& scratch) const {
    std::size_t place = mine.begin;
    int next = first_behind(scratch.first, 0, kinds, static_cast<std::uint64_t>(place));
    while (place < mine.end) {
      // `next` kinds begin there or before.
      const std::uint64_t heavy_end =
          next > 0 ? scratch.first[next - 1] + scratch.before[next] - scratch.before[next - 1] : 0;
      const bool is_heavy = place < heavy_end;
      const std::uint64_t stretch_end = is_heavy ? heavy_end : scratch.first[next];
      const std::size_t end = stretch_end < mine.end ? stretch_end : mine.end;
      if (is_heavy) {
        const std::uint64_t past = place - scratch.first[next - 1];
        if (!buffers.leaves_keys) fill(team, {place, end}, scratch.key[next - 1]);
        move_values(team, {place, end}, scratch.from[next - 1] + past);
      } else {
        const std::uint64_t from = place - scratch.before[next];
        if (!buffers.leaves_keys) {
          copy_elements<Threads>(team, end - place, buffers.keys.other + from,
                                 buffers.keys.result + place);
        }
        move_values(team, {place, end}, from);
      }
      place = end;
      while (next < kinds && scratch.first[next] <= place) ++next;
    }
  }

  KOKKOS_FUNCTION void fill(const Team& team, const Share& stretch, Key key) const {
    const WideArray<Key> out(buffers.keys.result + stretch.begin, stretch.end - stretch.begin);
    const auto all = Pack<Key>::of(key);
    for (std::size_t p = team.team_rank(); p < out.packs(); p += Threads) out.store(p, all);
    for (int i = team.team_rank(); i < out.edges(); i += Threads)
      out.at(out.place_of_edge(i)) = key;
  }

  KOKKOS_FUNCTION void move_values([[maybe_unused]] const Team& team,
                                   [[maybe_unused]] const Share& to,
                                   [[maybe_unused]] std::uint64_t from) const {
    if constexpr (with_values) {
      copy_elements<Threads>(team, to.end - to.begin, buffers.values.other + from,
                             buffers.values.result + to.begin);
    }
  }
};

}  // namespace kradix::impl
