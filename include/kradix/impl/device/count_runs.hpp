// Keys alone of a short range: after one pass over the topmost digit a team counts the keys of a bin in scratch, value
// by value, and writes them anew in order. If a bin has more values than there is room for, more teams read its keys,
// and each counts its part of the values.
//
// The counting sort of Seward (1954), as in counting.hpp, after one step of a most-significant-digit radix sort.
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdint>

#include "kradix/impl/backend/lanes.hpp"
#include "kradix/impl/buffers.hpp"
#include "kradix/impl/device/digit.hpp"
#include "kradix/impl/device/team.hpp"

namespace kradix::impl {

/// Counters of values in words of scratch, `Fields` to a word.
template <int Fields>
struct ValueCounters {
  static constexpr int bits = 32 / Fields;
  static constexpr std::uint32_t mask = ~0u >> (32 - bits);

  std::uint32_t* words;

  template <class L>
  KOKKOS_FUNCTION void increment(std::uint32_t value) const {
    if constexpr (Fields == 1) {
      L::increment(&words[value]);
    } else {
      L::add(&words[value / Fields], 1u << (bits * (value % Fields)));
    }
  }
  KOKKOS_FUNCTION std::uint32_t of(std::uint32_t value) const {
    return words[value / Fields] >> (bits * (value % Fields)) & mask;
  }
};

template <class ExecutionSpace, class Codec, int Threads>
struct CountRuns {
  using Key = typename Codec::key_type;
  using Bits = typename Codec::bits_type;
  using Team = TeamMember<ExecutionSpace>;
  using L = Lanes<ExecutionSpace>;
  using Mask = typename L::Mask;
  static constexpr int groups = Threads / L::width;
  static constexpr int word_bits = 13, words = 1 << word_bits;
  static constexpr int fields = 4, byte_bits = word_bits + 2;
  static constexpr int most_bits =
      byte_bits + 1;  ///< of a bin's values: each key is read twice then
  static constexpr int batch = 64 / sizeof(Key);  ///< loads that are under way together
  /// The whole team writes the keys of a value that has more than this part of the bin's.
  static constexpr std::uint32_t most_long = 64;
  static constexpr std::uint32_t few = 32;  ///< keys of a value, that its lane places

  PassBuffers<Key> keys;
  Codec codec;
  const PassTable* passes;
  const std::uint64_t* bins;  ///< [row][bin]: where each ends, after a pass in no order

  struct LongValue {
    std::uint32_t value, place;
  };
  struct Scratch {
    std::uint32_t counts[words];
    std::uint8_t whose[groups][few * L::width];  ///< whose value a key has, by lanes
    LongValue long_values[most_long];
    std::uint32_t sums[groups];
    std::uint32_t listed;   ///< long values
    std::uint32_t below;    ///< keys of the bin that have lesser values than these
    std::uint32_t outside;  ///< and lesser or greater ones
  };
  static std::size_t scratch_bytes() { return sizeof(Scratch); }

  /// A bin's keys, and those of its values that are counted together.
  struct Part {
    const Key* keys;
    Key* result;
    std::uint32_t size;  ///< keys of the whole bin
    Bits least;
    std::uint32_t values;
  };

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    Scratch& scratch = *take_scratch_apart<Scratch>(team, 1);
    const int bits = passes->digit[0].shift, own = bits < byte_bits ? bits : byte_bits;
    const int parts = bin_count << (bits - own);
    const Key* const from = keys.source(passes->number(1), passes->all_and_counting());
    const Bits above =
        static_cast<Bits>(codec.encode(from[0]) & ~low_mask<Bits>(bits + digit_bits));
    const std::uint64_t* const ends = bins + passes->row[0] * bin_count;
    for (int i = team.league_rank(); i < parts; i += team.league_size()) {
      const int bin = i >> (bits - own);
      const std::uint64_t begin = bin == 0 ? 0 : ends[bin - 1];
      Part part{from + begin, keys.result + begin, static_cast<std::uint32_t>(ends[bin] - begin),
                static_cast<Bits>(above | static_cast<Bits>(i) << own), 1u << own};
      if (part.size == 0 || (own > word_bits && sort<fields>(team, part, scratch))) continue;
      const Bits end = part.least + part.values;
      if (own > word_bits) part.values = words;
      for (; part.least != end; part.least += part.values) sort<1>(team, part, scratch);
    }
  }

