// Which instantiations the compiled library (Kradix::compiled) holds: built-in keys as words, with
// values as words, on every enabled backend. Users of that library see them as extern.
#pragma once

#include <cstdint>

#include "kradix/impl/run.hpp"

// FUNCTION: `run`, or the part of it that is kernels of teams, `run_in_teams`.
#define KRADIX_IMPL_RUN(FUNCTION, SPACE, WORD, FLOATING, VALUE)                                \
  template void FUNCTION(const SPACE&, const Plan&, const WordCodec<WORD, FLOATING>&,          \
                         const SortBuffers<WORD, VALUE>&, const AlgorithmScratch&, std::byte*, \
                         const char*);
#define KRADIX_IMPL_RUN_VALUES(SPACE, PREFIX, FUNCTION, WORD, FLOATING)                         \
  PREFIX KRADIX_IMPL_RUN(FUNCTION, SPACE, WORD, FLOATING, NoValue)                              \
  PREFIX KRADIX_IMPL_RUN(FUNCTION, SPACE, WORD, FLOATING, std::uint8_t) PREFIX KRADIX_IMPL_RUN( \
      FUNCTION, SPACE, WORD, FLOATING, std::uint16_t) PREFIX                                    \
  KRADIX_IMPL_RUN(FUNCTION, SPACE, WORD, FLOATING, std::uint32_t) PREFIX                        \
  KRADIX_IMPL_RUN(FUNCTION, SPACE, WORD, FLOATING, std::uint64_t) PREFIX                        \
  KRADIX_IMPL_RUN(FUNCTION, SPACE, WORD, FLOATING, Wide)

// Floats alone may sort by their total order instead.
#define KRADIX_IMPL_RUN_FLOATS(SPACE, PREFIX, FUNCTION, WORD)                               \
  KRADIX_IMPL_RUN_VALUES(SPACE, PREFIX, FUNCTION, WORD, true)                               \
  PREFIX template void FUNCTION(const SPACE&, const Plan&, const TotalOrderCodec<WORD>&,    \
                                const SortBuffers<WORD, NoValue>&, const AlgorithmScratch&, \
                                std::byte*, const char*);

/// KRADIX_IMPL_FOR_EACH_SPACE(M, ...) expands M(Space, ...) for every enabled backend.
#ifdef KOKKOS_ENABLE_SERIAL
#define KRADIX_IMPL_SERIAL(M, ...) M(Kokkos::Serial, __VA_ARGS__)
#else
#define KRADIX_IMPL_SERIAL(M, ...)
#endif
#ifdef KOKKOS_ENABLE_OPENMP
#define KRADIX_IMPL_OPENMP(M, ...) M(Kokkos::OpenMP, __VA_ARGS__)
#else
#define KRADIX_IMPL_OPENMP(M, ...)
#endif
#ifdef KOKKOS_ENABLE_THREADS
#define KRADIX_IMPL_THREADS(M, ...) M(Kokkos::Threads, __VA_ARGS__)
#else
#define KRADIX_IMPL_THREADS(M, ...)
#endif
#ifdef KOKKOS_ENABLE_CUDA
#define KRADIX_IMPL_CUDA(M, ...) M(Kokkos::Cuda, __VA_ARGS__)
#else
#define KRADIX_IMPL_CUDA(M, ...)
#endif
#ifdef KOKKOS_ENABLE_HIP
#define KRADIX_IMPL_HIP(M, ...) M(Kokkos::HIP, __VA_ARGS__)
#else
#define KRADIX_IMPL_HIP(M, ...)
#endif
#ifdef KOKKOS_ENABLE_SYCL
#define KRADIX_IMPL_SYCL(M, ...) M(Kokkos::SYCL, __VA_ARGS__)
#else
#define KRADIX_IMPL_SYCL(M, ...)
#endif
#define KRADIX_IMPL_FOR_EACH_SPACE(M, ...) \
  KRADIX_IMPL_SERIAL(M, __VA_ARGS__)       \
  KRADIX_IMPL_OPENMP(M, __VA_ARGS__)       \
  KRADIX_IMPL_THREADS(M, __VA_ARGS__)      \
  KRADIX_IMPL_CUDA(M, __VA_ARGS__) KRADIX_IMPL_HIP(M, __VA_ARGS__) KRADIX_IMPL_SYCL(M, __VA_ARGS__)

#ifdef KRADIX_HAVE_INT128
#define KRADIX_IMPL_FOR_WIDEST(M, ...) \
  KRADIX_IMPL_FOR_EACH_SPACE(M, __VA_ARGS__, kradix::impl::uint128, false)
#else
#define KRADIX_IMPL_FOR_WIDEST(M, ...)
#endif

#if defined(KRADIX_USE_COMPILED) && !defined(KRADIX_IMPL_INSTANTIATES)
namespace kradix::impl {
KRADIX_IMPL_FOR_EACH_SPACE(KRADIX_IMPL_RUN_VALUES, extern, run, std::uint8_t, false)
KRADIX_IMPL_FOR_EACH_SPACE(KRADIX_IMPL_RUN_VALUES, extern, run, std::uint16_t, false)
KRADIX_IMPL_FOR_EACH_SPACE(KRADIX_IMPL_RUN_FLOATS, extern, run, std::uint16_t)
KRADIX_IMPL_FOR_EACH_SPACE(KRADIX_IMPL_RUN_VALUES, extern, run, std::uint32_t, false)
KRADIX_IMPL_FOR_EACH_SPACE(KRADIX_IMPL_RUN_FLOATS, extern, run, std::uint32_t)
KRADIX_IMPL_FOR_EACH_SPACE(KRADIX_IMPL_RUN_VALUES, extern, run, std::uint64_t, false)
KRADIX_IMPL_FOR_EACH_SPACE(KRADIX_IMPL_RUN_FLOATS, extern, run, std::uint64_t)
KRADIX_IMPL_FOR_WIDEST(KRADIX_IMPL_RUN_VALUES, extern, run)
}  // namespace kradix::impl
#endif
