// Calls of few elements: every operation, type, order and view, beside the same call the usual way.
#include <algorithm>
#include <gtest/gtest.h>

#include "support/sorted.hpp"

namespace {

using kradix::Order;

template <class T>
class Few : public ::testing::Test {
 protected:
  std::mt19937_64 random_{keys::fresh_seed()};
};
using Keys = ::testing::Types<std::uint8_t, std::int16_t, std::uint32_t, float, double,
                              kradix::bfloat16_bits>;
TYPED_TEST_SUITE(Few, Keys);

TYPED_TEST(Few, AreSortedAroundTheSizeWhereAPlanBegins) {
  for (const std::size_t count : {0, 1, 2, 3, 5, 16, 31, 32, 33, 40, 64, 127, 255, 256, 257}) {
    for (const keys::Pattern pattern :
         {keys::Pattern::uniform, keys::Pattern::awkward, keys::Pattern::few}) {
      for (const Order order : {Order::ascending, Order::descending}) {
        SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed() << ", count " << count);
        const auto input = keys::make<TypeParam>(pattern, count, this->random_);
        const auto indices = reference::sorted_indices(input, order);
        kradix::Options options;
        options.order = order;
        options.stability = kradix::Stability::stable;
        expect_keys_sorted(input, indices, options);
        expect_pairs_sorted(input, indices, options);
        if (this->HasFailure()) return;
      }
    }
  }
}

/// Keys alone, where SIMD takes more of them for few: every size around one where the way changes, with vectors of any
/// length.
TYPED_TEST(Few, KeysAloneAreSortedWhereTheyLieAroundTheSizesWhereTheWayChanges) {
  for (const std::size_t count : {1, 2, 255, 256, 257, 1023, 1024, 1025, 8191, 8192, 8193, 16383,
                                  16384, 16385, 32768, 32769, 65536, 65537}) {
    for (const keys::Pattern pattern :
         {keys::Pattern::uniform, keys::Pattern::awkward, keys::Pattern::equal,
          keys::Pattern::sorted, keys::Pattern::reversed}) {
      if (count > 20000 && pattern != keys::Pattern::awkward) continue;
      for (const Order order : {Order::ascending, Order::descending}) {
        SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed() << ", count " << count);
        const auto input = keys::make<TypeParam>(pattern, count, this->random_);
        kradix::Options options;
        options.order = order;
        expect_keys_sorted(input, reference::sorted_indices_in_bits(input, order), options);
        if (this->HasFailure()) return;
      }
    }
  }
}

/// One key out of its place in a call that else follows a trend.
TYPED_TEST(Few, KeysAloneThatNearlyFollowATrendAreSorted) {
  for (const std::size_t count : {300, 1000, 4000}) {
    for (const keys::Pattern pattern : {keys::Pattern::sorted, keys::Pattern::reversed}) {
      for (const std::size_t place : {std::size_t{0}, count / 2 + 1, count - 1}) {
        SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed() << ", count " << count);
        auto input = keys::make<TypeParam>(pattern, count, this->random_);
        std::swap(input[place], input[(place + count / 3) % count]);
        expect_keys_sorted(input, reference::sorted_indices_in_bits(input, Order::ascending), {});
        if (this->HasFailure()) return;
      }
    }
  }
}

template <class T>
class FewFloats : public Few<T> {};
using FloatKeys = ::testing::Types<float, double, kradix::bfloat16_bits>;
TYPED_TEST_SUITE(FewFloats, FloatKeys);

/// And beyond few, up to where all threads sort.
TYPED_TEST(FewFloats, ThatComparisonsDoNotTellApartAreSorted) {
  for (const std::size_t count :
       {1,   2,   7,   8,    9,    33,   63,    64,    65,    127,   128,   129,
        255, 256, 257, 1000, 4096, 8193, 16383, 16384, 32768, 32769, 100000}) {
    for (const keys::Floats kind : keys::all_floats) {
      for (const Order order : {Order::ascending, Order::descending}) {
        SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed() << ", count " << count
                                          << ", kind " << static_cast<int>(kind));
        const auto input = keys::make_floats<TypeParam>(kind, count, this->random_);
        kradix::Options options;
        options.order = order;
        expect_keys_sorted(input, reference::sorted_indices_in_bits(input, order), options);
        if (this->HasFailure()) return;
        if (count > 40000) continue;
        options.stability = kradix::Stability::stable;
        expect_keys_sorted(input, reference::sorted_indices(input, order), options);
        if (this->HasFailure()) return;
      }
    }
  }
}

