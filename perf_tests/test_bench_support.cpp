// The benchmarks' own parts: inputs are what their names say, wrong results are caught, figures add up.
#include <algorithm>
#include <bit>
#include <cmath>
#include <gtest/gtest.h>
#include <set>

#include "support/affinity.hpp"
#include "support/phases.hpp"
#include "support/statistics.hpp"
#include "support/verify.hpp"

namespace {

using namespace bench;
using inputs::Distribution;

template <class Key>
std::vector<Key> host_keys(Distribution distribution, std::size_t count, std::uint64_t seed = 1) {
  const inputs::Input input{distribution, seed, 1000};
  std::vector<Key> keys(count);
  for (std::size_t i = 0; i < count; ++i) keys[i] = input.at<Key>(i, count);
  return keys;
}

template <class Key>
class Inputs : public ::testing::Test {};
using KeyTypes =
    ::testing::Types<std::uint8_t, std::int16_t, std::uint32_t, std::int64_t, float, double>;
TYPED_TEST_SUITE(Inputs, KeyTypes);

TYPED_TEST(Inputs, AreTheSameOnDeviceAndHost) {
  const Space exec;
  const std::size_t count = 5000;
  const Array<TypeParam> keys("keys", count);
  for (const inputs::Entry& entry : inputs::distributions) {
    inputs::fill(exec, keys, {entry.distribution, 1, 1000});
    const auto made = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, keys);
    const std::vector<TypeParam> expected = host_keys<TypeParam>(entry.distribution, count);
    std::size_t different = 0;
    for (std::size_t i = 0; i < count; ++i) different += made(i) == expected[i] ? 0 : 1;
    // exp and log may round otherwise on a device.
    constexpr bool on_host = std::is_same_v<Space, Kokkos::DefaultHostExecutionSpace>;
    EXPECT_LE(different, on_host ? 0 : count / 1000) << entry.name;
  }
}

TYPED_TEST(Inputs, AreOrderedWhereTheirNameSaysSo) {
  const std::size_t count = 5000;
  const auto sorted = host_keys<TypeParam>(Distribution::sorted, count);
  EXPECT_TRUE(std::is_sorted(sorted.begin(), sorted.end()));
  EXPECT_LT(sorted.front(), sorted.back());
  const auto reversed = host_keys<TypeParam>(Distribution::reversed, count);
  EXPECT_TRUE(std::is_sorted(reversed.rbegin(), reversed.rend()));
  const auto almost = host_keys<TypeParam>(Distribution::almost_sorted, count);
  EXPECT_FALSE(std::is_sorted(almost.begin(), almost.end()));
}

TYPED_TEST(Inputs, HaveAsManyValuesAsTheirNameSays) {
  const auto distinct = [](Distribution distribution) {
    const auto keys = host_keys<TypeParam>(distribution, 20000);
    return std::set<TypeParam>(keys.begin(), keys.end()).size();
  };
  EXPECT_EQ(distinct(Distribution::constant), 1u);
  EXPECT_LE(distinct(Distribution::few_distinct), 100u);
  EXPECT_GT(distinct(Distribution::uniform), 200u);
  EXPECT_LE(distinct(Distribution::range_n_50), 401u);
}

TEST(Inputs, KeepBelowMaxValue) {
  const auto keys = host_keys<std::uint32_t>(Distribution::max_value, 20000);
  EXPECT_EQ(*std::max_element(keys.begin(), keys.end()), 1000u);
  EXPECT_EQ(*std::min_element(keys.begin(), keys.end()), 0u);
}

TEST(Inputs, FollowTheirParameter) {
  const std::size_t count = 20000;
  const auto keys_of = [&](Distribution distribution, std::uint64_t parameter) {
    const inputs::Input input{distribution, 1, parameter};
    std::vector<std::uint32_t> keys(count);
    for (std::size_t i = 0; i < count; ++i) keys[i] = input.at<std::uint32_t>(i, count);
    return keys;
  };
  const auto distinct = keys_of(Distribution::some_values, 37);
  EXPECT_EQ(std::set<std::uint32_t>(distinct.begin(), distinct.end()).size(), 37u);
  const auto bits = [&](std::uint64_t words) {
    double sum = 0;
    for (const std::uint32_t key : keys_of(Distribution::and_words, words))
      sum += std::popcount(key);
    return sum / static_cast<double>(count);
  };
  EXPECT_NEAR(bits(1), 16, 0.1);
  EXPECT_NEAR(bits(3), 4, 0.1);
  const auto descents = [&](std::uint64_t millionths) {
    const auto keys = keys_of(Distribution::disorder, millionths);
    std::size_t sum = 0;
    for (std::size_t i = 1; i < count; ++i) sum += keys[i] < keys[i - 1] ? 1 : 0;
    return sum;
  };
  EXPECT_EQ(descents(0), 0u);
  EXPECT_NEAR(static_cast<double>(descents(10000)), 200, 60);  // one place of a hundred
  EXPECT_EQ(text_of(inputs::Input{Distribution::some_values, 1, 37}), "some_values:37");
  EXPECT_EQ(text_of(inputs::Input{}), "uniform");
}

