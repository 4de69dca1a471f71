// The one kernel of a partition: a team finds the classes of a tile's keys, learns by look-back where each
// class goes on, and scatters the tile through scratch.
//
// The steps are those of a Onesweep pass. But a class is searched for, so it is found once a key and kept, in
// registers and beside the sorted tile; and where each class begins is known before.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>

#include "kradix/impl/backend/lanes.hpp"
#include "kradix/impl/device/digit.hpp"
#include "kradix/impl/device/look_back.hpp"
#include "kradix/impl/device/team_scan.hpp"
#include "kradix/impl/mpi/codecs.hpp"

namespace kradix::impl::mpi {

/// Classes have `ClassBits` bits: so many ballots rank them.
template <class ExecutionSpace, class Codec, class Value, TeamShape Shape, int ClassBits>
struct PartitionTile {
  using Key = typename Codec::key_type;
  using Bits = typename Codec::bits_type;
  using Team = TeamMember<ExecutionSpace>;
  using L = Lanes<ExecutionSpace>;
  static constexpr bool with_values = !std::is_same_v<Value, NoValue>;
  static constexpr int threads = Shape.threads, items = Shape.items, tile_size = threads * items;
  static constexpr int groups = threads / L::width;
  static constexpr int most_classes = 1 << ClassBits;
  static constexpr int classes_per_thread = threads >= most_classes ? 1 : most_classes / threads;
  static_assert(tile_size <= 0xffff && items % 4 == 0 && most_classes % classes_per_thread == 0);
  static_assert(tile_size <= LookBackWord::most >> LookBackShape{}.portion_bits);

  const Key* keys_in;
  Key* keys_out;
  const Value* values_in;  ///< null: the value of element i is i
  Value* values_out;
  Codec codec;
  std::size_t count;
  const Bits* bounds;
  int classes;                  ///< one more than bounds
  const std::uint64_t* firsts;  ///< of each class: its first place
  std::uint64_t* ticket;        ///< tiles taken: teams may start in any order, tiles may not
  LookBack<ExecutionSpace> look_back;

  /// What a team keeps in scratch. Counters are done with when elements come.
  struct Scratch {
    union {
      std::uint16_t counters[groups][most_classes];
      Key keys[tile_size];
      std::conditional_t<with_values, Value, char> values[tile_size];
    };
    std::uint64_t base[most_classes];  ///< place in the output less place in the tile
    Bits bounds[most_classes];
    std::uint32_t first[most_classes];  ///< first place in the tile
    std::uint32_t tile;
    std::uint8_t class_at[tile_size];  ///< of the sorted tile
    KOKKOS_FUNCTION Scratch() {}
  };
  static std::size_t scratch_bytes() { return sizeof(Scratch); }

  /// What a thread keeps in registers. Ranks are packed by two, classes by four.
  struct Registers {
    Key key[items];
    std::uint32_t rank[items / 2], classes[items / 4];

    KOKKOS_FUNCTION std::uint32_t rank_of(int item) const {
      return rank[item / 2] >> (16 * (item % 2)) & 0xffffu;
    }
    KOKKOS_FUNCTION std::uint32_t class_of(int item) const {
      return classes[item / 4] >> (8 * (item % 4)) & 0xffu;
    }
  };

  /// This thread's tile.
  struct Tile {
    std::uint32_t index;
    std::size_t begin;
    int size;
  };

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    Scratch& scratch = *take_scratch<Scratch>(team, 1);
    for (int i = team.team_rank(); i + 1 < classes; i += threads) scratch.bounds[i] = bounds[i];
    while (true) {
      if (team.team_rank() == 0) {
        scratch.tile =
            static_cast<std::uint32_t>(Kokkos::atomic_fetch_add(ticket, std::uint64_t{1}));
      }
      clear_counters(team.team_rank(), scratch);
      team.team_barrier();
      const std::uint32_t index = scratch.tile;
      const std::size_t begin = static_cast<std::size_t>(index) * tile_size;
      if (begin >= count) return;
      if (begin + tile_size <= count) {
        partition<true>(team, Tile{index, begin, tile_size}, scratch);
      } else {
        partition<false>(team, Tile{index, begin, static_cast<int>(count - begin)}, scratch);
      }
      team.team_barrier();
    }
  }

