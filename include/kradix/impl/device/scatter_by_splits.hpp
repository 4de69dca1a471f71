// The scatter of a GPU team: it sorts words that stand for its elements, then moves the elements.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <type_traits>

#include "kradix/impl/device/pass.hpp"
#include "kradix/impl/device/team_split.hpp"

namespace kradix::impl {

/// Round by round, a team orders {digit, index in the round} words in scratch by two four-bit splits;
/// the ordered words say which element goes next. Elements of any type are then read again where they
/// lie, in cache, and written in runs, one run a bin.
template <class ExecutionSpace, class Codec, class Value, TeamShape Shape>
struct ScatterBySplits : ElementPass<ExecutionSpace, Codec, Value> {
  using Team = TeamMember<ExecutionSpace>;
  using Split = TeamSplit<Shape.threads, Shape.items>;
  using Words = std::uint32_t*;
  static constexpr int bin_shift = 16;
  static constexpr std::uint32_t index_mask = 0xffffu;

  static std::size_t scratch_bytes(std::size_t) {
    return 2 * bin_count * sizeof(Place) +
           (Split::round + Split::counter_words) * sizeof(std::uint32_t);
  }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    if (this->idle()) return;
    auto* const next = take_scratch<Place>(team, bin_count);  // where each bin goes on
    auto* const offset =
        take_scratch<Place>(team, bin_count);  // place in the output less place in the round
    const Words words = take_scratch<std::uint32_t>(team, Split::round);
    const Split split{words, take_scratch<std::uint32_t>(team, Split::counter_words)};
    for (int bin = team.team_rank(); bin < bin_count; bin += Shape.threads) {
      next[bin] = this->bins[bin] + this->place(bin, team);
    }
    const Share tile = this->tile_of(team);
    for (std::size_t begin = tile.begin; begin < tile.end; begin += Split::round) {
      const std::size_t left = tile.end - begin;
      const int size = static_cast<int>(left < Split::round ? left : Split::round);
      load(team, begin, size, words);
      split.by_bits(team, bin_shift);
      split.by_bits(team, bin_shift + Split::bits);
      for (int p = team.team_rank(); p < size; p += Shape.threads) {
        const std::uint32_t bin = words[p] >> bin_shift;
        if (p == 0 || words[p - 1] >> bin_shift != bin) offset[bin] = next[bin] - p;
      }
      team.team_barrier();
      move(team, begin, size, words, offset, next);
      team.team_barrier();
    }
  }

  KOKKOS_FUNCTION void load(const Team& team, std::size_t begin, int size, Words words) const {
    const DigitReader<Codec> reader(this->codec, this->digit());
    const auto* const keys = this->source_keys() + begin;
    // Beyond the end stand words of the last bin: stability keeps them behind all others.
    constexpr unsigned last_bin = bin_count - 1;
    if (size == Split::round) {
      KRADIX_UNROLL
      for (int i = 0; i < Shape.items; ++i) {
        const int p = i * Shape.threads + team.team_rank();
        words[p] = reader.of(keys[p]) << bin_shift | static_cast<std::uint32_t>(p);
      }
    } else {
      for (int p = team.team_rank(); p < Split::round; p += Shape.threads) {
        const unsigned bin = p < size ? reader.of(keys[p]) : last_bin;
        words[p] = bin << bin_shift | static_cast<std::uint32_t>(p);
      }
    }
    team.team_barrier();
  }

  /// Element p of the ordered round goes to its bin's run; the last of a run says where the bin goes on.
  KOKKOS_FUNCTION void move(const Team& team, std::size_t begin, int size, Words words,
                            const Place* offset, Place* next) const {
    const auto* const keys = this->source_keys() + begin;
    auto* const keys_out = this->destination_keys();
    for (int p = team.team_rank(); p < size; p += Shape.threads) {
      const std::uint32_t bin = words[p] >> bin_shift;
      const std::uint32_t from = words[p] & index_mask;
      const Place to = offset[bin] + p;
      if (keys_out) keys_out[to] = keys[from];
      if constexpr (ScatterBySplits::with_values) move_value(begin + from, to);
      if (p + 1 == size || words[p + 1] >> bin_shift != bin) next[bin] = to + 1;
    }
  }

  KOKKOS_FUNCTION void move_value(std::size_t from, Place to) const {
    if constexpr (std::is_integral_v<Value>) {
      if (this->makes_indices_now()) {
        this->destination_values()[to] = static_cast<Value>(from);
        return;
      }
    }
    this->destination_values()[to] = this->source_values()[from];
  }
};

}  // namespace kradix::impl