TEST(Inputs, HoldNoNaN) {
  for (const inputs::Entry& entry : inputs::distributions) {
    for (const float key : host_keys<float>(entry.distribution, 20000))
      ASSERT_FALSE(std::isnan(key)) << entry.name;
  }
}

TEST(Inputs, DependOnTheSeed) {
  EXPECT_NE(host_keys<std::uint64_t>(Distribution::uniform, 100, 1),
            host_keys<std::uint64_t>(Distribution::uniform, 100, 2));
}

TEST(Inputs, AreFoundByName) {
  for (const inputs::Entry& entry : inputs::distributions) {
    EXPECT_EQ(inputs::distribution_from_name(entry.name), entry.distribution);
  }
  EXPECT_EQ(inputs::distribution_from_name("none"), std::nullopt);
}

/// Keys 3 1 3 2 in order, with where they came from.
class Verify : public ::testing::Test {
 protected:
  void expect(const std::vector<int>& keys, const std::vector<std::uint32_t>& values, bool stable,
              bool right) {
    const auto check = [&] {
      require_order(Space{}, to_array<int>({3, 1, 3, 2}), to_array(keys), to_array(values), stable,
                    "test");
    };
    if (right) {
      EXPECT_NO_THROW(check());
    } else {
      EXPECT_THROW(check(), WrongResult);
    }
  }

  template <class T>
  static Array<T> to_array(const std::vector<T>& values) {
    const Array<T> array("array", values.size());
    const Kokkos::View<const T*, Kokkos::HostSpace> host(values.data(), values.size());
    Kokkos::deep_copy(array, host);
    return array;
  }
};

TEST_F(Verify, TakesTheStableOrder) {
  expect({1, 2, 3, 3}, {1, 3, 0, 2}, true, true);
  expect({}, {1, 3, 0, 2}, true, true);
}
TEST_F(Verify, TakesSwappedTiesOnlyWhereTheyMay) {
  expect({1, 2, 3, 3}, {1, 3, 2, 0}, true, false);
  expect({1, 2, 3, 3}, {1, 3, 2, 0}, false, true);
}
TEST_F(Verify, RefusesWhatIsOutOfOrder) {
  expect({1, 3, 2, 3}, {1, 0, 3, 2}, true, false);
  expect({1, 3, 2, 3}, {1, 0, 3, 2}, false, false);
}
TEST_F(Verify, RefusesLostElements) {
  expect({1, 2, 3, 3}, {1, 3, 0, 0}, true, false);
  expect({1, 2, 3, 3}, {1, 3, 0, 0}, false, false);
}
TEST_F(Verify, RefusesKeysThatLeftTheirValues) {
  expect({1, 2, 3, 4}, {1, 3, 0, 2}, true, false);
}
TEST_F(Verify, RefusesIndicesOutOfRange) {
  expect({1, 2, 3, 3}, {1, 3, 0, 7}, false, false);
}

TEST_F(Verify, ProvesItsOwnReference) {
  const Array<int> sorted = sorted_keys(Space{}, to_array<int>({3, 1, 3, 2}));
  require(Space{}, 4, CheckKeys<int>{to_array<int>({1, 2, 3, 3}), sorted}, "test", "wrong key");
  EXPECT_THROW(
      require(Space{}, 4, CheckKeys<int>{to_array<int>({1, 2, 3, 4}), sorted}, "test", "wrong key"),
      WrongResult);
}

TEST(Statistics, MediansAndRatios) {
  EXPECT_DOUBLE_EQ(spread_of({5, 1, 3}).median, 3);
  EXPECT_DOUBLE_EQ(spread_of({5, 1, 3, 2}).median, 2.5);
  const Spread ratio = ratio_of({"peer", {2, 6, 4}, {}}, {"ours", {1, 2, 4}, {}});
  EXPECT_DOUBLE_EQ(ratio.median, 2);
  EXPECT_DOUBLE_EQ(ratio.least, 1);
  EXPECT_DOUBLE_EQ(ratio.most, 3);
  EXPECT_THROW(spread_of({}), std::invalid_argument);
}

#ifdef KRADIX_BENCH_HAS_AFFINITY
TEST(Affinity, IsWidenedToAllPlacesAndRestored) {
  const auto cores = [] {
    cpu_set_t set;
    EXPECT_EQ(pthread_getaffinity_np(pthread_self(), sizeof set, &set), 0);
    return CPU_COUNT(&set);
  };
  const int before = cores();
  Affinity affinity;
  affinity.widen();
  EXPECT_GE(cores(), std::max(before, omp_get_num_places()));
  affinity.restore();
  EXPECT_EQ(cores(), before);
}
#endif

