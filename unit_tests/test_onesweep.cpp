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
  KOKKOS_FUNCTION void publish_own(std::uint32_t tile, int bin, std::uint32_t own) const {
    if (tile % 5 == 3 && bin % 64 == 0) linger();
    LookBack<Space>::publish_own(tile, bin, own);
  }
  KOKKOS_FUNCTION std::uint64_t place(std::uint32_t tile, int bin, std::uint32_t own,
                                      std::uint64_t first) const {
    if (tile % 7 == 2 && bin % 32 == 0) linger();
    return LookBack<Space>::place(tile, bin, own, first);
  }
  KOKKOS_FUNCTION void linger() const {
    for (int i = 0; i < 300; ++i) L::load(words);
  }
};

TEST(LookBackWord, KeepsWhatItIsGiven) {
  for (const std::uint32_t turn : {0u, 1u, 2u, 3u, 77u, 131071u}) {
    for (const std::uint32_t count : {0u, 1u, 1u << 28, LookBackWord::most}) {
      for (const auto kind : {LookBackWord::own, LookBackWord::inclusive}) {
        const LookBackWord word = LookBackWord::make(kind, turn, count);
        EXPECT_EQ(word.count(), count);
        EXPECT_EQ(word.kind(), kind);
        EXPECT_TRUE(word.is_of(LookBackWord::mark(turn)));
        EXPECT_FALSE(word.is_of(LookBackWord::mark(turn + 1)));
        EXPECT_FALSE(word.is_of(LookBackWord::mark(turn + 2)));
      }
    }
  }
  EXPECT_FALSE(LookBackWord{0}.is_of(LookBackWord::mark(0))) << "cleared memory belongs to nobody";
}

/// Passes over fewer tiles, after one over all or not.
TEST(LookBackWord, NoTurnIsLeftOut) {
  constexpr std::size_t all = 23;
  const auto first = LookBack<Space>::of(nullptr, nullptr, LookBackShape{2, 1, 0}, all);
  for (const bool after_all : {false, true}) {
    for (std::size_t tiles = 1; tiles <= all; ++tiles) {
      std::uint32_t turn = after_all ? 6 : 0;
      for (int pass = 0; pass < 8; ++pass) {
        EXPECT_EQ(first.of_pass(pass).first_turn_of(tiles, after_all), turn) << tiles;
        turn += static_cast<std::uint32_t>((tiles + 3) / 4);
      }
    }
  }
}

