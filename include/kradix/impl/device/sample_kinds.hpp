// The kinds of keys in a sample, by one team: all of them, if they are few, or those that make up much of it.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>

#include "kradix/impl/backend/lanes.hpp"
#include "kradix/impl/device/heavy_kinds.hpp"
#include "kradix/impl/device/key_order.hpp"
#include "kradix/impl/device/merge_few.hpp"
#include "kradix/impl/device/sample_places.hpp"
#include "kradix/impl/device/team.hpp"

namespace kradix::impl {

/// Is a key of this codec one word, by which kinds can be listed?
template <class Codec>
inline constexpr bool may_be_listed = std::is_unsigned_v<typename Codec::key_type> &&
                                      sizeof(typename Codec::key_type) <= 8;

/// And is that word all there is to know of it, so that counting makes it again whatever other keys there are?
template <class Codec>
inline constexpr bool may_be_kind = Codec::tells_all_keys_apart&& may_be_listed<Codec>;

/// Or can it tell of which keys that is so? They may leave others with their values.
template <class Codec>
concept tells_lone_keys = requires(const Codec& codec, typename Codec::key_type key) {
  codec.is_lone(key);
};
template <class Codec, bool WithValues>
inline constexpr bool may_be_taken_out = may_be_kind<Codec> ||
                                         (WithValues && may_be_listed<Codec> &&
                                          tells_lone_keys<Codec>);

/// (All that a team of 512 has scratch for, with labels of 8-byte keys.)
inline constexpr int most_sampled_kinds = 1000;

/// Words that one team sees, and how often, in scratch: half full at most, or little more where they are kinds.
template <class ExecutionSpace>
struct SampleTable {
  static constexpr int bits = 11, slots = 1 << bits;

  std::uint64_t word[slots];  ///< 0: free
  std::uint32_t times[slots];
  std::uint32_t found, most, listed, zeros;
  std::uint32_t lost;  ///< keys of kinds for which there was no room

  template <int Threads>
  KOKKOS_FUNCTION void clear(const TeamMember<ExecutionSpace>& team) {
    for (int i = team.team_rank(); i < slots; i += Threads) {
      word[i] = 0;
      times[i] = 0;
    }
    if (team.team_rank() == 0) found = most = listed = zeros = lost = 0;
    team.team_barrier();
  }
  KOKKOS_FUNCTION static std::uint32_t slot_of(std::uint64_t mine) {
    return static_cast<std::uint32_t>((mine * 0x9e3779b97f4a7c15u) >> (64 - bits));
  }
  KOKKOS_FUNCTION static std::uint32_t next(std::uint32_t slot) { return (slot + 1) & (slots - 1); }
};

/// How many were listed (0: none), the share of the sample that heavy ones make up, and that of each that was not listed,
/// at most.
struct KindsInSample {
  int kinds = 0, heavy = 0;
  float heavy_share = 0, light_most = 0;
};

template <class ExecutionSpace, class Codec, int Threads>
struct SampleKinds {
  using Key = typename Codec::key_type;
  using Bits = typename Codec::bits_type;
  using Team = TeamMember<ExecutionSpace>;
  using L = Lanes<ExecutionSpace>;
  using Table = SampleTable<ExecutionSpace>;
  static constexpr int samples = 1024;  ///< of one round
  static constexpr int each = samples / Threads;
  static_assert(most_sampled_kinds <= samples);

  KeyOrder<Codec> order;
  Key* sampled;            ///< where kinds are written (null: nobody wants them)
  HeavyKinds<Key>* heavy;  ///< likewise those that are heavy, where all are too many
  /// Kinds are of no use then unless in order and none is missed; and heavy ones need slots.
  bool with_values;
  int most;           ///< that may be listed
  float least_share;  ///< of the sample, that makes heavy ones of use
  /// Each round looks all over the keys. Of kinds that are seen 12 times on average, 6 in a million are missed.
  static constexpr int least_rounds = 4, most_rounds = 16;

  KOKKOS_FUNCTION bool wanted() const { return sampled != nullptr; }

  /// Lists the kinds in a larger sample, if hardly any can have been missed; or those that make up much of it.
  KOKKOS_FUNCTION KindsInSample operator()(const Team& team, Table& table) const {
    const int rounds = may_sample_all() ? most_rounds : least_rounds;
    const SamplePlaces places(order.count, static_cast<std::size_t>(samples * rounds));
    return look(team, table, rounds, /*hurries=*/false, [&](int round, std::uint64_t* key) {
      read_round(team, places, round, rounds, key);
    });
  }

