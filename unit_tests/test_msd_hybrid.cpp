// Sweeps over the top digits and a finish: whatever the keys, with the finish forced on data that the
// sample would not have chosen; the sample itself, and what happens when it misses a bit.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "support/events.hpp"
#include "support/hybrid.hpp"
#include "support/keys.hpp"
#include "support/reference.hpp"

namespace {

using namespace hybrid;
using kradix::Order;

/// Sorts keys with the index of each as its value; compares with the reference; returns the route.
template <TeamShape Finish, class Key>
Route expect_sorted(const std::vector<Key>& input, Order order, const RouteRule& rule) {
  const auto sorted = hybrid::sort<Finish, std::uint32_t>(input, make_codec<Key>(order),
                                                          {.makes_indices = true}, rule);
  const auto indices = reference::sorted_indices(input, order);
  for (std::size_t i = 0; i < input.size(); ++i) {
    EXPECT_EQ(sorted.values[i], indices[i]) << i;
    EXPECT_EQ(keys::bytes_of(sorted.keys[i]), keys::bytes_of(input[indices[i]])) << i;
    if (::testing::Test::HasFailure()) break;
  }
  return sorted.route;
}

template <class T>
class MsdHybridOf : public ::testing::Test {
 protected:
  std::mt19937_64 random_{keys::fresh_seed()};
};
using Keys = ::testing::Types<std::uint32_t, std::int64_t, float, double>;
TYPED_TEST_SUITE(MsdHybridOf, Keys);

TYPED_TEST(MsdHybridOf, FinishesEveryPattern) {
  const std::size_t chunk = static_cast<std::size_t>(small_finish.round());
  for (const keys::Pattern pattern : keys::all_patterns) {
    for (const std::size_t count :
         {std::size_t{2}, chunk - 1, chunk, chunk + 1, 3 * chunk + 5, 40 * chunk + 3}) {
      for (const Order order : {Order::ascending, Order::descending}) {
        SCOPED_TRACE(::testing::Message()
                     << "seed " << keys::fresh_seed() << ", pattern " << static_cast<int>(pattern)
                     << ", count " << count << ", order " << static_cast<int>(order));
        const auto input = keys::make<TypeParam>(pattern, count, this->random_);
        for (const RouteRule& rule : {always, by_digits, by_mending}) {
          const Route route = expect_sorted<small_finish>(input, order, rule);
          if (pattern == keys::Pattern::uniform && count > chunk) {
            EXPECT_EQ(route.finishes, 1);
            const bool mends = rule.gain > 0;
            EXPECT_EQ(route.mends, mends ? 1 : 0);
            EXPECT_EQ(route.crowded, rule.close < 0 && !mends ? 1 : 0);
            if (!mends) {
              EXPECT_GE(route.chunks, count / chunk);
            }
          }
        }
        if (this->HasFailure()) return;
      }
    }
  }
}

TYPED_TEST(MsdHybridOf, TheSampleChooses) {
  SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
  const RouteRule rule = RouteRule::of_chunks(large_finish.round());
  const auto uniform = keys::make<TypeParam>(keys::Pattern::uniform, 300007, this->random_);
  const Route chosen = expect_sorted<large_finish>(uniform, Order::ascending, rule);
  // (One in 128 of all patterns of a float is a NaN, and all NaNs are equal: either may be chosen.)
  if (!std::is_same_v<TypeParam, float>) {
    EXPECT_EQ(chosen.finishes, 1);
  }
  const auto few = keys::make<TypeParam>(keys::Pattern::few, 300007, this->random_);
  EXPECT_EQ(expect_sorted<large_finish>(few, Order::ascending, rule).finishes, 0);
}

/// Chunks of exactly so many kinds of keys, which differ in many digits: as many as are looked up, and more.
TYPED_TEST(MsdHybridOf, KindsOfAChunk) {
  SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
  for (const std::size_t kinds : {3u, 255u, 256u, 257u, 258u, 600u}) {
    for (const bool from_zero : {false, true}) {
      SCOPED_TRACE(::testing::Message() << kinds << " kinds, from zero " << from_zero);
      auto some = keys::make<TypeParam>(keys::Pattern::uniform, kinds, this->random_);
      if (from_zero) some[0] = TypeParam{};
      std::vector<TypeParam> input(4000);
      for (std::size_t i = 0; i < input.size(); ++i) {
        input[i] = some[i < kinds ? i : this->random_() % kinds];
      }
      std::shuffle(input.begin(), input.end(), this->random_);
      for (const Order order : {Order::ascending, Order::descending}) {
        EXPECT_EQ(expect_sorted<large_finish>(input, order, by_digits).crowded, 1);
      }
      if (this->HasFailure()) return;
    }
  }
}

/// Elements of a chunk that its words leave alike, in runs of so many: as many as are put in order by insertion, and
/// more. Their lowest bits differ, or are of three kinds, or rise as it is.
TEST(MsdHybrid, RunsThatAreAlikeInTheTopmostBitsOfAChunk) {
  SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
  std::mt19937_64 random{keys::fresh_seed()};
  for (const std::size_t length : {1, 2, 3, 31, 32, 33, 300, 1000}) {
    for (const std::uint64_t lowest :
         {std::uint64_t{1} << 20, std::uint64_t{3}, std::uint64_t{0}}) {
      SCOPED_TRACE(::testing::Message() << "runs of " << length << ", lowest " << lowest);
      std::vector<std::uint64_t> input(4000);
      for (std::size_t i = 0; i < input.size(); ++i) {
        const std::uint64_t low = lowest == 0 ? i : random() % lowest;
        input[i] =
            (i / length * 0x9e37 & 0xffff) << 34 | low;  // (an odd number: no two are the same)
      }
      if (lowest > 0) std::shuffle(input.begin(), input.end(), random);
      for (const Order order : {Order::ascending, Order::descending}) {
        EXPECT_EQ(expect_sorted<large_finish>(input, order, by_digits).crowded, 1);
      }
      if (HasFailure()) return;
    }
  }
}

/// As many bits as two windows of a chunk's words hold, a few less and a few more; digits that cycle together are alike
/// in any of them.
TEST(MsdHybrid, ChunksOfOneWindowOrTwo) {
  SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
  std::mt19937_64 random{keys::fresh_seed()};
  for (const int bits : {16, 18, 19, 20, 24, 25, 32, 33}) {
    for (const bool cycles : {true, false}) {
      SCOPED_TRACE(::testing::Message() << bits << " bits, cycle " << cycles);
      std::vector<std::uint64_t> input(4000);
      for (std::size_t i = 0; i < input.size(); ++i) {
        input[i] = (cycles ? i * 0x0101010101010101u : random()) >> (64 - bits) << 7;
      }
      for (const Order order : {Order::ascending, Order::descending}) {
        EXPECT_EQ(expect_sorted<large_finish>(input, order, by_digits).crowded, 1);
      }
      if (HasFailure()) return;
    }
  }
}

/// Keys of a range that sweeps over two digits leave little of: in place a finish saves two passes.
TEST(MsdHybrid, ShortRangesFinishByTheirLastDigit) {
  SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
  std::mt19937_64 random{keys::fresh_seed()};
  // A sweep over one digit leaves longer runs.
  constexpr RouteRule rule{.run = 40, .most = 65536, .gain = -1e30};
  for (const int bits : {17, 20, 24}) {
    std::vector<std::uint32_t> input(600011);
    for (std::uint32_t& key : input) key = static_cast<std::uint32_t>(random()) >> (32 - bits);
    const auto indices = reference::sorted_indices(input, Order::ascending);
    for (const bool in_place : {true, false}) {
      SCOPED_TRACE(::testing::Message() << bits << " bits, in place " << in_place);
      const auto sorted = hybrid::sort<large_finish, std::uint32_t>(
          input, make_codec<std::uint32_t>(Order::ascending), {.in_place = in_place}, rule);
      EXPECT_EQ(sorted.route.crowded, 1);
      EXPECT_EQ(sorted.values, indices);
      for (std::size_t i = 0; i < input.size(); ++i) ASSERT_EQ(sorted.keys[i], input[indices[i]]);
    }
  }
}

/// What fits the counters if each key comes once, and overflows them if one of a thousand comes often.
TEST(MsdHybrid, DenseKeysAreGivenUpSoon) {
  SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
  std::mt19937_64 random{keys::fresh_seed()};
  constexpr std::size_t count = 1 << 20;
  for (const bool distinct : {true, false}) {
    std::vector<std::uint32_t> input(count);
    std::iota(input.begin(), input.end(), 0u);
    std::shuffle(input.begin(), input.end(), random);
    if (!distinct) {
      for (std::uint32_t& key : input) key -= key % 1024 < 20 ? key % 1024 : 0;
    }
    const Route route = expect_sorted<large_finish>(input, Order::ascending, always);
    EXPECT_EQ(route.finishes, 1);
    EXPECT_EQ(route.crowded, 0);
    if (distinct) {
      EXPECT_EQ(route.given_up, 0u);
    } else {
      EXPECT_GT(route.given_up, route.chunks / 2);
    }
  }
}

/// Up to fifteen of each, side by side or far apart, whose words hold more: none is given up. (Of 8-byte keys on hosts the queue of
/// those that share a counter overflows.)
template <class Key>
void expect_some_times_each_counted() {
  SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
  std::mt19937_64 random{keys::fresh_seed()};
  constexpr std::size_t count = 1 << 20;
  constexpr Key factor = sizeof(Key) == 4 ? 0x9e3779b1u : static_cast<Key>(0x9e3779b97f4a7c15u);
  for (const std::uint32_t times : {2u, 4u, 15u}) {
    for (const bool scattered : {false, true}) {
      SCOPED_TRACE(::testing::Message() << times << " of each, scattered " << scattered);
      std::vector<Key> input(count);
      for (std::uint32_t i = 0; i < count; ++i) {
        input[i] = static_cast<Key>(i / times) * (scattered ? factor : Key{1});
      }
      std::shuffle(input.begin(), input.end(), random);
      const Route route = expect_sorted<large_finish>(input, Order::ascending, always);
      EXPECT_EQ(route.finishes, 1);
      EXPECT_EQ(route.crowded, 0);
      // Two kinds may share a counter.
      if (times < 8 || !scattered) {
        EXPECT_EQ(route.given_up, 0u);
      }
    }
  }
}
TEST(MsdHybrid, KeysThatComeSomeTimesEachAreCounted) {
  expect_some_times_each_counted<std::uint32_t>();
  expect_some_times_each_counted<std::uint64_t>();
}

/// What is chosen for keys of which, of any two, so many are alike in so many topmost bits: log2 of the chance.
template <class Alike>
Route choice_for(int log_count, int value_bytes, const Alike& alike, int key_bytes = 8,
                 bool in_place = true, bool splits = false, bool gathers = false,
                 bool gathers_suffixes = false, std::size_t chunk = 4352) {
  using Sample = SampleRuns<Space, decltype(make_codec<std::uint64_t>(Order::ascending)),
                            sample_shape<Space>().threads>;
  const std::size_t count = std::size_t{1} << log_count;
  RouteRule rule = RouteRule::of_chunks(chunk);
  rule.alone = RouteRule::of_chunks(4352).run;
  const auto sweeps = SweepChoices::of(rule.least_sweeps(count), key_bytes);
  const int key_bits = 8 * key_bytes;
  const float samples = Sample::samples;
  const float all = static_cast<float>(Sample::teams(count)) * samples;
  const float pairs = all * (samples - 1) / 2;
  const float met_pairs = count >= rule.meets_from ? all * (all - 1) / 2 : 0;
  Route route{};
  route.top = key_bits;
  route.disorder = Disorder::both;
  const auto counted = [&](int bits) {
    return static_cast<std::uint64_t>(pairs * std::exp2(alike(bits)));
  };
  route.same = counted(key_bits);
  for (int s = sweeps.first; s < sweeps.end; ++s) {
    route.pairs[s - 1] = counted(8 * s);
    route.most[s - 1] = static_cast<std::uint32_t>(1 + samples * std::exp2(alike(8 * s)));
  }
  ChooseRoute choose{count,
                     {0, key_bits},
                     rule,
                     sweeps,
                     samples,
                     pairs,
                     met_pairs,
                     key_bytes + value_bytes,
                     11 + bit_width_of(static_cast<std::uint64_t>(chunk / 4352)),
                     0,
                     value_bytes == 0,
                     splits,
                     gathers,
                     gathers_suffixes,
                     false,
                     16,
                     true,
                     in_place,
                     value_bytes > 0,
                     &route};
  route.met = static_cast<std::uint64_t>(met_pairs * std::exp2(alike(choose.met_bits(key_bits))));
  choose();
  return route;
}

/// By what the sample counts on average: chance must not decide.
TEST(MsdHybrid, FinishesWhatSpreadsWhateverTheSize) {
  for (int log_count = 20; log_count <= 40; ++log_count) {
    for (const int value_bytes : {0, 4, 8}) {
      SCOPED_TRACE(::testing::Message()
                   << "2^" << log_count << " with " << value_bytes << " bytes");
      const Route even = choice_for(log_count, value_bytes, [](double bits) { return -bits; });
      EXPECT_EQ(even.finishes, 1);
      EXPECT_EQ(even.crowded, 0);
      EXPECT_EQ(even.mends, 0);
      // Ones in a fourth of all bits: words of counters hold too many.
      const Route skewed =
          choice_for(log_count, value_bytes, [](double bits) { return -0.678 * bits; });
      EXPECT_TRUE(skewed.finishes == 0 || skewed.mends == 1);
      // Clusters, whose keys agree in sixteen bits more than tell the clusters apart.
      const Route clusters = choice_for(log_count, value_bytes, [](double bits) {
        return bits < 6 ? -bits : bits < 22 ? -6.0 : 16 - bits;
      });
      EXPECT_EQ(clusters.finishes, 1);
      EXPECT_EQ(clusters.crowded, 0);
      EXPECT_EQ(clusters.mends, 0);
      EXPECT_GT(clusters.digits.count(), even.digits.count());
      // A thousand of them, each of one in 2^32 of all keys that may be: five sweeps tell them apart, or six. (Of more keys
      // those leave longer runs.)
      if (log_count < 23 || log_count > 38) continue;
      const Route thousand = choice_for(log_count, value_bytes, [](double bits) {
        return bits < 10 ? -bits : bits < 32 ? -10.0 : 22 - bits;
      });
      EXPECT_EQ(thousand.finishes, 1);
      EXPECT_EQ(thousand.crowded, 0);
      EXPECT_GE(thousand.digits.count(), 5);
    }
  }
}

/// Where hardly any run is longer than others, however they lie.
TEST(MsdHybrid, LongChunksAreForEvenRuns) {
  const auto choice = [](int log_count, const auto& alike) {
    return choice_for(log_count, 4, alike, 8, true, false, false, false,
                      log_count == 29 ? 2 * 4352 : 4 * 4352);
  };
  for (const int log_count : {29, 30}) {
    SCOPED_TRACE(log_count);
    const Route even = choice(log_count, [](double bits) { return -bits; });
    EXPECT_EQ(even.finishes, 1);
    EXPECT_EQ(even.digits.count(), 2);
    // A thousand clusters, each of one in 2^32 of all keys that may be.
    const Route clusters = choice(log_count, [](double bits) {
      return bits < 10 ? -bits : bits < 32 ? -10.0 : 22 - bits;
    });
    EXPECT_EQ(clusters.finishes, 1);
    EXPECT_EQ(clusters.digits.count(), 5);
    // Ones in a fourth of all bits: three sweeps of 2^29 leave runs of 6500 as one key finds them, but of all lengths.
    const Route skewed = choice(log_count, [](double bits) { return -0.678 * bits; });
    EXPECT_TRUE(skewed.finishes == 0 || skewed.digits.count() > 3);
  }
}

/// Some keys that differ in the last bits alone, or not at all, are too few for pairs within samples: those of different
/// teams tell.
TEST(MsdHybrid, FewKeysThatAreCloseAreNotFinished) {
  for (int log_count = 26; log_count <= 32; ++log_count) {
    // So many others agree with one in all bits before that one.
    const auto alike = [&](double others, int of_one) {
      return [=](double bits) {
        const double close = bits < of_one ? others / std::exp2(log_count) : 0;
        return std::log2(std::exp2(-bits) + close);
      };
    };
    for (const int value_bytes : {0, 4}) {
      SCOPED_TRACE(::testing::Message()
                   << "2^" << log_count << " with " << value_bytes << " bytes");
      for (const double others : {4.0, 15.0, 63.0}) {
        for (const int of_one : {40, 100}) {
          const Route close = choice_for(log_count, value_bytes, alike(others, of_one));
          EXPECT_TRUE(close.finishes == 0 || close.mends == 1 || close.crowded == 1)
              << others << " up to bit " << of_one;
        }
      }
      const Route some = choice_for(log_count, value_bytes, alike(1, 100));
      EXPECT_EQ(some.finishes, 1);
      EXPECT_EQ(some.mends, 0);
    }
    if (log_count < 27 || log_count > 29) continue;
    SCOPED_TRACE(::testing::Message() << "2^" << log_count << " of 4 bytes");
    const auto spreads = [&](double others) {
      return choice_for(log_count, 0, alike(others, 100), 4, true, false, true, true).spreads;
    };
    EXPECT_EQ(spreads(0), Route::gathered);
    EXPECT_EQ(spreads(1.5), Route::to_values);  // which may count them
    EXPECT_NE(spreads(6), Route::gathered);
    EXPECT_NE(spreads(6), Route::to_values);
  }
}

/// By chance a team sees ten pairs of keys after four sweeps instead of eighteen, where samples of all teams know better how many
/// share a word of counters.
TEST(MsdHybrid, FewPairsDoNotOutweighTheSamplesOfAllTeams) {
  const auto alike = [](double bits) {
    return -5.51 - 0.678 * (bits - 8) - (bits == 32 ? 0.89 : 0);
  };
  const Route skewed = choice_for(28, 0, alike);
  EXPECT_TRUE(skewed.finishes == 0 || skewed.mends == 1) << skewed.digits.count();
}

/// Of some runs of keys that spread the sample sees, by chance, no two: they are not taken for the same key many times.
TEST(MsdHybrid, ChanceLeavesNoRunsToMend) {
  for (int log_count = 26; log_count <= 40; ++log_count) {
    for (const int value_bytes : {0, 4}) {
      SCOPED_TRACE(::testing::Message()
                   << "2^" << log_count << " with " << value_bytes << " bytes");
      const auto none = [](double bits) { return bits < 24 ? -bits : -1000.0; };
      EXPECT_EQ(choice_for(log_count, value_bytes, none, 4, /*in_place=*/false).mends, 0);
    }
  }
}

/// Few keys are spread twice only if their cells are about even.
TEST(MsdHybrid, SpreadsEvenKeysSooner) {
  const auto even = [](double bits) { return -bits; };
  const auto uneven = [](double bits) { return 1 - bits; };  // as if they lay in half of the cells
  for (const int key_bytes : {4, 8}) {
    EXPECT_EQ(choice_for(26, 0, even, key_bytes).spreads, 0);
    // 16 bits are left of a key of 4 bytes.
    EXPECT_EQ(choice_for(27, 0, even, key_bytes).spreads,
              key_bytes == 4 ? Route::to_values : Route::to_chunks);
    EXPECT_EQ(choice_for(27, 4, even, key_bytes).spreads, 0);
    const Route few = choice_for(27, 0, uneven, key_bytes);
    EXPECT_EQ(few.spreads, 0);
    EXPECT_EQ(few.finishes, 1);
  }
}

/// Even ones are gathered, where they may be; as suffixes only if few are alike.
TEST(MsdHybrid, GathersEvenKeys) {
  const auto choice = [](int log_count, int key_bytes, double less, int alike = 64) {
    return choice_for(
        log_count, 0,
        [&](double bits) { return less - (bits < alike ? bits : static_cast<double>(alike)); },
        key_bytes, true, false, true, key_bytes == 4 && log_count >= 27);
  };
  for (const int key_bytes : {4, 8}) {
    for (const int log_count : {23, 25, 26, 27, 28}) {
      SCOPED_TRACE(::testing::Message() << "2^" << log_count << " of " << key_bytes << " bytes");
      const Route even = choice(log_count, key_bytes, 0);
      EXPECT_EQ(even.spreads, Route::gathered);
      EXPECT_EQ(even.finishes, 1);
      EXPECT_NE(choice(log_count, key_bytes, 0.3).spreads, Route::gathered);
      const Route some_alike = choice(log_count, key_bytes, 0, 20);
      if (key_bytes == 4 && log_count >= 27) {
        EXPECT_NE(some_alike.spreads, Route::gathered);
      }
    }
  }
}

/// Keys alone that no digits spread are spread by splitters, if sweeps over all digits would take longer.
TEST(MsdHybrid, SpreadsBySplittersWhatNoDigitsSpread) {
  const auto even = [](double bits) { return -bits; };
  const auto rare_ones = [](double bits) { return -0.356 * bits; };
  for (const bool splits : {false, true}) {
    for (const int log_count : {25, 26}) {
      SCOPED_TRACE(::testing::Message() << "2^" << log_count << (splits ? " may be split" : ""));
      EXPECT_NE(choice_for(log_count, 0, even, 8, true, splits).spreads, Route::by_splitters);
      const Route uneven = choice_for(log_count, 0, rare_ones, 8, true, splits);
      EXPECT_EQ(uneven.spreads, splits ? Route::by_splitters : 0);
      EXPECT_EQ(uneven.finishes, splits ? 1 : 0);
      const Route shorter = choice_for(log_count, 0, rare_ones, 5, true, splits);
      EXPECT_EQ(shorter.spreads, 0);
    }
  }
}

/// Scattered values, 16 keys of each: three sweeps leave some in runs with others, and to move those past each other takes longer
/// than a fourth, even if a sample sees less than there are.
TEST(MsdHybrid, ManyKeysAreNotMovedPastManyWhereASweepMoreSparesIt) {
  const auto values = [](double bits) {
    return bits < 24
               ? -std::min(bits, 20.0) + (bits >= 20 ? std::log2(1 + std::exp2(20 - bits)) : 0)
           : bits < 28 ? -20 + std::log2(1 + 0.5 / 16)
                       : -20.0;
  };
  // By chance it may see none after the third.
  const auto unseen = [&](double bits) { return values(bits >= 24 ? 64 : bits); };
  for (const int value_bytes : {0, 4}) {
    for (const bool sees_some : {false, true}) {
      const Route scattered =
          sees_some ? choice_for(24, value_bytes, values) : choice_for(24, value_bytes, unseen);
      EXPECT_EQ(scattered.mends, 1);
      EXPECT_EQ(scattered.digits.count(), 4);
    }
  }
}

/// 8192 kinds, which three sweeps of four tell apart. What looks at their runs would also have to copy them, in place.
TEST(MsdHybrid, LongRunsAreNotLookedAtWhereAllMustBeCopiedBesides) {
  const auto kinds = [](double bits) { return -13 * std::min(bits, 24.0) / 24; };
  for (const int value_bytes : {0, 4}) {
    EXPECT_EQ(choice_for(26, value_bytes, kinds, 4, /*in_place=*/false).finishes, 1);
    EXPECT_EQ(choice_for(26, value_bytes, kinds, 4).finishes, 0);
  }
}

/// All samples are drawn from known places, so it is known how many pairs of them agree in how many bits.
TEST(MsdHybrid, SamplesOfAllTeamsMeet) {
  SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
  std::mt19937_64 random{keys::fresh_seed()};
  using Sample = SampleRuns<Space, decltype(make_codec<std::uint64_t>(Order::ascending)),
                            sample_shape<Space>().threads>;
  constexpr std::size_t count = 200021;
  RouteRule rule = RouteRule::of_chunks(large_finish.round());
  rule.meets_from = 0;
  const RandomPlaces places{count};
  for (const std::uint64_t kinds : {std::uint64_t{0}, std::uint64_t{40000}, std::uint64_t{2000}}) {
    SCOPED_TRACE(kinds);
    std::vector<std::uint64_t> input(count);
    for (auto& key : input) key = random();
    if (kinds > 0) {
      for (std::size_t i = kinds; i < count; ++i) input[i] = input[random() % kinds];
    }
    const Route route = expect_sorted<large_finish>(input, Order::ascending, rule);
    ASSERT_EQ(route.top, 64);
    const std::size_t samples = Sample::teams(count) * Sample::samples;
    // A chunk spans what agrees in so many bits, and twelve more tell words of its counters apart.
    const int told = bit_width_of(static_cast<std::uint64_t>(count / rule.run)) + 12;
    std::map<std::uint64_t, std::uint64_t> alike;
    for (std::uint32_t i = 0; i < samples; ++i) ++alike[input[places.of(i)] >> (64 - told)];
    std::uint64_t pairs = 0;
    for (const auto& [prefix, times] : alike) pairs += times * (times - 1) / 2;
    EXPECT_EQ(route.met, pairs);
  }
}

/// One key has a bit that no other key has.
constexpr std::size_t count_with_an_odd_key = 50021;
Route sort_with_an_odd_key(int shift, std::size_t place) {
  std::mt19937_64 random{keys::fresh_seed()};
  constexpr std::size_t count = count_with_an_odd_key;
  auto input = keys::make<std::uint64_t>(keys::Pattern::uniform, count, random);
  for (auto& key : input) key >>= shift;
  input[place] |= std::uint64_t{1} << 60;
  return expect_sorted<large_finish>(input, Order::ascending, always);
}

TEST(MsdHybrid, ABitThatTheSampleMissesIsCounted) {
  SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
  const std::size_t unseen = unseen_place(count_with_an_odd_key);
  const Route near = sort_with_an_odd_key(24, unseen);  // a sweep or two more, and the finish
  EXPECT_EQ(near.top, 40);
  EXPECT_EQ(near.recounts, 1);
  EXPECT_EQ(near.finishes, 1);
  EXPECT_EQ(near.digits.end, 61);
  const Route far = sort_with_an_odd_key(40, unseen);  // all digits
  EXPECT_EQ(far.top, 24);
  EXPECT_EQ(far.recounts, 1);
  EXPECT_EQ(far.finishes, 0);
}

/// A host that waits launches the kernels that the route needs, whatever else the size would ask for.
TEST(MsdHybrid, KernelsThatARouteDoesNotNeedAreNotLaunched) {
  if constexpr (has_board<Space>) {
    std::mt19937_64 random{keys::fresh_seed()};
    SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
    auto input = keys::make<std::uint64_t>(keys::Pattern::uniform, 50021, random);
    const auto codec = make_codec<std::uint64_t>(Order::ascending);
    const auto launches = [&](bool waits) {
      std::map<std::string, int> launches;
      const Listener listener;
      const auto sorted =
          hybrid::sort<small_finish, std::uint32_t>(input, codec, {.waits = waits}, always);
      for (const Event& event : Listener::of(Event::kernel)) {
        const std::string name = event.label.substr(event.label.rfind(':') + 1);
        if (event.label.rfind("test::", 0) == 0) ++launches[name];
      }
      EXPECT_TRUE(std::ranges::is_sorted(sorted.keys));
      return launches;
    };
    auto all = launches(false), needed = launches(true);
    EXPECT_GE(all["SweepTile"] + all["SweepRest"], 3);
    EXPECT_EQ(needed["SweepTile"], 1);  // which leaves runs of 200 keys
    EXPECT_EQ(needed["SweepRest"], 0);
    for (const char* const finish : {"ListChunks", "FinishChunk", "FinishCrowded", "FinishRanges"})
      EXPECT_EQ(needed[finish], 1) << finish;
    std::ranges::sort(input);
    all = launches(false), needed = launches(true);
    EXPECT_GE(all["FinishChunk"], 1);
    EXPECT_LE(needed["SweepTile"], 1);  // while the host learns that it is not needed
    for (const char* const other :
         {"SweepRest", "ListChunks", "FinishChunk", "FinishCrowded", "FinishRanges"})
      EXPECT_EQ(needed[other], 0) << other;
  }
}

/// It need not be counted anew where a sample saw it, if not the glance before.
TEST(MsdHybrid, ABitThatASampleSeesIsSweptAtOnce) {
  SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
  std::set<std::size_t> glanced;
  const SamplePlaces places(count_with_an_odd_key, GlancedPairs::samples);
  for (std::size_t i = 0; i < GlancedPairs::samples; ++i) glanced.insert(places.of(i));
  std::uint32_t sample = 0;
  const RandomPlaces sampled{count_with_an_odd_key};
  while (glanced.count(sampled.of(sample)) > 0) ++sample;
  for (const int shift : {24, 40}) {
    const Route route = sort_with_an_odd_key(shift, sampled.of(sample));
    EXPECT_EQ(route.top, 64 - shift);
    EXPECT_EQ(route.reach, 61);
    EXPECT_EQ(route.recounts, 0);
    EXPECT_EQ(route.finishes, shift == 24 ? 1 : 0);
    EXPECT_GE(route.digits.end, 61);
  }
}

/// More keys share counters than the queue holds, and none so often that a chunk is given up.
TEST(MsdHybrid, ManyKeysOfAChunkShareCounters) {
  std::mt19937_64 random{keys::fresh_seed()};
  SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
  std::vector<std::uint32_t> input;
  for (std::uint32_t i = 0; i < 60000; ++i) input.push_back(i / 3 << 16 | (i & 1) << 3);
  std::shuffle(input.begin(), input.end(), random);
  expect_sorted<large_finish>(input, Order::ascending, always);
}

/// Most keys have the same topmost eight of the bits that count, so a chunk spans nearly all runs of sixteen; above
/// those bits anything may stand.
TEST(MsdHybrid, BitsThatDoNotCountChangeNothing) {
  std::mt19937_64 random{keys::fresh_seed()};
  SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
  const RouteRule rule = RouteRule::of_chunks(large_finish.round());
  for (int turn = 0; turn < 150; ++turn) {
    const int begin = static_cast<int>(random() % 4),
              end = begin + 20 + static_cast<int>(random() % 8);
    const std::uint64_t heavy = 300 + random() % 650;  // of a thousand
    std::vector<std::uint32_t> input(6000 + random() % 12000);
    for (std::uint32_t& key : input) {
      key = static_cast<std::uint32_t>(random());
      if (random() % 1000 < heavy) key &= ~(0xffu << (end - 8));
    }
    // More of a kind than narrow counters take.
    for (int i = 0; i < 8; ++i) input[random() % input.size()] = 0x80u << (end - 8);
    const auto sorted = hybrid::sort<large_finish, std::uint32_t>(
        input, make_codec<std::uint32_t>(Order::ascending), {.makes_indices = true}, rule,
        {begin, end});
    std::vector<std::uint64_t> indices(input.size());
    std::iota(indices.begin(), indices.end(), std::uint64_t{0});
    std::ranges::stable_sort(
        indices, {}, [&](std::uint64_t i) { return reference::cut_bits(input[i], begin, end); });
    ASSERT_EQ(sorted.values, indices) << "bits [" << begin << ", " << end << ")";
  }
}

/// In place an odd number of passes would end in the wrong array: narrower digits make it even.
TEST(MsdHybrid, PassesInPlaceAreEven) {
  SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
  std::mt19937_64 random{keys::fresh_seed()};
  constexpr RouteRule never{0, 0, 0};
  struct {
    int bits, passes, even;
  } constexpr cases[] = {{7, 1, 2},  {8, 1, 2},  {16, 2, 2}, {17, 3, 4},
                         {20, 3, 4}, {24, 3, 4}, {25, 4, 4}, {32, 4, 4}};
  for (const auto& [bits, passes, even] : cases) {
    std::vector<std::uint32_t> input(20011);
    for (std::uint32_t& key : input) key = static_cast<std::uint32_t>(random()) >> (32 - bits);
    const auto indices = reference::sorted_indices(input, Order::ascending);
    for (const bool in_place : {true, false}) {
      SCOPED_TRACE(::testing::Message() << bits << " bits, in place " << in_place);
      const auto sorted = hybrid::sort<large_finish, std::uint32_t>(
          input, make_codec<std::uint32_t>(Order::ascending), {.in_place = in_place}, never);
      // (One digit more is counted, if there is one.)
      const bool is_narrow = in_place && passes != even;
      const int counted = is_narrow ? even : std::min(passes + 1, 4);
      EXPECT_EQ(sorted.route.digits.count(), counted);
      for (std::size_t i = 0; i < input.size(); ++i) {
        ASSERT_EQ(sorted.keys[i], input[indices[i]]) << i;
        ASSERT_EQ(sorted.values[i], indices[i]) << i;
      }
    }
  }
}

TEST(MsdHybrid, LongRunsAreSortedByOneTeamEach) {
  std::mt19937_64 random{keys::fresh_seed()};
  SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
  std::vector<std::uint64_t> input;
  for (int i = 0; i < 70001; ++i) {
    const std::uint64_t any = random();
    input.push_back(any % 5 == 0 ? any : (any % 3 << 61 | any >> 40));
  }
  const Route route = expect_sorted<small_finish>(input, Order::descending, always);
  EXPECT_EQ(route.finishes, 1);
}

/// Runs of up to so many keys that agree in their topmost 16 bits, in order or not, that begin and end anywhere in
/// tiles; or a few that span some of them.
template <class Key>
std::vector<Key> runs_of(std::size_t longest, double chance, std::mt19937_64& random) {
  constexpr int low = 8 * sizeof(Key) - 16;
  std::vector<Key> input;
  for (std::uint64_t run = 0; run < 60000 && input.size() < 40000; ++run) {
    const std::size_t length = 1 + random() % longest;
    const auto prefix = static_cast<Key>(run / 2 + (run % 2 << 15));
    const bool differ = static_cast<double>(random()) * 0x1p-64 < chance;
    for (std::size_t i = 0; i < length; ++i) {
      const std::uint64_t tail =
          differ && random() % 3 != 0 ? random() & low_mask<std::uint64_t>(std::min(low, 64)) : 5;
      input.push_back(static_cast<Key>(prefix << low | tail));
    }
  }
  std::shuffle(input.begin(), input.end(), random);
  return input;
}

/// After so many sweeps: an odd number leaves elements in place in the other array, and two leave the runs.
template <class Key, class Value>
void expect_runs_mended(const std::vector<Key>& input, Order order, int sweeps) {
  const auto indices = reference::sorted_indices(input, order);
  RouteRule rule = by_mending;
  for (rule.run = 1e6; rule.least_sweeps(input.size()) < sweeps;) rule.run /= 10;
  for (const Movement& movement :
       {Movement{}, Movement{.in_place = false}, Movement{.makes_indices = true},
        Movement{.in_place = false, .makes_indices = true, .leaves_keys = true}}) {
    const auto sorted =
        hybrid::sort<small_finish, Value>(input, make_codec<Key>(order), movement, rule);
    EXPECT_EQ(sorted.route.mends, 1);
    EXPECT_EQ(sorted.route.digits.count(), sweeps);
    for (std::size_t i = 0; i < input.size(); ++i) {
      if (!movement.leaves_keys) {
        ASSERT_TRUE(sorted.keys[i] == input[indices[i]]) << i;
      }
      if constexpr (!std::is_same_v<Value, NoValue>) {
        ASSERT_EQ(sorted.values[i], indices[i]) << i;
      }
    }
  }
}

template <class Key>
void expect_all_runs_mended() {
  std::mt19937_64 random{keys::fresh_seed()};
  for (const std::size_t longest : {2, 63, 65, 80, 300, 9000}) {
    for (const double chance : {1.0, 0.05, 0.0}) {
      SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed() << ", runs of up to "
                                        << longest << ", " << chance << " of them of many keys");
      const auto input = runs_of<Key>(longest, chance, random);
      for (const int sweeps : {1, 2, 3}) {
        expect_runs_mended<Key, std::uint32_t>(input, Order::ascending, sweeps);
        expect_runs_mended<Key, NoValue>(input, Order::descending, sweeps);
      }
      if (::testing::Test::HasFailure()) return;
    }
  }
}
TEST(MsdHybrid, RunsAreMended) {
  expect_all_runs_mended<std::uint64_t>();
  expect_all_runs_mended<std::uint32_t>();
  expect_all_runs_mended<uint128>();
}

