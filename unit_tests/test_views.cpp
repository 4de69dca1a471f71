// Views of every shape: strided, const, unmanaged, sub-views, odd starts.
#include <gtest/gtest.h>
#include <numeric>

#include "kradix/sort.hpp"
#include "support/device.hpp"
#include "support/keys.hpp"
#include "support/reference.hpp"

namespace {

constexpr std::size_t count = 7001;

/// Sixteen bytes that may start at any multiple of four.
struct Four {
  float x[4];
};

struct Views : ::testing::Test {
  std::mt19937_64 random{keys::fresh_seed()};
  std::vector<std::int32_t> input = keys::make<std::int32_t>(keys::Pattern::few, count, random);
  std::vector<std::size_t> indices = reference::sorted_indices(input, kradix::Order::ascending);
  Space exec;

  template <class View>
  void fill(const View& view) {
    Kokkos::deep_copy(exec, view, to_device(input));
  }
  template <class View>
  void expect_keys_sorted(const View& view) {
    const auto sorted = to_host(view);
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(sorted[i], input[indices[i]]) << i;
  }
  template <class View>
  void expect_indices_sorted(const View& view) {
    const auto found = to_host(view);
    for (std::size_t i = 0; i < count; ++i)
      ASSERT_EQ(static_cast<std::size_t>(found[i]), indices[i]) << i;
  }
  template <class Keys, class Values>
  void expect_pairs_sort(const Keys& keys, const Values& values) {
    fill(keys);
    std::vector<std::int32_t> numbers(count);
    std::iota(numbers.begin(), numbers.end(), 0);
    Kokkos::deep_copy(exec, values, to_device(numbers));
    kradix::sort_by_key(exec, keys, values);
    expect_keys_sorted(keys);
    expect_indices_sorted(values);
  }
};

TEST_F(Views, ColumnsOfALeftAndARightMatrix) {
  const Kokkos::View<std::int32_t**, Kokkos::LayoutRight, Memory> right("right", count, 3);
  const Kokkos::View<std::int32_t**, Kokkos::LayoutLeft, Memory> left("left", 3, count);
  const auto strided = Kokkos::subview(right, Kokkos::ALL, 1);
  const auto row = Kokkos::subview(left, 2, Kokkos::ALL);
  ASSERT_EQ(strided.stride(0), 3u);
  expect_pairs_sort(strided, row);
  EXPECT_TRUE(kradix::plan(exec, strided).packs);
  // Neighbouring columns are untouched.
  for (const int other : {0, 2}) {
    for (const std::int32_t value : to_host(Kokkos::subview(right, Kokkos::ALL, other)))
      ASSERT_EQ(value, 0);
  }
}

TEST_F(Views, StridedOutOfPlaceAndArgsort) {
  const Kokkos::View<std::int32_t**, Kokkos::LayoutRight, Memory> matrix("matrix", count, 3);
  const auto in = Kokkos::subview(matrix, Kokkos::ALL, 0);
  const auto out = Kokkos::subview(matrix, Kokkos::ALL, 2);
  const Kokkos::View<std::int64_t**, Kokkos::LayoutRight, Memory> longs("longs", count, 2);
  const auto permutation = Kokkos::subview(longs, Kokkos::ALL, 1);
  fill(in);
  const Kokkos::View<std::int32_t*, Memory> contiguous("contiguous", count);
  kradix::sort(exec, in, contiguous);
  expect_keys_sorted(contiguous);
  kradix::argsort(exec, in, permutation);
  expect_indices_sorted(permutation);
  EXPECT_EQ(to_host(in), input);
  Kokkos::deep_copy(exec, contiguous, in);
  kradix::sort(exec, contiguous, out);
  expect_keys_sorted(out);
  // Keys and their values, each from a strided view to a contiguous one, and back.
  const Kokkos::View<std::int64_t*, Memory> indices("indices", count);
  const auto numbers = Kokkos::subview(longs, Kokkos::ALL, 0);
  std::vector<std::int64_t> up(count);
  std::iota(up.begin(), up.end(), 0);
  Kokkos::deep_copy(exec, numbers, to_device(up));
  kradix::sort_by_key(exec, in, numbers, contiguous, indices);
  expect_keys_sorted(contiguous);
  expect_indices_sorted(indices);
  Kokkos::deep_copy(exec, contiguous, in);
  Kokkos::deep_copy(exec, indices, numbers);
  Kokkos::deep_copy(exec, permutation, 0);
  kradix::sort_by_key(exec, contiguous, indices, out, permutation);
  expect_keys_sorted(out);
  expect_indices_sorted(permutation);
  EXPECT_EQ(to_host(in), input);
}

TEST_F(Views, SubviewsThatStartAnywhere) {
  for (const std::size_t start : {1, 2, 3, 5, 13}) {
    const Kokkos::View<std::int32_t*, Memory> keys("keys", count + 32),
        values("values", count + 32);
    Kokkos::deep_copy(keys, 42);
    const std::pair<std::size_t, std::size_t> range(start, start + count);
    expect_pairs_sort(Kokkos::subview(keys, range), Kokkos::subview(values, range));
    const auto whole = to_host(keys);
    for (std::size_t i = 0; i < whole.size(); ++i) {
      const bool outside = i < start || i >= start + count;
      ASSERT_TRUE(!outside || whole[i] == 42) << i;
    }
  }
}

TEST_F(Views, UnmanagedConstAndTraits) {
  const auto source = to_device(input);
  using Unmanaged = Kokkos::View<std::int32_t*, Memory,
                                 Kokkos::MemoryTraits<Kokkos::Unmanaged | Kokkos::Restrict>>;
  const Kokkos::View<std::int32_t*, Memory> memory("memory", count);
  const Unmanaged unmanaged(memory.data(), count);
  using Constant =
      Kokkos::View<const std::int32_t*, Memory, Kokkos::MemoryTraits<Kokkos::RandomAccess>>;
  const Constant constant = source;
  kradix::sort(exec, constant, unmanaged);
  expect_keys_sorted(unmanaged);
  const Kokkos::View<std::uint32_t*, Memory> permutation("permutation", count);
  kradix::argsort(exec, constant, permutation);
  expect_indices_sorted(permutation);
  EXPECT_EQ(to_host(source), input);
}

TEST_F(Views, EmptyAndSingle) {
  const Kokkos::View<std::int32_t*, Memory> empty, one("one", 1), other("other", 1);
  const Kokkos::View<std::uint64_t*, Memory> no_index, index("index", 1);
  kradix::sort(exec, empty);
  kradix::sort(exec, empty, empty);
  kradix::sort_by_key(exec, empty, empty);
  kradix::sort_by_key(exec, empty, no_index, empty, no_index);
  kradix::argsort(exec, empty, no_index);
  Kokkos::deep_copy(one, 5);
  Kokkos::deep_copy(index, 9u);
  kradix::sort(exec, one, other);
  EXPECT_EQ(to_host(other), std::vector<std::int32_t>{5});
  kradix::argsort(exec, one, index);
  EXPECT_EQ(to_host(index), std::vector<std::uint64_t>{0});
  kradix::sort_by_key(exec, one, other);
  EXPECT_EQ(to_host(one), std::vector<std::int32_t>{5});
  const Kokkos::View<std::int32_t*, Memory> key("key", 1);
  const Kokkos::View<std::uint64_t*, Memory> value("value", 1);
  Kokkos::deep_copy(index, 9u);
  kradix::sort_by_key(exec, one, index, key, value);
  EXPECT_EQ(to_host(key), std::vector<std::int32_t>{5});
  EXPECT_EQ(to_host(value), std::vector<std::uint64_t>{9});
}

TEST_F(Views, ValuesMisalignedForTheirWordArePacked) {
  const Kokkos::View<float*, Memory> floats("floats", 4 * count + 1);
  const Kokkos::View<Four*, Memory, Kokkos::MemoryUnmanaged> values(
      reinterpret_cast<Four*>(floats.data() + 1), count);
  std::vector<Four> fours(count);
  for (std::size_t i = 0; i < count; ++i) fours[i] = {{static_cast<float>(i), 1, 2, 3}};
  Kokkos::deep_copy(exec, values, to_device(fours));
  const auto keys = to_device(input);
  EXPECT_TRUE(kradix::plan_by_key(exec, keys, values).packs);
  kradix::sort_by_key(exec, keys, values);
  const auto sorted = to_host(values);
  for (std::size_t i = 0; i < count; ++i)
    ASSERT_EQ(sorted[i].x[0], static_cast<float>(indices[i])) << i;
}

}  // namespace
