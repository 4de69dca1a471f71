// Where keys lie, and values, if there are any.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kradix/impl/scratch.hpp"
#include "kradix/impl/words.hpp"

namespace kradix::impl::mpi {

/// array + by, but for values that are not there.
template <class T>
KOKKOS_FUNCTION constexpr T* moved_on(T* array, std::int64_t by) {
  if constexpr (std::is_same_v<std::remove_const_t<T>, NoValue>) {
    return array;
  } else {
    return array + by;
  }
}

/// Where elements lie.
template <class Key, class Value>
struct PlaceOf {
  Key* keys = nullptr;
  Value* values = nullptr;

  KOKKOS_FUNCTION PlaceOf moved_on(std::uint64_t by) const {
    return {keys + by, mpi::moved_on(values, static_cast<std::int64_t>(by))};
  }
};

template <class Value>
inline constexpr std::size_t value_bytes_of = std::is_same_v<Value, NoValue> ? 0 : sizeof(Value);

/// Where memory for some elements is listed.
template <class Key, class Value>
struct PlaceSlots {
  Slot keys, values;

  static PlaceSlots list(ScratchList& scratch, std::size_t count) {
    return {scratch.add(count, sizeof(Key)), scratch.add(count, value_bytes_of<Value>)};
  }
  PlaceOf<Key, Value> in(std::byte* base) const {
    return {keys.in<Key>(base), values.in<Value>(base)};
  }
};

}  // namespace kradix::impl::mpi
