// Keys with values, and global permutations: (rank, index) payloads prove that order is kept.
#include <gtest/gtest.h>

#include "kradix/mpi/sort.hpp"
#include "mpi/shown_by_copies.hpp"
#include "mpi/world.hpp"

namespace {

using kradix::mpi::Options;
using kradix::mpi::Route;
using kradix::mpi::Splitters;
using kradix::mpi::Transport;
using kradix::mpi::Work;
using world::Shape;
using world::Spread;
using world::Whole;

struct Origin {
  std::uint32_t rank, index;
};
struct Short {
  std::uint16_t rank, index;
};
struct Wide {
  std::uint32_t rank, index, check;
};

template <class Value>
std::vector<Value> origins(const std::vector<std::size_t>& counts) {
  std::vector<Value> all;
  for (std::uint32_t r = 0; r < counts.size(); ++r) {
    for (std::uint32_t i = 0; i < counts[r]; ++i) {
      Value value{};
      value.rank = static_cast<decltype(value.rank)>(r);
      value.index = static_cast<decltype(value.index)>(i);
      if constexpr (std::is_same_v<Value, Wide>) value.check = r ^ ~i;
      all.push_back(value);
    }
  }
  return all;
}

template <class Key, class Value>
void expect_pairs_sorted(const Whole<Key>& whole, const Options& options, const std::string& what) {
  const std::vector<Value> values = origins<Value>(whole.counts);
  const auto result =
      kradix::mpi::sort_by_key(MPI_COMM_WORLD, Space{}, to_device(whole.mine(whole.keys)),
                               to_device(whole.mine(values)), options);
  const auto indices = reference::sorted_indices(whole.keys, options.order);
  const std::size_t count = result.keys.extent(0);
  const std::size_t begin = world::sum_below(count);
  EXPECT_EQ(result.values.extent(0), count);
  EXPECT_TRUE(
      world::same_bytes(to_host(result.keys), world::slice(whole.keys, indices, begin, count)))
      << what;
  EXPECT_TRUE(
      world::same_bytes(to_host(result.values), world::slice(values, indices, begin, count)))
      << what;
  if (!options.splitters.is_exact()) return;
  // Into memory at hand; with a workspace kept, runs may arrive elsewhere.
  kradix::mpi::Workspace workspace;
  Options kept = options;
  kept.workspace = &workspace;
  const Kokkos::View<Key*, Memory> keys_out("keys_out", count);
  const Kokkos::View<Value*, Memory> values_out("values_out", count);
  (void)kradix::mpi::sort_by_key(MPI_COMM_WORLD, Space{}, to_device(whole.mine(whole.keys)),
                                 to_device(whole.mine(values)), keys_out, values_out, kept);
  EXPECT_TRUE(world::same_bytes(to_host(keys_out), to_host(result.keys))) << what;
  EXPECT_TRUE(world::same_bytes(to_host(values_out), to_host(result.values))) << what;
}
template <class Key, class Value>
void expect_pairs_sorted(Shape shape, Spread spread, std::size_t per_rank, const Options& options) {
  expect_pairs_sorted<Key, Value>(Whole<Key>(shape, spread, per_rank), options,
                                  "shape " + std::to_string(static_cast<int>(shape)) + " spread " +
                                      std::to_string(static_cast<int>(spread)));
}

std::vector<Options> all_options() {
  std::vector<Options> all{
      {.work = Work::partition_first},
      {.work = Work::sort_first},
      {.order = kradix::Order::descending, .splitters = Splitters::sampled(0.3)},
      {.transport = Transport::staged, .ranges = 2, .message_bytes = 1024},
      {.work = Work::sort_first, .ranges = 3},
      {.work = Work::sort_halves},
      {.work = Work::sort_halves, .ranges = 3, .message_bytes = 1000},
      {.work = Work::spread_first},
      {.order = kradix::Order::descending, .work = Work::spread_first, .ranges = 3},
      {.route = Route::two_level, .node_size = 2},
  };
  for (const Transport transport : world::transports_beside()) {
    all.push_back({.transport = transport});
    all.push_back({.work = Work::sort_first, .transport = transport, .ranges = 3});
    all.push_back({.work = Work::sort_halves, .transport = transport, .ranges = 2});
    all.push_back({.work = Work::partition_first, .transport = transport, .ranges = 2});
    all.push_back({.work = Work::spread_first, .transport = transport, .ranges = 2});
  }
  return all;
}

TEST(MpiPairs, OrderIsKeptAcrossRanks) {
  for (Options options : all_options()) {
    if (world::size() % 2 != 0) options.route = Route::automatic;
    for (const Shape shape : world::all_shapes) {
      expect_pairs_sorted<std::uint64_t, Origin>(shape, Spread::even, 400, options);
    }
    for (const Spread spread : world::all_spreads) {
      expect_pairs_sorted<std::uint64_t, Origin>(Shape::few, spread, 400, options);
    }
  }
}

TEST(MpiPairs, OrderIsKeptWhereOthersShowThem) {
  if (!kradix::impl::is_host_space<Space>) GTEST_SKIP() << "devices read each other's memory";
  const world::ShownByCopies copies;
  for (const Work work : {Work::sort_first, Work::sort_halves, Work::spread_first}) {
    for (const Shape shape : world::all_shapes) {
      // Not of what goes other ways, after all.
      world::CopyingTraffic::checks_alignment =
          work == Work::spread_first && shape == Shape::uniform;
      expect_pairs_sorted<std::uint64_t, Origin>(shape, Spread::even, 900, {.work = work});
      expect_pairs_sorted<std::uint32_t, Origin>(shape, Spread::ramp, 900, {.work = work});
    }
  }
}

/// Into cells and parts of several tiles each, whatever a sample tells, by keys and values of 4 and 8 bytes.
template <class Key, class Value>
void expect_pairs_spread(const Options& options) {
  for (const Shape shape : world::all_shapes) {
    expect_pairs_sorted<Key, Value>(shape, Spread::even, 9000, options);
  }
  expect_pairs_sorted<Key, Value>(Shape::uniform, Spread::ramp, 5000, options);
  const Whole<Key> whole(Shape::uniform, Spread::even, 30000);
  const auto result =
      kradix::mpi::sort_by_key(MPI_COMM_WORLD, Space{}, to_device(whole.mine(whole.keys)),
                               to_device(whole.mine(origins<Value>(whole.counts))), options);
  const bool fits = world::size() >= 2 && world::size() <= 16;
  EXPECT_EQ(result.report.work == Work::spread_first, fits) << result.report;
}
TEST(MpiPairs, OrderIsKeptInCells) {
  for (const int ranges : {1, 4}) {
    expect_pairs_spread<std::uint64_t, Short>({.work = Work::spread_first, .ranges = ranges});
    expect_pairs_spread<std::uint32_t, Origin>({.work = Work::spread_first, .ranges = ranges});
  }
  expect_pairs_spread<std::int32_t, Short>(
      {.order = kradix::Order::descending, .work = Work::spread_first});
  expect_pairs_spread<std::int64_t, Origin>({.work = Work::spread_first, .ranges = 2});
}
/// A tenth of all elements lies in one cell, of one key or of some: it has no room for them, and its parts none again.
TEST(MpiPairs, OrderIsKeptInACellThatNoSampleSeesFull) {
  for (const std::uint64_t kinds : {std::uint64_t{1}, std::uint64_t{7}, std::uint64_t{1} << 40}) {
    for (const int ranges : {1, 4}) {
      const auto whole = world::full_cell(40000, kinds);
      expect_pairs_sorted<std::uint64_t, Short>(
          whole, {.work = Work::spread_first, .ranges = ranges}, "a full cell");
    }
  }
}

/// A key that no sample sees, far beyond all others: then they are sorted otherwise.
TEST(MpiPairs, OrderIsKeptBesideAKeyInNoCell) {
  Whole<std::uint64_t> whole(Shape::uniform, Spread::even, 40000);
  for (auto& key : whole.keys) key >>= 20;
  whole.keys[whole.keys.size() / 2] = ~std::uint64_t{0} - 5;
  expect_pairs_sorted<std::uint64_t, Short>(whole, {.work = Work::spread_first, .ranges = 3},
                                            "one beyond");
}

TEST(MpiPairs, ValuesOfAnOddSize) {
  for (Options options : all_options()) {
    if (world::size() % 2 != 0) options.route = Route::automatic;
    for (const Shape shape : {Shape::few, Shape::uniform, Shape::sorted, Shape::equal}) {
      expect_pairs_sorted<std::uint32_t, Wide>(shape, Spread::ramp, 400, options);
    }
  }
}

TEST(MpiPairs, SeveralArrays) {
  for (Options options : all_options()) {
    if (world::size() % 2 != 0) options.route = Route::automatic;
    const Whole<std::uint32_t> whole(Shape::few, Spread::ramp, 500);
    const auto origin = origins<Origin>(whole.counts);
    const auto wide = origins<Wide>(whole.counts);
    std::vector<double> weight(whole.keys.size());
    for (std::size_t i = 0; i < weight.size(); ++i) weight[i] = 1.0 / static_cast<double>(i + 1);
    const auto result = kradix::mpi::sort_by_key(
        MPI_COMM_WORLD, Space{}, to_device(whole.mine(whole.keys)),
        std::tuple(to_device(whole.mine(origin)), to_device(whole.mine(wide)),
                   to_device(whole.mine(weight))),
        options);
    const auto indices = reference::sorted_indices(whole.keys, options.order);
    const std::size_t count = result.keys.extent(0);
    const std::size_t begin = world::sum_below(count);
    EXPECT_TRUE(
        world::same_bytes(to_host(result.keys), world::slice(whole.keys, indices, begin, count)));
    EXPECT_TRUE(world::same_bytes(to_host(std::get<0>(result.values)),
                                  world::slice(origin, indices, begin, count)));
    EXPECT_TRUE(world::same_bytes(to_host(std::get<1>(result.values)),
                                  world::slice(wide, indices, begin, count)));
    EXPECT_TRUE(world::same_bytes(to_host(std::get<2>(result.values)),
                                  world::slice(weight, indices, begin, count)));
    const Kokkos::View<std::uint32_t*, Memory> keys_out("keys_out", count);
    const Kokkos::View<Origin*, Memory> origin_out("origin_out", count);
    const Kokkos::View<Wide*, Memory> wide_out("wide_out", count);
    const Kokkos::View<double*, Memory> weight_out("weight_out", count);
    options.splitters = Splitters::exact();  // whose sizes are these
    if (result.report.exact) {
      (void)kradix::mpi::sort_by_key(
          MPI_COMM_WORLD, Space{}, to_device(whole.mine(whole.keys)),
          std::tuple(to_device(whole.mine(origin)), to_device(whole.mine(wide)),
                     to_device(whole.mine(weight))),
          keys_out, std::tuple(origin_out, wide_out, weight_out), options);
      EXPECT_TRUE(world::same_bytes(to_host(keys_out), to_host(result.keys)));
      EXPECT_TRUE(world::same_bytes(to_host(origin_out), to_host(std::get<0>(result.values))));
      EXPECT_TRUE(world::same_bytes(to_host(wide_out), to_host(std::get<1>(result.values))));
      EXPECT_TRUE(world::same_bytes(to_host(weight_out), to_host(std::get<2>(result.values))));
    }
  }
}

TEST(MpiPairs, PermutationsHaveGlobalIndices) {
  for (const Shape shape : {Shape::few, Shape::uniform, Shape::mirrored, Shape::sorted}) {
    for (const Spread spread : world::all_spreads) {
      for (const Work work : {Work::partition_first, Work::sort_first, Work::sort_halves}) {
        const Whole<std::uint32_t> whole(shape, spread, 500);
        const auto result = kradix::mpi::argsort(MPI_COMM_WORLD, Space{},
                                                 to_device(whole.mine(whole.keys)), {.work = work});
        const auto indices = reference::sorted_indices(whole.keys, kradix::Order::ascending);
        const auto permutation = to_host(result.permutation);
        const std::size_t begin = world::sum_below(permutation.size());
        ASSERT_LE(begin + permutation.size(), indices.size());
        EXPECT_TRUE(std::equal(permutation.begin(), permutation.end(),
                               indices.begin() + static_cast<std::ptrdiff_t>(begin)));
      }
    }
  }
}

struct Ghost {
  std::uint16_t cell;
  std::uint32_t id;
  double mass;
};

}  // namespace

