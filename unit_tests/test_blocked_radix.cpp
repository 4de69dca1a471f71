// The host sort with blocks, caches and buckets shrunk, so that many blocks, deep levels and every fallback
// happen at small n; its parts alone: digits, sorts in a cache, buckets, orders.
#include <cfenv>
#include <gtest/gtest.h>

#include "kradix/impl/blocked_radix.hpp"
#include "support/device.hpp"
#include "support/events.hpp"
#include "support/keys.hpp"
#include "support/reference.hpp"

#ifdef KRADIX_ENABLE_HIGHWAY
#include "support/instructions.hpp"
#endif

namespace {

using namespace kradix::impl;
using kradix::Order;

/// The space under test, or one that runs where host sorts can.
using Host = std::conditional_t<is_host_space<Space>, Space, Kokkos::DefaultHostExecutionSpace>;

struct Shape {
  std::size_t block, chunk;
  int bucket_bits;
  std::size_t teams;
};
constexpr Shape shapes[] = {
    {64, 48, 2, 1}, {64, 96, 4, 3}, {256, 300, 6, 2}, {1000, 4096, 10, 4}, {1000, 32, 11, 2}};

kradix::Plan plan_of(std::size_t count, int key_bytes, kradix::BitRange bits, const Shape& shape) {
  kradix::Plan plan;
  plan.count = count;
  plan.key_bytes = key_bytes;
  plan.value_bytes = 4;
  plan.bits = bits;
  plan.digit_bits = shape.bucket_bits;
  plan.chunk = shape.chunk;
  plan.teams = shape.teams;
  plan.tile = plan.round = shape.block;
  plan.tiles = (count + plan.tile - 1) / plan.tile;
  return plan;
}

/// Sorts keys with the index of each as its value and compares with what `indices` says.
template <class Key, class Value = std::uint32_t>
void expect_sorted(const std::vector<Key>& input, const std::vector<std::size_t>& indices,
                   Order order, kradix::BitRange bits, const Shape& shape) {
  using Codec = codec_of<Key>;
  using Word = typename Codec::key_type;
  kradix::Plan plan = plan_of(input.size(), sizeof(Key), bits, shape);
  plan.value_bytes = sizeof(Value);
  ScratchList list;
  const BlockedRadixScratch scratch = BlockedRadixScratch::list(plan, list);
  std::vector<std::byte> memory(list.bytes());
  std::byte* const base = aligned_scratch(memory.data());
  std::vector<Word> words(input.size());
  std::memcpy(words.data(), input.data(), input.size() * sizeof(Word));
  std::vector<Value> permutation(input.size());
  const SortBuffers<Word, Value> buffers{
      {words.data(), words.data(), nullptr}, {nullptr, permutation.data(), nullptr}, true, false};
  const Host exec;
  BlockedRadix<Host, Codec, Value>(exec, plan, make_codec<Key>(order), buffers, scratch, base,
                                   "test")
      .sort();
  exec.fence();
  for (std::size_t i = 0; i < input.size(); ++i) {
    ASSERT_EQ(permutation[i], indices[i]) << i;
    ASSERT_EQ(keys::bytes_of(words[i]), keys::bytes_of(input[indices[i]])) << i;
  }
}

template <class Key>
void expect_sorted(const std::vector<Key>& input, Order order, const Shape& shape) {
  expect_sorted(input, reference::sorted_indices(input, order), order, {0, codec_of<Key>::bits},
                shape);
}

std::string text_of(const Shape& shape, std::size_t count) {
  return "seed " + std::to_string(keys::fresh_seed()) + ", block " + std::to_string(shape.block) +
         ", chunk " + std::to_string(shape.chunk) + ", bucket bits " +
         std::to_string(shape.bucket_bits) + ", count " + std::to_string(count);
}

template <class T>
class BlockedRadixOf : public ::testing::Test {
 protected:
  std::mt19937_64 random_{keys::fresh_seed()};
};
using Keys = ::testing::Types<std::uint8_t, std::int16_t, std::uint32_t, float, double>;
TYPED_TEST_SUITE(BlockedRadixOf, Keys);

TYPED_TEST(BlockedRadixOf, SortsEveryPatternInEveryShape) {
  for (const Shape& shape : shapes) {
    for (const keys::Pattern pattern : keys::all_patterns) {
      for (const std::size_t count : {std::size_t{2}, shape.block - 1, shape.block, shape.block + 1,
                                      7 * shape.block + 5, 40 * shape.block + 3}) {
        for (const Order order : {Order::ascending, Order::descending}) {
          SCOPED_TRACE(text_of(shape, count) + ", pattern " +
                       std::to_string(static_cast<int>(pattern)));
          expect_sorted(keys::make<TypeParam>(pattern, count, this->random_), order, shape);
          if (this->HasFailure()) return;
        }
      }
    }
  }
}

/// Inputs that drive a sort by samples into its levels and fallbacks.
enum class Skew { heavy, heavies, zipf, clusters, holes, outlier, staircase };
constexpr Skew all_skews[] = {Skew::heavy, Skew::heavies, Skew::zipf,     Skew::clusters,
                              Skew::holes, Skew::outlier, Skew::staircase};

std::vector<std::uint64_t> skewed(Skew skew, std::size_t count, std::mt19937_64& random) {
  std::vector<std::uint64_t> keys(count);
  const std::uint64_t base = random();
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t any = random();
    switch (skew) {
      case Skew::heavy:
        keys[i] = any % 100 == 0 ? random() : base;
        break;
      case Skew::heavies:
        keys[i] = any % 3 == 0 ? random() : base * (1 + any / 3 % 4);
        break;
      case Skew::zipf:
        keys[i] = any >> (any % 61);
        break;
      case Skew::clusters:
        keys[i] = base + (any % 5 << 50) + any % 97;
        break;
      case Skew::holes:
        keys[i] = any & 0x8000100020004001u;
        break;
      case Skew::outlier:
        keys[i] = i == count / 2 ? ~std::uint64_t{0} : any >> 40;
        break;
      case Skew::staircase:
        keys[i] = any % 16 == 0 ? any : base + i / 7;
        break;
    }
  }
  return keys;
}

TEST(BlockedRadix, SkewIsSortedLevelByLevel) {
  std::mt19937_64 random{keys::fresh_seed()};
  for (const Shape& shape : shapes) {
    for (const Skew skew : all_skews) {
      for (const std::size_t count : {17 * shape.block + 1, 200 * shape.block + 9}) {
        SCOPED_TRACE(text_of(shape, count) + ", skew " + std::to_string(static_cast<int>(skew)));
        expect_sorted(skewed(skew, count, random), Order::ascending, shape);
        if (::testing::Test::HasFailure()) return;
      }
    }
  }
}

/// Of a key and as long a value, which wide vectors split in two.
template <class Key, class Value>
void sort_skewed_pairs() {
  std::mt19937_64 random{keys::fresh_seed()};
  for (const Shape& shape : shapes) {
    for (const Skew skew : all_skews) {
      for (const Order order : {Order::ascending, Order::descending}) {
        const std::size_t count = 90 * shape.block + 9;
        SCOPED_TRACE(text_of(shape, count) + ", skew " + std::to_string(static_cast<int>(skew)));
        std::vector<Key> input;
        for (const std::uint64_t key : skewed(skew, count, random)) {
          // The lower half has what is uneven in some, the upper one in others.
          const std::uint64_t bits = sizeof(Key) == 8 || random() % 64 == 0 ? key : key >> 29;
          input.push_back(static_cast<Key>(bits));
        }
        expect_sorted<Key, Value>(input, reference::sorted_indices(input, order), order,
                                  {0, codec_of<Key>::bits}, shape);
        if (::testing::Test::HasFailure()) return;
      }
    }
  }
}

TEST(BlockedRadix, SkewedPairsAreSorted) {
  sort_skewed_pairs<std::uint32_t, std::uint32_t>();
  sort_skewed_pairs<std::int32_t, std::uint32_t>();
  sort_skewed_pairs<float, std::uint32_t>();
  sort_skewed_pairs<std::uint64_t, std::uint64_t>();
  sort_skewed_pairs<double, std::uint64_t>();
}

TEST(BlockedRadix, BitsOutsideTheRangeOnlyTravel) {
  std::mt19937_64 random{keys::fresh_seed()};
  const auto input = keys::make<std::uint64_t>(keys::Pattern::uniform, 20011, random);
  for (const Shape& shape : shapes) {
    for (const kradix::BitRange bits :
         {kradix::BitRange{0, 24}, {13, 40}, {60, 64}, {5, 6}, {9, 9}}) {
      SCOPED_TRACE(text_of(shape, input.size()) + ", bits from " + std::to_string(bits.begin));
      const auto indices = reference::sorted_indices(input, [&](std::uint64_t a, std::uint64_t b) {
        return reference::cut_bits(a, bits.begin, bits.end) <
               reference::cut_bits(b, bits.begin, bits.end);
      });
      expect_sorted(input, indices, Order::ascending, bits, shape);
      if (::testing::Test::HasFailure()) return;
    }
  }
}