 private:
  /// A full tile (`Full`) has no guards: they would serialise its memory operations.
  template <bool Full>
  KOKKOS_FUNCTION void partition(const Team& team, const Tile& tile, Scratch& scratch) const {
    const int thread = team.team_rank();
    Registers registers;
    load<Full>(thread, tile, registers);
    find_classes<Full>(thread, tile, scratch, registers);
    rank(thread, scratch, registers);
    if (thread == 0) look_back.enter(tile.index);
    team.team_barrier();
    publish<Full>(team, tile, scratch);
    team.team_barrier();
    add_group_ranks(thread, scratch, registers);
    team.team_barrier();
    exchange_keys(scratch, registers);
    std::conditional_t<with_values, Value, char> values[with_values ? items : 1];
    if constexpr (with_values) load_values<Full>(thread, tile, values);
    look_back_for_bases<Full>(thread, tile, scratch);
    team.team_barrier();
    if (thread == 0) look_back.leave(tile.index);
    scatter<Full>(thread, tile, scratch, scratch.keys, keys_out);
    if constexpr (with_values) {
      team.team_barrier();
      KRADIX_UNROLL
      for (int i = 0; i < items; ++i) scratch.values[registers.rank_of(i)] = values[i];
      team.team_barrier();
      scatter<Full>(thread, tile, scratch, scratch.values, values_out);
    }
  }

  KOKKOS_FUNCTION static void clear_counters(int thread, Scratch& scratch) {
    auto* const words = reinterpret_cast<std::uint64_t*>(scratch.counters);
    constexpr int word_count = sizeof(scratch.counters) / sizeof(std::uint64_t);
    for (int i = thread; i < word_count; i += threads) words[i] = 0;
  }

  /// Index in the tile of a thread's item: a lane group reads runs of its width.
  KOKKOS_FUNCTION static int place_of(int thread, int item) {
    const int group = thread / L::width;
    return (group * items + item) * L::width + L::lane(thread);
  }

