// A chunk sorted digit by digit by one team without leaving it: keys in registers, exchanged through
// scratch after every pass. Any keys will do, alike or not.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>

#include "kradix/impl/backend/lanes.hpp"
#include "kradix/impl/device/bins.hpp"
#include "kradix/impl/device/sweep_tile.hpp"

namespace kradix::impl {

/// The look-back of a tile that is alone.
struct AloneLookBack {
  KOKKOS_FUNCTION void publish_own(std::uint32_t, int, std::uint32_t) const {}
};

template <class ExecutionSpace, class Codec, class Value, TeamShape Shape>
struct ChunkPasses {
  using Key = typename Codec::key_type;
  using Bits = typename Codec::bits_type;
  using Team = TeamMember<ExecutionSpace>;
  using Tile = SweepTile<ExecutionSpace, Codec, NoValue, Shape, AloneLookBack>;
  using Registers = typename Tile::Registers;
  using Combined = CombinedBits<ExecutionSpace, Shape.threads, Bits>;
  static constexpr bool with_values = !std::is_same_v<Value, NoValue>;
  static constexpr int threads = Shape.threads, items = Shape.items;

  Codec codec;
  DigitList all;

  union Scratch {
    typename Tile::Scratch tile;
    std::uint16_t from[threads * items];
    std::uint64_t seen[Combined::words];
    KOKKOS_FUNCTION Scratch() {}
  };

  /// Those of the caller's bits in which the team's keys differ.
  KOKKOS_FUNCTION Bits varying_bits(const Team& team, const Key* keys, int size,
                                    Scratch& scratch) const {
    const Bits first = codec.encode(keys[0]);
    Bits differ = 0;
    for (int i = team.team_rank(); i < size; i += threads) differ |= codec.encode(keys[i]) ^ first;
    return Combined::over(team, differ, scratch.seen) & bits_between<Bits>(all.begin, all.end);
  }

  /// Values that are null count as each element's index; keys whose result is null are not wanted. The
  /// results may lie where the elements do.
  KOKKOS_FUNCTION void sort(const Team& team, int size, const Key* keys, const Value* values,
                            Key* keys_out, Value* values_out, Scratch& scratch) const {
    const int thread = team.team_rank();
    const PassTable passes = cover<Bits>(varying_bits(team, keys, size, scratch));
    Registers registers;
    std::uint16_t from[items];
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      const int place = Tile::place_of(thread, i);
      registers.key[i] = keys[place < size ? place : 0];
      from[i] = static_cast<std::uint16_t>(place);
    }
    for (int pass = 0; pass < passes.count; ++pass) {
      team.team_barrier();
      Tile::clear_counters(thread, scratch.tile);
      team.team_barrier();
      sort_by(team, passes.digit[pass], size, scratch, registers, from);
    }
    team.team_barrier();  // in place, all have been read
    write(thread, size, registers, from, values, keys_out, values_out, team);
  }

 private:
  KOKKOS_FUNCTION void sort_by(const Team& team, const Digit& digit, int size, Scratch& scratch,
                               Registers& registers, std::uint16_t* from) const {
    const int thread = team.team_rank();
    const typename Tile::Tile all_of_it{0, 0, size};
    const Tile tile{{}, codec, {}, nullptr, nullptr, nullptr, {}, 0};
    Tile::template rank<false>(thread, all_of_it, DigitReader<Codec>(codec, digit), scratch.tile,
                               registers);
    if (thread == 0) scratch.tile.digit = digit;
    team.team_barrier();
    tile.template publish<false>(team, all_of_it, scratch.tile);
    team.team_barrier();
    Tile::template add_group_ranks<false>(thread, all_of_it, tile.reader_in(scratch.tile),
                                          scratch.tile, registers);
    team.team_barrier();
    Tile::exchange_keys(scratch.tile, registers);
    team.team_barrier();
    KRADIX_UNROLL
    for (int i = 0; i < items; ++i) {
      registers.key[i] = scratch.tile.keys[Tile::template padded<Key>(Tile::place_of(thread, i))];
    }
    if constexpr (with_values) {
      team.team_barrier();
      KRADIX_UNROLL
      for (int i = 0; i < items; ++i) scratch.from[Tile::rank_of(registers, i)] = from[i];
      team.team_barrier();
      KRADIX_UNROLL
      for (int i = 0; i < items; ++i) from[i] = scratch.from[Tile::place_of(thread, i)];
    }
  }

  KOKKOS_FUNCTION static void write(int thread, int size, const Registers& registers,
                                    const std::uint16_t* from, const Value* values, Key* keys_out,
                                    Value* values_out, const Team& team) {
    if (keys_out != nullptr) {
      KRADIX_UNROLL
      for (int i = 0; i < items; ++i) {
        const int place = Tile::place_of(thread, i);
        if (place < size) keys_out[place] = registers.key[i];
      }
    }
    if constexpr (with_values) {
      Value value[items];
      KRADIX_UNROLL
      for (int i = 0; i < items; ++i) {
        if (Tile::place_of(thread, i) < size) value[i] = value_of(values, from[i]);
      }
      team.team_barrier();
      KRADIX_UNROLL
      for (int i = 0; i < items; ++i) {
        const int place = Tile::place_of(thread, i);
        if (place < size) values_out[place] = value[i];
      }
    }
  }

  KOKKOS_FUNCTION static Value value_of(const Value* values, std::uint16_t from) {
    if constexpr (std::is_integral_v<Value>) {
      if (values == nullptr) return static_cast<Value>(from);
    }
    return values[from];
  }
};

}  // namespace kradix::impl
