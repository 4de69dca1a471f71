// Records put in order by words of a few bits of their keys and their places: words of both lengths, by the vectors of this
// machine and by shorter ones. (Through the public door they are where vectors are wide.)
#include <algorithm>
#include <gtest/gtest.h>
#include <vector>

#ifdef KRADIX_ENABLE_HIGHWAY
#include "support/instructions.hpp"
#endif

#include "kradix/impl/host/cache_sort.hpp"
#include "kradix/impl/host/order.hpp"
#include "support/keys.hpp"

namespace {

#ifdef KRADIX_ENABLE_HIGHWAY
using kradix::Order;
using kradix::impl::bit_width_of;
using kradix::impl::CodecOrder;
using kradix::impl::EncodedOrder;
using kradix::impl::low_mask;
using kradix::impl::PlaceSort;
using kradix::impl::PlaceWords;
using kradix::impl::Record;

/// So many records, and some behind them that are nobody's.
template <class Rec>
class Array {
 public:
  explicit Array(std::size_t count)
      : count_(count), bytes_((count + beyond) * sizeof(Rec), std::byte{77}) {}
  Rec* data() { return reinterpret_cast<Rec*>(bytes_.data()); }
  void expect_nothing_beyond(std::size_t scratch_bytes = 0) const {
    for (std::size_t b = count_ * sizeof(Rec) + scratch_bytes; b < bytes_.size(); ++b) {
      ASSERT_EQ(bytes_[b], std::byte{77}) << "beyond " << count_ << " records";
    }
  }