TEST(BlockedRadix, KeysThatTheQuickOrderCannotStoreAreSortedToo) {
  std::mt19937_64 random{keys::fresh_seed()};
  for (const float special : {-0.0f, std::nanf("1"), -std::nanf("")}) {
    for (const std::size_t place : {0, 1777, 29999}) {
      auto input = keys::make<float>(keys::Pattern::low_bits, 30000, random);
      for (float& key : input) key = std::abs(key) < 1 ? 0.0f : 1.0f;
      input[place] = special;
      SCOPED_TRACE(text_of(shapes[1], input.size()) + ", place " + std::to_string(place));
      expect_sorted(input, Order::ascending, shapes[1]);
      if (::testing::Test::HasFailure()) return;
    }
  }
}

/// Sorts keys alone and returns whether this kernel counted them and no key was moved.
template <class Key>
bool counts_and_sorts(std::vector<Key> input, Order order, const std::string& kernel = "CountKeys",
                      const Shape& shape = shapes[3], bool parts_words = false) {
  using Codec = codec_of<Key>;
  using Word = typename Codec::key_type;
  kradix::Plan plan = plan_of(input.size(), sizeof(Key), {0, Codec::bits}, shape);
  plan.value_bytes = 0;
  plan.parts_words = parts_words;
  ScratchList list;
  const BlockedRadixScratch scratch = BlockedRadixScratch::list(plan, list);
  std::vector<std::byte> memory(list.bytes());
  std::byte* const base = aligned_scratch(memory.data());
  auto* const words = reinterpret_cast<Word*>(input.data());
  const std::vector<Key> before = input;
  const SortBuffers<Word, NoValue> buffers{{words, words, nullptr}, {}, false, false};
  const Host exec;
  {
    const Listener listener;
    BlockedRadix<Host, Codec, NoValue>(exec, plan, make_codec<Key>(order), buffers, scratch, base,
                                       "test")
        .sort();
    exec.fence();
  }
  const auto indices = reference::sorted_indices(before, order);
  for (std::size_t i = 0; i < input.size(); ++i) {
    EXPECT_EQ(keys::bytes_of(input[i]), keys::bytes_of(before[indices[i]])) << i;
    if (::testing::Test::HasFailure()) break;
  }
  bool counted = false, moved = false;
  for (const Event& event : Listener::of(Event::kernel)) {
    counted |= event.label == "test::blocked_radix::" + kernel;
    moved |= event.label == "test::blocked_radix::PartitionBlocks";
  }
  return counted && !moved;
}

/// That the sample of so many keys does not look at.
std::size_t unsampled_place(std::size_t count) {
  const std::size_t size = BucketSample::size_of(count);
  std::size_t place = 100;
  for (std::size_t i = 0; i < size; ++i) place += BucketSample::place(i, size, count) == place;
  return place;
}

TEST(BlockedRadix, KeysAloneOfFewValuesAreCounted) {
  std::mt19937_64 random{keys::fresh_seed()};
  SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
  for (const Order order : {Order::ascending, Order::descending}) {
    EXPECT_TRUE(
        counts_and_sorts(keys::make<std::int8_t>(keys::Pattern::uniform, 30011, random), order));
    std::vector<std::uint64_t> wide(30011);  // too many values for a sample to see each
    for (std::uint64_t& key : wide) key = random() % 2000;
    EXPECT_TRUE(counts_and_sorts(wide, order));
    const std::size_t odd = unsampled_place(wide.size());
    wide[odd] ^= std::uint64_t{1} << 50;
    EXPECT_FALSE(counts_and_sorts(wide, order));
    EXPECT_FALSE(
        counts_and_sorts(keys::make<std::uint32_t>(keys::Pattern::uniform, 30011, random), order));
    std::vector<float> numbers(30011);
    for (float& number : numbers) number = 1 + static_cast<float>(random() % 1024) / 1024;
    EXPECT_TRUE(counts_and_sorts(numbers, order));
    numbers[odd] = -std::nanf("");
    EXPECT_FALSE(counts_and_sorts(numbers, order));
  }
}

/// In bytes, which turn over where a value comes more than 255 times, or by the million.
template <class Key>
void count_in_bytes() {
  std::mt19937_64 random{keys::fresh_seed()};
  SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
  constexpr Shape shape{65536, 262144, 10, 3};
  constexpr std::uint64_t values = 131001;
  std::vector<Key> input(20 * values + 13);
  for (std::size_t i = 0; i < input.size(); ++i) {
    const std::uint64_t often = i % 64 == 0 ? 333 * (i % 3) : random() % values;
    input[i] = static_cast<Key>(often << 3 | 5);
  }
  const std::size_t odd = unsampled_place(input.size());
  for (const Order order : {Order::ascending, Order::descending}) {
    for (const bool parts_words : {false, true}) {
      EXPECT_TRUE(counts_and_sorts(input, order, "AddBytes", shape, parts_words));
      auto others = input;
      others[odd] ^= Key{1} << 30;
      EXPECT_FALSE(counts_and_sorts(others, order, "AddBytes", shape, parts_words));
      // Too few for each value.
      others.resize(8 * values);
      EXPECT_FALSE(counts_and_sorts(others, order, "AddBytes", shape, parts_words));
      if (::testing::Test::HasFailure()) return;
    }
  }
}
TEST(BlockedRadix, KeysAloneOfManyValuesAreCountedInBytes) {
  count_in_bytes<std::uint32_t>();
  count_in_bytes<std::int64_t>();
}

/// Where the plan has SIMD part words, and Highway is at hand; few kinds are counted all the same.
template <class Key>
void part_words() {
#ifdef KRADIX_ENABLE_HIGHWAY
  constexpr bool with_highway = true;
#else
  constexpr bool with_highway = false;
#endif
  std::mt19937_64 random{keys::fresh_seed()};
  SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
  constexpr Shape shape{4096, 32768, 10, 3};
  for (const Order order : {Order::ascending, Order::descending}) {
    for (const keys::Pattern pattern : keys::all_patterns) {
      const auto input = keys::make<Key>(pattern, 60013, random);
      const bool parts = counts_and_sorts(input, order, "SortParts", shape, true);
      // Words of 8 bytes that spread go to buckets sooner with vectors of 32 bytes.
      const bool parts_spread = with_highway && (sizeof(Key) == 4 || has_wide_simd());
      if (pattern == keys::Pattern::uniform) {
        EXPECT_EQ(parts, parts_spread);
      }
      if (::testing::Test::HasFailure()) return;
    }
    // No sample misses one of so few, and each finds a home.
    std::vector<Key> kinds(25), input(60013);
    for (std::size_t k = 0; k < kinds.size(); ++k) kinds[k] = static_cast<Key>(k * 1000003);
    for (Key& key : input) key = kinds[random() % kinds.size()];
    EXPECT_TRUE(counts_and_sorts(input, order, "CountFrequentKinds", shape, true));
    // A rest of so many others would not pay.
    for (Key& key : input) key = random() % 2 == 0 ? key : static_cast<Key>(random());
    EXPECT_EQ(counts_and_sorts(input, order, "SortParts", shape, true), with_highway);
  }
}
TEST(BlockedRadix, WordsArePartedWhereThePlanSaysSo) {
  part_words<std::uint32_t>();
  part_words<std::int32_t>();
  part_words<std::uint64_t>();
  part_words<std::int64_t>();
}

/// Of scattered kinds, of which a sample misses some.
template <class Key>
void count_kinds() {
  std::mt19937_64 random{keys::fresh_seed()};
  SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
  constexpr Shape shape{4096, 16384, 10, 3};
  constexpr std::size_t count = 70001;  // more than one thread sorts by SIMD
  const std::string kernel = "CountFrequentKinds";
  const auto any = [&] { return static_cast<Key>(static_cast<std::int64_t>(random())); };  // no NaN
  const std::size_t size = BucketSample::size_of(count);
  std::vector<std::size_t> unseen;
  for (std::size_t i = 0; i < size; ++i) {
    const std::size_t stretch = count / size, place = BucketSample::place(i, size, count);
    for (std::size_t at = i * stretch; at < (i + 1) * stretch; ++at) {
      if (at != place) unseen.push_back(at);
    }
  }
  for (const Order order : {Order::ascending, Order::descending}) {
    for (const std::size_t distinct : {2, 30, 60}) {
      SCOPED_TRACE(distinct);
      std::vector<Key> kinds(distinct), input(count);
      for (Key& kind : kinds) kind = any();
      kinds[0] = Key{0};
      for (Key& key : input) key = kinds[random() % distinct];
      EXPECT_TRUE(counts_and_sorts(input, order, kernel, shape));
      for (int i = 0; i < 300; ++i) input[unseen[random() % unseen.size()]] = any();
      EXPECT_TRUE(counts_and_sorts(input, order, kernel, shape));
      for (const std::size_t place : unseen) {
        if (place % 8 == 0) input[place] = any();
      }
      EXPECT_TRUE(counts_and_sorts(input, order, kernel, shape));
      // A rest of which much is alike, and so long that its sort moves it.
      for (const std::size_t place : unseen) {
        if (place % 3 != 0) input[place] = place % 2 == 0 ? any() : kinds[0] / 2;
      }
      EXPECT_FALSE(counts_and_sorts(input, order, kernel, shape));
    }
  }
}

