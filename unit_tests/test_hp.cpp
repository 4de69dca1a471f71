// The H-P sorts: integers in a range, distinct ones, few values of a wide range; what they refuse, and that
// nothing has moved by then.
#include <algorithm>
#include <random>

#include "support/refused.hpp"
#include "support/sorted.hpp"

namespace {

using kradix::Algorithm;
using kradix::ArrayScan;
using kradix::Order;

constexpr Algorithm any_keys[] = {Algorithm::hp_sort, Algorithm::hp_compressed};

kradix::Options options_of(Algorithm algorithm, std::uint64_t begin, std::uint64_t end,
                           Order order = Order::ascending) {
  kradix::Options options;
  options.algorithm = algorithm;
  options.study.range_begin = begin;
  options.study.range_end = end;
  options.order = order;
  return options;
}

template <class T>
class Hp : public ::testing::Test {
 protected:
  std::mt19937_64 random_{keys::fresh_seed()};

  /// Keys whose ascending encodings are uniform in [begin, end).
  std::vector<T> keys_within(std::uint64_t begin, std::uint64_t end, std::size_t count) {
    std::vector<T> keys(count);
    for (T& key : keys) key = from_encoded(begin + random_() % (end - begin));
    return keys;
  }
  static T from_encoded(std::uint64_t encoded) {
    using Word = kradix::impl::unsigned_of_size<sizeof(T)>;
    const auto sign = static_cast<Word>(std::is_signed_v<T> ? Word{1} << (8 * sizeof(T) - 1) : 0);
    return static_cast<T>(static_cast<Word>(static_cast<Word>(encoded) ^ sign));
  }
};
using Integers = ::testing::Types<std::uint32_t, std::int32_t, std::uint64_t, std::int64_t>;
TYPED_TEST_SUITE(Hp, Integers);

constexpr std::size_t sizes[] = {0, 1, 2, 3, 257, 4095, 4096, 4097, 12289};

TYPED_TEST(Hp, RangesOfEverySize) {
  for (const Algorithm algorithm : any_keys) {
    for (const std::size_t size : sizes) {
      for (const std::uint64_t range : {1u, 2u, 100u, 4096u, 4097u, 30000u}) {
        const std::uint64_t begin = this->random_() % 2 == 0 ? 0 : (1u << 30) + 77;
        const Order order = this->random_() % 2 == 0 ? Order::ascending : Order::descending;
        SCOPED_TRACE(::testing::Message()
                     << "seed " << keys::fresh_seed() << ", " << name(algorithm) << ", size "
                     << size << ", range " << begin << " + " << range << ", order "
                     << static_cast<int>(order));
        const auto input = this->keys_within(begin, begin + range, size);
        expect_keys_sorted(input, reference::sorted_indices(input, order),
                           options_of(algorithm, begin, begin + range, order));
        if (this->HasFatalFailure()) return;
      }
    }
  }
}

TYPED_TEST(Hp, DistinctKeys) {
  for (const std::size_t size : sizes) {
    const std::uint64_t begin = 1000, range = size + size / 3 + 1;
    std::vector<TypeParam> input;
    for (std::uint64_t k = 0; k < range; ++k) input.push_back(this->from_encoded(begin + k));
    std::shuffle(input.begin(), input.end(), this->random_);
    input.resize(size);
    for (const Order order : {Order::ascending, Order::descending}) {
      SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed() << ", size " << size
                                        << ", order " << static_cast<int>(order));
      expect_keys_sorted(input, reference::sorted_indices(input, order),
                         options_of(Algorithm::hp_distinct, begin, begin + range, order));
    }
  }
}

TYPED_TEST(Hp, FewValuesOfAWideRange) {
  constexpr std::uint64_t range = 1 << 20;
  std::vector<TypeParam> values;
  for (int i = 0; i < 40; ++i) values.push_back(this->from_encoded(this->random_() % range));
  std::vector<TypeParam> input(5000);
  for (TypeParam& key : input) key = values[this->random_() % values.size()];
  const auto indices = reference::sorted_indices(input, Order::ascending);
  for (const Algorithm algorithm : any_keys) {
    SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed() << ", " << name(algorithm));
    for (const ArrayScan scan : {ArrayScan::divide_and_conquer, ArrayScan::circular}) {
      kradix::Options options = options_of(algorithm, 0, range);
      options.study.scan = scan;
      options.study.interleaves_loads = scan == ArrayScan::circular;
      expect_keys_sorted(input, indices, options);
    }
  }
}

