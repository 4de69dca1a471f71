// Keys of a short range, with values, sorted in two moves by bins of it, in their order: with shapes so small that few elements make
// many tiles and bins; what is noticed in time where they are not such; and when the plan offers it.
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <random>
#include <set>
#include <utility>

#include "support/hybrid.hpp"
#include "support/keys.hpp"
#include "support/reference.hpp"

namespace {

using namespace hybrid;

/// Only what is said of ranges decides.
const RouteRule by_range{.run = 0,
                         .most = 0,
                         .close = -1,
                         .gain = 1e30,
                         .mend_gain = 1e30,
                         .gather_from = ~std::size_t{0},
                         .most_uneven = 60,
                         .swept_range = 0};

template <class Pair>
class RangedPairs : public ::testing::Test {
 protected:
  using Key = typename Pair::first_type;
  using Value = typename Pair::second_type;
  using Bits = std::make_unsigned_t<Key>;
  static constexpr int all = 8 * sizeof(Key);
  static constexpr auto tile =
      static_cast<std::size_t>(range_tile_shape<Space>(sizeof(Value)).round());
  static constexpr auto window =
      static_cast<std::size_t>(range_bin_shape<Space>(sizeof(Value)).round());

  std::uint64_t below(std::uint64_t values) { return random_() % values; }
  /// Whose codes lie in [least, least + values).
  std::vector<Key> keys(std::size_t count, Order order, Bits least, std::uint64_t values) {
    std::vector<Key> input(count);
    for (auto& key : input) key = key_of(least + below(values), order);
    return input;
  }
  static Key key_of(std::uint64_t code, Order order = Order::ascending) {
    return std::bit_cast<Key>(make_codec<Key>(order).decode(static_cast<Bits>(code)));
  }

  /// In place and not, with values or indices, which alone may be wanted. Returns how keys were sorted.
  int spreads(const std::vector<Key>& input, Order order = Order::ascending,
              kradix::BitRange bits = {0, all}, const RouteRule& rule = by_range) {
    const auto indices = bits.end - bits.begin == all ? reference::sorted_indices(input, order)
                                                      : by_bits(input, order, bits);
    std::set<int> ways;
    for (const Movement movement :
         {Movement{.in_place = true, .ranges = true}, Movement{.in_place = false, .ranges = true},
          Movement{.in_place = false, .makes_indices = true, .ranges = true},
          Movement{.in_place = false, .makes_indices = true, .leaves_keys = true, .ranges = true},
          Movement{.in_place = true, .makes_indices = true, .ranges = true}}) {
      SCOPED_TRACE(::testing::Message()
                   << "in place " << movement.in_place << ", indices " << movement.makes_indices
                   << ", leaves keys " << movement.leaves_keys);
      const auto sorted =
          hybrid::sort<small_finish, Value>(input, make_codec<Key>(order), movement, rule, bits);
      for (std::size_t i = 0; i < input.size(); ++i) {
        EXPECT_EQ(sorted.values[i], indices[i]) << i;
        if (!movement.leaves_keys) {
          EXPECT_EQ(sorted.keys[i], input[indices[i]]) << i;
        }
        if (this->HasFailure()) return -1;
      }
      ways.insert(sorted.route.spreads);
    }
    EXPECT_EQ(ways.size(), 1u);
    return *ways.begin();
  }
  static std::vector<std::size_t> by_bits(const std::vector<Key>& input, Order order,
                                          kradix::BitRange bits) {
    const auto codec = make_codec<Key>(order);
    std::vector<std::size_t> indices(input.size());
    for (std::size_t i = 0; i < indices.size(); ++i) indices[i] = i;
    std::ranges::stable_sort(indices, {}, [&](std::size_t i) {
      return codec.encode(std::bit_cast<Bits>(input[i])) & bits_between<Bits>(bits.begin, bits.end);
    });
    return indices;
  }
  Ranging shape_of(std::size_t count) {
    return Ranging::of(count, tile, window,
                       running_teams(Space{}, range_bin_shape<Space>(sizeof(Value))));
  }

