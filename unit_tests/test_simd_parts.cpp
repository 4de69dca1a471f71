// Words parted by SIMD where they lie, and sorted part by part: by any number of threads, in slices of a few words, with the
// vectors of this machine, whatever their length. (Through the public door they are where vectors are wide.)
#include <algorithm>
#include <gtest/gtest.h>
#include <vector>

#ifdef KRADIX_ENABLE_HIGHWAY
#include <hwy/targets.h>
#endif

#include "kradix/impl/host/order.hpp"
#include "kradix/impl/host/simd_parts.hpp"
#include "support/sorted.hpp"

namespace {

#ifdef KRADIX_ENABLE_HIGHWAY
using kradix::Order;
using kradix::impl::EncodedOrder;
using kradix::impl::EncodedTotalOrder;
using kradix::impl::HostLevel;
using kradix::impl::low_mask;
using kradix::impl::NoValue;

using Host = std::conditional_t<kradix::impl::is_host_space<TEST_EXECSPACE>, TEST_EXECSPACE,
                                Kokkos::DefaultHostExecutionSpace>;

/// The order of a key type's words.
template <class Key>
struct OrderOf {
  using Word = kradix::impl::unsigned_of_size<sizeof(Key)>;
  static constexpr bool is_float = std::is_floating_point_v<Key>;
  using type = std::conditional_t<is_float, EncodedTotalOrder<Word>, EncodedOrder<Word, false>>;
  static type make(Order order) {
    const auto codec = kradix::impl::make_codec<Key>(order);
    if constexpr (is_float) {
      return {kradix::impl::total_order(codec), low_mask<Word>(8 * sizeof(Word))};
    } else {
      return {codec, low_mask<Word>(8 * sizeof(Word))};
    }
  }
};

template <class Key>
class SimdParts : public ::testing::Test {
 protected:
  using Word = typename OrderOf<Key>::Word;
  using KeyOrder = typename OrderOf<Key>::type;
  using Level = HostLevel<KeyOrder, NoValue>;
  using Parts = kradix::impl::SimdParts<Level>;

  std::vector<Word> words_of(keys::Pattern pattern, std::size_t size) {
    return words_of(keys::make<Key>(pattern, size, random_));
  }
  static std::vector<Word> words_of(const std::vector<Key>& keys) {
    std::vector<Word> words(keys.size());
    for (std::size_t i = 0; i < keys.size(); ++i) words[i] = Kokkos::bit_cast<Word>(keys[i]);
    return words;
  }

  static std::vector<Word> sorted(std::vector<Word> words, const KeyOrder& order) {
    std::sort(words.begin(), words.end(),
              [&](Word a, Word b) { return order.enter(a) < order.enter(b); });
    return words;
  }

  /// Of so many sampled words, by so many threads, which halve parts that are longer than a few words in place, and else as they
  /// would. Doubles may stay what they are.
  static std::vector<Word> sorted_by_parts(std::vector<Word> keys, const KeyOrder& order,
                                           std::size_t sampled, std::size_t threads, bool in_place,
                                           bool keeps = kradix::impl::orders_doubles<KeyOrder>) {
    std::vector<Word> result(keys.size()), sample(sampled);
    typename Level::State state;
    Level level{};
    level.order = order;
    level.sink = {in_place ? keys.data() : result.data(), nullptr, false, false};
    level.source = {keys.data(), nullptr, false};
    level.state = &state;
    level.block = 100;
    level.range = {0, keys.size(), 0};
    level.threads = threads;
    state.verdict = Level::State::good;
    for (std::size_t s = 0; s < sampled; ++s)
      sample[s] = order.enter(keys[s * keys.size() / sampled]);
    std::sort(sample.begin(), sample.end());
    std::vector<std::byte> memory(Parts::bytes());
    const Host exec;
    const kradix::impl::HostThreads<Host> on(exec, "test::");
    Parts parts(level, sample.data(), sampled, memory.data());
    if (in_place) parts.grain = 40;
    parts.keeps = keeps;
    kradix::impl::SortByParts<Host, Parts>{on, parts, 16}.sort();
    exec.fence();
    return in_place ? keys : result;
  }