/// Kinds of 8-byte keys, too many to be counted, that few digits tell apart.
TEST(MsdHybrid, ManyScatteredKindsAreMended) {
  SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
  std::mt19937_64 random{keys::fresh_seed()};
  RouteRule rule = RouteRule::of_chunks(small_finish.round());
  rule.gain = 1e30;  // else runs are finished digit by digit
  rule.mend_gain = -1e30;
  std::vector<std::uint64_t> kinds(3000), input(300007);
  for (auto& kind : kinds) kind = random();
  for (auto& key : input) key = kinds[random() % kinds.size()];
  const Route route = expect_sorted<small_finish>(input, Order::ascending, rule);
  EXPECT_EQ(route.mends, 1);
  EXPECT_LE(route.digits.count(), 5);
  // What differs in its lowest bit alone differs.
  for (auto& key : input) key = (key & ~std::uint64_t{1}) | (random() & 1);
  EXPECT_EQ(expect_sorted<small_finish>(input, Order::ascending, rule).mends, 0);
}

/// Kinds whose runs are longer than scratch: most runs are of one kind and need no more than a look, some are of two.
template <class Key>
void expect_long_runs_looked_at() {
  SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
  std::mt19937_64 random{keys::fresh_seed()};
  RouteRule rule{.run = 40, .most = 65536, .close = -1, .gain = 1e30, .mend_gain = 1e30};
  rule.look_gain = -1e30;
  std::vector<Key> kinds(800), input(600011);
  for (auto& kind : kinds) kind = static_cast<Key>(random());
  for (int pair = 0; pair < 12; ++pair)
    kinds[2 * pair] = kinds[2 * pair + 1] ^ (1 + random() % 999);
  for (auto& key : input) key = kinds[random() % kinds.size()];
  for (const Order order : {Order::ascending, Order::descending}) {
    const Route route = expect_sorted<small_finish>(input, order, rule);
    EXPECT_EQ(route.finishes, 1);
    EXPECT_EQ(route.crowded, 0);
    EXPECT_EQ(route.mends, 0);
    EXPECT_EQ(route.digits.count(), 2);
    EXPECT_GE(route.left, 700u);
  }
  // Of runs in which every other key is of another kind each would be one team's work.
  for (std::size_t k = 0; k < kinds.size(); k += 2) kinds[k] = kinds[k + 1] ^ 1;
  for (auto& key : input) key = kinds[random() % kinds.size()];
  EXPECT_EQ(expect_sorted<small_finish>(input, Order::ascending, rule).finishes, 0);
}

