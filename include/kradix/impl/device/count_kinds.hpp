// Few distinct keys, or kinds of keys, are counted and not moved: one read looks each key up in a table in
// scratch, then kinds are ranked among each other and expanded (expand_kinds.hpp).
//
// Kinds that the sample missed find room in the tables on the way. If there are too many, the count is void
// and the sort goes on as if it had not been tried: the keys are untouched.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "kradix/impl/backend/lanes.hpp"
#include "kradix/impl/device/route.hpp"
#include "kradix/impl/device/team.hpp"

namespace kradix::impl {

/// An open-addressed table of keys; 0 marks a free slot, so the key 0 needs a place of its own.
template <class Key>
struct KindSlots {
  static constexpr int most_probes = 64;
  static constexpr int none = -1;

  Key* keys;
  int bits;  ///< of a slot's index

  KOKKOS_FUNCTION static std::uint32_t hash(Key key) {
    return static_cast<std::uint32_t>((std::uint64_t{key} * 0x9e3779b97f4a7c15u) >> 32);
  }
  /// The slot of a key, which is taken for it if it has none (`is_new`), or `none`.
  KOKKOS_FUNCTION int find(Key key, bool& is_new) const {
    std::uint32_t slot = hash(key) >> (32 - bits);
    for (int probe = 0; probe < most_probes; ++probe) {
      Key found = *const_cast<volatile Key*>(&keys[slot]);
      if (found == 0) {
        found = Kokkos::atomic_compare_exchange(&keys[slot], Key{0}, key);
        is_new = found == 0;
      }
      if (found == key || found == 0) return static_cast<int>(slot);
      slot = (slot + 1) & ((1u << bits) - 1);
    }
    return none;
  }
};

/// Kinds and how often they occur, in device memory; all zero at first.
template <class Key>
struct Kinds {
  static constexpr int slot_bits = 12, slots = 1 << slot_bits;
  static constexpr std::uint64_t most = slots / 2;

  std::uint64_t counts[slots + 1];  ///< the last: of the key 0
  Key keys[slots];
  std::uint64_t used;  ///< slots

  // In order, with the first place of each and then the end of all.
  std::uint64_t listed;
  std::uint64_t first[most + 2];
  Key sorted[most + 1];

  /// False if there are too many kinds.
  KOKKOS_FUNCTION bool add(Key key, std::uint64_t times) {
    bool is_new = false;
    const int slot = key == 0 ? slots : KindSlots<Key>{keys, slot_bits}.find(key, is_new);
    if (slot == KindSlots<Key>::none) return false;
    if (is_new && Kokkos::atomic_fetch_add(&used, std::uint64_t{1}) >= most) return false;
    Kokkos::atomic_add(&counts[slot], times);
    return true;
  }
};

/// Teams that stay look up all keys.
template <class ExecutionSpace, class Key, TeamShape Shape>
struct CountKinds {
  using Team = TeamMember<ExecutionSpace>;
  using L = Lanes<ExecutionSpace>;
  static constexpr int threads = Shape.threads;
  static constexpr int batch = sizeof(Key) <= 4 ? 8 : 4;
  // Of few kinds, each has several counters: lanes that hold the same key would wait for each other.
  static constexpr int most_slot_bits = 11, least_slot_bits = 7, counter_bits = 12;

  const Key* keys;
  std::size_t count;
  Route* route;
  Kinds<Key>* kinds;

  struct Scratch {
    Key keys[1 << most_slot_bits];
    std::uint32_t counts[1 << counter_bits];  ///< [slot][copy]
    std::uint32_t zeros;                      ///< of the key 0
    std::uint32_t is_void;
  };
  static std::size_t scratch_bytes() { return sizeof(Scratch); }

  /// Keys of one kind that a thread meets one after the other are counted together.
  struct Run {
    Key key;
    std::uint32_t length;
  };
  struct Table {
    KindSlots<Key> slots;
    int copy_bits;
    std::uint32_t copy;  ///< this thread's
  };

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    if (route->kinds == 0) return;
    Scratch& scratch = *take_scratch<Scratch>(team, 1);
    const int thread = team.team_rank();
    const Table table = table_in(scratch, thread);
    for (int i = thread; i < 1 << most_slot_bits; i += threads) scratch.keys[i] = 0;
    for (int i = thread; i < 1 << counter_bits; i += threads) scratch.counts[i] = 0;
    if (thread == 0) scratch.zeros = scratch.is_void = 0;
    team.team_barrier();
    count_keys(team, table, scratch);
    team.team_barrier();
    if (scratch.is_void == 0) add_to_all(thread, table, scratch);
  }

  /// At most half full of the kinds that were sampled.
  KOKKOS_FUNCTION Table table_in(Scratch& scratch, int thread) const {
    int bits = least_slot_bits;
    while (bits < most_slot_bits && 1 << bits < 2 * route->kinds) ++bits;
    const int copy_bits = counter_bits - bits;
    return {{scratch.keys, bits},
            copy_bits,
            static_cast<std::uint32_t>(thread) & ((1u << copy_bits) - 1)};
  }