  std::mt19937_64 random_{keys::fresh_seed()};
};
using Keys =
    ::testing::Types<std::uint32_t, std::int32_t, float, std::uint64_t, std::int64_t, double>;
TYPED_TEST_SUITE(SimdParts, Keys);

/// Some words between others that are nobody's: `part(words, size)` must leave those alone.
template <class Word, class Part>
std::size_t part_between(std::vector<Word>& words, const Part& part) {
  const std::size_t size = words.size();
  words.insert(words.begin(), 40, Word{7});
  words.insert(words.end(), 40, Word{8});
  const std::size_t below = part(words.data() + 40, size);
  EXPECT_EQ(std::count(words.begin(), words.begin() + 40, Word{7}), 40);
  EXPECT_EQ(std::count(words.end() - 40, words.end(), Word{8}), 40);
  words = {words.begin() + 40, words.end() - 40};
  return below;
}

TYPED_TEST(SimdParts, ArePartedAndTurnedWithVectorsOfAnyLength) {
  using Word = typename TestFixture::Word;
  for (std::int64_t left = hwy::SupportedTargets(); left != 0; left &= left - 1) {
    hwy::SetSupportedTargetsForTest(left & -left);
    for (std::size_t size = 0; size < 2000; size += size < 200 ? 1 : size < 600 ? 7 : 97) {
      for (const Order by : {Order::ascending, Order::descending}) {
        SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed() << ", " << size << ", "
                                          << hwy::TargetName(left & -left));
        const auto order = OrderOf<TypeParam>::make(by);
        const auto turn = kradix::impl::turn_of(order);
        const auto words = this->words_of(keys::Pattern::uniform, size);
        std::vector<Word> stored(size);
        for (std::size_t i = 0; i < size; ++i) stored[i] = order.enter(words[i]);
        const Word some = size == 0 ? 0 : stored[this->random_() % size];
        for (const Word splitter : {some, Word{0}, static_cast<Word>(~Word{0})}) {
          const auto less = [=](Word word) { return word < splitter; };
          const auto expected =
              static_cast<std::size_t>(std::count_if(stored.begin(), stored.end(), less));
          std::vector<Word> parted = words;
          EXPECT_EQ(part_between(parted,
                                 [&](Word* begin, std::size_t count) {
                                   return kradix::impl::part_words(begin, count, splitter, turn);
                                 }),
                    expected);
          const auto middle = static_cast<std::ptrdiff_t>(expected);
          EXPECT_TRUE(std::all_of(parted.begin(), parted.begin() + middle, less));
          kradix::impl::turn_back(parted.data(), size, turn);
          expect_same(this->sorted(words, order), this->sorted(parted, order), "words");
          if constexpr (std::is_same_v<TypeParam, double>) {
            std::vector<Word> kept = words;
            EXPECT_EQ(part_between(kept,
                                   [&](Word* begin, std::size_t count) {
                                     return kradix::impl::part_doubles(begin, count, splitter,
                                                                       turn);
                                   }),
                      expected);
            EXPECT_TRUE(std::all_of(kept.begin(), kept.begin() + middle,
                                    [&](Word word) { return less(order.enter(word)); }));
            expect_same(this->sorted(words, order), this->sorted(kept, order), "doubles");
          }
          if (this->HasFailure()) break;
        }
        if (this->HasFailure()) break;
      }
      if (this->HasFailure()) break;
    }
    hwy::SetSupportedTargetsForTest(0);
    if (this->HasFailure()) return;
  }
}

template <class Key>
class SimdPartsOfFloats : public SimdParts<Key> {};
using FloatKeys = ::testing::Types<float, double>;
TYPED_TEST_SUITE(SimdPartsOfFloats, FloatKeys);

/// Zeros of either sign at borders of parts, NaNs in few parts, in all, in none.
TYPED_TEST(SimdPartsOfFloats, ThatComparisonsDoNotTellApartAreSorted) {
  for (const keys::Floats kind : keys::all_floats) {
    for (const std::size_t size : {3, 300, 5000, 40000}) {
      const auto words = this->words_of(keys::make_floats<TypeParam>(kind, size, this->random_));
      for (const Order by : {Order::ascending, Order::descending}) {
        const auto order = OrderOf<TypeParam>::make(by);
        const auto expected = this->sorted(words, order);
        for (const std::size_t threads : {1, 2, 8, 64}) {
          SCOPED_TRACE(::testing::Message()
                       << "seed " << keys::fresh_seed() << ", " << size << " of kind "
                       << static_cast<int>(kind) << ", " << threads << " threads");
          const std::size_t sampled = std::min<std::size_t>(size, 256);
          for (const bool in_place : {true, false}) {
            for (const bool keeps : {true, false}) {
              if (keeps && !std::is_same_v<TypeParam, double>) continue;
              expect_same(expected,
                          this->sorted_by_parts(words, order, sampled, threads, in_place, keeps),
                          "words");
            }
          }
          if (this->HasFailure()) return;
        }
      }
    }
  }
}

