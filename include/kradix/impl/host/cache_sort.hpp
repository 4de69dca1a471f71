// Sorts records that lie in a core's cache: radix passes over the topmost bits that vary, then what they
// left together.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kradix/impl/device/digit.hpp"
#include "kradix/impl/host/memory.hpp"
#include "kradix/impl/host/order.hpp"
#include "kradix/impl/host/place_sort.hpp"
#include "kradix/impl/host/record.hpp"
#include "kradix/impl/host/record_sort.hpp"
#include "kradix/impl/host/simd_leaf.hpp"

namespace kradix::impl {

/// The digits of two passes, the more significant one first.
struct DigitPair {
  static constexpr int size = 2;
  Digit digit[size]{};

  bool exists() const { return digit[0].mask != 0; }
  bool operator==(const DigitPair& other) const {
    const auto same = [&](int d) {
      return digit[d].shift == other.digit[d].shift && digit[d].mask == other.digit[d].mask;
    };
    return same(0) && same(1);
  }
};

/// Digits from the most significant down.
struct DigitStack {
  static constexpr int max_digits = 128;
  static constexpr int max_bits = 11;
  /// From a digit's counters to the next one's. (Not 4096 bytes, see counter_stride.)
  static constexpr std::size_t stride =
      (std::size_t{1} << max_bits) + line_bytes / sizeof(std::uint32_t);
  static constexpr std::size_t counters = DigitPair::size * stride;

  int count = 0;
  int covered = 0;  ///< varying bits that lie in a digit
  Digit digit[max_digits];

  int lowest() const { return digit[count - 1].shift; }
  /// None unless they are two.
  DigitPair pair() const {
    return count == DigitPair::size ? DigitPair{{digit[0], digit[1]}} : DigitPair{};
  }

  /// Digits of at most `width` bits, each ending at a varying bit, until they cover `wanted` of those.
  template <class Bits>
  static DigitStack cover(Bits varying, int wanted, int width) {
    DigitStack digits;
    while (varying != 0 && digits.covered < wanted) {
      const int end = bit_width_of(varying);
      int begin = end > width ? end - width : 0;
      while ((varying >> begin & 1) == 0) ++begin;
      const auto inside = static_cast<std::uint32_t>(varying >> begin);
      digits.covered += std::popcount(inside);
      digits.digit[digits.count++] = {begin, (1u << (end - begin)) - 1};
      varying &= low_mask<Bits>(begin);
    }
    return digits;
  }

  /// As few digits as tell nearly all of `count` keys apart if their bits are random, of even widths.
  template <class Bits>
  static DigitStack choose(Bits varying, std::size_t count) {
    const int size = std::bit_width(count);
    // A table of counters should not outweigh the records; few records share what 4 more bits tell apart.
    const int width = std::clamp(size - 2, 7, max_bits);
    DigitStack digits = cover(varying, size + 4, width);
    // What costs no digit more is taken along.
    const int all = 8 * static_cast<int>(sizeof(Bits));
    if (const DigitStack full = cover(varying, all, width); full.count <= digits.count)
      digits = full;
    const int span = bit_width_of(varying) - digits.lowest();
    for (int narrow = (span + digits.count - 1) / digits.count; narrow < width; ++narrow) {
      const DigitStack even = cover(varying, digits.covered, narrow);
      if (even.count <= digits.count) return even;
    }
    return digits;
  }
};

/// Sorts `count` records, of which `a` and `b` each hold so many.
template <class Order, class Rec>
class CacheSort {
  using Bits = typename Order::Bits;
  using Stored = typename Order::Stored;
  using Leaf = SimdLeaf<Stored>;
  /// Words in their order, each all that there is of its element, of a size that SIMD sorts.
  static constexpr bool has_leaves =
      Leaf::exists && Order::is_encoded && std::is_same_v<Rec, Record<Stored, NoValue>>;
  using Places = PlaceWords<Rec>;
  using Splits = SimdRecords<Order, Rec>;
  static constexpr std::size_t few = 24;  ///< insertion is quicker below

 public:
  /// `counters`: DigitStack::counters of them.
  CacheSort(const Order& order, std::uint32_t* counters) : order_(order), counters_(counters) {}

  /// What is worth counting while so many records come to the cache, which may differ in these bits: the digits of two passes,
  /// if those are to sort them. The counters are zero then.
  DigitPair counted_ahead(Bits varying, std::size_t count) const {
    const bool by_leaves = has_leaves && (Leaf::serves_passes || count <= Leaf::whole);
    const bool by_places = Places::exist && Places::serve_beside_counts(count);
    if (varying == 0 || count <= few || by_leaves || by_places) return {};
    const DigitPair digits = DigitStack::choose(varying, count).pair();
    if (digits.exists()) {
      for (int d = 0; d < DigitPair::size; ++d) {
        std::fill_n(counters_of(d), digits.digit[d].mask + 1, 0u);
      }
    }
    return digits;
  }
  std::uint32_t* counters_of(int digit) const { return counters_ + digit * DigitStack::stride; }

