// Range mapping: exact maps change nothing but the number of passes; the approximate one keeps every key
// and puts them out of order by no more than it says.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kradix/impl/device/code_range.hpp"
#include "support/sorted.hpp"

namespace {

using kradix::Algorithm;
using kradix::Order;
using kradix::RangeMap;

kradix::Options options_of(RangeMap map, Order order = Order::ascending) {
  kradix::Options options;
  options.algorithm = Algorithm::satish;
  options.study.map = map;
  options.order = order;
  return options;
}

template <class T>
class Approximate : public ::testing::Test {
 protected:
  std::mt19937_64 random_{keys::fresh_seed()};
};
using Floats = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Approximate, Floats);

/// Pairs, so that the values prove that every key is still there.
template <class T>
void expect_nearly_sorted(const std::vector<T>& input, Order order) {
  const auto device_keys = to_device(input);
  std::vector<std::uint32_t> numbers(input.size());
  std::iota(numbers.begin(), numbers.end(), 0u);
  const auto device_values = to_device(numbers);
  kradix::sort_by_key(Space{}, device_keys, device_values,
                      options_of(RangeMap::approximate, order));
  Kokkos::fence();
  const auto sorted = to_host(device_keys);
  const auto from = to_host(device_values);
  long double least = std::numeric_limits<long double>::infinity(), greatest = -least;
  for (const T key : input) {
    if (!std::isfinite(key)) continue;
    least = std::min<long double>(least, key);
    greatest = std::max<long double>(greatest, key);
  }
  const long double error = (greatest - least) * (sizeof(T) == 4 ? 0x1p-21L : 0x1p-50L);
  std::vector<char> seen(input.size());
  for (std::size_t i = 0; i < input.size(); ++i) {
    ASSERT_FALSE(seen[from[i]]++) << i;
    ASSERT_EQ(keys::bytes_of(sorted[i]), keys::bytes_of(input[from[i]])) << i;
  }
  // Behind a key no other may follow that belongs before it by more than the error.
  T bound = order == Order::ascending ? sorted[0] : sorted[0];
  for (std::size_t i = 1; i < input.size(); ++i) {
    const T a = order == Order::ascending ? bound : sorted[i];
    const T b = order == Order::ascending ? sorted[i] : bound;
    if (std::isfinite(a) && std::isfinite(b)) {
      ASSERT_LE(static_cast<long double>(a) - static_cast<long double>(b), error) << i;
    } else {
      ASSERT_FALSE(reference::before(b, a)) << i;
    }
    const bool further = order == Order::ascending ? reference::before(bound, sorted[i])
                                                   : reference::before(sorted[i], bound);
    if (further) bound = sorted[i];
  }
}

TYPED_TEST(Approximate, EveryPatternWithinTheStatedError) {
  for (const keys::Pattern pattern : keys::all_patterns) {
    for (const Order order : {Order::ascending, Order::descending}) {
      for (const std::size_t size : {2u, 1000u, 5000u}) {
        SCOPED_TRACE(::testing::Message()
                     << "seed " << keys::fresh_seed() << ", pattern " << static_cast<int>(pattern)
                     << ", order " << static_cast<int>(order) << ", size " << size);
        expect_nearly_sorted(keys::make<TypeParam>(pattern, size, this->random_), order);
        if (this->HasFatalFailure()) return;
      }
    }
  }
}

TYPED_TEST(Approximate, SpansOfAllMagnitudes) {
  for (const TypeParam scale : {TypeParam(1), std::numeric_limits<TypeParam>::max(),
                                std::numeric_limits<TypeParam>::min(), TypeParam(1e-30)}) {
    for (const TypeParam offset : {TypeParam(0), TypeParam(1), TypeParam(-1000)}) {
      std::vector<TypeParam> input(4000);
      std::uniform_real_distribution<TypeParam> share(-1, 1);
      for (TypeParam& key : input) {
        key = share(this->random_) * scale;
        if (scale <= 1) key += offset;
      }
      SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed() << ", scale " << scale
                                        << ", offset " << offset);
      expect_nearly_sorted(input, Order::ascending);
    }
  }
}

