// Unsigned words: what kernels move and shift instead of the user's types.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#if defined(__SIZEOF_INT128__)
#define KRADIX_HAVE_INT128
#endif

// Register arrays need their loops unrolled; hosts only lose code size by it. Long loops that most often
// run once need the opposite.
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__) || defined(__SYCL_DEVICE_ONLY__)
#define KRADIX_UNROLL _Pragma("unroll")
#define KRADIX_ROLLED _Pragma("unroll 1")
#else
#define KRADIX_UNROLL
#define KRADIX_ROLLED
#endif

// What few sorts need is not to lie among the instructions of the others.
#if defined(__CUDACC__) || defined(__HIPCC__)
#define KRADIX_NOINLINE __noinline__
#elif defined(__GNUC__)
#define KRADIX_NOINLINE [[gnu::noinline]]
#else
#define KRADIX_NOINLINE
#endif

namespace kradix::impl {

#ifdef KRADIX_HAVE_INT128
// __extension__ keeps -Wpedantic quiet about the non-standard type.
__extension__ using uint128 = unsigned __int128;
__extension__ using int128 = __int128;
#endif

/// Two 64-bit halves that move as one 16-byte word (a value, never compared).
struct alignas(16) Wide {
  std::uint64_t low, high;
};

template <std::size_t Bytes>
struct UnsignedOfSize {};
template <>
struct UnsignedOfSize<1> {
  using type = std::uint8_t;
};
template <>
struct UnsignedOfSize<2> {
  using type = std::uint16_t;
};
template <>
struct UnsignedOfSize<4> {
  using type = std::uint32_t;
};
template <>
struct UnsignedOfSize<8> {
  using type = std::uint64_t;
};
#ifdef KRADIX_HAVE_INT128
template <>
struct UnsignedOfSize<16> {
  using type = uint128;
};
#endif

template <std::size_t Bytes>
using unsigned_of_size = typename UnsignedOfSize<Bytes>::type;

/// The smallest unsigned word of at least 32 bits that holds this many bits: shifts on it never promote.
template <int Bits>
using unsigned_of_bits = unsigned_of_size<(Bits <= 32   ? 4
                                           : Bits <= 64 ? 8
                                                        : 16)>;

template <class T>
inline constexpr bool is_int128 = false;
#ifdef KRADIX_HAVE_INT128
template <>
inline constexpr bool is_int128<uint128> = true;
template <>
inline constexpr bool is_int128<int128> = true;
#endif

template <class T>
inline constexpr bool is_unsigned_word = std::is_unsigned_v<T> || is_int128<T>;

/// Stands where keys travel alone.
struct NoValue {};

/// A value of this many bytes travels as one word; sizes without a word travel as an index.
constexpr bool has_value_word(std::size_t bytes) {
  return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8 || bytes == 16;
}

template <std::size_t Bytes>
struct ValueWordOfSize : UnsignedOfSize<Bytes> {};
template <>
struct ValueWordOfSize<16> {
  using type = Wide;
};
template <std::size_t Bytes>
using value_word = typename ValueWordOfSize<Bytes>::type;

/// The words in which every backend can combine bits of keys atomically.
template <class Bits>
inline constexpr int words_in = (sizeof(Bits) + 7) / 8;
template <class Bits>
KOKKOS_FUNCTION std::uint64_t word_of(Bits bits, int w) {
  return static_cast<std::uint64_t>(bits >> (w * (words_in<Bits> - 1) * 64));
}
template <class Bits>
KOKKOS_FUNCTION Bits joined(const std::uint64_t* words) {
  Bits bits = 0;
  for (int w = 0; w < words_in<Bits>; ++w) {
    bits |= static_cast<Bits>(static_cast<Bits>(words[w]) << (w * (words_in<Bits> - 1) * 64));
  }
  return bits;
}

}  // namespace kradix::impl
