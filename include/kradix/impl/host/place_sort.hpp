// Records in a core's cache put in order by words that SIMD sorts: of each a few bits of the key and the record's place.
// Nothing of that without the component Highway.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kradix/impl/device/digit.hpp"
#include "kradix/impl/host/simd_leaf.hpp"
#include "kradix/impl/host/simd_places.hpp"

namespace kradix::impl {

/// Does SIMD sort records by words with places?
template <class Rec>
struct PlaceWords {
#ifdef KRADIX_ENABLE_HIGHWAY
  /// Keys alone have no places.
  static constexpr bool exist = Rec::value_bytes != 0 && sizeof(Rec) >= sizeof(std::uint64_t) &&
                                sizeof(Rec) % sizeof(std::uint32_t) == 0;
#else
  static constexpr bool exist = false;
#endif
  /// Of more records words of 4 bytes hold too few bits of a key.
  static constexpr std::size_t most_short = std::size_t{1} << 15;
  /// A list of those alike, of 4 bytes each, has room beside such words; or nothing of so many bits is left to list.
  template <class Word, class Bits>
  static constexpr bool have_room = sizeof(Rec) >= sizeof(Word) + sizeof(std::uint32_t) ||
                                    sizeof(Bits) < sizeof(Word);
  /// Sooner than passes do: all with vectors of 64 bytes (AVX-512), not too many with those of 32.
  static bool serve(std::size_t count) {
    return serve_beside_counts(count) || has_wide_simd();
  }
  /// Sooner than passes whose digits have been counted? Not of many, where a core stores two words a cycle.
  static bool serve_beside_counts(std::size_t count) {
    constexpr std::size_t most_narrow = 2048, most_beside_two_stores = 6144;
    return has_wide_simd() ? count <= most_beside_two_stores || !stores_twice()
                           : has_simd() && count <= most_narrow;
  }
};

/// Sorts records by the topmost bits that vary, and those that are alike in them by lower ones.
template <class Order, class Rec, class Word>
class PlaceSort {
  using Bits = typename Order::Bits;

 public:
  /// They differ in no other wanted bits than `varying`.
  PlaceSort(const Order& order, std::size_t count, Bits varying)
      : order_(order),
        count_(count),
        varying_(varying),
        place_bits_(bit_width_of(static_cast<std::uint64_t>(count - 1))),
        key_bits_(8 * static_cast<int>(sizeof(Word)) - place_bits_) {}

  /// Do some of the records say that many are alike in all bits of a word, and differ? Then longer words are quicker.
  bool crowds(const Rec* records) const {
    constexpr std::size_t looks = 256, least_pairs = 2;
    const int lowest = lowest_of_all();
    if (count_ < 32 * looks || lowest == 0) return false;
    alignas(Rec) std::byte sample_bytes[looks * sizeof(Rec)];
    Rec* const sample = reinterpret_cast<Rec*>(sample_bytes);
    for (std::size_t i = 0; i < looks; ++i) sample[i] = records[i * (count_ / looks)];
    Word words[looks];
    std::uint32_t list[looks];
    make_words(sample, looks, lowest, words);
    sort_leaf(words, looks);
    const std::size_t listed = list_alike(words, looks, place_bits_, list);
    std::size_t pairs = 0;
    for (std::size_t l = 0; l < listed; ++l) {
      const Rec &one = sample[place_of(words[list[l] - 1])],
                &other = sample[place_of(words[list[l]])];
      pairs += order_.masked(one.key()) != order_.masked(other.key());
    }
    // As likely as two of the sample are alike is each record to be like one of `count` others.
    constexpr std::size_t likely = looks * (looks - 1) / 2 * 3 / 10;
    return pairs >= std::max(least_pairs, likely / count_);
  }

  /// From `a` to `b`.
  void sort(const Rec* a, Rec* b) const {
    const Word* const words = in_order(a, b);
    const Word place = low_mask<Word>(place_bits_);
    for (std::size_t i = 0, count = count_; i < count; ++i) b[i] = a[words[i] & place];
  }

  /// The places of records in order, in the lowest bits of words that lie in `b`.
  const Word* in_order(const Rec* a, Rec* b) const {
    Word* const words = words_in(b);
    const int lowest = lowest_of_all();
    make_words(a, count_, lowest, words);
    sort_leaf(words, count_);
    tell_apart(words, count_, lowest, a, reinterpret_cast<std::uint32_t*>(b));
    return words;
  }
  std::size_t place_of(Word word) const {
    return static_cast<std::size_t>(word & low_mask<Word>(place_bits_));
  }

