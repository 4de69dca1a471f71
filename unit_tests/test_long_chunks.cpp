// Chunks that are twice and four times as long as usual, and what those that a finish gives up go through, for they fit
// nobody else.
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

#include "support/hybrid.hpp"
#include "support/keys.hpp"
#include "support/reference.hpp"

namespace {

using namespace hybrid;
using kradix::Order;

inline constexpr bool may_be_long = on_host || has_room_for_long_tiles;
constexpr TeamShape long_finish(int times) {
  if (on_host) return {1, times * 4352};
  return may_be_long ? TeamShape{times * 256, 17, 1} : large_finish;
}

template <class T>
class LongChunksOf : public ::testing::Test {
 protected:
  /// With the index of each key as its value, and keys alone in the order of their codes.
  template <TeamShape Finish>
  Route expect_sorted(const std::vector<T>& input, Order order, const RouteRule& rule) {
    const auto indices = reference::sorted_indices(input, order);
    const auto sorted = hybrid::sort<Finish, std::uint32_t>(input, make_codec<T>(order),
                                                            {.makes_indices = true}, rule);
    auto alone = hybrid::sort<Finish, NoValue>(input, codec_of_all_bits<T>(order), {}, rule);
    std::vector<T> expected = input;
    std::ranges::sort(expected, {}, [&](const T& key) { return code_of(key, order); });
    for (std::size_t i = 0; i < input.size(); ++i) {
      EXPECT_EQ(sorted.values[i], indices[i]) << i;
      EXPECT_EQ(keys::bytes_of(sorted.keys[i]), keys::bytes_of(input[indices[i]])) << i;
      EXPECT_EQ(keys::bytes_of(alone.keys[i]), keys::bytes_of(expected[i])) << i;
      if (::testing::Test::HasFailure()) break;
    }
    return sorted.route;
  }
  static auto code_of(const T& key, Order order) {
    const auto codec = codec_of_all_bits<T>(order);
    return codec.encode(
        std::bit_cast<typename decltype(codec_of_all_bits<T>(order))::key_type>(key));
  }

  template <int times>
  void finishes_every_pattern() {
    constexpr TeamShape finish = long_finish(times);
    const auto chunk = static_cast<std::size_t>(finish.round());
    for (const keys::Pattern pattern : keys::all_patterns) {
      for (const std::size_t count : {chunk - 1, chunk, chunk + 1, 3 * chunk + 5, 9 * chunk}) {
        const Order order = count % 2 == 0 ? Order::ascending : Order::descending;
        SCOPED_TRACE(::testing::Message()
                     << "seed " << keys::fresh_seed() << ", pattern " << static_cast<int>(pattern)
                     << ", count " << count << ", order " << static_cast<int>(order));
        const auto input = keys::make<T>(pattern, count, random_);
        for (const RouteRule& rule : {always, by_digits, by_mending}) {
          const Route route = expect_sorted<finish>(input, order, rule);
          if (pattern == keys::Pattern::uniform && count > chunk) {
            EXPECT_EQ(route.finishes, 1);
            // What is sorted digit by digit is in chunks of the usual length.
            const auto most = static_cast<std::size_t>(alone_with(sizeof(T)).round());
            if (rule.gain <= 0) {
              EXPECT_GE(route.chunks, count / (route.crowded ? most : chunk));
            }
          }
        }
        if (this->HasFailure()) return;
      }
    }
  }