  KOKKOS_FUNCTION void count_keys(const Team& team, const Table& table, Scratch& scratch) const {
    Run run{0, 0};
    const auto add_key = [&](Key key) {
      if (key == run.key) {
        ++run.length;
      } else {
        add(table, run, scratch);
        run = {key, 1};
      }
    };
    constexpr std::size_t step = std::size_t{batch} * threads;
    const std::size_t stride = step * static_cast<std::size_t>(team.league_size());
    std::size_t at = step * static_cast<std::size_t>(team.league_rank());
    for (; at + step <= count; at += stride) {
      Key key[batch];
      KRADIX_UNROLL
      for (int b = 0; b < batch; ++b) key[b] = keys[at + b * threads + team.team_rank()];
      if (*const_cast<volatile std::uint32_t*>(&scratch.is_void) != 0) return;
      KRADIX_UNROLL
      for (int b = 0; b < batch; ++b) add_key(key[b]);
    }
    for (std::size_t i = at + team.team_rank(); i < count && i < at + step; i += threads) {
      add_key(keys[i]);
    }
    add(table, run, scratch);
  }

  /// To the team's table, or to that of all if there is no room.
  KOKKOS_FUNCTION void add(const Table& table, const Run& run, Scratch& scratch) const {
    if (run.key == 0) {
      L::add(&scratch.zeros, run.length);
      return;
    }
    bool is_new = false;
    const int slot = table.slots.find(run.key, is_new);
    if (slot != KindSlots<Key>::none) {
      L::add(&scratch.counts[static_cast<std::uint32_t>(slot) << table.copy_bits | table.copy],
             run.length);
    } else if (!kinds->add(run.key, run.length)) {
      give_up(scratch);
    }
  }

  KOKKOS_FUNCTION void give_up(Scratch& scratch) const {
    scratch.is_void = 1;
    L::store(&route->too_many_kinds, 1);
  }

  KOKKOS_FUNCTION void add_to_all(int thread, const Table& table, Scratch& scratch) const {
    for (int slot = thread; slot < 1 << table.slots.bits; slot += threads) {
      if (scratch.keys[slot] == 0) continue;
      std::uint64_t sum = 0;
      for (int c = 0; c < 1 << table.copy_bits; ++c) {
        sum += scratch.counts[(slot << table.copy_bits) + c];
      }
      if (!kinds->add(scratch.keys[slot], sum)) give_up(scratch);
    }
    if (thread == 0 && scratch.zeros > 0) kinds->add(0, scratch.zeros);
  }
};

/// Groups of lanes rank kinds: how many lie before one, and how often those occur.
template <class ExecutionSpace, class Codec, int Threads>
struct RankKinds {
  using Key = typename Codec::key_type;
  using Bits = typename Codec::bits_type;
  using Team = TeamMember<ExecutionSpace>;
  using L = Lanes<ExecutionSpace>;
  static constexpr int groups = Threads / L::width;
  static constexpr int teams = 32;

  Codec codec;
  std::size_t count;
  const PassTable* passes;
  Kinds<Key>* kinds;

  struct Kind {
    std::uint64_t times;
    Key key;
  };
  struct Scratch {
    Kind kind[Kinds<Key>::most + 1];
    std::uint32_t listed;
  };
  static std::size_t scratch_bytes() { return sizeof(Scratch); }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    if (!passes->expands) return;
    Scratch& scratch = *take_scratch<Scratch>(team, 1);
    if (team.team_rank() == 0) scratch.listed = 0;
    team.team_barrier();
    for (int slot = team.team_rank(); slot <= Kinds<Key>::slots; slot += Threads) {
      const std::uint64_t times = kinds->counts[slot];
      if (times == 0) continue;
      const Key key = slot < Kinds<Key>::slots ? kinds->keys[slot] : Key{0};
      scratch.kind[L::add(&scratch.listed, 1)] = {times, key};
    }
    team.team_barrier();
    const auto listed = static_cast<int>(scratch.listed);
    const int group = team.league_rank() * groups + team.team_rank() / L::width;
    const int lane = L::lane(team.team_rank());
    // Teams list the kinds in any order, each in its own: a team's groups must take those that are theirs.
    for (int i = team.team_rank() / L::width; i < listed; i += groups) {
      if (owner(scratch.kind[i].key) == team.league_rank()) rank(scratch, listed, i, lane);
    }
    if (group == 0 && lane == 0) {
      kinds->listed = static_cast<std::uint64_t>(listed);
      kinds->first[listed] = count;
    }
  }

  KOKKOS_FUNCTION static int owner(Key key) {
    return static_cast<int>(KindSlots<Key>::hash(key) % teams);
  }

  KOKKOS_FUNCTION void rank(const Scratch& scratch, int listed, int of, int lane) const {
    const Bits bits = codec.encode(scratch.kind[of].key);
    std::uint32_t below = 0;
    std::uint64_t before = 0;
    for (int i = lane; i < listed; i += L::width) {
      const Kind& other = scratch.kind[i];
      if (codec.encode(other.key) < bits) {
        ++below;
        before += other.times;
      }
    }
    below = sum_of(below, lane);
    // Lanes sum 32 bits at once.
    constexpr int half = 24;
    const std::uint32_t low = sum_of(static_cast<std::uint32_t>(before & ((1u << half) - 1)), lane);
    const std::uint32_t high = sum_of(static_cast<std::uint32_t>(before >> half), lane);
    if (lane != 0) return;
    kinds->sorted[below] = scratch.kind[of].key;
    kinds->first[below] = (std::uint64_t{high} << half) + low;
  }

  KOKKOS_FUNCTION static std::uint32_t sum_of(std::uint32_t value, int lane) {
    return L::from_last(L::scan(value, lane) + value);
  }
};

}  // namespace kradix::impl
