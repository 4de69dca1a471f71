// Large sorts look at the data first: keys that come in order or in reverse, few kinds of keys, and keys that
// only seem so.
#include <algorithm>
#include <bit>
#include <functional>
#include <gtest/gtest.h>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "support/hybrid.hpp"
#include "support/keys.hpp"
#include "support/reference.hpp"

namespace {

using namespace hybrid;
using kradix::Order;

constexpr Movement all_movements[] = {
    {.in_place = true},
    {.in_place = false},
    {.in_place = true, .makes_indices = true},
    {.in_place = false, .makes_indices = true},
    {.in_place = false, .makes_indices = true, .leaves_keys = true}};

/// Compares a sort of keys, with each one's index as its value or with none, with the reference.
template <class Value, class Key>
Route expect_sorted(const std::vector<Key>& input, Order order, const Movement& movement,
                    const RouteRule& rule = always, const LookBackShape& look_back = {}) {
  using Codec = decltype(make_codec<Key>(order));
  const auto sorted = hybrid::sort<small_finish, Value>(input, make_codec<Key>(order), movement,
                                                        rule, {0, Codec::bits}, look_back);
  const auto indices = reference::sorted_indices(input, order);
  for (std::size_t i = 0; i < input.size(); ++i) {
    if (!movement.leaves_keys) {
      EXPECT_EQ(keys::bytes_of(sorted.keys[i]), keys::bytes_of(input[indices[i]])) << i;
    }
    if constexpr (!std::is_same_v<Value, NoValue>) {
      EXPECT_EQ(sorted.values[i], indices[i]) << i;
    }
    if (::testing::Test::HasFailure()) break;
  }
  return sorted.route;
}

/// Places at which a glance looks, or those of them that it compares with the next ones.
std::set<std::size_t> glanced_places(std::size_t count, std::size_t step = 1) {
  std::set<std::size_t> seen;
  const SamplePlaces places(count, GlancedPairs::samples);
  for (std::size_t i = 0; i < GlancedPairs::samples; i += step) seen.insert(places.of(i));
  return seen;
}

/// And at which the samples look that such a rule asks for.
std::set<std::size_t> places_looked_at(std::size_t count, const RouteRule& rule, int passes) {
  auto seen = glanced_places(count);
  const RandomPlaces places{count};
  const auto sweeps = SweepChoices::of(rule.least_sweeps(count), passes);
  const auto teams = count / 16384 * static_cast<std::size_t>(sweeps.count());
  for (std::uint32_t i = 0; i < 1024 * teams; ++i) seen.insert(places.of(i));
  return seen;
}

/// Was the order proven, with nothing counted?
bool is_proven(const Route& route) {
  return route.verifies != 0 && route.recounts == 0;
}

/// Calls `each(movement)` for every movement of a sort of this input, until one fails.
template <class Key, class Each>
void for_each_movement(const std::vector<Key>& input, Order order, const Each& each) {
  for (const Movement& movement : all_movements) {
    SCOPED_TRACE(::testing::Message()
                 << "seed " << keys::fresh_seed() << ", count " << input.size() << ", order "
                 << static_cast<int>(order) << ", in place " << movement.in_place
                 << ", makes indices " << movement.makes_indices << ", leaves keys "
                 << movement.leaves_keys);
    each(movement);
    if (::testing::Test::HasFailure()) return;
  }
}

/// Every movement, with values and (where it makes sense) without.
template <class Key, class Expect>
void sort_every_way(const std::vector<Key>& input, Order order, const Expect& expect) {
  for_each_movement(input, order, [&](const Movement& movement) {
    expect(expect_sorted<std::uint32_t>(input, order, movement), true);
    if (!movement.makes_indices) expect(expect_sorted<NoValue>(input, order, movement), false);
  });
}

template <class Key>
std::vector<Key> in_order(std::vector<Key> input, Order order) {
  std::stable_sort(input.begin(), input.end(), [&](const Key& a, const Key& b) {
    return order == Order::ascending ? reference::before(a, b) : reference::before(b, a);
  });
  return input;
}

template <class Key>
std::vector<Key> turned_round(std::vector<Key> input) {
  std::reverse(input.begin(), input.end());
  return input;
}

constexpr std::size_t sizes[] = {1, 2, 3, 63, 64, 65, 1023, 1025, 20011, 20480};

template <class T>
class RouteOf : public ::testing::Test {
 protected:
  std::mt19937_64 random_{keys::fresh_seed()};
};
using Keys = ::testing::Types<std::int32_t, float, std::uint64_t>;
TYPED_TEST_SUITE(RouteOf, Keys);

TYPED_TEST(RouteOf, KeysInOrderStay) {
  for (const std::size_t count : sizes) {
    for (const Order order : {Order::ascending, Order::descending}) {
      // Many ties, zeros of both signs, NaNs.
      const auto input =
          in_order(keys::make<TypeParam>(keys::Pattern::awkward, count, this->random_), order);
      sort_every_way(input, order, [](const Route& route, bool) {
        EXPECT_TRUE(is_proven(route));
        EXPECT_EQ(route.disorder & Disorder::falls, 0u);
      });
      if (this->HasFailure()) return;
    }
  }
}

TYPED_TEST(RouteOf, KeysInReverseAreTurnedRound) {
  for (const std::size_t count : sizes) {
    for (const Order order : {Order::ascending, Order::descending}) {
      auto distinct =
          in_order(keys::make<TypeParam>(keys::Pattern::sorted, count, this->random_), order);
      sort_every_way(turned_round(distinct), order,
                     [](const Route& route, bool) { EXPECT_TRUE(is_proven(route)); });
      if (this->HasFailure()) return;
    }
  }
}

TYPED_TEST(RouteOf, EqualKeysInReverseKeepTheirOrder) {
  const auto input = turned_round(in_order(
      keys::make<TypeParam>(keys::Pattern::awkward, 20011, this->random_), Order::ascending));
  sort_every_way(input, Order::ascending, [](const Route& route, bool) {
    EXPECT_EQ(is_proven(route), codec_of<TypeParam>::tells_all_keys_apart);
  });
}

/// Of runs shorter and longer than the lanes that look at them together, and than the shares of teams.
TYPED_TEST(RouteOf, TiesInReverseAreTurnedBack) {
  SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
  for (const std::size_t count : {2, 3, 31, 33, 129, 4099, 50021}) {
    for (const std::size_t longest : {2, 5, 40, 300, 5000, 100000}) {
      SCOPED_TRACE(::testing::Message() << count << " keys, runs up to " << longest);
      std::vector<TypeParam> input;
      for (TypeParam key = 1; input.size() < count; key += 2) {
        const std::size_t run = 1 + this->random_() % longest;
        input.insert(input.end(), std::min(run, count - input.size()), key);
      }
      const bool ties = std::adjacent_find(input.begin(), input.end()) != input.end();
      const bool falls = input.front() != input.back();
      for (const Order order : {Order::ascending, Order::descending}) {
        sort_every_way(order == Order::ascending ? turned_round(input) : input, order,
                       [&](const Route& route, bool with_values) {
                         EXPECT_TRUE(is_proven(route));
                         EXPECT_EQ(route.turns_ties_back(), ties && falls && with_values);
                       });
        if (this->HasFailure()) return;
      }
    }
  }
}

/// Values of few kinds in reverse move by labels, which is sooner done.
TEST(Route, FewKindsInReverseAreNotTurnedTwice) {
  SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
  std::mt19937_64 random{keys::fresh_seed()};
  RouteRule rule = always;
  rule.kinds_from = 1;
  std::vector<std::uint32_t> input(20011);
  for (auto& key : input) key = static_cast<std::uint32_t>(random() % 20) << 20;
  std::sort(input.begin(), input.end(), std::greater<>());
  for_each_movement(input, Order::ascending, [&](const Movement& movement) {
    const Route pairs = expect_sorted<std::uint32_t>(input, Order::ascending, movement, rule);
    EXPECT_EQ(pairs.verifies, 0);
    EXPECT_GT(pairs.kinds, 0);
    if (movement.makes_indices) return;
    EXPECT_TRUE(is_proven(expect_sorted<NoValue>(input, Order::ascending, movement, rule)));
  });
}

/// What moves in the read that proves its order moves from the first element on that goes to where a line of memory begins.
TEST(Route, ElementsMoveAheadByLines) {
  using Ahead = kradix::impl::AheadOfProof<std::uint32_t, std::uint32_t>;
  alignas(128) static std::uint32_t memory[512];
  const auto begins_line = [](const std::uint32_t* place) {
    return reinterpret_cast<std::uintptr_t>(place) % Ahead::line == 0;
  };
  for (std::size_t offset = 0; offset < 40; ++offset) {
    for (const std::size_t count : {1, 5, 31, 32, 33, 400}) {
      std::uint32_t* const keys = memory + offset;
      const kradix::impl::SortBuffers<std::uint32_t, std::uint32_t> buffers{
          {nullptr, keys, nullptr}, {nullptr, keys, nullptr}};
      const auto ahead = Ahead::of(buffers, count);
      ASSERT_TRUE(ahead.moves);
      const std::size_t up = ahead.first(false), down = ahead.first(true);
      EXPECT_TRUE(up == count || begins_line(keys + up)) << offset << ", " << count;
      EXPECT_TRUE(down == count || begins_line(keys + count - down)) << offset << ", " << count;
      for (std::size_t i = 0; i < up; ++i) EXPECT_FALSE(begins_line(keys + i));
      for (std::size_t i = 0; i < down; ++i) EXPECT_FALSE(begins_line(keys + count - i));
    }
  }
  const kradix::impl::SortBuffers<std::uint32_t, std::uint32_t> in_place{
      {memory, memory, nullptr}, {nullptr, memory, nullptr}};
  EXPECT_FALSE(Ahead::of(in_place, 100).moves);
}

/// Keys are not what they seem, but in places that the sample does not look at.
TYPED_TEST(RouteOf, WhatTheSampleMissesIsSorted) {
  constexpr std::size_t count = 40009;
  const auto seen = places_looked_at(count, always, sizeof(TypeParam));
  const auto seen_near = [&](std::size_t place) {
    return seen.count(place) + seen.count(place - 1) + seen.count(place + 1) > 0;
  };
  const auto sorted = keys::make<TypeParam>(keys::Pattern::sorted, count, this->random_);
  std::size_t middle = count / 2;
  while (seen_near(middle)) ++middle;
  for (const bool reversed : {false, true}) {
    for (const std::size_t place : {std::size_t{0}, middle, count - 2}) {
      if (place != middle && seen.count(place) > 0) continue;
      SCOPED_TRACE(::testing::Message() << "place " << place << ", reversed " << reversed);
      auto input = reversed ? turned_round(sorted) : sorted;
      std::swap(input[place], input[place + 1]);
      sort_every_way(input, Order::ascending, [](const Route& route, bool) {
        EXPECT_NE(route.verifies, 0);
        EXPECT_EQ(route.recounts, 1);
      });
      if (this->HasFailure()) return;
    }
  }
  // A bit that the sample did not see, too.
  auto input = sorted;
  input[middle] = keys::awkward<TypeParam>()[3];
  sort_every_way(input, Order::ascending,
                 [](const Route& route, bool) { EXPECT_EQ(route.recounts, 1); });
}

/// What was chosen beside the hope for order is done when it is in vain, however many sweeps that takes.
TEST(Route, FiveSweepsFollowAHopeInVain) {
  SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
  std::mt19937_64 random{keys::fresh_seed()};
  constexpr std::size_t count = 300007;
  RouteRule rule = RouteRule::of_chunks(small_finish.round());
  rule.gain = 1e30;  // else runs are finished digit by digit
  rule.mend_gain = -1e30;
  // Of 16 prefixes of 32 bits, 256 kinds each.
  std::uint64_t prefixes[16];
  for (auto& prefix : prefixes) prefix = random() >> 32 << 32;
  std::vector<std::uint64_t> input(count);
  for (auto& key : input) key = prefixes[random() % 16] | (random() >> 56 << 24);
  std::sort(input.begin(), input.end());
  const auto seen = places_looked_at(count, rule, 8);
  std::size_t place = count / 3;
  while (seen.count(place) > 0 || input[place] == input[place + 1]) ++place;
  std::swap(input[place], input[place + 1]);
  for_each_movement(input, Order::ascending, [&](const Movement& movement) {
    const Route route = expect_sorted<std::uint32_t>(input, Order::ascending, movement, rule);
    EXPECT_NE(route.verifies, 0);
    EXPECT_EQ(route.recounts, 1);
    EXPECT_EQ(route.mends, 1);
    EXPECT_EQ(route.finishes, 1);
    EXPECT_EQ(route.digits.count(), 5);
  });
}

TYPED_TEST(RouteOf, KeysAlmostInOrderAreNotVerified) {
  constexpr std::size_t count = 20011;
  auto input = keys::make<TypeParam>(keys::Pattern::sorted, count, this->random_);
  for (std::size_t i = 0; i < count / 50; ++i) {
    input[this->random_() % count] = input[this->random_() % count];
  }
  SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
  const Route route = expect_sorted<std::uint32_t>(input, Order::ascending, {});
  EXPECT_EQ(route.verifies, 0);
}

/// All neighbours but a few are in order, and none of those is looked at; samples that lie far apart tell.
TYPED_TEST(RouteOf, RunsInOrderAreNotVerified) {
  constexpr std::size_t runs = 16;
  std::vector<TypeParam> input;
  for (std::size_t run = 0; run < runs; ++run) {
    const auto sorted = keys::make<TypeParam>(keys::Pattern::sorted, 2503, this->random_);
    input.insert(input.end(), sorted.begin(), sorted.end());
  }
  for (const auto& keys : {input, turned_round(input)}) {
    sort_every_way(keys, Order::ascending, [](const Route& route, bool) {
      EXPECT_EQ(route.verifies, 0);
      EXPECT_EQ(route.recounts, 0);
    });
    if (this->HasFailure()) return;
  }
}

/// Bits outside the range only travel: keys that are in order by the others stay as they are, but equal
/// ones must not be turned round.
TEST(Route, OrderIsThatOfTheBitsThatCount) {
  SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
  std::mt19937_64 random{keys::fresh_seed()};
  const kradix::BitRange bits{8, 24};
  for (const std::uint32_t ties : {1u, 3u}) {
    for (const bool reversed : {false, true}) {
      std::vector<std::uint32_t> input(20011);
      for (std::uint32_t i = 0; i < input.size(); ++i) {
        input[i] = (static_cast<std::uint32_t>(random()) & 0xff0000ffu) | i / ties << 8;
      }
      if (reversed) std::reverse(input.begin(), input.end());
      const auto codec = make_codec<std::uint32_t>(Order::ascending);
      const auto sorted = hybrid::sort<small_finish, NoValue>(input, codec, {}, always, bits);
      const auto indices = reference::sorted_indices(input, [](std::uint32_t a, std::uint32_t b) {
        return (a >> 8 & 0xffff) < (b >> 8 & 0xffff);
      });
      for (std::size_t i = 0; i < input.size(); ++i) {
        ASSERT_EQ(sorted.keys[i], input[indices[i]]) << i;
      }
      EXPECT_EQ(is_proven(sorted.route), !reversed || ties == 1);
    }
  }
}

/// Two sweeps, for one would leave longer runs.
constexpr RouteRule glancing{.run = 40, .most = 65536};
/// Nothing but a glance, whatever it sees.
constexpr RouteRule only_glancing{.run = 40, .most = 65536, .samples_from = ~std::size_t{0}};

template <class T>
class GlanceOf : public ::testing::Test {
 protected:
  static constexpr std::size_t count = 60013;
  std::vector<T> spread() {
    std::vector<T> input(count);
    for (T& key : input) key = static_cast<T>(random_());
    return input;
  }
  /// Every movement, with values and (where it makes sense) without.
  template <class Expect>
  void sort(const std::vector<T>& input, const RouteRule& rule, const Expect& expect) {
    for_each_movement(input, Order::ascending, [&](const Movement& movement) {
      expect(expect_sorted<std::uint32_t>(input, Order::ascending, movement, rule));
      if (movement.makes_indices) return;
      expect(expect_sorted<NoValue>(input, Order::descending, movement, rule));
    });
  }
  std::mt19937_64 random_{keys::fresh_seed()};
};
using GlancedKeys = ::testing::Types<std::int32_t, std::uint64_t>;
TYPED_TEST_SUITE(GlanceOf, GlancedKeys);

TYPED_TEST(GlanceOf, KeysThatSpreadAreNotSampled) {
  const auto finishes = [](const Route& route) {
    EXPECT_EQ(route.chosen, 1);
    EXPECT_EQ(route.finishes, 1);
    EXPECT_EQ(route.recounts, 0);
    EXPECT_EQ(route.sampled, 0u);
  };
  // (A bit that 4096 keys all have in common is not worth a seed in so many.)
  for (const RouteRule& rule : {glancing, only_glancing}) {
    this->sort(this->spread(), rule, finishes);
    if (this->HasFailure()) return;
  }
  RouteRule fewer = glancing;
  fewer.glance_to = this->count - 1;
  this->sort(this->spread(), fewer, [](const Route& route) {
    EXPECT_EQ(route.chosen, 0);
    EXPECT_GT(route.sampled, 0u);
  });
}

TYPED_TEST(GlanceOf, EvenKeysAreGathered) {
  const auto input = this->spread();
  for (RouteRule rule : {glancing, only_glancing}) {
    rule.gather_from = 0;
    for (const bool may_be_uneven : {false, true}) {
      rule.gather_even = may_be_uneven ? 1.6f : 0.4f;
      const Route route = expect_sorted<NoValue>(input, Order::descending, {}, rule);
      EXPECT_EQ(route.spreads, may_be_uneven ? Route::gathered : 0);
      EXPECT_EQ(expect_sorted<std::uint32_t>(input, Order::ascending, {}, rule).spreads,
                route.spreads);
      EXPECT_EQ(expect_sorted<std::uint16_t>(input, Order::ascending, {}, rule).spreads, 0);
    }
    auto skewed = input;
    for (auto& key : skewed) key &= static_cast<TypeParam>(this->random_());
    EXPECT_EQ(expect_sorted<NoValue>(skewed, Order::ascending, {}, rule).spreads, 0);
    // Nearly in order, a tile's keys are of few bins.
    auto nearly = input;
    std::ranges::sort(nearly);
    for (std::size_t i = 0; i < this->count / 100; ++i) {
      std::swap(nearly[this->random_() % this->count], nearly[this->random_() % this->count]);
    }
    for (const bool reversed : {false, true}) {
      if (reversed) std::ranges::reverse(nearly);
      const Route route = expect_sorted<NoValue>(nearly, Order::ascending, {}, rule);
      EXPECT_EQ(route.verifies, 0);
      EXPECT_EQ(route.spreads, 0);
      EXPECT_EQ(route.lie_together, 1);
    }
  }
}

/// Keys that two sweeps leave in long runs, or many of them alike; or that vary in few bits.
TYPED_TEST(GlanceOf, OthersAreSampledOrSweptOverAllDigits) {
  using Bits = kradix::impl::unsigned_of_size<sizeof(TypeParam)>;
  constexpr int bits = 8 * sizeof(TypeParam);
  auto skewed = this->spread(), repeated = this->spread(), narrow = this->spread(),
       heavy = this->spread();
  for (std::size_t i = 0; i < this->count; ++i) {
    skewed[i] &= static_cast<TypeParam>(this->random_());
    repeated[i] = static_cast<TypeParam>(static_cast<Bits>(this->random_() % 5000) << (bits - 13));
    narrow[i] = static_cast<TypeParam>(static_cast<Bits>(narrow[i]) >> (bits - 24));
    if (i % 100 == 0) heavy[i] = 77;
  }
  for (const auto& input : {skewed, repeated, narrow, heavy}) {
    this->sort(input, glancing, [](const Route& route) {
      EXPECT_EQ(route.chosen, 0);
      EXPECT_GT(route.sampled, 0u);
    });
    this->sort(input, only_glancing, [](const Route& route) {
      EXPECT_EQ(route.chosen, 1);
      EXPECT_EQ(route.finishes, 0);
      EXPECT_EQ(route.sampled, 0u);
    });
    if (this->HasFailure()) return;
  }
}

/// Words of counters hold keys that come once or twice each, but a rule may say that they are too many all the same.
TYPED_TEST(GlanceOf, KeysThatAreTheSameAreTold) {
  const auto kinds = this->spread();
  std::vector<TypeParam> input(this->count);
  for (auto& key : input) key = kinds[this->random_() % this->count];
  RouteRule few_same = only_glancing;
  few_same.most_same = 4;  // (of keys that spread two that agree in 32 bits are rare)
  const auto chooses = [](int finishes) {
    return [finishes](const Route& route) { EXPECT_EQ(route.finishes, finishes); };
  };
  this->sort(input, only_glancing, chooses(1));
  this->sort(input, few_same, chooses(0));
  this->sort(kinds, few_same, chooses(1));
}

/// Runs are short, but ten keys are alike: too many for a word of the finish's counters.
TYPED_TEST(GlanceOf, SpreadKindsAreTold) {
  const auto kinds = this->spread();
  std::vector<TypeParam> input(300007);
  for (auto& key : input) key = kinds[this->random_() % 30000];
  this->sort(input, glancing, [](const Route& route) { EXPECT_EQ(route.chosen, 0); });
  this->sort(input, only_glancing, [](const Route& route) { EXPECT_EQ(route.finishes, 0); });
}

TYPED_TEST(GlanceOf, OrderIsProvenAllTheSame) {
  // No two are the same: in reverse, equal ones are not in the order that they keep.
  using Bits = kradix::impl::unsigned_of_size<sizeof(TypeParam)>;
  constexpr Bits stretch = static_cast<Bits>(~Bits{0}) / this->count;
  std::vector<TypeParam> sorted(this->count);
  for (std::size_t i = 0; i < this->count; ++i) {
    sorted[i] = static_cast<TypeParam>(i * stretch + this->random_() % stretch);
  }
  sorted = in_order(sorted, Order::ascending);
  for (const auto& input : {sorted, turned_round(sorted)}) {
    this->sort(input, only_glancing, [](const Route& route) { EXPECT_TRUE(is_proven(route)); });
    auto almost = input;
    // Not at a place that is compared with the next one.
    const auto seen = glanced_places(this->count, GlancedPairs::order_step);
    const std::size_t unseen = SamplePlaces(this->count, GlancedPairs::samples).of(1);
    if (seen.count(unseen - 1) + seen.count(unseen) + seen.count(unseen + 1) > 0) continue;
    std::swap(almost[unseen], almost[unseen + 1]);
    this->sort(almost, only_glancing, [](const Route& route) {
      EXPECT_NE(route.verifies, 0);
      EXPECT_EQ(route.recounts, 1);
    });
    if (this->HasFailure()) return;
  }
}

/// Where a glance looks keys spread; the others are few, or vary above.
TYPED_TEST(GlanceOf, WhatItMissesIsSorted) {
  using Bits = kradix::impl::unsigned_of_size<sizeof(TypeParam)>;
  constexpr int bits = 8 * sizeof(TypeParam);
  const auto seen = glanced_places(this->count);
  const auto with_others = [&](const auto& other) {
    auto input = this->spread();
    for (std::size_t i = 0; i < this->count; ++i) {
      Bits key = static_cast<Bits>(input[i]) >> 1;
      // Whatever the seed, those that are seen vary in all bits but the topmost, and rise and fall.
      if (i == *seen.begin()) key = 0;
      if (i == *seen.rbegin()) key = static_cast<Bits>(~Bits{0}) >> 1;
      input[i] = static_cast<TypeParam>(seen.count(i) > 0 ? key : other(i));
    }
    return input;
  };
  const auto one = [](std::size_t) { return Bits{12345}; };
  const auto few = [](std::size_t i) { return static_cast<Bits>(i % 500) << (bits - 10); };
  const auto above = [&](std::size_t i) {
    return static_cast<Bits>(this->random_() + (i % 7 == 0 ? Bits{1} << (bits - 1) : 0));
  };
  for (const RouteRule& rule : {glancing, only_glancing}) {
    this->sort(with_others(one), rule, [](const Route& route) {
      EXPECT_EQ(route.finishes, 1);
      EXPECT_GT(route.left, route.given_up);  // a long run
    });
    this->sort(with_others(few), rule, [](const Route& route) { EXPECT_GT(route.given_up, 0u); });
    this->sort(with_others(above), rule, [](const Route& route) {
      EXPECT_EQ(route.finishes, 1);
      EXPECT_EQ(route.recounts, 1);
    });
    if (this->HasFailure()) return;
  }
}

/// Where keys vary below any bit, digits are counted that begin at any; a key that no glance sees may vary above, which
/// costs a sweep, or the finish where too many digits would be left; and a second count, if not in the next digit.
TYPED_TEST(GlanceOf, DigitsMayBeginAnywhere) {
  using Bits = kradix::impl::unsigned_of_size<sizeof(TypeParam)>;
  constexpr int bits = 8 * sizeof(TypeParam);
  const auto seen = glanced_places(this->count);
  std::size_t unseen = this->count / 2;
  while (seen.count(unseen) > 0) ++unseen;
  bool sees_next = false;
  const auto expect = [&](int shift, bool above, int finishes) {
    SCOPED_TRACE(::testing::Message() << "shift " << shift << ", above " << above);
    auto input = this->spread();
    for (TypeParam& key : input) key = static_cast<TypeParam>(static_cast<Bits>(key) >> shift);
    if (above) input[unseen] = static_cast<TypeParam>(Bits{1} << (bits - 1));
    this->sort(input, only_glancing, [&](const Route& route) {
      EXPECT_EQ(route.finishes, finishes);
      const bool is_next = finishes == 0 && shift < 16;
      if (!is_next || !above) {
        EXPECT_EQ(route.recounts, above ? 1 : 0);
      }
      sees_next = sees_next || (is_next && above && route.recounts == 0);
      if (shift == 1) {
        EXPECT_EQ(route.digits.begin, bits - 17);
      }
    });
  };
  for (const bool above : {false, true}) {
    for (int shift = 1; shift < 8; ++shift) {
      // Of up to 24 bits all digits are gone over, and where pairs are in place by narrower ones.
      expect(shift, above, shift < bits - 24 ? 1 : 0);
      if (this->HasFailure()) return;
    }
    expect(bits - 20, above, 0);
    expect(bits - 10, above, 0);
    if (bits == 64) expect(24, above, above ? 0 : 1);
  }
  EXPECT_EQ(sees_next, bits == 32);
}

constexpr RouteRule counting{
    .run = 1e30, .most = 1e30, .close = 1e30, .kinds_from = 1, .heavy_from = 1};
/// No more than a glance tells.
constexpr RouteRule at_a_glance{.run = 1e30,
                                .most = 1e30,
                                .close = 1e30,
                                .kinds_from = 1,
                                .label_twice_from = 1,
                                .samples_from = std::numeric_limits<std::size_t>::max()};

/// Sorts keys alone in both orders, in place and not; tells the route to `expect`.
template <class Key, class Expect>
void sort_alone(const std::vector<Key>& input, const Expect& expect,
                const RouteRule& rule = counting) {
  for (const Order order : {Order::ascending, Order::descending}) {
    for (const bool in_place : {true, false}) {
      SCOPED_TRACE(::testing::Message()
                   << "seed " << keys::fresh_seed() << ", count " << input.size() << ", order "
                   << static_cast<int>(order) << ", in place " << in_place);
      expect(expect_sorted<NoValue>(input, order, {.in_place = in_place}, rule));
      if (::testing::Test::HasFailure()) return;
    }
  }
}

/// The same of pairs, in every movement; values are indices, so that equal keys show their order.
template <class Value, class Key, class Expect>
void sort_pairs(const std::vector<Key>& input, const Expect& expect,
                const RouteRule& rule = counting, std::optional<bool> waits = {}) {
  for (const Order order : {Order::ascending, Order::descending}) {
    for_each_movement(input, order, [&](Movement movement) {
      movement.waits = waits;
      expect(expect_sorted<Value>(input, order, movement, rule));
    });
    if (::testing::Test::HasFailure()) return;
  }
}

/// Places at which the sample of kinds may look.
std::set<std::size_t> sampled_places(std::size_t count, bool at_a_glance = false) {
  std::set<std::size_t> seen;
  const std::size_t samples = at_a_glance || count < 16 * 1024 ? 4 * 1024 : 16 * 1024;
  const SamplePlaces places(count, samples);
  for (std::size_t i = 0; i < samples; ++i) seen.insert(places.of(i));
  return seen;
}

std::vector<std::size_t> unseen_places(std::size_t count, bool at_a_glance = false) {
  const auto seen = sampled_places(count, at_a_glance);
  std::vector<std::size_t> unseen;
  for (std::size_t i = 0; i < count; ++i) {
    if (seen.count(i) == 0) unseen.push_back(i);
  }
  return unseen;
}

template <class T>
class KindsOf : public ::testing::Test {
 protected:
  /// `distinct` kinds, the least and the greatest word among them.
  std::vector<T> few(std::size_t distinct, std::size_t count) {
    std::vector<T> kinds{T{0}, static_cast<T>(-1)};
    while (kinds.size() < distinct) kinds.push_back(static_cast<T>(random_()));
    std::vector<T> input(count);
    for (T& key : input) key = kinds[random_() % distinct];
    return input;
  }
  static constexpr std::size_t count = 60013;
  std::mt19937_64 random_{keys::fresh_seed()};
};
using KindKeys = ::testing::Types<std::int32_t, std::uint64_t>;
TYPED_TEST_SUITE(KindsOf, KindKeys);

TYPED_TEST(KindsOf, FewAreCounted) {
  for (const std::size_t distinct : {2, 5, 100, 900}) {
    for (const std::size_t count : {std::size_t{777}, std::size_t{4097}, this->count}) {
      SCOPED_TRACE(distinct);
      sort_alone(this->few(distinct, count), [&](const Route& route) {
        EXPECT_TRUE(count < 16 * distinct || route.has_counted_kinds());
      });
    }
  }
}

/// As many as labels of one digit have room for, and one too many; where the host waits labels may have two.
TYPED_TEST(KindsOf, FewAreSeenAtAGlance) {
  for (const std::size_t distinct : {2, 5, 100, 255, 256, 257, 700}) {
    for (const std::size_t count : {std::size_t{777}, std::size_t{4097}, this->count}) {
      SCOPED_TRACE(distinct);
      sort_alone(
          this->few(distinct, count),
          [&](const Route& route) {
            EXPECT_EQ(route.sampled, 0u);
            EXPECT_TRUE(count < 16 * distinct || distinct > 500 || route.has_counted_kinds());
          },
          at_a_glance);
      for (const bool waits : {false, has_board<Space>}) {
        sort_pairs<std::uint32_t>(
            this->few(distinct, count),
            [&](const Route& route) {
              EXPECT_EQ(route.sampled, 0u);
              if (count < 1000) return;  // all are in the sample
              if (!waits || distinct < 257) {
                EXPECT_EQ(distinct < 257, route.has_counted_kinds()) << count << " of " << distinct;
              } else if (count == this->count) {
                EXPECT_GT(route.kinds, bin_count);  // (Of so many one may be missed.)
              }
            },
            at_a_glance, waits);
      }
    }
  }
}

/// Without the key 0, which has no slot of the sample's table. A sample misses one of a thousand kinds once in some
/// hundred times, and hardly ever four times in a row.
TYPED_TEST(KindsOf, AsManyAsThereIsRoomForAreLabelled) {
  const auto kinds = [&](std::size_t distinct) {
    auto input = this->few(distinct, this->count);
    for (TypeParam& key : input) key = key == 0 ? TypeParam{77} : key;
    return input;
  };
  const auto counts = [&](std::size_t distinct, const auto&... rule) {
    bool counted = false;
    const auto expect = [&](const Route& route) { counted |= route.has_counted_kinds(); };
    for (int tries = 0; tries < 4 && !counted; ++tries) {
      sort_pairs<std::uint32_t>(kinds(distinct), expect, rule...);
    }
    return counted;
  };
  EXPECT_TRUE(counts(bin_count, at_a_glance));
  EXPECT_TRUE(counts(most_sampled_kinds));
}

/// Each round of a sample sees as many of them as all do.
TYPED_TEST(KindsOf, ThatComeInTurnAreNotFew) {
  std::vector<TypeParam> input(1 << 17);
  for (std::size_t i = 0; i < input.size(); ++i) input[i] = static_cast<TypeParam>(i % 2048);
  const auto expect = [](const Route& route) { EXPECT_EQ(route.kinds, 0); };
  sort_alone(input, expect);
  sort_alone(input, expect, at_a_glance);
}

TYPED_TEST(KindsOf, WhatAGlanceMissesIsCountedOrMakesLabelsVoid) {
  const auto unseen = unseen_places(this->count, true);
  auto rare = this->few(100, this->count);
  rare[unseen[unseen.size() / 2]] = 12345;
  sort_alone(
      rare, [](const Route& route) { EXPECT_TRUE(route.has_counted_kinds()); }, at_a_glance);
  const auto expect_void = [](const Route& route) {
    EXPECT_GT(route.kinds, 0);
    EXPECT_EQ(route.too_many_kinds, 1u);
  };
  sort_pairs<std::uint64_t>(rare, expect_void, at_a_glance);
  for (std::size_t i = 0; i < unseen.size(); i += 8) rare[unseen[i]] = static_cast<TypeParam>(i);
  sort_alone(rare, expect_void, at_a_glance);
  sort_pairs<std::uint32_t>(rare, expect_void, at_a_glance);
}

constexpr RouteRule taking_out{
    .run = 0, .most = 0, .heavy = -1e30, .kinds_from = 1, .heavy_from = 1};

/// The same by a glance alone.
RouteRule taking_out_at_a_glance() {
  RouteRule rule = taking_out;
  rule.samples_from = std::numeric_limits<std::size_t>::max();
  return rule;
}

/// Random keys, but for a share of one in so many: those are of some kinds, the least and the greatest word among
/// them.
template <class T>
std::vector<T> with_heavy(std::size_t kinds, std::size_t light_of, std::size_t count,
                          int light_bits, std::mt19937_64& random) {
  std::vector<T> heavy{T{0}, static_cast<T>(-1)};
  while (heavy.size() < kinds) heavy.push_back(static_cast<T>(random()));
  std::vector<T> input(count);
  for (T& key : input) {
    key = random() % light_of == 0 ? static_cast<T>(random() >> (64 - light_bits))
                                   : heavy[random() % kinds];
  }
  return input;
}

/// Sorts with values and without, every way, and tells the route to `expect`.
template <class Key, class Expect>
void sort_taking_out(const std::vector<Key>& input, const Expect& expect,
                     const LookBackShape& look_back = {}, const RouteRule& rule = taking_out) {
  for (const Order order : {Order::ascending, Order::descending}) {
    for_each_movement(input, order, [&](const Movement& movement) {
      expect(expect_sorted<std::uint32_t>(input, order, movement, rule, look_back));
      if (movement.makes_indices) return;
      expect(expect_sorted<NoValue>(input, order, movement, rule, look_back));
    });
    if (::testing::Test::HasFailure()) return;
  }
}

TYPED_TEST(KindsOf, HeavyOnesLeaveAndComeBack) {
  constexpr int bits = 8 * sizeof(TypeParam);
  for (const std::size_t kinds : {1, 2, 40, 63}) {
    for (const std::size_t light_of : {2, 10, 50}) {
      for (const std::size_t count : {std::size_t{3000}, this->count}) {
        SCOPED_TRACE(::testing::Message() << kinds << " kinds, one light key of " << light_of);
        sort_taking_out(with_heavy<TypeParam>(kinds, light_of, count, bits, this->random_),
                        [](const Route& route) {
                          EXPECT_GT(route.heavy, 0);
                          EXPECT_GT(route.lights, 0u);
                        });
      }
    }
  }
}

TYPED_TEST(KindsOf, HeavyOnesLeaveAtAGlance) {
  const RouteRule rule = taking_out_at_a_glance();
  for (const std::size_t kinds : {1, 2, 40, 63, 200}) {
    for (const std::size_t light_of : {2, 10, 50}) {
      for (const std::size_t count : {std::size_t{3000}, this->count}) {
        SCOPED_TRACE(::testing::Message() << kinds << " kinds, one light key of " << light_of);
        sort_taking_out(
            with_heavy<TypeParam>(kinds, light_of, count, 8 * sizeof(TypeParam), this->random_),
            [&](const Route& route) {
              EXPECT_EQ(route.sampled, 0u);
              EXPECT_TRUE(kinds == 200 || route.heavy > 0);
              EXPECT_EQ(route.heavy > 0, route.lights > 0);
            },
            {}, rule);
      }
    }
  }
}

/// A glance that finds their share too small goes over all digits.
TYPED_TEST(KindsOf, HeavyOnesStayWhereTheyAreFew) {
  RouteRule rule = taking_out_at_a_glance();
  rule.heavy = 0;
  const auto input = with_heavy<TypeParam>(3, 2, this->count, 8 * sizeof(TypeParam), this->random_);
  sort_taking_out(
      input, [](const Route& route) { EXPECT_EQ(route.heavy, 0); }, {}, rule);
}

TYPED_TEST(KindsOf, OfManyTheHeaviestLeave) {
  sort_taking_out(with_heavy<TypeParam>(200, 3, this->count, 8 * sizeof(TypeParam), this->random_),
                  [](const Route& route) { EXPECT_LE(route.heavy, HeavyKinds<TypeParam>::most); });
}

TYPED_TEST(KindsOf, LightOnesOfAnyNumberOfDigits) {
  for (int bits = 5; bits <= 8 * static_cast<int>(sizeof(TypeParam)); bits += 6) {
    SCOPED_TRACE(bits);
    sort_taking_out(with_heavy<TypeParam>(1, 2, this->count, bits, this->random_),
                    [](const Route&) {});
  }
}

/// Keys alone are counted anew, if it is not in the next digit; light ones with values once, in all digits.
bool counts_what_was_missed(const Route& route, int bit) {
  return route.recounts == 1 || route.digits.end > bit;
}

TYPED_TEST(KindsOf, LightOnesAsTheSampleMissedThem) {
  for (const bool at_a_glance : {false, true}) {
    SCOPED_TRACE(at_a_glance);
    const auto unseen = unseen_places(this->count, at_a_glance);
    auto input = with_heavy<TypeParam>(1, 3, this->count, 20, this->random_);
    for (TypeParam& key : input) key = static_cast<TypeParam>(key + 5);
    input[unseen[unseen.size() / 3]] = static_cast<TypeParam>(TypeParam{1} << 29);
    sort_taking_out(
        input,
        [](const Route& route) {
          EXPECT_GT(route.heavy, 0);
          EXPECT_TRUE(counts_what_was_missed(route, 29));
        },
        {}, at_a_glance ? taking_out_at_a_glance() : taking_out);
  }
}

RouteRule mending_lights() {
  RouteRule rule = taking_out;
  rule.differ = 1e30;
  rule.mend_gain = -1e30;
  rule.mend_lights_from = 1;
  return rule;
}

/// Floats with values, of which those that have an encoding of their own may be heavy.
template <class T>
class HeavyFloats : public ::testing::Test {
 protected:
  /// Those that are frequent, and random ones: numbers, or any bits at all.
  std::vector<T> with(const std::vector<T>& frequent, bool all_bits, std::size_t count) {
    using Word = kradix::impl::unsigned_of_size<sizeof(T)>;
    std::vector<T> input(count);
    for (T& key : input) {
      if (random_() % 4 != 0) {
        key = frequent[random_() % frequent.size()];
      } else if (all_bits) {
        key = std::bit_cast<T>(static_cast<Word>(random_()));
      } else {
        key = static_cast<T>(static_cast<std::int64_t>(random_()));
      }
    }
    return input;
  }
  template <class Expect>
  void sort(const std::vector<T>& input, const RouteRule& rule, const Expect& expect) {
    SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
    for (const Order order : {Order::ascending, Order::descending}) {
      for_each_movement(input, order, [&](const Movement& movement) {
        expect(expect_sorted<std::uint32_t>(input, order, movement, rule));
      });
      if (this->HasFailure()) return;
    }
  }
  static constexpr T nan = std::numeric_limits<T>::quiet_NaN(),
                     infinity = std::numeric_limits<T>::infinity();
  std::mt19937_64 random_{keys::fresh_seed()};
};
using FloatKeys = ::testing::Types<float, double>;
TYPED_TEST_SUITE(HeavyFloats, FloatKeys);

TYPED_TEST(HeavyFloats, LeaveAndComeBackWithValues) {
  const std::vector<TypeParam> some{TypeParam(1.5), TypeParam(-2e9), this->infinity,
                                    -this->infinity, std::numeric_limits<TypeParam>::denorm_min()};
  for (const RouteRule& rule : {taking_out, taking_out_at_a_glance()}) {
    for (const bool all_bits : {false, true}) {
      for (const std::size_t count : {3000, 40009}) {
        this->sort(this->with(some, all_bits, count), rule, [](const Route& route) {
          EXPECT_GE(route.heavy, 5);
          EXPECT_GT(route.lights, 0u);
        });
      }
    }
  }
}

/// Zeros of both signs and what is no number keep the order in which they came, and their bits.
TYPED_TEST(HeavyFloats, StayWhereOthersEqualThem) {
  const std::vector<TypeParam> equal{TypeParam(0), -TypeParam(0), this->nan, -this->nan};
  auto mixed = equal;
  mixed.push_back(TypeParam(3));
  for (const bool all_bits : {false, true}) {
    this->sort(this->with(equal, all_bits, 40009), taking_out,
               [](const Route& route) { EXPECT_EQ(route.heavy, 0); });
    this->sort(this->with(mixed, all_bits, 40009), taking_out,
               [](const Route& route) { EXPECT_EQ(route.heavy, 1); });
  }
}

/// Light keys in runs that agree in the digits of four sweeps, short ones and longer ones than a thread sorts; none is
/// as frequent as a heavy one.
TEST(HeavyKindsOf8Bytes, LightOnesAreMended) {
  std::mt19937_64 random{keys::fresh_seed()};
  for (const std::size_t run : {1, 3, 100, 5000}) {
    for (const std::size_t kinds : {1, 40}) {
      for (const std::size_t count : {std::size_t{5000}, std::size_t{60013}}) {
        SCOPED_TRACE(::testing::Message() << "runs of " << run << ", " << kinds << " kinds");
        auto input = with_heavy<std::uint64_t>(kinds, 3, count, 64, random);
        std::vector<std::uint64_t> prefixes(count / 3 / run + 1);
        for (auto& prefix : prefixes) prefix = random() >> 32 << 32;
        for (auto& key : input) {
          if (random() % 3 == 0) {
            key = prefixes[random() % prefixes.size()] | random() % (run < 1000 ? 5 : 1000);
          }
        }
        sort_taking_out(
            input,
            [](const Route& route) {
              EXPECT_GT(route.heavy, 0);
              EXPECT_EQ(route.finishes, 1);
              EXPECT_EQ(route.mends, 1);
              EXPECT_EQ(route.digits.count(), light_sweeps);
            },
            {}, mending_lights());
        if (::testing::Test::HasFailure()) return;
      }
    }
  }
}

/// Unless zeros, which are light, are as frequent as heavy keys.
TEST(HeavyKindsOf8Bytes, LightDoublesAreMended) {
  std::mt19937_64 random{keys::fresh_seed()};
  for (const bool zeros : {false, true}) {
    std::vector<double> input(60013);
    for (auto& key : input) {
      const double light = std::bit_cast<double>(0x3ffull << 52 | random() >> 12);
      const auto kind = random() % 8;
      key = kind < 4 ? 1e9 : kind < 6 && zeros ? 0.0 : light;
    }
    for_each_movement(input, Order::ascending, [&](const Movement& movement) {
      const Route route =
          expect_sorted<std::uint32_t>(input, Order::ascending, movement, mending_lights());
      EXPECT_EQ(route.heavy, 1);
      EXPECT_EQ(route.mends, zeros ? 0 : 1);
    });
    if (::testing::Test::HasFailure()) return;
  }
}

/// Then all digits are swept, or, with values, all above those that are mended.
TEST(HeavyKindsOf8Bytes, LightOnesToBeMendedAsTheSampleMissedThem) {
  constexpr std::size_t count = 60013;
  std::mt19937_64 random{keys::fresh_seed()};
  const auto unseen = unseen_places(count);
  auto input = with_heavy<std::uint64_t>(1, 3, count, 44, random);
  for (auto& key : input) key += 5;
  input[unseen[unseen.size() / 3]] = std::uint64_t{1} << 60;
  sort_taking_out(
      input,
      [](const Route& route) {
        EXPECT_GT(route.heavy, 0);
        EXPECT_TRUE(counts_what_was_missed(route, 60));
        EXPECT_EQ(route.finishes, 1 - route.recounts);
      },
      {}, mending_lights());
}

/// Fewer tiles of light keys than of all: the words of the look-back are of other turns.
TYPED_TEST(KindsOf, LightOnesInFewerTurns) {
  const LookBackShape shapes[] = {{3, 4, 1}, {2, 1, 0}, {2, 2, 0, 2}, {3, 5, 1, 3}};
  for (const LookBackShape& shape : shapes) {
    for (const std::size_t light_of : {2, 4, 7}) {
      for (const std::size_t tiles : {9, 23, 40}) {
        const std::size_t count = tiles * static_cast<std::size_t>(sweep_with.round()) - 5;
        SCOPED_TRACE(::testing::Message() << tiles << " tiles, one light key of " << light_of);
        sort_taking_out(
            with_heavy<TypeParam>(3, light_of, count, 8 * sizeof(TypeParam), this->random_),
            [&](const Route& route) { EXPECT_TRUE(count < 2000 || route.heavy > 0); }, shape);
      }
    }
  }
}

TYPED_TEST(KindsOf, WhatTheSampleMissesIsCountedToo) {
  const auto unseen = unseen_places(this->count);
  auto rare = this->few(100, this->count);
  rare[unseen[unseen.size() / 2]] = 12345;
  sort_alone(rare, [](const Route& route) { EXPECT_TRUE(route.has_counted_kinds()); });
  // One in every tile, all of them different.
  auto often = this->few(100, this->count);
  for (std::size_t i = 0; i < unseen.size(); i += unseen.size() / 900) {
    often[unseen[i]] = static_cast<TypeParam>(1000 + i);
  }
  sort_alone(often, [](const Route& route) { EXPECT_TRUE(route.has_counted_kinds()); });
}

/// A sample of kinds that holds the key 0 alone, where other samples have seen more.
TYPED_TEST(KindsOf, ZeroIsAKind) {
  const auto seen = sampled_places(this->count);
  const SamplePlaces glance(this->count, GlancedPairs::samples);
  std::vector<std::size_t> falls, rises;
  for (std::size_t i = 0; i < GlancedPairs::samples; i += GlancedPairs::order_step) {
    const std::size_t place = glance.of(i);
    if (seen.count(place) == 0) falls.push_back(place);
    if (seen.count(place + 1) == 0) rises.push_back(place + 1);
  }
  std::vector<TypeParam> input(this->count, TypeParam{0});
  input[falls.front()] = 5;
  input[rises.back()] = 5;
  sort_alone(input, [](const Route& route) { EXPECT_TRUE(route.has_counted_kinds()); });
}

TYPED_TEST(KindsOf, TooManyAreSortedAsEver) {
  const auto unseen = unseen_places(this->count);
  auto input = this->few(100, this->count);
  for (std::size_t i = 0; i < unseen.size(); i += 8) input[unseen[i]] = static_cast<TypeParam>(i);
  sort_alone(input, [](const Route& route) {
    EXPECT_GT(route.kinds, 0);
    EXPECT_EQ(route.too_many_kinds, 1u);
  });
}

TYPED_TEST(KindsOf, ManyOrHeavyAreNotCounted) {
  auto heavy = this->few(2, this->count);
  for (TypeParam& key : heavy) {
    key = this->random_() % 100 == 0 ? static_cast<TypeParam>(this->random_()) : TypeParam{7};
  }
  sort_alone(heavy, [](const Route& route) { EXPECT_EQ(route.kinds, 0); });
  sort_alone(keys::make<TypeParam>(keys::Pattern::uniform, this->count, this->random_),
             [](const Route& route) { EXPECT_EQ(route.kinds, 0); });
  sort_alone(std::vector<TypeParam>(this->count, TypeParam{3}),
             [](const Route& route) { EXPECT_TRUE(is_proven(route)); });
}

TYPED_TEST(KindsOf, OfPairsAreLabelled) {
  for (const std::size_t distinct : {2, 5, 100, 256}) {
    for (const std::size_t count : {std::size_t{777}, std::size_t{4097}, this->count}) {
      SCOPED_TRACE(distinct);
      const auto expect = [&](const Route& route) {
        EXPECT_TRUE(count < 32 * distinct || route.has_counted_kinds());
      };
      sort_pairs<std::uint32_t>(this->few(distinct, count), expect);
      if (distinct == 100) sort_pairs<std::uint64_t>(this->few(distinct, count), expect);
    }
  }
}

/// By two digits. A sample misses one of a thousand kinds once in some hundred times.
TYPED_TEST(KindsOf, OfPairsHaveLabelsOfTwoDigits) {
  for (const std::size_t distinct : {257, 600, 1000}) {
    for (const std::size_t count : {std::size_t{16411}, this->count}) {
      SCOPED_TRACE(distinct);
      bool counted = false;
      const auto expect = [&](const Route& route) { counted |= route.has_counted_kinds(); };
      sort_pairs<std::uint32_t>(this->few(distinct, count), expect);
      sort_pairs<std::uint64_t>(this->few(distinct, count), expect);
      EXPECT_TRUE(counted || count < 32 * distinct);
    }
  }
}

TYPED_TEST(KindsOf, OfPairsAreAllInTheSampleOrVoid) {
  const auto unseen = unseen_places(this->count);
  const auto expect = [](const Route& route) {
    EXPECT_GT(route.kinds, 0);
    EXPECT_EQ(route.too_many_kinds, 1u);
  };
  auto rare = this->few(100, this->count);
  rare[unseen[unseen.size() / 2]] = 12345;
  sort_pairs<std::uint32_t>(rare, expect);
  // Without the key 0, and then with it where no sample looks.
  auto without_zero = this->few(100, this->count);
  for (TypeParam& key : without_zero) key = key == 0 ? static_cast<TypeParam>(-1) : key;
  sort_pairs<std::uint32_t>(without_zero,
                            [](const Route& route) { EXPECT_TRUE(route.has_counted_kinds()); });
  without_zero[unseen.front()] = 0;
  sort_pairs<std::uint32_t>(without_zero, expect);
  sort_pairs<std::uint32_t>(this->few(1500, this->count),
                            [](const Route& route) { EXPECT_EQ(route.kinds, 0); });
}

/// Zeros of both signs and NaNs, by the order in which no two keys are equal.
TEST(Kinds, OfFloatsAreCounted) {
  SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
  std::mt19937_64 random{keys::fresh_seed()};
  const auto kinds = keys::awkward<float>();
  std::vector<float> input(20011);
  for (float& key : input) key = kinds[random() % kinds.size()];
  for (const Order order : {Order::ascending, Order::descending}) {
    const auto codec = total_order(make_codec<float>(order));
    const auto sorted = hybrid::sort<small_finish, NoValue>(input, codec, {}, counting);
    EXPECT_TRUE(sorted.route.has_counted_kinds());
    const auto bits = [&](float key) { return codec.encode(std::bit_cast<std::uint32_t>(key)); };
    const auto indices =
        reference::sorted_indices(input, [&](float a, float b) { return bits(a) < bits(b); });
    for (std::size_t i = 0; i < input.size(); ++i) {
      ASSERT_EQ(keys::bytes_of(sorted.keys[i]), keys::bytes_of(input[indices[i]])) << i;
    }
  }
}

/// With values they are labelled if no two kinds are equal: a zero of one sign and one NaN.
TEST(Kinds, OfFloatsWithValuesAreLabelledIfNoTwoAreEqual) {
  SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
  std::mt19937_64 random{keys::fresh_seed()};
  constexpr float infinity = std::numeric_limits<float>::infinity(),
                  nan = std::numeric_limits<float>::quiet_NaN();
  for (const RouteRule& rule : {counting, at_a_glance}) {
    for (const float also : {1.0f, 0.0f, -nan}) {
      const float kinds[] = {-0.0f, nan, infinity, -infinity, 3.0f, -7.5f, 1e-40f, also};
      std::vector<float> input(20011);
      for (float& key : input) key = kinds[random() % std::size(kinds)];
      const bool apart = also == 1.0f;
      sort_pairs<std::uint32_t>(
          input, [&](const Route& route) { EXPECT_EQ(route.has_counted_kinds(), apart); }, rule);
    }
  }
}

/// By some of their bits, where kinds may be equal or not.
TYPED_TEST(KindsOf, OfPairsAreLabelledBySomeOfTheirBits) {
  const auto input = this->few(50, this->count);
  const auto codec = make_codec<TypeParam>(Order::ascending);
  for (const int begin : {0, 8 * static_cast<int>(sizeof(TypeParam)) - 5}) {
    const kradix::BitRange bits{begin,
                                8 * static_cast<int>(sizeof(TypeParam)) - (begin == 0 ? 1 : 0)};
    const auto sorted =
        hybrid::sort<small_finish, std::uint32_t>(input, codec, {}, at_a_glance, bits);
    const auto code = [&](TypeParam key) {
      const auto word = std::bit_cast<typename decltype(codec)::key_type>(key);
      return codec.encode(word) &
             bits_between<typename decltype(codec)::bits_type>(bits.begin, bits.end);
    };
    const auto indices = reference::sorted_indices(
        input, [&](TypeParam a, TypeParam b) { return code(a) < code(b); });
    EXPECT_TRUE(begin == 0 || !sorted.route.has_counted_kinds());
    for (std::size_t i = 0; i < input.size(); ++i) {
      ASSERT_EQ(sorted.values[i], indices[i]) << i;
      ASSERT_EQ(sorted.keys[i], input[indices[i]]) << i;
    }
  }
}

/// Wherever the keys start, whether the sample saw their kinds or not.
template <class Key>
void count_anywhere() {
  SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
  std::mt19937_64 random{keys::fresh_seed()};
  constexpr TeamShape shape = look_up_shape<Space>(sizeof(Key));
  using Count = CountKinds<Space, Key, shape>;
  std::vector<Key> kinds{Key{0}, static_cast<Key>(-1)};
  while (kinds.size() < 1000) kinds.push_back(static_cast<Key>(random()));
  for (const std::size_t sampled : {1, 500, 1000}) {
    for (const std::size_t skip : {0, 1, 2, 3}) {
      for (const std::size_t count : {1, 2, 7, 20011}) {
        std::vector<Key> input(skip + count);
        for (Key& key : input) key = kinds[random() % kinds.size()];
        std::map<Key, std::uint64_t> expected, found;
        for (std::size_t i = skip; i < input.size(); ++i) ++expected[input[i]];
        std::vector<kradix::impl::Kinds<Key>> table(1);
        std::vector<Route> route(1);
        route[0].kinds = static_cast<int>(sampled);
        const auto device_keys = to_device(input);
        const auto device_table = to_device(table);
        const auto device_kinds = to_device(kinds);
        const auto device_route = to_device(route);
        const Space exec;
        launch_teams<shape>(exec, "count", 3, Count::scratch_bytes(),
                            Count{{device_keys.data() + skip, count},
                                  device_route.data(),
                                  device_kinds.data(),
                                  device_table.data()});
        exec.fence();
        EXPECT_EQ(to_host(device_route)[0].too_many_kinds, 0u);
        table = to_host(device_table);
        for (std::size_t slot = 0; slot < std::size(table[0].counts); ++slot) {
          if (table[0].counts[slot] > 0) found[table[0].keys[slot]] += table[0].counts[slot];
        }
        ASSERT_EQ(found, expected) << sampled << " sampled, skip " << skip << ", count " << count;
      }
    }
  }
}

TEST(Kinds, OfShortKeysAreCountedAnywhere) {
  count_anywhere<std::uint32_t>();
}
TEST(Kinds, OfLongKeysAreCountedAnywhere) {
  count_anywhere<std::uint64_t>();
}

/// How many of these kinds have no home once all were given one.
template <int Bits, class Key>
std::size_t homeless(const std::vector<Key>& kinds) {
  using Slots = KindSlots<Key, Bits>;
  std::vector<Key> slots(Slots::count + 1);
  for (const Key& kind : kinds) Slots{slots.data()}.give_home(kind);
  return static_cast<std::size_t>(std::count_if(kinds.begin(), kinds.end(), [&](const Key& kind) {
    const std::uint32_t slot = Slots{slots.data()}.find_at_home(kind);
    EXPECT_TRUE(slot == Slots::none || slots[slot] == kind);
    return slot == Slots::none;
  }));
}

/// Whichever bits of theirs differ. Half of a table takes all, or all but a few.
template <class Key>
void give_homes() {
  SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
  std::mt19937_64 random{keys::fresh_seed()};
  constexpr int most_shift = 8 * sizeof(Key) - 10;
  for (int shift = 0; shift <= most_shift; ++shift) {
    std::set<Key> sequence, scattered;
    for (Key k = 0; k < 1000; ++k) sequence.insert(static_cast<Key>(k << shift));
    while (scattered.size() < 1000) scattered.insert(static_cast<Key>(random() << shift));
    for (const std::set<Key>& kinds : {sequence, scattered}) {
      const std::vector<Key> list(kinds.begin(), kinds.end());
      EXPECT_LE(homeless<12>(list), 5u) << shift;
      EXPECT_LE(homeless<11>(list), 50u) << shift;
    }
  }
}

TEST(Kinds, OfShortKeysFindHomes) {
  give_homes<std::uint32_t>();
}
TEST(Kinds, OfLongKeysFindHomes) {
  give_homes<std::uint64_t>();
}

/// Wherever the result starts, and however vectors and kinds fall.
TEST(Kinds, AreExpandedAnywhere) {
  std::mt19937_64 random{keys::fresh_seed()};
  SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
  constexpr TeamShape shape = count_shape<Space>();
  for (std::size_t skip = 0; skip < 4; ++skip) {
    for (const std::size_t kinds : {1, 2, 40}) {
      std::vector<std::uint32_t> keys, expected;
      std::vector<std::uint64_t> first;
      for (std::size_t k = 0; k < kinds; ++k) {
        keys.push_back(static_cast<std::uint32_t>(3 * k));
        first.push_back(expected.size());
        expected.insert(expected.end(), 1 + random() % (k % 3 == 0 ? 2 : 99), keys.back());
      }
      first.push_back(expected.size());
      const auto device_keys = to_device(keys);
      const auto device_first = to_device(first);
      const auto size = to_device(std::vector<std::uint64_t>{kinds});
      PassTable table{};
      table.expands = 1;
      const auto passes = to_device(std::vector<PassTable>{table});
      const auto result = to_device(std::vector<std::uint32_t>(expected.size() + skip));
      const Space exec;
      launch_teams<shape>(exec, "expand", 3, 0,
                          ExpandKinds<Space, std::uint32_t, shape.threads>{
                              {device_keys.data(), device_first.data(), size.data()},
                              passes.data(),
                              result.data() + skip,
                              expected.size(),
                              expected.size() / 4 / 3 + 1});
      exec.fence();
      const auto found = to_host(result);
      for (std::size_t i = 0; i < expected.size(); ++i) {
        ASSERT_EQ(found[skip + i], expected[i]) << i << ", skip " << skip << ", kinds " << kinds;
      }
    }
  }
}

}  // namespace