 private:
  /// They lie where the last records will, each of which is written after its word has been read.
  Word* words_in(Rec* b) const {
    const auto end = reinterpret_cast<std::uintptr_t>(b + count_);
    return reinterpret_cast<Word*>(end - end % sizeof(Word)) - count_;
  }

  /// The lowest of the topmost bits.
  int lowest_of_all() const { return std::max(bit_width_of(varying_) - key_bits_, 0); }

  void make_words(const Rec* records, std::size_t count, int lowest, Word* words) const {
    const Order order = order_;
    const int place_bits = place_bits_;
    const auto wanted = static_cast<Word>(varying_ >> lowest);
    for (std::size_t i = 0; i < count; ++i) {
      const auto bits = static_cast<Word>(order.bits(records[i].key()) >> lowest);
      words[i] = static_cast<Word>((bits & wanted) << place_bits) | static_cast<Word>(i);
    }
  }

  /// Words are in order of their keys' bits from `lowest` up, and of places: sorts those that are alike by the bits below.
  /// `list` has room for all but one of them.
  void tell_apart(Word* words, std::size_t count, int lowest, const Rec* records,
                  std::uint32_t* list) const {
    if ((varying_ & low_mask<Bits>(lowest)) == 0) return;
    std::size_t left =
        keep_descending(words, list_alike(words, count, place_bits_, list), records, list);
    // From the last on: what a run of words needs of the list lies behind what those before it need.
    for (std::size_t before = count; left > 0;) {
      std::size_t begin = list[left - 1] - 1, end = begin + 2;
      while (begin > 0 && are_alike(words[begin - 1], words[begin])) --begin;
      while (end < before && are_alike(words[end - 1], words[end])) ++end;
      while (left > 0 && list[left - 1] > begin) --left;
      sort_alike(words + begin, end - begin, lowest, records, list + left);
      before = begin;
    }
  }

  bool are_alike(Word one, Word other) const { return (one ^ other) >> place_bits_ == 0; }

  /// Keeps of the listed words those whose key is less than that of the one before; returns how many. (Most that are alike are in order,
  /// equal or by chance.)
  std::size_t keep_descending(const Word* words, std::size_t listed, const Rec* records,
                              std::uint32_t* list) const {
    const Order order = order_;
    const Word place = low_mask<Word>(place_bits_);
    const auto bits_at = [=](std::size_t i) {
      return order.masked(records[words[i] & place].key());
    };
    std::size_t kept = 0;
    for (std::size_t l = 0; l < listed; ++l) {
      const std::uint32_t i = list[l];
      list[kept] = i;
      kept += bits_at(i) < bits_at(i - 1);
    }
    return kept;
  }

  void sort_alike(Word* words, std::size_t count, int lowest, const Rec* records,
                  std::uint32_t* list) const {
    const auto bits_at = [&](std::size_t i) {
      return order_.masked(records[place_of(words[i])].key());
    };
    constexpr std::size_t few = 24;
    if (count > few) {
      const int next = std::max(lowest - key_bits_, 0);
      for (std::size_t i = 0; i < count; ++i) {
        const auto below = static_cast<Word>((bits_at(i) & low_mask<Bits>(lowest)) >> next);
        words[i] = static_cast<Word>(below << place_bits_) | static_cast<Word>(place_of(words[i]));
      }
      sort_leaf(words, count);
      tell_apart(words, count, next, records, list);
      return;
    }
    for (std::size_t i = 1; i < count; ++i) {
      const Word moving = words[i];
      const Bits bits = bits_at(i);
      std::size_t to = i;
      for (; to > 0 && bits_at(to - 1) > bits; --to) words[to] = words[to - 1];
      words[to] = moving;
    }
  }

  static_assert(PlaceWords<Rec>::exist && PlaceWords<Rec>::template have_room<Word, Bits>);

  Order order_;
  std::size_t count_;
  Bits varying_;
  int place_bits_, key_bits_;  ///< of a word
};

/// From `a` to `b` by words of the length that suits. False, and nothing has moved, where none does.
template <class Order, class Rec>
bool sort_by_places(const Order& order, const Rec* a, Rec* b, std::size_t count,
                    typename Order::Bits varying) {
  using Places = PlaceWords<Rec>;
  constexpr bool may_be_long = Places::template have_room<std::uint64_t, typename Order::Bits>;
  const PlaceSort<Order, Rec, std::uint32_t> by_short(order, count, varying);
  if (count <= Places::most_short && !(may_be_long && by_short.crowds(a))) {
    by_short.sort(a, b);
    return true;
  }
  if constexpr (may_be_long) {
    PlaceSort<Order, Rec, std::uint64_t>(order, count, varying).sort(a, b);
  }
  return may_be_long;
}

}  // namespace kradix::impl
