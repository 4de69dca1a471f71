// Sorts of other libraries for host memory. Each is compiled by itself in libraries/, without Kokkos,
// where CMake finds its library (libraries.cmake), and for these keys and pairs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace bench::library {

template <class Key, class Value>
struct Pair {
  Key key;
  Value value;
  friend bool operator<(const Pair& a, const Pair& b) { return a.key < b.key; }
};

// X(Key)
#define KRADIX_BENCH_LIBRARY_KEYS(X) \
  X(std::uint32_t) X(std::uint64_t) X(std::int32_t) X(std::int64_t) X(float) X(double)
// X(Key, Value)
#define KRADIX_BENCH_LIBRARY_PAIRS(X) \
  X(std::uint32_t, std::uint32_t)     \
  X(std::uint32_t, std::uint64_t)     \
  X(std::uint64_t, std::uint32_t)     \
  X(std::uint64_t, std::uint64_t) X(float, std::uint32_t) X(double, std::uint32_t)

template <class Key>
inline constexpr bool has_key = false;
template <class Key, class Value>
inline constexpr bool has_pair = false;
#define KRADIX_BENCH_HAS_KEY(KEY) \
  template <>                     \
  inline constexpr bool has_key<KEY> = true;
#define KRADIX_BENCH_HAS_PAIR(KEY, VALUE) \
  template <>                             \
  inline constexpr bool has_pair<KEY, VALUE> = true;
KRADIX_BENCH_LIBRARY_KEYS(KRADIX_BENCH_HAS_KEY)
KRADIX_BENCH_LIBRARY_PAIRS(KRADIX_BENCH_HAS_PAIR)
#undef KRADIX_BENCH_HAS_KEY
#undef KRADIX_BENCH_HAS_PAIR

/// How a library sorts keys with values: not at all, as an array of Pair, or as two arrays.
enum class Pairs { none, together, apart };

/// What the peers below share; each has `built`, name(pairs) and, as far as it can,
/// sort(keys, count, threads), sort(pairs, count, threads), sort(keys, values, count, threads).
struct Sort {
  static bool runs_here() {
    return true;
  }  ///< on this machine, with the instructions it was built for
  static constexpr Pairs pairs = Pairs::none;
  static constexpr bool stable = false;
  static constexpr bool starts_threads = false;  ///< of its own, beside those of Kokkos
};

#ifdef KRADIX_BENCH_TBB
inline constexpr bool has_tbb = true;
#else
inline constexpr bool has_tbb = false;
#endif
#ifdef KRADIX_BENCH_BOOST
inline constexpr bool has_boost = true;
#else
inline constexpr bool has_boost = false;
#endif
#ifdef KRADIX_BENCH_IPS4O
inline constexpr bool has_ips4o = true;
#else
inline constexpr bool has_ips4o = false;
#endif
#ifdef KRADIX_BENCH_VQSORT
inline constexpr bool has_vqsort = true;
#else
inline constexpr bool has_vqsort = false;
#endif
#ifdef KRADIX_BENCH_X86_SIMD_SORT
inline constexpr bool has_x86_simd_sort = true;
#else
inline constexpr bool has_x86_simd_sort = false;
#endif
#ifdef KRADIX_BENCH_X86_SIMD_SORT_OPENMP
inline constexpr bool has_x86_simd_sort_openmp = true;
#else
inline constexpr bool has_x86_simd_sort_openmp = false;
#endif

/// Of the C++ library, on the threads of TBB.
struct StdPar : Sort {
  static constexpr bool built = has_tbb;
  static constexpr Pairs pairs = Pairs::together;
  static constexpr bool stable = true;
  static constexpr bool starts_threads = true;
  static const char* name(bool pairs) { return pairs ? "std::stable_sort(par)" : "std::sort(par)"; }
  template <class Element>
  static void sort(Element* elements, std::size_t count, int threads);
};
struct BoostBlockIndirect : Sort {
  static constexpr bool built = has_boost;
  static constexpr bool starts_threads = true;
  static const char* name(bool) { return "boost::block_indirect_sort"; }
  template <class Element>
  static void sort(Element* elements, std::size_t count, int threads);
};
struct BoostParallelStable : Sort {
  static constexpr bool built = has_boost;
  static constexpr Pairs pairs = Pairs::together;
  static constexpr bool stable = true;
  static constexpr bool starts_threads = true;
  static const char* name(bool) { return "boost::parallel_stable_sort"; }
  template <class Element>
  static void sort(Element* elements, std::size_t count, int threads);
};
/// One thread.
struct BoostSpreadsort : Sort {
  static constexpr bool built = has_boost;
  static const char* name(bool) { return "boost::spreadsort"; }
  template <class Element>
  static void sort(Element* elements, std::size_t count, int threads);
};
struct Ips4o : Sort {
  static bool runs_here();
  static constexpr bool built = has_ips4o;
  static constexpr Pairs pairs = Pairs::together;
  static constexpr bool starts_threads = true;
  static const char* name(bool) { return "ips4o"; }
  template <class Element>
  static void sort(Element* elements, std::size_t count, int threads);
};
/// One thread.
struct Vqsort : Sort {
  static constexpr bool built = has_vqsort;
  static const char* name(bool) { return "vqsort"; }
  template <class Element>
  static void sort(Element* elements, std::size_t count, int threads);
};
/// One thread.
struct X86SimdSort : Sort {
  static constexpr bool built = has_x86_simd_sort;
  static bool runs_here();
  static constexpr Pairs pairs = Pairs::apart;
  static const char* name(bool) { return "x86-simd-sort"; }
  template <class Element>
  static void sort(Element* elements, std::size_t count, int threads);
  template <class Key, class Value>
  static void sort(Key* keys, Value* values, std::size_t count, int threads);
};
struct X86SimdSortOpenMp : Sort {
  static constexpr bool built = has_x86_simd_sort_openmp;
  static bool runs_here();
  static constexpr Pairs pairs = Pairs::apart;
  static const char* name(bool) { return "x86-simd-sort (OpenMP)"; }
  template <class Element>
  static void sort(Element* elements, std::size_t count, int threads);
  template <class Key, class Value>
  static void sort(Key* keys, Value* values, std::size_t count, int threads);
};

}  // namespace bench::library

// For libraries/: X macros that instantiate what KRADIX_BENCH_PEER names.
#define KRADIX_BENCH_SORT_KEYS(KEY) \
  template void bench::library::KRADIX_BENCH_PEER::sort(KEY*, std::size_t, int);
#define KRADIX_BENCH_SORT_PAIRS(KEY, VALUE)                                                \
  template void bench::library::KRADIX_BENCH_PEER::sort(bench::library::Pair<KEY, VALUE>*, \
                                                        std::size_t, int);
#define KRADIX_BENCH_SORT_APART(KEY, VALUE) \
  template void bench::library::KRADIX_BENCH_PEER::sort(KEY*, VALUE*, std::size_t, int);
