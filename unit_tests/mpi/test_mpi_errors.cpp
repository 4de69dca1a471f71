// A rank that fails makes every rank throw the same error, soon, and nobody's data change.
#include <chrono>
#include <cstdio>
#include <gtest/gtest.h>
#include <limits>
#include <new>
#include <sys/resource.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "kradix/mpi/sort.hpp"
#include "mpi/world.hpp"

namespace {

using kradix::mpi::Options;
using kradix::mpi::OutputSizes;
using kradix::mpi::Route;
using kradix::mpi::Splitters;
using kradix::mpi::Transport;
using kradix::mpi::Work;

struct MpiErrors : ::testing::Test {
  // (nvcc makes a list of two of a vector in braces.)
  std::vector<std::uint64_t> input =
      std::vector<std::uint64_t>(100, static_cast<unsigned>(world::rank()));
  Kokkos::View<std::uint64_t*, Memory> keys = to_device(input);
  Space exec;
  int last = world::size() - 1;
  bool am_last = world::rank() == last;

  /// Every rank throws an Error with all `parts` in the same message, within seconds.
  template <class Error, class Call>
  void expect_error(const Call& call, const std::vector<std::string>& parts) {
    const auto begin = std::chrono::steady_clock::now();
    std::string message;
    try {
      call();
      ADD_FAILURE() << "nothing was thrown";
    } catch (const Error& error) {
      message = error.what();
    } catch (const std::exception& error) {
      ADD_FAILURE() << "another type of error: " << error.what();
    }
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
    for (const std::string& part : parts) {
      EXPECT_NE(message.find(part), std::string::npos) << "no '" << part << "' in: " << message;
    }
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    char root[4096] = {};
    std::snprintf(root, sizeof root, "%s", message.c_str());
    MPI_Bcast(root, sizeof root, MPI_CHAR, 0, MPI_COMM_WORLD);
    EXPECT_EQ(message, root);
    EXPECT_EQ(to_host(keys), input);
    // The communicator still works.
    EXPECT_EQ(kradix::mpi::sort(MPI_COMM_WORLD, exec, keys).keys.extent(0), 100u);
  }
  template <class Call>
  void expect_refused(const Call& call, const std::vector<std::string>& parts) {
    expect_error<std::invalid_argument>(call, parts);
  }
  std::string last_rank() const {
    return "rank " + std::to_string(last) + " of " + std::to_string(last + 1);
  }
};

TEST_F(MpiErrors, BadOptionsOnOneRank) {
  const auto sort_with = [&](Options options) {
    return [this, options] {
      (void)kradix::mpi::sort(MPI_COMM_WORLD, exec, keys, am_last ? options : Options{});
    };
  };
  expect_refused(sort_with({.bits = {3, 65}}), {last_rank(), "mpi::sort", "[3, 65)", "64 bits"});
  expect_refused(sort_with({.label = nullptr}), {last_rank(), "label"});
  expect_refused(sort_with({.ranges = -2}), {last_rank(), "-2 ranges"});
  expect_refused(sort_with({.node_size = -1}), {last_rank(), "nodes of -1"});
  expect_refused(sort_with({.message_bytes = 0}), {last_rank(), "messages of 0 bytes"});
  expect_refused(sort_with({.message_bytes = (std::size_t{1} << 30) + 1}),
                 {last_rank(), "1073741825"});
  expect_refused(sort_with({.splitters = Splitters::sampled(-0.5)}), {last_rank(), "epsilon -0.5"});
  expect_refused(
      sort_with({.sizes = OutputSizes::keep_counts(), .splitters = Splitters::sampled(0.1)}),
      {last_rank(), "sampled"});
  expect_refused(sort_with({.route = Route::two_level, .node_size = last + 2}),
                 {last_rank(), "equal nodes"});
}

TEST_F(MpiErrors, LengthsThatDifferOnOneRank) {
  const Kokkos::View<int*, Memory> hundred("hundred", 100), nine("nine", 9);
  expect_refused(
      [&] { (void)kradix::mpi::sort_by_key(MPI_COMM_WORLD, exec, keys, am_last ? nine : hundred); },
      {last_rank(), "mpi::sort_by_key", "100 elements", "9"});
}

TEST_F(MpiErrors, OverlapAndStridesOnOneRank) {
  const Kokkos::View<std::uint64_t*, Memory> out("out", 100);
  const Kokkos::View<std::uint64_t**, Kokkos::LayoutRight, Memory> table("table", 100, 2);
  const Kokkos::View<std::uint64_t*, Kokkos::LayoutStride, Memory> plain(out);
  const Kokkos::View<std::uint64_t*, Kokkos::LayoutStride, Memory> column(
      Kokkos::subview(table, Kokkos::ALL, 1));
  expect_refused([&] { (void)kradix::mpi::sort(MPI_COMM_WORLD, exec, keys, am_last ? keys : out); },
                 {last_rank(), "overlap in 800 bytes"});
  expect_refused(
      [&] { (void)kradix::mpi::sort(MPI_COMM_WORLD, exec, keys, am_last ? column : plain); },
      {last_rank(), "stride 2"});
  const Kokkos::View<int*, Memory> x("x", 100), y("y", 100), x_out("x_out", 100),
      y_out("y_out", 100), nine("nine", 9);
  const auto sort_to = [&](const auto& first_out, const auto& second_out) {
    return [&, first_out, second_out] {
      (void)kradix::mpi::sort_by_key(MPI_COMM_WORLD, exec, keys, std::tuple(x, y), out,
                                     std::tuple(first_out, second_out));
    };
  };
  expect_refused(sort_to(am_last ? nine : x_out, y_out), {last_rank(), "values_out", "9"});
  expect_refused(sort_to(x_out, am_last ? x_out : y_out), {last_rank(), "overlap in 400 bytes"});
  expect_refused(sort_to(x_out, am_last ? x : y_out), {last_rank(), "values_in", "overlap"});
  sort_to(x_out, y_out)();
}

TEST_F(MpiErrors, AnotherTypeOnOneRank) {
  if (last == 0) GTEST_SKIP() << "needs two ranks";
  const auto small = to_device(std::vector<std::uint32_t>(100, 1));
  expect_refused(
      [&] {
        if (am_last) {
          (void)kradix::mpi::sort(MPI_COMM_WORLD, exec, small);
        } else {
          (void)kradix::mpi::sort(MPI_COMM_WORLD, exec, keys);
        }
      },
      {last_rank(), "bytes of a key is 4 here and 8 on rank 0"});
  expect_refused(
      [&] {
        if (am_last) {
          (void)kradix::mpi::sort_by_key(MPI_COMM_WORLD, exec, keys, small);
        } else {
          (void)kradix::mpi::sort(MPI_COMM_WORLD, exec, keys);
        }
      },
      {last_rank(), "number of value arrays is 1 here and 0 on rank 0"});
}

TEST_F(MpiErrors, OptionsThatDiffer) {
  if (last == 0) GTEST_SKIP() << "needs two ranks";
  const auto differ = [&](Options options) {
    return [this, options] {
      (void)kradix::mpi::sort(MPI_COMM_WORLD, exec, keys, am_last ? options : Options{});
    };
  };
  expect_refused(differ({.order = kradix::Order::descending}),
                 {last_rank(), "order is 1 here and 0"});
  expect_refused(differ({.sizes = OutputSizes::keep_counts()}),
                 {last_rank(), "kind of output sizes"});
  expect_refused(differ({.work = Work::sort_first}), {last_rank(), "order of work"});
  expect_refused(differ({.message_bytes = 4096}), {last_rank(), "message bytes is 4096 here"});
}

TEST_F(MpiErrors, SizesThatDoNotAddUp) {
  const std::string has = "have " + std::to_string(100 * (last + 1));
  expect_refused(
      [&] {
        (void)kradix::mpi::sort(MPI_COMM_WORLD, exec, keys,
                                {.sizes = OutputSizes::requested(am_last ? 99 : 100)});
      },
      {"rank 0 of", "want " + std::to_string(100 * (last + 1) - 1), has});
}

#ifndef KRADIX_ENABLE_NCCL
TEST_F(MpiErrors, NcclThatIsNotThere) {
  expect_refused(
      [&] { (void)kradix::mpi::sort(MPI_COMM_WORLD, exec, keys, {.transport = Transport::nccl}); },
      {"rank 0", "NCCL", "KRADIX_ENABLE_NCCL"});
}
#endif

TEST_F(MpiErrors, PeersThatAreNotThere) {
  if (world::has_peers()) GTEST_SKIP() << "these ranks reach each other's memory";
  expect_refused(
      [&] { (void)kradix::mpi::sort(MPI_COMM_WORLD, exec, keys, {.transport = Transport::peer}); },
      {"rank 0", "fetch from each other's memory only where", "CUDA GPUs"});
}

/// While this lives, large allocations of this process fail.
class NoMoreMemory {
 public:
  explicit NoMoreMemory(bool active, rlim_t megabytes_left = 4) {
    getrlimit(RLIMIT_AS, &before_);
    if (!active) return;
    unsigned long pages = 0;
    std::FILE* const file = std::fopen("/proc/self/statm", "r");
    if (file && std::fscanf(file, "%lu", &pages) == 1) {
      const rlimit tight{pages * 4096 + (megabytes_left << 20), before_.rlim_max};
      setrlimit(RLIMIT_AS, &tight);
    }
    if (file) std::fclose(file);
  }
  ~NoMoreMemory() { setrlimit(RLIMIT_AS, &before_); }

