// Kernels around the measured work: fresh data, and what of the keys varies. What needs no key type is
// compiled once (kernels.cpp).
#pragma once

#include <cstdint>

#include "support/bytes.hpp"
#include "support/task.hpp"

namespace bench {

inline auto all_of(const Space& exec, std::size_t count) {
  return Kokkos::RangePolicy<Space, Kokkos::IndexType<std::size_t>>(exec, 0, count);
}

/// Copies bytes, from one array of Space's memory to another.
void copy_bytes(const Space& exec, void* to, const void* from, std::size_t bytes);

/// Sets bytes to 0xff, which no value is.
void spoil_bytes(const Space& exec, void* at, std::size_t bytes);

/// values(i) = value_of(i).
void number(const Space& exec, const Array<std::uint32_t>& values);
void number(const Space& exec, const Array<std::uint64_t>& values);
void number(const Space& exec, const Array<Value16>& values);

/// One 64-bit half of the encoded bits in which keys differ from the first.
template <class Key>
struct VaryingBits {
  Array<Key> keys;
  int shift;
  KOKKOS_FUNCTION void operator()(std::size_t i, std::uint64_t& varying) const {
    const auto bits =
        kradix::KeyCodec<Key>::encode(keys(i)) ^ kradix::KeyCodec<Key>::encode(keys(0));
    varying |= static_cast<std::uint64_t>(bits >> shift);
  }
};

/// The encoded bits in which keys differ, 64 to a word.
template <class Key>
BitMask varying_bits(const Space& exec, const Array<Key>& keys) {
  BitMask mask{};
  for (int shift = 0; shift < kradix::KeyCodec<Key>::bits; shift += 64) {
    Kokkos::parallel_reduce("bench::VaryingBits", all_of(exec, keys.extent(0)),
                            VaryingBits<Key>{keys, shift},
                            Kokkos::BOr<std::uint64_t>(mask[shift / 64]));
  }
  return mask;
}

}  // namespace bench
