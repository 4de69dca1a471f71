// Keys that come in order already, or in reverse: hoped for after a look at some neighbours, proven by the
// read that otherwise counts digits.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>

#include "kradix/impl/backend/lanes.hpp"
#include "kradix/impl/buffers.hpp"
#include "kradix/impl/device/digit.hpp"
#include "kradix/impl/device/team.hpp"
#include "kradix/impl/device/wide_array.hpp"

namespace kradix::impl {

/// What neighbours show that keys in order, or keys in reverse, do not have.
struct Disorder {
  static constexpr std::uint32_t falls = 1;  ///< the keys are not in order
  static constexpr std::uint32_t rises = 2;  ///< they are not in reverse
  static constexpr std::uint32_t both = falls | rises;
  /// Keys that are the same lie side by side, with values that keep their order: it shows if all are turned round.
  static constexpr std::uint32_t ties = 4;

  /// Neither order nor reverse has been ruled out.
  KOKKOS_FUNCTION static bool leaves_hope(std::uint64_t found) { return (found & both) != both; }

  /// Reads before it writes: most often nothing is new.
  template <class ExecutionSpace>
  KOKKOS_FUNCTION static void tell(std::uint64_t* disorder, std::uint32_t found) {
    if ((found & ~Lanes<ExecutionSpace>::load(disorder)) != 0) {
      Kokkos::atomic_or(disorder, std::uint64_t{found});
    }
  }
};

/// The order of keys by the bits that count.
template <class Codec>
struct KeyOrder {
  using Key = typename Codec::key_type;
  using Bits = typename Codec::bits_type;

  const Key* keys;
  std::size_t count;
  Codec codec;
  DigitList all;
  bool with_values;
  bool equal_keys_differ;  ///< in what does not count: if so they must not be turned round

  KOKKOS_FUNCTION Bits mask() const { return bits_between<Bits>(all.begin, all.end); }
  KOKKOS_FUNCTION std::uint32_t disorder(Bits left, Bits right, bool are_same = true) const {
    if (left == right) {
      return (are_same ? 0 : Disorder::rises) | (with_values ? Disorder::ties : 0);
    }
    return left < right ? Disorder::rises : Disorder::falls;
  }
  /// Are keys that are equal in the bits that count the same in all others?
  KOKKOS_FUNCTION bool are_same(const Key& left, const Key& right) const {
    if constexpr (is_unsigned_word<Key>) {
      return !equal_keys_differ || left == right;
    } else {
      return !equal_keys_differ;
    }
  }
  /// The bits in which a key and the next one differ (all: there is none), whose order is looked at.
  KOKKOS_FUNCTION Bits look_at(std::size_t place, std::uint32_t& found) const {
    if (place + 1 >= count) return mask();
    const Key here = keys[place], next = keys[place + 1];
    const Bits left = codec.encode(here) & mask(), right = codec.encode(next) & mask();
    found |= disorder(left, right, are_same(here, next));
    return left ^ right;
  }
};

/// Where elements go that prove to be in the order, or the reverse, that they are hoped to be in: in the same read, if nothing
/// is to be done in place.
template <class Key, class Value>
struct AheadOfProof {
  static constexpr bool with_values = !std::is_same_v<Value, NoValue>;
  /// (Counts of longer elements, whose kernel it shares, took 50 us more.)
  static constexpr bool may_move = !with_values || (sizeof(Key) == 4 && sizeof(Value) == 4);
  static constexpr std::size_t line = 128;  // stores by lanes that cross them take twice as long

  SortBuffers<Key, Value> buffers;
  bool moves = false;  ///< null buffers are not looked at
  /// In order and in reverse: the first element from which on as many as fill lines go to lines.
  std::uint32_t first_in_order = 0, first_in_reverse = 0;

  static AheadOfProof of(const SortBuffers<Key, Value>& buffers, std::size_t count) {
    const bool keys_stay = buffers.keys.in_place() && !buffers.leaves_keys;
    const bool values_stay = with_values && buffers.values.in_place() && !buffers.makes_indices;
    AheadOfProof ahead{buffers, may_move && !keys_stay && !values_stay};
    if (!ahead.moves) return ahead;
    while (!ahead.go_to_lines(ahead.first_in_order, false, count)) ++ahead.first_in_order;
    while (!ahead.go_to_lines(ahead.first_in_reverse, true, count)) ++ahead.first_in_reverse;
    return ahead;
  }

