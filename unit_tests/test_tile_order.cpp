// The blocks with which teams put tiles in order, with one thread and with as many as a team here can have.
#include <algorithm>
#include <gtest/gtest.h>

#include "kradix/impl/device/team_histogram.hpp"
#include "kradix/impl/device/tile_order.hpp"
#include "support/device.hpp"
#include "support/keys.hpp"

namespace {

using namespace kradix::impl;

constexpr int capacity = 900, digit_bits_here = 7;

/// One team sorts words by splits (block 0) or partitions (block 1), finds their runs, scans the runs'
/// lengths, and counts digits by a histogram with copies.
template <int Threads>
struct OrderTile {
  int block, size, copies;
  const std::uint32_t* digits;
  std::uint32_t *sorted, *begins, *ends, *scanned, *counted;

  static std::size_t scratch_bytes() { return 16384; }

  KOKKOS_FUNCTION void operator()(const TeamMember<Space>& team) const {
    const int bins = 1 << digit_bits_here;
    PartitionTile<Threads> partition(team, capacity);
    SplitTile<Threads> split{partition.words, take_scratch<std::uint32_t>(team, capacity)};
    for (int p = team.team_rank(); p < size; p += Threads) {
      split.words[p] = TileWord::make(digits[p], p);
    }
    team.team_barrier();
    if (block == 0) {
      split.by_bits(team, size, digit_bits_here);
    } else {
      partition.by_bits(team, size, digit_bits_here);
    }
    const std::uint32_t* const words = block == 0 ? split.words : partition.words;
    for (int p = team.team_rank(); p < size; p += Threads) sorted[p] = words[p];
    TileRuns{begins, ends}.template find<Threads>(team, size, bins,
                                                  [=](int p) { return TileWord::digit(words[p]); });
    auto* const lengths = take_scratch<std::uint16_t>(team, bins);
    for (int b = team.team_rank(); b < bins; b += Threads) lengths[b] = ends[b] - begins[b];
    team.team_barrier();
    scan_scratch<Threads>(team, lengths, bins);
    for (int b = team.team_rank(); b < bins; b += Threads) scanned[b] = lengths[b];
    const TeamHistogram<Threads> histogram{
        take_scratch<std::uint32_t>(team, static_cast<std::size_t>(bins * copies)), bins, copies};
    const CodeReader<std::uint32_t> reader{
        {{0, 0, false}, ~0u, 0, kradix::RangeMap::none}, {0, {}}, 0, (1u << digit_bits_here) - 1};
    histogram.count(team, reader, digits, Share{0, static_cast<std::size_t>(size)});
    for (int b = team.team_rank(); b < bins; b += Threads) counted[b] = histogram.of(b);
  }
};

template <int Threads>
void expect_ordered(int block, int size, int copies, std::mt19937_64& random) {
  const int bins = 1 << digit_bits_here;
  std::vector<std::uint32_t> digits(size);
  const std::uint64_t kinds = 1 + random() % bins;
  for (std::uint32_t& digit : digits) digit = random() % kinds;
  using View = Kokkos::View<std::uint32_t*, Memory>;
  const View sorted("sorted", size), begins("begins", bins), ends("ends", bins),
      scanned("scanned", bins), counted("counted", bins);
  const auto device_digits = to_device(digits);
  constexpr TeamShape shape{Threads, 1};
  const Space exec;
  launch_teams<shape>(
      exec, "test", 1, OrderTile<Threads>::scratch_bytes(),
      OrderTile<Threads>{block, size, copies, device_digits.data(), sorted.data(), begins.data(),
                         ends.data(), scanned.data(), counted.data()});
  exec.fence();
  std::vector<std::uint32_t> expected(size);
  for (int p = 0; p < size; ++p) expected[p] = TileWord::make(digits[p], p);
  std::sort(expected.begin(), expected.end());
  ASSERT_EQ(to_host(sorted), expected);
  const auto first = to_host(begins), last = to_host(ends), sums = to_host(scanned),
             counts = to_host(counted);
  std::uint32_t before = 0;
  for (int b = 0; b < bins; ++b) {
    const auto count =
        static_cast<std::uint32_t>(std::count(digits.begin(), digits.end(), std::uint32_t(b)));
    ASSERT_EQ(last[b] - first[b], count) << b;
    if (count > 0) {
      ASSERT_EQ(first[b], before) << b;
    }
    ASSERT_EQ(sums[b], before) << b;
    ASSERT_EQ(counts[b], count) << b;
    before += count;
  }
}

template <int Threads>
void expect_all_sizes() {
  std::mt19937_64 random{keys::fresh_seed()};
  for (const int block : {0, 1}) {
    for (const int size : {1, 2, 3, 31, 32, 33, 60}) {
      SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed() << ", threads " << Threads
                                        << ", block " << block << ", size " << size);
      expect_ordered<Threads>(block, size, 1 + static_cast<int>(random() % 8), random);
    }
    // Partitions hold at most so many items of a thread.
    const int large = std::min(capacity, Threads == 1 ? capacity : Threads * 32);
    expect_ordered<Threads>(block, large, 3, random);
    expect_ordered<Threads>(block, large - 1, 1, random);
  }
}

struct Nothing {
  KOKKOS_FUNCTION void operator()(const TeamMember<Space>&) const {}
};

TEST(TileOrder, OneThread) {
  if (!is_host_space<Space>) GTEST_SKIP() << "device teams have more";
  expect_all_sizes<1>();
}

TEST(TileOrder, ManyThreads) {
  constexpr int threads = is_host_space<Space> ? 2 : 256;
  const int most =
      Kokkos::TeamPolicy<Space>(1, 1).team_size_max(Nothing{}, Kokkos::ParallelForTag{});
  if (most < threads) GTEST_SKIP() << "teams of this backend have " << most << " threads";
  expect_all_sizes<threads>();
}

}  // namespace
