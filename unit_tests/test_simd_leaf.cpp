// Words in a host's cache, finished by SIMD where Highway is at hand and by passes alone where not: every size around
// the ones at which the way changes, and keys alone that are sorted through the public door.
#include <algorithm>
#include <gtest/gtest.h>

#ifdef KRADIX_ENABLE_HIGHWAY
#include "support/instructions.hpp"
#endif
#ifdef __SSE2__
#include <xmmintrin.h>
#endif

#include "kradix/impl/host/cache_sort.hpp"
#include "kradix/impl/host/order.hpp"
#include "kradix/impl/host/sort_in_place.hpp"
#include "support/sorted.hpp"

namespace {

using kradix::Order;
using kradix::impl::BitsOrder;
using kradix::impl::CacheSort;
using kradix::impl::DigitStack;
using kradix::impl::EncodedOrder;
using kradix::impl::NoValue;
using kradix::impl::Record;
using kradix::impl::SimdLeaf;

template <class Word>
std::vector<std::size_t> sizes_around_changes() {
  using Leaf = SimdLeaf<Word>;
  std::vector<std::size_t> sizes{1, 2, 3, 24, 25, 300, 1500, 2500, 6000, 20000, 50000};
  for (const std::size_t edge : {Leaf::network, Leaf::whole}) {
    for (const std::size_t size : {edge, edge + 1, 2 * edge, 2 * edge + 1}) {
      if (size > 1) sizes.insert(sizes.end(), {size - 1, size});
    }
  }
  return sizes;
}

/// Words whose digits come in every way: spread, in few leaves, in one leaf and some, from few values.
template <class Word>
std::vector<std::vector<Word>> words_of(std::size_t size, std::mt19937_64& random) {
  std::vector<std::vector<Word>> all;
  for (const keys::Pattern pattern : keys::all_patterns) {
    all.push_back(keys::make<Word>(pattern, size, random));
  }
  std::vector<Word> crowded = keys::make<Word>(keys::Pattern::uniform, size, random);
  std::vector<Word> skewed = crowded;
  for (std::size_t i = 0; i < size; ++i) {
    if (i % 5 != 0) crowded[i] = static_cast<Word>(crowded[i] >> (4 * sizeof(Word)));
    skewed[i] = static_cast<Word>(skewed[i] >> random() % (8 * sizeof(Word)));
  }
  all.push_back(crowded);
  all.push_back(skewed);
  return all;
}

template <class Word>
class SimdLeaves : public ::testing::Test {
 protected:
  std::mt19937_64 random_{keys::fresh_seed()};
};
using Words = ::testing::Types<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(SimdLeaves, Words);

template <class Word, class Sort>
void expect_sorted(const std::vector<Word>& words, const Sort& sort) {
  SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed() << ", " << words.size());
  std::vector<Word> expected = words;
  std::sort(expected.begin(), expected.end());
  expect_same(expected, sort(words), "words");
}

#ifdef KRADIX_ENABLE_HIGHWAY
TYPED_TEST(SimdLeaves, AreSortedOfEverySize) {
  if constexpr (SimdLeaf<TypeParam>::exists) {
    for (std::size_t size = 0; size <= 2000; size += size < 300 ? 1 : 17) {
      for (const std::vector<TypeParam>& words : words_of<TypeParam>(size, this->random_)) {
        expect_sorted(words, [](std::vector<TypeParam> sorted) {
          kradix::impl::sort_leaf(sorted.data(), sorted.size());
          return sorted;
        });
        if (this->HasFailure()) return;
      }
    }
  } else {
    GTEST_SKIP() << "SIMD sorts no words of this size";
  }
}
#endif

#ifdef KRADIX_ENABLE_HIGHWAY
/// By total order, in place and not.
template <class T>
void expect_floats_sorted(const std::vector<T>& input, Order order) {
  using Word = kradix::impl::unsigned_of_size<sizeof(T)>;
  const kradix::impl::EncodedTotalOrder<Word> by{
      kradix::impl::total_order(kradix::impl::make_codec<T>(order)), static_cast<Word>(~Word{0})};
  std::vector<Word> words;
  for (const T key : input) words.push_back(Kokkos::bit_cast<Word>(key));
  std::vector<Word> expected = words, sorted(words.size());
  std::sort(expected.begin(), expected.end(),
            [&](Word a, Word b) { return by.enter(a) < by.enter(b); });
  kradix::impl::sort_in_place(by, words.data(), sorted.data(), words.size());
  expect_same(expected, sorted, "words elsewhere");
  kradix::impl::sort_in_place(by, words.data(), words.data(), words.size());
  expect_same(expected, words, "words where they lie");
}

template <class T>
void expect_all_floats_sorted() {
  std::mt19937_64 random{keys::fresh_seed()};
  for (std::size_t size = 0; size <= 3000; size += size < 40 ? 1 : size < 300 ? 7 : 301) {
    for (const keys::Floats kind : keys::all_floats) {
      for (const Order order : {Order::ascending, Order::descending}) {
        SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed() << ", " << size
                                          << " of kind " << static_cast<int>(kind));
        expect_floats_sorted(keys::make_floats<T>(kind, size, random), order);
        if (::testing::Test::HasFailure()) return;
      }
    }
  }
}