  template <bool Full>
  KOKKOS_FUNCTION void load(int thread, const Tile& tile, Registers& registers) const {
    const Key* const keys = keys_in + tile.begin;
    const int first = place_of(thread, 0);
    const Key* const mine = keys + first;
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      const int offset = i * L::width;
      registers.key[i] = Full || first + offset < tile.size ? mine[offset] : keys[0];
    }
  }

  /// Places beyond the end count as the last class: stability keeps them behind all others.
  template <bool Full>
  KOKKOS_FUNCTION void find_classes(int thread, const Tile& tile, const Scratch& scratch,
                                    Registers& registers) const {
    const auto bound_count = static_cast<std::uint32_t>(classes - 1);
    KRADIX_UNROLL
    for (int i = 0; i < items; i += 4) {
      Bits own[4];
      std::uint32_t reached[4], packed = 0;
      KRADIX_UNROLL
      for (int k = 0; k < 4; ++k) own[k] = codec.encode(registers.key[i + k]);
      find_bounds_reached(scratch.bounds, bound_count, own, reached);
      KRADIX_UNROLL
      for (int k = 0; k < 4; ++k) {
        const bool there = Full || place_of(thread, i + k) < tile.size;
        packed |= (there ? reached[k] : bound_count) << (8 * k);
      }
      registers.classes[i / 4] = packed;
    }
  }

  /// Ranks each item among those of its lane group with its class; counts them on the way.
  KOKKOS_FUNCTION static void rank(int thread, Scratch& scratch, Registers& registers) {
    const int lane = L::lane(thread);
    volatile std::uint16_t* const counters = scratch.counters[thread / L::width];
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      L::settle(registers.classes[i / 4]);
      const std::uint32_t own = registers.class_of(i);
      const auto same = L::template match<ClassBits>(own);
      const int below = L::rank_in(same, lane);
      const std::uint32_t before = counters[own];
      L::barrier();
      if (below == 0) counters[own] = static_cast<std::uint16_t>(before + L::size_of(same));
      L::barrier();
      const std::uint32_t rank = before + below;
      registers.rank[i / 2] = i % 2 == 0 ? rank : registers.rank[i / 2] | rank << 16;
    }
  }

  /// Without the places beyond the end of a partial tile.
  template <bool Full>
  KOKKOS_FUNCTION std::uint32_t real_count(const Tile& tile, int c, std::uint32_t counted) const {
    if (Full || c != classes - 1) return counted;
    return counted - static_cast<std::uint32_t>(tile_size - tile.size);
  }

  /// Adds up the groups' counters of each class, publishes the sums, and turns the counters into the
  /// first place in the tile of each group's items.
  template <bool Full>
  KOKKOS_FUNCTION void publish(const Team& team, const Tile& tile, Scratch& scratch) const {
    const int begin = team.team_rank() * classes_per_thread;
    const int end = begin + classes_per_thread < classes ? begin + classes_per_thread : classes;
    std::uint32_t sum = 0;
    for (int c = begin; c < end; ++c) {
      std::uint32_t counted = 0;
      for (int g = 0; g < groups; ++g) counted += scratch.counters[g][c];
      look_back.publish_own(tile.index, c, real_count<Full>(tile, c, counted));
      sum += counted;
    }
    std::uint32_t before = scan_team<threads>(team, sum).before;
    for (int c = begin; c < end; ++c) {
      scratch.first[c] = before;
      for (int g = 0; g < groups; ++g) {
        const std::uint32_t counted = scratch.counters[g][c];
        scratch.counters[g][c] = static_cast<std::uint16_t>(before);
        before += counted;
      }
    }
  }

  KOKKOS_FUNCTION static void add_group_ranks(int thread, const Scratch& scratch,
                                              Registers& registers) {
    const std::uint16_t* const counters = scratch.counters[thread / L::width];
    KRADIX_UNROLL
    for (int i = 0; i < items; i += 2) {
      L::settle(registers.classes[i / 4]);
      const std::uint32_t low = counters[registers.class_of(i)];
      const std::uint32_t high = counters[registers.class_of(i + 1)];
      registers.rank[i / 2] += low | high << 16;
    }
  }

  KOKKOS_FUNCTION static void exchange_keys(Scratch& scratch, const Registers& registers) {
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      const std::uint32_t place = registers.rank_of(i);
      scratch.keys[place] = registers.key[i];
      scratch.class_at[place] = static_cast<std::uint8_t>(registers.class_of(i));
    }
  }

  /// Learns how much of each class lies in earlier tiles, publishes it with our own, sets the bases.
  template <bool Full>
  KOKKOS_FUNCTION void look_back_for_bases(int thread, const Tile& tile, Scratch& scratch) const {
    const int begin = thread * classes_per_thread;
    for (int c = begin; c < begin + classes_per_thread && c < classes; ++c) {
      const std::uint32_t end =
          c + 1 < classes ? scratch.first[c + 1] : static_cast<std::uint32_t>(tile_size);
      const std::uint32_t own = real_count<Full>(tile, c, end - scratch.first[c]);
      scratch.base[c] = look_back.place(tile.index, c, own, firsts[c]) - scratch.first[c];
    }
  }

  template <bool Full, class T>
  KOKKOS_FUNCTION static void scatter(int thread, const Tile& tile, const Scratch& scratch,
                                      const T* sorted, T* out) {
    // With the thread in the pointer and the item in the offset, an address costs one addition.
    T* const mine = out + thread;
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      const int place = i * threads + thread;
      if (Full || place < tile.size) {
        (mine + scratch.base[scratch.class_at[place]])[i * threads] = sorted[place];
      }
      if (i % 4 == 3) L::settle_memory();
    }
  }

  template <bool Full>
  KOKKOS_FUNCTION void load_values(int thread, const Tile& tile, Value* values) const {
    const int first = place_of(thread, 0);
    const std::size_t begin = tile.begin + static_cast<std::size_t>(first);
    if constexpr (std::is_integral_v<Value>) {
      if (values_in == nullptr) {
        KRADIX_UNROLL
        for (int i = 0; i < items; ++i) values[i] = static_cast<Value>(begin + i * L::width);
        return;
      }
    }
    const Value* const mine = values_in + begin;
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      const int offset = i * L::width;
      values[i] = Full || first + offset < tile.size ? mine[offset] : values_in[tile.begin];
    }
  }
};

}  // namespace kradix::impl::mpi