TYPED_TEST(SimdParts, AreSortedByAnyNumberOfThreads) {
  for (const std::size_t size : {2, 17, 300, 5000, 40000}) {
    for (const keys::Pattern pattern : keys::all_patterns) {
      const auto words = this->words_of(pattern, size);
      for (const Order by : {Order::ascending, Order::descending}) {
        const auto order = OrderOf<TypeParam>::make(by);
        const auto expected = this->sorted(words, order);
        for (const std::size_t threads : {1, 2, 3, 8, 64, 100}) {
          const std::size_t sampled = std::min<std::size_t>(size, threads % 2 == 0 ? 256 : 11);
          SCOPED_TRACE(::testing::Message()
                       << "seed " << keys::fresh_seed() << ", " << size << " of "
                       << static_cast<int>(pattern) << ", " << threads << " threads");
          for (const bool in_place : {true, false}) {
            expect_same(expected, this->sorted_by_parts(words, order, sampled, threads, in_place),
                        "words");
          }
          if (this->HasFailure()) return;
        }
      }
    }
  }
}

/// Where many are alike parts are halved, into no more than there is room for.
TYPED_TEST(SimdParts, ThatAreAlikeAreHalved) {
  using Word = typename TestFixture::Word;
  using Parts = typename TestFixture::Parts;
  using Part = typename Parts::Part;
  std::vector<Word> sample(1000);
  for (std::size_t i = 0; i < sample.size(); ++i) sample[i] = static_cast<Word>(i);
  typename TestFixture::Level level{};
  level.order = OrderOf<TypeParam>::make(Order::ascending);
  level.range = {0, std::size_t{1} << 20, 0};
  level.threads = 2;
  level.capacity = 2 * level.range.size();
  std::vector<std::byte> memory(Parts::bytes());
  const auto grain_of = [&] {
    return Parts(level, sample.data(), sample.size(), memory.data()).grain;
  };
  EXPECT_EQ(grain_of(), level.range.size());
  for (std::size_t i = 0; i < 252; ++i) sample[i] = Word{0};
  EXPECT_EQ(grain_of(), level.range.size() / 16);
  level.threads = 64;
  EXPECT_EQ(grain_of(), Parts::least_grain);
  level.capacity = 1000;  // of a cache, which matters to shorter vectors
  EXPECT_EQ(grain_of(), kradix::impl::has_wide_simd() ? Parts::least_grain : 500);

  Parts parts(level, sample.data(), sample.size(), memory.data());
  parts.part_count = Parts::most_parts - 1;
  kradix::impl::PartPool<Parts> pool(parts);
  EXPECT_TRUE(pool.give(Part{1, 2, 0, 0, 0}));
  EXPECT_FALSE(pool.give(Part{2, 3, 0, 0, 0}));
  Part part{};
  ASSERT_TRUE(pool.take(part));
  EXPECT_EQ(part.begin, 1u);
  EXPECT_TRUE(pool.give(Part{3, 4, 0, 0, 0}));
  for (std::size_t i = 0; i < Parts::most_parts; ++i) {
    ASSERT_TRUE(pool.take(part));
    pool.done();
  }
  pool.done();
  EXPECT_FALSE(pool.take(part));
}

/// A sample that saw one side of the words only, and one of a single key.
TYPED_TEST(SimdParts, AreSortedWhateverTheSampleSays) {
  using Word = typename TestFixture::Word;
  const auto order = OrderOf<TypeParam>::make(Order::ascending);
  auto words = this->words_of(keys::Pattern::uniform, 20000);
  for (const int kind : {0, 1, 2}) {
    SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed() << ", kind " << kind);
    for (std::size_t i = 0; i < words.size(); i += 50) {  // what is sampled
      words[i] = kind == 0   ? order.leave(static_cast<Word>(i / 100))
                 : kind == 1 ? order.leave(static_cast<Word>(~Word{0}))
                             : order.leave(Word{5});
    }
    expect_same(this->sorted(words, order), this->sorted_by_parts(words, order, 400, 8, true),
                "words");
  }
}
#else
TEST(SimdParts, NeedHighway) {
  GTEST_SKIP() << "built without Highway";
}
#endif

}  // namespace