TEST(BlockedRadix, KeysAloneOfFewKindsAreCounted) {
  count_kinds<std::int32_t>();
  count_kinds<std::uint64_t>();
  count_kinds<double>();
}

/// Where SIMD sorts that many in place.
TEST(BlockedRadix, KeysAloneOfFewKindsAreSortedByOneThread) {
  std::mt19937_64 random{keys::fresh_seed()};
  SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
  constexpr Shape shape{4096, 16384, 10, 3};
  constexpr std::size_t count = 20000;
  bool serves = false;
#ifdef KRADIX_ENABLE_HIGHWAY
  serves = count <= SimdLeaf<std::uint32_t>::in_place.most();
#endif
  const auto is_alone = [&](const std::vector<std::int32_t>& input) {
    for (const Order order : {Order::ascending, Order::descending}) {
      if (!counts_and_sorts(input, order, "SortAlone", shape)) return false;
    }
    return true;
  };
  std::vector<std::int32_t> input(count);
  for (std::int32_t& key : input) key = random() % 2 == 0 ? -77 : 1 << 30;
  EXPECT_EQ(is_alone(input), serves);
  for (std::int32_t& key : input) key = random() % 50 == 0 ? static_cast<int>(random()) : 5;
  EXPECT_EQ(is_alone(input), serves);
  for (std::int32_t& key : input) key = static_cast<int>(random() % 20 * 0x0fedcba9);
  EXPECT_FALSE(is_alone(input));
  input.resize(std::size_t{1} << 14);
  EXPECT_EQ(is_alone(input), serves);
  for (std::int32_t& key : input) key = static_cast<int>(random());
  EXPECT_FALSE(is_alone(input));
}

/// Floats by an order in which some are equal: those cannot be made again.
TEST(BlockedRadix, KindsThatTheQuickOrderCannotStoreAreSortedToo) {
  std::mt19937_64 random{keys::fresh_seed()};
  SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
  const auto kinds = keys::awkward<float>();
  std::vector<float> input(60013);
  for (float& key : input) key = kinds[random() % kinds.size()];
  EXPECT_FALSE(
      counts_and_sorts(input, Order::ascending, "CountFrequentKinds", {4096, 16384, 10, 3}));
}

/// Sorts keys with the index of each as its value; were they labelled?
template <class Key>
bool labels_and_sorts(const std::vector<Key>& input, Order order, const Shape& shape) {
  const Listener listener;
  expect_sorted(input, order, shape);
  for (const Event& event : Listener::of(Event::kernel)) {
    if (event.label == "test::blocked_radix::PutKinds") return true;
  }
  return false;
}

/// Elements of few kinds, and others in places that the sample does not take.
template <class Key>
void sort_kinds() {
  std::mt19937_64 random{keys::fresh_seed()};
  constexpr Shape shape{4096, 16384, 10, 3};
  constexpr std::size_t count = 60013;
  const std::size_t size = BucketSample::size_for_labels(count);
  const auto any = [&] { return static_cast<Key>(static_cast<std::int64_t>(random())); };  // no NaN
  for (const Order order : {Order::ascending, Order::descending}) {
    for (const std::size_t distinct : {1, 2, 3, 16, 60, 150}) {
      for (const std::size_t missed : {0, 1, 100, 9000}) {
        SCOPED_TRACE(text_of(shape, count) + ", kinds " + std::to_string(distinct) + ", missed " +
                     std::to_string(missed));
        std::vector<Key> kinds(distinct), input(count);
        for (Key& kind : kinds) kind = any();
        for (Key& key : input) key = kinds[random() % distinct];
        for (std::size_t m = 0; m < missed; ++m) {
          const std::size_t stretch = count / size, i = random() % size;
          const std::size_t place = BucketSample::place(i, size, count);
          const std::size_t other =
              i * stretch + (place - i * stretch + 1 + random() % (stretch - 1)) % stretch;
          input[other] = m % 4 == 0 ? kinds[0] / 2 : any();
        }
        const bool labelled = labels_and_sorts(input, order, shape);
        if (distinct == 16 || distinct == 60) {
          EXPECT_TRUE(labelled);
        }
        // Two and fewer are split off, but where SIMD moves values.
        if (distinct == 1) {
          using Simd = SimdKinds<typename codec_of<Key>::key_type, std::uint32_t>;
          EXPECT_EQ(labelled, missed > 0 && Simd::most() > 0);
        }
        if (::testing::Test::HasFailure()) return;
      }
    }
  }
}

TEST(BlockedRadix, PairsOfFewKindsAreSorted) {
  sort_kinds<std::int32_t>();
  sort_kinds<std::uint64_t>();
  sort_kinds<double>();
}

/// Sorts keys with values that say where each was. Were they labelled?
template <class Key, class Value>
bool moves_values_and_sorts(const std::vector<Key>& input, Order order, const Shape& shape) {
  using Codec = codec_of<Key>;
  using Word = typename Codec::key_type;
  kradix::Plan plan = plan_of(input.size(), sizeof(Key), {0, Codec::bits}, shape);
  plan.value_bytes = sizeof(Value);
  ScratchList list;
  const BlockedRadixScratch scratch = BlockedRadixScratch::list(plan, list);
  std::vector<std::byte> memory(list.bytes());
  std::vector<Word> words(input.size());
  std::memcpy(words.data(), input.data(), input.size() * sizeof(Word));
  std::vector<Value> values(input.size());
  const auto value_of = [](std::size_t i) {
    return static_cast<Value>(~(Value{1} << 40 % (8 * sizeof(Value))) ^ i);
  };
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = value_of(i);
  const SortBuffers<Word, Value> buffers{
      {words.data(), words.data(), nullptr}, {values.data(), values.data(), nullptr}, false, false};
  const Host exec;
  const Listener listener;
  BlockedRadix<Host, Codec, Value>(exec, plan, make_codec<Key>(order), buffers, scratch,
                                   aligned_scratch(memory.data()), "test")
      .sort();
  exec.fence();
  const auto indices = reference::sorted_indices(input, order);
  for (std::size_t i = 0; i < input.size(); ++i) {
    EXPECT_EQ(values[i], value_of(indices[i])) << i;
    EXPECT_EQ(keys::bytes_of(words[i]), keys::bytes_of(input[indices[i]])) << i;
    if (::testing::Test::HasFailure()) return false;
  }
  for (const Event& event : Listener::of(Event::kernel)) {
    if (event.label == "test::blocked_radix::PutKinds") return true;
  }
  return false;
}

/// Few kinds, of which one may be most of all, and others, of which some are of kinds as well; blocks of odd sizes.
template <class Key, class Value>
void move_few() {
  std::mt19937_64 random{keys::fresh_seed()};
  const std::size_t most = SimdKinds<typename codec_of<Key>::key_type, Value>::most();
  const auto any = [&] { return static_cast<Key>(static_cast<std::int64_t>(random())); };  // no NaN
  for (const Shape& shape :
       {Shape{4096, 16384, 10, 3}, Shape{1000, 16384, 10, 2}, Shape{4097, 8192, 3, 2}}) {
    for (const std::size_t distinct : {1, 2, 3, 4, 5, 11, 12, 13}) {
      for (const std::size_t others : {0, 1, 100, 5000}) {
        for (const bool uneven : {false, true}) {
          const std::size_t count = 60000 + random() % 100;
          SCOPED_TRACE(text_of(shape, count) + ", kinds " + std::to_string(distinct) + ", others " +
                       std::to_string(others));
          std::vector<Key> kinds(distinct), input(count);
          for (Key& kind : kinds) kind = any();
          for (Key& key : input)
            key = kinds[uneven && random() % 16 != 0 ? 0 : random() % distinct];
          for (std::size_t o = 0; o < others; ++o) {
            input[random() % count] =
                o % 2 == 0 ? any() : kinds[0] / static_cast<Key>(2 + o % 8 / 2);
          }
          const bool labelled = moves_values_and_sorts<Key, Value>(
              input, uneven ? Order::descending : Order::ascending, shape);
          if (::testing::Test::HasFailure()) return;
          const bool few = distinct <= 4 && distinct + others > 2 && others <= 100;
          if (few && most > 0 && shape.block % 2 == 0) {
            EXPECT_TRUE(labelled);
          }
        }
      }
    }
  }
}