TEST(MsdHybrid, LongRunsOfOneKindAreLookedAt) {
  expect_long_runs_looked_at<std::uint32_t>();
  expect_long_runs_looked_at<std::uint64_t>();
}

/// Keys alone that are counted whatever they are.
constexpr RouteRule by_counting{.run = 1e3,
                                .most = 0,
                                .close = -1,
                                .gain = 1e30,
                                .values = 1e30,
                                .counted = 1,
                                .mend_gain = 1e30};

/// Teams look for the ends of long runs while others sort theirs.
TYPED_TEST(MsdHybridOf, FinishesKeysAloneOfEveryPattern) {
  for (const keys::Pattern pattern : keys::all_patterns) {
    for (const Order order : {Order::ascending, Order::descending}) {
      SCOPED_TRACE(::testing::Message()
                   << "seed " << keys::fresh_seed() << ", pattern " << static_cast<int>(pattern)
                   << ", order " << static_cast<int>(order));
      const auto input = keys::make<TypeParam>(pattern, 20483, this->random_);
      for (const RouteRule& rule : {always, by_digits, by_mending}) {
        routes_alone(input, codec_of_all_bits<TypeParam>(order), rule);
      }
      if (this->HasFailure()) return;
    }
  }
}

template <class Key, class Codec>
void expect_keys_sorted(const std::vector<Key>& input, const Codec& codec, const RouteRule& rule,
                        bool counts, bool recounts = false) {
  for (const Route& route : routes_alone(input, codec, rule)) {
    EXPECT_EQ(route.counts != 0, counts);
    EXPECT_EQ(route.recounts, recounts ? 1 : 0);
  }
}

/// Ranges of two values a bin, of as many as a team has counters and more, below bits that all codes share.
template <class Key>
void expect_short_ranges_counted() {
  using Word = kradix::impl::unsigned_of_bits<8 * sizeof(Key)>;
  std::mt19937_64 random{keys::fresh_seed()};
  constexpr auto above = static_cast<Word>(0xb5) << (8 * sizeof(Key) - 8);
  for (const int bits : {9, 13, 20, 21, 22, 23, 24}) {
    for (const std::size_t count : {std::size_t{3000}, std::size_t{60013}}) {
      for (const int skew : {0, 1, 2, 3}) {
        SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed() << ", " << bits
                                          << " bits, " << count << " keys, skew " << skew);
        std::vector<Word> codes(count);
        for (Word& code : codes) {
          std::uint64_t value = random();
          if (skew == 1) value &= random() & random();
          if (skew == 2 && value >> 61 != 0) value = 77;
          if (skew == 3 && value >> 63 != 0) value &= 15;
          code = static_cast<Word>(above | (value & low_mask<std::uint64_t>(bits)));
        }
        for (std::size_t i = 0; i < count; i += 3) codes[i] |= Word{1} << (bits - 1);  // is seen
        for (const Order order : {Order::ascending, Order::descending}) {
          const auto codec = codec_of_all_bits<Key>(order);
          std::vector<Key> input;
          for (const Word code : codes) input.push_back(std::bit_cast<Key>(codec.decode(code)));
          expect_keys_sorted(input, codec, by_counting, true);
        }
        if (::testing::Test::HasFailure()) return;
      }
    }
  }
}

TYPED_TEST(MsdHybridOf, ShortRangesAreCounted) {
  expect_short_ranges_counted<TypeParam>();
}

