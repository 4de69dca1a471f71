// Decoupled look-back over tiles, in memory of constant size.
//
// Merrill and Garland ("Single-pass parallel prefix scan with decoupled look-back", NVIDIA 2016) let a
// tile add up what its predecessors published instead of waiting for their prefix. Here the published
// words lie in a circular buffer: a tile looks back at most `reach` tiles, so the slot of a tile is free
// for another once the `reach` tiles after it are done, which a tail counter tells. It counts groups of
// tiles: within a group tiles leave in any order, and the last to leave moves the tail past every
// group that is complete, so that nobody waits to leave.
//
// Words are of 32 bits, for what tiles read of each other is as much as they read of keys. Counts of very
// many elements do not fit: tiles are cut into portions that count from nothing, and the last tile of a
// portion tells the next one where it starts.
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <bit>
#include <cstdint>

#include "kradix/impl/backend/lanes.hpp"
#include "kradix/impl/device/digit.hpp"

namespace kradix::impl {

/// What a tile publishes for a bin: whose word it is, how much it tells, and a count, in one 32-bit
/// message. A slot holds words of one turn around the buffer after another, of all passes: when a word is
/// read, its slot holds it or that of one or two turns before, so two bits tell which.
struct LookBackWord {
  enum Kind : std::uint32_t { own, inclusive };  ///< this tile alone, all tiles up to it
  static constexpr int count_bits = 29, turn_bits = 2;
  static constexpr std::uint32_t most = (1u << count_bits) - 1;

  std::uint32_t bits;

  KOKKOS_FUNCTION static LookBackWord make(Kind kind, std::uint32_t turn, std::uint32_t count) {
    return {kind << 31 | mark(turn) | count};
  }
  /// Cleared memory is of no turn that readers of the first one could meet.
  KOKKOS_FUNCTION static std::uint32_t mark(std::uint32_t turn) {
    return ((turn + 1) & ((1u << turn_bits) - 1)) << count_bits;
  }
  KOKKOS_FUNCTION bool is_of(std::uint32_t marked) const {
    return ((bits ^ marked) & (((1u << turn_bits) - 1) << count_bits)) == 0;
  }
  KOKKOS_FUNCTION Kind kind() const { return static_cast<Kind>(bits >> 31); }
  KOKKOS_FUNCTION std::uint32_t count() const { return bits & most; }
};

/// Where a portion's elements of a bin start in the output, and which portion, in one 64-bit message.
struct PortionWord {
  static constexpr int place_bits = 41;

  std::uint64_t bits;

  KOKKOS_FUNCTION static PortionWord make(std::uint32_t portion, std::uint64_t place) {
    return {std::uint64_t{portion} << place_bits | place};
  }
  KOKKOS_FUNCTION bool is_of(std::uint32_t portion) const { return bits >> place_bits == portion; }
  KOKKOS_FUNCTION std::uint64_t place() const {
    return bits & ((std::uint64_t{1} << place_bits) - 1);
  }
};

/// Sizes of the circular buffer. Progress needs group ≤ slots − reach, the reuse of the groups' counters
/// group ≤ reach + 1, and that of the portions' words slots − reach ≤ portion.
struct LookBackShape {
  int slot_bits = 10;
  std::uint32_t reach = 512;
  int group_bits = 5;     ///< of the tiles that the tail counts as one
  int portion_bits = 14;  ///< of the tiles of a portion
  bool has_portions = false;

  /// No larger than so many tiles need: if every tile has a slot of its own, none waits for another to
  /// leave.
  LookBackShape fitted(std::size_t tiles) const {
    LookBackShape shape = *this;
    if (tiles <= slots()) {
      shape.slot_bits = std::max<int>(least_slot_bits, std::bit_width(tiles - 1));
      shape.reach = shape.slots();
      shape.group_bits = 0;
    }
    shape.has_portions = tiles > portion();
    return shape;
  }
  static constexpr int least_slot_bits = 2;
  KOKKOS_FUNCTION constexpr std::uint32_t slots() const { return 1u << slot_bits; }
  KOKKOS_FUNCTION constexpr std::uint32_t groups() const { return slots() >> group_bits; }
  KOKKOS_FUNCTION constexpr std::uint32_t portion() const { return 1u << portion_bits; }
  /// The tail, the groups' counters and the portions' words, which start at zero.
  KOKKOS_FUNCTION constexpr std::size_t counters(int bins = bin_count) const {
    return std::size_t{1} + groups() + (has_portions ? 2 * static_cast<std::size_t>(bins) : 0);
  }
  constexpr std::size_t bytes(int bins = bin_count) const {
    return std::size_t{slots()} * static_cast<std::size_t>(bins) * sizeof(std::uint32_t);
  }
};

template <class ExecutionSpace, int Bins = bin_count>
struct LookBack {
  using L = Lanes<ExecutionSpace>;
  /// Tiles whose words are read at once: they lie side by side, at fixed distances.
  static constexpr int row = 1 << LookBackShape::least_slot_bits;

