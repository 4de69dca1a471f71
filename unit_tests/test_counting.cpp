// The counting sort: every key type that it takes, whatever the keys, with steps and tiles so small that
// every way through it is taken; arrays that begin anywhere; what it must refuse.
#include <gtest/gtest.h>

#include "kradix/impl/counting.hpp"
#include "kradix/sort.hpp"
#include "support/device.hpp"
#include "support/keys.hpp"
#include "support/reference.hpp"
#include "support/refused.hpp"
#include "support/sorted.hpp"

/// A user's key of one byte.
struct Grade {
  std::uint8_t value;
};
template <>
struct kradix::KeyCodec<Grade> {
  KOKKOS_FUNCTION static std::uint8_t encode(const Grade& grade) { return grade.value; }
};

namespace {

using namespace kradix::impl;
using kradix::Order;

constexpr bool on_host = is_host_space<Space>;
constexpr CountingShapes small_shapes{
    on_host ? TeamShape{1, 2} : TeamShape{64, 1}, on_host ? TeamShape{1, 2} : TeamShape{64, 1},
    on_host ? TeamShape{1, 256} : TeamShape{256, 1}, on_host ? TeamShape{1, 4} : TeamShape{64, 2}};
/// Of 1-byte keys by one team, as long as it has room for them.
constexpr CountingShapes lone_shapes{
    small_shapes.bytes,  small_shapes.shorts, small_shapes.places,
    small_shapes.expand, small_shapes.fields, on_host ? TeamShape{1, 1} : TeamShape{64, 1},
    most_lone_bytes};

/// By counters of 16 bits, where a team has room for them.
constexpr CountingShapes wide_shapes{
    small_shapes.bytes, on_host ? TeamShape{1, 512} : count_shorts_shape<Space>(),
    small_shapes.places, small_shapes.expand, on_host ? 2 : count_shorts_fields<Space>};

template <class Key>
auto counted_codec(Order order) {
  if constexpr (key_kind<Key>() == KeyKind::floating) {
    return total_order(make_codec<Key>(order));
  } else {
    return make_codec<Key>(order);
  }
}

template <class T>
using Words = Kokkos::View<unsigned_of_size<sizeof(T)>*, Memory>;

template <class T>
std::vector<unsigned_of_size<sizeof(T)>> words_of(const std::vector<T>& keys) {
  std::vector<unsigned_of_size<sizeof(T)>> words;
  for (const T& key : keys) words.push_back(Kokkos::bit_cast<unsigned_of_size<sizeof(T)>>(key));
  return words;
}

template <class T>
std::vector<T> sorted(const std::vector<T>& input, Order order) {
  return permuted(input, reference::sorted_indices_in_bits(input, order));
}

/// Sorts words that begin so many words into their allocation, by teams of these shapes, and looks at those
/// around them too.
template <CountingShapes Shapes, class T>
void expect_sorted(const std::vector<T>& input, Order order, std::size_t in_skips,
                   std::size_t out_skips, bool in_place, bool full_tiles = true) {
  using Word = unsigned_of_size<sizeof(T)>;
  using Codec = decltype(counted_codec<T>(order));
  constexpr std::size_t around = 40;
  const std::size_t count = input.size();
  kradix::Plan plan;
  plan.count = count;
  plan.digit_bits = Codec::bits;
  const TeamShape tile = Shapes.expand;
  plan.tile = (full_tiles ? tile.round() : tile.threads) * 16 / sizeof(T);
  ScratchList list;
  const CountingScratch scratch = CountingScratch::list(plan, list);
  const Kokkos::View<std::byte*, Memory> memory("memory", list.bytes());
  Kokkos::deep_copy(memory, std::byte{0xa5});  // nothing may rely on zeros
  std::vector<Word> source(count + around, Word{7});
  const std::vector<Word> words = words_of(input);
  std::copy(words.begin(), words.end(), source.begin() + static_cast<std::ptrdiff_t>(in_skips));
  const Words<T> in = to_device(source), out = to_device(source);
  Word* const from = in.data() + in_skips;
  const std::size_t skips = in_place ? in_skips : out_skips;
  Word* const to = in_place ? from : out.data() + out_skips;
  const Space exec;
  Counting<Space, Codec, Shapes>(exec, plan, counted_codec<T>(order), {from, to, nullptr}, scratch,
                                 aligned_scratch(memory.data()), "test")
      .sort();
  exec.fence();
  std::vector<Word> expected = source;
  const std::vector<Word> in_order = words_of(sorted(input, order));
  std::copy(in_order.begin(), in_order.end(),
            expected.begin() + static_cast<std::ptrdiff_t>(skips));
  expect_same(expected, to_host(in_place ? in : out), "result");
  if (!in_place) expect_same(source, to_host(in), "input");
}

template <class T>
class CountingOf : public ::testing::Test {
 protected:
  std::mt19937_64 random_{keys::fresh_seed()};

