// One digit pass of a counting radix sort, as its kernels see it.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>

#include "kradix/impl/buffers.hpp"
#include "kradix/impl/device/digit.hpp"
#include "kradix/impl/device/team.hpp"

namespace kradix::impl {

/// Places in the output are 64-bit throughout: n may exceed 2^32.
using Place = std::uint64_t;

/// What kernels that look at keys alone know.
template <class ExecutionSpace, class Codec>
struct KeyPass {
  using Key = typename Codec::key_type;
  using Team = TeamMember<ExecutionSpace>;

  PassBuffers<Key> keys;
  Codec codec;
  std::size_t count, tile, tiles, round;  ///< as in Plan
  PassTable* passes;
  Place* places;  ///< [bin][tile]: counts, then the tile's first place within its bin
  Place* bins;    ///< counts of whole bins, then each bin's first place
  bool leaves_keys;
  int pass = 0;

  KOKKOS_FUNCTION bool idle() const { return pass >= passes->count; }
  KOKKOS_FUNCTION Digit digit() const { return passes->digit[pass]; }
  KOKKOS_FUNCTION Share tile_of(const Team& team) const {
    return share_of(count, tile, static_cast<std::size_t>(team.league_rank()));
  }
  KOKKOS_FUNCTION Place& place(int bin, const Team& team) const {
    return places[static_cast<std::size_t>(bin) * tiles +
                  static_cast<std::size_t>(team.league_rank())];
  }
  KOKKOS_FUNCTION const Key* source_keys() const { return keys.source(pass, passes->count); }
  /// Null when only the values are wanted and this is the last pass.
  KOKKOS_FUNCTION Key* destination_keys() const {
    const bool stay = leaves_keys && pass == passes->count - 1;
    return stay ? nullptr : keys.destination(pass, passes->count);
  }
};

/// What kernels that move elements know besides.
template <class ExecutionSpace, class Codec, class Value>
struct ElementPass : KeyPass<ExecutionSpace, Codec> {
  static constexpr bool with_values = !std::is_same_v<Value, NoValue>;

  PassBuffers<Value> values;
  bool makes_indices;

  SortBuffers<typename Codec::key_type, Value> buffers() const {
    return {this->keys, values, makes_indices, this->leaves_keys};
  }
  KOKKOS_FUNCTION bool makes_indices_now() const { return makes_indices && this->pass == 0; }
  KOKKOS_FUNCTION const Value* source_values() const {
    return values.source(this->pass, this->passes->count);
  }
  KOKKOS_FUNCTION Value* destination_values() const {
    return values.destination(this->pass, this->passes->count);
  }
};

}  // namespace kradix::impl