  std::mt19937_64 random_{keys::fresh_seed()};
};
using Pairs = ::testing::Types<
    std::pair<std::uint32_t, std::uint32_t>, std::pair<std::int32_t, std::uint64_t>,
    std::pair<std::uint64_t, std::uint32_t>, std::pair<std::int64_t, std::uint64_t>>;
TYPED_TEST_SUITE(RangedPairs, Pairs);

TYPED_TEST(RangedPairs, KeysOfAShortRange) {
  using Bits = typename TestFixture::Bits;
  constexpr std::size_t tile = TestFixture::tile, window = TestFixture::window;
  for (const std::size_t count : {GlancedPairs::samples + std::size_t{1}, 4 * tile - 1, 4 * tile,
                                  9 * tile + 7, 3 * window, std::size_t{150001}}) {
    const Ranging shape = this->shape_of(count);
    ASSERT_TRUE(shape.exists());
    // The longest that there is, and some of a few values a bin.
    const auto most = static_cast<std::uint64_t>(shape.bins) * Ranging::most_values / 128 * 126;
    for (const std::uint64_t values : {std::uint64_t{257}, std::uint64_t{1000}, most / 3, most}) {
      for (const int at : {0, 1, 2}) {
        SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed() << ", " << count
                                          << " keys of " << values << " values, " << at);
        const auto end = static_cast<Bits>(~Bits{0});
        const Bits least = at == 0   ? Bits{0}
                           : at == 1 ? static_cast<Bits>(end / 2 - values / 2)
                                     : static_cast<Bits>(end - (values - 1));
        const auto order = at == 1 ? Order::descending : Order::ascending;
        EXPECT_EQ(this->spreads(this->keys(count, order, least, values), order), Route::ranged);
        if (this->HasFailure()) return;
        if (count > 100000 && at == 0) break;
      }
    }
  }
}

/// A value that no sample sees makes its bin longer than a window, or than all that there may be.
TYPED_TEST(RangedPairs, BinsThatAreLong) {
  constexpr std::size_t window = TestFixture::window;
  const std::size_t count = 40 * window;
  for (const std::size_t windows : {1u, 2u, 6u, 9u}) {
    for (const std::uint64_t value : {0u, 777u, 7999u}) {
      SCOPED_TRACE(::testing::Message()
                   << "seed " << keys::fresh_seed() << ", " << windows << " windows of " << value);
      auto input = this->keys(count, Order::ascending, 12345, 8000);
      for (const std::size_t place :
           unseen_places(count, windows * window + window / 3, this->below(count / 2))) {
        input[place] = TestFixture::key_of(12345 + value);
      }
      EXPECT_EQ(this->spreads(input), windows < 8 ? Route::ranged : 0);
      if (this->HasFailure()) return;
    }
  }
  // More of them than there are teams, if those are few.
  if (!on_host) return;
  auto input = this->keys(count, Order::ascending, 0, 8000);
  std::size_t nth = 0;
  for (const std::size_t place : unseen_places(count, count / 2, 0))
    input[place] = TestFixture::key_of(nth++ % 4 * 100);
  EXPECT_EQ(this->spreads(input), 0);
}

TYPED_TEST(RangedPairs, KeysThatAreNot) {
  using Bits = typename TestFixture::Bits;
  SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
  const std::size_t count = 60000;
  // Below or above what samples have seen.
  for (const Bits code : {Bits{0}, static_cast<Bits>(~Bits{0})}) {
    auto input = this->keys(count, Order::ascending, 100000, 5000);
    input[unseen_place(count)] = TestFixture::key_of(code);
    EXPECT_EQ(this->spreads(input), 0);
  }
  // In order, of few kinds, of too many values, of heavy ones, and of such as are more frequent on one side.
  auto ordered = this->keys(count, Order::ascending, 0, 5000);
  std::ranges::sort(ordered);
  EXPECT_NE(this->spreads(ordered), Route::ranged);
  EXPECT_NE(this->spreads(this->keys(count, Order::ascending, 7, 256)), Route::ranged);
  EXPECT_NE(this->spreads(this->keys(count, Order::ascending, 0, std::uint64_t{1} << 21)),
            Route::ranged);
  auto heavy = this->keys(count, Order::ascending, 0, 5000);
  for (auto& key : heavy)
    if (this->below(20) == 0) key = TestFixture::key_of(1234);
  EXPECT_NE(this->spreads(heavy), Route::ranged);
  auto sloping = this->keys(count, Order::ascending, 0, 5000);
  for (auto& key : sloping) {
    const std::uint64_t one = this->below(5000), other = this->below(5000);
    key = TestFixture::key_of(std::max(one, other));
  }
  EXPECT_NE(this->spreads(sloping), Route::ranged);
}

/// Keys are made again from all of their bits, so those that do not count must be the same in all.
TYPED_TEST(RangedPairs, SomeBitsOfKeys) {
  using Bits = typename TestFixture::Bits;
  SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
  const std::size_t count = 30000;
  const Bits above = Bits{5} << 20;
  const auto codes = [&](std::uint64_t values) {
    std::vector<typename TestFixture::Key> input(count);
    for (auto& key : input)
      key =
          std::bit_cast<typename TestFixture::Key>(static_cast<Bits>(above | this->below(values)));
    return input;
  };
  EXPECT_EQ(this->spreads(codes(1 << 13), Order::ascending, {0, 13}), Route::ranged);
  EXPECT_EQ(this->spreads(codes(1 << 13), Order::descending, {0, 17}), Route::ranged);
  auto others = codes(1 << 13);
  for (auto& key : others) key ^= static_cast<typename TestFixture::Key>(this->below(2) << 21);
  EXPECT_EQ(this->spreads(others, Order::ascending, {0, 17}), 0);
  EXPECT_NE(this->spreads(codes(1 << 13), Order::ascending, {1, 17}), Route::ranged);
}