TYPED_TEST(Approximate, LosesOrderWhereTheDocumentsMapDoes) {
  // One far key, and two near ones that differ by less than the map tells apart, the greater first.
  const TypeParam one = 1, next = std::nextafter(one, TypeParam(2));
  const auto keys = to_device(std::vector<TypeParam>{next, one, TypeParam(1e20)});
  kradix::sort(Space{}, keys, options_of(RangeMap::approximate));
  Kokkos::fence();
  EXPECT_EQ(to_host(keys)[0], next);
  kradix::sort(Space{}, keys, options_of(RangeMap::exact));
  Kokkos::fence();
  EXPECT_EQ(to_host(keys)[0], one);
}

TEST(FloatMap, IsMonotoneAndFitsItsBits) {
  std::mt19937_64 random{keys::fresh_seed()};
  SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
  using Map = kradix::impl::FloatMap<std::uint32_t>;
  const auto word = [](float x) { return Kokkos::bit_cast<std::uint32_t>(x); };
  const Map map{word(-3.5f), word(1e9f)};
  std::uniform_real_distribution<float> share(-3.5f, 1e9f);
  std::vector<float> floats{-3.5f, 1e9f, 0.0f, -0.0f};
  for (int i = 0; i < 10000; ++i) floats.push_back(share(random));
  std::sort(floats.begin(), floats.end());
  const std::uint32_t infinity = word(std::numeric_limits<float>::infinity());
  std::uint32_t before = map.of(word(-std::numeric_limits<float>::infinity()), infinity);
  for (const float x : floats) {
    const std::uint32_t code = map.of(word(x), infinity);
    ASSERT_LE(before, code) << x;
    ASSERT_LT(code, 1u << Map::bits);
    before = code;
  }
  EXPECT_LT(before, map.of(infinity, infinity));
  EXPECT_LT(map.of(infinity, infinity), map.of(word(NAN), infinity));
  EXPECT_LT(map.of(word(NAN), infinity), 1u << Map::bits);
}

TEST(Exact, PassesFollowTheRangeOfTheKeys) {
  using namespace kradix::impl;
  const auto passes = [](const std::vector<std::uint64_t>& input, RangeMap map) {
    const auto keys = to_device(input);
    const Kokkos::View<Extremes<std::uint64_t>, Memory> seen("seen");
    const Kokkos::View<CodeRange<std::uint64_t>, Memory> range("range");
    const Kokkos::View<PassTable*, Memory> tables("tables", 2);
    const CodeRule<std::uint64_t> rule{{0, 0, false}, ~std::uint64_t{0}, 0, map};
    const Space exec;
    constexpr TeamShape one{1, 1};
    launch_teams<one>(
        exec, "test", 1, 0,
        MeasureRange<Space, std::uint64_t, 1>{keys.data(), input.size(), rule, seen.data()});
    using Set = SetRange<Space, std::uint64_t, 1>;
    launch_teams<one>(
        exec, "test", 1, Set::scratch_bytes(),
        Set{seen.data(), 1, rule, 64, 8, true, 0, range.data(), tables.data(), tables.data() + 1});
    exec.fence();
    return to_host(tables);
  };
  const std::uint64_t high = std::uint64_t{1} << 60;
  EXPECT_EQ(passes({high, high + 255, high + 7}, RangeMap::exact)[0].count, 1);
  EXPECT_EQ(passes({high, high + 256}, RangeMap::exact)[0].count, 2);
  EXPECT_EQ(passes({high, high}, RangeMap::exact)[0].count, 0);
  EXPECT_EQ(passes({high, high}, RangeMap::exact)[1].count, 0);
  EXPECT_EQ(passes({high, high + 1}, RangeMap::exact)[1].count, 2);
  EXPECT_EQ(passes({high, high + 255}, RangeMap::none)[0].count, 8);
  EXPECT_EQ(passes({0, ~std::uint64_t{0}}, RangeMap::exact)[0].count, 8);
}

}  // namespace
