// A chunk sorted by one team, whatever its keys; and a sort of what fits one, in one kernel.
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "kradix/impl/device/chunk_passes.hpp"
#include "kradix/impl/device/finish_chunk.hpp"

namespace kradix::impl {

/// As a finish does; or, where too many keys are alike (and for keys shorter than 4 bytes, that have few
/// digits), pass by pass.
template <class ExecutionSpace, class Codec, class Value, TeamShape FinishShape,
          TeamShape PassShape>
struct AnyChunk {
  using Key = typename Codec::key_type;
  using Bits = typename Codec::bits_type;
  using Team = TeamMember<ExecutionSpace>;
  static constexpr bool may_finish = FinishShape.exists();
  using Finish = FinishChunk<ExecutionSpace, Codec, Value, may_finish ? FinishShape : PassShape>;
  using Passes = ChunkPasses<ExecutionSpace, Codec, Value, PassShape>;
  static constexpr bool with_values = Finish::with_values;
  static_assert(Passes::threads == Finish::threads && PassShape.round() >= FinishShape.round());

  SortBuffers<Key, Value> buffers;
  Codec codec;
  DigitList all;
  bool keeps_order;  ///< as for the finish

  union Scratch {
    std::conditional_t<may_finish, typename Finish::Scratch, char> finish;
    typename Passes::Scratch passes;
    KOKKOS_FUNCTION Scratch() {}
  };

  /// `keys` and `values` (null: each element's index) go to the chunk's place in the result. All keys
  /// agree in the bits from `swept` on.
  KOKKOS_FUNCTION void sort(const Team& team, const Chunk& chunk, const Key* keys,
                            const Value* values, int swept, Scratch& scratch) const {
    if constexpr (may_finish) {
      if (finish<Finish>(team, chunk, keys, values, swept, scratch.finish)) return;
    }
    sort_by_passes(team, chunk, keys, values, swept, scratch.passes);
  }

  /// By a finish of any shape that the chunk fits; false if it was not sorted so.
  template <class As>
  KOKKOS_FUNCTION bool finish(const Team& team, const Chunk& chunk, const Key* keys,
                              const Value* values, int swept, typename As::Scratch& scratch) const {
    // A finish looks at so many bits, whoever's they are.
    if (all.end - all.begin < As::Wide::index_bits) return false;
    const As finish{buffers,     codec,   all,     bits_between<Bits>(all.begin, all.end),
                    keeps_order, nullptr, nullptr, {}};
    if (finish.sort(team, chunk, keys, values, swept, scratch)) return true;
    team.team_barrier();
    return false;
  }

  KOKKOS_FUNCTION void sort_by_passes(const Team& team, const Chunk& chunk, const Key* keys,
                                      const Value* values, int swept,
                                      typename Passes::Scratch& scratch) const {
    typename Passes::Elements elements{chunk.size(), keys, values, nullptr, nullptr};
    if (!buffers.leaves_keys) elements.keys_out = buffers.keys.result + chunk.begin();
    if constexpr (with_values) elements.values_out = buffers.values.result + chunk.begin();
    Passes{codec, all}.sort(team, elements, swept, scratch);
  }
};

template <class ExecutionSpace, class Codec, class Value, TeamShape FinishShape,
          TeamShape PassShape>
struct SortOneChunk {
  using Any = AnyChunk<ExecutionSpace, Codec, Value, FinishShape, PassShape>;
  using Scratch = typename Any::Scratch;

  Any chunk;
  std::size_t count;

  static std::size_t scratch_bytes() { return sizeof(Scratch); }

  KOKKOS_FUNCTION void operator()(const TeamMember<ExecutionSpace>& team) const {
    auto& scratch = *take_scratch<Scratch>(team, 1);
    const auto* const keys = chunk.buffers.keys.in;
    const Value* values = nullptr;
    if constexpr (Any::with_values) {
      values = chunk.buffers.makes_indices ? nullptr : chunk.buffers.values.in;
    }
    const int swept = bit_width_of(typename Any::Passes{chunk.codec, chunk.all}.varying_bits(
        team, keys, static_cast<int>(count), scratch.passes));
    team.team_barrier();
    chunk.sort(team, Chunk::make(0, count), keys, values, swept, scratch);
  }
};

}  // namespace kradix::impl