/// Of as many as a cache takes, from some thousand on.
template <class Key, class Value>
void label_alone() {
  std::mt19937_64 random{keys::fresh_seed()};
  SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
  constexpr Shape shape{4096, 16384, 10, 1};
  const auto any = [&] { return static_cast<Key>(static_cast<std::int64_t>(random())); };  // no NaN
  for (const std::size_t count : {2047, 2048, 5000, 16384}) {
    for (const std::size_t distinct : {2, 4, 12, 1000000}) {
      for (const std::size_t others : {0, 1, 60}) {
        SCOPED_TRACE(text_of(shape, count) + ", kinds " + std::to_string(distinct) + ", others " +
                     std::to_string(others));
        std::vector<Key> kinds(std::min(distinct, count)), input(count);
        for (Key& kind : kinds) kind = any();
        for (Key& key : input) key = kinds[random() % kinds.size()];
        for (std::size_t o = 0; o < others; ++o) input[random() % count] = any();
        const bool labelled = moves_values_and_sorts<Key, Value>(
            input, others > 0 ? Order::descending : Order::ascending, shape);
        if (::testing::Test::HasFailure()) return;
        const bool few = distinct == 4 || (distinct == 12 && SimdKinds<Key, Value>::most() > 0);
        if (few || count < 2048 || distinct > 12) {
          EXPECT_EQ(labelled, few && count >= 2048);
        }
      }
    }
    std::vector<Key> in_order(count);
    for (std::size_t i = 0; i < count; ++i) in_order[i] = static_cast<Key>(i * 3 / count);
    EXPECT_FALSE((moves_values_and_sorts<Key, Value>(in_order, Order::ascending, shape)));
  }
}

TEST(BlockedRadix, PairsOfFewKindsAreLabelledByOneThread) {
  label_alone<std::uint32_t, std::uint32_t>();
  label_alone<std::int64_t, std::uint64_t>();
  label_alone<double, std::uint32_t>();
}

TEST(BlockedRadix, PairsOfVeryFewKindsAreSorted) {
  move_few<std::uint32_t, std::uint32_t>();
  move_few<std::int64_t, std::uint64_t>();
  move_few<double, std::uint32_t>();
  move_few<float, std::uint64_t>();
  move_few<std::int16_t, std::uint16_t>();
  move_few<std::uint8_t, std::uint16_t>();
}

#ifdef KRADIX_ENABLE_HIGHWAY
/// By each set of instructions that this machine has, of every size around a vector's.
template <class Key, class Value>
void move_by_simd() {
  std::mt19937_64 random{keys::fresh_seed()};
  for (const std::size_t kind_count : {1, 2, 3, 4, 5, 12}) {
    if (kind_count > SimdKinds<Key, Value>::limit) break;
    for (std::size_t size = 0; size < 2200; size += size < 70 ? 1 : 97) {
      SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed() << ", kinds " << kind_count
                                        << ", size " << size);
      std::vector<Key> kinds(kind_count), keys(size), rest(size + 1), rest_expected;
      for (Key& kind : kinds) kind = static_cast<Key>(random());
      std::vector<Value> values(size), moved(size + 1), numbers(size + 1), expected;
      for (std::size_t i = 0; i < size; ++i) {
        const std::size_t k = random() % (kind_count + 1);
        keys[i] = k < kind_count ? kinds[k] : static_cast<Key>(random());
        values[i] = static_cast<Value>(random());
      }
      const Value beyond = 77;
      moved[size] = numbers[size] = beyond;
      rest[size] = 88;
      std::vector<std::uint32_t> times(kind_count + 1), counted(kind_count + 1);
      std::vector<std::size_t> places;
      for (std::size_t k = 0; k <= kind_count; ++k) {
        for (std::size_t i = 0; i < size; ++i) {
          const bool is_kind = std::find(kinds.begin(), kinds.end(), keys[i]) != kinds.end();
          if (k < kind_count ? keys[i] != kinds[k] : is_kind) continue;
          ++times[k];
          places.push_back(i);
          if (k == kind_count) rest_expected.push_back(keys[i]);
        }
      }
      count_few_kinds(keys.data(), size, kinds.data(), kind_count, counted.data());
      counted[kind_count] = times[kind_count];
      ASSERT_EQ(counted, times);
      for (const bool makes_numbers : {false, true}) {
        std::vector<Value>& result = makes_numbers ? numbers : moved;
        std::vector<Value*> to;
        std::size_t at = 0;
        for (const std::uint32_t here : times) {
          to.push_back(result.data() + at);
          at += here;
        }
        const std::size_t left =
            move_few_kinds(keys.data(), makes_numbers ? nullptr : values.data(), 1000, size,
                           kinds.data(), kind_count, to.data(), rest.data(), to[kind_count]);
        ASSERT_EQ(left, times[kind_count]);
      }
      for (std::size_t i = 0; i < size; ++i) {
        ASSERT_EQ(moved[i], values[places[i]]) << i;
        ASSERT_EQ(numbers[i], 1000 + places[i]) << i;
      }
      ASSERT_TRUE(std::equal(rest_expected.begin(), rest_expected.end(), rest.begin()));
      ASSERT_EQ(moved[size], beyond);
      ASSERT_EQ(numbers[size], beyond);
      ASSERT_EQ(rest[size], Key{88});
    }
  }
}

/// Likewise keys' labels, looked up in one slot each or in one of two; those of none to their own begin.
template <class Key>
class LabelsBySimd {
  using Homes = KindHomes<Key>;

 public:
  /// Of so many kinds, or as many as find their first homes free, among slots for so many keys.
  LabelsBySimd(std::size_t kind_count, std::size_t size, bool in_first_homes)
      : slots_(Homes::end_of(size)),
        labels_(slots_.size()),
        homes_(Homes::of(slots_.data(), size)) {
    homes_.clear();
    std::vector<std::uint32_t> times(slots_.size());
    for (std::size_t turn = 0; turn < 4 * kind_count; ++turn) {
      const Key kind = kinds_.empty() ? 0 : static_cast<Key>(random_());
      const std::size_t slot = homes_.settle(kind, times.data());
      if (slot == homes_.end() || times[slot] > 0) continue;
      if (slot != homes_.first(kind)) {
        if (in_first_homes) continue;
        has_second_ = true;
      }
      ++times[slot];
      labels_[slot].label = static_cast<std::uint32_t>(kinds_.size());
      kinds_.push_back(kind);
      if (kinds_.size() == kind_count) break;
    }
    for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
      if constexpr (requires(LabelSlot<Key> label) { label.key; }) labels_[slot].key = slots_[slot];
      if (times[slot] == 0) labels_[slot].label = 60000;
    }
  }

  void find(std::size_t size) {
    SCOPED_TRACE(::testing::Message()
                 << "seed " << keys::fresh_seed() << ", kinds " << kinds_.size() << ", bits "
                 << homes_.bits << ", size " << size);
    const std::size_t kind_count = kinds_.size();
    std::vector<Key> keys(size), missed(size + 1, Key{88}), missed_expected;
    std::vector<std::uint16_t> expected(size), found(size + 1, 77);
    for (std::size_t i = 0; i < size; ++i) {
      const std::size_t k = size % 2 == 0 ? random_() % kind_count : random_() % (2 * kind_count);
      keys[i] = k < kind_count ? kinds_[k] : static_cast<Key>(random_());
      const auto at = std::find(kinds_.begin(), kinds_.end(), keys[i]);
      expected[i] = static_cast<std::uint16_t>(at - kinds_.begin());
      if (at == kinds_.end()) missed_expected.push_back(keys[i]);
    }
    const LabelTable<Key> table{homes_.keys,
                                labels_.data(),
                                homes_.hash_factor(),
                                Homes::hash_bits - homes_.bits,
                                static_cast<std::uint16_t>(kind_count),
                                has_second_};
    ASSERT_EQ(find_labels(keys.data(), size, table, found.data(), missed.data()),
              missed_expected.size());
    ASSERT_TRUE(std::equal(expected.begin(), expected.end(), found.begin()));
    ASSERT_TRUE(std::equal(missed_expected.begin(), missed_expected.end(), missed.begin()));
    ASSERT_EQ(found[size], 77);
    ASSERT_EQ(missed[missed_expected.size()], Key{88});
    find_labels(keys.data(), size, table, found.data(), keys.data());
    ASSERT_TRUE(std::equal(expected.begin(), expected.end(), found.begin()));
    ASSERT_TRUE(std::equal(missed_expected.begin(), missed_expected.end(), keys.begin()));
  }

 private:
  std::mt19937_64 random_{keys::fresh_seed()};
  std::vector<Key> slots_, kinds_;
  std::vector<LabelSlot<Key>> labels_;
  Homes homes_;
  bool has_second_ = false;
};

template <class Key>
void label_by_simd() {
  const auto find = [](LabelsBySimd<Key> labels) {
    for (std::size_t size = 0; size < 1200; size += size < 70 ? 1 : 97) labels.find(size);
  };
  for (const std::size_t kind_count : {1, 7, 60, 900}) find({kind_count, 4 * kind_count, false});
  // Some of them in registers.
  for (const std::size_t slots : {16, 32, 64, 128, 256}) find({slots / 2, slots / 2, true});
}

TEST(SimdKinds, LabelsAreFoundAndNothingIsWrittenBeside) {
  for_all_instructions([] {
    label_by_simd<std::uint32_t>();
    label_by_simd<std::uint64_t>();
  });
}

TEST(SimdKinds, MoveValuesInOrderAndNothingBeside) {
  for_all_instructions([] {
    move_by_simd<std::uint32_t, std::uint32_t>();
    move_by_simd<std::uint32_t, std::uint64_t>();
    move_by_simd<std::uint64_t, std::uint32_t>();
    move_by_simd<std::uint64_t, std::uint64_t>();
  });
}
#endif

