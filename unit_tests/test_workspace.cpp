// The workspace: reuse without allocation or fence, growth, release; two instances at once.
#include <gtest/gtest.h>

#include "kradix/sort.hpp"
#include "support/device.hpp"
#include "support/events.hpp"
#include "support/keys.hpp"
#include "support/reference.hpp"

namespace {

TEST(Workspace, WarmItNeitherAllocatesNorFences) {
  kradix::Workspace workspace;
  kradix::Options options;
  options.workspace = &workspace;
  const Space exec;
  const Kokkos::View<double*, Memory> keys("keys", 50000), values("values", 50000),
      keys_out("keys_out", 50000), values_out("values_out", 50000);
  const Kokkos::View<std::int32_t*, Memory> permutation("permutation", 50000);
  const auto sort_all = [&] {
    kradix::sort(exec, keys, options);
    kradix::sort(exec, keys, values, options);
    kradix::sort_by_key(exec, keys, values, options);
    kradix::sort_by_key(exec, keys, values, keys_out, values_out, options);
    kradix::argsort(exec, keys, permutation, options);
  };
  sort_all();
  exec.fence();
  {
    const Listener listener;
    sort_all();
  }
  EXPECT_FALSE(Listener::of(Event::kernel).empty());
  for (const Event::Kind kind :
       {Event::allocation, Event::deallocation, Event::fence, Event::copy}) {
    for (const Event& event : Listener::of(kind)) {
      // Teams of Kokkos' Threads backend fence inside every launch; nobody can ask for less.
      if (kind == Event::fence && event.label.find("Kokkos::Threads") != std::string::npos)
        continue;
      ADD_FAILURE() << "event " << kind << ": " << event.label;
    }
  }
}

TEST(Workspace, GrowsNeverShrinksAndIsReleased) {
  kradix::Workspace workspace;
  EXPECT_EQ(workspace.bytes(), 0u);
  kradix::Options options;
  options.workspace = &workspace;
  const Space exec;
  const auto sort_of = [&](std::size_t count) {
    const Kokkos::View<std::uint32_t*, Memory> keys("keys", count);
    kradix::sort(exec, keys, options);
    exec.fence();
    return kradix::plan(exec, keys, options).temporary_bytes;
  };
  const std::size_t large = sort_of(100000);
  EXPECT_EQ(workspace.bytes(), large);
  sort_of(20000);
  EXPECT_EQ(workspace.bytes(), large);
  const std::size_t larger = sort_of(300000);
  EXPECT_GT(larger, large);
  EXPECT_EQ(workspace.bytes(), larger);
  workspace.release();
  EXPECT_EQ(workspace.bytes(), 0u);
  EXPECT_EQ(workspace.bytes(), 0u);
  sort_of(20000);
  EXPECT_GT(workspace.bytes(), 0u);
}

TEST(Workspace, ServesDifferentSortsInTurn) {
  kradix::Workspace workspace;
  kradix::Options options;
  options.workspace = &workspace;
  std::mt19937_64 random{keys::fresh_seed()};
  SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
  const Space exec;
  for (int turn = 0; turn < 10; ++turn) {
    const auto input =
        keys::make<std::uint32_t>(keys::Pattern::uniform, 1 + random() % 60000, random);
    const auto view = to_device(input);
    kradix::sort(exec, view, options);
    exec.fence();
    auto expected = input;
    std::sort(expected.begin(), expected.end());
    ASSERT_EQ(to_host(view), expected) << "turn " << turn;
  }
}

TEST(Instances, TwoSortAtOnceWithAWorkspaceEach) {
  const auto instances = Kokkos::Experimental::partition_space(Space{}, 1, 1);
  std::mt19937_64 random{keys::fresh_seed()};
  SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
  kradix::Workspace workspaces[2];
  std::vector<std::vector<std::uint64_t>> inputs;
  std::vector<Kokkos::View<std::uint64_t*, Memory>> views;
  for (int k = 0; k < 2; ++k) {
    inputs.push_back(keys::make<std::uint64_t>(keys::Pattern::uniform, 200000 + 77777 * k, random));
    views.push_back(to_device(inputs.back()));
  }
  for (int k = 0; k < 2; ++k) {
    kradix::Options options;
    options.workspace = &workspaces[k];
    options.order = k == 0 ? kradix::Order::ascending : kradix::Order::descending;
    kradix::sort(instances[k], views[k], options);
  }
  for (const Space& exec : instances) exec.fence();
  std::sort(inputs[0].begin(), inputs[0].end());
  std::sort(inputs[1].begin(), inputs[1].end(), std::greater<>{});
  EXPECT_EQ(to_host(views[0]), inputs[0]);
  EXPECT_EQ(to_host(views[1]), inputs[1]);
}

}  // namespace