  void expect_sorted_anyhow(const std::vector<T>& input, Order order) {
    const std::size_t here = random_() % 17, there = random_() % 17;
    SCOPED_TRACE(::testing::Message()
                 << "seed " << keys::fresh_seed() << ", count " << input.size() << ", order "
                 << static_cast<int>(order) << ", from " << here << " to " << there);
    expect_sorted<small_shapes>(input, order, here, there, false);
    expect_sorted<small_shapes>(input, order, here, here, true, false);
    if constexpr (sizeof(T) == 1) {
      expect_sorted<lone_shapes>(input, order, here, there, false);
      expect_sorted<lone_shapes>(input, order, here, here, true);
    } else {
      expect_sorted<wide_shapes>(input, order, here, there, false);
      expect_sorted<wide_shapes>(input, order, here, here, true);
    }
  }
};
using Keys = ::testing::Types<bool, signed char, std::uint8_t, std::int16_t, std::uint16_t,
                              keys::Color, kradix::float16_bits, kradix::bfloat16_bits>;
TYPED_TEST_SUITE(CountingOf, Keys);

TYPED_TEST(CountingOf, SortsEveryPatternAndSize) {
  constexpr std::size_t pack = 16 / sizeof(TypeParam);
  constexpr std::size_t tile = pack * static_cast<std::size_t>(small_shapes.expand.round());
  for (const keys::Pattern pattern : keys::all_patterns) {
    for (const std::size_t count :
         {std::size_t{0}, std::size_t{1}, std::size_t{2}, pack - 1, pack, pack + 1, tile - 1, tile,
          tile + 1, 2 * tile + pack, 9 * tile + 5, std::size_t{3001}}) {
      SCOPED_TRACE(::testing::Message() << "pattern " << static_cast<int>(pattern));
      const auto input = keys::make<TypeParam>(pattern, count, this->random_);
      this->expect_sorted_anyhow(input, Order::ascending);
      this->expect_sorted_anyhow(input, Order::descending);
      if (this->HasFailure()) return;
    }
  }
}

/// One key in 99 places of 100, few keys of all, keys that drift, a few odd ones among equal ones.
TYPED_TEST(CountingOf, SortsSkewedKeys) {
  using Word = unsigned_of_size<sizeof(TypeParam)>;
  constexpr std::size_t count = 60011;
  const Word heavy = static_cast<Word>(this->random_());
  const auto expect_all = [&](const auto& word_at) {
    std::vector<TypeParam> input;
    for (std::size_t i = 0; i < count; ++i) {
      input.push_back(keys::from_bits<TypeParam>(static_cast<Word>(word_at(i))));
    }
    this->expect_sorted_anyhow(input, Order::ascending);
    this->expect_sorted_anyhow(input, Order::descending);
  };
  auto& random = this->random_;
  expect_all([&](std::size_t) { return random() % 100 == 0 ? random() : heavy; });
  expect_all([&](std::size_t) { return random() % 100 * 655; });
  expect_all([&](std::size_t i) { return i / 7 + random() % 5; });
  // In order, each often, but for a few; one of those comes often, too.
  expect_all([&](std::size_t i) {
    return i % 128 == 7 ? random() : i % 256 == 9 ? ~heavy : i / 64;
  });
  expect_all([&](std::size_t i) { return i == count / 2 ? 0 : i % 9000 == 5 ? ~0u : heavy; });
  expect_all([&](std::size_t) { return random() >> random() % 64; });
  expect_all([&](std::size_t) { return random() & random() & random(); });
  expect_all([&](std::size_t i) { return i < count / 2 ? random() : heavy; });
}

/// As many keys as make a team's counters overflow after many steps, or empty them before.
TEST(Counting, SortsMoreThanCountersHold) {
  std::mt19937_64 random{keys::fresh_seed()};
  for (const std::uint64_t range : {1 << 16, 1 << 14, 1 << 10, 3}) {
    SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed() << ", range " << range);
    std::vector<std::uint16_t> input;
    for (int i = 0; i < 1700003; ++i) {
      input.push_back(static_cast<std::uint16_t>(random() % range * 5));
    }
    expect_sorted<small_shapes>(input, Order::ascending, 3, 1, false);
    expect_sorted<wide_shapes>(input, Order::ascending, 3, 1, false);
    if (HasFailure()) return;
  }
}

