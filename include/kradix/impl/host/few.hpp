// Few elements on a host: put in order by insertion or SIMD, without a plan, memory or a launch.
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>

#include "kradix/impl/device/digit.hpp"
#include "kradix/impl/host/order.hpp"
#include "kradix/impl/host/place_sort.hpp"
#include "kradix/impl/host/record.hpp"
#include "kradix/impl/host/simd_leaf.hpp"
#include "kradix/impl/host/sort_in_place.hpp"
#include "kradix/impl/host/trend.hpp"
#include "kradix/impl/tuning.hpp"
#include "kradix/options.hpp"

namespace kradix::impl {

inline constexpr std::size_t most_inserted = 32, most_few = 256;
inline constexpr std::size_t most_few_bytes = 64;  ///< of an element: copies lie on the stack

/// Is this so small a call of a space that works at once? Tools that listen are shown the usual way.
template <class ExecutionSpace, class View>
bool is_few(const View& keys, const Options& options, std::size_t most) {
  if constexpr (works_at_once<ExecutionSpace> &&
                sizeof(typename View::value_type) <= most_few_bytes) {
    return keys.extent(0) <= most && options.algorithm == Algorithm::automatic &&
           !Kokkos::Tools::profileLibraryLoaded();
  } else {
    return false;
  }
}

/// Keys alone, told apart by all their bits, where SIMD sorts them: then few are many more.
template <class Key>
struct FewBySimd {
  static constexpr bool exists = false;
};
template <builtin_key Key>
requires SimdLeaf<unsigned_of_size<sizeof(Key)>>::exists class FewBySimd<Key> {
  using Word = unsigned_of_size<sizeof(Key)>;
  using Leaf = SimdLeaf<Word>;
  static constexpr bool floating = key_kind<Key>() == KeyKind::floating;
  using Encoded = std::conditional_t<floating, EncodedTotalOrder<Word>, EncodedOrder<Word, false>>;

  static Encoded encoded(Order order) {
    const auto codec = make_codec<Key>(order);
    constexpr Word all = static_cast<Word>(~Word{0});
    if constexpr (floating) {
      return {total_order(codec), all};
    } else {
      return {{codec.flip, 0}, all};
    }
  }

 public:
  static constexpr bool exists = true;
  /// So many may be copied to the stack, and are sorted sooner than they are looked at.
  static constexpr std::size_t most_copied = 256;
  /// More are few if they can be sorted where they lie and other threads are not worth waking.
  static std::size_t most_in_place() {
    return std::min(Leaf::in_place.most(), least_for_two_threads - 1);
  }

  /// Puts the `count` keys at `from` in order at `to`; they may be the same.
  static void sort(const Word* from, Word* to, std::size_t count, Order order) {
    const Encoded by = encoded(order);
    if (count > most_copied && follow_trend(by, from, to, count)) return;
    sort_in_place(by, from, to, count);
  }

  /// to(i) = the i-th of at most `most_copied` keys of `from` in order; they may be the same.
  template <class From, class To>
  static void sort_copy(const From& from, const To& to, Order order) {
    const std::size_t count = from.extent(0);
    std::array<Word, most_copied> words;
    for (std::size_t i = 0; i < count; ++i) words[i] = Kokkos::bit_cast<Word>(from(i));
    sort(words.data(), words.data(), count, order);
    for (std::size_t i = 0; i < count; ++i) to(i) = Kokkos::bit_cast<Key>(words[i]);
  }

 private:
  static bool follow_trend(const Encoded& by, const Word* from, Word* to, std::size_t count) {
    const TrendOf trend_of(by, from, count);
    const Trend trend = trend_of.guess();
    if (trend == Trend::none || !trend_of.follows(trend, 0, count)) return false;
    if (from != to) std::copy_n(from, count, to);
    if (trend == Trend::falling) std::reverse(to, to + count);
    return true;
  }
};

/// The stable order of few keys, or the total order of floats.
template <class Key>
class FewInOrder {
  using Codec = codec_of<Key>;
  using Bits = typename Codec::bits_type;
  using Wide = std::conditional_t<(sizeof(Bits) < sizeof(std::uint32_t)), std::uint32_t, Bits>;
  using Rec = Record<Wide, std::uint32_t>;