TEST(MsdHybrid, WhatASampleMissesIsNotCountedByOneTeam) {
  SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
  std::mt19937_64 random{keys::fresh_seed()};
  std::vector<std::uint32_t> input(30011);
  for (auto& key : input) key = static_cast<std::uint32_t>(random()) >> 14;
  const auto codec = make_codec<std::uint32_t>(Order::ascending);
  RouteRule rule = by_counting;
  rule.counted = 0.04f;
  expect_keys_sorted(input, codec, rule, true);
  auto uneven = input;
  for (auto& key : uneven) key = key >> 10 == 7 ? key + 1024 : key;
  for (int i = 0; i < 1210; ++i) {  // of 1200 that may be, and 1600 that chance may show
    std::uint32_t& key = uneven[static_cast<std::size_t>(24 * i)];
    key = 7u << 10 | (key & 1023);
  }
  expect_keys_sorted(uneven, codec, rule, false, true);
  // A bit above all that the sample saw.
  auto odd = input;
  odd[unseen_place(odd.size())] |= 1u << 30;
  expect_keys_sorted(odd, codec, by_counting, false, true);
  // In order but for a place, which most likely no sample looks at: order is hoped for first.
  auto ordered = input;
  std::ranges::sort(ordered);
  const std::size_t place = unseen_place(ordered.size());
  std::swap(ordered[place], ordered[place + 300]);
  const auto sorted = hybrid::sort<small_finish, NoValue>(ordered, codec, {}, by_counting);
  EXPECT_NE(sorted.route.counts, 0u);
  std::ranges::sort(ordered);
  EXPECT_EQ(sorted.keys, ordered);
  // Too many values for so few keys, or no counting at all.
  rule = by_counting;
  rule.values = 2;
  expect_keys_sorted(input, codec, rule, false);
  rule = by_counting;
  rule.counted = 0;
  expect_keys_sorted(input, codec, rule, false);
}

/// Keys alone are spread twice wherever two sweeps and a finish would do.
RouteRule by_spreading(std::size_t count) {
  RouteRule rule = always;
  rule.run = static_cast<float>(count) / 400;
  rule.spread_from = 0;
  rule.spread_even = 1e30f;
  rule.values_from = ~std::size_t{0};
  rule.glance_to = 0;
  return rule;
}

/// Keys alone that are spread twice, and counted by value however many are alike.
constexpr RouteRule by_cells{.run = 0.5f,
                             .most = 0,
                             .close = -1,
                             .gain = 1e30,
                             .counted = 0,
                             .mend_gain = 1e30,
                             .spread_from = 0,
                             .values_from = 0,
                             .even = 1e30,
                             .full = 1e30,
                             .alike = 1e30,
                             .copied = 1000};

/// Returns the route of the sort in place.
template <class Key, class Codec>
Route expect_keys_spread(const std::vector<Key>& input, const Codec& codec, const RouteRule& rule) {
  return routes_alone(input, codec, rule).back();
}

TYPED_TEST(MsdHybridOf, KeysAloneAreSpreadTwice) {
  using Codec = decltype(codec_of_all_bits<TypeParam>(Order::ascending));
  constexpr auto tile = static_cast<std::size_t>(spread_shape<Space>(sizeof(TypeParam)).round());
  for (const int skew : {0, 1, 2}) {
    for (const std::size_t count : {std::size_t{30000}, 4 * tile - 1, 4 * tile, 60013 + tile}) {
      for (const Order order : {Order::ascending, Order::descending}) {
        // (The order is one xor more: each skew and each count has both.)
        if (count != 30000 && (skew + count) % 2 != static_cast<std::size_t>(order)) continue;
        SCOPED_TRACE(::testing::Message()
                     << "seed " << keys::fresh_seed() << ", count " << count << ", skew " << skew);
        const auto codec = codec_of_all_bits<TypeParam>(order);
        std::vector<TypeParam> input;
        for (std::size_t i = 0; i < count; ++i) {
          auto bits = static_cast<typename Codec::bits_type>(this->random_());
          constexpr int top = Codec::bits;
          // Bins of which most are empty, or one holds half of the keys.
          if (skew == 1) bits &= ~low_mask<decltype(bits)>(top) | 0xc7ffffff | bits << 8 << 8;
          if (skew == 2 && i % 2 == 0)
            bits = bits >> 8 | bits << (top - 1) >> (top - 1) << (top - 2);
          input.push_back(std::bit_cast<TypeParam>(codec.decode(bits)));
        }
        const Route route = expect_keys_spread(input, codec, by_spreading(count));
        EXPECT_EQ(route.spreads, Route::to_chunks);
        EXPECT_EQ(route.finishes, 1);
        EXPECT_EQ(route.recounts, 0);
        if (this->HasFailure()) return;
      }
    }
  }
}

/// Keys alone are gathered wherever two sweeps and a finish would do.
RouteRule by_gathering(std::size_t count) {
  RouteRule rule = by_spreading(count);
  rule.spread_from = ~std::size_t{0};
  rule.gather_from = 0;
  rule.gather_even = rule.most_uneven = 1e30f;
  return rule;
}

std::vector<std::size_t> counts_around(std::size_t tile) {
  return {10000, tile - 1, tile, tile + 1, 3 * tile - 1, 8 * tile, 9 * tile + 7, 150001};
}

template <class Key>
class Gathered : public ::testing::Test {
 protected:
  static constexpr auto tile =
      static_cast<std::size_t>(gather_shape<Space>(sizeof(Key), 0).round());
  using Bits = std::make_unsigned_t<Key>;
  static constexpr int all = 8 * sizeof(Key);

  std::vector<Key> keys(std::size_t count, Order order, const std::function<Bits(Bits)>& change) {
    const auto codec = make_codec<Key>(order);
    std::vector<Key> input;
    for (std::size_t i = 0; i < count; ++i) {
      const Bits bits = change(static_cast<Bits>(random_()));
      input.push_back(std::bit_cast<Key>(codec.decode(bits)));
    }
    return input;
  }
  void swap_some(std::vector<Key>& input, int times) {
    for (int i = 0; i < times; ++i)
      std::swap(input[random_() % input.size()], input[random_() % input.size()]);
  }
  Route sorted(const std::vector<Key>& input, Order order, std::optional<bool> waits = {}) {
    const auto routes = routes_alone(input, make_codec<Key>(order), by_gathering(input.size()),
                                     /*deals=*/false, waits);
    EXPECT_EQ(routes.front().spreads, routes.back().spreads);
    return routes.back();
  }
  /// Cells of equal keys are given up, and so are those of too many for scratch; a bin may hold hardly any (2).
  std::vector<Key> cells_that_do_not_fit(std::size_t count, const Gathering& shape, int kind) {
    const int left = all - shape.bits(), left_of_bin = all - shape.first_bits;
    std::uint64_t nth = 0;
    return keys(count, Order::ascending, [=](Bits bits) mutable {
      const Bits bin = bits >> left_of_bin, cell = bits >> left, first = cell / 64 * 64 << left;
      if (kind == 0 && cell % 64 < 8) return first;
      if (kind == 1 && cell % 64 < 40)
        return static_cast<Bits>(first | (bits & low_mask<Bits>(left)));
      // Hardly any key in the first cells of a chunk, which is given up for others.
      if (kind == 3 && cell % 64 < 24 && ++nth % 64 != 0)
        return static_cast<Bits>(bits + (Bits{32} << left));
      if (kind == 3 && cell % 64 >= 24 && cell % 64 < 32)
        return static_cast<Bits>(first + (Bits{24} << left));
      const bool moves = kind == 2 && bin == 3 && ++nth % 512 != 0;
      return moves ? static_cast<Bits>(bits ^ Bits{1} << left_of_bin) : bits;
    });
  }
  /// The topmost bits of a key that tell its bin, and its cell.
  static Gathering shape_of(std::size_t count) {
    return Gathering::of(count, tile, static_cast<std::size_t>(small_finish.round()));
  }

  std::mt19937_64 random_{keys::fresh_seed()};
};
using GatheredKeys = ::testing::Types<std::uint32_t, std::int32_t, std::uint64_t, std::int64_t>;
TYPED_TEST_SUITE(Gathered, GatheredKeys);

TYPED_TEST(Gathered, KeysThatSpread) {
  using Bits = typename TestFixture::Bits;
  constexpr std::size_t tile = TestFixture::tile;
  for (const std::size_t count : counts_around(tile)) {
    if (count < 5000) continue;  // two sweeps are too many
    for (const Order order : {Order::ascending, Order::descending}) {
      for (const int below : {0, 5}) {  // bits that are the same in all
        SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed() << ", " << count
                                          << " keys, " << below << " bits fewer");
        const auto input = this->keys(count, order, [&](Bits bits) {
          return static_cast<Bits>(bits >> below |
                                   (below > 0 ? Bits{5} << (TestFixture::all - below) : 0));
        });
        EXPECT_EQ(this->sorted(input, order).spreads, Route::gathered);
        if (this->HasFailure()) return;
      }
    }
  }
}

TYPED_TEST(Gathered, CellsThatDoNotFit) {
  const std::size_t count = 60000;
  const Gathering shape = this->shape_of(count);
  for (const int kind : {0, 1, 2, 3}) {
    SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed() << ", kind " << kind);
    const auto input = this->cells_that_do_not_fit(count, shape, kind);
    EXPECT_EQ(this->sorted(input, Order::ascending).spreads, kind == 2 ? 0 : Route::gathered);
    if (this->HasFailure()) return;
  }
}

/// Bins that are too long, and bits above all that the sample saw, are noticed in time.
TYPED_TEST(Gathered, KeysThatAreNot) {
  using Bits = typename TestFixture::Bits;
  constexpr int all = TestFixture::all;
  SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
  const std::size_t count = 60000;
  const auto uneven = this->keys(count, Order::ascending, [&](Bits bits) {
    return bits % 3 == 0 ? static_cast<Bits>(bits & ~(Bits{3} << (all - 2))) : bits;
  });
  EXPECT_EQ(this->sorted(uneven, Order::ascending).spreads, 0);
  auto odd =
      this->keys(count, Order::ascending, [](Bits bits) { return static_cast<Bits>(bits >> 2); });
  odd[unseen_place(count)] ^= static_cast<TypeParam>(TypeParam{1} << (all - 2));
  EXPECT_EQ(this->sorted(odd, Order::ascending, /*waits=*/true).spreads, 0);
  // (Where the host waits the sort begins anew, and the odd key may have moved to where it is seen.)
  const Route route = this->sorted(odd, Order::ascending, /*waits=*/false);
  EXPECT_EQ(route.spreads, 0);
  EXPECT_EQ(route.recounts, 1);
}

/// Neighbours in a tile that share their digit are counted together; where nearly all do, others sort them.
TYPED_TEST(Gathered, KeysNearlyInOrder) {
  using Bits = typename TestFixture::Bits;
  SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
  auto input = this->keys(100000, Order::ascending, [](Bits bits) { return bits; });
  std::ranges::sort(input);
  this->swap_some(input, 1000);
  EXPECT_NE(this->sorted(input, Order::ascending).spreads, Route::gathered);
  this->swap_some(input, 9000);
  EXPECT_EQ(this->sorted(input, Order::ascending).spreads, Route::gathered);
}

/// Keys alone are dealt out wherever two sweeps and a finish would do.
template <class Key>
class Dealt : public Gathered<Key> {
 protected:
  static constexpr auto tile = static_cast<std::size_t>(deal_shape<Space>(sizeof(Key)).round());
  static constexpr auto bin =
      static_cast<std::size_t>(finish_dealt_shape<Space>(sizeof(Key)).round());
  using Bits = typename Gathered<Key>::Bits;

  Route sorted(const std::vector<Key>& input, Order order) {
    RouteRule rule = by_gathering(input.size());
    rule.gather_from = rule.glance_to = ~std::size_t{0};
    rule.deal_even = rule.most_uneven = 1e30f;
    const auto routes = routes_alone(input, make_codec<Key>(order), rule, /*deals=*/true);
    EXPECT_EQ(routes.front().spreads, routes.back().spreads);
    return routes.back();
  }
  std::vector<Key> keys_below(std::size_t count, Order order, std::uint64_t of_thousand) {
    return this->keys(count, order, [&](Bits bits) {
      return static_cast<Bits>(bits / 1000 * of_thousand + bits % 1000 * of_thousand / 1000);
    });
  }
};
TYPED_TEST_SUITE(Dealt, GatheredKeys);

/// As many bins as find room, of all codes or a part of them.
TYPED_TEST(Dealt, KeysThatSpread) {
  constexpr std::size_t tile = TestFixture::tile, bin = TestFixture::bin;
  auto counts = counts_around(tile);
  for (const std::size_t bins : {2u, 3u, 33u}) counts.push_back(bins * bin - bin / 8);
  for (const std::size_t count : counts) {
    if (count < 5000) continue;  // two sweeps are too many
    for (const Order order : {Order::ascending, Order::descending}) {
      for (const std::uint64_t of_thousand : {1000u, 999u, 750u, 31u}) {
        SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed() << ", " << count
                                          << " keys, up to " << of_thousand << "/1000 of all");
        const auto input = this->keys_below(count, order, of_thousand);
        EXPECT_EQ(this->sorted(input, order).spreads, Route::dealt);
        if (this->HasFailure()) return;
      }
    }
  }
}

/// A bin of equal keys is given up by the finish; one that is too long, and a key beyond all bins, are noticed in time.
TYPED_TEST(Dealt, KeysThatAreNot) {
  using Bits = typename TestFixture::Bits;
  constexpr int all = TestFixture::all;
  const std::size_t count = 60000;
  const auto with = [&](const std::function<Bits(Bits)>& change) {
    return this->keys(count, Order::ascending, change);
  };
  const auto spreads = [&](const std::vector<TypeParam>& input) {
    SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
    return this->sorted(input, Order::ascending).spreads;
  };
  // More than counters of the finish count, where no sample sees them.
  auto some_alike = with([](Bits bits) { return bits; });
  for (const std::size_t place : unseen_places(count, 40, 0)) some_alike[place] = some_alike[0];
  EXPECT_EQ(spreads(some_alike), Route::dealt);
  const auto uneven = with([](Bits bits) {
    return bits % 3 == 0 ? static_cast<Bits>(bits & ~(Bits{3} << (all - 2))) : bits;
  });
  EXPECT_EQ(spreads(uneven), 0);
  // Where no sample sees it.
  auto crowded = with([](Bits bits) { return bits; });
  for (const std::size_t place : unseen_places(count, 3000, 0))
    crowded[place] = static_cast<TypeParam>(crowded[0] ^ static_cast<TypeParam>(place));
  EXPECT_EQ(spreads(crowded), 0);
  for (const Bits beyond : {Bits{0}, low_mask<Bits>(all)}) {
    auto odd =
        with([](Bits bits) { return static_cast<Bits>((bits >> 2) + (Bits{1} << (all - 2))); });
    odd[unseen_place(count)] =
        std::bit_cast<TypeParam>(make_codec<TypeParam>(Order::ascending).decode(beyond));
    SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
    const Route route = this->sorted(odd, Order::ascending);
    EXPECT_EQ(route.spreads, 0);
    EXPECT_EQ(route.recounts, 1);
  }
}