  std::mt19937_64 random_{keys::fresh_seed()};
};
using Keys = ::testing::Types<std::uint32_t, std::int64_t, float, double>;
TYPED_TEST_SUITE(LongChunksOf, Keys);

TYPED_TEST(LongChunksOf, FinishEveryPattern) {
  if (!may_be_long) GTEST_SKIP() << "a team has 48 KB of scratch";
  this->template finishes_every_pattern<2>();
  this->template finishes_every_pattern<4>();
}

/// Of which each comes so often that hardly any chunk keeps below what counters hold, though the sample is not asked.
TYPED_TEST(LongChunksOf, ThoseGivenUpAreSortedAsLongRuns) {
  if (!may_be_long) GTEST_SKIP() << "a team has 48 KB of scratch";
  SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
  constexpr TeamShape finish = long_finish(2);
  const std::size_t chunk = static_cast<std::size_t>(finish.round());
  auto input = keys::make<TypeParam>(keys::Pattern::uniform, 12 * chunk, this->random_);
  for (std::size_t i = 0; i < input.size(); ++i) input[i] = input[i % (input.size() / 20)];
  std::shuffle(input.begin(), input.end(), this->random_);
  const Route route = this->template expect_sorted<finish>(input, Order::ascending, always);
  EXPECT_GT(route.given_up, 0u);
  EXPECT_EQ(route.crowded, 0);
}

/// Integers may be gathered, alone where equal ones are the same, and with values; keys of a user's own are not.
TEST(Gathering, IsPlannedForIntegers) {
  Machine device{270336, {256, 19}, {384, 20}, {256, 17}, {256, 18}, {256, 16}, true};
  device.gather = {256, 24};
  Problem problem;
  problem.count = std::size_t{1} << 26;
  problem.key_bytes = 8;
  problem.key_bits = 64;
  const auto gathered = [&] { return make_plan(problem, device).gathered; };
  for (const int value_bytes : {0, 4}) {
    problem.value_bytes = value_bytes;
    EXPECT_EQ(gathered(), 0u);
    problem.integral = true;
    problem.told_apart = value_bytes == 0;
    EXPECT_EQ(gathered(), 256u * 24);
    problem.bits = {0, 40};
    EXPECT_EQ(gathered(), 0u);
    problem.bits = {};
    problem.integral = problem.told_apart = false;
  }
}

/// Keys of 4 bytes lie in one word with their indices, if no more than those are wanted and words find room there.
TEST(Gathering, NumbersShortKeys) {
  Machine device{270336, {256, 19}, {384, 20}, {256, 17}, {256, 18}, {256, 16}, true};
  device.gather = {256, 24};
  device.number = {320, 22};
  for (const int key_bytes : {4, 8}) {
    for (const int value_bytes : {4, 8}) {
      for (const bool numbers : {false, true}) {
        Problem problem;
        problem.count = std::size_t{1} << 26;
        problem.key_bytes = key_bytes;
        problem.key_bits = 8 * key_bytes;
        problem.value_bytes = value_bytes;
        problem.integral = true;
        problem.numbers = numbers;
        const bool both_short = key_bytes == 4 && value_bytes == 4;
        EXPECT_EQ(make_plan(problem, device).numbered, numbers && both_short ? 320u * 22 : 0u)
            << key_bytes << " " << value_bytes << " " << numbers;
      }
    }
  }
}

/// Keys alone are dealt out if they are all there is to know, where the host waits, and not too few or too many.
TEST(Dealing, OfKeysAlone) {
  Machine device{270336, {256, 19}, {512, 32}, {256, 18}, {256, 18}, {256, 16}, true};
  device.finish_dealt = {512, 18};
  Problem problem;
  problem.count = std::size_t{1} << 23;
  problem.key_bytes = 4;
  problem.key_bits = 32;
  problem.integral = problem.told_apart = problem.host_may_wait = true;
  const auto dealt = [&] { return make_plan(problem, device).dealt; };
  EXPECT_EQ(dealt(), Dealing::of(problem.count, 512 * 18).places());
  EXPECT_GT(dealt(), problem.count);
  const auto in_vain = [&](auto& what, auto value) {
    const auto before = what;
    what = static_cast<std::remove_cvref_t<decltype(what)>>(value);
    EXPECT_EQ(dealt(), 0u);
    what = before;
  };
  in_vain(problem.host_may_wait, false);
  in_vain(problem.told_apart, false);
  in_vain(problem.integral, false);
  in_vain(problem.value_bytes, 4);
  in_vain(problem.count, (std::size_t{1} << 22) - 1);
  in_vain(problem.count, (std::size_t{1} << 24) + 1);
  in_vain(problem.bits.end, 31);
  in_vain(device.finish_dealt.threads, 0);
}

/// What is counted of a word and the few bits of its code below leave room for the index, however many there are.
TEST(Gathering, WordsOfAChunkFitHalfAWord) {
  constexpr int counted = 16;
  using Split = NumberedSplit<counted>;
  int shapes = 0;
  for (double count = 1 << 22; count < 0x1p29; count *= 1.003) {
    const Gathering shape = Gathering::of(static_cast<std::size_t>(count), 320 * 22, 256 * 18);
    if (!shape.exists()) continue;
    ++shapes;
    EXPECT_TRUE(Split::fits(shape)) << count;
    const int index_bits = std::bit_width(shape.count - 1);
    const int cell_bits = 32 - shape.bits();
    for (const std::uint32_t first : {0u, 3u * shape.together}) {
      const Split split{first << cell_bits, Split::shift_of(shape.together, cell_bits), index_bits};
      const std::uint32_t last = ((first + shape.together) << cell_bits) - 1;
      std::uint64_t before = 0;
      for (const std::uint32_t code : {split.least, split.least + 1, last - 1, last}) {
        for (const std::uint32_t index : {0u, 1u, shape.count - 1}) {
          const auto word = Numbered::make(code, index);
          const std::uint32_t own = split.counted(word), rest = split.rest(word);
          EXPECT_EQ(split.word(own, rest), word);
          EXPECT_EQ(split.index(rest), index);
          const std::uint64_t order = std::uint64_t{own} << 32 | rest;
          EXPECT_TRUE(word == Numbered::make(split.least, 0) || before < order);
          before = order;
        }
      }
    }
  }
  EXPECT_GT(shapes, 1000);
}

/// Twice as many as two digits leave within a chunk, and four times as many, are planned longer chunks; more are not.
TEST(LongChunks, ArePlannedWhereTwoDigitsLeaveLongRuns) {
  Machine device{270336, {256, 19}, {384, 20}, {256, 17}, {256, 18}, {256, 16}, true};
  device.gather = {320, 22};
  const auto chunk_of = [&](std::size_t count) {
    Problem problem;
    problem.count = count;
    problem.key_bytes = 8;
    problem.key_bits = 64;
    problem.integral = problem.told_apart = true;
    const kradix::Plan plan = make_plan(problem, device);
    EXPECT_EQ(plan.algorithm, kradix::Algorithm::msd_hybrid);
    EXPECT_EQ(plan.crowded_chunk, 256u * 17);
    EXPECT_EQ(plan.gathered, plan.chunk == plan.crowded_chunk ? 320u * 22 : 0);
    return plan.chunk;
  };
  constexpr std::size_t usual = 256 * 17;
  EXPECT_EQ(chunk_of(std::size_t{1} << 30), usual);
  device.long_finish[0] = {512, 17};
  device.long_finish[1] = {1024, 17};
  EXPECT_EQ(chunk_of(std::size_t{1} << 28), usual);
  EXPECT_EQ(chunk_of(std::size_t{9} << 25), 2 * usual);
  EXPECT_EQ(chunk_of(std::size_t{1} << 29), 2 * usual);
  EXPECT_EQ(chunk_of(std::size_t{5} << 27), 4 * usual);
  EXPECT_EQ(chunk_of(std::size_t{1} << 30), 4 * usual);
  EXPECT_EQ(chunk_of(std::size_t{1} << 31), usual);
  for (const std::size_t count :
       {std::size_t{1} << 28, std::size_t{1} << 29, std::size_t{1} << 30}) {
    EXPECT_EQ(RouteRule::of_chunks(chunk_of(count)).least_sweeps(count), 2) << count;
  }
}

}  // namespace