  /// Of the two arrays, the one with the sorted records. They lie in `a`, and differ in no other bits. Some digits may have
  /// been counted.
  Rec* sort(Rec* a, Rec* b, std::size_t count, Bits varying, const DigitPair& counted = {}) const {
    if (varying == 0) return a;
    // Equal words are the same element where all bits count: nobody sees in which order they come.
    const bool by_simd = has_leaves && all_bits_count(order_);
    if (by_simd && count <= Leaf::network) {
      leaf(a, count);
      return a;
    }
    if (count <= few) {
      insert(a, count);
      return a;
    }
    const DigitStack digits = DigitStack::choose(varying, count);
    if (by_simd && digits.count > 1) {
      if (Rec* const sorted = sort_by_simd(a, b, count, varying)) return sorted;
    }
    const bool are_counted = counted.exists() && counted == digits.pair();
    constexpr std::uint32_t few_digits = 4;
    if (digits.count > 1 || (!are_counted && digits.digit[0].mask < few_digits)) {
      if (sort_by_splits(a, b, count)) return b;
    }
    if (digits.count > 1 && !are_counted && sort_by_places(a, b, count, varying)) return b;
    for (int d = digits.count - 1; d >= 0; --d) {
      if (!are_counted) count_digit(a, count, digits.digit[d]);
      move(a, b, count, digits.digit[d], counters_of(are_counted ? d : 0));
      std::swap(a, b);
    }
    if ((varying & low_mask<Bits>(digits.lowest())) != 0) part(a, b, count, digits.lowest());
    return a;
  }

  /// Sorts few records where they lie.
  void insert(Rec* records, std::size_t count) const {
    const Order order = order_;
    for (std::size_t i = 1; i < count; ++i) {
      const Rec moving = records[i];
      const Bits bits = order.masked(moving.key());
      std::size_t to = i;
      for (; to > 0 && order.masked(records[to - 1].key()) > bits; --to) {
        records[to] = records[to - 1];
      }
      records[to] = moving;
    }
  }

  /// The bits in which records differ.
  Bits survey(const Rec* records, std::size_t count) const {
    const Order order = order_;
    const Bits first = order.bits(records[0].key());
    Bits seen = 0;
    for (std::size_t i = 1; i < count; ++i) seen |= order.bits(records[i].key()) ^ first;
    return seen & order.wanted;
  }

 private:
  /// To `b`. False, and nothing has moved, where words or passes serve better.
  bool sort_by_splits([[maybe_unused]] Rec* a, [[maybe_unused]] Rec* b,
                      [[maybe_unused]] std::size_t count) const {
    if constexpr (Splits::exist) {
      return Splits::serve(order_) && RecordSort<Order, Rec>(order_).sort(a, b, count);
    }
    return false;
  }
  /// Likewise, where passes serve better.
  bool sort_by_places([[maybe_unused]] Rec* a, [[maybe_unused]] Rec* b,
                      [[maybe_unused]] std::size_t count, [[maybe_unused]] Bits varying) const {
    if constexpr (Places::exist) {
      return Places::serve(count) && impl::sort_by_places(order_, a, b, count, varying);
    }
    return false;
  }

  /// What takes more than one pass. Null, and nothing has moved, where passes serve better.
  Rec* sort_by_simd(Rec* a, Rec* b, std::size_t count, Bits varying) const {
    if (count > Leaf::whole) {
      if (sort_to_leaves(a, b, count, varying)) return b;
      if (!Leaf::serves_uneven) return nullptr;
      if (!Leaf::serves_passes && !crowds(a, count, varying)) return nullptr;
    }
    leaf(a, count);
    return a;
  }

  /// Do a few words say that many share their topmost digit?
  bool crowds(const Rec* words, std::size_t count, Bits varying) const {
    const Digit digit = DigitStack::cover(varying, 1, DigitStack::max_bits).digit[0];
    constexpr std::size_t looks = 64, most_pairs = 4;
    std::size_t pairs = 0;
    std::size_t last = digit.mask + std::size_t{1};
    for (std::size_t i = 0; i < looks; ++i) {
      const std::size_t now = digit.of(order_.bits(words[i * (count / looks)].key()));
      pairs += now == last;
      last = now;
    }
    return pairs > most_pairs;
  }

  void leaf([[maybe_unused]] Rec* words, [[maybe_unused]] std::size_t count) const {
    if constexpr (has_leaves) sort_leaf(reinterpret_cast<Stored*>(words), count);
  }