  std::uint32_t* words;  ///< [slot][bin]
  /// Groups all of whose tiles have left, then [groups] tiles that ever left, then [2][bin] of portions.
  std::uint64_t* tail;
  LookBackShape shape;
  std::uint32_t turns;     ///< around the buffer that a pass takes
  std::uint32_t turn = 0;  ///< of the pass's first tile

  /// That of the first pass; words and counters are zero.
  static LookBack of(std::uint32_t* words, std::uint64_t* tail, const LookBackShape& shape,
                     std::size_t tiles) {
    return {words, tail, shape,
            static_cast<std::uint32_t>((tiles + shape.slots() - 1) >> shape.slot_bits)};
  }

  /// As another pass uses it, whose counters lie behind those of the passes before.
  KOKKOS_FUNCTION LookBack of_pass(int pass) const {
    LookBack other = *this;
    other.tail += static_cast<std::size_t>(pass) * shape.counters(Bins);
    other.turn = static_cast<std::uint32_t>(pass) * turns;
    return other;
  }

  KOKKOS_FUNCTION LookBack of_next_pass() const {
    LookBack other = *this;
    other.tail += shape.counters(Bins);
    other.turn += turns;
    return other;
  }

  /// The turn at which a pass starts; or at which one over fewer tiles would, as all that come before are, but for one
  /// over all tiles that may come first. (Turns are not left out: cleared memory and old words are of those to come.)
  KOKKOS_FUNCTION std::uint32_t first_turn() const { return turn; }
  KOKKOS_FUNCTION std::uint32_t first_turn_of(std::size_t tiles, bool after_all) const {
    const auto mine = static_cast<std::uint32_t>((tiles + shape.slots() - 1) >> shape.slot_bits);
    return (after_all ? turns : 0) + turn / turns * mine;
  }
  KOKKOS_FUNCTION void start_at(std::uint32_t first_turn) { turn = first_turn; }

  /// One thread of a tile, before it publishes: waits until its slot is free.
  KOKKOS_FUNCTION void enter(std::uint32_t tile) const {
    if (tile < shape.slots()) return;
    const std::uint32_t needed =
        tile - shape.slots() + shape.reach;  // the last reader of the slot's old words
    while (L::load(tail) << shape.group_bits <= needed) L::pause();
  }

  KOKKOS_FUNCTION void publish_own(std::uint32_t tile, int bin, std::uint32_t own) const {
    publish_own(tile, portion_of(tile), bin, own);
  }
  /// Of a chain of tiles that counts from nothing, whichever its first one is.
  KOKKOS_FUNCTION void publish_own(std::uint32_t tile, std::uint32_t chain, int bin,
                                   std::uint32_t own) const {
    publish(tile, bin, tile == chain ? LookBackWord::inclusive : LookBackWord::own, own);
  }

  /// How many elements of this bin lie in the tiles of the chain before this one; tells those that come after.
  KOKKOS_FUNCTION std::uint32_t before_in_chain(std::uint32_t tile, std::uint32_t chain, int bin,
                                                std::uint32_t own) const {
    if (tile == chain) return 0;
    const std::uint32_t before = count_before(tile, chain, bin);
    publish(tile, bin, LookBackWord::inclusive, before + own);
    return before;
  }

  /// The place of the tile's first element of this bin, the bin's first place being `first`; tells
  /// those that come after.
  KOKKOS_FUNCTION std::uint64_t place(std::uint32_t tile, int bin, std::uint32_t own,
                                      std::uint64_t first) const {
    const std::uint32_t before = before_in_chain(tile, portion_of(tile), bin, own);
    if (!shape.has_portions) return first + before;
    const std::uint32_t portion = tile >> shape.portion_bits;
    if (portion > 0) first = start_of(portion, bin);
    if (starts_portion(tile + 1)) {
      L::store(portion_word(portion + 1, bin),
               PortionWord::make(portion + 1, first + before + own).bits);
    }
    return first + before;
  }

