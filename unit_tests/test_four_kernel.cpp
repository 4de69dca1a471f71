// The four-kernel sort in both of its team shapes, with rounds and tiles shrunk so that many rounds a
// tile and many tiles a sort happen at small n.
#include <gtest/gtest.h>

#include "kradix/impl/four_kernel.hpp"
#include "support/device.hpp"
#include "support/keys.hpp"
#include "support/reference.hpp"

namespace {

using namespace kradix::impl;
using kradix::Order;

struct Sizes {
  std::size_t count, round, tile;
};

/// Sorts float keys with their indices by `Shape` and compares with the reference.
template <TeamShape Shape>
void expect_sorted(const std::vector<float>& input, Sizes sizes) {
  using Codec = codec_of<float>;
  kradix::Plan plan;
  plan.count = sizes.count;
  plan.bits = {0, 32};
  plan.passes = 4;
  plan.round = sizes.round;
  plan.tile = sizes.tile;
  plan.tiles = (sizes.count + sizes.tile - 1) / sizes.tile;

  ScratchList list;
  const Slot keys_other = list.add(sizes.count, 4);
  const Slot values_other = list.add(sizes.count, 4);
  const FourKernelScratch scratch = FourKernelScratch::list(plan, list);
  const Kokkos::View<std::byte*, Memory> memory("memory", list.bytes());
  std::byte* const base = memory.data();

  const auto keys = to_device(input);
  const Kokkos::View<std::uint32_t*, Memory> permutation("permutation", sizes.count);
  auto* const words = reinterpret_cast<std::uint32_t*>(keys.data());
  SortBuffers<std::uint32_t, std::uint32_t> buffers{
      {words, words, keys_other.in<std::uint32_t>(base)},
      {nullptr, permutation.data(), values_other.in<std::uint32_t>(base)},
      true,
      false};
  const Space exec;
  FourKernel<Space, Codec, std::uint32_t, Shape>(exec, plan, make_codec<float>(Order::ascending),
                                                 buffers, scratch, base, "test")
      .sort();
  exec.fence();

  const auto indices = reference::sorted_indices(input, Order::ascending);
  const auto sorted = to_host(keys);
  const auto found = to_host(permutation);
  for (std::size_t i = 0; i < sizes.count; ++i) {
    ASSERT_EQ(found[i], indices[i]) << i;
    ASSERT_EQ(keys::bytes_of(sorted[i]), keys::bytes_of(input[indices[i]])) << i;
  }
}

template <TeamShape Shape>
void expect_all_patterns(std::size_t round) {
  std::mt19937_64 random{keys::fresh_seed()};
  for (const keys::Pattern pattern : keys::all_patterns) {
    for (const std::size_t rounds : {1, 2, 3}) {
      const std::size_t tile = round * rounds;
      for (const std::size_t count :
           {round - 1, round, round + 1, tile, tile + 1, 5 * tile - 1, 7 * tile + 3}) {
        SCOPED_TRACE(::testing::Message()
                     << "seed " << keys::fresh_seed() << ", pattern " << static_cast<int>(pattern)
                     << ", count " << count << ", round " << round << ", tile " << tile);
        expect_sorted<Shape>(keys::make<float>(pattern, count, random), {count, round, tile});
        if (::testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

TEST(FourKernel, ShapeOfThisBackend) {
  constexpr TeamShape shape = team_shape<Space>();
  expect_all_patterns<shape>(shape.serial() ? 97 : static_cast<std::size_t>(shape.round()));
}

TEST(FourKernel, DeviceShapeWithOneThread) {
  // The code that GPU teams run, on every backend.
  expect_all_patterns<TeamShape{1, 19}>(19);
}

struct Nothing {
  KOKKOS_FUNCTION void operator()(const Kokkos::TeamPolicy<Space>::member_type&) const {}
};

TEST(FourKernel, DeviceShapeWithTwoThreads) {
  // Barriers matter only between threads: host teams of two where the machine has them.
  const int most =
      Kokkos::TeamPolicy<Space>(1, 1).team_size_max(Nothing{}, Kokkos::ParallelForTag{});
  if (most < 2) GTEST_SKIP() << "teams of this backend have one thread";
  if constexpr (!std::is_same_v<Space, Kokkos::DefaultHostExecutionSpace> ||
                !is_host_space<Space>) {
    GTEST_SKIP() << "device teams are tested in their own shape";
  } else {
    expect_all_patterns<TeamShape{2, 7}>(14);
  }
}

TEST(PassTable, CoversTheVaryingBitsAndNoOthers) {
  EXPECT_EQ(cover<std::uint32_t>(0).count, 0);
  const PassTable one = cover<std::uint32_t>(0x00700000u);
  ASSERT_EQ(one.count, 1);
  EXPECT_EQ(one.digit[0].shift, 20);
  EXPECT_EQ(one.digit[0].mask, 7u);
  EXPECT_EQ(cover<std::uint32_t>(~0u).count, 4);
  // Bits 4 to 11 lie in two fixed digits and in one that starts where keys vary.
  EXPECT_EQ(cover<std::uint64_t>(0xff0u).count, 1);
  EXPECT_EQ(cover<std::uint64_t>(0x8000000000000001u).count, 2);
  EXPECT_EQ(cover<std::uint64_t>(~std::uint64_t{0}).count, 8);
#ifdef KRADIX_HAVE_INT128
  EXPECT_EQ(cover<uint128>(~uint128{0}).count, 16);
  EXPECT_EQ(cover<uint128>(uint128{1} << 127).digit[0].shift, 127);
#endif
}

TEST(PassBuffers, TheLastPassWritesTheResult) {
  int a, b, c;
  for (int passes = 1; passes <= 16; ++passes) {
    const PassBuffers<int> apart{&a, &b, &c};
    EXPECT_EQ(apart.destination(passes - 1, passes), &b);
    EXPECT_EQ(apart.source(0, passes), &a);
    const PassBuffers<int> in_place{&a, &a, &b};
    EXPECT_EQ(in_place.ends_in_other(passes), passes % 2 == 1);
    for (int pass = 0; pass < passes; ++pass) {
      EXPECT_NE(apart.source(pass, passes), apart.destination(pass, passes));
      EXPECT_NE(in_place.source(pass, passes), in_place.destination(pass, passes));
      EXPECT_NE(apart.destination(pass, passes), &a);
    }
  }
}

}  // namespace
