// Onesweep's machinery: the look-back in a circular buffer of few slots, bounded reach, tiles that stall;
// the words it exchanges; counting all digits at once.
#include <gtest/gtest.h>

#include "kradix/impl/onesweep.hpp"
#include "support/device.hpp"
#include "support/keys.hpp"
#include "support/reference.hpp"

namespace {

using namespace kradix::impl;
using kradix::Order;

constexpr TeamShape small_shape = is_host_space<Space> ? TeamShape{1, 32} : TeamShape{256, 4, 1};

/// Publishes some tiles late: their successors must find them empty, then partial, and wait or pass.
struct StallingLookBack : LookBack<Space> {
  KOKKOS_FUNCTION void publish(std::uint32_t tile, int bin, LookBackWord::Kind kind,
                               std::uint64_t count) const {
    if (tile % 5 == 3 && bin % 64 == 0) linger();
    LookBack<Space>::publish(tile, bin, kind, count);
  }
  KOKKOS_FUNCTION void linger() const {
    for (int i = 0; i < 300; ++i) L::load(words);
  }
};

TEST(LookBackWord, KeepsWhatItIsGiven) {
  const std::uint64_t most = (std::uint64_t{1} << 41) - 1;
  for (const std::uint64_t turn : {0u, 1u, 77u, 131071u}) {
    for (const int pass : {0, 3, 15}) {
      for (const std::uint64_t count :
           {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1} << 40, most}) {
        for (const auto kind : {LookBackWord::own, LookBackWord::inclusive}) {
          const std::uint32_t identity = LookBackWord::identity(turn, pass);
          const LookBackWord word = LookBackWord::make(kind, identity, count);
          EXPECT_EQ(word.count(), count);
          EXPECT_TRUE(word.is(kind, identity));
          for (const auto other : {LookBackWord::empty, LookBackWord::own, LookBackWord::inclusive})
            EXPECT_EQ(word.is(other, identity), other == kind);
          EXPECT_FALSE(word.is(kind, LookBackWord::identity(turn + 1, pass)));
          EXPECT_FALSE(word.is(kind, LookBackWord::identity(turn, pass ^ 1)));
        }
      }
    }
  }
  for (const auto kind : {LookBackWord::own, LookBackWord::inclusive})
    EXPECT_FALSE(LookBackWord{0}.is(kind, 0)) << "cleared memory belongs to nobody";
}

/// Sorts pairs by Onesweep with this look-back and compares with the reference.
template <class TileLookBack>
void expect_sorted(const std::vector<double>& input, const LookBackShape& look_back) {
  const std::size_t count = input.size();
  kradix::Plan plan;
  plan.count = count;
  plan.bits = {0, 64};
  plan.passes = 8;
  plan.round = plan.tile = static_cast<std::size_t>(small_shape.round());
  plan.tiles = (count + plan.tile - 1) / plan.tile;
  ScratchList list;
  const Slot keys_other = list.add(count, 8);
  const Slot values_other = list.add(count, 4);
  const OnesweepScratch scratch = OnesweepScratch::list(plan, look_back, list);
  const Kokkos::View<std::byte*, Memory> memory("memory", list.bytes());
  std::byte* const base = memory.data();
  const auto keys = to_device(input);
  const Kokkos::View<std::uint32_t*, Memory> permutation("permutation", count);
  auto* const words = reinterpret_cast<std::uint64_t*>(keys.data());
  const SortBuffers<std::uint64_t, std::uint32_t> buffers{
      {words, words, keys_other.in<std::uint64_t>(base)},
      {nullptr, permutation.data(), values_other.in<std::uint32_t>(base)},
      true,
      false};
  const Space exec;
  Onesweep<Space, codec_of<double>, std::uint32_t, small_shape, TileLookBack>(
      exec, plan, make_codec<double>(Order::ascending), buffers, scratch, base, "test")
      .sort();
  exec.fence();
  const auto indices = reference::sorted_indices(input, Order::ascending);
  const auto found = to_host(permutation);
  const auto sorted = to_host(keys);
  for (std::size_t i = 0; i < count; ++i) {
    ASSERT_EQ(found[i], indices[i]) << i;
    ASSERT_EQ(keys::bytes_of(sorted[i]), keys::bytes_of(input[indices[i]])) << i;
  }
}

template <class TileLookBack>
void expect_all_shapes_and_patterns() {
  std::mt19937_64 random{keys::fresh_seed()};
  const std::size_t tile = static_cast<std::size_t>(small_shape.round());
  for (const LookBackShape shape :
       {LookBackShape{3, 4, 1}, LookBackShape{2, 1, 0}, LookBackShape{4, 8, 3}, LookBackShape{}}) {
    for (const keys::Pattern pattern : keys::all_patterns) {
      for (const std::size_t count :
           {std::size_t{2}, tile, tile + 1, 8 * tile, 9 * tile - 1, 41 * tile + 7}) {
        SCOPED_TRACE(::testing::Message()
                     << "seed " << keys::fresh_seed() << ", slots " << shape.slots() << ", pattern "
                     << static_cast<int>(pattern) << ", count " << count);
        expect_sorted<TileLookBack>(keys::make<double>(pattern, count, random), shape);
        if (::testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

TEST(Onesweep, FewSlotsAndShortReachGoRoundManyTimes) {
  expect_all_shapes_and_patterns<LookBack<Space>>();
}

TEST(Onesweep, StalledPredecessorsAreWaitedFor) {
  expect_all_shapes_and_patterns<StallingLookBack>();
}

TEST(DigitList, CutsTheLastDigit) {
  const DigitList digits{3, 21};
  ASSERT_EQ(digits.count(), 3);
  EXPECT_EQ(digits.digit(2).shift, 19);
  EXPECT_EQ(digits.digit(2).mask, 3u);
  EXPECT_EQ((DigitList{5, 5}).count(), 0);
}

}  // namespace