  /// One thread of a tile, when the whole tile has looked back.
  KOKKOS_FUNCTION void leave(std::uint32_t tile) const {
    if (turns == 1) return;  // no slot is used again
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
  KOKKOS_FUNCTION bool starts_portion(std::uint32_t tile) const { return portion_of(tile) == tile; }
  /// The first tile of its portion.
  KOKKOS_FUNCTION std::uint32_t portion_of(std::uint32_t tile) const {
    return tile & ~(shape.portion() - 1);
  }

  KOKKOS_FUNCTION void publish(std::uint32_t tile, int bin, LookBackWord::Kind kind,
                               std::uint32_t count) const {
    L::store(slot_of(tile) + bin, LookBackWord::make(kind, turn_of(tile), count).bits);
  }

  /// How many elements of this bin lie in the tiles of the chain before this one, of which there are.
  KOKKOS_FUNCTION std::uint32_t count_before(std::uint32_t tile, std::uint32_t chain,
                                             int bin) const {
    // The furthest tile within reach must become inclusive: nobody looks beyond it.
    const std::uint32_t first = tile - chain > shape.reach ? tile - shape.reach : chain;
    std::uint32_t sum = 0;
    std::uint32_t next = tile;  // words of tiles from here on are in the sum
    while (true) {
      const std::uint32_t begin = (next - 1) & ~static_cast<std::uint32_t>(row - 1);
      const std::uint32_t* const words = slot_of(begin) + bin;
      const std::uint32_t mark = LookBackWord::mark(turn_of(begin));
      LookBackWord seen[row];
      KRADIX_UNROLL
      for (int i = row - 1; i >= 0; --i) seen[i].bits = L::load(words + i * Bins);
      bool waits = false;
      KRADIX_UNROLL
      for (int i = row - 1; i >= 0; --i) {
        const std::uint32_t other = begin + i;
        if (waits || other >= next) continue;
        const bool known = seen[i].is_of(mark);
        if (known && seen[i].kind() == LookBackWord::inclusive) return sum + seen[i].count();
        waits = !known || other == first;
        if (waits) continue;
        sum += seen[i].count();
        next = other;
      }
      if (waits) L::pause();
    }
  }

  KOKKOS_FUNCTION std::uint64_t start_of(std::uint32_t portion, int bin) const {
    while (true) {
      const PortionWord word{L::load(portion_word(portion, bin))};
      if (word.is_of(portion)) return word.place();
      L::pause();
    }
  }

  KOKKOS_FUNCTION std::uint64_t* left(std::uint32_t group) const {
    return tail + 1 + (group & (shape.groups() - 1));
  }
  /// What that counter reads when the whole group has left, and all before that shared it.
  KOKKOS_FUNCTION std::uint64_t all_left(std::uint32_t group) const {
    const std::uint32_t turn = group >> (shape.slot_bits - shape.group_bits);
    return (std::uint64_t{turn} + 1) << shape.group_bits;
  }
  KOKKOS_FUNCTION std::uint64_t* portion_word(std::uint32_t portion, int bin) const {
    return tail + 1 + shape.groups() + (portion & 1) * Bins + bin;
  }
  KOKKOS_FUNCTION std::uint32_t* slot_of(std::uint32_t tile) const {
    return words + (tile & (shape.slots() - 1)) * Bins;
  }
  KOKKOS_FUNCTION std::uint32_t turn_of(std::uint32_t tile) const {
    return turn + (tile >> shape.slot_bits);
  }
};

/// The look-back of tiles that nobody looks back at.
struct LoneTiles {
  KOKKOS_FUNCTION void enter(std::uint32_t) const {}
  KOKKOS_FUNCTION void leave(std::uint32_t) const {}
  KOKKOS_FUNCTION void publish_own(std::uint32_t, int, std::uint32_t) const {}
  KOKKOS_FUNCTION std::uint32_t first_turn() const { return 0; }
  KOKKOS_FUNCTION std::uint32_t first_turn_of(std::size_t, bool) const { return 0; }
  KOKKOS_FUNCTION void start_at(std::uint32_t) {}
};

}  // namespace kradix::impl
