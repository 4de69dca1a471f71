// Bad arguments are named, with their numbers, before anything is touched.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>

#include "kradix/options.hpp"

namespace kradix::impl {

[[noreturn]] inline void refuse(const char* function, const std::string& why) {
  throw std::invalid_argument("kradix::" + std::string(function) + ": " + why);
}

inline void check_bits(const char* function, BitRange bits, int key_bits) {
  const int end = bits.end == BitRange::all ? key_bits : bits.end;
  if (bits.begin >= 0 && bits.begin <= end && end <= key_bits) return;
  refuse(function, "bits [" + std::to_string(bits.begin) + ", " + std::to_string(end) +
                       ") do not lie within the " + std::to_string(key_bits) + " bits of the key");
}

inline void check_options(const char* function, const Options& options, int key_bits) {
  check_bits(function, options.bits, key_bits);
  if (options.label == nullptr) refuse(function, "options.label is null");
  if (options.order != Order::ascending && options.order != Order::descending) {
    refuse(function, "unknown order " + std::to_string(static_cast<int>(options.order)));
  }
  if (name(options.algorithm) == "unknown") {
    refuse(function, "unknown algorithm " + std::to_string(static_cast<int>(options.algorithm)));
  }
}

inline void check_lengths(const char* function, const char* first, std::size_t first_length,
                          const char* second, std::size_t second_length) {
  if (first_length == second_length) return;
  refuse(function, std::string(first) + " has " + std::to_string(first_length) + " elements, " +
                       second + " has " + std::to_string(second_length));
}

/// The bytes that a rank-1 view's elements span.
template <class View>
struct Span {
  explicit Span(const View& view)
      : begin(reinterpret_cast<std::uintptr_t>(view.data())),
        end(begin + (view.extent(0) == 0 ? 0
                                         : ((view.extent(0) - 1) * view.stride(0) + 1) *
                                               sizeof(typename View::value_type))) {}
  std::uintptr_t begin, end;
};

template <class First, class Second>
void check_apart(const char* function, const char* first_name, const First& first,
                 const char* second_name, const Second& second) {
  const Span<First> a(first);
  const Span<Second> b(second);
  const std::uintptr_t begin = a.begin > b.begin ? a.begin : b.begin;
  const std::uintptr_t end = a.end < b.end ? a.end : b.end;
  if (begin >= end) return;
  refuse(function, std::string(first_name) + " and " + second_name + " overlap in " +
                       std::to_string(end - begin) + " bytes");
}

template <class Index>
void check_index(const char* function, std::size_t count) {
  const auto largest = static_cast<std::uint64_t>(std::numeric_limits<Index>::max());
  if (count == 0 || count - 1 <= largest) return;
  refuse(function, "indices of " + std::to_string(count) + " keys do not fit a permutation of " +
                       std::to_string(8 * sizeof(Index)) + "-bit integers");
}

}  // namespace kradix::impl