 private:
  /// False if there are too many keys of a value. Begins where nobody is using scratch, and so ends.
  template <int Fields>
  KOKKOS_FUNCTION bool sort(const Team& team, const Part& part, Scratch& scratch) const {
    const ValueCounters<Fields> counters{scratch.counts};
    clear<Fields>(team, part, scratch);
    count(team, part, counters, scratch);
    // A counter that overflows takes more from the sum than it adds to the next one.
    const Sums sums = sum_up(team, part, counters, scratch);
    const bool fits = Fields == 1 || sums.all == part.size - scratch.outside;
    if (fits) write(team, part, counters, scratch.below + sums.before, scratch);
    team.team_barrier();
    return fits;
  }

  template <int Fields>
  KOKKOS_FUNCTION static void clear(const Team& team, const Part& part, Scratch& scratch) {
    const std::uint32_t used = (part.values + Fields - 1) / Fields;
    for (std::uint32_t i = team.team_rank(); i < used; i += Threads) scratch.counts[i] = 0;
    if (team.team_rank() == 0) {
      scratch.listed = scratch.below = scratch.outside = 0;
    }
    team.team_barrier();
  }

  KOKKOS_FUNCTION static void load(const Key* from, Key* key) {
    KRADIX_UNROLL
    for (int b = 0; b < batch; ++b) key[b] = from[b * Threads];
  }

  /// Ends with a barrier.
  template <class Counters>
  KOKKOS_FUNCTION void count(const Team& team, const Part& part, const Counters& counters,
                             Scratch& scratch) const {
    std::uint32_t below = 0, outside = 0;
    const auto see = [&](const Key& key) {
      const auto value = static_cast<Bits>(codec.encode(key) - part.least);
      if (value < part.values) {
        counters.template increment<L>(static_cast<std::uint32_t>(value));
      } else {
        ++outside;
        below += static_cast<std::uint32_t>(value >> (8 * sizeof(Bits) - 1));
      }
    };
    constexpr std::uint32_t step = batch * Threads;
    const auto is_full = [&](std::uint32_t at) { return at + (step - Threads) < part.size; };
    std::uint32_t at = team.team_rank();
    Key key[batch], next[batch];
    if (is_full(at)) load(part.keys + at, key);
    for (; is_full(at); at += step) {  // the next ones are on their way meanwhile
      load(part.keys + (is_full(at + step) ? at + step : at), next);
      KRADIX_UNROLL
      for (int b = 0; b < batch; ++b) see(key[b]);
      KRADIX_UNROLL
      for (int b = 0; b < batch; ++b) key[b] = next[b];
    }
    KRADIX_UNROLL
    for (int b = 0; b < batch; ++b) {
      key[b] = part.keys[at + b * Threads < part.size ? at + b * Threads : 0];
    }
    KRADIX_UNROLL
    for (int b = 0; b < batch; ++b) {
      if (at + b * Threads < part.size) see(key[b]);
    }
    if (outside != 0) {
      Kokkos::atomic_add(&scratch.below, below);
      Kokkos::atomic_add(&scratch.outside, outside);
    }
    team.team_barrier();
  }

  /// Values of a group of lanes.
  struct Values {
    std::uint32_t begin, end;
  };
  KOKKOS_FUNCTION static Values values_of(int group, const Part& part) {
    constexpr std::uint32_t all = groups * L::width;
    const std::uint32_t share = (part.values + all - 1) / all * L::width, begin = group * share;
    const std::uint32_t end = begin + share;
    return {begin < part.values ? begin : part.values, end < part.values ? end : part.values};
  }

