// CUB of another CCCL than the toolkit's, compiled into a library of its own for these types.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#if defined(KRADIX_BENCH_NEWER_CCCL) && !defined(KRADIX_BENCH_CUB_CALLS)
#include <cuda_runtime_api.h>
#endif

// X(Count), X(Count, Key), X(Count, Key, Value)
#define KRADIX_BENCH_CCCL_COUNTS(X) X(std::uint32_t) X(std::uint64_t)
#define KRADIX_BENCH_CCCL_KEYS(X, COUNT) \
  X(COUNT, std::uint32_t) X(COUNT, std::uint64_t) X(COUNT, float) X(COUNT, double)
#define KRADIX_BENCH_CCCL_PAIRS(X, COUNT) \
  X(COUNT, std::uint32_t, std::uint32_t)  \
  X(COUNT, std::uint32_t, std::uint64_t)  \
  X(COUNT, std::uint64_t, std::uint32_t) X(COUNT, std::uint64_t, std::uint64_t)

namespace bench {

template <class Key>
inline constexpr bool newer_cccl_sorts =
    std::is_same_v<Key, std::uint32_t> || std::is_same_v<Key, std::uint64_t> ||
    std::is_same_v<Key, float> || std::is_same_v<Key, double>;
template <class Key, class Value>
inline constexpr bool newer_cccl_sorts_pairs =
    std::is_unsigned_v<Key>&& newer_cccl_sorts<Key>&& std::is_unsigned_v<Value>;

#if defined(KRADIX_BENCH_NEWER_CCCL) && !defined(KRADIX_BENCH_CUB_CALLS)
/// As in cub_calls.hpp.
template <class Count>
struct NewerCubCalls {
  template <class Key>
  static cudaError_t sort_keys(void*, std::size_t&, Key*&, Key*&, Count, cudaStream_t);
  template <class Key, class Value>
  static cudaError_t sort_pairs(void*, std::size_t&, Key*&, Key*&, Value*&, Value*&, Count,
                                cudaStream_t);
  template <class Key, class Value>
  static cudaError_t sort_pairs_to(void*, std::size_t&, const Key*, Key*, const Value*, Value*,
                                   Count, cudaStream_t);
};
#endif

}  // namespace bench