 public:
  /// Without SIMD no more than insertion serves.
  static std::size_t most() { return has_places() ? most_few : most_inserted; }

  template <class Keys>
  FewInOrder(const Keys& keys, const Options& options, bool by_total_order)
      : count_(keys.extent(0)) {
    const Codec codec = make_codec<Key>(options.order);
    const BitRange range = options.bits;
    const Bits wanted =
        bits_between<Bits>(range.begin, range.end == BitRange::all ? Codec::bits : range.end);
    const auto bits_of = [&](std::size_t i) {
      return static_cast<Bits>(encoded(codec, keys(i), by_total_order) & wanted);
    };
    count_ <= (has_places() ? sooner_inserted : most_inserted) ? insert(bits_of)
                                                               : sort_by_simd(bits_of);
  }

  /// to(i) = the i-th element of `from` in order; they may be the same.
  template <class From, class To>
  void move(const From& from, const To& to) const {
    using T = typename From::non_const_value_type;
    alignas(T) std::byte bytes[most_few * sizeof(T)];
    if (from.stride(0) == 1 && to.stride(0) == 1) {
      move_through(bytes, from.data(), to.data());
    } else {
      for (std::size_t i = 0; i < count_; ++i) new (bytes + i * sizeof(T)) T(from(index_[i]));
      for (std::size_t i = 0; i < count_; ++i) {
        to(i) = *std::launder(reinterpret_cast<const T*>(bytes + i * sizeof(T)));
      }
    }
  }

  template <class Permutation>
  void number(const Permutation& permutation) const {
    using Index = typename Permutation::non_const_value_type;
    for (std::size_t i = 0; i < count_; ++i) permutation(i) = static_cast<Index>(index_[i]);
  }

 private:
  /// More are sooner sorted by words with places, where SIMD does that.
  static constexpr std::size_t sooner_inserted = 16;
  static bool has_places() { return PlaceWords<Rec>::exist && PlaceWords<Rec>::serve(most_few); }

  template <class T>
  void move_through(std::byte* bytes, const T* from, T* to) const {
    const std::size_t count = count_;
    for (std::size_t i = 0; i < count; ++i) new (bytes + i * sizeof(T)) T(from[index_[i]]);
    std::copy_n(std::launder(reinterpret_cast<const T*>(bytes)), count, to);
  }

  template <class BitsOf>
  void insert(const BitsOf& bits_of) {
    std::array<Bits, most_inserted> bits;
    for (std::size_t i = 0; i < count_; ++i) {
      const Bits now = bits_of(i);
      std::size_t to = i;
      for (; to > 0 && bits[to - 1] > now; --to) {
        bits[to] = bits[to - 1];
        index_[to] = index_[to - 1];
      }
      bits[to] = now;
      index_[to] = static_cast<std::uint8_t>(i);
    }
  }

  template <class BitsOf>
  void sort_by_simd([[maybe_unused]] const BitsOf& bits_of) {
    if constexpr (PlaceWords<Rec>::exist) {
      alignas(std::uint64_t) std::byte memory[2][most_few * sizeof(Rec)];
      Rec *const a = reinterpret_cast<Rec*>(memory[0]), *const b =
                                                            reinterpret_cast<Rec*>(memory[1]);
      const Wide first = bits_of(0);
      Wide varying = 0;
      for (std::size_t i = 0; i < count_; ++i) {
        const Wide bits = bits_of(i);
        varying |= bits ^ first;
        a[i] = Rec(bits, static_cast<std::uint32_t>(i));
      }
      const PlaceSort<BitsOrder<Wide>, Rec, std::uint32_t> by_places({}, count_, varying);
      const std::uint32_t* const words = by_places.in_order(a, b);
      for (std::size_t i = 0; i < count_; ++i)
        index_[i] = static_cast<std::uint8_t>(by_places.place_of(words[i]));
    }
  }

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
