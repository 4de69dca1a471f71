// Do words come in order? By SIMD: compiled for each of a machine's instruction sets (src/highway), and only with the component
// Highway.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kradix/impl/host/word_turn.hpp"

namespace kradix::impl {

/// Are keys of this order words that turn to it?
template <class Order>
struct SimdTrend {
  static constexpr bool exists = false;
};

#ifdef KRADIX_ENABLE_HIGHWAY
template <class Order>
  requires(Order::is_encoded && !Order::has_special &&
           (std::is_same_v<typename Order::Stored, std::uint32_t> ||
            std::is_same_v<typename Order::Stored, std::uint64_t>))
struct SimdTrend<Order> {
  static constexpr bool exists = true;
};

/// Is none of `size` words, turned, greater than the one behind it? Or all are? (One more word is read.)
bool never_fall(const std::uint32_t* words, std::size_t size, const WordTurn<std::uint32_t>& turn);
bool never_fall(const std::uint64_t* words, std::size_t size, const WordTurn<std::uint64_t>& turn);
bool always_fall(const std::uint32_t* words, std::size_t size, const WordTurn<std::uint32_t>& turn);
bool always_fall(const std::uint64_t* words, std::size_t size, const WordTurn<std::uint64_t>& turn);
#endif

}  // namespace kradix::impl
