// Values of every size travel whole, under keys of every width.
#include <gtest/gtest.h>

#include "kradix/sort.hpp"
#include "support/device.hpp"
#include "support/keys.hpp"
#include "support/reference.hpp"

namespace {

template <std::size_t Size>
struct Bytes {
  unsigned char byte[Size];
};

template <class Value, class Key>
void expect_values_follow(const std::vector<Key>& input) {
  const std::size_t count = input.size();
  SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed() << ", " << count
                                    << " elements, value bytes " << sizeof(Value));
  std::vector<Value> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t b = 0; b < sizeof(Value); ++b) {
      reinterpret_cast<unsigned char*>(&values[i])[b] =
          static_cast<unsigned char>((i >> (8 * (b % 3))) + 31 * b);
    }
  }
  const auto indices = reference::sorted_indices(input, kradix::Order::ascending);
  const auto keys = to_device(input);
  const auto view = to_device(values);
  const Kokkos::View<Key*, Memory> keys_out("keys_out", count);
  const Kokkos::View<Value*, Memory> values_out("values_out", count);
  kradix::sort_by_key(Space{}, keys, view, keys_out, values_out);
  kradix::sort_by_key(Space{}, keys, view);
  const auto sorted = to_host(view);
  const auto elsewhere = to_host(values_out);
  for (std::size_t i = 0; i < count; ++i) {
    const auto expected = keys::bytes_of(values[indices[i]]);
    ASSERT_EQ(keys::bytes_of(sorted[i]), expected) << i;
    ASSERT_EQ(keys::bytes_of(elsewhere[i]), expected) << i;
  }
}

template <class Key, class Value>
void expect_values_follow() {
  std::mt19937_64 random{keys::fresh_seed()};
  for (const std::size_t count : {2u, 300u, 1500u, 4100u, 12345u}) {
    expect_values_follow<Value>(keys::make<Key>(keys::Pattern::few, count, random));
  }
}

template <class Value>
class Values : public ::testing::Test {};
using Sizes =
    ::testing::Types<Bytes<1>, std::int16_t, Bytes<3>, float, Bytes<5>, Bytes<8>, double, Bytes<12>,
                     Kokkos::pair<double, double>, Bytes<16>, Bytes<20>, Bytes<24>, Bytes<64>>;
TYPED_TEST_SUITE(Values, Sizes);

TYPED_TEST(Values, FollowKeysOfEveryWidth) {
  expect_values_follow<std::uint8_t, TypeParam>();
  expect_values_follow<std::int16_t, TypeParam>();
  expect_values_follow<float, TypeParam>();
  expect_values_follow<std::uint64_t, TypeParam>();
#ifdef KRADIX_HAVE_INT128
  expect_values_follow<kradix::impl::uint128, TypeParam>();
#endif
}

/// So many that tiles of one length all run at once on a GPU, and those of another do not: of keys that spread, of 16
/// kinds, and of some whose digits are all swept.
template <class Value>
void expect_values_follow_in_one_wave() {
  std::mt19937_64 random{keys::fresh_seed()};
  std::vector<std::uint64_t> input(1 << 21);
  for (auto& key : input) key = random();
  expect_values_follow<Value>(input);
  for (auto& key : input) key &= random() & random() & random() & random();
  expect_values_follow<Value>(input);
  for (auto& key : input) key = (random() % 16 + 1) * 0x9e3779b97f4a7c15u;
  expect_values_follow<Value>(input);
}
TEST(Values, OfTilesThatAllRunAtOnce) {
  expect_values_follow_in_one_wave<double>();
  expect_values_follow_in_one_wave<float>();
}

TEST(Values, OfOtherSizesMoveOnce) {
  const auto keys = to_device(std::vector<int>{3, 1, 2});
  const Kokkos::View<Bytes<12>*, Memory> twelve("twelve", 3);
  const Kokkos::View<double*, Memory> eight("eight", 3);
  EXPECT_TRUE(kradix::plan_by_key(Space{}, keys, twelve).permutes);
  EXPECT_FALSE(kradix::plan_by_key(Space{}, keys, eight).permutes);
}

}  // namespace