struct Touch {
  Array<int> array;
  KOKKOS_FUNCTION void operator()(std::size_t i) const { array(i) = static_cast<int>(i); }
};

TEST(Phases, TellEachKernelOnceWithItsLaunches) {
  const Space exec;
  const Array<int> array("array", 1 << 16);
  const auto touch = [&](const char* label) {
    Kokkos::parallel_for(label, all_of(exec, array.extent(0)), Touch{array});
  };
  PhaseClock clock;
  for (int i = 0; i < 3; ++i) {
    clock.start(exec);
    for (const char* label : {"second", "first", "second"}) touch(label);
    clock.stop();
    touch("not looked at");
  }
  const std::vector<Phase> phases = clock.medians();
  ASSERT_EQ(phases.size(), 2u);
  EXPECT_EQ(phases[0].label, "second");
  EXPECT_EQ(phases[0].launches, 2);
  EXPECT_EQ(phases[1].label, "first");
  EXPECT_EQ(phases[1].launches, 1);
  for (const Phase& phase : phases) {
    EXPECT_GT(phase.seconds, 0);
    EXPECT_LT(phase.seconds, 1);
  }
}

kradix::Plan plan_of(kradix::Algorithm algorithm, int key_bytes, int value_bytes) {
  kradix::Plan plan;
  plan.algorithm = algorithm;
  plan.count = 10;
  plan.key_bytes = key_bytes;
  plan.value_bytes = value_bytes;
  plan.bits = {0, 8 * key_bytes};
  plan.digit_bits = 8;
  return plan;
}

TEST(Bytes, FollowThePlan) {
  using kradix::Algorithm;
  const kradix::Plan keys = plan_of(Algorithm::four_kernel, 4, 0);
  EXPECT_DOUBLE_EQ(bytes_moved(keys, Operation::sort, 4), 10 * (4 + 4 * 12));
  EXPECT_DOUBLE_EQ(bytes_moved(keys, Operation::sort, 3), 10 * (4 + 3 * 12 + 8));
  const kradix::Plan pairs = plan_of(Algorithm::four_kernel, 4, 8);
  EXPECT_DOUBLE_EQ(bytes_moved(pairs, Operation::sort_by_key, 2), 10 * (4 + 2 * 28));
  EXPECT_DOUBLE_EQ(bytes_moved(pairs, Operation::argsort, 2), 10 * (4 + 2 * 28 - 12));
  EXPECT_DOUBLE_EQ(bytes_moved(pairs, Operation::argsort, 0), 10 * (4 + 8));
  EXPECT_DOUBLE_EQ(bytes_moved(plan_of(Algorithm::onesweep, 4, 8), Operation::sort_by_key, 2),
                   10 * (4 + 2 * 24));
  EXPECT_DOUBLE_EQ(bytes_moved(plan_of(Algorithm::blocked_radix, 4, 8), Operation::sort_by_key, 2),
                   10 * (2 * 24));
  EXPECT_DOUBLE_EQ(bytes_moved(plan_of(Algorithm::counting, 2, 0), Operation::sort, 1), 10 * 4);
}

kradix::Plan study_plan_of(kradix::Algorithm algorithm, int key_bytes, int value_bytes,
                           const std::string& study = "") {
  kradix::Plan plan = plan_of(algorithm, key_bytes, value_bytes);
  plan.study = kradix::study_from_text(study);
  plan.digit_bits = 2;
  plan.passes = 4 * key_bytes;
  return plan;
}

