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
#include "kradix/impl/device/ordered_steps.hpp"
#include "kradix/impl/device/tile_queue.hpp"
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
  static constexpr int most_classes = 1 << ClassBits;
  using Steps = OrderedSteps<ExecutionSpace, Shape, most_classes>;
  static constexpr int threads = Steps::threads, items = Steps::items;
  static constexpr int tile_size = Steps::tile_size;
  static_assert(items % 4 == 0);

  const Key* keys_in;
  Key* keys_out;
  const Value* values_in;  ///< null: the value of element i is i
  Value* values_out;
  Codec codec;
  std::size_t count;
  const Bits* bounds;
  int classes;                  ///< one more than bounds
  const std::uint64_t* firsts;  ///< of each class: its first place
  TileQueue<ExecutionSpace, bin_count> queue;

  /// What a team keeps in scratch. Counters are done with when elements come.
  struct Scratch {
    union {
      typename Steps::Counters counters;
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
      if (team.team_rank() == 0) scratch.tile = queue.draw();
      Steps::clear(team.team_rank(), classes, scratch.counters);
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
    const auto class_of = [&](int i) {
      L::settle(registers.classes[i / 4]);
      return registers.class_of(i);
    };
    Steps::rank(thread, class_of, scratch.counters, registers.rank);
    if (thread == 0) queue.look_back.enter(tile.index);
    team.team_barrier();
    Steps::publish(
        team, classes,
        [&](int c, std::uint32_t counted) {
          queue.look_back.publish_own(tile.index, c, real_count<Full>(tile, c, counted));
        },
        scratch.counters, scratch.first);
    team.team_barrier();
    Steps::add_group_ranks(thread, class_of, scratch.counters, registers.rank);
    team.team_barrier();
    exchange_keys(scratch, registers);
    std::conditional_t<with_values, Value, char> values[with_values ? items : 1];
    if constexpr (with_values) load_values<Full>(thread, tile, values);
    Steps::place_bins(
        thread, classes,
        [&](int c, std::uint32_t counted) {
          const std::uint32_t own = real_count<Full>(tile, c, counted);
          return queue.look_back.place(tile.index, c, own, firsts[c]);
        },
        scratch.first, scratch.base);
    team.team_barrier();
    if (thread == 0) queue.look_back.leave(tile.index);
    scatter<Full>(thread, tile, scratch, scratch.keys, keys_out);
    if constexpr (with_values) {
      team.team_barrier();
      KRADIX_UNROLL
      for (int i = 0; i < items; ++i) scratch.values[Steps::rank_of(registers.rank, i)] = values[i];
      team.team_barrier();
      scatter<Full>(thread, tile, scratch, scratch.values, values_out);
    }
  }

  template <bool Full>
  KOKKOS_FUNCTION void load(int thread, const Tile& tile, Registers& registers) const {
    const Key* const keys = keys_in + tile.begin;
    const int first = Steps::place_of(thread, 0);
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
        const bool there = Full || Steps::place_of(thread, i + k) < tile.size;
        packed |= (there ? reached[k] : bound_count) << (8 * k);
      }
      registers.classes[i / 4] = packed;
    }
  }

  /// Without the places beyond the end of a partial tile.
  template <bool Full>
  KOKKOS_FUNCTION std::uint32_t real_count(const Tile& tile, int c, std::uint32_t counted) const {
    if (Full || c != classes - 1) return counted;
    return counted - static_cast<std::uint32_t>(tile_size - tile.size);
  }

  KOKKOS_FUNCTION static void exchange_keys(Scratch& scratch, const Registers& registers) {
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      const std::uint32_t place = Steps::rank_of(registers.rank, i);
      scratch.keys[place] = registers.key[i];
      scratch.class_at[place] = static_cast<std::uint8_t>(registers.class_of(i));
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
    const int first = Steps::place_of(thread, 0);
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