 private:
  static constexpr std::size_t beyond = 16;
  std::size_t count_;
  std::vector<std::byte> bytes_;
};

/// By PlaceSort with such words or, `whole`, as a cache's records are sorted.
template <class Word, class KeyOrder, class Rec>
std::vector<Rec> sorted(const KeyOrder& order, const std::vector<Rec>& input, bool whole) {
  Array<Rec> a(input.size()), b(input.size());
  std::copy(input.begin(), input.end(), a.data());
  typename KeyOrder::Bits varying = 0;
  for (const Rec& record : input) {
    varying |= order.masked(record.key()) ^ order.masked(input[0].key());
  }
  const Rec* result = b.data();
  if (whole) {
    std::vector<std::uint32_t> counters(kradix::impl::DigitStack::counters);
    const kradix::impl::CacheSort<KeyOrder, Rec> cache(order, counters.data());
    result = cache.sort(a.data(), b.data(), input.size(), varying);
  } else {
    PlaceSort<KeyOrder, Rec, Word>(order, input.size(), varying).sort(a.data(), b.data());
  }
  a.expect_nothing_beyond();
  b.expect_nothing_beyond(whole ? 64 : 0);  // a vector
  return {result, result + input.size()};
}

/// Compares with a stable sort.
template <class Value, class Word, class KeyOrder>
void expect_sorted(const KeyOrder& order, const std::vector<typename KeyOrder::Stored>& keys,
                   bool whole) {
  using Rec = Record<typename KeyOrder::Stored, Value>;
  std::vector<Rec> input;
  for (std::size_t i = 0; i < keys.size(); ++i) input.emplace_back(keys[i], static_cast<Value>(i));
  const std::vector<Rec> result = sorted<Word>(order, input, whole);
  std::stable_sort(input.begin(), input.end(), [&](const Rec& a, const Rec& b) {
    return order.masked(a.key()) < order.masked(b.key());
  });
  for (std::size_t i = 0; i < keys.size(); ++i) {
    ASSERT_EQ(result[i].value(), input[i].value()) << i;
    ASSERT_EQ(keys::bytes_of(result[i].key()), keys::bytes_of(input[i].key())) << i;
  }
}

template <class Key>
using WordOrder = EncodedOrder<kradix::impl::unsigned_of_size<sizeof(Key)>, false>;

/// Keys of a pattern as an order stores them.
template <class Key>
std::vector<typename WordOrder<Key>::Stored> stored(keys::Pattern pattern, std::size_t size,
                                                    std::mt19937_64& random) {
  std::vector<typename WordOrder<Key>::Stored> words;
  for (const Key& key : keys::make<Key>(pattern, size, random)) {
    words.push_back(Kokkos::bit_cast<typename WordOrder<Key>::Stored>(key));
  }
  return words;
}

constexpr std::size_t sizes[] = {2,   3,   15,  16,   17,   31,   32,  33,
                                 255, 256, 257, 4095, 4096, 4097, 6145};

/// Of every pattern and size, of all bits and of some of them.
template <class Key, class Value>
void sort_all(bool whole) {
  std::mt19937_64 random{keys::fresh_seed()};
  using Bits = typename WordOrder<Key>::Bits;
  constexpr int bits = 8 * sizeof(Key);
  for (const keys::Pattern pattern : keys::all_patterns) {
    for (const std::size_t size : sizes) {
      for (const Order direction : {Order::ascending, Order::descending}) {
        const int begin = random() % 2 == 0 ? 0 : static_cast<int>(random() % bits);
        const Bits wanted = low_mask<Bits>(bits) & static_cast<Bits>(~low_mask<Bits>(begin));
        SCOPED_TRACE(::testing::Message()
                     << "seed " << keys::fresh_seed() << ", " << sizeof(Key) << " and "
                     << sizeof(Value) << " bytes, pattern " << static_cast<int>(pattern)
                     << ", size " << size << ", bits from " << begin
                     << (direction == Order::ascending ? ", up" : ", down"));
        const WordOrder<Key> order{kradix::impl::make_codec<Key>(direction), wanted};
        const auto words = stored<Key>(pattern, size, random);
        expect_sorted<Value, std::uint32_t>(order, words, whole);
        expect_sorted<Value, std::uint64_t>(order, words, whole);
        if (::testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

template <class Sizes>
class PlaceSorts : public ::testing::Test {};
template <class Key_, class Value_>
struct Pair {
  using Key = Key_;
  using Value = Value_;
};
using Pairs =
    ::testing::Types<Pair<std::uint32_t, std::uint32_t>, Pair<std::int32_t, std::uint64_t>,
                     Pair<std::uint64_t, std::uint32_t>, Pair<std::int64_t, std::uint64_t>
#ifdef KRADIX_HAVE_INT128
                     ,
                     Pair<kradix::impl::int128, std::uint32_t>
#endif
                     >;
TYPED_TEST_SUITE(PlaceSorts, Pairs);

TYPED_TEST(PlaceSorts, AreStable) {
  for_all_instructions([] { sort_all<typename TypeParam::Key, typename TypeParam::Value>(false); });
}

TYPED_TEST(PlaceSorts, FinishInCache) {
  for_all_instructions([] { sort_all<typename TypeParam::Key, typename TypeParam::Value>(true); });
}

/// Keys of `size` records of which so many each are alike in all bits that a word of 4 bytes holds.
template <class Key>
std::vector<typename WordOrder<Key>::Stored> alike_keys(std::size_t size, std::size_t alike,
                                                        std::mt19937_64& random) {
  using Stored = typename WordOrder<Key>::Stored;
  const int key_bits = 32 - bit_width_of(static_cast<std::uint32_t>(size - 1));
  const int top = 8 * static_cast<int>(sizeof(Key)) - key_bits;
  std::vector<Stored> keys(size);
  for (std::size_t i = 0; i < size; ++i) {
    const auto upper =
        static_cast<Stored>(0x9e37u * (i / alike) & low_mask<std::uint32_t>(key_bits));
    const auto lower = static_cast<Stored>(keys::random_bits<Key>(random) & low_mask<Stored>(top));
    keys[i] = static_cast<Stored>(upper << top | lower);
  }
  keys[0] = static_cast<Stored>(keys[0] | Stored{1} << (8 * sizeof(Key) - 1));
  std::shuffle(keys.begin(), keys.end(), random);
  return keys;
}

/// A few are put in order by the bits below one by one, many by words of those.
TYPED_TEST(PlaceSorts, TellApartWhatWordsDoNot) {
  using Key = typename TypeParam::Key;
  using Value = typename TypeParam::Value;
  using Stored = typename WordOrder<Key>::Stored;
  std::mt19937_64 random{keys::fresh_seed()};
  SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
  const WordOrder<Key> order{kradix::impl::make_codec<Key>(Order::ascending),
                             low_mask<Stored>(8 * sizeof(Key))};
  for (const std::size_t alike : {2, 5, 24, 25, 26, 3000}) {
    SCOPED_TRACE(::testing::Message() << alike << " alike");
    const std::vector<Stored> keys = alike_keys<Key>(20000, alike, random);
    expect_sorted<Value, std::uint32_t>(order, keys, false);
    expect_sorted<Value, std::uint64_t>(order, keys, false);
    expect_sorted<Value, std::uint32_t>(order, keys, true);
    if (this->HasFatalFailure()) return;
  }
}

/// A sample tells that, but for equal keys, which longer words do not tell apart either.
TYPED_TEST(PlaceSorts, SeeWhereKeysCrowd) {
  using Key = typename TypeParam::Key;
  using Stored = typename WordOrder<Key>::Stored;
  using Rec = Record<Stored, typename TypeParam::Value>;
  std::mt19937_64 random{keys::fresh_seed()};
  SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
  const Stored all = low_mask<Stored>(8 * sizeof(Key));
  const WordOrder<Key> order{kradix::impl::make_codec<Key>(Order::ascending), all};
  const auto crowds = [&](const std::vector<Stored>& keys) {
    std::vector<Rec> records;
    for (const Stored key : keys) records.emplace_back(key, 0);
    return PlaceSort<WordOrder<Key>, Rec, std::uint32_t>(order, keys.size(), all)
        .crowds(records.data());
  };
  constexpr std::size_t size = 20000;
  EXPECT_FALSE(crowds(stored<Key>(keys::Pattern::equal, size, random)));
  EXPECT_FALSE(crowds(alike_keys<Key>(size, 1, random)));
  EXPECT_TRUE(crowds(alike_keys<Key>(size, 100, random)));
  EXPECT_FALSE(crowds(alike_keys<Key>(1000, 100, random))) << "of few it is not worth while";
}

/// More records than words of 4 bytes serve.
TYPED_TEST(PlaceSorts, TakeLongerWordsForMany) {
  using Key = typename TypeParam::Key;
  using Value = typename TypeParam::Value;
  std::mt19937_64 random{keys::fresh_seed()};
  SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
  using Bits = typename WordOrder<Key>::Bits;
  const WordOrder<Key> order{kradix::impl::make_codec<Key>(Order::descending),
                             low_mask<Bits>(8 * sizeof(Key))};
  using Rec = Record<typename WordOrder<Key>::Stored, Value>;
  static_assert(PlaceWords<Rec>::exist);
  for (const std::size_t size : {PlaceWords<Rec>::most_short, PlaceWords<Rec>::most_short + 1}) {
    for (const keys::Pattern pattern : keys::all_patterns) {
      SCOPED_TRACE(::testing::Message() << size << ", pattern " << static_cast<int>(pattern));
      const auto words = stored<Key>(pattern, size, random);
      expect_sorted<Value, std::uint64_t>(order, words, false);
      expect_sorted<Value, std::uint64_t>(order, words, true);
      if (this->HasFatalFailure()) return;
    }
  }
}

/// Doubles that are encoded for each pass, with all that their order takes for equal.
TEST(PlaceSortsOfKeysAsTheyAre, AreStable) {
  std::mt19937_64 random{keys::fresh_seed()};
  SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
  using Codec = decltype(kradix::impl::make_codec<double>(Order::ascending));
  const CodecOrder<Codec> order{kradix::impl::make_codec<double>(Order::descending),
                                low_mask<std::uint64_t>(64)};
  for (const keys::Floats kind : keys::all_floats) {
    std::vector<std::uint64_t> words;
    for (const double key : keys::make_floats<double>(kind, 3000, random)) {
      words.push_back(Kokkos::bit_cast<std::uint64_t>(key));
    }
    expect_sorted<std::uint32_t, std::uint32_t>(order, words, false);
    expect_sorted<std::uint32_t, std::uint32_t>(order, words, true);
    if (HasFatalFailure()) return;
  }
}

/// A user's keys of 4 bytes that stand for 8: longer words would leave no room for a list.
struct Widened {
  using key_type = std::uint32_t;
  using bits_type = std::uint64_t;
  static constexpr int bits = 64;
  bits_type encode(key_type key) const { return key % 1000 * 0x100000001ull << 20 | key % 7; }
};

TEST(PlaceSortsOfKeysThatStandForLongerOnes, AreStable) {
  std::mt19937_64 random{keys::fresh_seed()};
  SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
  const CodecOrder<Widened> order{{}, low_mask<std::uint64_t>(64)};
  for (const std::size_t size : {std::size_t{3000}, std::size_t{20000}, std::size_t{40000}}) {
    const auto keys = keys::make<std::uint32_t>(keys::Pattern::uniform, size, random);
    if (size < 40000) expect_sorted<std::uint32_t, std::uint32_t>(order, keys, false);
    expect_sorted<std::uint32_t, std::uint32_t>(order, keys, true);
    if (HasFatalFailure()) return;
  }
}

TEST(PlaceSortsOfKeysAlone, AreNone) {
  EXPECT_FALSE((PlaceWords<Record<std::uint64_t, kradix::impl::NoValue>>::exist));
  EXPECT_FALSE((PlaceWords<Record<std::uint16_t, std::uint32_t>>::exist));
}
#endif

}  // namespace
