// Misuse throws std::invalid_argument with the numbers and touches nothing.
#include <gtest/gtest.h>

#include "kradix/sort.hpp"
#include "support/device.hpp"
#include "support/refused.hpp"

namespace {

struct Errors : ::testing::Test {
  Space exec;
  std::vector<std::int32_t> input{5, 3, 9, 1, 7, 2, 8, 4, 6, 0};
  Kokkos::View<std::int32_t*, Memory> keys = to_device(input);
  Kokkos::View<std::int32_t*, Memory> nine{"nine", 9};
  Kokkos::View<std::int32_t*, Memory> ten{"ten", 10};

  template <class Call>
  void expect_refused(const Call& call, const std::vector<std::string>& parts) {
    expect_message(call, parts);
    exec.fence();
    EXPECT_EQ(to_host(keys), input);
  }
};

TEST_F(Errors, LengthsThatDiffer) {
  expect_refused([&] { kradix::sort_by_key(exec, keys, nine); },
                 {"kradix::sort_by_key", "10", "9"});
  expect_refused([&] { kradix::sort(exec, keys, nine); }, {"kradix::sort", "10", "9"});
  expect_refused([&] { kradix::argsort(exec, keys, nine); }, {"kradix::argsort", "10", "9"});
  expect_refused([&] { kradix::sort_by_key(exec, keys, nine, ten, ten); },
                 {"kradix::sort_by_key", "10", "values_in", "9"});
  expect_refused([&] { kradix::sort_by_key(exec, keys, ten, nine, ten); }, {"keys_out", "9"});
  expect_refused([&] { kradix::sort_by_key(exec, keys, ten, ten, nine); }, {"values_out", "9"});
}

TEST_F(Errors, ViewsThatOverlap) {
  const auto head = Kokkos::subview(keys, std::pair<std::size_t, std::size_t>(0, 6));
  const auto tail = Kokkos::subview(keys, std::pair<std::size_t, std::size_t>(4, 10));
  expect_refused([&] { kradix::sort(exec, keys, keys); }, {"overlap", "40 bytes"});
  expect_refused([&] { kradix::sort(exec, head, tail); }, {"overlap", "8 bytes"});
  expect_refused([&] { kradix::sort_by_key(exec, head, tail); },
                 {"keys", "values", "overlap", "8 bytes"});
  expect_refused([&] { kradix::argsort(exec, head, tail); }, {"permutation", "overlap"});
  const Kokkos::View<std::int32_t*, Memory> third("third", 10), fourth("fourth", 10);
  const auto sort_to = [&](const auto& values, const auto& keys_out, const auto& values_out) {
    return [=, this] { kradix::sort_by_key(exec, keys, values, keys_out, values_out); };
  };
  expect_refused(sort_to(third, keys, fourth), {"keys_in", "keys_out", "overlap", "40 bytes"});
  expect_refused(sort_to(third, fourth, keys), {"keys_in", "values_out", "overlap"});
  expect_refused(sort_to(third, third, fourth), {"values_in", "keys_out", "overlap"});
  expect_refused(sort_to(third, fourth, third), {"values_in", "values_out", "overlap"});
  expect_refused(sort_to(third, fourth, fourth), {"keys_out", "values_out", "overlap"});
}

TEST_F(Errors, BitRangesOutsideTheKey) {
  for (const auto& [begin, end, text] : {std::tuple{-1, 8, "[-1, 8)"},
                                         {0, 33, "[0, 33)"},
                                         {9, 8, "[9, 8)"},
                                         {33, kradix::BitRange::all, "[33, 32)"},
                                         {0, -2, "[0, -2)"}}) {
    kradix::Options options;
    options.bits = {begin, end};
    expect_refused([&] { kradix::sort(exec, keys, options); }, {text, "32 bits"});
    expect_refused([&] { kradix::argsort(exec, keys, ten, options); }, {text, "32 bits"});
    expect_refused([&] { (void)kradix::plan(exec, keys, options); }, {"kradix::plan", text});
  }
}

TEST_F(Errors, UnknownOptions) {
  kradix::Options options;
  options.algorithm = static_cast<kradix::Algorithm>(200);
  expect_refused([&] { kradix::sort(exec, keys, options); }, {"algorithm 200"});
  options = {};
  options.order = static_cast<kradix::Order>(7);
  expect_refused([&] { kradix::sort(exec, keys, options); }, {"order 7"});
  options = {};
  options.label = nullptr;
  expect_refused([&] { kradix::sort(exec, keys, options); }, {"label"});
}

TEST(CheckIndex, PermutationsThatCannotHoldTheIndices) {
  // Views of 2^31 elements are not needed to know that they do not fit.
  EXPECT_NO_THROW(kradix::impl::check_index<std::int32_t>("argsort", std::size_t{1} << 31));
  EXPECT_THROW(kradix::impl::check_index<std::int32_t>("argsort", (std::size_t{1} << 31) + 1),
               std::invalid_argument);
  EXPECT_NO_THROW(kradix::impl::check_index<std::uint32_t>("argsort", std::size_t{1} << 32));
  EXPECT_THROW(kradix::impl::check_index<std::uint32_t>("argsort", (std::size_t{1} << 32) + 1),
               std::invalid_argument);
  EXPECT_NO_THROW(kradix::impl::check_index<std::int64_t>("argsort", std::size_t{1} << 40));
}

TEST(Names, AlgorithmsRoundTrip) {
  for (const auto algorithm : kradix::all_algorithms) {
    EXPECT_EQ(kradix::algorithm_from_name(name(algorithm)), algorithm);
  }
  // The enumerators from 1 up to the first without a name are all there.
  for (std::uint8_t a = 1; name(static_cast<kradix::Algorithm>(a)) != "unknown"; ++a) {
    const auto algorithm = static_cast<kradix::Algorithm>(a);
    EXPECT_EQ(kradix::algorithm_from_name(name(algorithm)), algorithm) << name(algorithm);
  }
  EXPECT_EQ(kradix::algorithm_from_name("automatic"), kradix::Algorithm::automatic);
  EXPECT_EQ(kradix::algorithm_from_name("bogo"), std::nullopt);
}

}  // namespace
