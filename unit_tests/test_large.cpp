// More than 2^32 elements: 64-bit counts end to end. Needs 9 GB of the space's memory; on hosts it runs
// when KRADIX_TEST_LARGE is set in the environment.
#include <cstdlib>
#include <gtest/gtest.h>

#include "kradix/sort.hpp"
#include "support/device.hpp"

namespace {

using Range = Kokkos::RangePolicy<Space, Kokkos::IndexType<std::size_t>>;
using Bytes = Kokkos::View<std::uint8_t*, Memory>;

KOKKOS_INLINE_FUNCTION std::uint8_t key_at(std::size_t i) {
  i *= 0x9e3779b97f4a7c15u;
  return static_cast<std::uint8_t>(i >> 56);
}

struct Fill {
  Bytes keys;
  KOKKOS_FUNCTION void operator()(std::size_t i) const { keys(i) = key_at(i); }
};

/// Position i holds the key whose bin spans it.
struct CountWrong {
  Bytes keys;
  Kokkos::View<std::size_t*, Memory> ends;
  KOKKOS_FUNCTION void operator()(std::size_t i, std::size_t& wrong) const {
    const std::uint8_t key = keys(i);
    const std::size_t begin = key == 0 ? 0 : ends(key - 1);
    wrong += !(begin <= i && i < ends(key));
  }
};

struct CountKeys {
  Kokkos::View<std::size_t*, Memory> counts;
  KOKKOS_FUNCTION void operator()(std::size_t i) const { Kokkos::atomic_inc(&counts(key_at(i))); }
};

TEST(Large, MoreThanFourBillionKeys) {
  if (kradix::impl::is_host_space<Space> && std::getenv("KRADIX_TEST_LARGE") == nullptr) {
    GTEST_SKIP() << "KRADIX_TEST_LARGE is not set";
  }
  const std::size_t count = (std::size_t{1} << 32) + 12345;
  const Bytes keys(Kokkos::view_alloc("keys", Kokkos::WithoutInitializing), count);
  const Kokkos::View<std::size_t*, Memory> counts("counts", 256);
  Kokkos::parallel_for("fill", Range(0, count), Fill{keys});
  Kokkos::parallel_for("count", Range(0, count), CountKeys{counts});
  auto ends = to_host(counts);
  for (std::size_t k = 1; k < ends.size(); ++k) ends[k] += ends[k - 1];
  ASSERT_EQ(ends.back(), count);
  kradix::sort(keys);
  std::size_t wrong = 0;
  Kokkos::parallel_reduce("check", Range(0, count), CountWrong{keys, to_device(ends)}, wrong);
  EXPECT_EQ(wrong, 0u);
}

}  // namespace