TEST(PortionWord, KeepsWhatItIsGiven) {
  const std::uint64_t most = (std::uint64_t{1} << 41) - 1;
  for (const std::uint32_t portion : {1u, 2u, 8191u}) {
    for (const std::uint64_t place : {std::uint64_t{0}, std::uint64_t{1} << 32, most}) {
      const PortionWord word = PortionWord::make(portion, place);
      EXPECT_EQ(word.place(), place);
      EXPECT_TRUE(word.is_of(portion));
      EXPECT_FALSE(word.is_of(portion + 2));
    }
  }
  EXPECT_FALSE(PortionWord{0}.is_of(1)) << "cleared memory belongs to nobody";
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

/// Keys alone, all of which their bits tell apart: the first pass keeps no order within a bin.
template <class Key>
void expect_keys_sorted(const std::vector<Key>& input) {
  using Codec = codec_of<Key>;
  using Word = typename Codec::key_type;
  kradix::Plan plan;
  plan.count = input.size();
  plan.bits = {0, Codec::bits};
  plan.passes = Codec::bits / digit_bits;
  plan.round = plan.tile = static_cast<std::size_t>(small_shape.round());
  plan.tiles = (plan.count + plan.tile - 1) / plan.tile;
  ScratchList list;
  const Slot other = list.add(plan.count, sizeof(Key));
  const OnesweepScratch scratch = OnesweepScratch::list(plan, LookBackShape{3, 5, 1, 3}, list);
  const Kokkos::View<std::byte*, Memory> memory("memory", list.bytes());
  const auto keys = to_device(input);
  auto* const words = reinterpret_cast<Word*>(keys.data());
  const SortBuffers<Word, NoValue> buffers{
      {words, words, other.in<Word>(memory.data())}, {}, false, false};
  const Space exec;
  Onesweep<Space, Codec, NoValue, small_shape>(exec, plan, make_codec<Key>(Order::descending),
                                               buffers, scratch, memory.data(), "test")
      .sort();
  exec.fence();
  const auto indices = reference::sorted_indices(input, Order::descending);
  const auto sorted = to_host(keys);
  for (std::size_t i = 0; i < input.size(); ++i) ASSERT_EQ(sorted[i], input[indices[i]]) << i;
}

template <class Key>
void expect_keys_of_every_pattern_sorted() {
  std::mt19937_64 random{keys::fresh_seed()};
  constexpr auto tile = static_cast<std::size_t>(spread_shape<Space>(sizeof(Key)).round());
  for (const keys::Pattern pattern : keys::all_patterns) {
    for (const std::size_t count : {std::size_t{2}, tile - 1, tile, tile + 1, 5 * tile + 77}) {
      SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed() << ", pattern "
                                        << static_cast<int>(pattern) << ", count " << count);
      expect_keys_sorted(keys::make<Key>(pattern, count, random));
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(Onesweep, SpreadsKeysAlone) {
  expect_keys_of_every_pattern_sorted<std::uint16_t>();
  expect_keys_of_every_pattern_sorted<std::uint32_t>();
  expect_keys_of_every_pattern_sorted<std::int64_t>();
}

/// Digits of −0 and of NaNs are found in more steps, where the first pass has met one.
TEST(Onesweep, FloatsOfWhichNoneOneOrManyAreSpecial) {
  std::mt19937_64 random{keys::fresh_seed()};
  std::uniform_real_distribution<double> real(-1, 1);
  std::uniform_int_distribution<int> few(-3, 3);
  const auto tile = static_cast<std::size_t>(small_shape.round());
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const std::size_t count : {tile - 1, 9 * tile + 5}) {
    for (const bool are_few : {false, true}) {
      std::vector<double> ordinary(count);
      for (double& key : ordinary) key = are_few ? few(random) : real(random);
      for (const std::vector<double>& special :
           {std::vector<double>{}, {-0.0}, {nan}, {-nan}, {0.0, -0.0, nan, -nan, -0.0, 0.0}}) {
        for (const std::size_t first : {std::size_t{0}, count / 2, count - special.size()}) {
          SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed() << ", count " << count
                                            << ", few " << are_few << ", " << special.size()
                                            << " special ones from " << first << " on");
          std::vector<double> input = ordinary;
          std::copy(special.begin(), special.end(),
                    input.begin() + static_cast<std::ptrdiff_t>(first));
          expect_sorted<LookBack<Space>>(input, LookBackShape{3, 5, 1, 3});
          if (::testing::Test::HasFatalFailure()) return;
        }
      }
    }
  }
}

template <class TileLookBack>
void expect_all_shapes_and_patterns() {
  std::mt19937_64 random{keys::fresh_seed()};
  const std::size_t tile = static_cast<std::size_t>(small_shape.round());
  for (const LookBackShape shape :
       {LookBackShape{3, 4, 1}, LookBackShape{2, 1, 0}, LookBackShape{4, 8, 3}, LookBackShape{},
        LookBackShape{2, 2, 0, 2}, LookBackShape{3, 5, 1, 3}, LookBackShape{2, 3, 0, 4}}) {
    for (const keys::Pattern pattern : keys::all_patterns) {
      for (const std::size_t count :
           {std::size_t{2}, tile, tile + 1, 8 * tile, 9 * tile - 1, 41 * tile + 7}) {
        SCOPED_TRACE(::testing::Message()
                     << "seed " << keys::fresh_seed() << ", slots " << shape.slots() << ", portion "
                     << shape.portion() << ", pattern " << static_cast<int>(pattern) << ", count "
                     << count);
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