  KOKKOS_FUNCTION std::size_t first(bool in_reverse) const {
    return in_reverse ? first_in_reverse : first_in_order;
  }
  KOKKOS_FUNCTION void move_key(std::size_t to, const Key& key) const {
    if (!buffers.leaves_keys) buffers.keys.result[to] = key;
  }
  KOKKOS_FUNCTION Value value(std::size_t i) const {
    if constexpr (std::is_integral_v<Value>) {
      if (buffers.makes_indices) return static_cast<Value>(i);
    }
    return buffers.values.in[i];
  }

 private:
  /// Keys do, if they move, and values if those do not. (After as many as a line holds bytes nothing would change.)
  bool go_to_lines(std::size_t begin, bool in_reverse, std::size_t count) const {
    if (begin >= count || begin >= line) return true;
    const std::size_t place = in_reverse ? count - begin : begin;
    if (buffers.leaves_keys) return begins_line(buffers.values.result + place);
    return begins_line(buffers.keys.result + place);
  }
  template <class T>
  static bool begins_line(const T* memory) {
    return reinterpret_cast<std::uintptr_t>(memory) % line == 0;
  }
};

/// Teams that stay look at all neighbours.
template <class ExecutionSpace, class Codec, class Value, int Threads>
struct VerifyOrder {
  using Key = typename Codec::key_type;
  using Bits = typename Codec::bits_type;
  using Team = TeamMember<ExecutionSpace>;
  static constexpr bool may_move = AheadOfProof<Key, Value>::may_move;
  static constexpr bool moves_values = may_move && AheadOfProof<Key, Value>::with_values;
  static constexpr int batch = sizeof(Key) <= 8 ? 4 : 2;

  KeyOrder<Codec> order;
  AheadOfProof<Key, Value> ahead;
  bool in_reverse;          ///< that is what is hoped for
  std::uint64_t* disorder;  ///< of all

  struct Seen {
    Bits differ;  ///< bits in which a key differs from the first
    std::uint32_t disorder;
  };

  /// What this thread saw.
  KOKKOS_FUNCTION Seen operator()(const Team& team) const {
    Look look{
        *this, order.mask(), order.codec.encode(order.keys[0]), may_move && ahead.moves, {0, 0}};
    if constexpr (may_be_wide) {
      const WideArray<const Key> keys(order.keys, order.count);
      if (!ahead.moves || ahead.first(in_reverse) == keys.place(0)) {
        look.at_packs(team, keys);
        return look.seen;
      }
    }
    look.at_all(team);
    return look.seen;
  }

 private:
  static constexpr bool may_be_wide =
      is_unsigned_word<Key> && (sizeof(Key) == 4 || (sizeof(Key) == 8 && may_move));
  using Packed = Pack<std::conditional_t<may_be_wide, Key, std::uint64_t>>;

  struct Look {
    const VerifyOrder& verify;
    Bits mask, first;
    bool moves;
    Seen seen;

    /// One a thread at once: more takes registers of those who count.
    KOKKOS_FUNCTION void at_packs(const Team& team, const WideArray<const Key>& keys) {
      const std::size_t count = verify.order.count;
      // Behind each of them is one more key.
      std::size_t whole = keys.packs();
      if (whole > 0 && keys.place(whole) == count) --whole;
      whole = whole / Threads * Threads;
      const std::size_t stride = static_cast<std::size_t>(team.league_size()) * Threads;
      const std::size_t begin = static_cast<std::size_t>(team.league_rank()) * Threads;
      int steps = 0;
      for (std::size_t at = begin; at < whole; at += stride) {
        const Packed pack = keys.load(at + team.team_rank());
        const std::size_t place = keys.place(at + team.team_rank());
        const Key next = verify.order.keys[place + Packed::size];
        hope_on(steps++);
        KRADIX_UNROLL
        for (int w = 0; w + 1 < Packed::size; ++w) at_two(pack.word(w), pack.word(w + 1));
        at_two(pack.word(Packed::size - 1), next);
        if (!may_move || !moves) continue;
        if (!verify.ahead.buffers.leaves_keys) move_pack(place, pack);
        if constexpr (moves_values) move_values<Packed::size>(keys.place(at) + team.team_rank());
      }
      // What is left, before and after.
      const std::size_t behind = keys.place(whole), head = keys.place(0);
      for (std::size_t e = begin + team.team_rank(); e < head + (count - behind); e += stride) {
        at_one(e < head ? e : behind + (e - head));
      }
    }