  /// The same of keys at hand, that the threads of a team hold so many each; and of more, if these do not tell all kinds.
  KOKKOS_FUNCTION KindsInSample among(const Team& team, Table& table, const Key* mine) const {
    const bool all_rounds = most * times() > least_rounds * samples && may_sample_all();
    const int rounds = all_rounds ? most_rounds : least_rounds;
    const SamplePlaces places(order.count, static_cast<std::size_t>(samples * rounds));
    return look(team, table, rounds, /*hurries=*/true, [&](int round, std::uint64_t* key) {
      if (round >= least_rounds) {
        read_round(team, places, round, rounds, key);
        return;
      }
      KRADIX_UNROLL
      for (int i = 0; i < each; ++i) key[i] = mine[round * each + i];
    });
  }

 private:
  /// That a kind is seen, on average.
  KOKKOS_FUNCTION int times() const { return with_values ? 12 : 4; }
  KOKKOS_FUNCTION bool may_sample_all() const {
    return order.count >= static_cast<std::size_t>(most_rounds) * samples;
  }

  /// Who hurries goes on to more rounds only where hardly any kind has been missed by then.
  template <class Read>
  KOKKOS_FUNCTION KindsInSample look(const Team& team, Table& table, int rounds, bool hurries,
                                     const Read& read) const {
    table.template clear<Threads>(team);
    std::uint64_t key[each];
    bool few = true;
    int round = 0, seen = 0;
    KRADIX_ROLLED
    while (seen < rounds * samples) {
      read(round, key);
      see_kinds(key, few, table);
      team.team_barrier();
      const auto found = static_cast<int>(table.found) + (table.zeros != 0 ? 1 : 0);
      // Of more kinds than can be, three of four are new at first.
      if (round == 0 && found > samples * 3 / 4) return {};
      few = few && table.lost == 0 && found <= most;
      seen = ++round * samples;
      if (!few && !may_be_heavy(found + static_cast<int>(table.lost), seen)) return {};
      if (round >= least_rounds && (!few || seen >= times() * found)) break;
      const bool asks = hurries && round == least_rounds && seen < rounds * samples;
      if (asks && !hardly_any_missed(team, table)) {
        few = false;
        break;
      }
      team.team_barrier();
    }
    if (few && hardly_any_missed(team, table)) {
      const int listed = list_kinds(team, 1, with_values, table, sampled);
      if (tells_all_apart(team, listed, table)) return {.kinds = listed};
    } else if constexpr (may_be_taken_out<Codec, true>) {
      if (heavy != nullptr) return list_heavy(team, seen, table);
    }
    return {};
  }

  /// Light kinds, and keys for which there was no room, are no more than light keys, but for three standard deviations.
  KOKKOS_FUNCTION bool may_be_heavy(int found_and_lost, int seen) const {
    if (heavy == nullptr) return false;
    const auto keys = static_cast<float>(seen);
    const auto light = static_cast<float>(found_and_lost - HeavyKinds<Key>::most);
    return light <= (1 - least_share) * keys + 1.5f * Kokkos::sqrt(keys);
  }

  /// Where many were missed, more have been seen once than twice.
  KOKKOS_FUNCTION static bool hardly_any_missed(const Team& team, Table& table) {
    if (team.team_rank() == 0) table.most = 0;
    team.team_barrier();
    std::uint32_t once = 0;
    for (int i = team.team_rank(); i < Table::slots; i += Threads) {
      once += table.times[i] == 1 ? 1 : 0;
      once -= table.times[i] == 2 ? 1 : 0;
    }
    Kokkos::atomic_add(&table.most, once);
    team.team_barrier();
    constexpr int by_chance = 8;
    return static_cast<std::int32_t>(table.most) <= by_chance;
  }