/// Segments have room for some times what the sample lets expect of each label, and tell where that may not be enough.
TEST(BlockedRadix, SegmentsOfLabelsTellWhereTheyMayBeFull) {
  constexpr std::size_t labels = 20, block = 4096, bytes = 24 * block;
  const auto times_of = [](std::size_t l) { return l; };
  const auto segments =
      LabelSegments::of<std::uint32_t, std::uint64_t>(labels, 4 * bytes, block, times_of);
  ASSERT_TRUE(segments.exist());
  EXPECT_GE(segments.values_at, block * sizeof(std::uint32_t));
  EXPECT_EQ(segments.values_at % sizeof(std::uint64_t), 0);
  EXPECT_LE(segments.values_at + segments.begin[labels] * sizeof(std::uint64_t), 4 * bytes);
  std::vector<std::uint32_t> at(segments.begin, segments.begin + labels);
  for (std::size_t l = 0; l < labels; ++l) {
    const std::size_t room = segments.begin[l + 1] - segments.begin[l];
    EXPECT_GE(room, segments.stretch + 2 * block * (l + 1) / (labels * (labels + 1) / 2));
    EXPECT_TRUE(segments.have_room(at.data(), labels));
    const std::uint32_t begin = at[l];
    at[l] = static_cast<std::uint32_t>(segments.begin[l + 1] - segments.stretch);
    EXPECT_TRUE(segments.have_room(at.data(), labels));
    ++at[l];
    EXPECT_FALSE(segments.have_room(at.data(), labels));
    at[l] = begin;
  }
  const auto of = [&](std::size_t some_labels, std::size_t some_bytes) {
    return LabelSegments::of<std::uint32_t, std::uint64_t>(some_labels, some_bytes, block,
                                                           times_of);
  };
  EXPECT_TRUE(of(LabelSegments::most, 40 * bytes).exist());
  EXPECT_FALSE(of(LabelSegments::most + 1, 40 * bytes).exist());
  EXPECT_FALSE(of(labels, bytes / 2).exist());
}

/// One kind takes whole blocks, which the sample of all does not tell: what has no room for that is counted.
TEST(BlockedRadix, PairsOfKindsThatLieTogetherAreLabelled) {
  std::mt19937_64 random{keys::fresh_seed()};
  constexpr Shape shape{4096, 16384, 10, 2};
  for (const std::size_t distinct : {9, 16, 40}) {
    std::vector<std::uint32_t> input(200013);
    for (std::size_t i = 0; i < input.size(); ++i) {
      const auto any = static_cast<std::uint32_t>(random());
      const bool is_alone = i >= 50000 && i < 75000;
      input[i] = any % 200 == 7 ? any : 0x9e3779b9u * (is_alone ? 3 : any % distinct);
    }
    SCOPED_TRACE(text_of(shape, input.size()) + ", kinds " + std::to_string(distinct));
    EXPECT_TRUE(labels_and_sorts(input, Order::ascending, shape));
    std::vector<std::uint64_t> longer(input.begin(), input.end());
    EXPECT_TRUE(labels_and_sorts(longer, Order::descending, shape));
  }
}

/// Keys that come back after as many places as a sample's stretches have are all seen.
TEST(BlockedRadix, PairsOfKindsInTurnAreLabelled) {
  constexpr Shape shape{4096, 16384, 10, 2};
  std::vector<std::uint32_t> input(std::size_t{1} << 18);
  for (std::size_t i = 0; i < input.size(); ++i) input[i] = static_cast<std::uint32_t>(i % 512);
  SCOPED_TRACE(text_of(shape, input.size()));
  EXPECT_TRUE(labels_and_sorts(input, Order::ascending, shape));
}

/// More kinds than rows have places: those that come most often are labelled.
TEST(BlockedRadix, PairsOfTheMostFrequentKindsAreLabelled) {
  std::mt19937_64 random{keys::fresh_seed()};
  constexpr Shape shape{4096, 16384, 5, 2};
  std::vector<std::uint32_t> input(60013);
  for (auto& key : input) {
    const auto any = static_cast<std::uint32_t>(random());
    key = 0x9e3779b9u * (any % 10 == 0 ? any >> 20 & 63 : any >> 20 & 15);
  }
  SCOPED_TRACE(text_of(shape, input.size()));
  EXPECT_TRUE(labels_and_sorts(input, Order::ascending, shape));
}

/// Likewise of so many that some live in their second homes, and those that are not kept in nobody's.
TEST(BlockedRadix, PairsOfTheMostFrequentOfManyKindsAreLabelled) {
  std::mt19937_64 random{keys::fresh_seed()};
  constexpr Shape shape{16384, 65536, 10, 2};
  std::vector<std::uint64_t> input(300013);
  for (auto& key : input) {
    const std::uint64_t any = random();
    // A sample sees some 1050 kinds, and a twentieth of it says that there is a rest.
    key = 0x9e3779b97f4a7c15u * (any % 40 == 0 ? 980 + (any >> 32) % 2000 : (any >> 32) % 980);
  }
  SCOPED_TRACE(text_of(shape, input.size()));
  EXPECT_TRUE(labels_and_sorts(input, Order::ascending, shape));
  std::vector<std::uint32_t> shorter(input.size());
  for (std::size_t i = 0; i < input.size(); ++i) {
    shorter[i] = static_cast<std::uint32_t>(input[i] >> 16);
  }
  EXPECT_TRUE(labels_and_sorts(shorter, Order::descending, shape));
}

TEST(BlockedRadix, PairsOfKindsThatTheQuickOrderCannotStoreAreSorted) {
  std::mt19937_64 random{keys::fresh_seed()};
  constexpr Shape shape{4096, 16384, 10, 3};
  std::vector<float> input(60013);
  for (float& key : input) key = static_cast<float>(random() % 16);
  SCOPED_TRACE(text_of(shape, input.size()));
  EXPECT_TRUE(labels_and_sorts(input, Order::ascending, shape));
  input[input.size() - 2] = -0.0f;
  EXPECT_FALSE(labels_and_sorts(input, Order::ascending, shape));
  input[0] = std::nanf("");  // which the sample sees, or not
  EXPECT_FALSE(labels_and_sorts(input, Order::ascending, shape));
}

/// Numbers as they come: even in a range of which no power of two is an end, from zero to one, or nearly normal.
enum class Numbers { range, unit, normal, far };
constexpr Numbers all_numbers[] = {Numbers::range, Numbers::unit, Numbers::normal, Numbers::far};

std::vector<double> numbers(Numbers kind, std::size_t count, std::mt19937_64& random) {
  constexpr double ends[][2] = {{-173.25, 411.5}, {0, 1}, {}, {1e18, 1.5e18}};
  const auto [low, high] = ends[static_cast<int>(kind)];
  std::uniform_real_distribution<double> even(low, high);
  std::normal_distribution<double> normal;
  std::vector<double> found(count);
  for (double& number : found) number = kind == Numbers::normal ? normal(random) : even(random);
  return found;
}

/// Doubles alone, which are ordered by all of their bits.
void sort_doubles_alone(const std::vector<double>& input, Order order, const Shape& shape) {
  using Codec = kradix::impl::TotalOrderCodec<std::uint64_t>;
  const Codec codec = kradix::impl::total_order(make_codec<double>(order));
  kradix::Plan plan = plan_of(input.size(), sizeof(double), {0, 64}, shape);
  plan.value_bytes = 0;
  ScratchList list;
  const BlockedRadixScratch scratch = BlockedRadixScratch::list(plan, list);
  std::vector<std::byte> memory(list.bytes());
  std::vector<std::uint64_t> words(input.size());
  std::memcpy(words.data(), input.data(), input.size() * sizeof(double));
  auto expected = words;
  std::sort(expected.begin(), expected.end(),
            [&](std::uint64_t a, std::uint64_t b) { return codec.encode(a) < codec.encode(b); });
  const SortBuffers<std::uint64_t, NoValue> buffers{
      {words.data(), words.data(), nullptr}, {}, false, false};
  const Host exec;
  BlockedRadix<Host, Codec, NoValue>(exec, plan, codec, buffers, scratch,
                                     aligned_scratch(memory.data()), "test")
      .sort();
  exec.fence();
  ASSERT_EQ(words, expected);
}

TEST(BlockedRadix, NumbersAreSortedByTheirValues) {
  std::mt19937_64 random{keys::fresh_seed()};
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (const Shape& shape : shapes) {
    for (const Numbers kind : all_numbers) {
      for (const Order order : {Order::ascending, Order::descending}) {
        auto input = numbers(kind, 200 * shape.block + 9, random);
        SCOPED_TRACE(text_of(shape, input.size()) + ", numbers " +
                     std::to_string(static_cast<int>(kind)));
        sort_doubles_alone(input, order, shape);
        expect_sorted(input, order, shape);
        if (::testing::Test::HasFailure()) return;
        if (shape.teams < 3) continue;
        for (const double special :
             {-0.0, 5e-324, infinity, -infinity, std::nan("1"), -std::nan("1")}) {
          auto with = input;
          with[unsampled_place(input.size())] = special;
          sort_doubles_alone(with, order, shape);
          expect_sorted(with, order, shape);
        }
        if (::testing::Test::HasFailure()) return;
      }
    }
  }
}

