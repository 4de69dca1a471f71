// What one team holds, sorted by it alone, in one kernel.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>

#include "kradix/impl/buffers.hpp"
#include "kradix/impl/device/chunk_sort.hpp"
#include "kradix/impl/device/digit.hpp"
#include "kradix/impl/device/team.hpp"

namespace kradix::impl {

/// Keys alone, in the order of all their bits, as words that are compared: few of these take less than several teams do.
template <class ExecutionSpace, class Codec, TeamShape Shape>
struct SortOneChunk {
  using Key = typename Codec::key_type;
  using Team = TeamMember<ExecutionSpace>;
  static constexpr bool makes_keys = true;
  using Sort =
      ChunkSort<ExecutionSpace, Codec, NoValue,
                typename SortedAs<ExecutionSpace, Codec, Shape, makes_keys>::type, makes_keys>;
  using Scratch = typename Sort::Scratch;

  PassBuffers<Key> keys;
  Codec codec;
  DigitList all;
  int count;

  static std::size_t scratch_bytes() { return sizeof(Scratch); }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    const Sort sort{codec, all, {count, keys.in, nullptr, keys.result, nullptr}};
    sort.sort(team, *take_scratch<Scratch>(team, 1));
  }
};

}  // namespace kradix::impl