 private:
  rlimit before_{};
};

TEST_F(MpiErrors, MemoryThatOneRankDoesNotGet) {
  if (!Kokkos::SpaceAccessibility<Space, Kokkos::HostSpace>::accessible) {
    GTEST_SKIP() << "limits the memory of hosts";
  }
#ifdef __GLIBC__
  // What is freed goes back at once: under a limit there must be none at hand.
  mallopt(M_MMAP_THRESHOLD, 1 << 19);
#endif
  const std::size_t count = std::size_t{1} << 20;  // 8 MB of keys
  std::vector<std::uint64_t> many(count);
  for (std::size_t i = 0; i < count; ++i)
    many[i] = inputs::mix(i + static_cast<unsigned>(world::rank()));
  const auto large = to_device(many);
  for (const Work work :
       {Work::partition_first, Work::sort_first, Work::sort_halves, Work::spread_first}) {
    expect_error<std::runtime_error>(
        [&] {
          const NoMoreMemory limit(am_last);
          (void)kradix::mpi::sort(MPI_COMM_WORLD, exec, large, {.work = work});
        },
        {last_rank(), "failed", "emory"});
    EXPECT_EQ(to_host(large), many);
  }
  // The result alone does not fit.
  kradix::mpi::Workspace workspace;
  const Options warm{.sizes = OutputSizes::keep_counts(), .workspace = &workspace};
  (void)kradix::mpi::sort(MPI_COMM_WORLD, exec, large, warm);
  expect_error<std::runtime_error>(
      [&] {
        const NoMoreMemory limit(am_last);
        (void)kradix::mpi::sort(MPI_COMM_WORLD, exec, large, warm);
      },
      {last_rank(), "failed", "mpi::keys"});
  // The memory of a range's sort does not: the other ranges must be exchanged all the same.
  const Kokkos::View<std::uint64_t*, Memory> out("out", count);
  const Options ranges{.ranges = 4, .workspace = &workspace};
  (void)kradix::mpi::sort(MPI_COMM_WORLD, exec, large, out, ranges);
  workspace.sort.release();
  expect_error<std::runtime_error>(
      [&] {
        const NoMoreMemory limit(am_last, 1);
        (void)kradix::mpi::sort(MPI_COMM_WORLD, exec, large, out, ranges);
      },
      {last_rank(), "failed", "kradix::workspace"});
}

}  // namespace
