// The counts of a splitter search's round, on one rank: of keys in any order, or by binary search where
// they are sorted.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "kradix/impl/device/digit.hpp"
#include "kradix/impl/device/sample_places.hpp"
#include "kradix/impl/device/team.hpp"
#include "kradix/impl/mpi/splitters.hpp"

namespace kradix::impl::mpi {

/// Which counter a key belongs to: [place of its prefix][digit].
template <class Bits>
struct Slots {
  const Bits* prefixes;  ///< distinct, ascending
  std::uint32_t prefix_count;
  Window window;
  bool whole;  ///< the window reaches the top: there is one prefix, and every key has it

  static constexpr std::uint32_t none = ~std::uint32_t{0};

  KOKKOS_FUNCTION std::uint32_t of(Bits bits) const {
    const std::uint32_t digit =
        static_cast<std::uint32_t>(bits >> window.shift) & ((std::uint32_t{1} << window.width) - 1);
    if (whole) return digit;
    const Bits prefix = static_cast<Bits>(bits >> (window.shift + window.width));
    std::uint32_t low = 0;
    std::uint32_t size = prefix_count;
    while (size > 1) {
      const std::uint32_t half = size / 2;
      low = prefixes[low + half] <= prefix ? low + half : low;
      size -= half;
    }
    return prefixes[low] == prefix ? low * bin_count + digit : none;
  }
};

/// Counts keys into slots. Where `kept` is not null, keys that have a slot are also put there, in any
/// order: later rounds need no others.
template <class ExecutionSpace, class Codec, TeamShape Shape>
struct CountSlots {
  using Key = typename Codec::key_type;
  using Bits = typename Codec::bits_type;
  using Team = TeamMember<ExecutionSpace>;
  static constexpr int batch = 8;
  static constexpr std::uint32_t most_in_scratch = 6144;  ///< counters of 4 bytes

  const Key* keys;
  Codec codec;
  std::size_t count, share;
  Slots<Bits> slots;
  std::uint64_t* counts;  ///< zero
  Key* kept;
  std::uint64_t* kept_count;

  KOKKOS_FUNCTION std::uint32_t all_slots() const { return slots.prefix_count * bin_count; }
  bool in_scratch_on_host() const { return slots.prefix_count * bin_count <= most_in_scratch; }
  std::size_t scratch_bytes() const {
    return in_scratch_on_host() ? slots.prefix_count * bin_count * sizeof(std::uint32_t) : 0;
  }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    const std::uint32_t all = all_slots();
    if (all > most_in_scratch) {
      visit(team, CountInMemory{counts});
      return;
    }
    auto* const bins = take_scratch<std::uint32_t>(team, all);
    for (std::uint32_t i = team.team_rank(); i < all; i += Shape.threads) bins[i] = 0;
    team.team_barrier();
    visit(team, CountInScratch{bins});
    team.team_barrier();
    for (std::uint32_t i = team.team_rank(); i < all; i += Shape.threads) {
      if (bins[i] > 0) Kokkos::atomic_add(&counts[i], std::uint64_t{bins[i]});
    }
  }

 private:
  struct CountInScratch {
    std::uint32_t* bins;
    KOKKOS_FUNCTION void operator()(std::uint32_t slot) const {
      if constexpr (Shape.threads == 1) {
        ++bins[slot];
      } else {
        Kokkos::atomic_inc(&bins[slot]);
      }
    }
  };
  struct CountInMemory {
    std::uint64_t* counts;
    KOKKOS_FUNCTION void operator()(std::uint32_t slot) const { Kokkos::atomic_inc(&counts[slot]); }
  };

  template <class Count>
  KOKKOS_FUNCTION void visit(const Team& team, const Count& count_slot) const {
    const Share mine = share_of(count, share, static_cast<std::size_t>(team.league_rank()));
    // All threads of a team make the same number of steps: they meet in the scan of what is kept.
    for (std::size_t begin = mine.begin; begin < mine.end; begin += batch * Shape.threads) {
      Key key[batch];
      std::uint32_t slot[batch];
      KRADIX_UNROLL
      for (int b = 0; b < batch; ++b) {
        const std::size_t at = begin + b * Shape.threads + team.team_rank();
        slot[b] = at < mine.end ? 0 : Slots<Bits>::none;
        if (at < mine.end) key[b] = keys[at];
      }
      KRADIX_UNROLL
      for (int b = 0; b < batch; ++b) {
        if (slot[b] != Slots<Bits>::none) slot[b] = slots.of(codec.encode(key[b]));
      }
      KRADIX_UNROLL
      for (int b = 0; b < batch; ++b) {
        if (slot[b] != Slots<Bits>::none) count_slot(slot[b]);
      }
      if (kept) keep(team, key, slot);
    }
  }

  KOKKOS_FUNCTION void keep(const Team& team, const Key (&key)[batch],
                            const std::uint32_t (&slot)[batch]) const {
    std::uint64_t wanted = 0;
    KRADIX_UNROLL
    for (int b = 0; b < batch; ++b) wanted += slot[b] != Slots<Bits>::none ? 1 : 0;
    std::uint64_t place = 0;
    if constexpr (Shape.threads == 1) {
      if (wanted == 0) return;  // as a rule: no need to meet the others
      place = Kokkos::atomic_fetch_add(kept_count, wanted);
    } else {
      place = team.team_scan(wanted, kept_count);
    }
    KRADIX_UNROLL
    for (int b = 0; b < batch; ++b) {
      if (slot[b] != Slots<Bits>::none) kept[place++] = key[b];
    }
  }
};

