// What Kokkos Tools see: a region, labelled kernels and allocations, all on the caller's instance.
#include <gtest/gtest.h>

#include "kradix/sort.hpp"
#include "support/device.hpp"
#include "support/events.hpp"

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

bool starts_with(const std::string& text, const std::string& start) {
  return text.rfind(start, 0) == 0;
}

TEST(Labels, EveryKernelRegionAndAllocationIsNamed) {
  const std::string algorithm = chosen_algorithm();
  const std::string region = "kradix::sort [" + algorithm + "]",
                    kernels = "kradix::" + algorithm + "::";
  call_everything(Space{}, {});
  ASSERT_EQ(Listener::of(Event::region).size(), 6u);
  for (const Event& event : Listener::of(Event::region)) EXPECT_EQ(event.label, region);
  ASSERT_FALSE(Listener::of(Event::kernel).empty());
  for (const Event& event : Listener::of(Event::kernel)) {
    EXPECT_TRUE(starts_with(event.label, kernels) || starts_with(event.label, "kradix::stage::"))
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

template <class Key>
void expect_stages(kradix::Algorithm algorithm, const std::vector<std::string>& expected) {
  const Kokkos::View<Key*, Memory> keys("keys", 5000);
  const Space exec;
  exec.fence();
  {
    const Listener listener;
    kradix::Options options;
    options.algorithm = algorithm;
    kradix::sort(exec, keys, options);
  }
  std::vector<std::string> kernels;
  for (const Event& event : Listener::of(Event::kernel)) {
    kernels.push_back(event.label.substr(event.label.rfind(':') + 1));
  }
  EXPECT_EQ(kernels, expected);
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
  expect_stages<std::uint16_t>(
      kradix::Algorithm::onesweep,
      {"ClearWords", "CountAllDigits", "ListDigits", "SweepTile", "SweepTile", "Settle"});
  expect_stages<std::uint32_t>(
      kradix::Algorithm::msd_hybrid,
      {"ClearWords", "GlanceAtKeys", "SampleRuns", "ChooseRoute", "CountAllDigits", "ListDigits",
       "CountAllDigits", "ListDigits", "SweepTile", "SweepTile", "SweepTile", "SweepTile",
       "ListChunks", "FinishChunk", "FinishRanges", "Settle"});
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