  struct Sums {
    std::uint32_t before, all;  ///< of the counters of groups before one; of all
  };
  template <class Counters>
  KOKKOS_FUNCTION static Sums sum_up(const Team& team, const Part& part, const Counters& counters,
                                     Scratch& scratch) {
    const int group = team.team_rank() / L::width, lane = L::lane(team.team_rank());
    const Values mine = values_of(group, part);
    std::uint32_t sum = 0;
    for (std::uint32_t i = mine.begin + lane; i < mine.end; i += L::width) sum += counters.of(i);
    sum = L::from_last(L::scan(sum, lane) + sum);
    if (lane == 0) scratch.sums[group] = sum;
    team.team_barrier();
    Sums sums{0, 0};
    for (int g = 0; g < groups; ++g) {
      if (g == group) sums.before = sums.all;
      sums.all += scratch.sums[g];
    }
    return sums;
  }

  KOKKOS_FUNCTION Key key_of(const Part& part, std::uint32_t value) const {
    return codec.decode(static_cast<Bits>(part.least + value));
  }

  template <class Counters>
  KOKKOS_FUNCTION void write(const Team& team, const Part& part, const Counters& counters,
                             std::uint32_t place, Scratch& scratch) const {
    const int group = team.team_rank() / L::width, lane = L::lane(team.team_rank());
    const Values mine = values_of(group, part);
    for (std::uint32_t value = mine.begin; value < mine.end; value += L::width) {
      const std::uint32_t own = value + lane < mine.end ? counters.of(value + lane) : 0;
      write_values(part, value, own, place, lane, scratch.whose[group], scratch);
    }
    team.team_barrier();
    for (std::uint32_t i = 0; i < scratch.listed; ++i) {
      const LongValue found = scratch.long_values[i];
      const Key key = key_of(part, found.value);
      Key* const out = part.result + found.place;
      for (std::uint32_t j = team.team_rank(); j < counters.of(found.value); j += Threads) {
        out[j] = key;
      }
    }
  }

  /// One value a lane, of which it knows how many keys have it; those of the first begin at `place`, which moves on.
  KOKKOS_FUNCTION void write_values(const Part& part, std::uint32_t value, std::uint32_t own,
                                    std::uint32_t& place, int lane, std::uint8_t* whose,
                                    Scratch& scratch) const {
    const std::uint32_t begin = L::scan(own, lane), all = L::from_last(begin + own);
    Key* const out = part.result + place;
    if (L::where(own > few) == 0) {
      for (std::uint32_t i = 0; i < own; ++i) whose[begin + i] = static_cast<std::uint8_t>(lane);
      L::barrier();
      for (std::uint32_t i = lane; i < all; i += L::width) out[i] = key_of(part, value + whose[i]);
      L::barrier();
    } else {
      const bool is_long = own > part.size / most_long;
      if (is_long) {
        scratch.long_values[L::add(&scratch.listed, 1u)] = {value + lane, place + begin};
      }
      const std::uint32_t here = is_long ? 0 : own;
      KRADIX_UNROLL
      for (int other = 0; other < L::width; ++other) {
        const auto its = static_cast<Mask>(Mask{1} << other);
        const std::uint32_t size = L::from_first(here, its), first = L::from_first(begin, its);
        const Key key = key_of(part, value + other);
        KRADIX_ROLLED
        for (std::uint32_t i = lane; i < size; i += L::width) out[first + i] = key;
      }
    }
    place += all;
  }
};

/// One launch does what the route tells: the runs that are left of a finish are sorted, or all are counted.
template <class Ranges, class Runs>
struct RangesOrRuns {
  Ranges ranges;
  Runs runs;

  static std::size_t scratch_bytes() {
    return std::max(Ranges::scratch_bytes(), Runs::scratch_bytes());
  }

  KOKKOS_FUNCTION void operator()(const typename Runs::Team& team) const {
    if (runs.passes->counts()) {
      runs(team);
    } else {
      ranges(team);
    }
  }
};

}  // namespace kradix::impl
