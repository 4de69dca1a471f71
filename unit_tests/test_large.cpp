// More than 2^32 and 2^31 elements: 64-bit counts end to end. Needs up to 70 GB of the space's memory; on
// hosts it runs when KRADIX_TEST_LARGE is set in the environment.
#include <cstdlib>
#include <gtest/gtest.h>

#include "kradix/sort.hpp"
#include "support/device.hpp"

namespace {

using Range = Kokkos::RangePolicy<Space, Kokkos::IndexType<std::size_t>>;

KOKKOS_INLINE_FUNCTION std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

template <class Key>
struct Fill {
  Kokkos::View<Key*, Memory> keys;
  KOKKOS_FUNCTION void operator()(std::size_t i) const {
    keys(i) = static_cast<Key>(mixed(i + 0x9e3779b97f4a7c15u));
  }
};

/// What no order changes.
template <class Key>
struct Sum {
  Kokkos::View<Key*, Memory> keys;
  KOKKOS_FUNCTION void operator()(std::size_t i, std::uint64_t& sum) const {
    sum += mixed(keys(i) + std::uint64_t{1});
  }
};

template <class Key>
struct CountDescents {
  Kokkos::View<Key*, Memory> keys;
  KOKKOS_FUNCTION void operator()(std::size_t i, std::size_t& descents) const {
    descents += keys(i) > keys(i + 1);
  }
};

template <class Key>
std::uint64_t sum_of(const Kokkos::View<Key*, Memory>& keys) {
  std::uint64_t sum = 0;
  Kokkos::parallel_reduce("sum", Range(0, keys.extent(0)), Sum<Key>{keys}, sum);
  return sum;
}

template <class Key>
void sorts(std::size_t count) {
  if (kradix::impl::is_host_space<Space> && std::getenv("KRADIX_TEST_LARGE") == nullptr) {
    GTEST_SKIP() << "KRADIX_TEST_LARGE is not set";
  }
  const Kokkos::View<Key*, Memory> keys(Kokkos::view_alloc("keys", Kokkos::WithoutInitializing),
                                        count);
  Kokkos::parallel_for("fill", Range(0, count), Fill<Key>{keys});
  const std::uint64_t before = sum_of(keys);
  kradix::sort(keys);
  EXPECT_EQ(sum_of(keys), before) << "no key is lost or made up";
  std::size_t descents = 0;
  Kokkos::parallel_reduce("check", Range(0, count - 1), CountDescents<Key>{keys}, descents);
  EXPECT_EQ(descents, 0u);
}

TEST(Large, MoreThanFourBillionKeysOf8Bits) {
  sorts<std::uint8_t>((std::size_t{1} << 32) + 12345);
}
TEST(Large, MoreThanFourBillionKeysOf16Bits) {
  sorts<std::uint16_t>((std::size_t{1} << 32) + 12345);
}
TEST(Large, MoreThanTwoBillionKeysOf32Bits) {
  sorts<std::uint32_t>((std::size_t{1} << 31) + 12345);
}
TEST(Large, MoreThanFourBillionKeysOf64Bits) {
  sorts<std::uint64_t>((std::size_t{1} << 32) + 12345);
}

}  // namespace
