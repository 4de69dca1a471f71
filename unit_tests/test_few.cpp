// Calls of few elements: every operation, type, order and view, beside the same call the usual way.
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
  for (const std::size_t count : {0, 1, 2, 3, 5, 16, 31, 32, 33, 40}) {
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
