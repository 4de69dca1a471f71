// Chunks of keys of which many are alike, each sorted by one team in scratch, digit by digit: those that the
// finish gave up, or all of them where the route tells so.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "kradix/impl/device/chunk_passes.hpp"
#include "kradix/impl/device/chunks.hpp"

namespace kradix::impl {

template <class ExecutionSpace, class Codec, class Value, TeamShape Shape>
struct FinishCrowded {
  using Key = typename Codec::key_type;
  using Team = TeamMember<ExecutionSpace>;
  using Passes = ChunkPasses<ExecutionSpace, Codec, Value, Shape>;
  static constexpr bool with_values = Passes::with_values;

  SortBuffers<Key, Value> buffers;
  Codec codec;
  DigitList all;
  const PassTable* passes;
  const Route* route;
  ChunkLists lists;

  static std::size_t scratch_bytes() { return sizeof(typename Passes::Scratch); }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    auto& scratch = *take_scratch<typename Passes::Scratch>(team, 1);
    const ChunkList list = route->crowded != 0 ? lists.chunks : lists.left;
    const auto listed = static_cast<std::uint32_t>(list.size());
    const auto step = static_cast<std::uint32_t>(team.league_size());
    for (auto entry = static_cast<std::uint32_t>(team.league_rank()); entry < listed;
         entry += step) {
      const Chunk chunk = list.at(entry);
      if (chunk.size() > 0) sort(team, chunk, scratch);
      team.team_barrier();
    }
  }

  KOKKOS_FUNCTION void sort(const Team& team, const Chunk& chunk,
                            typename Passes::Scratch& scratch) const {
    typename Passes::Elements elements{};
    elements.size = chunk.size();
    elements.keys = buffers.keys.end(passes->count) + chunk.begin();
    if (!buffers.leaves_keys) elements.keys_out = buffers.keys.result + chunk.begin();
    if constexpr (with_values) {
      elements.values = buffers.values.end(passes->count) + chunk.begin();
      elements.values_out = buffers.values.result + chunk.begin();
    }
    // Cells that were gathered together lie in no order: no more than the first digit is the same in all of their keys.
    const int unordered = passes->finishes == PassTable::gathering ? digit_bits : 0;
    Passes{codec, all}.sort(team, elements, route->digits.begin + unordered, scratch);
  }
};

}  // namespace kradix::impl