/// The same counts of sorted keys: counter [prefix][digit] is the length of one run.
template <class Codec>
struct FindRuns {
  using Key = typename Codec::key_type;
  using Bits = typename Codec::bits_type;

  const Key* keys;
  Codec codec;
  std::size_t count;
  std::size_t widest_step;  ///< the highest power of two that is not above count
  Slots<Bits> slots;
  std::uint64_t* counts;

  /// Both ends of a run are searched for at once: two loads take no longer than one.
  KOKKOS_FUNCTION void operator()(std::size_t i) const {
    const Bits digit = static_cast<Bits>(i % bin_count);
    if (digit >> slots.window.width) {
      counts[i] = 0;
      return;
    }
    const Bits prefix = slots.whole ? Bits{0} : slots.prefixes[i / bin_count];
    const Bits wanted =
        slots.whole ? digit : static_cast<Bits>(prefix << slots.window.width | digit);
    std::size_t begin = 0, end = 0;
    for (std::size_t step = widest_step; step > 0; step /= 2) {
      const bool before = begin + step <= count && bits_of(begin + step - 1) < wanted;
      const bool not_after = end + step <= count && bits_of(end + step - 1) <= wanted;
      begin += before ? step : 0;
      end += not_after ? step : 0;
    }
    counts[i] = end - begin;
  }

 private:
  /// Those from the window's shift on.
  KOKKOS_FUNCTION Bits bits_of(std::size_t place) const {
    return static_cast<Bits>(codec.encode(keys[place]) >> slots.window.shift);
  }
};

/// Of up to two sorted parts, how many keys lie below each of `bound_count` bounds: below[part][bound].
template <class Codec>
struct CountBelow {
  const typename Codec::key_type* keys[2];
  std::uint64_t count[2];
  Codec codec;
  const typename Codec::bits_type* bounds;
  std::size_t bound_count;
  std::uint64_t* below;

  KOKKOS_FUNCTION void operator()(std::size_t i) const {
    const std::size_t part = i / bound_count;
    std::uint64_t low = 0, high = count[part];
    while (low < high) {
      const std::uint64_t middle = low + (high - low) / 2;
      const bool is_below = codec.encode(keys[part][middle]) < bounds[i % bound_count];
      low = is_below ? middle + 1 : low;
      high = is_below ? high : middle;
    }
    below[i] = low;
  }
};

/// The keys with which each of so many equal `parts` of `span` keys begins, but the first.
template <class Codec>
struct TakeEvenly {
  const typename Codec::key_type* keys;
  Codec codec;
  std::uint64_t span, parts;
  typename Codec::bits_type* taken;

  KOKKOS_FUNCTION void operator()(std::size_t i) const {
    taken[i] = codec.encode(keys[(i + 1) * span / parts]);
  }
};

/// The first and the last key of up to two sorted parts, where they have any.
template <class Codec>
struct TakeEnds {
  const typename Codec::key_type* keys[2];
  std::uint64_t count[2];
  Codec codec;
  typename Codec::bits_type* ends;

  KOKKOS_FUNCTION void operator()(std::size_t i) const {
    const std::size_t part = i / 2;
    if (count[part] > 0) ends[i] = codec.encode(keys[part][i % 2 ? count[part] - 1 : 0]);
  }
};

/// The bits of keys at random places, one in each of `samples` equal strides.
template <class Codec>
struct TakeSample {
  using Key = typename Codec::key_type;

  const Key* keys;
  Codec codec;
  std::size_t count, samples;
  std::uint64_t seed;
  typename Codec::bits_type* taken;

  KOKKOS_FUNCTION void operator()(std::size_t i) const {
    // Strides differ by one element at most; 64 bits hold i * (count % samples) for any sample sent.
    const std::size_t stride = count / samples;
    const std::size_t rest = count % samples;
    const std::size_t begin = i * stride + i * rest / samples;
    const std::size_t end = (i + 1) * stride + (i + 1) * rest / samples;
    std::uint64_t z =
        seed + (i + 1) * 0x9e3779b97f4a7c15u;  // SplitMix (Steele, Lea and Flood 2014)
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    taken[i] = codec.encode(keys[begin + z % (end - begin)]);
  }
};

/// Looks at a key in each of `samples` equal strides: does the next one belong before it?
template <class Codec>
struct GlanceAtOrder {
  const typename Codec::key_type* keys;
  Codec codec;
  std::size_t count;  ///< 2 at least
  SamplePlaces places;
  std::uint64_t* descents;

  KOKKOS_FUNCTION void operator()(std::size_t i) const {
    const std::size_t place = places.of(i);
    if (place + 1 < count && codec.encode(keys[place + 1]) < codec.encode(keys[place])) {
      Kokkos::atomic_inc(descents);
    }
  }
};

/// From keys to [place in the whole], where an argsort begins.
struct NumberGlobally {
  std::uint64_t first;
  std::uint64_t* to;
  KOKKOS_FUNCTION void operator()(std::size_t i) const { to[i] = first + i; }
};

/// to(i) = from(index(i))
template <class T, class Index>
struct Gather {
  const T* from;
  const Index* index;
  T* to;
  KOKKOS_FUNCTION void operator()(std::size_t i) const { to[i] = from[index[i]]; }
};

}  // namespace kradix::impl::mpi
