// Values of pairs of few kinds of keys, put in order of those by SIMD. Nothing of that without the component Highway, with which
// the steps are compiled for each of a machine's instruction sets (src/highway).
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kradix/impl/host/simd_leaf.hpp"

namespace kradix::impl {

/// So many kinds of keys are moved sooner by SIMD than by labels: none without Highway, and of words that it has not.
template <class Key, class Value>
struct SimdKinds {
  static constexpr bool exists = false;
  static constexpr std::size_t most() { return 0; }
};

#ifdef KRADIX_ENABLE_HIGHWAY
/// With AVX2 no more than four: of x86 only AVX-512 has an instruction that puts some of a vector's words together. Measured, see
/// docs/algorithms/blocked_radix.md.
template <class Key, class Value>
  requires((std::is_same_v<Key, std::uint32_t> ||
            std::is_same_v<Key, std::uint64_t>)&&(std::is_same_v<Value, std::uint32_t> ||
                                                  std::is_same_v<Value, std::uint64_t>))
struct SimdKinds<Key, Value> {
  static constexpr bool exists = true;
  static constexpr std::size_t limit = sizeof(Key) + sizeof(Value) == 8 ? 12 : 4, few = 4;
  static std::size_t most() { return has_wide_simd() ? limit : has_simd() ? few : 0; }
};

/// How often each of the kinds comes among the keys, to `times`.
void count_few_kinds(const std::uint32_t* keys, std::size_t size, const std::uint32_t* kinds,
                     std::size_t count, std::uint32_t* times);
void count_few_kinds(const std::uint64_t* keys, std::size_t size, const std::uint64_t* kinds,
                     std::size_t count, std::uint32_t* times);

/// Puts the values of kind k to to[k], which moves on, and those of no kind to to[count] and their keys to `rest`; writes nothing
/// beside them. Kinds are one to SimdKinds' `limit`, and each one's places end where the next one's begin. Without `values` they
/// are numbers from `first` on.
void move_few_kinds(const std::uint32_t* keys, const std::uint32_t* values, std::size_t first,
                    std::size_t size, const std::uint32_t* kinds, std::size_t count,
                    std::uint32_t** to, std::uint32_t* rest);
void move_few_kinds(const std::uint32_t* keys, const std::uint64_t* values, std::size_t first,
                    std::size_t size, const std::uint32_t* kinds, std::size_t count,
                    std::uint64_t** to, std::uint32_t* rest);
void move_few_kinds(const std::uint64_t* keys, const std::uint32_t* values, std::size_t first,
                    std::size_t size, const std::uint64_t* kinds, std::size_t count,
                    std::uint32_t** to, std::uint64_t* rest);
void move_few_kinds(const std::uint64_t* keys, const std::uint64_t* values, std::size_t first,
                    std::size_t size, const std::uint64_t* kinds, std::size_t count,
                    std::uint64_t** to, std::uint64_t* rest);
#endif

}  // namespace kradix::impl