TEST(Bytes, FollowThePlansForStudy) {
  using kradix::Algorithm;
  const auto keys = [](Algorithm algorithm, int passes, const std::string& study = "") {
    return bytes_moved(study_plan_of(algorithm, 4, 0, study), Operation::sort, passes);
  };
  EXPECT_DOUBLE_EQ(keys(Algorithm::bit_split, 2), 10 * 2 * (12 + 40));
  EXPECT_DOUBLE_EQ(keys(Algorithm::bit_split, 2, "scan=chained"), 10 * 2 * (12 + 32));
  EXPECT_DOUBLE_EQ(keys(Algorithm::zagha_blelloch, 3), 10 * (3 * 12 + 8));
  EXPECT_DOUBLE_EQ(keys(Algorithm::satish, 3, "map=exact"), 10 * (4 + 3 * 16));
  EXPECT_DOUBLE_EQ(keys(Algorithm::one_team, 7), 10 * 16);
  EXPECT_DOUBLE_EQ(keys(Algorithm::hp_sort, 1, "range=5:105"), 100 * 40 + 10 * (8 + 40));
  EXPECT_DOUBLE_EQ(keys(Algorithm::hp_distinct, 1, "range=5:105"), 100 * 40 + 10 * 8);
  EXPECT_DOUBLE_EQ(keys(Algorithm::hp_compressed, 1, "range=5:105"), 100 * 24 + 10 * (8 + 40));
  const auto pairs = [](const std::string& study) {
    return bytes_moved(study_plan_of(Algorithm::ha_kruger_silva, 4, 8, study),
                       Operation::sort_by_key, 3);
  };
  EXPECT_DOUBLE_EQ(pairs("separate_arrays=1"), 10 * 3 * 4 * 12);
  EXPECT_DOUBLE_EQ(pairs(""), 10 * (3 * 4 * 16 - 2 * 4));
  EXPECT_DOUBLE_EQ(bytes_moved(study_plan_of(Algorithm::satish, 4, 8), Operation::argsort, 2),
                   10 * (2 * 48 - 12));
  const BitMask low_ten_bits{0x3ff, 0};
  EXPECT_EQ(passes_of(study_plan_of(Algorithm::satish, 4, 0), low_ten_bits), 16);
  EXPECT_EQ(passes_of(study_plan_of(Algorithm::satish, 4, 0, "map=exact"), low_ten_bits), 5);
}

TEST(Inputs, RangesThatSortsFromCountsNeed) {
  const Space exec;
  const std::size_t count = 5000;
  for (const Distribution distribution :
       {Distribution::max_value, Distribution::range_n_50, Distribution::distinct,
        Distribution::values_100, Distribution::values_1000}) {
    const Array<std::uint32_t> keys("keys", count);
    const inputs::Input input{distribution, 7, 1000};
    inputs::fill(exec, keys, input);
    const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, keys);
    std::set<std::uint32_t> values(host.data(), host.data() + count);
    EXPECT_LT(*values.rbegin(), inputs::value_end(input, count));
    if (distribution == Distribution::distinct) {
      EXPECT_EQ(values.size(), count);
    }
    if (distribution == Distribution::values_100) {
      EXPECT_LE(values.size(), 100u);
    }
  }
  EXPECT_EQ(inputs::value_end({Distribution::uniform, 1, 5}, count), 0u);
}

TEST(Bytes, CountThePassesThatKeysNeed) {
  const Space exec;
  const Array<std::uint64_t> keys("keys", 1000);
  const auto passes = [&](kradix::Algorithm algorithm, Distribution distribution) {
    inputs::fill(exec, keys, {distribution, 1, 1000});
    return passes_of(plan_of(algorithm, 8, 0), varying_bits(exec, keys));
  };
  for (const kradix::Algorithm algorithm :
       {kradix::Algorithm::four_kernel, kradix::Algorithm::onesweep}) {
    EXPECT_EQ(passes(algorithm, Distribution::uniform), 8);
    EXPECT_EQ(passes(algorithm, Distribution::below_2_24), 3);
    EXPECT_EQ(passes(algorithm, Distribution::high_byte), 1);
    EXPECT_EQ(passes(algorithm, Distribution::constant), 0);
    EXPECT_EQ(passes(algorithm, Distribution::max_value), 2);
  }
}

TEST(Bytes, PlaceDigitsAsTheAlgorithmDoes) {
  const BitMask across_two_bytes{0x0ff0, 0};
  EXPECT_EQ(passes_of(plan_of(kradix::Algorithm::four_kernel, 8, 0), across_two_bytes), 1);
  EXPECT_EQ(passes_of(plan_of(kradix::Algorithm::onesweep, 8, 0), across_two_bytes), 2);
  kradix::Plan finishing = plan_of(kradix::Algorithm::msd_hybrid, 8, 0);
  finishing.count = 1 << 20;
  finishing.chunk = 4352;
  const BitMask everywhere{~std::uint64_t{0}, 0};
  EXPECT_EQ(passes_of(finishing, everywhere), 2);
  finishing.count = std::size_t{1} << 24;
  EXPECT_EQ(passes_of(finishing, everywhere), 3);
  EXPECT_EQ(passes_of(finishing, across_two_bytes), 2);
  EXPECT_DOUBLE_EQ(bytes_moved(finishing, Operation::sort, 3),
                   static_cast<double>(finishing.count) * (8 + 3 * 16));
  finishing.count = std::size_t{1} << 30;
  EXPECT_EQ(passes_of(finishing, everywhere), 4);
  EXPECT_EQ(passes_of(finishing, BitMask{0xffffffff, 0}), 3);
  finishing.value_bytes = 4;
  EXPECT_EQ(passes_of(finishing, BitMask{0xffffffff, 0}), 4);
  const BitMask in_both_words{0, 1};
  EXPECT_EQ(passes_of(plan_of(kradix::Algorithm::onesweep, 16, 0), in_both_words), 1);
}

}  // namespace