TYPED_TEST(Dealt, KeysNearlyInOrder) {
  SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
  auto input = this->keys_below(25 * GlancedPairs::samples, Order::ascending, 1000);
  std::ranges::sort(input);
  this->swap_some(input, 1000);
  EXPECT_NE(this->sorted(input, Order::ascending).spreads, Route::dealt);
  this->swap_some(input, 9000);
  EXPECT_EQ(this->sorted(input, Order::ascending).spreads, Route::dealt);
}

TEST(Dealing, FollowsFromTheNumberOfKeys) {
  for (const std::size_t bin : {2048u, 6656u, 9216u}) {
    EXPECT_FALSE(Dealing::of(bin / 2, bin).exists());
    for (double log = 14; log < 25; log += 0.05) {
      const auto count = static_cast<std::size_t>(std::exp2(log));
      const Dealing shape = Dealing::of(count, bin);
      const double least = std::ceil(static_cast<double>(count) / static_cast<double>(bin));
      if (!shape.exists()) {
        EXPECT_GT(least * 1.3, double{Dealing::most_bins}) << log;
        continue;
      }
      EXPECT_LE(shape.bins, Dealing::most_bins);
      EXPECT_LE(shape.room, bin);
      EXPECT_LE(shape.bins, least * 1.3 + 1) << log;
      const double even = static_cast<double>(count) / shape.bins;
      EXPECT_GE(shape.room, Dealing::uneven * even + 5 * std::sqrt(even)) << log;
      EXPECT_LE(static_cast<double>(shape.places()), 1.3 * static_cast<double>(count)) << log;
    }
  }
}

/// Keys with values, which keep their order: alone as above, so that all that keys go through these do, too.
template <class Pair>
class GatheredPairs : public Gathered<typename Pair::first_type> {
 protected:
  using Key = typename Pair::first_type;
  using Value = typename Pair::second_type;
  static constexpr auto tile =
      static_cast<std::size_t>(gather_shape<Space>(sizeof(Key), sizeof(Value)).round());

  /// Keys of 4 bytes are numbered then.
  static constexpr Movement wanting_indices{
      .in_place = false, .makes_indices = true, .leaves_keys = true};

  /// In place and not, with values or indices, which alone may be wanted. Returns how keys were spread.
  int spreads(const std::vector<Key>& input, Order order) {
    const auto indices = reference::sorted_indices(input, order);
    std::set<int> ways;
    for (const Movement movement :
         {Movement{.in_place = true}, Movement{.in_place = false},
          Movement{.in_place = false, .makes_indices = true},
          Movement{.in_place = false, .leaves_keys = true}, wanting_indices,
          Movement{.in_place = true, .makes_indices = true}}) {
      SCOPED_TRACE(::testing::Message()
                   << "in place " << movement.in_place << ", indices " << movement.makes_indices
                   << ", leaves keys " << movement.leaves_keys);
      const auto sorted = hybrid::sort<small_finish, Value>(input, make_codec<Key>(order), movement,
                                                            by_gathering(input.size()));
      for (std::size_t i = 0; i < input.size(); ++i) {
        EXPECT_EQ(sorted.values[i], indices[i]) << i;
        if (!movement.leaves_keys) {
          EXPECT_EQ(sorted.keys[i], input[indices[i]]) << i;
        }
        if (this->HasFailure()) return -1;
      }
      if (movement.in_place && movement.makes_indices) {
        EXPECT_NE(sorted.route.spreads, Route::gathered);
      } else {
        ways.insert(sorted.route.spreads);
      }
    }
    EXPECT_EQ(ways.size(), 1u);
    return *ways.begin();
  }
};
using PairsGathered = ::testing::Types<
    std::pair<std::uint32_t, std::uint32_t>, std::pair<std::int32_t, std::uint64_t>,
    std::pair<std::uint64_t, std::uint32_t>, std::pair<std::int64_t, std::uint64_t>>;
TYPED_TEST_SUITE(GatheredPairs, PairsGathered);

TYPED_TEST(GatheredPairs, KeysThatSpread) {
  using Bits = typename TestFixture::Bits;
  constexpr std::size_t tile = TestFixture::tile;
  for (const std::size_t count : counts_around(tile)) {
    if (count < 5000) continue;  // two sweeps are too many
    for (const Order order : {Order::ascending, Order::descending}) {
      for (const Bits mask :
           {~Bits{0}, static_cast<Bits>(~(~Bits{0} >> 12))}) {  // many are the same
        SCOPED_TRACE(::testing::Message()
                     << "seed " << keys::fresh_seed() << ", " << count << " keys of " << mask);
        const auto input =
            this->keys(count, order, [&](Bits bits) { return static_cast<Bits>(bits & mask); });
        EXPECT_EQ(this->spreads(input, order), Route::gathered);
        if (this->HasFailure()) return;
      }
    }
  }
}

TYPED_TEST(GatheredPairs, CellsThatDoNotFit) {
  const std::size_t count = 60000;
  const Gathering shape =
      Gathering::of(count, TestFixture::tile, static_cast<std::size_t>(small_finish.round()), true);
  for (const int kind : {0, 1, 2, 3}) {
    SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed() << ", kind " << kind);
    EXPECT_EQ(this->spreads(this->cells_that_do_not_fit(count, shape, kind), Order::ascending),
              kind == 2 ? 0 : Route::gathered);
    if (this->HasFailure()) return;
  }
}

/// What tiles have been sorted for in vain keeps its order, too.
TYPED_TEST(GatheredPairs, KeysThatAreNot) {
  using Bits = typename TestFixture::Bits;
  constexpr int all = TestFixture::all;
  SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
  const std::size_t count = 60000;
  const auto uneven = this->keys(count, Order::ascending, [&](Bits bits) {
    return bits % 3 == 0 ? static_cast<Bits>(bits & ~(~Bits{0} >> 8)) & ~(Bits{3} << (all - 2))
                         : bits;
  });
  EXPECT_EQ(this->spreads(uneven, Order::ascending), 0);
  auto odd =
      this->keys(count, Order::ascending, [](Bits bits) { return static_cast<Bits>(bits >> 2); });
  odd[unseen_place(count)] ^= static_cast<typename TestFixture::Key>(Bits{1} << (all - 2));
  EXPECT_EQ(this->spreads(odd, Order::ascending), 0);
}

/// Lanes of which some hold the same digit tell each other by ballots.
TYPED_TEST(GatheredPairs, KeysNearlyInOrder) {
  using Bits = typename TestFixture::Bits;
  SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
  auto input = this->keys(100000, Order::ascending, [](Bits bits) { return bits; });
  std::ranges::sort(input);
  this->swap_some(input, 10000);
  EXPECT_EQ(this->spreads(input, Order::ascending), Route::gathered);
}

/// And no more than suffixes are left of them, wherever cells are finished by value.
RouteRule by_gathered_suffixes(std::size_t count) {
  RouteRule rule = by_cells;
  rule.run = 0.5f + static_cast<float>(count) / (1 << 15);  // two sweeps are not too few
  rule.spread_even = 1e30f;
  rule.gather_from = 0;
  rule.gather_even = rule.most_uneven = 1e30f;
  return rule;
}

template <class Key>
class GatheredSuffixes : public Gathered<Key> {
 protected:
  Route sorted(const std::vector<Key>& input, Order order = Order::ascending,
               std::optional<bool> waits = {}) {
    const auto routes =
        routes_alone(input, make_codec<Key>(order), by_gathered_suffixes(input.size()),
                     /*deals=*/false, waits);
    EXPECT_EQ(routes.front().spreads, routes.back().spreads);
    return routes.back();
  }
};
using GatheredSuffixKeys = ::testing::Types<std::uint32_t, std::int32_t>;
TYPED_TEST_SUITE(GatheredSuffixes, GatheredSuffixKeys);

TYPED_TEST(GatheredSuffixes, KeysThatSpread) {
  constexpr std::size_t tile = TestFixture::tile;
  for (const std::size_t count :
       {std::size_t{10000}, 4 * tile - 1, 8 * tile, std::size_t{150001}}) {
    for (const Order order : {Order::ascending, Order::descending}) {
      for (const int below : {0, 5, 13}) {  // bits that are the same in all
        if (count != 10000 && (below == 5) != (order == Order::descending)) continue;
        SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed() << ", " << count
                                          << " keys, " << below << " bits fewer");
        const auto input = this->keys(count, order, [&](std::uint32_t bits) {
          return bits >> below | (below > 0 ? 5u << (32 - below) : 0);
        });
        EXPECT_EQ(this->sorted(input, order).spreads, Route::gathered);
        if (this->HasFailure()) return;
      }
    }
  }
}

/// Cells of a few keys to more than registers hold; of which none is alike, or some are, or more than are listed, or all.
TYPED_TEST(GatheredSuffixes, CellsOfAllSizes) {
  using Cells = FinishGatheredCells<Space, decltype(make_codec<TypeParam>(Order::ascending)),
                                    finish_gathered_shape<Space>()>;
  constexpr std::uint32_t most = Cells::most;
  for (const std::uint32_t kinds : {1u, 700u, 0u}) {  // of suffixes; 0: all
    SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed() << ", kinds " << kinds);
    std::vector<std::uint32_t> cell_of;
    const auto add = [&](std::uint32_t cell, std::uint32_t count) {
      cell_of.insert(cell_of.end(), count, cell);
    };
    for (std::uint32_t bin = 0; bin < 256; ++bin) {
      const std::uint32_t first = bin * 256;
      std::uint32_t left = 2 * most;
      for (const std::uint32_t size : {1u, 7u, 8u, 9u, 15u, 16u, 17u, 100u}) {
        add(first + size, size);
        left -= size;
      }
      const std::uint32_t large = bin % 16 == 0   ? most + bin / 16
                                  : bin % 16 == 1 ? most - bin / 16
                                                  : most / 2 + bin;
      add(first + 255, large);
      left -= large;
      for (std::uint32_t i = 0; i < left; ++i) add(first + 128 + i % 100, 1);
    }
    std::shuffle(cell_of.begin(), cell_of.end(), this->random_);
    std::size_t i = 0;
    const auto input = this->keys(cell_of.size(), Order::ascending, [&](std::uint32_t bits) {
      const std::uint32_t suffix = kinds == 0 ? bits & 0xffff : bits % kinds * 89 & 0xffff;
      return cell_of[i++] << 16 | suffix;
    });
    EXPECT_EQ(this->sorted(input).spreads, Route::gathered);
    if (this->HasFailure()) return;
  }
}

/// What is noticed in time is spread twice, or swept.
TYPED_TEST(GatheredSuffixes, KeysThatAreNot) {
  SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
  const std::size_t count = 60000;
  const auto uneven = this->keys(count, Order::ascending, [&](std::uint32_t bits) {
    return bits % 3 == 0 ? bits & ~(3u << 30) : bits;
  });
  EXPECT_EQ(this->sorted(uneven).spreads, Route::to_values);
  auto odd = this->keys(count, Order::ascending, [](std::uint32_t bits) { return bits >> 2; });
  odd[unseen_place(count)] ^= TypeParam{1} << 30;
  routes_alone(odd, make_codec<TypeParam>(Order::ascending), by_gathered_suffixes(count),
               /*deals=*/false, /*waits=*/true);
  // As above.
  const Route route = this->sorted(odd, Order::ascending, /*waits=*/false);
  EXPECT_EQ(route.spreads, 0);
  EXPECT_EQ(route.recounts, 1);
}

TEST(Gathering, OfSuffixesAsLongAsCellsFit) {
  constexpr std::size_t tile = 10752;
  for (double log = 10; log < 32; log += 0.05) {
    const auto count = static_cast<std::size_t>(std::exp2(log));
    const Gathering shape = Gathering::of_suffixes(count, tile);
    if (!shape.exists()) {
      EXPECT_GT(log, 28.2);
      continue;
    }
    EXPECT_LT(log, 28.4);
    EXPECT_EQ(shape.bits(), 16);
    EXPECT_EQ(shape.together, 1u);
    EXPECT_EQ(shape.chunks, std::uint32_t{bin_count});
    EXPECT_GE(shape.most, count / shape.bins());
    EXPECT_GE(std::size_t{shape.windows} * tile, shape.most);
    EXPECT_LE(shape.windows, Gathering::most_windows_of_suffixes);
  }
}

TEST(Gathering, FollowsFromTheNumberOfKeys) {
  for (const std::size_t chunk : {512u, 4352u, 4608u}) {
    for (double log = 12; log < 32; log += 0.05) {
      const auto count = static_cast<std::size_t>(std::exp2(log));
      const Gathering shape = Gathering::of(count, 7168, chunk);
      const double room = static_cast<double>(chunk) - 3 * std::sqrt(static_cast<double>(chunk));
      if (!shape.exists()) {
        EXPECT_GT(static_cast<double>(count >> 16), room * 0.95) << log;
        continue;
      }
      EXPECT_LE(shape.bits(), 16);
      const double cell = static_cast<double>(count) / (1 << shape.bits());
      const double mean = cell * shape.together;
      EXPECT_LE(mean + 2.5 * std::sqrt(mean), static_cast<double>(chunk)) << log;
      // No more would fit.
      if (shape.together < bin_count) {
        EXPECT_GT(mean + cell, room * 0.98) << log;
      }
      EXPECT_LT((shape.chunks - 1) * shape.together, std::uint32_t{bin_count});
      EXPECT_GE(shape.chunks * shape.together, std::uint32_t{bin_count});
      EXPECT_GE(shape.row, shape.chunks);
      EXPECT_EQ(shape.row % 8, 0u);
      EXPECT_GE(shape.most, count / shape.bins());
      EXPECT_GE(std::size_t{shape.windows} * shape.tile, shape.most);
    }
  }
}

