// The scatter of a host thread: it partitions a round in its cache, then copies the bins out in runs.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kradix/impl/device/pass.hpp"

namespace kradix::impl {

/// Runs reach memory in whole lines, where one store a key would touch 256 lines in turn.
template <class ExecutionSpace, class Codec, class Value>
struct ScatterSerially : ElementPass<ExecutionSpace, Codec, Value> {
  using Team = TeamMember<ExecutionSpace>;
  using Key = typename Codec::key_type;
  static constexpr bool with_values = ElementPass<ExecutionSpace, Codec, Value>::with_values;

  static std::size_t scratch_bytes(std::size_t round) {
    const std::size_t element_bytes = sizeof(Key) + (with_values ? sizeof(Value) : 0);
    return bin_count * (sizeof(Place) + sizeof(std::uint32_t)) + round * element_bytes +
           2 * alignof(std::max_align_t);
  }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    if (this->idle()) return;
    auto* const next = take_scratch<Place>(team, bin_count);  // where each bin goes on
    auto* const ends = take_scratch<std::uint32_t>(team, bin_count);
    Key* const keys = take_scratch<Key>(team, this->round);
    Value* values = nullptr;
    if constexpr (with_values) values = take_scratch<Value>(team, this->round);
    for (int bin = 0; bin < bin_count; ++bin) next[bin] = this->bins[bin] + this->place(bin, team);
    const Share tile = this->tile_of(team);
    for (std::size_t begin = tile.begin; begin < tile.end; begin += this->round) {
      const std::size_t left = tile.end - begin;
      const std::size_t size = left < this->round ? left : this->round;
      if (this->tile == this->round) {
        recall_counts(team, ends);
      } else {
        count_round(begin, size, ends);
      }
      scan(ends);
      partition(begin, size, ends, keys, values);
      copy_bins(ends, keys, values, next);
    }
  }

  /// A tile of one round was counted already: its counts are the differences of the next tile's places.
  KOKKOS_FUNCTION void recall_counts(const Team& team, std::uint32_t* bins) const {
    const auto index = static_cast<std::size_t>(team.league_rank());
    for (int bin = 0; bin < bin_count; ++bin) {
      const Place* const row = this->places + static_cast<std::size_t>(bin) * this->tiles;
      const Place total =
          (bin + 1 < bin_count ? this->bins[bin + 1] : this->count) - this->bins[bin];
      const Place end = index + 1 < this->tiles ? row[index + 1] : total;
      bins[bin] = static_cast<std::uint32_t>(end - row[index]);
    }
  }

  KOKKOS_FUNCTION void count_round(std::size_t begin, std::size_t size, std::uint32_t* bins) const {
    // By value: stores to the bins could alias what `this` holds, and each key would load it anew.
    const DigitReader<Codec> reader(this->codec, this->digit());
    const Key* const keys = this->source_keys() + begin;
    for (int bin = 0; bin < bin_count; ++bin) bins[bin] = 0;
    for (std::size_t i = 0; i < size; ++i) ++bins[reader.of(keys[i])];
  }

  /// Counts to exclusive prefix sums.
  KOKKOS_FUNCTION static void scan(std::uint32_t* bins) {
    std::uint32_t sum = 0;
    for (int bin = 0; bin < bin_count; ++bin) {
      const std::uint32_t counted = bins[bin];
      bins[bin] = sum;
      sum += counted;
    }
  }

  KOKKOS_FUNCTION void partition(std::size_t begin, std::size_t size, std::uint32_t* next,
                                 Key* keys, Value* values) const {
    if constexpr (!with_values) {
      partition_with(begin, size, next, keys, [](std::size_t, std::uint32_t) {});
    } else if (this->makes_indices_now()) {
      partition_with(begin, size, next, keys, [=](std::size_t from, std::uint32_t to) {
        if constexpr (std::is_integral_v<Value>) values[to] = static_cast<Value>(from);
      });
    } else {
      const Value* const source = this->source_values();
      partition_with(begin, size, next, keys,
                     [=](std::size_t from, std::uint32_t to) { values[to] = source[from]; });
    }
  }

  /// Each key, and by `move_value(from, to)` its value, to the next place of its bin, whose end is left.
  template <class MoveValue>
  KOKKOS_FUNCTION void partition_with(std::size_t begin, std::size_t size, std::uint32_t* next,
                                      Key* keys, const MoveValue& move_value) const {
    const DigitReader<Codec> reader(this->codec, this->digit());
    const Key* const source = this->source_keys();
    for (std::size_t i = begin; i < begin + size; ++i) {
      const Key key = source[i];
      const std::uint32_t place = next[reader.of(key)]++;
      keys[place] = key;
      move_value(i, place);
    }
  }

  KOKKOS_FUNCTION void copy_bins(const std::uint32_t* ends, const Key* keys, const Value* values,
                                 Place* next) const {
    Key* const keys_out = this->destination_keys();
    std::uint32_t begin = 0;
    for (int bin = 0; bin < bin_count; ++bin) {
      const std::size_t length = ends[bin] - begin;
      if (keys_out) std::memcpy(keys_out + next[bin], keys + begin, length * sizeof(Key));
      if constexpr (with_values) {
        std::memcpy(this->destination_values() + next[bin], values + begin, length * sizeof(Value));
      }
      next[bin] += length;
      begin = ends[bin];
    }
  }
};

}  // namespace kradix::impl
