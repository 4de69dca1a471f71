// The include path of this source begins with another CCCL than the toolkit's (cccl.cmake).
#define KRADIX_BENCH_CUB_CALLS NewerCubCalls
#include "peers/cub_calls.hpp"
#include "peers/newer_cccl.hpp"

#define KRADIX_BENCH_SORT_KEYS(COUNT, KEY)                                               \
  template cudaError_t bench::NewerCubCalls<COUNT>::sort_keys(void*, std::size_t&, KEY*&, KEY*&, \
                                                              COUNT, cudaStream_t);
#define KRADIX_BENCH_SORT_PAIRS(COUNT, KEY, VALUE)                                         \
  template cudaError_t bench::NewerCubCalls<COUNT>::sort_pairs(                            \
      void*, std::size_t&, KEY*&, KEY*&, VALUE*&, VALUE*&, COUNT, cudaStream_t);
#define KRADIX_BENCH_SORT_PAIRS_TO(COUNT, KEY, VALUE)                                      \
  template cudaError_t bench::NewerCubCalls<COUNT>::sort_pairs_to(                         \
      void*, std::size_t&, const KEY*, KEY*, const VALUE*, VALUE*, COUNT, cudaStream_t);
#define KRADIX_BENCH_SORT_ALL(COUNT)                         \
  KRADIX_BENCH_CCCL_KEYS(KRADIX_BENCH_SORT_KEYS, COUNT)      \
  KRADIX_BENCH_CCCL_PAIRS(KRADIX_BENCH_SORT_PAIRS, COUNT)    \
  KRADIX_BENCH_SORT_PAIRS_TO(COUNT, std::uint32_t, std::uint32_t) \
  KRADIX_BENCH_SORT_PAIRS_TO(COUNT, std::uint64_t, std::uint32_t)
KRADIX_BENCH_CCCL_COUNTS(KRADIX_BENCH_SORT_ALL)