/// One thread rounds up, others do not know of it.
TEST(BlockedRadix, NumbersAreSortedHoweverAThreadRounds) {
  std::mt19937_64 random{keys::fresh_seed()};
  const unsigned nearest = DoubleSteps::rounding_of_thread();
  const int before = std::fegetround();
  for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    ASSERT_EQ(std::fesetround(mode), 0);
    EXPECT_NE(DoubleSteps::rounding_of_thread(), nearest);
    EXPECT_FALSE((DoubleSteps{{}, 0, 1, 1, nearest}.are_same_here()));
    const auto input = numbers(Numbers::normal, 60013, random);
    SCOPED_TRACE(text_of(shapes[3], input.size()));
    sort_doubles_alone(input, Order::ascending, shapes[3]);
    std::fesetround(before);
  }
  EXPECT_EQ(DoubleSteps::rounding_of_thread(), nearest);
}

template <class Key>
void sort_ranges() {
  std::mt19937_64 random{keys::fresh_seed()};
  constexpr Key least = std::numeric_limits<Key>::min(), greatest = std::numeric_limits<Key>::max();
  for (const Shape& shape : shapes) {
    for (const Order order : {Order::ascending, Order::descending}) {
      std::vector<Key> input(200 * shape.block + 9);
      const Key from = least / 3 + greatest / 5, to = greatest / 5 * 3;
      std::uniform_int_distribution<Key> in_range(from, to);
      for (Key& key : input) key = in_range(random);
      SCOPED_TRACE(text_of(shape, input.size()));
      expect_sorted(input, order, shape);
      counts_and_sorts(input, order, "", shape);
      input[unsampled_place(input.size())] = least;
      input[unsampled_place(input.size()) + 1] = greatest;
      expect_sorted(input, order, shape);
      counts_and_sorts(input, order, "", shape);
      if (::testing::Test::HasFailure()) return;
    }
  }
}

TEST(BlockedRadix, KeysOfARangeAreSortedByItsSteps) {
  sort_ranges<std::uint32_t>();
  sort_ranges<std::int32_t>();
  sort_ranges<std::uint64_t>();
  sort_ranges<std::int64_t>();
}

TEST(BlockedRadix, SkewedKeysAloneAreSorted) {
  std::mt19937_64 random{keys::fresh_seed()};
  for (const Shape& shape : shapes) {
    for (const Skew skew : all_skews) {
      for (const Order order : {Order::ascending, Order::descending}) {
        SCOPED_TRACE(text_of(shape, 200 * shape.block + 9) + ", skew " +
                     std::to_string(static_cast<int>(skew)));
        const auto wide = skewed(skew, 200 * shape.block + 9, random);
        counts_and_sorts(wide, order, "", shape);
        std::vector<float> numbers(wide.size());
        for (std::size_t i = 0; i < wide.size(); ++i) numbers[i] = static_cast<float>(wide[i]);
        counts_and_sorts(numbers, order, "", shape);
        if (::testing::Test::HasFailure()) return;
      }
    }
  }
}

/// A sorted sample of `size` keys: each of `kinds` so often, the others only once.
std::vector<std::uint64_t> sample_of(std::size_t size, std::size_t kinds, std::size_t times,
                                     std::mt19937_64& random) {
  std::vector<std::uint64_t> sample;
  for (std::size_t k = 0; k < kinds; ++k) sample.insert(sample.end(), times, random());
  while (sample.size() < size) sample.push_back(random());
  std::sort(sample.begin(), sample.end());
  return sample;
}

TEST(Buckets, SplitOffWhatIsAThirdOfTheRest) {
  std::mt19937_64 random{keys::fresh_seed()};
  SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
  auto buckets = std::make_unique<Buckets<std::uint64_t>>();
  const auto splits_of = [&](const std::vector<std::uint64_t>& sample, bool makes_keys) {
    buckets->take_table(sample.data(), sample.size(), ~std::uint64_t{0}, makes_keys, 8, {8, 10});
    return buckets->splits;
  };
  EXPECT_EQ(splits_of(sample_of(4096, 0, 0, random), true), 0u);
  EXPECT_EQ(splits_of(sample_of(4096, 10, 200, random), true), 0u);
  EXPECT_EQ(splits_of(sample_of(4096, 2, 2048, random), false), 0u) << "keys travel";
  EXPECT_EQ(splits_of(sample_of(4096, 2, 2048, random), true), 2u);
  auto sample = sample_of(4096, 1, 2500, random);
  std::fill_n(sample.begin(), 1000, 0);
  std::sort(sample.begin(), sample.end());
  ASSERT_EQ(splits_of(sample, true), 2u);
  EXPECT_EQ(buckets->only_key(buckets->split[0]), sample[sample.size() / 2]);
  EXPECT_EQ(buckets->only_key(buckets->split[1]), 0u);
  std::size_t ones = 0;
  for (std::size_t b = 0; b < buckets->count; ++b) ones += buckets->holds_one_key(b);
  EXPECT_EQ(ones, 2u);
}

/// Keys crowded in eight places far apart. The greatest key there is shares a cell with a more frequent one, and with
/// others.
std::vector<std::uint32_t> crowded_keys(std::size_t count, std::mt19937_64& random) {
  std::vector<std::uint32_t> keys(count);
  for (auto& key : keys) {
    const auto top = static_cast<std::uint32_t>(((random() % 8 + 1) << 29) - 1);
    const std::uint32_t one_of[] = {top, top - static_cast<std::uint32_t>(random() % 1000)};
    key = random() % 2 == 0 ? top - 1000 : one_of[random() % 2];
  }
  return keys;
}

/// What buckets a sample gets: a digit where that spreads it, else steps of words or of values.
TEST(Buckets, AreStepsWhereThoseAreEven) {
  std::mt19937_64 random{keys::fresh_seed()};
  SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
  constexpr std::size_t size = 4096, most = 24;
  constexpr BucketBits bits{9, 11};
  const EncodedOrder<std::uint64_t, true> order{make_codec<double>(Order::ascending),
                                                ~std::uint64_t{0}};
  auto buckets = std::make_unique<Buckets<std::uint64_t>>();
  std::vector<std::uint32_t> counters(max_buckets);
  std::vector<std::uint64_t> sample(size);
  const auto spread_by_digit = [&] {
    return buckets->choose(sample.data(), size, bits, counters.data());
  };
  const auto take_steps = [&] { return buckets->take_steps(sample.data(), size, bits, most); };
  const auto take_values = [&] {
    return buckets->take_values(stored_doubles(order), sample.data(), size, bits, most);
  };
  const auto expect_order = [&](const auto& bucket_of) {
    for (const std::uint64_t key : sample) {
      const std::size_t b = bucket_of(key);
      ASSERT_LT(b, buckets->count);
      ASSERT_LE(buckets->least_of(b), key);
      ASSERT_TRUE(b + 1 == buckets->count || key < buckets->least_of(b + 1));
      ASSERT_TRUE(b == 0 || bucket_of(buckets->least_of(b)) == b);
      ASSERT_TRUE(b == 0 || bucket_of(buckets->least_of(b) - 1) < b);
    }
    EXPECT_EQ(bucket_of(sample[0]), 0u);
    EXPECT_EQ(bucket_of(sample[size - 1]), buckets->count - 1);
  };
  const std::uint64_t from = std::uint64_t{0x7fff} << 48, width = std::uint64_t{3} << 47;
  for (auto& key : sample) key = from + random() % width;
  std::sort(sample.begin(), sample.end());
  EXPECT_FALSE(spread_by_digit());
  ASSERT_TRUE(take_steps());
  expect_order([&](std::uint64_t key) { return buckets->steps.of(key); });
  for (auto& key : sample) key = random();
  EXPECT_TRUE(spread_by_digit());
  for (const Numbers kind : {Numbers::range, Numbers::normal}) {
    const auto found = numbers(kind, size, random);
    for (std::size_t i = 0; i < size; ++i)
      sample[i] = order.enter(Kokkos::bit_cast<std::uint64_t>(found[i]));
    std::sort(sample.begin(), sample.end());
    EXPECT_FALSE(spread_by_digit());
    EXPECT_FALSE(take_steps());
    ASSERT_TRUE(take_values());
    expect_order([&](std::uint64_t key) { return buckets->values.of(key); });
    // Where steps are few a table puts them together.
    const auto values = DoubleSteps::between(stored_doubles(order), sample[0], sample[size - 1],
                                             KeyCells<std::uint64_t>::count);
    buckets->take_table(sample.data(), size, ~std::uint64_t{0}, true, 8, {6, 8}, ~std::size_t{0},
                        values);
    EXPECT_TRUE(buckets->value_steps().exist());
    EXPECT_FALSE(buckets->table_crowds(sample.data(), size, 2 * size / buckets->count));
    for (const std::uint64_t key : sample) {
      const std::size_t b = buckets->table.of(key);
      ASSERT_LE(buckets->least_of(b), key);
    }
  }
  // No steps where they would be too narrow or too wide to be told, or where most lie in one.
  const auto exist = [&](double low, double high) {
    const auto stored = [&](double value) {
      return order.enter(Kokkos::bit_cast<std::uint64_t>(value));
    };
    return DoubleSteps::between(stored_doubles(order), stored(low), stored(high), 512).exist();
  };
  for (const double end : {5e-324, 1e-300, 1e300, std::numeric_limits<double>::infinity(), 0.0}) {
    EXPECT_FALSE(exist(-end, end)) << end;
  }
  EXPECT_FALSE(exist(0, std::nan("1")));
  EXPECT_TRUE(exist(1, -1));
  for (std::size_t i = 0; i < size; ++i) {
    sample[i] =
        order.enter(Kokkos::bit_cast<std::uint64_t>(std::exp(static_cast<double>(i % 700))));
  }
  std::sort(sample.begin(), sample.end());
  EXPECT_FALSE(take_values());
}

