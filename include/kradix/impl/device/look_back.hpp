// Decoupled look-back over tiles, in memory of constant size.
//
// Merrill and Garland ("Single-pass parallel prefix scan with decoupled look-back", NVIDIA 2016) let a
// tile add up what its predecessors published instead of waiting for their prefix. Here the published
// words lie in a circular buffer: a tile looks back at most `reach` tiles, so the slot of a tile is free
// for another once the `reach` tiles after it are done, which a tail counter tells. Its low bits advance
// in any order, so that neighbours do not wait for each other.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "kradix/impl/backend/lanes.hpp"
#include "kradix/impl/device/digit.hpp"

namespace kradix::impl {

/// What a tile publishes for a bin: whose word it is, how much it tells, and a count, in one 64-bit
/// message. A slot holds words of one tile after another, `slots` apart, and of one pass after
/// another, so a few bits of both tell them apart.
struct LookBackWord {
  enum Kind : std::uint64_t { empty, own, inclusive };  ///< nothing, this tile alone, all tiles up to it
  static constexpr int count_bits = 41, turn_bits = 17, pass_bits = 4;

  std::uint64_t bits;

  KOKKOS_FUNCTION static LookBackWord make(Kind kind, std::uint64_t identity, std::uint64_t count) {
    return {kind << 62 | identity << count_bits | count};
  }
  /// Which tile and pass, as far as a slot must tell: the turn around the buffer, and the pass.
  KOKKOS_FUNCTION static std::uint64_t identity(std::uint64_t turn, int pass) {
    return (turn & ((1u << turn_bits) - 1)) << pass_bits | static_cast<std::uint64_t>(pass);
  }
  KOKKOS_FUNCTION Kind kind() const { return static_cast<Kind>(bits >> 62); }
  KOKKOS_FUNCTION std::uint64_t count() const { return bits & ((std::uint64_t{1} << count_bits) - 1); }
  KOKKOS_FUNCTION bool is_of(std::uint64_t identity) const {
    return kind() != empty && (bits << 2 >> (count_bits + 2)) == identity;
  }
};

/// Sizes of the circular buffer. Progress needs group ≤ slots − reach; all are powers of two.
struct LookBackShape {
  std::uint32_t slots = 1024;
  std::uint32_t reach = 512;
  std::uint32_t group = 32;  ///< tiles whose turn to leave comes together
  constexpr std::size_t bytes() const { return std::size_t{slots} * bin_count * sizeof(std::uint64_t); }
};

template <class ExecutionSpace>
struct LookBack {
  using L = Lanes<ExecutionSpace>;
  static constexpr int loads_in_flight = 4;

  std::uint64_t* words;  ///< [slot][bin]
  std::uint64_t* tail;   ///< tiles that are done: all of the earlier groups, some of the current one
  LookBackShape shape;
  int pass;
  bool reuses_slots;  ///< there are more tiles than slots

  /// One thread of a tile, before it publishes: waits until its slot is free.
  KOKKOS_FUNCTION void enter(std::uint64_t tile) const {
    if (tile < shape.slots) return;
    const std::uint64_t needed = tile - shape.slots + shape.reach;  // the last reader of the slot's old words
    while (whole_groups(L::load(tail)) <= needed) L::pause();
  }

  KOKKOS_FUNCTION void publish(std::uint64_t tile, int bin, LookBackWord::Kind kind,
                               std::uint64_t count) const {
    L::store(word(tile, bin), LookBackWord::make(kind, identity(tile), count).bits);
  }

  /// How many elements of this bin lie in the tiles before this one.
  KOKKOS_FUNCTION std::uint64_t count_before(std::uint64_t tile, int bin) const {
    std::uint64_t sum = 0;
    const std::uint64_t first = tile > shape.reach ? tile - shape.reach : 0;
    std::uint64_t next = tile;  // words of tiles from here on are in the sum
    while (next > 0) {
      const std::uint64_t from = next;
      LookBackWord seen[loads_in_flight];
      KRADIX_UNROLL
      for (int i = 0; i < loads_in_flight; ++i) {
        const bool within = next >= first + 1 + i;
        seen[i].bits = within ? L::load(word(next - 1 - i, bin)) : 0;
      }
      KRADIX_UNROLL
      for (int i = 0; i < loads_in_flight; ++i) {
        const std::uint64_t other = from - 1 - i;
        if (next != from - i || other + 1 <= first || !seen[i].is_of(identity(other))) continue;
        if (seen[i].kind() == LookBackWord::inclusive) return sum + seen[i].count();
        // The furthest tile within reach must become inclusive: nobody looks beyond it.
        if (other == first) continue;
        sum += seen[i].count();
        next = other;
      }
      if (next == from) L::pause();
    }
    return sum;
  }

  /// One thread of a tile, when the whole tile has looked back.
  KOKKOS_FUNCTION void leave(std::uint64_t tile) const {
    if (!reuses_slots) return;
    const std::uint64_t mine = whole_groups(tile);
    while (whole_groups(L::load(tail)) != mine) L::pause();
    Kokkos::atomic_inc(tail);
  }

 private:
  KOKKOS_FUNCTION std::uint64_t whole_groups(std::uint64_t tiles) const {
    return tiles & ~static_cast<std::uint64_t>(shape.group - 1);
  }
  KOKKOS_FUNCTION std::uint64_t* word(std::uint64_t tile, int bin) const {
    return words + (tile & (shape.slots - 1)) * bin_count + bin;
  }
  KOKKOS_FUNCTION std::uint64_t identity(std::uint64_t tile) const {
    return LookBackWord::identity(tile / shape.slots, pass);
  }
};

}  // namespace kradix::impl
