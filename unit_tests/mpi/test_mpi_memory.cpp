// What a distributed sort holds besides its input, watched through Kokkos Tools.
#include <gtest/gtest.h>
#include <map>

#include "kradix/mpi/sort.hpp"
#include "mpi/world.hpp"
#include "support/events.hpp"

namespace {

using kradix::mpi::Options;
using kradix::mpi::OutputSizes;
using kradix::mpi::Work;
using world::Shape;
using world::Spread;

/// Bytes allocated now and at most, since it listens.
class Meter {
 public:
  Meter() {
    now() = most() = 0;
    namespace Tools = Kokkos::Tools::Experimental;
    Tools::set_allocate_data_callback(
        [](Kokkos::Tools::SpaceHandle, const char*, const void*, std::uint64_t size) {
          now() += static_cast<std::int64_t>(size);
          most() = std::max(most(), now());
        });
    Tools::set_deallocate_data_callback(
        [](Kokkos::Tools::SpaceHandle, const char*, const void*, std::uint64_t size) {
          now() -= static_cast<std::int64_t>(size);
        });
  }
  ~Meter() { Kokkos::Tools::Experimental::pause_tools(); }
  static std::int64_t& now() {
    static std::int64_t bytes = 0;
    return bytes;
  }
  static std::int64_t& most() {
    static std::int64_t bytes = 0;
    return bytes;
  }
};

/// What is made once for each communicator is not counted.
void warm_up() {
  (void)kradix::mpi::sort(MPI_COMM_WORLD, Space{}, to_device(std::vector<std::uint64_t>(3, 1)));
}

constexpr std::int64_t local_sort_bytes = 18 << 20;

TEST(MpiMemory, TwoElementsForEachThatIsThere) {
  const auto p = static_cast<std::size_t>(world::size());
  const auto r = static_cast<std::size_t>(world::rank());
  const std::size_t large = 1500000;
  warm_up();
  for (const Work work : {Work::partition_first, Work::sort_first}) {
    for (const bool gathers : {false, true}) {
      // Spread from the first rank over all, or from all on the last one.
      const std::size_t before = gathers ? large / p : (r == 0 ? large : 0);
      const std::size_t after =
          gathers ? (r + 1 == p ? large / p * p : 0) : world::balanced(large, world::rank());
      std::vector<std::uint64_t> input(before);
      for (std::size_t i = 0; i < before; ++i) input[i] = inputs::mix(i * p + r);
      const auto keys = to_device(input);
      const Meter meter;
      const auto result = kradix::mpi::sort(
          MPI_COMM_WORLD, Space{}, keys,
          {.sizes = gathers ? OutputSizes::requested(after) : OutputSizes::balanced(),
           .work = work});
      EXPECT_EQ(result.keys.extent(0), after);
      const auto elements = static_cast<std::int64_t>(std::max(before, after));
      const std::int64_t cuts = 256 * 8 * static_cast<std::int64_t>(p);
      // Without a workspace others fetch from a copy, which stays with the communicator.
      const std::int64_t shown = world::has_peers() ? 8 * static_cast<std::int64_t>(before) : 0;
      EXPECT_LE(Meter::most(), 2 * 8 * elements + shown + cuts + local_sort_bytes)
          << name(work) << (gathers ? " gathers" : " spreads");
    }
  }
}

/// `sort(options)` allocates nothing when it has been called before.
template <class Sort>
void expect_warm(Work work, int ranges, const Sort& sort) {
  kradix::mpi::Workspace workspace;
  const Options options{.work = work, .ranges = ranges, .workspace = &workspace};
  sort(options);
  {
    const Listener listener;
    sort(options);
    for (const Event& event : Listener::of(Event::allocation))
      ADD_FAILURE() << name(work) << " allocated " << event.label;
  }
  EXPECT_GT(workspace.bytes(), 0u);
  workspace.release();
  EXPECT_EQ(workspace.bytes(), 0u);
}

TEST(MpiMemory, AWarmWorkspaceLeavesOnlyTheResultToAllocate) {
  std::vector<std::uint64_t> input(50000);
  for (std::size_t i = 0; i < input.size(); ++i)
    input[i] = inputs::mix(i * 64 + static_cast<unsigned>(world::rank()));
  const auto keys = to_device(input);
  const auto values = to_device(std::vector<std::uint32_t>(input.size(), 7));
  const Kokkos::View<std::uint64_t*, Memory> out("out", input.size());
  const Kokkos::View<std::uint32_t*, Memory> values_out("values_out", input.size());
  for (const auto& [work, ranges] : {std::pair{Work::partition_first, 2},
                                     {Work::sort_first, 2},
                                     {Work::sort_first, 1},
                                     {Work::sort_halves, 1},
                                     {Work::sort_halves, 2},
                                     {Work::spread_first, 1},
                                     {Work::spread_first, 3}}) {
    expect_warm(work, ranges, [&](const Options& options) {
      (void)kradix::mpi::sort(MPI_COMM_WORLD, Space{}, keys, out, options);
    });
  }
  for (const int ranges : {1, 3}) {
    expect_warm(Work::spread_first, ranges, [&](const Options& options) {
      (void)kradix::mpi::sort_by_key(MPI_COMM_WORLD, Space{}, keys, values, out, values_out,
                                     options);
    });
  }
}

TEST(MpiMemory, EverythingIsLabelled) {
  const auto keys =
      to_device(std::vector<std::uint64_t>(1000, 5u + static_cast<unsigned>(world::rank() % 2)));
  warm_up();
  const Listener listener;
  (void)kradix::mpi::sort(MPI_COMM_WORLD, Space{}, keys, {.label = "mine"});
  for (const auto kind : {Event::kernel, Event::allocation, Event::region}) {
    EXPECT_FALSE(Listener::of(kind).empty());
    for (const Event& event : Listener::of(kind)) {
      const bool ours = event.label.starts_with("mine::");
      const bool of_kokkos = event.label.starts_with("Kokkos::");
      EXPECT_TRUE(ours || of_kokkos) << event.label;
    }
  }
}

}  // namespace