/// Keys in order, so many of each that counters overflow at once, and others among them, from hardly any to half.
TEST(Counting, SortsKeysNearlyInOrder) {
  std::mt19937_64 random{keys::fresh_seed()};
  constexpr std::size_t count = 2300017;
  for (const std::uint64_t one_of : {2u, 9u, 60u, 70u, 1000u}) {
    for (const std::uint64_t kinds : {std::uint64_t{2}, std::uint64_t{1} << 16}) {
      SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed() << ", another is one of "
                                        << one_of << ", of " << kinds << " kinds");
      std::vector<std::uint16_t> input;
      for (std::size_t i = 0; i < count; ++i) {
        const bool other = random() % one_of == 0;
        input.push_back(static_cast<std::uint16_t>(other ? random() % kinds * 50'000 : i / 40));
      }
      expect_sorted<small_shapes>(input, Order::ascending, 3, 1, false);
      expect_sorted<wide_shapes>(input, Order::ascending, 3, 1, false);
      if (HasFailure()) return;
    }
  }
}

/// As many as make counters of 16 bits overflow: few kinds, or a key that comes too often from some place on.
TEST(Counting, SortsMoreThanWideCountersHold) {
  std::mt19937_64 random{keys::fresh_seed()};
  constexpr std::size_t count = 2300017;
  for (const std::size_t spread_to : {std::size_t{0}, count / 20, count / 3, count}) {
    for (const std::uint64_t one_of : {1u, 2u, 100u}) {
      SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed() << ", spread to "
                                        << spread_to << ", one of " << one_of);
      std::vector<std::uint16_t> input;
      for (std::size_t i = 0; i < count; ++i) {
        const bool heavy = i >= spread_to && random() % one_of == 0;
        input.push_back(static_cast<std::uint16_t>(heavy ? 0xffffu : random()));
      }
      expect_sorted<wide_shapes>(input, Order::ascending, 1, 3, false);
      if (HasFailure()) return;
    }
  }
}

/// As many as one kernel sorts, and one more.
TEST(Counting, SortsTheMostOfFew) {
  std::mt19937_64 random{keys::fresh_seed()};
  for (const std::size_t count :
       {most_lone_bytes, most_lone_bytes + 1, most_bytes_in_rows, most_bytes_in_rows + 1}) {
    SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed() << ", count " << count);
    const auto input = keys::make<std::uint8_t>(keys::Pattern::uniform, count, random);
    expect_sorted<CountingShapes::of<Space>(1)>(input, Order::descending, 5, 2, false);
  }
}

