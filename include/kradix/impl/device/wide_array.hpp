// Arrays of short words, read and written sixteen bytes at a time.
#pragma once

#include <Kokkos_Core.hpp>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kradix/impl/device/team.hpp"
#include "kradix/impl/words.hpp"

namespace kradix::impl {

/// The words of sixteen bytes.
template <class Word>
struct Pack {
  static constexpr int size = sizeof(Wide) / sizeof(Word);

  Wide bytes{};

  KOKKOS_FUNCTION static Pack of(Word word) {
    constexpr std::uint64_t ones = ~std::uint64_t{0} / static_cast<Word>(~Word{0});
    return {{word * ones, word * ones}};
  }
  /// From where memory is aligned to packs.
  KOKKOS_FUNCTION static Pack load(const Word* words) {
    Pack loaded;
    KOKKOS_IF_ON_DEVICE((loaded.bytes = *reinterpret_cast<const Wide*>(words);))
    KOKKOS_IF_ON_HOST((std::memcpy(&loaded.bytes, words, sizeof(Wide));))
    return loaded;
  }
  KOKKOS_FUNCTION Word word(int i) const {
    return static_cast<Word>((i < half ? bytes.low : bytes.high) >> shift(i));
  }
  /// To where it is aligned to them.
  KOKKOS_FUNCTION void store(Word* words) const {
    KOKKOS_IF_ON_DEVICE((*reinterpret_cast<Wide*>(words) = bytes;))
    KOKKOS_IF_ON_HOST((std::memcpy(words, &bytes, sizeof(Wide));))
  }
  KOKKOS_FUNCTION Pack reversed() const {
    static_assert(size <= 4);
    constexpr int turn = size == 4 ? 32 : 0;
    const auto turned = [](std::uint64_t half) {
      return turn == 0 ? half : half << turn | half >> turn;
    };
    return {{turned(bytes.high), turned(bytes.low)}};
  }
  KOKKOS_FUNCTION bool holds_one_word() const {
    const Pack same = of(word(0));
    return bytes.low == same.bytes.low && bytes.high == same.bytes.high;
  }
  /// Words of 16 bits by twos, the first one in the low half.
  KOKKOS_FUNCTION std::uint32_t two(int i) const {
    static_assert(sizeof(Word) == 2);
    if constexpr (std::endian::native == std::endian::little) {
      return static_cast<std::uint32_t>((2 * i < half ? bytes.low : bytes.high) >> 32 * (i % 2));
    } else {
      return word(2 * i) | std::uint32_t{word(2 * i + 1)} << 16;
    }
  }
  /// Into a place that is zero.
  KOKKOS_FUNCTION void put(int i, Word word) {
    (i < half ? bytes.low : bytes.high) |= std::uint64_t{word} << shift(i);
  }

 private:
  static constexpr int half = size / 2;
  KOKKOS_FUNCTION static constexpr int shift(int i) {
    constexpr bool little = std::endian::native == std::endian::little;
    return static_cast<int>(8 * sizeof(Word)) * (little ? i % half : half - 1 - i % half);
  }
};

/// An array as packs, which begin where memory is aligned to them, and the few words before and after.
template <class Word, class Size = std::size_t>
class WideArray {
 public:
  using Packed = Pack<std::remove_const_t<Word>>;

  KOKKOS_FUNCTION WideArray(Word* words, Size count) : words_(words), count_(count) {
    const auto past =
        static_cast<Size>(reinterpret_cast<std::uintptr_t>(words) % sizeof(Wide) / sizeof(Word));
    const Size head = (Packed::size - past) % Packed::size;
    head_ = head < count ? head : count;
    packs_ = (count - head_) / Packed::size;
  }

  KOKKOS_FUNCTION Word* data() const { return words_; }
  KOKKOS_FUNCTION Size count() const { return count_; }
  KOKKOS_FUNCTION Size packs() const { return packs_; }
  /// Where a pack begins.
  KOKKOS_FUNCTION Size place(Size pack) const { return head_ + pack * Packed::size; }
  KOKKOS_FUNCTION Packed load(Size pack) const { return Packed::load(words_ + place(pack)); }
  KOKKOS_FUNCTION void store(Size pack, const Packed& stored) const {
    stored.store(words_ + place(pack));
  }

  /// Words that no pack holds: fewer than two packs' worth.
  KOKKOS_FUNCTION int edges() const { return static_cast<int>(count_ - packs_ * Packed::size); }
  KOKKOS_FUNCTION Size place_of_edge(int edge) const {
    const auto i = static_cast<Size>(edge);
    return i < head_ ? i : i + packs_ * Packed::size;
  }
  KOKKOS_FUNCTION Word& at(Size place) const { return words_[place]; }

 private:
  Word* words_;
  Size count_, head_, packs_;
};

/// The packs of a share, one by one to `each`, several loads of each thread under way at once.
template <TeamShape Shape, class Team, class Word, class Visit>
KOKKOS_FUNCTION void visit_packs(const Team& team, const WideArray<Word>& array, const Share& share,
                                 std::size_t stride, const Visit& each) {
  constexpr std::size_t step = static_cast<std::size_t>(Shape.round());
  typename WideArray<Word>::Packed pack[Shape.items];
  std::size_t at = share.begin;
  for (; at + step <= share.end; at += stride) {
    KRADIX_UNROLL
    for (int i = 0; i < Shape.items; ++i) {
      pack[i] = array.load(at + i * Shape.threads + team.team_rank());
    }
    KRADIX_UNROLL
    for (int i = 0; i < Shape.items; ++i) each(pack[i]);
  }
  for (std::size_t i = at + team.team_rank(); i < share.end && i < at + step; i += Shape.threads) {
    each(array.load(i));
  }
}

}  // namespace kradix::impl
