// The planner is a pure function: what it decides can be checked without sorting anything.
#include <algorithm>
#include <gtest/gtest.h>
#include <sstream>

#include "kradix/impl/device/met_samples.hpp"
#include "kradix/sort.hpp"
#include "support/device.hpp"

namespace {

using namespace kradix::impl;

Problem problem_of(std::size_t count, int key_bytes) {
  Problem problem;
  problem.count = count;
  problem.key_bytes = key_bytes;
  problem.key_bits = 8 * key_bytes;
  return problem;
}

TEST(MakePlan, TilesCoverTheKeysAndTheTableStaysSmall) {
  for (const Machine& machine : {Machine{1, {1, 0}, {}, {}, {}, {}, true, 1 << 20},
                                 Machine{2, {1, 0}, {}, {}, {}, {}, true, 1 << 19},
                                 Machine{64, {1, 0}, {}, {}, {}, {}, true, 1 << 21},
                                 Machine{270336, {256, 19}, {}, {}, {}, {}, false}}) {
    for (std::size_t count = 1; count < std::size_t{1} << 41; count = count * 3 + 1) {
      const kradix::Plan plan = make_plan(problem_of(count, 8), machine);
      EXPECT_GE(plan.tile * plan.tiles, count);
      EXPECT_LT(plan.tile * (plan.tiles - 1), count);
      if (plan.algorithm != kradix::Algorithm::blocked_radix) {
        EXPECT_LE(plan.tiles, max_tiles);
      }
      EXPECT_EQ(plan.tile % plan.round, 0u);
    }
  }
}

TEST(MakePlan, DevicesWithLanesSweepAndOthersDoNot) {
  const Machine host{2, {1, 0}, {1, 2048}, {1, 2048}, {1, 2048}, {1, 2048}, true, 1 << 20},
      device{270336, {256, 19}, {256, 28}, {}, {}, {}, true},
      without_lanes{270336, {256, 19}, {}, {}, {}, {}, false};
  EXPECT_EQ(make_plan(problem_of(1 << 20, 4), host).algorithm, kradix::Algorithm::blocked_radix);
  EXPECT_EQ(make_plan(problem_of(1 << 20, 4), device).algorithm, kradix::Algorithm::onesweep);
  EXPECT_EQ(make_plan(problem_of(1 << 20, 4), without_lanes).algorithm,
            kradix::Algorithm::four_kernel);
  const Machine finishing{270336, {256, 19}, {256, 28}, {256, 17}, {256, 20}, {256, 12}, true};
  EXPECT_EQ(make_plan(problem_of(1 << 22, 8), finishing).algorithm, kradix::Algorithm::msd_hybrid);
  EXPECT_EQ(make_plan(problem_of(1 << 22, 8), finishing).chunk, 256u * 17u);
  EXPECT_EQ(make_plan(problem_of(1 << 22, 4), finishing).algorithm, kradix::Algorithm::msd_hybrid);
  EXPECT_EQ(make_plan(problem_of(1 << 21, 4), finishing).algorithm, kradix::Algorithm::onesweep);
  for (const std::size_t key_bytes : {4, 8}) {
    Problem narrow = problem_of(1 << 25, key_bytes);
    narrow.bits = {8, 32};
    EXPECT_EQ(make_plan(narrow, finishing).algorithm, kradix::Algorithm::msd_hybrid);
    narrow.count = (1 << 25) - 1;
    EXPECT_EQ(make_plan(narrow, finishing).algorithm, kradix::Algorithm::onesweep);
  }
  EXPECT_EQ(make_plan(problem_of(1 << 20, 8), finishing).algorithm, kradix::Algorithm::small_msd);
  EXPECT_EQ(make_plan(problem_of(1 << 10, 8), finishing).algorithm, kradix::Algorithm::small_msd);
  EXPECT_EQ(make_plan(problem_of(1 << 10, 8), finishing).tile, 256u * 12u);
  Problem problem = problem_of(1 << 20, 24);
  problem.forced = kradix::Algorithm::msd_hybrid;
  EXPECT_THROW(make_plan(problem, device), std::invalid_argument);
  problem.forced = kradix::Algorithm::blocked_radix;
  EXPECT_THROW(make_plan(problem, device), std::invalid_argument);
  problem.forced = kradix::Algorithm::onesweep;
  EXPECT_THROW(make_plan(problem, without_lanes), std::invalid_argument);
  EXPECT_EQ(make_plan(problem, device).tile, 256u * 28u);
}

TEST(MakePlan, FewElementsAreSweptInShortTiles) {
  Machine device{270336, {256, 19}, {512, 20}, {}, {}, {}, true};
  EXPECT_EQ(make_plan(problem_of(1 << 20, 4), device).tile, 512u * 20);
  device.short_sweep = {512, 16};
  device.most_for_short_sweeps = 1 << 22;
  EXPECT_EQ(make_plan(problem_of(1 << 22, 4), device).tile, 512u * 16);
  EXPECT_EQ(make_plan(problem_of(1 << 22, 4), device).tiles, 512u);
  EXPECT_EQ(make_plan(problem_of((1 << 22) + 1, 4), device).tile, 512u * 20);
  EXPECT_EQ(make_plan(problem_of((1 << 22) + 1, 4), device).tiles, 410u);
  device.least_for_short_sweeps = 1 << 21;
  EXPECT_EQ(make_plan(problem_of(1 << 21, 4), device).tile, 512u * 16);
  EXPECT_EQ(make_plan(problem_of((1 << 21) - 1, 4), device).tile, 512u * 20);
}

/// Keys of 8 bytes that stand for 100 bits: a team that sorts alone has no room for their codes.
TEST(MakePlan, CodesThatAreLongerThanElementsAreSwept) {
  using kradix::impl::machine_of;
  if (!kradix::impl::has_lanes<Space>) GTEST_SKIP();
  EXPECT_FALSE(machine_of(Space{}, 8, 4, 16).rank.exists());
  EXPECT_TRUE(machine_of(Space{}, 12, 4, 16).rank.exists());
  kradix::impl::Problem problem = problem_of(1000, 8);
  kradix::impl::Machine machine = machine_of(Space{}, 8, 0, 16);
  machine.cache_bytes = 0;
  EXPECT_NE(make_plan(problem, machine).algorithm, kradix::Algorithm::small_msd);
  problem.forced = kradix::Algorithm::small_msd;
  EXPECT_THROW(make_plan(problem, machine), std::invalid_argument);
}

TEST(MakePlan, DevicesCountShortKeysAlone) {
  Machine device{270336, {256, 19}, {256, 32}, {}, {256, 20}, {256, 12}, true};
  device.expand = {256, 8};
  Problem problem = problem_of(1 << 20, 1);
  problem.told_apart = true;
  const kradix::Plan plan = make_plan(problem, device);
  EXPECT_EQ(plan.algorithm, kradix::Algorithm::counting);
  EXPECT_EQ(plan.tile, 256u * 16);
  EXPECT_EQ(plan.tiles, 256u);
  EXPECT_EQ(plan.digit_bits, 8);
  problem.count = 1 << 28;
  EXPECT_EQ(make_plan(problem, device).tile, 256u * 8 * 16);
  problem.count = 1000;
  EXPECT_EQ(make_plan(problem, device).algorithm, kradix::Algorithm::counting);
  problem.count = 100;
  EXPECT_EQ(make_plan(problem, device).algorithm, kradix::Algorithm::small_msd);
  problem.count = 1000;
  problem.told_apart = false;
  EXPECT_EQ(make_plan(problem, device).algorithm, kradix::Algorithm::small_msd);
  problem = problem_of(1 << 21, 2);
  EXPECT_EQ(make_plan(problem, device).algorithm, kradix::Algorithm::onesweep);
  problem.forced = kradix::Algorithm::counting;
  EXPECT_THROW(make_plan(problem, device), std::invalid_argument);
  problem.told_apart = true;
  EXPECT_EQ(make_plan(problem, device).algorithm, kradix::Algorithm::counting);
  problem.value_bytes = 4;
  EXPECT_THROW(make_plan(problem, device), std::invalid_argument);
}

TEST(MakePlan, FewShortKeysNeedNoFinish) {
  const Machine device{270336, {256, 19}, {512, 20}, {}, {256, 16}, {512, 8}, true};
  for (const int value_bytes : {0, 4}) {
    Problem problem = problem_of(1 << 20, 2);
    problem.value_bytes = value_bytes;
    const kradix::Plan plan = make_plan(problem, device);
    EXPECT_EQ(plan.algorithm, kradix::Algorithm::small_msd);
    EXPECT_EQ(plan.tiles, 256u);
    EXPECT_EQ(plan.chunk, 0u);
    problem.count += 1;
    EXPECT_EQ(make_plan(problem, device).algorithm, kradix::Algorithm::onesweep);
    problem.forced = kradix::Algorithm::small_msd;
    EXPECT_THROW(make_plan(problem, device), std::invalid_argument);
    problem.count -= 1;
    EXPECT_EQ(make_plan(problem, device).tiles, 256u);
  }
}

/// A user's key of 2 bytes may stand for 24 bits, which no two sweeps put in order.
TEST(MakePlan, FewShortKeysOfLongCodesAreSweptByOnesweep) {
  Machine device{270336, {256, 19}, {512, 20}, {}, {1024, 4}, {512, 8}, true};
  device.most_ranked = 1 << 12;
  for (const int value_bytes : {0, 4}) {
    Problem problem = problem_of(1 << 13, 2);
    problem.value_bytes = value_bytes;
    EXPECT_EQ(make_plan(problem, device).algorithm, kradix::Algorithm::small_msd);
    problem.key_bits = 24;
    EXPECT_EQ(make_plan(problem, device).algorithm, kradix::Algorithm::onesweep);
    problem.forced = kradix::Algorithm::small_msd;
    EXPECT_THROW(make_plan(problem, device), std::invalid_argument);
    problem.count = device.most_ranked;
    EXPECT_EQ(make_plan(problem, device).ranked, problem.count);
  }
}

/// Teams that meet all run at once, on devices of few processors, too.
TEST(MakePlan, NoMoreTeamsRankThanRunAtOnce) {
  using kradix::impl::Ranking;
  for (const std::size_t running : {1, 80, 127, 128, 216, 255, 256, 264}) {
    for (std::size_t count = 1; count <= std::min<std::size_t>(Ranking::most_by(running), 12288);
         ++count) {
      const Ranking ranking = Ranking::of(count);
      ASSERT_LE(ranking.teams, running) << count;
      ASSERT_LE(ranking.share, Ranking::most_share) << count;
      ASSERT_GE(std::size_t{ranking.teams} * ranking.share, count);
      ASSERT_LT(std::size_t{ranking.teams - 1} * ranking.share, count);
    }
  }
}

TEST(MakePlan, ThreadsOfAHostAllHaveWork) {
  const kradix::Plan plan =
      make_plan(problem_of(1 << 20, 4), Machine{16, {1, 0}, {}, {}, {}, {}, true, 1 << 20});
  EXPECT_GE(plan.tiles, 64u);
  EXPECT_EQ(plan.teams, 16u);
}

/// Buckets of a host sort are as many as fit a cache, then larger, then more: no level more where either will do.
TEST(MakePlan, BucketsOfAHostHoldWhatThereIs) {
  constexpr std::size_t cache = 1 << 20;
  const Machine machine{2, {1, 0}, {}, {}, {}, {}, true, cache};
  for (const int bytes : {4, 8, 16}) {
    const auto record = static_cast<std::size_t>(bytes);
    const auto plan_for = [&](std::size_t data) {
      return make_plan(problem_of(data / record, bytes), machine);
    };
    const kradix::Plan even = plan_for(256 * cache), larger = plan_for(512 * cache),
                       more = plan_for(1024 * cache);
    EXPECT_EQ(even.chunk * record, cache * 3 / 8);
    EXPECT_EQ(larger.chunk * record, cache * 6 / 8);
    EXPECT_EQ(more.chunk * record, cache * 6 / 8);
    EXPECT_EQ(even.digit_bits, 10);
    EXPECT_EQ(larger.digit_bits, 10);
    EXPECT_EQ(more.digit_bits, 11);
    for (const kradix::Plan& plan : {even, larger, more}) {
      EXPECT_LE(plan.count >> plan.digit_bits, plan.chunk / 4 * 3);
    }
    const auto is_share = [&](const kradix::Plan& plan, std::size_t share) {
      EXPECT_LE(plan.tile * record, share);
      EXPECT_GE(plan.tile * record, share / 4 * 3);
    };
    is_share(plan_for(64 * cache), cache / 4);
    is_share(plan_for(65 * cache), cache / 2);
  }
}

/// Where as many keys of a block go to each bucket, one after the other, their places lie in all sets of the nearest cache.
TEST(MakePlan, BucketsOfABlockDoNotMeetInACache) {
  constexpr std::size_t sets = 64, line = 64;
  for (const std::size_t cache : {256u << 10, 512u << 10, 1u << 20, 2u << 20}) {
    const Machine machine{2, {1, 0}, {}, {}, {}, {}, true, cache};
    for (const int bytes : {1, 2, 4, 8, 16}) {
      for (const std::size_t count : {std::size_t{1} << 22, std::size_t{1} << 26, 3'000'000ul}) {
        const kradix::Plan plan = make_plan(problem_of(count, bytes), machine);
        const std::size_t block = plan.tile * static_cast<std::size_t>(bytes);
        const std::size_t buckets = std::size_t{1} << plan.digit_bits;
        if (block < 4 * 32 * buckets) continue;  // few keys a bucket: chance tells them apart
        std::vector<std::size_t> in_set(sets);
        for (std::size_t b = 0; b < buckets; ++b) ++in_set[block * b / buckets / line % sets];
        EXPECT_LE(*std::max_element(in_set.begin(), in_set.end()), buckets / sets + 1)
            << plan << ", " << cache << " bytes of cache";
      }
    }
  }
}

TEST(MakePlan, PassesFollowTheBits) {
  const Machine machine{1, {1, 0}};
  for (const auto& [begin, end, passes] :
       {std::tuple{0, kradix::BitRange::all, 8}, {0, 24, 3}, {60, 64, 1}, {5, 5, 0}, {7, 24, 3}}) {
    Problem problem = problem_of(1000, 8);
    problem.bits = {begin, end};
    EXPECT_EQ(make_plan(problem, machine).passes, passes);
  }
}

TEST(MakePlan, ShapesThatNobodyMeasuredAreFittedAndSayIt) {
  // Three teams with 44 KB each: on an H200, an A100, a GPU of 100 KB, one of 64 KB.
  constexpr TeamShape shape{256, 36, 3};
  EXPECT_EQ(fitted(shape, 44 << 10, 228 << 10).teams, 3);
  EXPECT_EQ(fitted(shape, 44 << 10, 164 << 10).teams, 3);
  EXPECT_EQ(fitted(shape, 44 << 10, 100 << 10).teams, 2);
  EXPECT_EQ(fitted(shape, 44 << 10, 64 << 10).teams, 1);
  EXPECT_EQ(fitted(shape, 66 << 10, 64 << 10).teams, 1);
  EXPECT_EQ(fitted(shape, 44 << 10, 64 << 10).round(), shape.round());
  Machine device{270336, {256, 19}, {256, 28}, {}, {}, {}, true};
  constexpr const char* says = "none measured on this architecture";
  EXPECT_EQ(make_plan(problem_of(1 << 20, 4), device).reason.find(says), std::string::npos);
  device.measured = false;
  const kradix::Plan plan = make_plan(problem_of(1 << 20, 4), device);
  EXPECT_NE(plan.reason.find(says), std::string::npos) << plan.reason;
  EXPECT_EQ(plan.algorithm, kradix::Algorithm::onesweep);
}

TEST(MakePlan, TheHostWaitsWhereItMayAndLearnsSomething) {
  const Machine device{270336, {256, 19}, {256, 28}, {256, 17}, {256, 20}, {256, 12}, true};
  Problem problem = problem_of(1 << 22, 8);
  EXPECT_FALSE(make_plan(problem, device).waits);
  problem.host_may_wait = true;
  EXPECT_TRUE(make_plan(problem, device).waits);
  std::ostringstream text;
  text << make_plan(problem, device);
  EXPECT_NE(text.str().find(", waits for"), std::string::npos) << text.str();
  problem.count = 1 << 10;  // by one launch
  EXPECT_FALSE(make_plan(problem, device).waits);
  problem.count = 1 << 22;
  problem.forced = kradix::Algorithm::onesweep;
  EXPECT_FALSE(make_plan(problem, device).waits);
}

TEST(Plan, TheHostWaitsForWhoKeepsMemory) {
  if constexpr (has_lanes<Space> && has_board<Space>) {
    const Kokkos::View<std::uint64_t*, Memory> keys("keys", 10000);
    kradix::Workspace workspace;
    kradix::Options options;
    options.algorithm = kradix::Algorithm::msd_hybrid;
    EXPECT_FALSE(kradix::plan(keys, options).waits);
    options.workspace = &workspace;
    EXPECT_TRUE(kradix::plan(keys, options).waits);
    EXPECT_FALSE(kradix::plan(Space{}, keys, options).waits);
    options.host_wait = kradix::HostWait::allowed;
    EXPECT_TRUE(kradix::plan(Space{}, keys, options).waits);
    options.host_wait = kradix::HostWait::never;
    EXPECT_FALSE(kradix::plan(keys, options).waits);
  }
}

TEST(Plan, SaysWhatItWillDo) {
  const Kokkos::View<std::uint64_t*, Memory> keys("keys", 100000);
  const Kokkos::View<float*, Memory> values("values", 100000);
  const Kokkos::View<std::uint32_t*, Memory> permutation("permutation", 100000);
  const kradix::Plan plan = kradix::plan_by_key(Space{}, keys, values);
  EXPECT_NE(plan.algorithm, kradix::Algorithm::automatic);
  EXPECT_EQ(plan.count, 100000u);
  EXPECT_EQ(plan.key_bytes, 8);
  EXPECT_EQ(plan.value_bytes, 4);
  EXPECT_TRUE(plan.stable);
  std::ostringstream text;
  text << plan;
  const std::vector<std::string> parts{std::string(name(plan.algorithm)),
                                       "100000 keys of 8 B with 4 B each", "passes",
                                       "temporary bytes", plan.reason};
  for (const std::string& part : parts) {
    EXPECT_NE(text.str().find(part), std::string::npos) << text.str();
  }
  EXPECT_GE(kradix::plan_argsort(Space{}, keys, permutation).temporary_bytes,
            2 * 800000u + 400000u);
}

TEST(Plan, SortsOfADeviceNeedFourMegabytesBesideTheSecondArrays) {
  if (!kradix::impl::has_lanes<Space> || is_host_space<Space>) GTEST_SKIP() << "hosts count tiles";
  constexpr std::size_t extra = std::size_t{4} << 20;
  for (const std::size_t count : {std::size_t{1} << 20, std::size_t{1} << 24, std::size_t{1} << 26,
                                  std::size_t{3} << 26, std::size_t{1} << 28}) {
    const Kokkos::View<std::uint64_t*, Memory> keys(
        Kokkos::view_alloc("keys", Kokkos::WithoutInitializing), count);
    const Kokkos::View<std::uint32_t*, Memory> values(
        Kokkos::view_alloc("values", Kokkos::WithoutInitializing), count);
    // (And tables of what is gathered, and one in which samples meet, but for long keys with values.)
    const std::size_t alone =
        extra + (count >= std::size_t{1} << 26 ? kradix::impl::MetSamples::bytes : 0);
    EXPECT_LE(kradix::plan(Space{}, keys).temporary_bytes, 8 * count / 100 * 103 + alone);
    EXPECT_LE(kradix::plan(Space{}, values).temporary_bytes, 4 * count / 100 * 103 + alone);
    EXPECT_LE(kradix::plan_by_key(Space{}, keys, values).temporary_bytes,
              12 * count / 100 * 103 + extra);
    EXPECT_LE(kradix::plan_by_key(Space{}, values, keys).temporary_bytes,
              12 * count / 100 * 103 + alone);
    EXPECT_LE(kradix::plan_argsort(Space{}, keys, values).temporary_bytes,
              20 * count / 100 * 103 + extra);
  }
}

TEST(Plan, TemporaryBytesStayWithinTheDocumentedBound) {
  constexpr std::size_t count = 3000000;
  // Of a host each thread has a cache's worth besides.
  const std::size_t threads =
      is_host_space<Space> ? static_cast<std::size_t>(Space{}.concurrency()) : 0;
  const std::size_t extra = (17 << 20) + threads * (2 << 20);
  const Kokkos::View<std::uint32_t*, Memory> keys("keys", count), out("out", count);
  const Kokkos::View<double*, Memory> values("values", count);
  const Kokkos::View<std::uint8_t*, Memory> bytes("bytes", count);
  EXPECT_LE(kradix::plan(Space{}, keys).temporary_bytes, 4 * count + extra);
  EXPECT_LE(kradix::plan_by_key(Space{}, keys, values).temporary_bytes,
            12 * count / 100 * 103 + extra);
  EXPECT_LE(kradix::plan_argsort(Space{}, keys, out).temporary_bytes, 12 * count + extra);
  const std::size_t bytes_and_indices = is_host_space<Space> ? 6 * count : 0;
  EXPECT_LE(kradix::plan_argsort(Space{}, bytes, out).temporary_bytes, bytes_and_indices + extra);
}

}  // namespace