TEST(SimdFloats, AreSortedByTotalOrderWithVectorsOfAnyLength) {
  for_all_instructions([] {
    expect_all_floats_sorted<double>();
    expect_all_floats_sorted<float>();
  });
}

#ifdef __SSE2__
TEST(SimdFloats, NearZeroAreSortedWhereAThreadTakesThemForZeros) {
  const unsigned before = _mm_getcsr();
  _mm_setcsr(before | 0x8040);  // denormals that are read, and that come out
  expect_all_floats_sorted<double>();
  expect_all_floats_sorted<float>();
  _mm_setcsr(before);
}
#endif
#endif

/// In the cache, as a bucket's records are; `Order` says how.
template <class Order>
std::vector<typename Order::Stored> sort_in_cache(
    const Order& order, const std::vector<typename Order::Stored>& words) {
  using Rec = Record<typename Order::Stored, NoValue>;
  std::vector<Rec> a, b;
  for (const auto word : words) {
    a.emplace_back(word, NoValue{});
    b.emplace_back(word, NoValue{});
  }
  std::vector<std::uint32_t> counters(DigitStack::counters);
  const CacheSort<Order, Rec> cache(order, counters.data());
  const Rec* const sorted =
      cache.sort(a.data(), b.data(), a.size(), cache.survey(a.data(), a.size()));
  std::vector<typename Order::Stored> result;
  for (std::size_t i = 0; i < words.size(); ++i) result.push_back(sorted[i].key());
  return result;
}

TYPED_TEST(SimdLeaves, AreSortedInTheCacheAroundTheSizesWhereTheWayChanges) {
  for (const std::size_t size : sizes_around_changes<TypeParam>()) {
    for (const std::vector<TypeParam>& words : words_of<TypeParam>(size, this->random_)) {
      expect_sorted(words, [](const auto& to_sort) {
        using All = EncodedOrder<TypeParam, false>;
        return sort_in_cache(
            All{{0, 0}, kradix::impl::low_mask<typename All::Bits>(8 * sizeof(TypeParam))},
            to_sort);
      });
      if constexpr (sizeof(TypeParam) >= 4) {
        expect_sorted(words, [](const auto& to_sort) {
          return sort_in_cache(BitsOrder<TypeParam>{}, to_sort);
        });
      }
      if (this->HasFailure()) return;
    }
  }
}

/// Words that are equal in the bits that count keep their order: SIMD must keep away.
TYPED_TEST(SimdLeaves, KeepTheOrderOfKeysThatAreEqualInSomeBits) {
  using Some = EncodedOrder<TypeParam, false>;
  using Bits = typename Some::Bits;
  constexpr int bits = 8 * sizeof(TypeParam);
  for (const Bits wanted :
       {kradix::impl::bits_between<Bits>(0, bits - 1), kradix::impl::bits_between<Bits>(1, bits),
        kradix::impl::bits_between<Bits>(3, bits - 2)}) {
    for (const std::size_t size : sizes_around_changes<TypeParam>()) {
      SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed() << ", " << size);
      const auto words = keys::make<TypeParam>(keys::Pattern::uniform, size, this->random_);
      std::vector<TypeParam> expected = words;
      std::stable_sort(expected.begin(), expected.end(),
                       [=](TypeParam a, TypeParam b) { return (a & wanted) < (b & wanted); });
      expect_same(expected, sort_in_cache(Some{{0, 0}, wanted}, words), "words");
      if (this->HasFailure()) return;
    }
  }
}

template <class Key>
class KeysAlone : public SimdLeaves<Key> {};
#ifdef KRADIX_ENABLE_HIGHWAY
using Keys = ::testing::Types<std::int16_t, std::uint32_t, std::int64_t, float, double,
                              kradix::bfloat16_bits, keys::Color>;
#else
// Of each length one: from headers alone every kind of keys has all of a sort to be compiled.
using Keys = ::testing::Types<std::int16_t, float, std::int64_t>;
#endif
TYPED_TEST_SUITE(KeysAlone, Keys);

TYPED_TEST(KeysAlone, AreSortedInBothOrders) {
  for (const std::size_t size : {2, 31, 33, 64, 65, 129, 255, 256, 257, 1025, 2049, 5000, 30000}) {
    for (const keys::Pattern pattern : keys::all_patterns) {
      for (const Order order : {Order::ascending, Order::descending}) {
        SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed() << ", " << size);
        const auto input = keys::make<TypeParam>(pattern, size, this->random_);
        kradix::Options options;
        options.order = order;
        expect_keys_sorted(input, reference::sorted_indices_in_bits(input, order), options);
        options.stability = kradix::Stability::stable;
        expect_keys_sorted(input, reference::sorted_indices(input, order), options);
        if (this->HasFailure()) return;
      }
    }
  }
}

}  // namespace