  /// As many of those seen most as there is room for; none that was seen less than four times.
  KOKKOS_FUNCTION KindsInSample list_heavy(const Team& team, int seen, Table& table) const {
    const int thread = team.team_rank();
    const std::uint32_t most_left = leave_others(team, table);
    std::uint32_t least = 4;
    while (true) {
      team.team_barrier();
      if (thread == 0) table.listed = table.most = 0;
      team.team_barrier();
      std::uint32_t kinds_of_mine = 0, keys_of_mine = 0;
      const auto look_at = [&](std::uint32_t times) {
        kinds_of_mine += times >= least ? 1 : 0;
        keys_of_mine += times >= least ? times : 0;
      };
      for (int i = thread; i < Table::slots; i += Threads) look_at(table.times[i]);
      if (thread == 0) look_at(table.zeros);
      Kokkos::atomic_add(&table.listed, kinds_of_mine);
      Kokkos::atomic_add(&table.most, keys_of_mine);
      team.team_barrier();
      if (table.listed <= HeavyKinds<Key>::most) break;
      least += least / 2;
    }
    const auto keys = static_cast<float>(seen);
    const float share = static_cast<float>(table.most) / keys;
    if (!(share > least_share)) return {};
    team.team_barrier();
    if (thread == 0) table.listed = 0;
    team.team_barrier();
    if (!with_values) tell_heaviest(team, table);
    const int listed = list_kinds(team, least, true, table, heavy->sorted);
    give_slots(team, listed, table);
    const std::uint32_t light_most = least > most_left ? least : most_left;
    return {0, listed, share, static_cast<float>(light_most) / keys};
  }

  /// Keys that share their encoding with others stay light: how often one was seen.
  KOKKOS_FUNCTION std::uint32_t leave_others(const Team& team, Table& table) const {
    if constexpr (!tells_lone_keys<Codec>) {
      return 0;
    } else {
      const int thread = team.team_rank();
      team.team_barrier();
      if (thread == 0) table.most = 0;
      team.team_barrier();
      const auto leave = [&](std::uint64_t word, std::uint32_t& times) {
        if (times == 0 || order.codec.is_lone(static_cast<Key>(word))) return;
        Kokkos::atomic_max(&table.most, times);
        times = 0;
      };
      for (int i = thread; i < Table::slots; i += Threads) leave(table.word[i], table.times[i]);
      if (thread == 0) leave(0, table.zeros);
      team.team_barrier();
      return table.most;
    }
  }

  KOKKOS_FUNCTION void tell_heaviest(const Team& team, Table& table) const {
    const int thread = team.team_rank();
    if (thread == 0) table.most = table.zeros;
    team.team_barrier();
    std::uint32_t most = 0;
    for (int i = thread; i < Table::slots; i += Threads) {
      most = table.times[i] > most ? table.times[i] : most;
    }
    Kokkos::atomic_max(&table.most, most);
    team.team_barrier();
    // One of them, if several are.
    for (int i = thread; i < Table::slots; i += Threads) {
      if (table.times[i] == table.most) heavy->heaviest = static_cast<Key>(table.word[i]);
    }
    if (thread == 0 && table.zeros == table.most) heavy->heaviest = 0;
  }

  /// By the first factor that keeps all of them apart; if none does, those that come too late stay light.
  KOKKOS_FUNCTION void give_slots(const Team& team, int listed, Table& table) const {
    using Heavy = HeavyKinds<Key>;
    static_assert(Heavy::slot_bits <= Table::bits && Heavy::most <= Threads * each);
    const int thread = team.team_rank();
    if (with_values) {
      for (int i = thread; i < 1 << Heavy::slot_bits; i += Threads) heavy->slots[i] = {};
    }
    for (int trial = 0; trial < Heavy::factors; ++trial) {
      for (int i = thread; i < Table::slots; i += Threads) table.times[i] = 0;
      if (thread == 0) table.found = 0;
      team.team_barrier();
      const std::uint64_t factor = Heavy::factor_of(trial);
      for (int i = thread; i < listed; i += Threads) {
        const auto slot = Heavy::slot_of(static_cast<Key>(table.word[i]), factor);
        const auto code = static_cast<std::uint32_t>(i + 1);
        if (Kokkos::atomic_compare_exchange(&table.times[slot], 0u, code) != 0) {
          L::increment(&table.found);
        }
      }
      team.team_barrier();
      const bool done = table.found == 0 || trial == Heavy::factors - 1;
      if (done && thread == 0) {
        heavy->factor = factor;
        heavy->counted = 0;
      }
      for (int i = thread; done && i < listed; i += Threads) {
        const auto key = static_cast<Key>(table.word[i]);
        const auto slot = Heavy::slot_of(key, factor);
        const auto code = static_cast<std::uint32_t>(i + 1);
        const bool has_slot = table.times[slot] == code;
        const bool leaves = has_slot || (!with_values && key == heavy->heaviest);
        heavy->codes[i] = leaves ? code : 0;
        if (has_slot && with_values) heavy->slots[slot] = {key, code};
      }
      if (done) return;
      team.team_barrier();
    }
  }