/// The public way, by the shapes of the space; from halves of other kinds too.
template <class T>
class CountingForced : public CountingOf<T> {};
using ForcedKeys = ::testing::Types<bool, char, std::uint8_t, char16_t, std::int16_t, std::uint16_t,
                                    kradix::float16_bits, kradix::bfloat16_bits
#if !KOKKOS_HALF_T_IS_FLOAT
                                    ,
                                    Kokkos::Experimental::half_t
#endif
#if !KOKKOS_BHALF_T_IS_FLOAT
                                    ,
                                    Kokkos::Experimental::bhalf_t
#endif
                                    >;
TYPED_TEST_SUITE(CountingForced, ForcedKeys);

TYPED_TEST(CountingForced, SortsKeysAlone) {
  kradix::Options options;
  options.algorithm = kradix::Algorithm::counting;
  constexpr std::size_t tile = 2048 * 16 / sizeof(TypeParam);
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{33},
                                  tile - 1, tile, tile + 1, std::size_t{300007}}) {
    for (const keys::Pattern pattern : keys::all_patterns) {
      for (const Order order : {Order::ascending, Order::descending}) {
        SCOPED_TRACE(::testing::Message()
                     << "seed " << keys::fresh_seed() << ", count " << count << ", pattern "
                     << static_cast<int>(pattern) << ", order " << static_cast<int>(order));
        options.order = order;
        const auto input = keys::make<TypeParam>(pattern, count, this->random_);
        const auto indices = reference::sorted_indices_in_bits(input, order);
        expect_keys_sorted(input, indices, options);
        if (this->HasFatalFailure()) return;
      }
    }
  }
  EXPECT_EQ(kradix::plan(Space{}, Kokkos::View<TypeParam*, Memory>("keys", 100), options).algorithm,
            kradix::Algorithm::counting);
}

TEST(Counting, TakesNoSecondArray) {
  const Kokkos::View<std::uint8_t*, Memory> bytes("bytes", 1 << 22);
  const Kokkos::View<std::uint16_t*, Memory> shorts("shorts", 1 << 21);
  kradix::Options options;
  options.algorithm = kradix::Algorithm::counting;
  EXPECT_LE(kradix::plan(Space{}, bytes, options).temporary_bytes, 1u << 12);
  EXPECT_LE(kradix::plan(Space{}, shorts, options).temporary_bytes, (1u << 20) + (1 << 12));
}

TEST(Counting, RefusesWhatItCannotTellApart) {
  kradix::Options options;
  options.algorithm = kradix::Algorithm::counting;
  const Space exec;
  const Kokkos::View<std::uint16_t*, Memory> keys("keys", 1000);
  const Kokkos::View<std::uint32_t*, Memory> words("words", 1000);
  const Kokkos::View<kradix::float16_bits*, Memory> halves("halves", 1000);
  const Kokkos::View<Grade*, Memory> grades("grades", 1000);
  const std::vector<std::string> why{"counting needs lanes", "1 or 2 bytes alone"};
  expect_message([&] { kradix::sort_by_key(exec, keys, words, options); }, why);
  expect_message([&] { kradix::argsort(exec, keys, words, options); }, why);
  expect_message([&] { kradix::sort(exec, words, options); }, why);
  expect_message([&] { kradix::sort(exec, grades, options); }, why);
  options.bits = {0, 15};
  expect_message([&] { kradix::sort(exec, keys, options); }, {"bits [0, 15)"});
  options.bits = {0, 16};
  options.stability = kradix::Stability::stable;
  EXPECT_NO_THROW(kradix::sort(exec, keys, options));
  expect_message([&] { kradix::sort(exec, halves, options); }, {"other or stable keys of 2 bytes"});
}

}  // namespace