template <>
struct kradix::KeyCodec<Ghost> {
  KOKKOS_FUNCTION static auto encode(const Ghost& g) { return kradix::key_bits(g.cell, g.id); }
};

namespace {

TEST(MpiPairs, KeysOfTheUsersOwnType) {
  const Whole<std::uint64_t> random(Shape::uniform, Spread::ramp, 600);
  std::vector<Ghost> all;
  for (const std::uint64_t bits : random.keys) {
    Ghost ghost{};
    ghost.cell = static_cast<std::uint16_t>(bits % 5);
    ghost.id = static_cast<std::uint32_t>(bits >> 60);
    ghost.mass = static_cast<double>(all.size());
    all.push_back(ghost);
  }
  for (const Work work : {Work::partition_first, Work::sort_first, Work::sort_halves}) {
    const auto result = kradix::mpi::sort(MPI_COMM_WORLD, Space{}, to_device(random.mine(all)),
                                          {.stability = kradix::Stability::stable, .work = work});
    const auto indices = reference::sorted_indices(all, [](const Ghost& a, const Ghost& b) {
      return a.cell != b.cell ? a.cell < b.cell : a.id < b.id;
    });
    const std::size_t count = result.keys.extent(0);
    const auto expected = world::slice(all, indices, world::sum_below(count), count);
    const auto found = to_host(result.keys);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {  // not their padding
      EXPECT_EQ(std::tie(found[i].cell, found[i].id, found[i].mass),
                std::tie(expected[i].cell, expected[i].id, expected[i].mass));
    }
  }
}

}  // namespace