    KOKKOS_FUNCTION void at_all(const Team& team) {
      constexpr std::size_t step = std::size_t{batch} * Threads;
      const std::size_t pairs = verify.order.count - 1;
      const std::size_t stride = step * static_cast<std::size_t>(team.league_size());
      std::size_t head = moves ? verify.ahead.first(verify.in_reverse) : 0;
      if (head > pairs) head = pairs;
      std::size_t at = head + step * static_cast<std::size_t>(team.league_rank());
      int steps = 0;
      for (; at + step <= pairs; at += stride) {
        const std::size_t mine = at + team.team_rank();
        const Key* const here = verify.order.keys + mine;
        Key left[batch], right[batch];
        KRADIX_UNROLL
        for (int b = 0; b < batch; ++b) left[b] = here[b * Threads];
        // In the cache: a neighbour reads it too.
        KRADIX_UNROLL
        for (int b = 0; b < batch; ++b) right[b] = (here + 1)[b * Threads];
        hope_on(steps++);
        KRADIX_UNROLL
        for (int b = 0; b < batch; ++b) at_two(left[b], right[b]);
        if (!may_move || !moves) continue;
        KRADIX_UNROLL
        for (int b = 0; b < batch; ++b) {
          verify.ahead.move_key(place_of(mine + b * Threads), left[b]);
        }
        if constexpr (moves_values) move_values<batch>(mine);
      }
      for (std::size_t i = at + team.team_rank(); i < pairs && i < at + step; i += Threads) {
        at_one(i);
      }
      if (team.league_rank() != 0) return;
      for (std::size_t i = team.team_rank(); i < head; i += Threads) at_one(i);
      if (team.team_rank() == 0) at_one(pairs);
    }

   private:
    /// Who finds that the hope is in vain most often does so soon: then nothing more moves.
    KOKKOS_FUNCTION void hope_on(int steps) {
      if (!may_move || !moves || steps % 8 != 2) return;
      Disorder::tell<ExecutionSpace>(verify.disorder, seen.disorder);
      moves = Disorder::leaves_hope(Lanes<ExecutionSpace>::load(verify.disorder) | seen.disorder);
    }

    KOKKOS_FUNCTION void at_two(const Key& left, const Key& right) {
      const KeyOrder<Codec>& order = verify.order;
      const Bits bits = order.codec.encode(right);
      seen.differ |= bits ^ first;
      seen.disorder |=
          order.disorder(order.codec.encode(left) & mask, bits & mask, order.are_same(left, right));
    }
    /// The last has no next one.
    KOKKOS_FUNCTION void at_one(std::size_t i) {
      const Key* const keys = verify.order.keys;
      if (i + 1 < verify.order.count) at_two(keys[i], keys[i + 1]);
      if (!may_move || !moves) return;
      verify.ahead.move_key(place_of(i), keys[i]);
      if constexpr (moves_values) {
        verify.ahead.buffers.values.result[place_of(i)] = verify.ahead.value(i);
      }
    }

    KOKKOS_FUNCTION std::size_t place_of(std::size_t i) const {
      return verify.in_reverse ? verify.order.count - 1 - i : i;
    }
    KOKKOS_FUNCTION void move_pack(std::size_t place, const Packed& pack) const {
      Key* const to = verify.ahead.buffers.keys.result;
      if (verify.in_reverse) {
        pack.reversed().store(to + (verify.order.count - Packed::size - place));
      } else {
        pack.store(to + place);
      }
    }
    template <int Count>
    KOKKOS_FUNCTION void move_values(std::size_t first) const {
      Value value[Count];
      KRADIX_UNROLL
      for (int v = 0; v < Count; ++v) value[v] = verify.ahead.value(first + v * Threads);
      KRADIX_UNROLL
      for (int v = 0; v < Count; ++v) {
        verify.ahead.buffers.values.result[place_of(first + v * Threads)] = value[v];
      }
    }
  };
};

}  // namespace kradix::impl
