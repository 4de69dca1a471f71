// Records split in two by SIMD, what is built of that (a sort in cache, blocks put in order of buckets), whole lines written piece by
// piece, and the look at whether words come in order: by the vectors of this machine and by shorter ones. (Through the public door
// records are split where vectors are wide.)
#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <vector>

#ifdef KRADIX_ENABLE_HIGHWAY
#include "support/instructions.hpp"
#endif

#include "kradix/impl/host/block_partition.hpp"
#include "kradix/impl/host/order.hpp"
#include "kradix/impl/host/record_sort.hpp"
#include "kradix/impl/host/trend.hpp"
#include "support/keys.hpp"

namespace {

using namespace kradix::impl;

std::string seed_text() {
  return "seed " + std::to_string(keys::fresh_seed());
}

/// Every bucket begins with its splitter; those of one key are of a key that the sample saw often.
TEST(BucketSplitters, SetFrequentKeysApart) {
  std::mt19937_64 random{keys::fresh_seed()};
  SCOPED_TRACE(seed_text());
  for (int turn = 0; turn < 500; ++turn) {
    const std::size_t room = std::size_t{8} << random() % 8, size = 1 + random() % 3000;
    const std::size_t wanted = 1 + random() % (room - room / 8);
    std::vector<std::uint32_t> sample(size);
    const std::uint64_t kinds = 1 + random() % 100;
    for (std::uint32_t& key : sample) {
      const std::uint64_t any = random();
      key = static_cast<std::uint32_t>(any % 3 == 0   ? any >> 32
                                       : any % 3 == 1 ? any / 3 % kinds * 0x01234567u
                                                      : ~(any / 3 % 2));
    }
    std::sort(sample.begin(), sample.end());
    const auto splitters = std::make_unique<BucketSplitters<std::uint32_t>>();
    const std::size_t count = splitters->build(sample.data(), size, wanted, room);
    ASSERT_LE(count, room);
    ASSERT_EQ(splitters->splitter[0], 0u);
    const std::size_t quota = std::max<std::size_t>(size / wanted, 1);
    std::size_t full = 0;
    for (std::size_t b = 0; b < count; ++b) {
      const std::uint32_t least = splitters->splitter[b];
      if (b > 0) {
        ASSERT_GT(least, splitters->splitter[b - 1]);
      }
      const auto begin = std::lower_bound(sample.begin(), sample.end(), least);
      const auto end = b + 1 < count
                           ? std::lower_bound(begin, sample.end(), splitters->splitter[b + 1])
                           : sample.end();
      const auto held = static_cast<std::size_t>(end - begin);
      if (splitters->one_key[b]) {
        ASSERT_GE(held, quota);
        ASSERT_TRUE(b + 1 == count ? least == ~0u : splitters->splitter[b + 1] == least + 1);
      } else if (held > quota) {
        ++full;
      }
    }
    if (count + 2 < room) {
      ASSERT_EQ(full, 0u) << size << " of " << wanted << " in " << room;
    }
  }
}

#ifdef KRADIX_ENABLE_HIGHWAY
template <class Word>
using OrderOf = EncodedOrder<Word, false>;
template <class Word>
using RecordOf = Record<Word, Word>;
/// Upwards, by all their bits.
template <class Word>
OrderOf<Word> whole_words() {
  return {make_codec<Word>(kradix::Order::ascending), low_mask<Word>(8 * sizeof(Word))};
}

template <class Word>
class SimdRecordsOf : public ::testing::Test {};
using Words = ::testing::Types<std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(SimdRecordsOf, Words);

constexpr std::size_t vector_bytes = 64;  ///< of the longest vectors

/// Words at an address that is no multiple of a vector's, and a vector's length behind them.
template <class Word>
std::vector<Word> room_for(std::size_t records) {
  return std::vector<Word>(2 * records + vector_bytes / sizeof(Word) + 2, Word{77});
}

TYPED_TEST(SimdRecordsOf, AreSplitInTheirOrder) {
  using Word = TypeParam;
  std::mt19937_64 random{keys::fresh_seed()};
  SCOPED_TRACE(seed_text());
  for_all_instructions([&] {
    for (std::size_t count = 0; count < 200; count += count < 70 ? 1 : 29) {
      for (const Word splitter :
           {Word{0}, Word{1}, Word{5}, Word{9}, static_cast<Word>(~Word{0})}) {
        std::vector<Word> records(2 * count), low, high;
        for (std::size_t i = 0; i < count; ++i) {
          const Word key = random() % 8 == 0 ? static_cast<Word>(~Word{0}) : random() % 10;
          records[2 * i] = key;
          records[2 * i + 1] = static_cast<Word>(i);
          auto& to = key < splitter ? low : high;
          to.insert(to.end(), {key, static_cast<Word>(i)});
        }
        for (const bool in_place : {false, true}) {
          auto from = room_for<Word>(count), to = room_for<Word>(count),
               others = room_for<Word>(count);
          std::copy(records.begin(), records.end(), from.begin() + 1);
          Word* const less = in_place ? from.data() + 1 : to.data() + 1;
          ASSERT_EQ(split_records(from.data() + 1, count, splitter, less, others.data() + 1),
                    low.size() / 2);
          ASSERT_TRUE(std::equal(low.begin(), low.end(), less)) << count;
          ASSERT_TRUE(std::equal(high.begin(), high.end(), others.data() + 1)) << count;
          ASSERT_EQ(others[0], Word{77});
          ASSERT_EQ(others.back(), Word{77});
          ASSERT_EQ(from[2 * count + 1], Word{77}) << "behind records that stay";
          if (!in_place) {
            ASSERT_EQ(to.back(), Word{77});
            ASSERT_TRUE(std::equal(records.begin(), records.end(), from.begin() + 1));
          }
        }
        auto values = room_for<Word>(count);
        values_of_records(records.data(), count, values.data());
        for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(values[i], static_cast<Word>(i));
        ASSERT_EQ(values[count], Word{77});
      }
    }
  });
}

template <class Word>
std::vector<RecordOf<Word>> records_of(std::size_t count, std::size_t kinds,
                                       std::mt19937_64& random) {
  std::vector<Word> keys(kinds);
  for (Word& key : keys) key = keys::random_bits<Word>(random);
  keys[0] = 0;
  keys[kinds - 1] = static_cast<Word>(~Word{0});
  std::vector<RecordOf<Word>> records;
  for (std::size_t i = 0; i < count; ++i) {
    // Some are more frequent than others.
    const std::size_t k = random() % 2 == 0 ? random() % kinds : random() % (kinds / 4 + 1);
    records.emplace_back(keys[k], static_cast<Word>(i));
  }
  return records;
}

TYPED_TEST(SimdRecordsOf, AreSortedInCacheWhereManyAreAlike) {
  using Word = TypeParam;
  using Rec = RecordOf<Word>;
  std::mt19937_64 random{keys::fresh_seed()};
  SCOPED_TRACE(seed_text());
  const auto order = whole_words<Word>();
  for_all_instructions([&] {
    for (const std::size_t count : {256, 257, 2047, 8191, 8192, 8193, 9999}) {
      for (const std::size_t kinds : {0, 1, 2, 3, 5, 8, 16, 40, 100, 100000}) {
        // None: one key is two thirds, the others differ.
        std::vector<Rec> expected = records_of<Word>(count, kinds > 0 ? kinds : 100000, random);
        for (std::size_t i = 0; kinds == 0 && i < count; ++i) {
          if (i % 3 != 1) expected[i] = Rec(Word{123}, expected[i].value());
        }
        auto a = room_for<Word>(count), b = room_for<Word>(count);
        Rec *const from = reinterpret_cast<Rec*>(a.data()), *const to =
                                                                reinterpret_cast<Rec*>(b.data());
        std::copy(expected.begin(), expected.end(), from);
        const bool done = RecordSort<OrderOf<Word>, Rec>(order).sort(from, to, count);
        ASSERT_EQ(b.back(), Word{77});
        if (kinds <= 5 || kinds == 100000) {
          ASSERT_EQ(done, kinds <= 5) << kinds;
        }
        if (!done) continue;
        std::stable_sort(expected.begin(), expected.end(),
                         [](const Rec& x, const Rec& y) { return x.key() < y.key(); });
        for (std::size_t i = 0; i < count; ++i) {
          ASSERT_EQ(to[i].key(), expected[i].key()) << i << " of " << count << ", " << kinds;
          ASSERT_EQ(to[i].value(), expected[i].value()) << i << " of " << count << ", " << kinds;
        }
      }
      std::vector<Rec> few = records_of<Word>(255, 2, random), other = few;
      ASSERT_FALSE((RecordSort<OrderOf<Word>, Rec>(order).sort(few.data(), other.data(), 255)));
    }
  });
}

/// Each bucket's records lie in their order where the row says, those of one key without it.
TYPED_TEST(SimdRecordsOf, GoToBucketsBetweenSplitters) {
  using Word = TypeParam;
  using Rec = RecordOf<Word>;
  std::mt19937_64 random{keys::fresh_seed()};
  SCOPED_TRACE(seed_text());
  const auto order = whole_words<Word>();
  for_all_instructions([&] {
    for (const std::size_t count : {1, 2, 63, 64, 65, 1000, 5000}) {
      for (const std::size_t kinds : {1, 2, 7, 300, 100000}) {
        const std::vector<Rec> records = records_of<Word>(count, kinds, random);
        std::vector<Word> input_keys, input_values, sample;
        for (const Rec& record : records) {
          input_keys.push_back(record.key());
          input_values.push_back(record.value());
          if (sample.empty() || random() % 4 == 0) sample.push_back(record.key());
        }
        std::sort(sample.begin(), sample.end());
        const auto buckets = std::make_unique<Buckets<Word>>();
        buckets->take_splitters(sample.data(), sample.size(),
                                {1 + static_cast<int>(random() % 6), 6});
        ASSERT_FALSE(buckets->escapes(static_cast<Word>(~Word{0})));
        auto a = room_for<Word>(count), b = room_for<Word>(count);
        std::vector<std::uint32_t> row(buckets->count + 1);
        std::vector<std::uint64_t> totals(max_buckets, 5);
        const Workbench<Rec> bench{reinterpret_cast<Rec*>(a.data()),
                                   reinterpret_cast<Rec*>(b.data()), nullptr, totals.data()};
        const bool makes_indices = random() % 2 == 0, streams = random() % 2 == 0;
        const RecordSource<Word, Word> source{
            input_keys.data(), makes_indices ? nullptr : input_values.data(), makes_indices};
        const BlockPartition<OrderOf<Word>, Word> partition(order, source, *buckets, bench);
        std::vector<std::byte> out(count * sizeof(Rec) + 1, std::byte{77});
        partition.run(0, count, reinterpret_cast<Rec*>(out.data()), row.data(), streams);
        settle_lines();
        const auto& splitters = buckets->splitters;
        for (std::size_t k = 0; k < buckets->count; ++k) {
          const std::byte* at = out.data() + row[k];
          std::size_t size = 0;
          for (const Rec& record : records) {
            const auto behind = std::upper_bound(splitters.splitter,
                                                 splitters.splitter + buckets->count, record.key());
            if (behind - splitters.splitter - 1 != static_cast<std::ptrdiff_t>(k)) continue;
            ++size;
            Word words[2];
            const std::size_t bytes = buckets->holds_one_key(k) ? sizeof(Word) : sizeof(Rec);
            std::memcpy(&words[bytes == sizeof(Word)], at, bytes);
            at += bytes;
            ASSERT_EQ(bytes == sizeof(Rec) ? words[0] : buckets->only_key(k), record.key());
            ASSERT_EQ(words[1], record.value());
          }
          ASSERT_EQ(at, out.data() + row[k + 1]) << "bucket " << k;
          ASSERT_EQ(totals[k], 5 + size);
        }
        ASSERT_EQ(out.back(), std::byte{77});
        ASSERT_EQ(a.back(), Word{77});
        ASSERT_EQ(b.back(), Word{77});
      }
    }
  });
}

TEST(SimdRecordsAre, OfAKeyAndAsLongAValue) {
  const auto exist = []<class Key, class Value>(Key, Value) {
    return SimdRecords<EncodedOrder<Key, false>, Record<Key, Value>>::exist;
  };
  EXPECT_TRUE(exist(std::uint32_t{}, float{}));
  EXPECT_TRUE(exist(std::uint64_t{}, std::uint64_t{}));
  EXPECT_FALSE(exist(std::uint32_t{}, std::uint64_t{}));
  EXPECT_FALSE(exist(std::uint16_t{}, std::uint16_t{}));
  EXPECT_FALSE(exist(std::uint32_t{}, NoValue{}));
  using Order = EncodedOrder<std::uint32_t, false>;
  using Simd = SimdRecords<Order, Record<std::uint32_t, std::uint32_t>>;
  EXPECT_FALSE(Simd::serve(Order{{}, 0xffu})) << "some bits of a key only travel";
  EXPECT_EQ(Simd::serve(Order{{}, ~0u}), has_simd());
}

/// Words in order but for one pair, wherever that is.
template <class KeyOrder>
void expect_trends(const KeyOrder& order, std::mt19937_64& random) {
  using Word = typename KeyOrder::Stored;
  const auto turn = turn_of(order);
  for (std::size_t size = 0; size < 140; size += size < 40 ? 1 : 11) {
    std::vector<Word> stored(size + 1), words(size + 1);
    const auto enter = [&] {
      for (std::size_t i = 0; i <= size; ++i) words[i] = order.leave(stored[i]);
    };
    for (Word& word : stored) word = keys::random_bits<Word>(random);
    stored[0] = static_cast<Word>(~Word{0});
    std::sort(stored.begin(), stored.end());
    enter();
    ASSERT_TRUE(never_fall(words.data(), size, turn)) << size;
    ASSERT_EQ(always_fall(words.data(), size, turn), size == 0);
    for (std::size_t i = 0; i < size; ++i) {
      if (stored[i] == stored[i + 1]) continue;
      std::swap(words[i], words[i + 1]);
      ASSERT_FALSE(never_fall(words.data(), size, turn)) << i << " of " << size;
      std::swap(words[i], words[i + 1]);
    }
    stored.erase(std::unique(stored.begin(), stored.end()), stored.end());
    if (stored.size() <= size) continue;
    std::reverse(stored.begin(), stored.end());
    enter();
    ASSERT_TRUE(always_fall(words.data(), size, turn)) << size;
    for (std::size_t i = 0; i < size; ++i) {
      const Word kept = words[i];
      words[i] = words[i + 1];  // equal keys do not fall
      ASSERT_FALSE(always_fall(words.data(), size, turn)) << i << " of " << size;
      words[i] = kept;
    }
    std::fill(words.begin(), words.end(), words[0]);
    ASSERT_TRUE(never_fall(words.data(), size, turn)) << size;
    for (std::size_t i = 1; i < size; ++i) {
      words[i] = static_cast<Word>(words[0] ^ Word{1} << i % (8 * sizeof(Word)));
      ASSERT_FALSE(never_fall(words.data(), size, turn)) << i << " of " << size;
      words[i] = words[0];
    }
  }
}

TYPED_TEST(SimdRecordsOf, KeysFollowTrends) {
  using Word = TypeParam;
  std::mt19937_64 random{keys::fresh_seed()};
  SCOPED_TRACE(seed_text());
  using Signed = std::make_signed_t<Word>;
  using Float = std::conditional_t<sizeof(Word) == 4, float, double>;
  const Word all = low_mask<Word>(8 * sizeof(Word));
  for_all_instructions([&] {
    for (const kradix::Order direction : {kradix::Order::ascending, kradix::Order::descending}) {
      expect_trends(OrderOf<Word>{make_codec<Word>(direction), all}, random);
      expect_trends(OrderOf<Word>{make_codec<Signed>(direction), all}, random);
      expect_trends(EncodedTotalOrder<Word>{total_order(make_codec<Float>(direction)), all},
                    random);
      if (::testing::Test::HasFailure()) return;
    }
  });
}
#endif

}  // namespace