  /// Those seen so often, first in the table, and in order if that is of use. The key 0 marks what is free, and is told
  /// apart.
  KOKKOS_FUNCTION int list_kinds(const Team& team, std::uint32_t least, bool in_order, Table& table,
                                 Key* list) const {
    constexpr int mine = Table::slots / Threads;
    std::uint64_t held[mine];
    for (int i = 0; i < mine; ++i) {
      const int slot = i * Threads + team.team_rank();
      held[i] = table.times[slot] >= least ? table.word[slot] : 0;
    }
    team.team_barrier();
    for (int i = 0; i < mine; ++i) {
      if (held[i] != 0) table.word[Kokkos::atomic_fetch_add(&table.listed, 1u)] = held[i];
    }
    team.team_barrier();
    const int others = static_cast<int>(table.listed);
    const int listed = others + (table.zeros >= least ? 1 : 0);
    if (listed > others && team.team_rank() == 0) table.word[others] = 0;
    team.team_barrier();
    const Codec& codec = order.codec;
    const Bits mask = order.mask();
    if (in_order) {
      sort_by_merges<Threads, samples>(team, table.word, listed,
                                       [&](std::uint64_t a, std::uint64_t b) {
                                         return (codec.encode(static_cast<Key>(a)) & mask) <
                                                (codec.encode(static_cast<Key>(b)) & mask);
                                       });
    }
    for (int i = team.team_rank(); i < listed; i += Threads) {
      list[i] = static_cast<Key>(table.word[i]);
    }
    return listed;
  }

  /// Of the kinds listed in order, is none equal to its neighbour by the bits that count?
  KOKKOS_FUNCTION bool tells_all_apart(const Team& team, int listed, Table& table) const {
    if (Codec::tells_all_keys_apart && order.mask() == low_mask<Bits>(Codec::bits)) return true;
    if (team.team_rank() == 0) table.zeros = 0;
    team.team_barrier();
    const auto bits_of = [&](int i) {
      return order.codec.encode(static_cast<Key>(table.word[i])) & order.mask();
    };
    for (int i = team.team_rank(); i + 1 < listed; i += Threads) {
      if (bits_of(i) == bits_of(i + 1)) table.zeros = 1;
    }
    team.team_barrier();
    return table.zeros == 0;
  }

  /// A round's samples in no order: at even distances they would meet a pattern's period always or never. `all` is a
  /// power of two, and none comes twice.
  KOKKOS_FUNCTION static std::size_t shuffled(std::uint32_t sample, std::uint32_t all) {
    sample = sample * 0x9e3779b1u & (all - 1);
    sample = (sample ^ sample >> 6) * 0x85ebca6bu & (all - 1);
    return sample ^ sample >> 5;
  }

  KOKKOS_FUNCTION void read_round(const Team& team, const SamplePlaces& places, int round,
                                  int rounds, std::uint64_t* key) const {
    KRADIX_UNROLL
    for (int i = 0; i < each; ++i) {
      const int sample = round * samples + i * Threads + team.team_rank();
      const std::size_t place = places.of(shuffled(static_cast<std::uint32_t>(sample),
                                                   static_cast<std::uint32_t>(rounds * samples)));
      key[i] = std::uint64_t{order.keys[place < order.count ? place : 0]};
    }
  }

  KOKKOS_FUNCTION void see_kinds(const std::uint64_t* key, bool few, Table& table) const {
    KRADIX_UNROLL
    for (int i = 0; i < each; ++i) {
      if (key[i] == 0) {
        L::increment(&table.zeros);
      } else {
        see_kind(table, key[i], few);
      }
    }
  }

  /// Counts it. A new one finds room as long as there are `few`. Most are not new, which a plain load tells sooner
  /// than an exchange.
  KOKKOS_FUNCTION void see_kind(Table& table, std::uint64_t mine, bool few) const {
    std::uint32_t slot = Table::slot_of(mine);
    KRADIX_ROLLED
    while (true) {
      std::uint64_t found = *const_cast<volatile std::uint64_t*>(&table.word[slot]);
      if (found == 0) {
        const bool room = few && *const_cast<volatile std::uint32_t*>(&table.found) <
                                     static_cast<std::uint32_t>(most);
        if (!room) {
          L::increment(&table.lost);
          return;
        }
        found = Kokkos::atomic_compare_exchange(&table.word[slot], std::uint64_t{0}, mine);
        if (found == 0) L::increment(&table.found);
      }
      if (found == 0 || found == mine) {
        L::increment(&table.times[slot]);
        return;
      }
      slot = Table::next(slot);
    }
  }
};

}  // namespace kradix::impl
