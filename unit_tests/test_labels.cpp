// What Kokkos Tools see: a region, labelled kernels and allocations, all on the caller's instance.
#include <algorithm>
#include <gtest/gtest.h>
#include <initializer_list>
#include <sstream>

#include "kradix/sort.hpp"
#include "support/device.hpp"
#include "support/events.hpp"
#include "support/keys.hpp"

namespace {

struct Odd {
  char byte[3];
};

/// One call of every operation, with what each can need: packing, indices, values that move once.
void call_everything(const Space& exec, const kradix::Options& options) {
  constexpr std::size_t count = 3000;
  const Kokkos::View<std::uint32_t**, Kokkos::LayoutRight, Memory> matrix("matrix", count, 2);
  const Kokkos::View<std::uint32_t*, Memory> keys("keys", count), out("out", count);
  const Kokkos::View<Odd*, Memory> odd("odd", count);
  exec.fence();
  const Listener listener;
  kradix::sort(exec, keys, options);
  kradix::sort(exec, keys, out, options);
  kradix::sort(exec, Kokkos::subview(matrix, Kokkos::ALL, 1), options);
  kradix::sort_by_key(exec, keys, out, options);
  kradix::sort_by_key(exec, keys, odd, options);
  kradix::argsort(exec, keys, out, options);
}

std::string chosen_algorithm(const kradix::Options& options = {}) {
  const Kokkos::View<std::uint32_t*, Memory> keys("keys", 3000);
  return std::string(name(kradix::plan(Space{}, keys, options).algorithm));
}

/// What a region is called says what a plan prints first.
template <class Keys>
std::string region_of(const Keys& keys, const kradix::Options& options = {}) {
  std::ostringstream plan;
  plan << kradix::plan(Space{}, keys, options);
  return "kradix::sort [" + plan.str().substr(0, plan.str().find(" over bits")) + "]";
}

bool starts_with(const std::string& text, const std::string& start) {
  return text.rfind(start, 0) == 0;
}

TEST(Labels, EveryKernelRegionAndAllocationIsNamed) {
  const std::string algorithm = chosen_algorithm();
  const std::string kernels = "kradix::" + algorithm + "::";
  call_everything(Space{}, {});
  std::vector<std::string> regions;
  for (const Event& event : Listener::of(Event::region)) regions.push_back(event.label);
  const std::string begin = "kradix::sort [" + algorithm + ": 3000 keys of 4 B",
                    alone = begin + ", ", with_4 = begin + " with 4 B each, ";
  const std::vector<std::string> expected{alone, alone, alone, with_4, with_4, with_4};
  ASSERT_EQ(regions.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_TRUE(starts_with(regions[i], expected[i])) << regions[i];
  EXPECT_EQ(regions.front(), region_of(Kokkos::View<std::uint32_t*, Memory>("keys", 3000)));
  ASSERT_FALSE(Listener::of(Event::kernel).empty());
  for (const Event& event : Listener::of(Event::kernel)) {
    EXPECT_TRUE(starts_with(event.label, kernels) || starts_with(event.label, "kradix::stage::") ||
                event.label == "kradix::workspace::ClearMeeting")
        << event.label;
  }
  for (const Event& event : Listener::of(Event::allocation)) {
    // Kokkos grows scratch of its own on the first launch.
    EXPECT_TRUE(starts_with(event.label, "kradix::workspace") ||
                starts_with(event.label, "Kokkos::"))
        << event.label;
  }
  EXPECT_TRUE(Listener::of(Event::copy).empty());
}

TEST(Labels, TheCallerChoosesThePrefix) {
  kradix::Options options;
  options.label = "mine::tree";
  call_everything(Space{}, options);
  for (const Event::Kind kind : {Event::kernel, Event::region}) {
    for (const Event& event : Listener::of(kind))
      EXPECT_TRUE(starts_with(event.label, "mine::tree::")) << event.label;
  }
}

std::vector<std::string> kernels_heard() {
  std::vector<std::string> kernels;
  for (const Event& event : Listener::of(Event::kernel)) {
    kernels.push_back(event.label.substr(event.label.rfind(':') + 1));
  }
  return kernels;
}

template <class Key>
void expect_stages(kradix::Algorithm algorithm, const std::vector<std::string>& expected,
                   std::size_t count = 5000) {
  const Kokkos::View<Key*, Memory> keys("keys", count);
  const Space exec;
  exec.fence();
  {
    const Listener listener;
    kradix::Options options;
    options.algorithm = algorithm;
    kradix::sort(exec, keys, options);
  }
  EXPECT_EQ(kernels_heard(), expected);
}

TEST(Labels, TheStagesOfASortInTheirOrder) {
  expect_stages<std::uint16_t>(
      kradix::Algorithm::four_kernel,
      {"SurveyKeys", "ListPasses", "CountTile", "ScanTiles", "ScanBins", "ScatterTile", "CountTile",
       "ScanTiles", "ScanBins", "ScatterTile", "Settle"});
  if (kradix::impl::works_at_once<Space>) {
    expect_stages<std::uint32_t>(kradix::Algorithm::blocked_radix, {"SortAlone"});
  }
  if (!kradix::impl::has_lanes<Space>) return;
  expect_stages<std::uint16_t>(kradix::Algorithm::onesweep, {"ClearWords", "CountAllDigits",
                                                             "SpreadTile", "SweepTile", "Settle"});
  // Few keys are only glanced at. On devices a team sweeps one tile of short keys.
  constexpr bool stays = kradix::impl::is_host_space<Space>;
  expect_stages<std::uint32_t>(
      kradix::Algorithm::msd_hybrid,
      stays ? std::vector<std::string>{"GlanceAtKeys", "CountAllDigits", "ListOrRecount",
                                       "SpreadTile", "SweepTile", "SweepRest", "ListChunks",
                                       "FinishChunk", "FinishRanges"}
            : std::vector<std::string>{"GlanceAtKeys", "CountAllDigits", "ListOrRecount",
                                       "SpreadTile", "SweepTile", "SweepTile", "SweepTile",
                                       "ListChunks", "FinishChunk", "FinishRanges"});
  expect_stages<std::uint64_t>(
      kradix::Algorithm::msd_hybrid,
      {"GlanceAtKeys", "SampleRuns", "TakeOutKeys", "CountAllDigits", "ListOrRecount", "SpreadTile",
       "SweepTile", "SweepRest", "ListChunks", "FinishChunk", "FinishCrowded", "FinishRanges",
       "Settle"},
      kradix::impl::least_to_sample(8));
  expect_stages<std::uint32_t>(kradix::Algorithm::small_msd,
                               {"CountTopDigit", "SweepTopDigit", "SortBins"}, 20000);
  expect_stages<std::uint16_t>(kradix::Algorithm::small_msd, {"ClearMeeting", "RankAmongAll"},
                               1000);
  expect_stages<std::uint32_t>(kradix::Algorithm::small_msd, {"ClearMeeting", "RankAmongAll"},
                               2000);
  expect_stages<std::uint64_t>(kradix::Algorithm::small_msd, {"ClearMeeting", "RankAmongAll"},
                               8192);
  expect_stages<std::uint8_t>(kradix::Algorithm::counting, {"SortFewBytes"});
  expect_stages<std::uint8_t>(kradix::Algorithm::counting, {"CountBytes", "ExpandBins"},
                              kradix::impl::most_lone_bytes + 1);
  expect_stages<std::uint8_t>(kradix::Algorithm::counting,
                              {"ClearWords", "CountBytes", "ExpandBins"},
                              kradix::impl::most_bytes_in_rows + 1);
  expect_stages<std::int16_t>(kradix::Algorithm::counting,
                              {"ClearWords", "CountShorts", "PlaceBins", "ExpandBins"});
}

/// With a warm workspace; what is heard of fences and memory, too.
template <class Key>
void expect_stages_where_the_host_waits(const std::vector<Key>& input,
                                        const std::vector<std::string>& expected) {
  kradix::Workspace workspace;
  kradix::Options options;
  options.algorithm = kradix::Algorithm::msd_hybrid;
  options.workspace = &workspace;
  options.host_wait = kradix::HostWait::allowed;
  std::vector<Key> sorted = input;
  std::sort(sorted.begin(), sorted.end());
  const Space exec;
  for (const bool listens : {false, true}) {
    const auto keys = to_device(input);
    EXPECT_TRUE(kradix::plan(exec, keys, options).waits);
    exec.fence();
    if (listens) {
      const Listener listener;
      kradix::sort(exec, keys, options);
    } else {
      kradix::sort(exec, keys, options);
    }
    exec.fence();
    EXPECT_EQ(to_host(keys), sorted);
  }
  EXPECT_EQ(kernels_heard(), expected);
  EXPECT_TRUE(Listener::of(Event::allocation).empty());
  EXPECT_TRUE(Listener::of(Event::copy).empty());
}

TEST(Labels, WhoMayWaitLaunchesWhatHasWork) {
  if constexpr (kradix::impl::has_lanes<Space> && kradix::impl::has_board<Space>) {
    std::mt19937_64 random{keys::fresh_seed()};
    SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
    std::vector<std::uint32_t> few(5000);
    const std::vector<std::string> told{"GlanceAtKeys", "CountAllDigits", "ListOrRecount",
                                        "SpreadTile"};
    const auto with = [](std::vector<std::string> all, std::initializer_list<const char*> more) {
      all.insert(all.end(), more.begin(), more.end());
      return all;
    };
    expect_stages_where_the_host_waits(few, told);  // in order
    for (auto& key : few) key = static_cast<std::uint32_t>(random() % 200);
    expect_stages_where_the_host_waits(few, with(told, {"FinishRanges"}));  // one digit, copied
    for (auto& key : few) key = static_cast<std::uint32_t>(random() % 50000);
    expect_stages_where_the_host_waits(few, with(told, {"SweepTile"}));
    for (auto& key : few) key = static_cast<std::uint32_t>(random());
    constexpr bool stays = kradix::impl::is_host_space<Space>;  // as above
    expect_stages_where_the_host_waits(few,
                                       stays ? with(told, {"SweepTile", "SweepRest"})
                                             : with(told, {"SweepTile", "SweepTile", "SweepTile"}));
    if constexpr (kradix::impl::deal_shape<Space>(4).exists() && !stays) {
      std::vector<std::uint32_t> many(kradix::impl::least_tried);
      for (auto& key : many) key = static_cast<std::uint32_t>(random());
      expect_stages_where_the_host_waits(
          many, {"GlanceAtKeys", "TakeOutKeys", "CountAllDigits", "ListOrRecount", "SpreadTile",
                 "DealKeys", "FinishDealt", "FinishRanges"});
    }
  }
}

/// What a listening tool sees of one sort of u16 keys by four_kernel.
std::vector<std::string> events_of_a_sort(const kradix::Options& wanted, bool again) {
  kradix::Options options = wanted;
  options.algorithm = kradix::Algorithm::four_kernel;
  const Kokkos::View<std::uint16_t*, Memory> keys("keys", 5000);
  const Space exec;
  if (again) kradix::sort(exec, keys, options);
  exec.fence();
  const Listener listener;
  kradix::sort(exec, keys, options);
  return Listener::sequence();
}

constexpr const char* region_of_a_sort =
    "region kradix::sort [four_kernel: 5000 keys of 2 B, up to 2 passes of 8 bits]";

std::vector<std::string> expected_kernels() {
  std::vector<std::string> expected;
  const auto add = [&](std::initializer_list<const char*> kernels) {
    for (const char* kernel : kernels)
      expected.push_back(std::string("kernel kradix::four_kernel::") + kernel);
  };
  add({"SurveyKeys", "ListPasses"});
  for (int pass = 0; pass < 2; ++pass) add({"CountTile", "ScanTiles", "ScanBins", "ScatterTile"});
  add({"Settle"});
  return expected;
}

TEST(Labels, ASortIsOneRegionAroundAllOfItsEvents) {
  std::vector<std::string> expected = expected_kernels();
  expected.insert(expected.begin(), {region_of_a_sort, "allocation kradix::workspace"});
  expected.insert(expected.end(), {"deallocation kradix::workspace", "region_end "});
  std::vector<std::string> events = events_of_a_sort({}, false);
  // Kokkos waits where memory is freed, and nothing waits before.
  const auto settled =
      std::find(events.begin(), events.end(), "kernel kradix::four_kernel::Settle");
  events.erase(
      std::remove_if(settled, events.end(),
                     [](const std::string& event) { return starts_with(event, "fence "); }),
      events.end());
  EXPECT_EQ(events, expected);
}

TEST(Labels, AWarmWorkspaceLeavesTheRegionItsKernelsAlone) {
  kradix::Workspace workspace;
  kradix::Options options;
  options.workspace = &workspace;
  std::vector<std::string> expected = expected_kernels();
  expected.insert(expected.begin(), region_of_a_sort);
  expected.push_back("region_end ");
  EXPECT_EQ(events_of_a_sort(options, true), expected);
  // And nothing that sequence() leaves out as Kokkos' own.
  EXPECT_TRUE(Listener::of(Event::allocation).empty());
  EXPECT_TRUE(Listener::of(Event::deallocation).empty());
  EXPECT_TRUE(Listener::of(Event::copy).empty());
}

TEST(Labels, EveryAlgorithmIsOneRegionWithItsName) {
  for (const kradix::Algorithm algorithm :
       {kradix::Algorithm::four_kernel, kradix::Algorithm::onesweep,
        kradix::Algorithm::msd_hybrid}) {
    if (algorithm != kradix::Algorithm::four_kernel && !kradix::impl::has_lanes<Space>) continue;
    kradix::Options options;
    options.algorithm = algorithm;
    call_everything(Space{}, options);
    int depth = 0, deepest = 0;
    for (const Event& event : Listener::events()) {
      if (event.kind == Event::region) {
        EXPECT_TRUE(
            starts_with(event.label, "kradix::sort [" + std::string(name(algorithm)) + ": "))
            << event.label;
        deepest = std::max(deepest, ++depth);
      }
      if (event.kind == Event::region_end) --depth;
      if (event.kind == Event::kernel) {
        EXPECT_EQ(depth, 1) << event.label;
      }
    }
    EXPECT_EQ(depth, 0);
    EXPECT_EQ(deepest, 1);
  }
}

TEST(Labels, KernelsRunOnTheCallersInstance) {
  const auto instances = Kokkos::Experimental::partition_space(Space{}, 1, 1);
  for (const Space& exec : instances) {
    call_everything(exec, {});
    const std::uint32_t device = Kokkos::Tools::Experimental::device_id(exec);
    for (const Event& event : Listener::of(Event::kernel))
      EXPECT_EQ(event.device, device) << event.label;
  }
}

TEST(Labels, FencesOfTheOverloadWithoutAnInstanceAreNamed) {
  const Kokkos::View<int*, Memory> keys("keys", 100);
  {
    const Listener listener;
    kradix::sort(keys);
  }
  int before = 0, after = 0;
  for (const Event& event : Listener::of(Event::fence)) {
    before += event.label == "kradix::sort: fence before";
    after += event.label == "kradix::sort: fence after";
  }
  EXPECT_GE(before, 1);  // Kokkos::fence reports one per backend
  EXPECT_EQ(after, 1);
}

}  // namespace
