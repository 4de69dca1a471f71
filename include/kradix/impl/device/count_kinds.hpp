// Few distinct keys, or kinds of keys, are counted and not moved: one read looks each key up in a table in
// scratch, then kinds are ranked among each other and expanded (expand_kinds.hpp).
//
// Kinds that the sample saw have a slot in one of two places each before the count begins, for the slowest of
// a group's lanes decides: a key in a hundred that is looked for farther away would make most groups look
// again. Kinds that it missed find room on the way. If there are too many, the count is void and the sort
// goes on as if it had not been tried: the keys are untouched.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "kradix/impl/backend/lanes.hpp"
#include "kradix/impl/device/route.hpp"
#include "kradix/impl/device/team.hpp"
#include "kradix/impl/device/wide_array.hpp"
#include "kradix/impl/words.hpp"

namespace kradix::impl {

/// A table of 2^Bits keys, in scratch or in memory. 0 marks a free slot; the key 0 itself has the one behind
/// the last. Other keys have two homes, of which the first is never free where one lies at the second.
template <class Key, int Bits>
struct KindSlots {
  static constexpr int count = 1 << Bits, most_probes = 64, most_moves = 256;
  static constexpr std::uint32_t none = count + 1;
  static_assert(2 * Bits <= 32);

  Key* keys;

  struct Homes {
    std::uint32_t first, second;  ///< the second of any key but 0
  };
  KOKKOS_FUNCTION static Homes homes(Key key) {
    using Word = unsigned_of_bits<8 * sizeof(Key)>;
    constexpr auto odd = static_cast<Word>(0x9e3779b97f4a7c15u >> (64 - 8 * sizeof(Word)));
    // Two rounds: by one alone, the homes of evenly spaced keys may crowd.
    auto mixed = static_cast<std::uint32_t>(Word{key} * odd >> (8 * sizeof(Word) - 32));
    mixed = (mixed ^ mixed >> 15) * 0x85ebca6bu;
    return {key == 0 ? count : mixed >> (32 - Bits), mixed >> (32 - 2 * Bits) & (count - 1)};
  }
  KOKKOS_FUNCTION Key at(std::uint32_t slot) const {
    return *const_cast<volatile Key*>(&keys[slot]);
  }
  /// Gives a key one of its homes, of which another may have to move to its other one: while all threads do
  /// this, no one looks for keys. Where they are too crowded, the last that had to move is left out.
  KOKKOS_FUNCTION void give_home(Key key) const {
    std::uint32_t slot = homes(key).first;
    KRADIX_ROLLED
    for (int move = 0; move < most_moves; ++move) {
      key = Kokkos::atomic_exchange(&keys[slot], key);
      if (key == 0) return;
      const Homes both = homes(key);
      slot ^= both.first ^ both.second;
    }
  }
  /// The home at which a key lies, or `none`.
  KOKKOS_FUNCTION std::uint32_t find_at_home(Key key) const {
    const Homes both = homes(key);
    if (at(both.first) == key) return both.first;
    return at(both.second) == key ? both.second : none;
  }
  /// The slot of a key: one of its homes, or one behind the second. A key that has none takes the first of
  /// these that is free (`is_new`). `none` if all near are taken.
  KOKKOS_FUNCTION std::uint32_t find(Key key, bool& is_new) const {
    const Homes both = homes(key);
    std::uint32_t slot = both.first;
    KRADIX_ROLLED
    for (int probe = 0; probe < most_probes; ++probe) {
      Key found = at(slot);
      if (found == key) return slot;
      if (found == 0) {
        found = Kokkos::atomic_compare_exchange(&keys[slot], Key{0}, key);
        is_new = found == 0;
        if (is_new || found == key) return slot;
      }
      slot = probe == 0 ? both.second : (slot + 1) & (count - 1);
    }
    return none;
  }
};

/// Kinds and how often they occur, in device memory; all zero at first.
template <class Key>
struct Kinds {
  using Slots = KindSlots<Key, 12>;
  static constexpr std::uint64_t most = Slots::count / 2;

  std::uint64_t counts[Slots::count + 1];
  Key keys[Slots::count + 1];
  std::uint64_t used;         ///< slots, beside that of the key 0
  std::uint32_t slots[most];  ///< those

  // In order, with the first place of each and then the end of all.
  std::uint64_t listed;
  std::uint64_t first[most + 2];
  Key sorted[most + 1];