TEST(Buckets, OfOneKeyHoldNoOther) {
  std::mt19937_64 random{keys::fresh_seed()};
  SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
  auto sample = crowded_keys(4096, random);
  std::sort(sample.begin(), sample.end());
  auto buckets = std::make_unique<Buckets<std::uint32_t>>();
  buckets->take_table(sample.data(), sample.size(), ~0u, true, 4, {8, 10});
  std::size_t alone = 0;
  for (std::uint32_t back = 0; back < 2000; ++back) {
    const std::uint32_t bucket = buckets->table.of(~0u - back);
    if (!buckets->holds_one_key(bucket)) continue;
    EXPECT_EQ(buckets->only_key(bucket), ~0u - back);
    ++alone;
  }
  EXPECT_GE(alone, 1u);
}

TEST(BlockedRadix, TheGreatestKeyBesideAMoreFrequentOne) {
  std::mt19937_64 random{keys::fresh_seed()};
  for (const Shape& shape : shapes) {
    const auto input = crowded_keys(200 * shape.block + 9, random);
    SCOPED_TRACE(text_of(shape, input.size()));
    counts_and_sorts(input, Order::ascending, "", shape);
    expect_sorted(input, Order::ascending, shape);
    std::vector<std::int32_t> least(input.size());  // the greatest in descending order
    for (std::size_t i = 0; i < input.size(); ++i) {
      least[i] = static_cast<std::int32_t>(~input[i] ^ 0x80000000u);
    }
    expect_sorted(least, Order::descending, shape);
    if (::testing::Test::HasFailure()) return;
  }
}

template <class Key>
void expect_homes() {
  std::mt19937_64 random{keys::fresh_seed()};
  for (const std::size_t size : {256, 300, 4096, 5000}) {
    using Homes = KindHomes<Key>;
    std::vector<Key> slots(Homes::end_of(size));
    const Homes homes = Homes::of(slots.data(), size);
    ASSERT_EQ(homes.end(), slots.size());
    homes.clear();
    const auto found = [&](Key key) {
      const std::size_t first = homes.first(key);
      return slots[first] == key ? first : slots[first + 1] == key ? first + 1 : homes.end();
    };
    for (int i = 0; i < 1000; ++i) {
      const auto key = static_cast<Key>(i < 20 ? i : random());
      EXPECT_EQ(found(key), homes.end()) << +key;
    }
    std::vector<std::uint32_t> times(homes.end());
    std::vector<Key> kinds(size / 4);
    std::size_t homeless = 0;
    for (Key& kind : kinds) {
      kind = static_cast<Key>(random());
      const std::size_t slot = homes.settle(kind, times.data());
      EXPECT_EQ(found(kind), slot) << +kind;
      homeless += slot == homes.end();
      if (slot != homes.end()) ++times[slot];
    }
    EXPECT_LE(homeless, kinds.size() / 16 + 4);
    for (const Key kind : kinds) {
      const std::size_t slot = found(kind);
      if (slot != homes.end()) {
        EXPECT_GT(times[slot], 0u);
      }
    }
  }
}

TEST(KindHomes, KeepWhatSettledThere) {
  SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
  expect_homes<std::uint16_t>();
  expect_homes<std::uint32_t>();
  expect_homes<std::uint64_t>();
}

TEST(EncodedOrder, GivesBackWhatItTook) {
  std::mt19937_64 random{keys::fresh_seed()};
  for (const Order order : {Order::ascending, Order::descending}) {
    const auto codec = make_codec<float>(order);
    const EncodedOrder<std::uint32_t, true> quick{codec, ~0u};
    for (int turn = 0; turn < 100000; ++turn) {
      const auto word = static_cast<std::uint32_t>(random());
      const float value = keys::from_bits<float>(word);
      EXPECT_EQ(quick.leave(quick.enter(word)), word);
      const bool special = std::isnan(value) || word == 0x80000000u;
      EXPECT_EQ(quick.special(word) >> 31 != 0, special) << word;
      if (!special) {
        EXPECT_EQ(quick.bits(quick.enter(word)), codec.encode(word)) << word;
      }
    }
    EXPECT_NE(quick.special(0x80000000u) >> 31, 0u);
    EXPECT_EQ(quick.special(0u) >> 31, 0u);
    EXPECT_EQ(quick.special(0xff800000u) >> 31, 0u) << "minus infinity";
  }
}

TEST(DigitStack, CoversFromTheTopDown) {
  for (const std::uint64_t varying :
       {~std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1} << 63, std::uint64_t{0xf00f},
        std::uint64_t{0x8000100020004001}, std::uint64_t{0x00ffffff00000000}}) {
    for (std::size_t count = 2; count < 1 << 20; count *= 3) {
      const DigitStack digits = DigitStack::choose(varying, count);
      std::uint64_t left = varying;
      for (int d = 0; d < digits.count; ++d) {
        const Digit digit = digits.digit[d];
        EXPECT_LE(std::size_t{digit.mask} + 1, DigitStack::counters);
        EXPECT_EQ(left >> digit.shift & ~std::uint64_t{digit.mask}, 0u) << "bits above are done";
        EXPECT_NE(varying >> digit.shift & 1, 0u);
        left &= low_mask<std::uint64_t>(digit.shift);
      }
      EXPECT_TRUE(left == 0 || digits.covered > static_cast<int>(std::bit_width(count)))
          << varying << ' ' << count;
    }
  }
}

TEST(CacheSort, SortsRunsOfKeysThatPassesLeaveTogether) {
  SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
  std::mt19937_64 random{keys::fresh_seed()};
  using Rec = Record<std::uint64_t, std::uint32_t>;
  const EncodedOrder<std::uint64_t, false> order{make_codec<std::uint64_t>(Order::ascending),
                                                 ~std::uint64_t{0}};
  std::vector<std::uint32_t> counters(DigitStack::counters);
  const CacheSort<EncodedOrder<std::uint64_t, false>, Rec> sort(order, counters.data());
  for (int turn = 0; turn < 600; ++turn) {
    // Runs end within groups of neighbours or fill some of them, and hold one key, or few or many others.
    const std::size_t count = 30 + random() % 800, longest = std::size_t{1} << random() % 8;
    const std::uint64_t others = std::uint64_t{1} << random() % 7;
    std::vector<std::uint64_t> sorted;
    while (sorted.size() < count) {
      const std::uint64_t upper = random() << 44;
      std::uint64_t lower = random() >> 24;
      for (std::size_t i = 1 + random() % longest; i > 0 && sorted.size() < count; --i) {
        if (random() % others == 0) lower = random() >> 24;
        sorted.push_back(upper | lower);
      }
    }
    std::shuffle(sorted.begin(), sorted.end(), random);
    std::vector<Rec> a;
    for (std::size_t i = 0; i < count; ++i) {
      a.emplace_back(sorted[i], static_cast<std::uint32_t>(i));
    }
    std::vector<Rec> b = a;
    const std::vector<std::uint64_t> before = sorted;
    std::sort(sorted.begin(), sorted.end());
    const Rec* const found = sort.sort(a.data(), b.data(), count, sort.survey(a.data(), count));
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_EQ(found[i].key(), sorted[i]);
      ASSERT_EQ(before[found[i].value()], sorted[i]);
      if (i > 0 && sorted[i] == sorted[i - 1]) {
        ASSERT_LT(found[i - 1].value(), found[i].value());
      }
    }
  }
}