TEST(HpSmall, KeysOf8And16BitsNeedNoRange) {
  std::mt19937_64 random{keys::fresh_seed()};
  const auto bytes = keys::make<std::int8_t>(keys::Pattern::uniform, 3000, random);
  const auto words = keys::make<std::uint16_t>(keys::Pattern::uniform, 3000, random);
  for (const Algorithm algorithm : any_keys) {
    SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed() << ", " << name(algorithm));
    const kradix::Options options = options_of(algorithm, 0, 0);
    expect_keys_sorted(bytes, reference::sorted_indices(bytes, Order::ascending), options);
    expect_keys_sorted(words, reference::sorted_indices(words, Order::ascending), options);
  }
}

struct HpErrors : ::testing::Test {
  std::vector<std::uint32_t> input{50, 30, 90, 10, 70, 30, 80, 40, 60, 20};
  Kokkos::View<std::uint32_t*, Memory> keys = to_device(input);
  Kokkos::View<std::uint32_t*, Memory> values{"values", 10};

  template <class Call>
  void expect_refused(const Call& call, const std::vector<std::string>& parts) {
    expect_message(call, parts);
    Kokkos::fence();
    EXPECT_EQ(to_host(keys), input);
  }
};

TEST_F(HpErrors, KeysOutsideTheRange) {
  for (const Algorithm algorithm :
       {Algorithm::hp_sort, Algorithm::hp_distinct, Algorithm::hp_compressed}) {
    for (const Order order : {Order::ascending, Order::descending}) {
      const kradix::Options options = options_of(algorithm, 10, 90, order);
      expect_refused([&] { kradix::sort(Space{}, keys, options); },
                     {std::string(name(algorithm)), "[10, 90)", "1 of 10", "90 among them"});
    }
  }
  expect_refused([&] { kradix::sort(Space{}, keys, options_of(Algorithm::hp_sort, 11, 1000)); },
                 {"1 of 10", "10 among them"});
}

TEST_F(HpErrors, ADuplicateGivenToDistinct) {
  expect_refused([&] { kradix::sort(Space{}, keys, options_of(Algorithm::hp_distinct, 0, 100)); },
                 {"hp_distinct", "1 of 10", "30 among them"});
}

TEST_F(HpErrors, RangesTooWideOrEmpty) {
  const auto sort = [&](std::uint64_t begin, std::uint64_t end) {
    return [=, this] { kradix::sort(Space{}, keys, options_of(Algorithm::hp_sort, begin, end)); };
  };
  expect_refused(sort(0, 0), {"32 bits", "[0, 0)"});
  expect_refused(sort(7, 7), {"[7, 7)"});
  expect_refused(sort(9, 7), {"[9, 7)"});
  expect_refused(sort(0, (1u << 30) + 1), {"1073741824", "[0, 1073741825)"});
  expect_refused(sort(0xfffffff0u, 0x100000001u), {"32 bits"});
}

TEST_F(HpErrors, ValuesFloatsAndParts) {
  const kradix::Options options = options_of(Algorithm::hp_sort, 0, 100);
  expect_refused([&] { kradix::sort_by_key(Space{}, keys, values, options); },
                 {"no values", "4 bytes"});
  expect_refused([&] { kradix::argsort(Space{}, keys, values, options); }, {"no values"});
  kradix::Options bits = options;
  bits.bits = {0, 8};
  expect_refused([&] { kradix::sort(Space{}, keys, bits); }, {"all their bits", "[0, 8)"});
  const Kokkos::View<float*, Memory> floats("floats", 10);
  expect_refused([&] { kradix::sort(Space{}, floats, options); }, {"integers", "floats"});
}

}  // namespace