/// Bins of the first pass that begin and end where tiles do, or all some places beside.
TEST(MsdHybrid, BinsEndWhereTilesDo) {
  std::mt19937_64 random{keys::fresh_seed()};
  using Spread = SpreadTile<Space, decltype(make_codec<std::uint32_t>(Order::ascending)),
                            spread_shape<Space>(sizeof(std::uint32_t)), true>;
  for (const int beside : {0, 1, 700}) {
    SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed() << ", beside " << beside);
    std::vector<std::uint32_t> input;
    for (const std::uint32_t top : {0u, 3u, 4u, 127u, 128u, 200u, 255u}) {
      const std::uint32_t count = Spread::tile_size * (1 + top % 3);
      for (std::uint32_t i = 0; i < count; ++i) {
        input.push_back(top << 24 | static_cast<std::uint32_t>(random()) >> 8);
      }
    }
    for (int i = 0; i < beside; ++i) input.push_back(static_cast<std::uint32_t>(i));
    std::shuffle(input.begin(), input.end(), random);
    RouteRule rule = by_spreading(input.size());
    rule.run = static_cast<float>(input.size()) / 100;
    const Route route =
        expect_keys_spread(input, make_codec<std::uint32_t>(Order::ascending), rule);
    EXPECT_EQ(route.spreads, Route::to_chunks);
  }
}

/// Keys whose values below common bits have so many bits; the first ones show them all.
template <class Key>
std::vector<Key> keys_of_bits(int bits, std::size_t count, Order order, std::mt19937_64& random) {
  const auto codec = codec_of_all_bits<Key>(order);
  using Bits = typename decltype(codec_of_all_bits<Key>(order))::bits_type;
  constexpr Bits above = static_cast<Bits>(Bits{0xb5} << (8 * sizeof(Key) - 8));
  std::vector<Key> input;
  for (std::size_t i = 0; i < count; ++i) {
    const auto value = static_cast<Bits>(random()) & low_mask<Bits>(bits);
    const auto common = static_cast<Bits>(above & ~low_mask<Bits>(bits));
    input.push_back(std::bit_cast<Key>(codec.decode(common | value)));
  }
  return input;
}

TYPED_TEST(MsdHybridOf, CellsAreCountedByValue) {
  for (const int bits : {17, 18, 23, 32}) {
    for (const std::size_t count : {std::size_t{10000}, std::size_t{30011}}) {
      for (const Order order : {Order::ascending, Order::descending}) {
        SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed() << ", " << bits
                                          << " bits, " << count << " keys");
        const auto input = keys_of_bits<TypeParam>(bits, count, order, this->random_);
        const Route route =
            expect_keys_spread(input, codec_of_all_bits<TypeParam>(order), by_cells);
        EXPECT_EQ(route.spreads, Route::to_values);
        EXPECT_EQ(route.digits.end, bits);
        EXPECT_EQ(route.chunks, 0u);
        EXPECT_EQ(route.left, 0u);
        if (this->HasFailure()) return;
      }
    }
  }
}

/// More keys of a cell lie side by side than its counter holds, from one field of counters to the next; others may lie among them.
TYPED_TEST(MsdHybridOf, CellsOfKeysNearlyInOrder) {
  constexpr std::size_t count = 60011;
  for (const std::uint64_t one_of : {2u, 9u, 100u}) {
    for (const Order order : {Order::ascending, Order::descending}) {
      SCOPED_TRACE(::testing::Message()
                   << "seed " << keys::fresh_seed() << ", another is one of " << one_of);
      const auto codec = codec_of_all_bits<TypeParam>(order);
      using Bits = typename decltype(codec_of_all_bits<TypeParam>(order))::bits_type;
      std::vector<TypeParam> input;
      for (std::size_t i = 0; i < count; ++i) {
        constexpr std::uint32_t first = 10'400u << 16, step = 1117;
        const bool other = this->random_() % one_of == 0;
        const auto random = static_cast<std::uint32_t>(this->random_());
        const auto rising = static_cast<std::uint32_t>(first + i * step + random % (9 * step));
        const Bits value = other ? random : rising;
        input.push_back(std::bit_cast<TypeParam>(codec.decode(value)));
      }
      EXPECT_EQ(expect_keys_spread(input, codec, by_cells).spreads, Route::to_values);
      if (this->HasFailure()) return;
    }
  }
}

/// A key is written over suffixes of parts before its own, and those of the last part have a copy.
TEST(MsdHybrid, SuffixesAreReadBeforeTheyAreWrittenOver) {
  for (const std::size_t count : {1u, 2u, 3u, 1000u, 1001u, 4099u}) {
    for (const std::size_t copied : {1u, 2u, 7u, 500u, 5000u}) {
      SCOPED_TRACE(::testing::Message() << count << " keys, " << copied << " copied");
      const Suffixes suffixes{count, nullptr, copied};
      std::vector<std::size_t> ends;
      for (std::size_t end = 0; end < count; ends.push_back(end)) {
        ASSERT_GT(suffixes.end_of_part(end), end);
        end = suffixes.end_of_part(end);
      }
      ASSERT_LE(ends.size(), std::size_t{Suffixes::State::most_parts});
      EXPECT_LE(count - (ends.size() > 1 ? ends[ends.size() - 2] : 0), copied);
      const auto part_of = [&](std::size_t place) {
        return std::ranges::upper_bound(ends, place) - ends.begin();
      };
      for (const std::size_t size : {2u, 4u}) {  // suffixes that lie where a key will
        for (std::size_t place = 0; place < count; ++place) {
          const std::size_t end = size * (place + 1), first = (size - 1) * count;
          if (end <= first || part_of(place) + 1 == std::ssize(ends)) continue;
          EXPECT_LT(part_of(end - 1 - first), part_of(place)) << place;
        }
      }
    }
  }
}

/// Returns the route.
Route expect_cells_counted(std::vector<std::uint32_t>& input, std::mt19937_64& random) {
  std::shuffle(input.begin(), input.end(), random);
  const Route route =
      expect_keys_spread(input, make_codec<std::uint32_t>(Order::ascending), by_cells);
  EXPECT_EQ(route.spreads, Route::to_values);
  return route;
}

/// Values that come once, twice, and up to as often as a counter can tell, in a word of bits or in all.
TEST(MsdHybrid, ValuesOfACellComeAgain) {
  std::mt19937_64 random{keys::fresh_seed()};
  for (const std::uint32_t values : {1u, 2u, 3u, 16u, 17u, 40u, 300u, 65536u}) {
    for (const std::uint32_t step : {1u, 15u, 16u, 257u}) {
      SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed() << ", " << values
                                        << " values " << step << " apart");
      auto input = keys_of_bits<std::uint32_t>(32, 300, Order::ascending, random);
      for (const std::uint32_t cell : {0u, 3u, 40000u, 0xfffeu, 0xffffu}) {
        std::erase_if(input, [&](std::uint32_t key) { return key >> 16 == cell; });
        const auto first = static_cast<std::uint32_t>(random());
        const std::uint32_t most = 1 + cell % 15;
        for (std::uint32_t i = 0; i < values && i < 600; ++i) {
          const std::uint32_t value = (first + i * step) & 0xffffu;
          const std::uint32_t times = i % 3 == 0 && values * step < 65536 ? most : 1;
          for (std::uint32_t j = 0; j < times; ++j) input.push_back(cell << 16 | value);
        }
      }
      EXPECT_EQ(expect_cells_counted(input, random).left, 0u);
      if (::testing::Test::HasFailure()) return;
    }
  }
}

/// As many keys of a value as a counter holds, and one more, in cells of so many that the counters are asked.
TEST(MsdHybrid, AFullCellIsSortedByOneTeam) {
  std::mt19937_64 random{keys::fresh_seed()};
  using Finish = FinishCells<Space, decltype(make_codec<std::uint32_t>(Order::ascending)),
                             finish_cells_shape<Space>()>;
  for (const int more : {0, 1}) {
    for (const std::uint32_t value : {0u, 7u, 31u, 0xffffu}) {
      SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed() << ", value " << value);
      auto input = keys_of_bits<std::uint32_t>(32, 5000, Order::ascending, random);
      std::uint32_t odd = 0;
      for (std::uint32_t cell = 5; cell < 0x10000; cell += 0x3333) {
        std::erase_if(input, [&](std::uint32_t key) { return key >> 16 == cell; });
        for (int i = 0; i < 15 + more; ++i) input.push_back(cell << 16 | value);
        for (std::uint32_t i = 0; i < Finish::few; ++i) {  // of other values, few of each
          odd += 217;
          if (odd % 0x10000 != value) input.push_back(cell << 16 | odd % 0x10000);
        }
      }
      EXPECT_EQ(expect_cells_counted(input, random).left, more == 0 ? 0u : 5u);
      if (::testing::Test::HasFailure()) return;
    }
  }
}

/// Where values come up to fifteen times each, groups of lanes hold more keys than they write side by side.
TEST(MsdHybrid, FullCountersAreWritten) {
  SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
  std::mt19937_64 random{keys::fresh_seed()};
  auto input = keys_of_bits<std::uint32_t>(32, 40000, Order::ascending, random);
  for (const std::uint32_t cell : {0u, 77u, 0xffffu}) {
    std::erase_if(input, [&](std::uint32_t key) { return key >> 16 == cell; });
    for (std::uint32_t value = 0; value < 3000; ++value) {
      for (std::uint32_t i = 0; i < 15 - value % 2; ++i) input.push_back(cell << 16 | value);
    }
  }
  EXPECT_EQ(expect_cells_counted(input, random).left, 0u);
}

/// Floats alone that are spread by pieces, whatever else might be chosen.
RouteRule by_pieces(bool by_value = false) {
  RouteRule rule{.run = 1e30, .most = 0, .close = -1, .gain = 1e30};
  rule.heavy = rule.mend_gain = rule.look_gain = 1e30f;
  rule.counted = 0;
  rule.kinds_from = rule.spread_from = rule.values_from = ~std::size_t{0};
  rule.pieces_from = 0;
  rule.pieces_even = rule.pieces_alike = 1e30f;
  rule.copied = 1000;
  rule.piece_keys = 1;
  rule.value_even = by_value ? 1e30f : 0;
  return rule;
}
/// Floats that are swept by value, whatever else might be chosen.
RouteRule sweeping_by_value() {
  RouteRule rule = by_pieces(true);
  rule.heavy_from = rule.pieces_from = ~std::size_t{0};
  rule.by_value_from = 0;
  rule.by_value_alike = 1e30f;
  return rule;
}
template <class Float>
int spread_of(const RouteRule& rule) {
  if (sizeof(Float) == 4) return Route::pieces_to_values;
  return rule.value_even > 0 ? Route::by_value : Route::pieces_to_chunks;
}
template <class Float>
Float draw_value(int kind, std::mt19937_64& random) {
  std::uniform_real_distribution<double> uniform(0, 1);
  double value = uniform(random);
  if (kind == 1) value = 2 * value - 1;
  if (kind == 2) value = std::normal_distribution<double>(1, 3)(random);
  if (kind == 3) value = 1e5 + value;
  if (kind == 4) value *= -1e-30;
  return static_cast<Float>(value);
}

template <class Float>
class MsdHybridFloats : public ::testing::Test {
 protected:
  std::mt19937_64 random_{keys::fresh_seed()};
};
template <class Float>
std::vector<Float> odd_floats() {
  using Limits = std::numeric_limits<Float>;
  return {Limits::infinity(), -Limits::infinity(), Limits::quiet_NaN(),  -Limits::quiet_NaN(),
          Float{0},           -Float{0},           Limits::denorm_min(), Limits::max(),
          Limits::lowest()};
}
using Floats = ::testing::Types<float, double>;
TYPED_TEST_SUITE(MsdHybridFloats, Floats);

TYPED_TEST(MsdHybridFloats, AreSpreadByPieces) {
  const auto odd = odd_floats<TypeParam>();
  constexpr auto tile = static_cast<std::size_t>(spread_shape<Space>(sizeof(TypeParam)).round());
  for (const int kind : {0, 1, 2, 3, 4}) {
    for (const std::size_t count : {std::size_t{10000}, 4 * tile - 1, 4 * tile}) {
      if (count != 10000 && kind > 1) continue;  // ends of tiles know no densities
      for (const Order order : {Order::ascending, Order::descending}) {
        SCOPED_TRACE(::testing::Message()
                     << "seed " << keys::fresh_seed() << ", count " << count << ", kind " << kind);
        std::vector<TypeParam> input(count);
        for (TypeParam& key : input) key = draw_value<TypeParam>(kind, this->random_);
        // The first key that is none of a sample's may be anything.
        for (const TypeParam key : odd) input[unseen_place(count)] = key;
        input[unseen_place(count)] = odd[this->random_() % odd.size()];
        for (const bool by_value : {false, true}) {
          const RouteRule rule = by_pieces(by_value);
          for (const Route& route :
               routes_alone(input, codec_of_all_bits<TypeParam>(order), rule)) {
            EXPECT_EQ(route.spreads, spread_of<TypeParam>(rule));
            EXPECT_EQ(route.recounts, 0);
          }
        }
        if (::testing::Test::HasFailure()) return;
      }
    }
  }
}

/// Many that are no numbers or infinite, all alike, few kinds, zeros of both signs: by pieces, by value, or not.
TYPED_TEST(MsdHybridFloats, MayBeOdd) {
  const auto odd = odd_floats<TypeParam>();
  for (const int kinds : {1, 2, 5, 9}) {
    for (const int part : {1, 3, 100}) {
      SCOPED_TRACE(::testing::Message()
                   << "seed " << keys::fresh_seed() << ", " << kinds << " kinds, one in " << part);
      std::vector<TypeParam> input(20011);
      for (TypeParam& key : input) {
        const std::uint64_t drawn = this->random_();
        key = drawn % static_cast<std::uint64_t>(part) == 0
                  ? odd[(drawn >> 32) % static_cast<std::uint64_t>(kinds) + 9 - kinds]
                  : draw_value<TypeParam>(1, this->random_);
      }
      for (const Order order : {Order::ascending, Order::descending}) {
        for (const bool by_value : {false, true}) {
          routes_alone(input, codec_of_all_bits<TypeParam>(order), by_pieces(by_value));
        }
        routes_alone(input, codec_of_all_bits<TypeParam>(order), sweeping_by_value());
        expect_sorted<small_finish>(input, order, sweeping_by_value());
      }
      if (::testing::Test::HasFailure()) return;
    }
  }
}

