// Few elements on a host: put in order by insertion where they lie, without a plan, memory or a launch.
#pragma once

#include <Kokkos_Core.hpp>
#include <array>
#include <cstddef>
#include <cstdint>
#include <new>

#include "kradix/impl/device/digit.hpp"
#include "kradix/impl/tuning.hpp"
#include "kradix/options.hpp"

namespace kradix::impl {

inline constexpr std::size_t most_few = 32;
inline constexpr std::size_t most_few_bytes = 64;  ///< of an element: copies lie on the stack

/// Is this so small a call of a space that works at once? Tools that listen are shown the usual way.
template <class ExecutionSpace, class View>
bool is_few(const View& keys, const Options& options) {
  if constexpr (works_at_once<ExecutionSpace> &&
                sizeof(typename View::value_type) <= most_few_bytes) {
    return keys.extent(0) <= most_few && options.algorithm == Algorithm::automatic &&
           !Kokkos::Tools::profileLibraryLoaded();
  } else {
    return false;
  }
}

/// The stable order of few keys, or the total order of floats.
template <class Key>
class FewInOrder {
  using Codec = codec_of<Key>;
  using Bits = typename Codec::bits_type;

 public:
  template <class Keys>
  FewInOrder(const Keys& keys, const Options& options, bool by_total_order)
      : count_(keys.extent(0)) {
    const Codec codec = make_codec<Key>(options.order);
    const BitRange range = options.bits;
    const Bits wanted =
        bits_between<Bits>(range.begin, range.end == BitRange::all ? Codec::bits : range.end);
    std::array<Bits, most_few> bits;
    for (std::size_t i = 0; i < count_; ++i) {
      const Bits now = encoded(codec, keys(i), by_total_order) & wanted;
      std::size_t to = i;
      for (; to > 0 && bits[to - 1] > now; --to) {
        bits[to] = bits[to - 1];
        index_[to] = index_[to - 1];
      }
      bits[to] = now;
      index_[to] = static_cast<std::uint8_t>(i);
    }
  }

  /// to(i) = the i-th element of `from` in order; they may be the same.
  template <class From, class To>
  void move(const From& from, const To& to) const {
    using T = typename From::non_const_value_type;
    alignas(T) std::byte copies[most_few * sizeof(T)];
    for (std::size_t i = 0; i < count_; ++i) new (copies + i * sizeof(T)) T(from(index_[i]));
    for (std::size_t i = 0; i < count_; ++i) {
      to(i) = *std::launder(reinterpret_cast<const T*>(copies + i * sizeof(T)));
    }
  }

  template <class Permutation>
  void number(const Permutation& permutation) const {
    using Index = typename Permutation::non_const_value_type;
    for (std::size_t i = 0; i < count_; ++i) permutation(i) = static_cast<Index>(index_[i]);
  }

 private:
  static Bits encoded(const Codec& codec, const Key& key, [[maybe_unused]] bool by_total_order) {
    if constexpr (builtin_key<Key> && key_kind<Key>() == KeyKind::floating) {
      const auto word = Kokkos::bit_cast<typename Codec::key_type>(key);
      return by_total_order ? total_order(codec).encode(word) : codec.encode(word);
    } else if constexpr (builtin_key<Key>) {
      return codec.encode(Kokkos::bit_cast<typename Codec::key_type>(key));
    } else {
      return codec.encode(key);
    }
  }

  std::size_t count_;
  std::array<std::uint8_t, most_few> index_;
};

}  // namespace kradix::impl
