// Words that SIMD sorts: few keys alone, or the leaves of a pass in cache. Nothing of that without the component
// Highway, whose sort chooses the machine's instructions when it runs.
#pragma once

#include <cstddef>
#include <cstdint>

#ifdef KRADIX_ENABLE_HIGHWAY
#include <hwy/contrib/sort/vqsort.h>
#include <hwy/per_target.h>
#include <hwy/targets.h>
#endif

namespace kradix::impl {

/// Bytes of the vectors that Highway uses here; 0: it is not at hand.
inline std::size_t simd_bytes() {
#ifdef KRADIX_ENABLE_HIGHWAY
  return hwy::VectorBytes();
#else
  return 0;
#endif
}
/// Of 32 bytes (AVX2) or more?
inline bool has_simd() {
  return simd_bytes() >= 32;
}
/// Of 64 (AVX-512)?
inline bool has_wide_simd() {
  return simd_bytes() >= 64;
}

/// Such vectors on a core that stores two words a cycle (Zen 4 and later)?
inline bool stores_twice() {
#ifdef KRADIX_ENABLE_HIGHWAY
  return hwy::DispatchedTarget() == HWY_AVX3_ZEN4;
#else
  return false;
#endif
}

/// What SIMD sorts best of a word: nothing without Highway, and of words that it has not.
template <class Word>
struct SimdLeaf {
  static constexpr bool exists = false, serves_passes = false, serves_uneven = false;
  static constexpr std::size_t network = 0, whole = 0;
};

#ifdef KRADIX_ENABLE_HIGHWAY
/// So many words alone are sorted sooner where they lie than moved by passes, with vectors of 64 bytes (AVX-512) and
/// with shorter ones.
struct InPlace {
  std::size_t wide, narrow;
  std::size_t most() const { return has_wide_simd() ? wide : narrow; }
};

// `network`: so many words it sorts at once, several times as quickly as more; Highway's takes 16 vectors (32
// bytes in AVX2) and at most 16 words of each. `whole`: up to so many it is quicker than passes, and then
// than one pass whose leaves it sorts, where that is quicker (`serves_passes`). `serves_uneven`: words that
// a pass does not spread it sorts whole, however many. Measured with Highway 1.2 and AVX2 on a Zen 3 core, see
// docs/algorithms/blocked_radix.md. The machine's vectors are asked for only where all of a call's words are sorted at
// once: what passes leave is sorted alike by all, and sizes that are known make passes quicker.
template <>
struct SimdLeaf<std::uint16_t> {
  static constexpr bool exists = true, serves_passes = true;
  static constexpr bool serves_uneven = false;  ///< two passes sort them in any case
  static constexpr std::size_t network = 256, whole = 1024;
  static constexpr std::size_t average = 192;  ///< in a pass' leaves, which chance seldom doubles
  static constexpr InPlace in_place{std::size_t{1} << 16, 1024};
};
template <>
struct SimdLeaf<std::uint32_t> {
  static constexpr bool exists = true, serves_passes = true, serves_uneven = true;
  static constexpr std::size_t network = 128, whole = 2048, average = 96;
  static constexpr InPlace in_place{std::size_t{1} << 16, 8192};
};
/// AVX2 compares unsigned words of this size in several instructions.
template <>
struct SimdLeaf<std::uint64_t> {
  static constexpr bool exists = true, serves_passes = false, serves_uneven = true;
  static constexpr std::size_t network = 64, whole = 128;
  static constexpr InPlace in_place{std::size_t{1} << 15, 256};
};

/// Puts words in order where they lie. Allocates nothing.
template <class Word>
void sort_leaf(Word* words, std::size_t count) {
  hwy::VQSort(words, count, hwy::SortAscending{});
}
#endif

}  // namespace kradix::impl