/// The odd ones among them, several times, where no sample looks.
TYPED_TEST(MsdHybridFloats, AreSweptByValue) {
  const auto odd = odd_floats<TypeParam>();
  constexpr auto tile = static_cast<std::size_t>(sweep_with.round());
  for (const int kind : {0, 1, 2, 3, 4}) {
    if (kind == 3 && sizeof(TypeParam) == 4) continue;  // too many of them are the same
    for (const std::size_t count : {std::size_t{10000}, 40 * tile - 1, 40 * tile}) {
      for (const Order order : {Order::ascending, Order::descending}) {
        for (const std::size_t odd_ones : {std::size_t{0}, 3 * odd.size()}) {
          SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed() << ", count " << count
                                            << ", kind " << kind << ", " << odd_ones << " odd");
          std::vector<TypeParam> input(count);
          for (TypeParam& key : input) key = draw_value<TypeParam>(kind, this->random_);
          for (const std::size_t place : unseen_places(count, odd_ones, this->random_() % 100)) {
            input[place] = odd[this->random_() % odd.size()];
          }
          const bool spread = odd_ones == 0 && (kind < 2 || (kind == 4 && sizeof(TypeParam) == 8));
          const auto expect_swept = [&](const Route& route) {
            EXPECT_EQ(route.spreads, Route::swept_by_value);
            EXPECT_EQ(route.recounts, 0);
            if (spread) {
              EXPECT_EQ(route.given_up, 0u);
            }
          };
          expect_swept(expect_sorted<small_finish>(input, order, sweeping_by_value()));
          const auto codec = codec_of_all_bits<TypeParam>(order);
          for (const Route& alone : routes_alone(input, codec, sweeping_by_value())) {
            expect_swept(alone);
          }
          if (this->HasFailure()) return;
        }
      }
    }
  }
}

/// Few are enough to see that all spread over their values, or that they do not.
TYPED_TEST(MsdHybridFloats, SpreadOverTheirValuesAtAGlance) {
  for (const std::size_t samples_from : {std::size_t{0}, ~std::size_t{0}}) {
    for (const int kind : {0, 1, 2, 5}) {
      for (const Order order : {Order::ascending, Order::descending}) {
        SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed() << ", kind " << kind
                                          << ", samples from " << samples_from);
        RouteRule rule = RouteRule::of_chunks(static_cast<std::size_t>(small_finish.round()));
        rule.samples_from = samples_from;
        rule.by_value_from = 0;
        rule.pieces_from = rule.kinds_from = ~std::size_t{0};
        std::vector<TypeParam> input(150000);
        for (TypeParam& key : input) {
          key = draw_value<TypeParam>(kind == 5 ? 0 : kind, this->random_);
          if (kind == 5) key = std::exp(100 * key);
        }
        const auto expect_chosen = [&](const Route& route) {
          if (kind == 2)
            return;  // six of the densest cell, by rare chance, are too many for a glance
          EXPECT_EQ(route.chosen, kind < 5 || samples_from > 0 ? 1 : 0);
          EXPECT_EQ(route.spreads, kind < 5 ? Route::swept_by_value : 0);
        };
        expect_chosen(expect_sorted<small_finish>(input, order, rule));
        for (const Route& alone : routes_alone(input, codec_of_all_bits<TypeParam>(order), rule)) {
          expect_chosen(alone);
        }
        if (this->HasFailure()) return;
      }
    }
  }
}

/// In place and not, with values and indices, keys left behind.
TEST(MsdHybrid, SweepsByValueMoveAsTheyShould) {
  std::mt19937_64 random{keys::fresh_seed()};
  SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
  std::vector<double> input(30011);
  for (double& key : input) key = std::floor(30000 * draw_value<double>(1, random)) / 7;
  const auto indices = reference::sorted_indices(input, Order::ascending);
  for (const bool in_place : {true, false}) {
    for (const bool makes_indices : {true, false}) {
      for (const bool leaves_keys : {true, false}) {
        const auto sorted = hybrid::sort<small_finish, std::uint64_t>(
            input, make_codec<double>(Order::ascending), {in_place, makes_indices, leaves_keys},
            sweeping_by_value());
        EXPECT_EQ(sorted.route.spreads, Route::swept_by_value);
        EXPECT_EQ(sorted.values, indices);
        for (std::size_t i = 0; i < input.size() && !leaves_keys; ++i) {
          ASSERT_EQ(sorted.keys[i], input[indices[i]]);
        }
      }
    }
  }
}

/// Tiles that wait for others to leave the look-back's words.
TEST(MsdHybrid, SweepsByValueLookBack) {
  std::mt19937_64 random{keys::fresh_seed()};
  std::vector<double> input(100 * static_cast<std::size_t>(sweep_with.round()) + 3);
  for (double& key : input) key = draw_value<double>(1, random);
  const auto indices = reference::sorted_indices(input, Order::ascending);
  for (const LookBackShape look_back :
       {LookBackShape{3, 4, 1}, LookBackShape{2, 1, 0}, LookBackShape{2, 2, 0, 2}}) {
    SCOPED_TRACE(::testing::Message()
                 << "seed " << keys::fresh_seed() << ", 2^" << look_back.slot_bits << " slots");
    const auto sorted = hybrid::sort<small_finish, std::uint32_t>(
        input, make_codec<double>(Order::ascending), {.makes_indices = true}, sweeping_by_value(),
        {0, 64}, look_back);
    const auto alone =
        hybrid::sort<small_finish, NoValue>(input, codec_of_all_bits<double>(Order::ascending), {},
                                            sweeping_by_value(), {0, 64}, look_back);
    EXPECT_EQ(sorted.route.spreads, Route::swept_by_value);
    EXPECT_EQ(alone.route.spreads, Route::swept_by_value);
    EXPECT_EQ(sorted.values, indices);
    for (std::size_t i = 0; i < input.size(); ++i) {
      ASSERT_EQ(sorted.keys[i], input[indices[i]]) << i;
      ASSERT_EQ(alone.keys[i], input[indices[i]]) << i;
    }
  }
}

/// Of some bits alone doubles are swept by digits.
TEST(MsdHybrid, SomeBitsOfDoublesAreNoValue) {
  std::mt19937_64 random{keys::fresh_seed()};
  SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
  const auto codec = make_codec<double>(Order::ascending);
  std::vector<double> input(20011);
  for (double& key : input) key = draw_value<double>(1, random);
  const auto sorted = hybrid::sort<small_finish, std::uint32_t>(
      input, codec, {.makes_indices = true}, sweeping_by_value(), {30, 60});
  EXPECT_NE(sorted.route.spreads, Route::swept_by_value);
  const auto bits = [&](std::size_t i) {
    return codec.encode(std::bit_cast<std::uint64_t>(input[i])) >> 30 & ((1u << 30) - 1);
  };
  for (std::size_t i = 1; i < input.size(); ++i) {
    const std::uint64_t before = sorted.values[i - 1], here = sorted.values[i];
    ASSERT_TRUE(bits(before) < bits(here) || (bits(before) == bits(here) && before < here)) << i;
  }
}

/// Floats of cells that hold few values many times, or many, or more than a team's registers.
TEST(MsdHybrid, FloatsOfACellComeAgain) {
  std::mt19937_64 random{keys::fresh_seed()};
  const auto bits_after = [](float from, std::uint32_t steps) {
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(from) + steps);
  };
  using Finish = FinishCells<Space, TotalOrderCodec<std::uint32_t>, finish_cells_shape<Space>()>;
  for (const std::uint32_t values : {1u, 2u, 40u, 300u, 5000u, 70000u}) {
    for (const std::uint32_t count : {100u, Finish::few - 1, Finish::few + 5, 3 * Finish::few}) {
      SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed() << ", " << count
                                        << " keys of " << values << " values");
      std::vector<float> input(20000);
      for (float& key : input) key = draw_value<float>(1, random);
      for (const float from : {0.75f, 0.01f, -0.3f, 1e-4f}) {
        for (std::uint32_t i = 0; i < count; ++i) {
          const std::uint32_t nth = i % 3 == 0 ? 0 : static_cast<std::uint32_t>(random());
          input.push_back(bits_after(from, nth % values));
        }
      }
      std::shuffle(input.begin(), input.end(), random);
      for (const Order order : {Order::ascending, Order::descending}) {
        const auto routes = routes_alone(input, codec_of_all_bits<float>(order), by_pieces());
        for (const Route& route : routes) EXPECT_EQ(route.spreads, Route::pieces_to_values);
      }
      if (::testing::Test::HasFailure()) return;
    }
  }
}

/// Floats far from all that the sample sees, as many as there is room for, or more.
TEST(MsdHybrid, FloatsOfWideCells) {
  std::mt19937_64 random{keys::fresh_seed()};
  constexpr std::size_t count = 60000;
  for (const std::size_t far : {1u, 2u, 600u, 1500u, 4001u}) {
    SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed() << ", " << far << " far");
    std::vector<float> input(count);
    for (float& key : input) key = draw_value<float>(0, random);
    std::size_t i = 0;
    for (const std::size_t place : unseen_places(count, far, random() % 1000)) {
      const float size = static_cast<float>(std::exp2(100 - 200 * draw_value<float>(0, random)));
      input[place] = i % 3 == 0 ? size : i % 3 == 1 ? -size : size * 1e-38f;
      ++i;
    }
    RouteRule rule = by_pieces();
    rule.wide = 3000;
    for (const Order order : {Order::ascending, Order::descending}) {
      const auto routes = routes_alone(input, codec_of_all_bits<float>(order), rule);
      for (const Route& route : routes) {
        EXPECT_EQ(route.recounts, far > rule.wide ? 1 : 0);
        EXPECT_EQ(route.spreads, far > rule.wide ? 0 : Route::pieces_to_values);
      }
    }
    if (::testing::Test::HasFailure()) return;
  }
}

template <class Look>
struct OneLook {
  Look look;
  const typename Look::Bits* shown;
  int size;
  Route* route;

  KOKKOS_FUNCTION void operator()(const TeamMember<Space>& team) const {
    look(team, shown, size, route, take_scratch<std::uint32_t>(team, Look::words));
  }
};
/// The pieces that a team makes of a sample.
template <class Codec>
Pieces pieces_of(const Codec& codec, const std::vector<typename Codec::bits_type>& sample,
                 Route* seen) {
  using Bits = typename Codec::bits_type;
  constexpr TeamShape shape = sample_shape<Space>();
  using Look = LookAtFloats<Space, Codec, shape.threads>;
  Route route{};
  route.least = static_cast<Bits>(~std::ranges::min(sample));
  route.greatest = std::ranges::max(sample);
  const auto routes = to_device(std::vector<Route>{route});
  const auto shown = to_device(sample);
  const auto pieces = to_device(std::vector<Pieces>(1));
  const Look look{codec, pieces.data(), Route::cell_bits,
                  sizeof(Bits) == 4 ? Suffixes::most_bits : 0};
  const OneLook<Look> run{look, shown.data(), static_cast<int>(sample.size()), routes.data()};
  launch_teams<shape>(Space{}, "look", 1, Look::words * sizeof(std::uint32_t), run);
  *seen = to_host(routes)[0];
  return to_host(pieces)[0];
}

template <class Float>
void expect_cells_keep_the_order(std::mt19937_64& random) {
  for (int turn = 0; turn < 200; ++turn) {
    SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed() << ", turn " << turn);
    const auto codec =
        codec_of_all_bits<Float>(turn % 3 == 0 ? Order::descending : Order::ascending);
    using Codec = std::remove_const_t<decltype(codec)>;
    using Bits = typename Codec::bits_type;
    std::vector<Bits> codes(3000);
    const int shift = turn % (sizeof(Bits) == 4 ? 14 : 40);  // near each other, or everywhere
    const auto base = static_cast<Bits>(random());
    for (Bits& code : codes) {
      const auto drawn = static_cast<Bits>(static_cast<Bits>(random()) >> (4 + shift));
      code = turn % 2 == 0 ? static_cast<Bits>(base + drawn)
                           : codec.encode(std::bit_cast<Bits>(draw_value<Float>(turn % 5, random)));
    }
    Route route;
    const Pieces pieces = pieces_of(codec, {codes.begin(), codes.begin() + 1000}, &route);
    if (route.sharing_by_pieces == 0) continue;
    using Places = PiecePlaces<Bits>;
    const PieceCells<Bits> cells{Places::of(codec, &pieces), 0, pieces.piece};
    // Where the sample has keys cells are narrow.
    for (int i = 0; i < 1000 && sizeof(Bits) == 4; ++i) {
      const Piece piece = pieces.piece[cells.piece_of(codes[i])];
      ASSERT_GE(piece.cells() << Suffixes::most_bits, 1u << Places::rest_bits);
    }
    // And codes beside the beginnings of pieces.
    for (std::uint32_t p = 0; p < Places::count; ++p) {
      std::uint32_t place = p << Places::rest_bits;
      if constexpr (sizeof(Bits) == 8) place += pieces.base[p < Places::count / 2 ? 0 : 1];
      const auto begin = static_cast<Bits>(Bits{place} << (8 * sizeof(Bits) - 32));
      for (const int beside : {-1, 0, 1}) codes.push_back(static_cast<Bits>(begin + beside));
    }
    for (const Bits code : {Bits{0}, static_cast<Bits>(~Bits{0})}) codes.push_back(code);
    std::ranges::sort(codes);
    std::uint32_t before = 0;
    for (const Bits code : codes) {
      const std::uint32_t cell = cells.of(code);
      ASSERT_LE(before, cell);
      ASSERT_LT(cell, std::uint32_t{Route::cells});
      before = cell;
      if constexpr (sizeof(Bits) == 4) {
        // The least code of a cell is just that.
        const std::uint64_t least = least_code(pieces, cell), next = least_code(pieces, cell + 1);
        ASSERT_LE(least, code);
        ASSERT_GT(next, code);
        ASSERT_EQ(cells.of(static_cast<Bits>(least)), cell);
        if (least > 0) {
          ASSERT_LT(cells.of(static_cast<Bits>(least - 1)), cell);
        }
        const Piece piece = pieces.piece[cells.piece_of(code)];
        if (piece.cells() > 1) {
          ASSERT_LE(next - least, 1u << Suffixes::most_bits);
        }
      }
    }
  }
}
TEST(MsdHybrid, CellsByPiecesKeepTheOrder) {
  std::mt19937_64 random{keys::fresh_seed()};
  expect_cells_keep_the_order<float>(random);
  expect_cells_keep_the_order<double>(random);
}

