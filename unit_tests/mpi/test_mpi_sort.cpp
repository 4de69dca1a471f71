// Keys of all ranks, sorted: every rank's part beside a stable sort of the whole on the host.
#include <gtest/gtest.h>

#include "kradix/mpi/sort.hpp"
#include "mpi/shown_by_copies.hpp"
#include "mpi/world.hpp"
#include "support/keys.hpp"

namespace {

using kradix::mpi::Options;
using kradix::mpi::OutputSizes;
using kradix::mpi::Route;
using kradix::mpi::Splitters;
using kradix::mpi::Transport;
using kradix::mpi::Work;
using world::Shape;
using world::Spread;
using world::Whole;

/// Sorts and compares; returns the report.
template <class Key>
kradix::mpi::Report expect_sorted(const Whole<Key>& whole, const Options& options,
                                  const std::string& what) {
  const std::vector<Key> mine = whole.mine(whole.keys);
  const auto keys = to_device(mine);
  const auto result = kradix::mpi::sort(MPI_COMM_WORLD, Space{}, keys, options);
  const auto indices = reference::sorted_indices(whole.keys, options.order);
  const std::size_t count = result.keys.extent(0);
  const std::size_t begin = world::sum_below(count);
  const std::vector<Key> expected = world::slice(whole.keys, indices, begin, count);
  EXPECT_TRUE(world::same_bytes(to_host(result.keys), expected)) << what << "\n" << result.report;
  EXPECT_TRUE(world::same_bytes(to_host(keys), mine)) << what << ": the input changed";
  EXPECT_EQ(result.report.total, whole.keys.size()) << what;
  EXPECT_EQ(result.report.before, begin) << what;
  if (options.splitters.is_exact() && options.sizes.kind() == OutputSizes::Kind::balanced) {
    EXPECT_EQ(count, world::balanced(whole.keys.size(), world::rank())) << what;
  }
  return result.report;
}

template <class Key>
void expect_all_inputs_sorted(const Options& options, std::size_t per_rank) {
  for (const Shape shape : world::all_shapes) {
    expect_sorted(Whole<Key>(shape, Spread::even, per_rank), options,
                  "shape " + std::to_string(static_cast<int>(shape)));
  }
  for (const Spread spread : world::all_spreads) {
    for (const Shape shape : {Shape::uniform, Shape::equal, Shape::sorted}) {
      expect_sorted(Whole<Key>(shape, spread, per_rank), options,
                    "spread " + std::to_string(static_cast<int>(spread)) + " shape " +
                        std::to_string(static_cast<int>(shape)));
    }
  }
}

TEST(MpiSort, EveryInputPartitionFirst) {
  expect_all_inputs_sorted<std::uint64_t>({.work = Work::partition_first}, 1500);
}
TEST(MpiSort, EveryInputSortFirst) {
  expect_all_inputs_sorted<std::uint64_t>({.work = Work::sort_first}, 1500);
}
/// What leaves early is guessed: much of it is wrong where halves differ, as they do in `bucket_sorted`.
TEST(MpiSort, EveryInputInHalves) {
  for (const int ranges : {1, 3}) {
    kradix::mpi::Workspace workspace;
    expect_all_inputs_sorted<std::uint64_t>(
        {.work = Work::sort_halves, .ranges = ranges, .workspace = &workspace}, 1500);
    const auto report = expect_sorted(Whole<std::uint64_t>(Shape::uniform, Spread::even, 9000),
                                      {.work = Work::sort_halves, .ranges = ranges}, "halves");
    const bool fits = world::size() >= 2 && world::size() <= 8;
    EXPECT_EQ(report.work, fits ? Work::sort_halves : Work::sort_first);
  }
}
/// Into cells, whatever a sample tells: parts of them may have too many keys, or too many alike, and cells be divided between ranks.
template <class Key>
void expect_spread(const Options& options, std::size_t per_rank) {
  expect_all_inputs_sorted<Key>(options, per_rank);
  const auto report =
      expect_sorted(Whole<Key>(Shape::uniform, Spread::even, 9000), options, "spread");
  const bool fits = world::size() >= 2 && world::size() <= 16;
  EXPECT_EQ(report.work == Work::spread_first, fits) << report;
  if (fits) {
    EXPECT_EQ(report.ranges, std::max(options.ranges, 1));
  }
}
TEST(MpiSort, EveryInputSpreadFirst) {
  for (const int ranges : {1, 2, 5}) {
    kradix::mpi::Workspace workspace;
    expect_spread<std::uint64_t>(
        {.work = Work::spread_first, .ranges = ranges, .workspace = &workspace}, 2500);
  }
  expect_spread<std::uint32_t>({.work = Work::spread_first}, 2500);
  expect_spread<std::int64_t>({.order = kradix::Order::descending, .work = Work::spread_first},
                              1500);
  expect_spread<double>({.work = Work::spread_first, .ranges = 2}, 1500);
  expect_spread<float>({.order = kradix::Order::descending, .work = Work::spread_first}, 1500);
}
/// Of these the report says what was done instead: there are no cells of so few values, for bits of a key, or
/// where equal keys must keep their order.
TEST(MpiSort, SpreadFirstOnlyWhereItCanBe) {
  const Options options{.work = Work::spread_first};
  Whole<std::uint64_t> few(Shape::uniform, Spread::even, 9000);
  for (auto& key : few.keys) key %= 3;
  EXPECT_NE(expect_sorted(few, options, "few").work, Work::spread_first);
  Whole<std::uint8_t> bytes(Shape::uniform, Spread::even, 9000);
  EXPECT_NE(expect_sorted(bytes, options, "bytes").work, Work::spread_first);
  const Whole<float> floats(Shape::uniform, Spread::even, 9000);
  EXPECT_NE(
      expect_sorted(floats, {.stability = kradix::Stability::stable, .work = Work::spread_first},
                    "stable floats")
          .work,
      Work::spread_first);
  EXPECT_NE(
      expect_sorted(floats, {.splitters = Splitters::sampled(0.3), .work = Work::spread_first},
                    "sampled")
          .work,
      Work::spread_first);
}
/// Keys spread evenly, as far as any sample sees, but many lie in one cell: it has no room for them, and one of its parts none again.
TEST(MpiSort, ACellThatNoSampleSeesFull) {
  for (const std::uint64_t kinds : {std::uint64_t{1}, std::uint64_t{1} << 40}) {
    const auto whole = world::full_cell(40000, kinds);
    for (const int ranges : {1, 4}) {
      const auto report =
          expect_sorted(whole, {.work = Work::spread_first, .ranges = ranges}, "a full cell");
      EXPECT_EQ(report.work == Work::spread_first, world::size() > 1);
    }
  }
}
/// A key that no sample sees, far beyond all others: then keys are sorted otherwise.
TEST(MpiSort, AKeyInNoCell) {
  Whole<std::uint64_t> whole(Shape::uniform, Spread::even, 40000);
  for (auto& key : whole.keys) key >>= 20;
  whole.keys[whole.keys.size() / 2] = ~std::uint64_t{0} - 5;
  expect_sorted(whole, {.work = Work::spread_first, .ranges = 3}, "one beyond");
}

TEST(MpiSort, EveryInputSampled) {
  for (const Work work : {Work::partition_first, Work::sort_first}) {
    expect_all_inputs_sorted<std::uint64_t>({.splitters = Splitters::sampled(0.2), .work = work},
                                            1000);
  }
}
/// Within nodes through shared buffers, between them by messages: nodes of any size, of one, and of two.
TEST(MpiSort, EveryInputStagedInManyMessages) {
  for (const int node : {0, 1, 2}) {
    expect_all_inputs_sorted<std::uint64_t>({.transport = Transport::staged,
                                             .node_size = node,
                                             .message_bytes = 1024 * sizeof(std::uint64_t)},
                                            2000);
  }
}
/// From a workspace, whose memory others keep mapped, and, without one and where data are sorted already, from copies.
TEST(MpiSort, EveryInputMovedBesideKernels) {
  const auto transports = world::transports_beside();
  if (transports.empty()) GTEST_SKIP() << "these ranks' GPUs do not reach each other";
  for (const Transport transport : transports) {
    for (const Work work :
         {Work::partition_first, Work::sort_first, Work::sort_halves, Work::spread_first}) {
      for (const int ranges : {1, 3}) {
        for (const bool kept : {false, true}) {
          kradix::mpi::Workspace workspace;
          expect_all_inputs_sorted<std::uint64_t>({.work = work,
                                                   .transport = transport,
                                                   .ranges = ranges,
                                                   .message_bytes = 4000,
                                                   .workspace = kept ? &workspace : nullptr},
                                                  700);
        }
      }
    }
  }
}
/// Merged where the other of two ranks shows it; all ranges at once.
TEST(MpiSort, EveryInputReadWhereOthersShowIt) {
  if (!kradix::impl::is_host_space<Space>) GTEST_SKIP() << "devices read each other's memory";
  const world::ShownByCopies copies;
  for (const Work work : {Work::partition_first, Work::sort_first, Work::sort_halves}) {
    for (const int ranges : {1, 3}) {
      world::CopyingTraffic::times = 0;
      kradix::mpi::Workspace workspace;
      expect_all_inputs_sorted<std::uint64_t>(
          {.work = work, .ranges = ranges, .workspace = &workspace}, 700);
      EXPECT_EQ(world::CopyingTraffic::times > 0,
                world::size() == 2 && work != Work::partition_first);
    }
  }
}
/// Whoever moves words as wide as they come needs no other ones then. Runs of a range stay within it, in the order of ranks.
TEST(MpiSort, ElementsArriveAsFarFromAnAlignedPlaceAsTheyAreSentFrom) {
  using namespace kradix::impl::mpi;
  const int ranks = world::size();
  for (const int ranges : {1, 3}) {
    std::vector<std::uint64_t> sizes;
    for (int i = 0; i < ranks * ranges; ++i) {
      sizes.push_back(static_cast<std::uint64_t>((i * 7 + world::rank() * 11) % 53));
    }
    Routing routing(Communicator::of(MPI_COMM_WORLD), sizes, ranges);
    routing.align_arrivals();
    std::uint64_t end = 0;
    for (int range = 0; range < ranges; ++range) {
      for (int from = 0; from < ranks; ++from) {
        const std::uint64_t begin = routing.from_begin(from, range);
        EXPECT_GE(begin, end);
        EXPECT_LT(begin, end + aligned_bytes);
        EXPECT_EQ(begin % aligned_bytes, routing.sent_begin(from, range) % aligned_bytes);
        end = begin + routing.from(from, range);
      }
    }
    EXPECT_LE(end, routing.room());
  }
}

TEST(MpiSort, EveryInputInRanges) {
  expect_all_inputs_sorted<std::uint64_t>({.ranges = 3, .message_bytes = 1000}, 1000);
}
/// More classes than one pass of a partition tells apart, and than a histogram has bins.
TEST(MpiSort, HundredsOfRanges) {
  for (const Splitters splitters : {Splitters::exact(), Splitters::sampled(0.5)}) {
    for (const Work work : {Work::partition_first, Work::sort_first, Work::sort_halves}) {
      for (const Shape shape : {Shape::uniform, Shape::zipf, Shape::staggered}) {
        const Whole<std::uint64_t> whole(shape, Spread::ramp, 3000);
        const auto report =
            expect_sorted(whole, {.splitters = splitters, .work = work, .ranges = 80}, "ranges");
        EXPECT_EQ(report.ranges, 80);
      }
    }
  }
}
TEST(MpiSort, EveryInputThroughNodes) {
  for (const int node : {2, 3, 4}) {
    if (world::size() % node != 0) continue;
    expect_all_inputs_sorted<std::uint64_t>({.route = Route::two_level, .node_size = node}, 700);
    expect_all_inputs_sorted<std::uint64_t>(
        {.transport = Transport::staged, .route = Route::two_level, .ranges = 2, .node_size = node},
        300);
  }
}
TEST(MpiSort, ThroughNodesSaysSo) {
  if (world::size() % 2 != 0) GTEST_SKIP() << "needs nodes of two ranks";
  const Whole<std::uint64_t> whole(Shape::uniform, Spread::even, 1000);
  const auto report =
      expect_sorted(whole, {.route = Route::two_level, .node_size = 2}, "through nodes of two");
  EXPECT_EQ(report.route, world::size() > 2 ? Route::two_level : Route::one_level);
}

TEST(MpiSort, KeysOf32Bits) {
  expect_all_inputs_sorted<std::uint32_t>({}, 1000);
}

TEST(MpiSort, SignedAndDescending) {
  expect_all_inputs_sorted<std::int32_t>({.order = kradix::Order::descending}, 700);
}

/// Zeros of both signs and NaNs compare equal and must keep the order of (rank, index).
TEST(MpiSort, FloatsThatCompareEqualKeepTheirOrder) {
  for (const Work work : {Work::partition_first, Work::sort_first, Work::sort_halves}) {
    for (const auto order : {kradix::Order::ascending, kradix::Order::descending}) {
      Whole<float> whole(Shape::uniform, Spread::ramp, 900);
      for (std::size_t i = 0; i < whole.keys.size(); ++i) {
        if (i % 3 == 0) whole.keys[i] = i % 2 ? 0.0f : -0.0f;
        if (i % 7 == 0)
          whole.keys[i] = std::bit_cast<float>(0x7fc00000u + static_cast<unsigned>(i % 5));
      }
      expect_sorted(whole, {.order = order, .stability = kradix::Stability::stable, .work = work},
                    "floats");
    }
  }
}

/// Where that is not asked for, they come in the order in which kradix::sort puts them.
TEST(MpiSort, FloatsThatCompareEqualComeInOneOrder) {
  for (const Work work :
       {Work::partition_first, Work::sort_first, Work::sort_halves, Work::spread_first}) {
    for (const auto order : {kradix::Order::ascending, kradix::Order::descending}) {
      Whole<float> whole(Shape::uniform, Spread::ramp, 900);
      for (std::size_t i = 0; i < whole.keys.size(); ++i) {
        if (i % 3 == 0) whole.keys[i] = i % 2 ? 0.0f : -0.0f;
        if (i % 4 == 0)
          whole.keys[i] = std::bit_cast<float>((i % 8 == 0 ? 0xffc00000u : 0x7fc00000u) +
                                               static_cast<unsigned>(i % 5));
      }
      const auto result =
          kradix::mpi::sort(MPI_COMM_WORLD, Space{}, to_device(whole.mine(whole.keys)),
                            {.order = order, .work = work});
      const auto all = to_device(whole.keys);
      kradix::sort(Space{}, all, {.order = order});
      Space{}.fence("test");
      const std::vector<float> sorted = to_host(all);
      const std::vector<float> found = to_host(result.keys);
      const auto begin = static_cast<std::ptrdiff_t>(world::sum_below(found.size()));
      const std::vector<float> expected(
          sorted.begin() + begin,
          sorted.begin() + begin + static_cast<std::ptrdiff_t>(found.size()));
      EXPECT_TRUE(world::same_bytes(found, expected)) << result.report;
    }
  }
}

TEST(MpiSort, ARangeOfBitsOnly) {
  const Whole<std::uint64_t> whole(Shape::uniform, Spread::ramp, 1000);
  for (const kradix::BitRange bits : {kradix::BitRange{5, 17}, {0, 0}, {60, 64}, {63, 64}}) {
    for (const Work work : {Work::partition_first, Work::sort_first, Work::sort_halves}) {
      const Options options{.bits = bits, .stability = kradix::Stability::stable, .work = work};
      const auto keys = to_device(whole.mine(whole.keys));
      const auto result = kradix::mpi::sort(MPI_COMM_WORLD, Space{}, keys, options);
      const auto indices =
          reference::sorted_indices(whole.keys, [&](std::uint64_t a, std::uint64_t b) {
            return reference::cut_bits(a, bits.begin, bits.end) <
                   reference::cut_bits(b, bits.begin, bits.end);
          });
      const std::size_t count = result.keys.extent(0);
      EXPECT_EQ(count, world::balanced(whole.keys.size(), world::rank()));
      EXPECT_EQ(to_host(result.keys),
                world::slice(whole.keys, indices, world::sum_below(count), count));
    }
  }
}

/// Sorted keys of which two have changed places: only a read of all keys tells that the whole is not in order.
TEST(MpiSort, DisorderThatNoGlanceSees) {
  for (const Work work :
       {Work::partition_first, Work::sort_first, Work::sort_halves, Work::spread_first}) {
    Whole<std::uint64_t> whole(Shape::sorted, Spread::even, 30000);
    std::swap(whole.keys[11], whole.keys[12]);
    const auto report = expect_sorted(whole, {.work = work}, "two keys swapped");
    EXPECT_FALSE(report.sorted_already);
  }
}

/// A sort that comes first tells of constant bits the topmost alone: no more rounds than a key has bytes.
TEST(MpiSort, ConstantBitsInTheMiddle) {
  for (const Work work :
       {Work::partition_first, Work::sort_first, Work::sort_halves, Work::spread_first}) {
    Whole<std::uint64_t> whole(Shape::uniform, Spread::even, 5000);
    for (auto& key : whole.keys) {
      key = (key & 0x000000ff'00000fffu) | (key & 0xfff0u) << 32 | 0x12000000'3a000000u;
    }
    const auto report = expect_sorted(whole, {.work = work}, "constant bits");
    EXPECT_LE(report.rounds, 8);
  }
}

TEST(MpiSort, SizesAsAskedFor) {
  const auto p = static_cast<std::size_t>(world::size());
  const auto r = static_cast<std::size_t>(world::rank());
  for (const Shape shape : {Shape::uniform, Shape::equal, Shape::sorted, Shape::few}) {
    for (const Work work :
         {Work::partition_first, Work::sort_first, Work::sort_halves, Work::spread_first}) {
      const Whole<std::uint64_t> whole(shape, Spread::ramp, 1000);
      expect_sorted(whole, {.sizes = OutputSizes::keep_counts(), .work = work}, "keep_counts");
      const auto keys = to_device(whole.mine(whole.keys));
      const Options keep{.sizes = OutputSizes::keep_counts(), .work = work};
      EXPECT_EQ(kradix::mpi::sort(MPI_COMM_WORLD, Space{}, keys, keep).keys.extent(0),
                keys.extent(0));
      // Everything to the last rank; then the ramp upside down.
      const std::size_t all = whole.keys.size();
      const std::size_t last = r + 1 == p ? all : 0;
      const std::size_t mirrored = whole.counts[p - 1 - r];
      for (const std::size_t wanted : {last, mirrored}) {
        const Options options{.sizes = OutputSizes::requested(wanted), .work = work};
        expect_sorted(whole, options, "requested");
        EXPECT_EQ(kradix::mpi::sort(MPI_COMM_WORLD, Space{}, keys, options).keys.extent(0), wanted);
      }
    }
  }
}

TEST(MpiSort, IntoMemoryOfTheCaller) {
  const Whole<std::uint64_t> whole(Shape::uniform, Spread::ramp, 1000);
  const auto keys = to_device(whole.mine(whole.keys));
  const std::size_t count =
      whole.counts[static_cast<std::size_t>(world::size() - 1 - world::rank())];
  const Kokkos::View<std::uint64_t*, Memory> out("out", count);
  const auto report = kradix::mpi::sort(MPI_COMM_WORLD, Space{}, keys, out);
  const auto indices = reference::sorted_indices(whole.keys, kradix::Order::ascending);
  EXPECT_EQ(to_host(out), world::slice(whole.keys, indices, world::sum_below(count), count));
  EXPECT_EQ(report.total, whole.keys.size());
}

TEST(MpiSort, StridedConstViews) {
  const Whole<std::uint64_t> whole(Shape::uniform, Spread::ramp, 1000);
  const auto mine = whole.mine(whole.keys);
  const Kokkos::View<std::uint64_t**, Kokkos::LayoutRight, Memory> table("table", mine.size(), 3);
  const auto column = Kokkos::subview(table, Kokkos::ALL, 1);
  Kokkos::deep_copy(Space{}, column, to_device(mine));
  const Kokkos::View<const std::uint64_t*, Kokkos::LayoutStride, Memory> keys(column);
  const auto result = kradix::mpi::sort(MPI_COMM_WORLD, Space{}, keys);
  const auto indices = reference::sorted_indices(whole.keys, kradix::Order::ascending);
  const std::size_t count = result.keys.extent(0);
  EXPECT_EQ(to_host(result.keys),
            world::slice(whole.keys, indices, world::sum_below(count), count));
}

TEST(MpiSort, SampledSizesStayWithinEpsilon) {
  const Whole<std::uint64_t> whole(Shape::uniform, Spread::even, 20000);
  const auto report = expect_sorted(whole, {.splitters = Splitters::sampled(0.1)}, "sampled");
  EXPECT_LE(report.imbalance, 1.1 + 1e-3);
  EXPECT_EQ(report.rounds, world::size() > 1 ? 1 : 0);
  EXPECT_EQ(report.exact, world::size() == 1);
}

TEST(MpiSort, TheReportTellsWhatWasDone) {
  const std::size_t per_rank = 4096;
  const Whole<std::uint64_t> whole(Shape::sorted, Spread::even, per_rank);
  const auto sorted = expect_sorted(whole, {}, "sorted");
  EXPECT_EQ(sorted.sorted_already, world::size() > 1);
  EXPECT_EQ(sorted.bytes_sent, 0u);
  EXPECT_EQ(sorted.imbalance, 1.0);
  const Whole<std::uint64_t> mirrored(Shape::mirrored, Spread::even, per_rank);
  const auto cut = expect_sorted(mirrored, {.message_bytes = 1000}, "mirrored");
  EXPECT_GE(cut.messages_sent * 1000, cut.bytes_sent);
  EXPECT_LE(cut.rounds, 8);
  EXPECT_GT(cut.seconds.total, 0.0);
  const Whole<std::uint64_t> equal(Shape::equal, Spread::even, per_rank);
  EXPECT_EQ(expect_sorted(equal, {}, "equal").rounds, 0);
}

/// Cuts that even samples tell lie no farther from where they belong than a step on each rank, also among equal keys.
TEST(MpiSort, EarlyCutsAreNear) {
  using Codec = kradix::impl::mpi::RangeCodec<kradix::impl::codec_of<std::uint64_t>>;
  const std::uint64_t seed = keys::fresh_seed();
  SCOPED_TRACE("seed " + std::to_string(seed));
  const auto ranks = static_cast<std::uint64_t>(world::size());
  const auto rank = static_cast<std::uint64_t>(world::rank());
  auto& comm = kradix::impl::mpi::Communicator::of(MPI_COMM_WORLD);
  const Codec codec(kradix::impl::make_codec<std::uint64_t>(kradix::Order::ascending), 0, 64);
  for (const std::uint64_t distinct : {std::uint64_t{1} << 60, std::uint64_t{3}}) {
    for (const std::uint64_t per_rank :
         {std::uint64_t{0}, std::uint64_t{3}, std::uint64_t{40000}}) {
      std::vector<std::uint64_t> mine(per_rank * (rank + 1));
      for (std::size_t i = 0; i < mine.size(); ++i) {
        mine[i] = inputs::mix(seed + (rank << 40) + i) % distinct;
      }
      std::sort(mine.begin(), mine.end());
      const std::uint64_t halves = per_rank * ranks * (ranks + 1) / 2, total = 2 * halves + 1;
      std::vector<std::uint64_t> targets;
      for (std::uint64_t t = 0; t <= 8; ++t) targets.push_back(total / 8 * t);
      targets.push_back(total);
      kradix::impl::mpi::EarlyCuts<Space, Codec> cuts(comm, codec, "test");
      kradix::impl::ScratchList list;
      cuts.list(list);
      kradix::Workspace workspace;
      const auto there = to_device(mine);
      const Space exec;
      cuts.take(exec, there.data(), mine.size(),
                kradix::impl::aligned_scratch(workspace.reserve(exec, list.bytes(), "test")));
      cuts.find(exec, targets, total);
      const std::uint64_t step = mine.size() / (256 * ranks) + 1;
      std::uint64_t steps = step;
      MPI_Allreduce(MPI_IN_PLACE, &steps, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
      for (std::size_t t = 0; t < targets.size(); ++t) {
        const std::uint64_t place = cuts.places()[t];
        std::uint64_t all = place;
        MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
        const double wanted = static_cast<double>(targets[t]) * static_cast<double>(halves) /
                              static_cast<double>(total);
        EXPECT_NEAR(static_cast<double>(all), wanted, 2.0 * static_cast<double>(steps));
        EXPECT_EQ(cuts.cuts()[t].target, targets[t]);
        if (!cuts.cuts()[t].has_bits) continue;
        const auto bits = cuts.cuts()[t].bits;
        const auto below = static_cast<std::uint64_t>(
            std::lower_bound(mine.begin(), mine.end(), bits) - mine.begin());
        const auto up_to = static_cast<std::uint64_t>(
            std::upper_bound(mine.begin(), mine.end(), bits) - mine.begin());
        EXPECT_LE(below, place + step);
        EXPECT_LE(place, up_to + step);
      }
    }
  }
}

TEST(MpiSort, OnPartOfTheRanks) {
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, world::rank() % 2, -world::rank(), &half);
  const auto keys =
      to_device(std::vector<std::uint64_t>(100, 7u + static_cast<unsigned>(world::rank())));
  for (int again = 0; again < 2; ++again) {
    const auto result = kradix::mpi::sort(half, Space{}, keys);
    const auto host = to_host(result.keys);
    EXPECT_TRUE(std::is_sorted(host.begin(), host.end()));
    EXPECT_EQ(host.size(), 100u);
  }
  MPI_Comm_free(&half);
}

}  // namespace