template <class Bits>
void expect_cells_in_order(Bits low, Bits center, Bits high) {
  const auto cells = KeyCells<Bits>::around(center);
  std::mt19937_64 random{keys::fresh_seed()};
  std::vector<Bits> keys{low, center, high, 0, static_cast<Bits>(~Bits{0})};
  for (int i = 0; i < 20000; ++i) {
    const auto far =
        static_cast<Bits>(static_cast<Bits>(random()) >> (random() % (8 * sizeof(Bits))));
    keys.push_back(static_cast<Bits>(center + far));
    keys.push_back(static_cast<Bits>(center - far));
  }
  std::sort(keys.begin(), keys.end());
  for (std::size_t i = 1; i < keys.size(); ++i) {
    ASSERT_LE(cells.of(keys[i - 1]), cells.of(keys[i]));
    ASSERT_LT(cells.of(keys[i]), KeyCells<Bits>::count);
  }
  // Near the center every key has a cell of its own.
  if (center > low) {
    EXPECT_EQ(cells.of(static_cast<Bits>(center - 1)) + 1, cells.of(center));
  }
  if (center < high) {
    EXPECT_EQ(cells.of(center) + 1, cells.of(static_cast<Bits>(center + 1)));
  }
}

/// Digits counted as records came serve only if they are those of the bits that turned out to vary.
TEST(CacheSort, TakesCountedDigitsIfTheyAreItsOwn) {
  std::mt19937_64 random{keys::fresh_seed()};
  SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
  using Rec = Record<std::uint64_t, std::array<std::uint8_t, 3>>;  // passes alone sort those
  const EncodedOrder<std::uint64_t, false> order{make_codec<std::uint64_t>(Order::ascending),
                                                 ~std::uint64_t{0}};
  std::vector<std::uint32_t> counters(DigitStack::counters, 77);
  const CacheSort<EncodedOrder<std::uint64_t, false>, Rec> cache(order, counters.data());
  std::size_t served = 0;
  for (int turn = 0; turn < 400; ++turn) {
    const std::size_t count = 25 + random() % 5000;
    const int bits = 8 + static_cast<int>(random() % 50);
    const std::uint64_t expected = low_mask<std::uint64_t>(bits);
    const std::uint64_t mask = random() % 3 == 0 ? expected & random() : expected;
    std::vector<Rec> a, b;
    std::uint64_t varying = 0;
    const DigitPair ahead = cache.counted_ahead(expected, count);
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t key = random() & mask;
      const auto byte = [&](int n) { return static_cast<std::uint8_t>(i >> 8 * n); };
      a.emplace_back(key, std::array<std::uint8_t, 3>{byte(0), byte(1), byte(2)});
      varying |= key ^ a[0].key();
      for (int d = 0; d < DigitPair::size && ahead.exists(); ++d) {
        ++cache.counters_of(d)[ahead.digit[d].of(key)];
      }
    }
    served += ahead.exists() && ahead == DigitStack::choose(varying, count).pair();
    b = a;
    std::vector<Rec> reference = a;
    std::stable_sort(reference.begin(), reference.end(),
                     [](const Rec& x, const Rec& y) { return x.key() < y.key(); });
    const Rec* const sorted = cache.sort(a.data(), b.data(), count, varying, ahead);
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_EQ(sorted[i].key(), reference[i].key()) << turn << ": " << i;
      ASSERT_EQ(sorted[i].value(), reference[i].value()) << turn << ": " << i;
    }
  }
  EXPECT_GT(served, 50u);
  EXPECT_LT(served, 400u);
}

TEST(KeyCells, GrowWithTheDistanceFromTheirCenter) {
  SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
  expect_cells_in_order<std::uint8_t>(3, 40, 250);
  expect_cells_in_order<std::uint32_t>(0, 0, ~0u);
  expect_cells_in_order<std::uint32_t>(5, 1u << 31, ~0u - 7);
  expect_cells_in_order<std::uint64_t>(0, ~std::uint64_t{0}, ~std::uint64_t{0});
  expect_cells_in_order<std::uint64_t>(1, std::uint64_t{1} << 40, ~std::uint64_t{0});
  using Wide = kradix::impl::unsigned_of_bits<128>;
  expect_cells_in_order<Wide>(0, Wide{1} << 100, static_cast<Wide>(~Wide{0}));
}

TEST(BucketTable, GrowsWithTheKeyAndSetsHeavyKeysApart) {
  std::mt19937_64 random{keys::fresh_seed()};
  SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
  for (const Skew skew : all_skews) {
    auto keys = skewed(skew, 20000, random);
    std::vector<std::uint64_t> sample;
    for (std::size_t i = 0; i < keys.size(); i += 10) sample.push_back(keys[i]);
    std::sort(sample.begin(), sample.end());
    auto table = std::make_unique<BucketTable<std::uint64_t>>();
    for (const std::size_t most : {8, 32, 1024}) {
      EXPECT_LE(table->build(sample.data(), sample.size(), ~std::uint64_t{0}, most), most);
    }
    const std::size_t buckets = table->build(sample.data(), sample.size(), ~std::uint64_t{0}, 64);
    EXPECT_LE(buckets, 64u);
    keys.insert(keys.end(), {0, ~std::uint64_t{0}});
    std::sort(keys.begin(), keys.end());
    std::vector<std::size_t> sizes(buckets);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      ASSERT_LT(table->of(keys[i]), buckets);
      if (i > 0) {
        ASSERT_LE(table->of(keys[i - 1]), table->of(keys[i]));
      }
      ++sizes[table->of(keys[i])];
    }
    if (skew == Skew::heavy) {
      const std::uint64_t heavy = sample[sample.size() / 2];
      EXPECT_NE(table->of(heavy - 1), table->of(heavy));
      EXPECT_NE(table->of(heavy), table->of(heavy + 1));
    }
    if (skew == Skew::heavies) {
      EXPECT_LT(*std::max_element(sizes.begin(), sizes.end()), keys.size() / 4);
    }
  }
}

#ifdef KRADIX_ENABLE_HIGHWAY
/// With vectors of any length, tails of any size, and nothing written beside them.
TEST(BucketTable, IsSearchedBySimdAlike) {
  std::mt19937_64 random{keys::fresh_seed()};
  auto table = std::make_unique<BucketTable<std::uint32_t>>();
  bool even = false, by_width = false;
  for (const Skew skew : all_skews) {
    for (const bool all_bits : {true, false}) {
      std::vector<std::uint32_t> words, sample;
      const auto wanted = static_cast<std::uint32_t>(all_bits ? ~0u : random() | 255);
      for (const std::uint64_t key : skewed(skew, 20000, random)) {
        words.push_back(static_cast<std::uint32_t>(key >> (random() % 2 == 0 ? 32 : 0)));
      }
      words.insert(words.end(), {0u, 1u, ~0u, ~0u - 1});
      for (std::size_t i = 0; i < words.size(); i += 10) sample.push_back(words[i] & wanted);
      std::sort(sample.begin(), sample.end());
      table->build(sample.data(), sample.size(), wanted, 256);
      (table->cells.by == CellsBy::distance ? by_width : even) = true;
      for (std::int64_t left = hwy::SupportedTargets(); left != 0; left &= left - 1) {
        hwy::SetSupportedTargetsForTest(left & -left);
        SCOPED_TRACE(::testing::Message()
                     << "seed " << keys::fresh_seed() << ", skew " << static_cast<int>(skew) << ", "
                     << hwy::TargetName(left & -left));
        for (std::size_t size = 0; size <= words.size(); size += size < 70 ? 1 : 4977) {
          std::vector<std::uint16_t> found(size + 40, 7777);
          find_buckets(words.data(), size, table->numbers(), found.data());
          for (std::size_t i = 0; i < found.size(); ++i) {
            ASSERT_EQ(found[i], i < size ? table->of(words[i]) : 7777u) << words[i];
          }
        }
        hwy::SetSupportedTargetsForTest(0);
      }
    }
  }
  EXPECT_TRUE(even && by_width);
}
#endif

TEST(BucketTable, HasFinerBucketsBesideHeavyKeys) {
  std::mt19937_64 random{keys::fresh_seed()};
  SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
  auto table = std::make_unique<BucketTable<std::uint64_t>>();
  for (std::size_t kinds = 0; kinds < 300; ++kinds) {
    for (const std::size_t times : {8, 14, 30}) {
      const auto sample = sample_of(4096, kinds, times, random);
      EXPECT_LE(table->build(sample.data(), sample.size(), ~std::uint64_t{0}, 1024), 1024u);
      if (::testing::Test::HasFailure()) return;
    }
  }
  const auto sample = sample_of(4096, 130, 28, random);
  table->build(sample.data(), sample.size(), ~std::uint64_t{0}, 1024);
  std::vector<std::size_t> sizes(1024);
  for (const std::uint64_t key : sample) ++sizes[table->of(key)];
  std::size_t others = 0;
  for (const std::size_t size : sizes) others = std::max(others, size < 28 ? size : 0);
  EXPECT_LE(others, 8u) << "13 if heavy keys had their share";
}

TEST(BucketSample, TakesAPlaceOfEachStretch) {
  for (const std::size_t count : {std::size_t{2}, std::size_t{255}, std::size_t{256},
                                  std::size_t{1000}, std::size_t{12345678}}) {
    const std::size_t size = BucketSample::size_of(count);
    for (std::size_t i = 0; i < size; ++i) {
      const std::size_t place = BucketSample::place(i, size, count);
      EXPECT_GE(place, i * (count / size));
      EXPECT_LT(place, (i + 1) * (count / size));
    }
  }
}

}  // namespace
