// Records in a core's cache put in order by splits: SIMD tells those less than a splitter from the others, again and again, until few
// are left or all are alike. Nothing of that without the component Highway.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kradix/impl/device/digit.hpp"
#include "kradix/impl/host/place_sort.hpp"
#include "kradix/impl/host/simd_leaf.hpp"
#include "kradix/impl/host/simd_records.hpp"

namespace kradix::impl {

template <class Order, class Rec>
class RecordSort {
  using Word = typename Order::Stored;

 public:
  explicit RecordSort(const Order& order) : order_(order) {}

  /// From `a` to `b`, behind which there is room for a vector. False, and nothing has moved, where few of them are alike.
  bool sort(Rec* a, Rec* b, std::size_t count) const {
    Word sample[sampled];
    if (count < least) {
      // A few keys tell sooner.
      if (count < least_if_few) return false;
      take_sample(a, count, sample, few_sampled);
      if (count_alike(sample, few_sampled) < least_alike) return false;
    }
    take_sample(a, count, sample, sampled);
    if (!are_alike(sample, sample + sampled)) return false;
    sort({a, b, count, sample, sample + sampled, 0});
    return true;
  }

 private:
  static constexpr std::size_t sampled = 64;
  static constexpr std::size_t least = 128 * sampled;  ///< records for which a look pays
  static constexpr std::size_t few_sampled = 16, least_alike = 5, least_if_few = 256;

  struct Part {
    Rec *a, *b;
    std::size_t count;
    const Word *sample, *sample_end;  ///< in order
    Word least;                       ///< no key is less
  };

  /// In order.
  static void take_sample(const Rec* records, std::size_t count, Word* sample, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) sample[i] = records[i * count / size].key();
    sort_leaf(sample, size);
  }

  /// Are there so few kinds that splits tell them apart sooner than words with places? Or is one key most of all?
  static bool are_alike(const Word* sample, const Word* end) {
    const auto size = static_cast<std::size_t>(end - sample);
    const auto [first, last] = std::equal_range(sample, end, sample[size / 2]);
    if (2 * static_cast<std::size_t>(last - first) > size) return true;
    const std::size_t kinds = size - count_alike(sample, size);
    return sizeof(Rec) == 8 ? 4 * kinds <= 3 * size : 6 * kinds <= size;
  }

  void sort(Part part) const {
    while (part.count > 0) {
      if (part.sample == part.sample_end || !are_alike(part.sample, part.sample_end)) break;
      if (part.sample[0] == part.sample_end[-1] && varying(part) == 0) return copy(part);
      const Word* middle = part.sample + (part.sample_end - part.sample) / 2;
      Word splitter = *middle;
      // That key gets a part of its own, once nothing is less.
      const bool is_one_key = splitter == part.least;
      if (is_one_key) {
        if (splitter == static_cast<Word>(~Word{0})) return copy(part);
        ++splitter;
      }
      const std::size_t below =
          split_records(words(part.a), part.count, splitter, words(part.a), words(part.b));
      std::copy_n(part.b, part.count - below, part.a + below);
      middle = std::lower_bound(part.sample, part.sample_end, splitter);
      const Part low{part.a, part.b, below, part.sample, middle, part.least};
      if (is_one_key) {
        copy(low);
      } else {
        sort(low);
      }
      part = {part.a + below, part.b + below,  part.count - below,
              middle,         part.sample_end, splitter};
    }
    finish(part);
  }

  /// What has been split enough.
  void finish(const Part& part) const {
    if (part.count == 0) return;
    const Word bits = varying(part);
    if (bits == 0) return copy(part);
    sort_by_places(order_, part.a, part.b, part.count, bits);
  }

  /// The bits in which its keys differ.
  static Word varying(const Part& part) {
    const Word first = part.a[0].key();
    Word bits = 0;
    for (std::size_t i = 1; i < part.count; ++i) {
      bits = static_cast<Word>(bits | (part.a[i].key() ^ first));
    }
    return bits;
  }

  static void copy(const Part& part) { std::copy_n(part.a, part.count, part.b); }
  static Word* words(Rec* records) { return reinterpret_cast<Word*>(records); }

  Order order_;
};

}  // namespace kradix::impl
