#include <Kokkos_Core.hpp>
#include <cstdint>
#include <gtest/gtest.h>
#include <kradix/sort.hpp>
#include <random>
#include <vector>

#include "support/device.hpp"
#include "support/keys.hpp"
#include "support/other_file.hpp"
#include "support/reference.hpp"

namespace {

constexpr bool on_host = kradix::impl::is_host_space<Space>;

template <class Key, class Argsort>
void expect_sorted(const std::vector<std::uint32_t>& numbers, const Argsort& argsort) {
  const std::vector<Key> input(numbers.begin(), numbers.end());
  const Kokkos::View<std::uint64_t*, Memory> permutation("permutation", input.size());
  argsort(Space{}, to_device(input), permutation);
  const auto found = to_host(permutation);
  const auto expected = reference::sorted_indices(input, kradix::Order::ascending);
  for (std::size_t i = 0; i < input.size(); ++i) ASSERT_EQ(found[i], expected[i]) << i;
}

/// Kernels of two source files may be of one type, and each must run, those that want much scratch, too: few kinds of floats
/// are labelled by numbers, which are swept here as few kinds of integers are there.
TEST(TwoFiles, BothSort) {
  SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
  std::mt19937_64 random{keys::fresh_seed()};
  constexpr std::size_t count = on_host ? 50021 : std::size_t{5} << 20;
  for (const std::uint64_t kinds : {std::uint64_t{200}, std::uint64_t{1} << 32}) {
    SCOPED_TRACE(::testing::Message() << kinds << " kinds");
    std::vector<std::uint32_t> numbers(count);
    for (std::uint32_t& number : numbers) number = static_cast<std::uint32_t>(random() % kinds);
    expect_sorted<float>(numbers, [](const auto&... all) { kradix::argsort(all...); });
    expect_sorted<std::uint32_t>(numbers, other_file::argsort);
  }
}

}  // namespace
