// Decoupled look-back over tiles, in memory of constant size.
//
// Merrill and Garland ("Single-pass parallel prefix scan with decoupled look-back", NVIDIA 2016) let a
// tile add up what its predecessors published instead of waiting for their prefix. Here the published
// words lie in a circular buffer: a tile looks back at most `reach` tiles, so the slot of a tile is free
// for another once the `reach` tiles after it are done, which a tail counter tells. It counts groups of
// tiles: within a group tiles leave in any order, and the last to leave moves the tail past every
// group that is complete, so that nobody waits to leave.
#pragma once

#include <Kokkos_Core.hpp>
#include <bit>
#include <cstdint>

#include "kradix/impl/backend/lanes.hpp"
#include "kradix/impl/device/digit.hpp"

namespace kradix::impl {

/// What a tile publishes for a bin: whose word it is, how much it tells, and a count, in one 64-bit
/// message. A slot holds words of one tile after another, `slots` apart, and of one pass after
/// another, so a few bits of both tell them apart.
struct LookBackWord {
  enum Kind : std::uint32_t {
    empty,
    own,
    inclusive
  };  ///< nothing, this tile alone, all tiles up to it
  static constexpr int count_bits = 41, turn_bits = 17, pass_bits = 4;

  std::uint64_t bits;

  KOKKOS_FUNCTION static LookBackWord make(Kind kind, std::uint32_t identity, std::uint64_t count) {
    return {std::uint64_t{kind} << 62 | std::uint64_t{identity} << count_bits | count};
  }
  /// Which tile and pass, as far as a slot must tell: the turn around the buffer, and the pass.
  KOKKOS_FUNCTION static std::uint32_t identity(std::uint32_t turn, int pass) {
    return (turn & ((1u << turn_bits) - 1)) << pass_bits | static_cast<std::uint32_t>(pass);
  }
  // The upper half holds all but the low bits of the count: comparisons need 32 bits only.
  KOKKOS_FUNCTION bool is(Kind kind, std::uint32_t identity) const {
    const std::uint32_t wanted = std::uint32_t{kind} << 30 | identity << (count_bits - 32);
    return (upper() & ~((1u << (count_bits - 32)) - 1)) == wanted;
  }
  KOKKOS_FUNCTION std::uint64_t count() const {
    return bits & ((std::uint64_t{1} << count_bits) - 1);
  }

 private:
  KOKKOS_FUNCTION std::uint32_t upper() const { return static_cast<std::uint32_t>(bits >> 32); }
};

/// Sizes of the circular buffer. Progress needs group ≤ slots − reach, and the reuse of the groups'
/// counters group ≤ reach + 1.
struct LookBackShape {
  int slot_bits = 10;
  std::uint32_t reach = 512;
  int group_bits = 5;  ///< of the tiles that the tail counts as one
  /// No larger than so many tiles need: if every tile has a slot of its own, none waits for another to
  /// leave.
  LookBackShape fitted(std::size_t tiles) const {
    if (tiles > slots()) return *this;
    const int bits = std::bit_width(tiles - 1);
    return {bits, 1u << bits, 0};
  }
  KOKKOS_FUNCTION constexpr std::uint32_t slots() const { return 1u << slot_bits; }
  KOKKOS_FUNCTION constexpr std::uint32_t groups() const { return slots() >> group_bits; }
  /// The tail and the groups' counters, which start at zero.
  KOKKOS_FUNCTION constexpr std::size_t counters() const { return std::size_t{1} + groups(); }
  constexpr std::size_t bytes() const {
    return std::size_t{slots()} * bin_count * sizeof(std::uint64_t);
  }
};

template <class ExecutionSpace, int LoadsInFlight = 4>
struct LookBack {
  using L = Lanes<ExecutionSpace>;
  static constexpr int loads_in_flight = LoadsInFlight;

  std::uint64_t* words;  ///< [slot][bin]
  std::uint64_t* tail;  ///< groups all of whose tiles have left, then [groups] tiles that ever left
  LookBackShape shape;
  int pass;
  bool reuses_slots;  ///< there are more tiles than slots

  /// One thread of a tile, before it publishes: waits until its slot is free.
  KOKKOS_FUNCTION void enter(std::uint32_t tile) const {
    if (tile < shape.slots()) return;
    const std::uint32_t needed =
        tile - shape.slots() + shape.reach;  // the last reader of the slot's old words
    while (L::load(tail) << shape.group_bits <= needed) L::pause();
  }

  KOKKOS_FUNCTION void publish(std::uint32_t tile, int bin, LookBackWord::Kind kind,
                               std::uint64_t count) const {
    L::store(word(tile, bin), LookBackWord::make(kind, identity(tile), count).bits);
  }

  /// How many elements of this bin lie in the tiles before this one.
  KOKKOS_FUNCTION std::uint64_t count_before(std::uint32_t tile, int bin) const {
    std::uint64_t sum = 0;
    if (tile == 0) return sum;
    const std::uint32_t first = tile > shape.reach ? tile - shape.reach : 0;
    std::uint32_t next = tile;  // words of tiles from here on are in the sum
    while (true) {
      // Slots beyond the first tile are read in vain: the walk ends at tile 0 or waits before it.
      LookBackWord seen[loads_in_flight];
      KRADIX_UNROLL
      for (int i = 0; i < loads_in_flight; ++i) seen[i].bits = L::load(word(next - 1 - i, bin));
      bool waits = false;
      KRADIX_UNROLL
      for (int i = 0; i < loads_in_flight; ++i) {
        if (waits) continue;
        const std::uint32_t other = next - 1, whose = identity(other);
        if (seen[i].is(LookBackWord::inclusive, whose)) return sum + seen[i].count();
        // The furthest tile within reach must become inclusive: nobody looks beyond it.
        waits = other == first || !seen[i].is(LookBackWord::own, whose);
        if (waits) continue;
        sum += seen[i].count();
        next = other;
      }
      if (waits) L::pause();
    }
  }

  /// One thread of a tile, when the whole tile has looked back.
  KOKKOS_FUNCTION void leave(std::uint32_t tile) const {
    if (!reuses_slots) return;
    const std::uint32_t group = tile >> shape.group_bits;
    if (Kokkos::atomic_add_fetch(left(group), std::uint64_t{1}) < all_left(group)) return;
    while (true) {
      // Our count comes before the looks at the others': of two groups that complete together one
      // sees the other.
      Kokkos::memory_fence();
      const std::uint64_t first = L::load(tail);
      if (L::load(left(static_cast<std::uint32_t>(first))) <
          all_left(static_cast<std::uint32_t>(first)))
        return;
      Kokkos::atomic_compare_exchange(tail, first, first + 1);
    }
  }

 private:
  KOKKOS_FUNCTION std::uint64_t* left(std::uint32_t group) const {
    return tail + 1 + (group & (shape.groups() - 1));
  }
  /// What that counter reads when the whole group has left, and all before that shared it.
  KOKKOS_FUNCTION std::uint64_t all_left(std::uint32_t group) const {
    const std::uint32_t turn = group >> (shape.slot_bits - shape.group_bits);
    return (std::uint64_t{turn} + 1) << shape.group_bits;
  }
  KOKKOS_FUNCTION std::uint64_t* word(std::uint32_t tile, int bin) const {
    return words + ((tile & (shape.slots() - 1)) * bin_count + bin);
  }
  KOKKOS_FUNCTION std::uint32_t identity(std::uint32_t tile) const {
    return LookBackWord::identity(tile >> shape.slot_bits, pass);
  }
};

}  // namespace kradix::impl