  /// One pass from `a` to `b`, whose leaves SIMD sorts. False, and nothing has moved, where that does not serve.
  bool sort_to_leaves(Rec* a, Rec* b, std::size_t count, Bits varying) const {
    if constexpr (has_leaves && Leaf::serves_passes) {
      const int width = std::min(bit_width_of((count - 1) / Leaf::average), DigitStack::max_bits);
      const Digit digit = DigitStack::cover(varying, 1, width).digit[0];
      count_digit(a, count, digit);
      if (!spreads(count, digit)) return false;
      move(a, b, count, digit, counters_);
      sort_leaves(b, digit);
      return true;
    }
    return false;
  }

  /// Do the counts say that few keys lie in leaves that are much too long? A quarter in such costs what is won
  /// elsewhere.
  bool spreads(std::size_t count, Digit digit) const {
    std::size_t crowded = 0;
    for (std::size_t d = 0; d <= digit.mask; ++d) {
      if (counters_[d] > 2 * Leaf::average) crowded += counters_[d];
    }
    return 4 * crowded <= count;
  }

  /// After `move`, which leaves the end of each digit's words.
  void sort_leaves(Rec* words, Digit digit) const {
    std::size_t begin = 0;
    for (std::size_t d = 0; d <= digit.mask; ++d) {
      const std::size_t end = counters_[d];
      if (end - begin > 1) leaf(words + begin, end - begin);
      begin = end;
    }
  }

  void count_digit(const Rec* from, std::size_t count, Digit digit) const {
    const Order order = order_;
    std::uint32_t* const counters = counters_;
    std::fill_n(counters, digit.mask + 1, 0u);
    for (std::size_t i = 0; i < count; ++i) ++counters[digit.of(order.bits(from[i].key()))];
  }

  /// By the counts of this digit, which turn into its ends.
  void move(const Rec* from, Rec* to, std::size_t count, Digit digit,
            std::uint32_t* counters) const {
    const Order order = order_;
    std::uint32_t sum = 0;
    for (std::size_t d = 0; d <= digit.mask; ++d) {
      const std::uint32_t counted = counters[d];
      counters[d] = sum;
      sum += counted;
    }
    // Loads of several records before the first store, which might alias them.
    std::size_t i = 0;
    for (; i + 4 <= count; i += 4) {
      const Rec moving[4] = {from[i], from[i + 1], from[i + 2], from[i + 3]};
      std::uint32_t digits[4];
      for (int j = 0; j < 4; ++j) digits[j] = digit.of(order.bits(moving[j].key()));
      for (int j = 0; j < 4; ++j) to[counters[digits[j]]++] = moving[j];
    }
    for (; i < count; ++i) {
      const Rec moving = from[i];
      to[counters[digit.of(order.bits(moving.key()))]++] = moving;
    }
  }

  /// Records are in order of the bits from `begin` up: sorts those together that are equal in them.
  void part(Rec* records, Rec* other, std::size_t count, int begin) const {
    const Order order = order_;
    const Bits wanted = order.wanted;
    const Bits lower = low_mask<Bits>(begin);
    const Bits upper = wanted & static_cast<Bits>(~lower);
    const auto differing = [=](std::size_t i, Bits bits) {
      return static_cast<Bits>((order.bits(records[i].key()) ^ order.bits(records[i - 1].key())) &
                               bits);
    };
    const auto together = [=](std::size_t i) { return differing(i, upper) == 0; };
    const auto unsorted = [=](std::size_t i) {
      const Bits found = differing(i, wanted);
      return found != 0 && found <= lower;
    };
    // Most records stand alone, or beside equal ones, which are in order: whole groups of them are passed over by checks
    // without branches.
    constexpr std::size_t group = 16;
    std::size_t i = 1;
    while (i < count) {
      if (i + group <= count) {
        unsigned left = 0;
        for (std::size_t j = 0; j < group; ++j) left += together(i + j);
        if (left > 1) {  // one alone is found as soon
          for (std::size_t j = 0; j < group; ++j) left -= differing(i + j, wanted) == 0;
        }
        if (left == 0) {
          i += group;
          continue;
        }
      }
      const std::size_t stop = std::min(i + group, count);
      while (i < stop && !unsorted(i)) ++i;
      if (i == stop) continue;
      std::size_t begin = i - 1;
      while (begin > 0 && together(begin)) --begin;
      while (i < count && together(i)) ++i;
      sort_run(records + begin, other + begin, i - begin);
    }
  }

  void sort_run(Rec* run, Rec* other, std::size_t count) const {
    if (count <= few) {
      insert(run, count);
      return;
    }
    const Rec* const sorted = sort(run, other, count, survey(run, count));
    if (sorted != run) std::copy_n(sorted, count, run);
  }

  Order order_;
  std::uint32_t* counters_;
};

}  // namespace kradix::impl