/// Sorts a strided column of so many keys; did that take memory?
bool sorts_strided_by_memory(std::size_t count) {
  std::mt19937_64 random{keys::fresh_seed()};
  const auto input = keys::make<std::uint32_t>(keys::Pattern::uniform, count, random);
  const Kokkos::View<std::uint32_t**, Kokkos::LayoutRight, Memory> matrix("matrix", count, 2);
  const auto column = Kokkos::subview(matrix, Kokkos::ALL, 1);
  auto host = Kokkos::create_mirror_view(matrix);
  for (std::size_t i = 0; i < count; ++i) host(i, 1) = input[i];
  Kokkos::deep_copy(matrix, host);
  kradix::Workspace workspace;
  kradix::sort(Space{}, column, {.order = Order::descending, .workspace = &workspace});
  Space{}.fence();
  Kokkos::deep_copy(host, matrix);
  auto expected = input;
  std::sort(expected.rbegin(), expected.rend());
  for (std::size_t i = 0; i < count; ++i) {
    EXPECT_EQ(host(i, 1), expected[i]) << i;
    EXPECT_EQ(host(i, 0), 0u) << i;
  }
  return workspace.bytes() > 0;
}

TEST(FewElements, StridedKeysAlone) {
  for (const std::size_t count : {32, 33, 256, 257}) sorts_strided_by_memory(count);
}

#ifdef KRADIX_ENABLE_HIGHWAY
TEST(FewElements, KeysAloneTakeNoMemoryUpToThousands) {
  if (!kradix::impl::works_at_once<Space>) GTEST_SKIP() << "few are sorted on hosts only";
  EXPECT_FALSE(sorts_strided_by_memory(256));
  EXPECT_TRUE(sorts_strided_by_memory(257)) << "more are not copied to the stack";
  std::mt19937_64 random{keys::fresh_seed()};
  const std::size_t most = kradix::impl::FewBySimd<std::uint32_t>::most_in_place();
  ASSERT_GE(most, 8192u);
  for (const std::size_t count : {most, most + 1}) {
    const auto keys = to_device(keys::make<std::uint32_t>(keys::Pattern::uniform, count, random));
    kradix::Workspace workspace;
    kradix::Options options;
    options.workspace = &workspace;
    kradix::sort(Space{}, keys, options);
    Space{}.fence();
    EXPECT_EQ(workspace.bytes() > 0, count > most);
    options.stability = kradix::Stability::stable;
    options.bits = {1, 32};
    kradix::sort(Space{}, keys, options);
    EXPECT_GT(workspace.bytes(), 0u) << "keys that are equal in some bits keep their order";
    Space{}.fence();
  }
}
#endif

struct Wide {
  double place[3];
};

TEST(FewElements, StridedKeysWithWideValues) {
  std::mt19937_64 random{keys::fresh_seed()};
  const auto input = keys::make<std::uint32_t>(keys::Pattern::few, 21, random);
  const Kokkos::View<std::uint32_t**, Kokkos::LayoutRight, Memory> matrix("matrix", 21, 2);
  const auto column = Kokkos::subview(matrix, Kokkos::ALL, 1);
  const Kokkos::View<Wide*, Memory> values("values", 21);
  auto host_matrix = Kokkos::create_mirror_view(matrix);
  auto host_values = Kokkos::create_mirror_view(values);
  for (std::size_t i = 0; i < 21; ++i) {
    host_matrix(i, 1) = input[i];
    host_values(i).place[2] = static_cast<double>(i);
  }
  Kokkos::deep_copy(matrix, host_matrix);
  Kokkos::deep_copy(values, host_values);
  kradix::sort_by_key(Space{}, column, values, {.bits = {1, 20}});
  Space{}.fence();
  const auto indices = reference::sorted_indices(input, [](std::uint32_t a, std::uint32_t b) {
    return reference::cut_bits(a, 1, 20) < reference::cut_bits(b, 1, 20);
  });
  Kokkos::deep_copy(host_matrix, matrix);
  Kokkos::deep_copy(host_values, values);
  for (std::size_t i = 0; i < 21; ++i) {
    EXPECT_EQ(host_matrix(i, 1), input[indices[i]]) << i;
    EXPECT_EQ(host_matrix(i, 0), 0u) << i;
    EXPECT_EQ(host_values(i).place[2], static_cast<double>(indices[i])) << i;
  }
}

}  // namespace