  /// False if there are too many kinds.
  KOKKOS_FUNCTION bool add(Key key, std::uint64_t times) {
    bool is_new = false;
    const std::uint32_t slot = Slots{keys}.find(key, is_new);
    if (slot == Slots::none) return false;
    if (is_new) {
      const std::uint64_t place = Kokkos::atomic_fetch_add(&used, std::uint64_t{1});
      if (place >= most) return false;
      slots[place] = slot;
    }
    Kokkos::atomic_add(&counts[slot], times);
    return true;
  }
};

/// Teams that stay look up all keys. Of long keys no more find room in scratch; short ones lie at their first
/// home more often the fewer slots are taken.
template <class ExecutionSpace, class Key, TeamShape Shape,
          int SlotBits = sizeof(Key) <= 4 ? 12 : 11>
struct CountKinds {
  using Team = TeamMember<ExecutionSpace>;
  using L = Lanes<ExecutionSpace>;
  using Slots = KindSlots<Key, SlotBits>;
  using Packed = Pack<Key>;
  static constexpr int threads = Shape.threads, batch = Shape.items, packs = batch / Packed::size;
  static_assert(batch == packs * Packed::size && batch <= 32);

  WideArray<const Key> keys;
  Route* route;
  const Key* sampled;
  Kinds<Key>* kinds;

  struct Scratch {
    Key keys[Slots::count + 1];
    std::uint32_t counts[Slots::count + 1];
    std::uint32_t is_void;
  };
  KOKKOS_FUNCTION static constexpr std::size_t scratch_bytes() {
    return (sizeof(Scratch) + 7) / 8 * 8;
  }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    count_in(team, take_scratch<std::uint64_t>(team, scratch_bytes() / 8));
  }
  KOKKOS_FUNCTION void count_in(const Team& team, std::uint64_t* memory) const {
    if (route->kinds == 0) return;
    Scratch& scratch = *reinterpret_cast<Scratch*>(memory);
    for (int i = team.team_rank(); i <= Slots::count; i += threads) {
      scratch.keys[i] = 0;
      scratch.counts[i] = 0;
    }
    if (team.team_rank() == 0) scratch.is_void = 0;
    team.team_barrier();
    for (int i = team.team_rank(); i < route->kinds; i += threads) {
      Slots{scratch.keys}.give_home(sampled[i]);
    }
    team.team_barrier();
    count_keys(team, scratch);
    team.team_barrier();
    if (scratch.is_void == 0) add_to_all(team, scratch);
  }

  KOKKOS_FUNCTION void count_keys(const Team& team, Scratch& scratch) const {
    constexpr std::size_t step = std::size_t{packs} * threads;
    const std::size_t stride = step * static_cast<std::size_t>(team.league_size());
    std::size_t at = step * static_cast<std::size_t>(team.league_rank());
    for (; at + step <= keys.packs(); at += stride) {
      Packed pack[packs];
      KRADIX_UNROLL
      for (int p = 0; p < packs; ++p) pack[p] = keys.load(at + p * threads + team.team_rank());
      if (*const_cast<volatile std::uint32_t*>(&scratch.is_void) != 0) return;
      add_batch(pack, scratch);
    }
    for (std::size_t i = at + team.team_rank(); i < keys.packs() && i < at + step; i += threads) {
      const Packed pack = keys.load(i);
      for (int w = 0; w < Packed::size; ++w) add(pack.word(w), scratch);
    }
    if (team.league_rank() != 0) return;
    for (int i = team.team_rank(); i < keys.edges(); i += threads) {
      add(keys.at(keys.place_of_edge(i)), scratch);
    }
  }

  /// Those that lie at home at once, then the others, by the same few instructions.
  KOKKOS_FUNCTION void add_batch(const Packed* pack, Scratch& scratch) const {
    Key key[batch];
    std::uint32_t others = 0;
    KRADIX_UNROLL
    for (int b = 0; b < batch; ++b) {
      key[b] = pack[b / Packed::size].word(b % Packed::size);
      const std::uint32_t slot = Slots{scratch.keys}.find_at_home(key[b]);
      others |= slot == Slots::none ? 1u << b : 0;
      if (slot != Slots::none) L::increment(&scratch.counts[slot]);
    }
    KRADIX_ROLLED
    while (others != 0) {
      Key last = key[0];
      std::uint32_t bit = 1;
      KRADIX_UNROLL
      for (int b = 1; b < batch; ++b) {
        if ((others >> b & 1) == 0) continue;
        last = key[b];
        bit = 1u << b;
      }
      others &= ~bit;
      add(last, scratch);
    }
  }

