// How the tiles of a scan in one kernel learn the sum of those before them: by waiting for the
// predecessor's prefix, or by looking back, in memory that grows with the array or is constant.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "kradix/impl/backend/lanes.hpp"
#include "kradix/options.hpp"

namespace kradix::impl {

/// What a tile publishes: its own sum or the sum up to it, and which turn around the buffer it is on.
struct ChainWord {
  enum Kind : std::uint64_t { empty, own, inclusive };
  static constexpr int sum_bits = 44, turn_bits = 18;

  std::uint64_t bits;

  KOKKOS_FUNCTION static ChainWord make(Kind kind, std::uint64_t turn, std::uint64_t sum) {
    return {std::uint64_t{kind} << (sum_bits + turn_bits) | turn << sum_bits | sum};
  }
  KOKKOS_FUNCTION Kind kind() const { return static_cast<Kind>(bits >> (sum_bits + turn_bits)); }
  KOKKOS_FUNCTION bool is_of(std::uint64_t turn) const {
    return kind() != empty && (bits >> sum_bits & ((std::uint64_t{1} << turn_bits) - 1)) == turn;
  }
  KOKKOS_FUNCTION std::uint64_t sum() const { return bits & ((std::uint64_t{1} << sum_bits) - 1); }
};

/// The buffer of a method: a ticket counter and the tail, then one word per tile or per slot.
struct ChainShape {
  static constexpr int slot_bits = 10;         ///< of a circular buffer: 8 KB
  static constexpr std::uint32_t reach = 512;  ///< tiles that a tile looks back at most there
  static constexpr std::size_t counters = 2;

  bool looks_back = true, circular = false;
  int group_bits = 0;  ///< tiles of a group leave the circular buffer in any order

  constexpr explicit ChainShape(ArrayScan method)
      : looks_back(method != ArrayScan::chained),
        circular(method == ArrayScan::circular || method == ArrayScan::circular_in_order),
        group_bits(method == ArrayScan::circular ? 5 : 0) {}

  constexpr std::size_t words(std::size_t tiles) const {
    const std::size_t slots = std::size_t{1} << slot_bits;
    return counters + (circular && tiles > slots ? slots : tiles);
  }
};

template <class ExecutionSpace>
struct ScanChain {
  using L = Lanes<ExecutionSpace>;

  ChainShape shape;
  std::uint64_t* memory;  ///< zero
  bool reuses_slots;

  ScanChain(const ChainShape& shape_, std::uint64_t* memory_, std::size_t tiles)
      : shape(shape_),
        memory(memory_),
        reuses_slots(shape_.circular && tiles > std::size_t{1} << ChainShape::slot_bits) {}

  /// Teams may start in any order, tiles may not.
  KOKKOS_FUNCTION std::uint64_t take_ticket() const {
    return Kokkos::atomic_fetch_add(&memory[0], std::uint64_t{1});
  }

  /// One thread of a tile: tells the tile's sum, and returns the sum of all tiles before it.
  KOKKOS_FUNCTION std::uint64_t exchange(std::uint32_t tile, std::uint64_t own) const {
    if (reuses_slots) enter(tile);
    if (tile == 0) {
      publish(tile, ChainWord::inclusive, own);
      leave(tile);
      return 0;
    }
    if (shape.looks_back) publish(tile, ChainWord::own, own);
    const std::uint64_t before = shape.looks_back ? look_back(tile) : wait_for(tile - 1);
    publish(tile, ChainWord::inclusive, before + own);
    leave(tile);
    return before;
  }

 private:
  KOKKOS_FUNCTION std::uint64_t* tail() const { return &memory[1]; }
  KOKKOS_FUNCTION std::uint64_t* word(std::uint32_t tile) const {
    const std::uint32_t slot = reuses_slots ? tile & ((1u << ChainShape::slot_bits) - 1) : tile;
    return memory + ChainShape::counters + slot;
  }
  KOKKOS_FUNCTION std::uint64_t turn(std::uint32_t tile) const {
    const std::uint32_t turn = reuses_slots ? tile >> ChainShape::slot_bits : 0;
    return turn & ((1u << ChainWord::turn_bits) - 1);
  }
  KOKKOS_FUNCTION void publish(std::uint32_t tile, ChainWord::Kind kind, std::uint64_t sum) const {
    L::store(word(tile), ChainWord::make(kind, turn(tile), sum).bits);
  }

  KOKKOS_FUNCTION std::uint64_t wait_for(std::uint32_t other) const {
    while (true) {
      const ChainWord seen{L::load(word(other))};
      if (seen.is_of(turn(other)) && seen.kind() == ChainWord::inclusive) return seen.sum();
      L::pause();
    }
  }

  KOKKOS_FUNCTION std::uint64_t look_back(std::uint32_t tile) const {
    const std::uint32_t first =
        reuses_slots && tile > ChainShape::reach ? tile - ChainShape::reach : 0;
    std::uint64_t sum = 0;
    std::uint32_t other = tile - 1;
    while (true) {
      // The furthest tile within reach must become inclusive: nobody looks beyond it.
      if (other == first) return sum + wait_for(other);
      const ChainWord seen{L::load(word(other))};
      if (!seen.is_of(turn(other))) {
        L::pause();
        continue;
      }
      sum += seen.sum();
      if (seen.kind() == ChainWord::inclusive) return sum;
      --other;
    }
  }

  /// The tail counts tiles that have left. Its low `group_bits` advance in any order, so that it tells
  /// only whole groups surely.
  KOKKOS_FUNCTION std::uint64_t group_of(std::uint64_t tile) const {
    return tile >> shape.group_bits;
  }

  /// Waits until the tiles that may still read this slot's old word have left.
  KOKKOS_FUNCTION void enter(std::uint32_t tile) const {
    constexpr std::uint32_t slots = 1u << ChainShape::slot_bits;
    if (tile < slots) return;
    const std::uint64_t needed = tile - slots + ChainShape::reach;
    while (group_of(L::load(tail())) << shape.group_bits <= needed) L::pause();
  }

  KOKKOS_FUNCTION void leave(std::uint32_t tile) const {
    if (!reuses_slots) return;
    while (group_of(L::load(tail())) != group_of(tile)) L::pause();
    Kokkos::atomic_inc(tail());
  }
};

}  // namespace kradix::impl