TYPED_TEST(MsdHybridFloats, CellsByValueKeepTheOrder) {
  using Word = unsigned_of_size<sizeof(TypeParam)>;
  using Cells = ValueCells<Word>;
  int existed = 0;
  for (const Order order : {Order::ascending, Order::descending}) {
    const auto codec = codec_of_all_bits<TypeParam>(order);
    for (int turn = 0; turn < 200; ++turn) {
      SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed() << ", turn " << turn);
      std::vector<Word> codes(300);
      const int shift = 64 - 8 * static_cast<int>(sizeof(Word)) + 20 + turn % 40;
      const auto base = static_cast<Word>(this->random_());  // near each other, or everywhere
      for (Word& code : codes) {
        code =
            turn % 2 == 0
                ? static_cast<Word>(base + (shift < 64 ? this->random_() >> shift : 0))
                : codec.encode(std::bit_cast<Word>(draw_value<TypeParam>(turn % 5, this->random_)));
      }
      std::ranges::sort(codes);
      Route route{};
      route.least = static_cast<Word>(~codes[20]);
      route.greatest = codes[280];
      const auto cells = Cells::of(codec, route);
      if (!cells.exist()) continue;
      ++existed;
      std::uint32_t before = 0;
      for (const Word code : codes) {
        const std::uint32_t cell = cells.of(codec.decode(code));
        ASSERT_LE(before, cell);
        ASSERT_LT(cell, Cells::count);
        ASSERT_EQ(cell, cells.of_code(codec, code));
        before = cell;
      }
      EXPECT_LE(cells.of(codec.decode(codes[20])), 2u);
      EXPECT_GE(cells.of(codec.decode(codes[280])), Cells::count - 3);
    }
  }
  EXPECT_GT(existed, 100);
}

TEST(MsdHybrid, NotAllKeysAreSpreadTwice) {
  SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
  std::mt19937_64 random{keys::fresh_seed()};
  const auto codec = make_codec<std::uint64_t>(Order::ascending);
  // A bit above all that the sample saw.
  for (const bool by_value : {false, true}) {
    auto odd = keys_of_bits<std::uint64_t>(32, 50021, Order::ascending, random);
    const RouteRule rule = by_value ? by_cells : by_spreading(odd.size());
    odd[unseen_place(odd.size())] ^= std::uint64_t{1} << 34;
    const Route route = expect_keys_spread(odd, codec, rule);
    EXPECT_EQ(route.recounts, 1);
    EXPECT_EQ(route.spreads, 0);
    EXPECT_EQ(route.finishes, by_value ? 0 : 1);
  }
  // Too few keys, cells that are not even, and keys alike.
  auto input = keys_of_bits<std::uint64_t>(32, 50021, Order::ascending, random);
  RouteRule rule = by_spreading(input.size());
  rule.spread_from = input.size() + 1;
  EXPECT_EQ(expect_keys_spread(input, codec, rule).spreads, 0);
  rule = by_cells;
  rule.even = 4;  // some of so few samples are drawn twice
  EXPECT_EQ(expect_keys_spread(input, codec, rule).spreads, Route::to_values);
  rule.even = 0.5f;
  EXPECT_EQ(expect_keys_spread(input, codec, rule).spreads, 0);
  rule = by_cells;
  rule.alike = 2;
  EXPECT_EQ(expect_keys_spread(input, codec, rule).spreads, Route::to_values);
  for (std::size_t i = 0; i < input.size(); ++i) input[i] = input[i % 5000];
  EXPECT_EQ(expect_keys_spread(input, codec, rule).spreads, 0);
  // Keys with more values in a cell than there are counters.
  input = keys_of_bits<std::uint64_t>(33, 50021, Order::ascending, random);
  EXPECT_EQ(expect_keys_spread(input, codec, by_cells).spreads, 0);
  // Keys in order but for a place.
  input = keys_of_bits<std::uint64_t>(32, 50021, Order::ascending, random);
  std::ranges::sort(input);
  const std::size_t place = unseen_place(input.size());
  std::swap(input[place], input[place + 300]);
  EXPECT_EQ(expect_keys_spread(input, codec, by_spreading(input.size())).spreads, 0);
}

/// Words of counters, of which `most` are counted at most in one and `sum` in all.
template <int bits>
void expect_sums(std::uint32_t most, int sum) {
  using Counters = PackedCounters<bits>;
  std::mt19937 random(static_cast<unsigned>(keys::fresh_seed()));
  for (int turn = 0; turn < 1000; ++turn) {
    std::uint32_t counters[Counters::per_word] = {}, word = 0, total = 0;
    for (int i = 0; i < sum; ++i) {
      std::uint32_t& one = counters[random() % Counters::per_word];
      if (one < most) ++one;
    }
    for (int i = 0; i < Counters::per_word; ++i) word |= counters[i] << bits * i;
    for (const std::uint32_t one : counters) total += one;
    EXPECT_EQ(Counters::sum(word), total);
    std::uint32_t before = 0;
    for (std::uint32_t i = 0; i < Counters::per_word; ++i) {
      const std::uint32_t shift = Counters::shift_of(i);
      EXPECT_EQ(Counters::before(word, shift), before);
      EXPECT_EQ(Counters::counter(word, shift), counters[i]);
      EXPECT_EQ(Counters::those_at_one(word) >> shift & 1, counters[i] == 1 ? 1u : 0u);
      before += counters[i];
    }
  }
}

TEST(PackedCounters, SumWithoutCarries) {
  expect_sums<4>(15, 15);
  expect_sums<4>(15, 150);
  expect_sums<2>(3, 40);
}

TEST(PackedCounters, TellWhenOneIsFull) {
  PackedCounters<2>::Overflow narrow;
  for (const std::uint32_t count : {0u, 1u, 2u}) narrow.add(count << 6, 6);
  EXPECT_FALSE(narrow.seen());
  narrow.add(3u << 6, 6);
  EXPECT_TRUE(narrow.seen());
  PackedCounters<4>::Overflow wide;
  wide.add(0xffffeff, 8);
  EXPECT_FALSE(wide.seen());
  wide.add(0x00000f00, 8);
  EXPECT_TRUE(wide.seen());
}

template <int Threads, int Most>
struct SortInScratch {
  std::uint64_t* array;
  int count;

  KOKKOS_FUNCTION void operator()(const TeamMember<Space>& team) const {
    auto* const words = take_scratch<std::uint64_t>(team, Most);
    for (int i = team.team_rank(); i < count; i += Threads) words[i] = array[i];
    team.team_barrier();
    sort_by_merges<Threads, Most>(
        team, words, count, [](std::uint64_t a, std::uint64_t b) { return a >> 32 < b >> 32; });
    for (int i = team.team_rank(); i < count; i += Threads) array[i] = words[i];
  }
};

/// Two clusters of keys fit a chunk, or the ends of two do, but lie so far apart that those of each would share a few
/// counters of it. Tiny ones are too many to be cut apart.
TEST(ListChunks, CutsThemAtGaps) {
  SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
  std::mt19937_64 random{keys::fresh_seed()};
  using Codec = decltype(make_codec<std::uint64_t>(Order::ascending));
  constexpr TeamShape step = count_shape<Space>();
  using List = ListChunks<Space, Codec, step.threads>;
  constexpr std::size_t most = 4352;
  constexpr int run_bits = 3, shift = 32, gap_bits = 18;  // runs of eight keys
  for (const std::size_t each : {20, 300, 1958, 3481, 6528, 40000}) {
    SCOPED_TRACE(each);
    const std::size_t count = 200000 / each * each + 7;
    std::vector<std::uint64_t> input(count);
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t run = (i / each << gap_bits) + (i % each >> run_bits);
      input[i] = run << shift | random() >> shift;
    }
    const ChunkShape shape = ChunkShape::of(most, count, 1 << run_bits);
    const auto device_keys = to_device(input);
    const auto words = to_device(std::vector<std::uint64_t>(2 * shape.chunks(count)));
    std::vector<Route> routes(1);
    routes[0].finishes = 1;
    routes[0].digits = {shift, 64};
    std::vector<PassTable> tables(1);
    tables[0].finishes = 1;
    const auto route = to_device(routes);
    const auto passes = to_device(tables);
    launch_teams<step>(Space{}, "ListChunks",
                       (shape.windows(count) + List::windows - 1) / List::windows,
                       List::scratch_bytes(),
                       List{{device_keys.data(), device_keys.data(), nullptr},
                            make_codec<std::uint64_t>(Order::ascending),
                            count,
                            {0, 64},
                            shape,
                            shape,
                            passes.data(),
                            route.data(),
                            ChunkLists::of(words.data(), shape.chunks(count), route.data()),
                            /*ends=*/nullptr,
                            /*alone=*/most});
    const Route listed = to_host(route)[0];
    ASSERT_LE(listed.chunks, shape.chunks(count));
    EXPECT_EQ(listed.left, 0u);
    auto chunks = to_host(words);
    chunks.resize(listed.chunks);
    std::sort(chunks.begin(), chunks.end());
    std::size_t end = 0, over_gaps = 0;
    for (const std::uint64_t word : chunks) {
      const Chunk chunk{word};
      ASSERT_EQ(chunk.begin(), end);
      ASSERT_GT(chunk.size(), 0);
      ASSERT_LE(static_cast<std::size_t>(chunk.size()), most);
      const auto run_at = [&](std::size_t place) { return input[place] >> shift; };
      end += static_cast<std::size_t>(chunk.size());
      ASSERT_TRUE(end == count || run_at(end) != run_at(end - 1)) << "a run is cut at " << end;
      over_gaps += (run_at(end - 1) - run_at(chunk.begin())) >> gap_bits > 0 ? 1 : 0;
    }
    EXPECT_EQ(end, count);
    // Hardly any window has too little room for its cuts.
    EXPECT_EQ(20 * over_gaps > chunks.size(), each < 1000) << over_gaps << " of " << chunks.size();
  }
}

/// Of counted cells, whole ones fill a chunk; longer ones are left to a team each, and only the longest are not sorted in
/// scratch.
TEST(ListChunks, TakesWholeCells) {
  SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
  std::mt19937_64 random{keys::fresh_seed()};
  constexpr std::size_t most = 4352, alone = 4608;
  for (const std::size_t usual : {1, 60, 2000}) {
    for (const bool crowded : {false, true}) {
      SCOPED_TRACE(::testing::Message() << usual << (crowded ? ", crowded" : ""));
      std::vector<std::uint64_t> ends(Cells::count);
      std::uint64_t count = 0;
      for (std::size_t cell = 0; cell < ends.size(); ++cell) {
        constexpr std::array<std::size_t, 6> odd{0, most, most + 1, alone, alone + 1, 9000};
        const bool is_odd = cell % 1024 == 1023 || (cell >> 5) % 700 == 699;
        count += is_odd                    ? odd[random() % odd.size()]
                 : usual > 60 && cell > 99 ? 0
                                           : random() % (2 * usual + 1);
        ends[cell] = count;
      }
      const auto [listed, lists, in_memory] = list_cells(ends, most, alone, crowded);
      std::map<std::size_t, std::size_t> sizes;  // by beginning
      for (std::uint64_t i = 0; i < listed.chunks; ++i) {
        const Chunk chunk{lists[i]};
        sizes[chunk.begin()] = chunk.size();
        ASSERT_LE(static_cast<std::size_t>(chunk.size()), crowded ? alone : most);
      }
      for (std::uint64_t i = 0; i < listed.left; ++i) {
        const Chunk chunk{lists[Cells::count + i]};
        const std::size_t end = LongRun::end(in_memory.data() + chunk.begin());
        sizes[chunk.begin()] = chunk.size() > 0 ? chunk.size() : end - chunk.begin();
        ASSERT_EQ(chunk.size() == 0, sizes[chunk.begin()] > alone);
        ASSERT_GT(sizes[chunk.begin()], most);
      }
      ASSERT_EQ(sizes.size(), listed.chunks + listed.left);
      std::size_t end = 0;
      const std::set<std::uint64_t> all_ends(ends.begin(), ends.end());
      for (const auto& [begin, size] : sizes) {
        ASSERT_EQ(begin, end);
        ASSERT_GT(size, 0u);
        end += size;
        ASSERT_TRUE(all_ends.count(end) > 0) << "a cell is cut at " << end;
      }
      EXPECT_EQ(end, count);
      if (Lanes<Space>::width > 1 && usual == 60) {
        EXPECT_LT(10 * sizes.size(), ends.size());
      }
    }
  }
}

TEST(ChunkShape, TheListStaysShort) {
  for (const std::size_t count :
       {std::size_t{1} << 20, std::size_t{1} << 28, std::size_t{1} << 30}) {
    const ChunkShape shape = ChunkShape::of(4352, count, count >> 16);
    EXPECT_LE(2 * shape.chunks(count) * sizeof(std::uint64_t), std::size_t{1} << 23) << count;
  }
}

/// By the upper half of each word, so that it shows if words that are equal there change places.
TEST(MergeFew, IsStable) {
  SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
  std::mt19937_64 random{keys::fresh_seed()};
  constexpr TeamShape shape = sample_shape<Space>();
  constexpr int most = 1000;
  const auto upper = [](std::uint64_t word) { return word >> 32; };
  for (const int count : {0, 1, 2, 3, 31, 32, 33, 500, 511, 512, 513, 999, most}) {
    for (const std::uint64_t kinds : {1u, 2u, 40u, 1u << 31}) {
      SCOPED_TRACE(::testing::Message() << count << " of " << kinds << " kinds");
      std::vector<std::uint64_t> words(most, 7);
      for (int i = 0; i < count; ++i) words[i] = random() % kinds << 32 | static_cast<unsigned>(i);
      const auto array = to_device(words);
      const SortInScratch<shape.threads, most> sort{array.data(), count};
      launch_teams<shape>(Space{}, "sort", 1, most * sizeof(std::uint64_t), sort);
      std::stable_sort(words.begin(), words.begin() + count,
                       [&](auto a, auto b) { return upper(a) < upper(b); });
      EXPECT_EQ(to_host(array), words);
    }
  }
}

}  // namespace