TEST(Ranging, BinsFitAndTakeTeamsInTurn) {
  constexpr std::size_t tile = 512 * 20, window = 512 * 40, teams = 264;
  for (double log = 13; log < 26; log += 0.01) {
    const auto count = static_cast<std::size_t>(std::exp2(log));
    const Ranging shape = Ranging::of(count, tile, window, teams);
    const double bins = static_cast<double>(count) / shape.even;
    if (!shape.exists()) {
      EXPECT_GT(static_cast<double>(count), 0.8 * window * Ranging::most_bins) << log;
      continue;
    }
    EXPECT_GE(shape.bins, bins);
    EXPECT_LE(shape.bins, Ranging::most_bins);
    EXPECT_TRUE(shape.bins % teams == 0 || shape.bins == Ranging::most_bins) << log;
    EXPECT_LE(shape.tiles(), Ranging::most_tiles);
    EXPECT_LE((shape.bins + 1) * shape.row(), Ranging::words(count, tile));
  }
}

/// Of a range, every code has one bin, and a place in it.
TEST(Ranging, BinsOfARange) {
  SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
  std::mt19937_64 random{keys::fresh_seed()};
  const Ranging shape = Ranging::of(1 << 22, 512 * 20, 512 * 40, 264);
  std::vector<std::uint64_t> all{
      257, 1000, 65536, 83886, std::uint64_t{264} * 1024 - 1, std::uint64_t{264} * 1024};
  for (int i = 0; i < 200; ++i) all.push_back(257 + random() % (std::uint64_t{264} * 1024 - 257));
  for (const std::uint64_t values : all) {
    const std::uint64_t least = random() << 20;
    const RangeTerms terms = RangeTerms::between(least, least + values - 1, shape);
    // Of few values so many fit a bin that another one does not.
    const double of_value = static_cast<double>(shape.count) / static_cast<double>(values);
    const auto width = std::min(std::floor(shape.even / of_value),
                                std::ceil(static_cast<double>(values) / shape.bins));
    const bool fits = width * (shape.bins * 5 / 4) >= static_cast<double>(values);
    ASSERT_EQ(terms.exist(), fits) << values;
    if (!fits) continue;
    ASSERT_LE(terms.bins, shape.bins * 5 / 4) << values;
    ASSERT_LT(terms.bins, shape.most_teams());
    ASSERT_LE(terms.width, Ranging::most_values);
    for (std::uint32_t above = 0; above < values; ++above) {
      ASSERT_EQ(terms.bin_of(above), above / terms.width) << above << " of " << values;
    }
    ASSERT_EQ(terms.bin_of(static_cast<std::uint32_t>(values - 1)), terms.bins - 1);
  }
  EXPECT_FALSE(RangeTerms::between(5, 5 + 255, shape).exist());
  EXPECT_FALSE(RangeTerms::between(5, 5 + std::uint64_t{264} * 1024, shape).exist());
  EXPECT_FALSE(RangeTerms::between(0, ~std::uint64_t{0}, shape).exist());
}

/// Integers with values, where the host waits, and not too few or too many.
TEST(Ranging, Plan) {
  Machine device{270336, {256, 19}, {512, 20}, {256, 18}, {256, 18}, {256, 16}, true};
  device.range_tile = {512, 20, 2};
  device.range_bin = {512, 40, 2};
  Problem problem;
  problem.count = std::size_t{1} << 22;
  problem.key_bytes = problem.value_bytes = 4;
  problem.key_bits = 32;
  problem.integral = problem.host_may_wait = true;
  const auto ranged = [&] { return make_plan(problem, device).ranged; };
  EXPECT_EQ(ranged(), std::size_t{512 * 20});
  // Of so few bits no digits would be spared, but bins tell all of them.
  problem.bits.end = 20;
  EXPECT_EQ(ranged(), std::size_t{512 * 20});
  problem.bits.end = 21;
  EXPECT_EQ(ranged(), 0u);
  problem.bits.end = 32;
  const auto in_vain = [&](auto& what, auto value) {
    const auto before = what;
    what = static_cast<std::remove_cvref_t<decltype(what)>>(value);
    EXPECT_EQ(ranged(), 0u);
    what = before;
  };
  in_vain(problem.host_may_wait, false);
  in_vain(problem.integral, false);
  in_vain(problem.value_bytes, 0);
  in_vain(problem.count, least_ranged - 1);
  in_vain(problem.count, std::size_t{1} << 25);
  in_vain(problem.bits.begin, 1);
  in_vain(device.range_tile.threads, 0);
}

}  // namespace