  /// To the team's table, or to that of all if there is no room.
  KOKKOS_FUNCTION void add(Key key, Scratch& scratch) const {
    bool is_new = false;
    const std::uint32_t slot = Slots{scratch.keys}.find(key, is_new);
    if (slot != Slots::none) {
      L::increment(&scratch.counts[slot]);
    } else if (!kinds->add(key, 1)) {
      give_up(scratch);
    }
  }

  KOKKOS_FUNCTION void give_up(Scratch& scratch) const {
    scratch.is_void = 1;
    L::store(&route->too_many_kinds, std::uint64_t{1});
  }

  KOKKOS_FUNCTION void add_to_all(const Team& team, Scratch& scratch) const {
    for (int slot = team.team_rank(); slot <= Slots::count; slot += threads) {
      const std::uint32_t times = scratch.counts[slot];
      if (times > 0 && !kinds->add(scratch.keys[slot], times)) give_up(scratch);
    }
  }
};

/// Groups of lanes rank kinds, once all are counted: how many lie before one, and how often those occur.
template <class ExecutionSpace, class Codec, int Threads>
struct RankKinds {
  using Key = typename Codec::key_type;
  using Bits = typename Codec::bits_type;
  using Team = TeamMember<ExecutionSpace>;
  using L = Lanes<ExecutionSpace>;
  static constexpr int groups = Threads / L::width;
  static constexpr int most_teams = 32;

  Codec codec;
  std::size_t count;
  Kinds<Key>* kinds;

  struct Kind {
    std::uint64_t times;
    Key key;
  };
  struct Scratch {
    Kind kind[Kinds<Key>::most + 1];
  };
  KOKKOS_FUNCTION static constexpr std::size_t scratch_bytes() {
    return (sizeof(Scratch) + 7) / 8 * 8;
  }

  /// By each of the first teams.
  KOKKOS_FUNCTION void rank_in(const Team& team, std::uint64_t* memory) const {
    const int index = team.league_rank();
    const int working = team.league_size() < most_teams ? team.league_size() : most_teams;
    if (index >= working) return;
    Kind* const kind = reinterpret_cast<Scratch*>(memory)->kind;
    const auto used = static_cast<int>(L::load(&kinds->used));
    const std::uint64_t zeros = L::load(&kinds->counts[Kinds<Key>::Slots::count]);
    const int listed = used + (zeros > 0 ? 1 : 0), thread = team.team_rank();
    for (int i = thread; i < used; i += Threads) {
      const std::uint32_t slot = kinds->slots[i];
      kind[i] = {kinds->counts[slot], kinds->keys[slot]};
    }
    if (thread == 0 && zeros > 0) kind[used] = {zeros, Key{0}};
    team.team_barrier();
    const int group = index * groups + thread / L::width, lane = L::lane(thread);
    KRADIX_ROLLED
    for (int i = group; i < listed; i += working * groups) rank(kind, listed, i, lane);
    if (group == 0 && lane == 0) {
      kinds->listed = static_cast<std::uint64_t>(listed);
      kinds->first[listed] = count;
    }
  }

  KOKKOS_FUNCTION void rank(const Kind* kind, int listed, int of, int lane) const {
    const Bits bits = codec.encode(kind[of].key);
    std::uint32_t below = 0;
    std::uint64_t before = 0;
    for (int i = lane; i < listed; i += L::width) {
      if (codec.encode(kind[i].key) < bits) {
        ++below;
        before += kind[i].times;
      }
    }
    below = sum_of(below, lane);
    // Lanes sum 32 bits at once.
    constexpr int half = 24;
    const std::uint32_t low = sum_of(static_cast<std::uint32_t>(before & ((1u << half) - 1)), lane);
    const std::uint32_t high = sum_of(static_cast<std::uint32_t>(before >> half), lane);
    if (lane != 0) return;
    kinds->sorted[below] = kind[of].key;
    kinds->first[below] = (std::uint64_t{high} << half) + low;
  }

  KOKKOS_FUNCTION static std::uint32_t sum_of(std::uint32_t value, int lane) {
    return L::from_last(L::scan(value, lane) + value);
  }
};

}  // namespace kradix::impl
