// Keys alone spread by splitters: whatever the keys, in place and not; and the parts of that by themselves.
#include <algorithm>
#include <bit>
#include <gtest/gtest.h>
#include <random>
#include <utility>
#include <vector>

#include "support/hybrid.hpp"
#include "support/keys.hpp"

namespace {

using namespace kradix::impl;
using namespace hybrid;
using kradix::Order;

/// Nothing else is chosen, if keys differ in more than two digits.
RouteRule by_splitters() {
  RouteRule rule{.run = 0.5f, .most = 0, .close = -1, .gain = 1e30};
  rule.heavy = rule.mend_gain = rule.look_gain = 1e30f;
  rule.counted = 0;
  rule.kinds_from = rule.spread_from = ~std::size_t{0};
  rule.split_from = 0;
  rule.split_to = ~std::size_t{0};
  rule.split_gain = -1e30f;
  return rule;
}

template <class Key, class Codec>
void expect_split(const std::vector<Key>& input, const Codec& codec, bool splits = true) {
  for (const Route& route : routes_alone(input, codec, by_splitters())) {
    EXPECT_EQ(route.spreads, splits ? Route::by_splitters : 0);
  }
}

template <class Key>
class SplittersOf : public ::testing::Test {};
using Keys = ::testing::Types<std::uint64_t, std::int64_t, double>;
TYPED_TEST_SUITE(SplittersOf, Keys);

/// Codes whose bits are ones with a chance of 2^-skew; or of uniform width; or of which so many in 16 are one of three.
template <class Bits>
Bits draw(int skew, std::mt19937_64& random) {
  if (skew < 6) {
    std::uint64_t bits = ~std::uint64_t{0};
    for (int i = 0; i < skew; ++i) bits &= random();
    return static_cast<Bits>(skew == 0 ? random() : bits);
  }
  const auto some = static_cast<Bits>(random());
  if (skew == 6) return some >> (random() & 63);
  const Bits kinds[] = {0, ~Bits{0}, Bits{77} << 40};
  return random() % 16 < static_cast<std::uint64_t>(skew) ? kinds[random() % 3] : some;
}

TYPED_TEST(SplittersOf, WhateverTheKeys) {
  std::mt19937_64 random{keys::fresh_seed()};
  constexpr auto tile = static_cast<std::size_t>(split_shape<Space>().round());
  for (const int skew : {0, 2, 3, 5, 6, 9, 15}) {
    for (const std::size_t count : {std::size_t{1000}, 4 * tile - 1, 4 * tile, 40009 + tile}) {
      for (const Order order : {Order::ascending, Order::descending}) {
        SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed() << ", skew " << skew
                                          << ", " << count << " keys");
        const auto codec = codec_of_all_bits<TypeParam>(order);
        using Bits = typename decltype(codec_of_all_bits<TypeParam>(order))::bits_type;
        std::vector<TypeParam> input;
        for (std::size_t i = 0; i < count; ++i) {
          input.push_back(std::bit_cast<TypeParam>(codec.decode(draw<Bits>(skew, random))));
        }
        expect_split(input, codec);
        if (this->HasFailure()) return;
      }
    }
  }
}

TYPED_TEST(SplittersOf, FewKeysOrFewKinds) {
  std::mt19937_64 random{keys::fresh_seed()};
  const auto codec = codec_of_all_bits<TypeParam>(Order::ascending);
  using Bits = typename decltype(codec_of_all_bits<TypeParam>(Order::ascending))::bits_type;
  for (const int kinds : {2, 40, 3000}) {
    for (const std::size_t count : {std::size_t{70}, std::size_t{30011}}) {
      SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed() << ", " << kinds
                                        << " kinds of " << count << " keys");
      std::vector<Bits> all(static_cast<std::size_t>(kinds));
      for (Bits& code : all) code = static_cast<Bits>(random());
      all[0] = 0;
      all[1] = ~Bits{0};
      std::vector<TypeParam> input{std::bit_cast<TypeParam>(codec.decode(all[1]))};
      while (input.size() < count) {
        input.push_back(std::bit_cast<TypeParam>(codec.decode(all[random() % all.size()])));
      }
      expect_split(input, codec);
      if (this->HasFailure()) return;
    }
  }
}

/// Keys in order, or of few bits, need none.
TEST(Splitters, AreNotForAllKeys) {
  std::mt19937_64 random{keys::fresh_seed()};
  const auto codec = make_codec<std::uint64_t>(Order::ascending);
  std::vector<std::uint64_t> input(20011);
  for (auto& key : input) key = random() >> (random() & 63);
  expect_split(input, codec);
  std::ranges::sort(input);
  expect_split(input, codec, false);
}

/// Each bin holds what comes before the next splitter, and a code that comes often has a bin of its own.
TEST(Splitters, PartSamples) {
  using Tree = SplitterTree<std::uint64_t, 6>;
  std::mt19937_64 random{keys::fresh_seed()};
  for (const int kinds : {1, 5, 1000, 1 << 30}) {
    SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed() << ", kinds " << kinds);
    std::vector<std::uint64_t> samples(1000);
    for (auto& code : samples) code = ~std::uint64_t{0} - random() % static_cast<unsigned>(kinds);
    std::ranges::sort(samples);
    const int count = static_cast<int>(samples.size());
    Tree tree{};
    std::vector<std::uint64_t> splitters{0};
    for (int j = 1; j < Tree::bins; ++j) {
      splitters.push_back(splitter_among(samples.data(), count, j, Tree::bins));
    }
    ASSERT_TRUE(std::ranges::is_sorted(splitters));
    for (int node = 1; node < Tree::bins; ++node) {
      tree.node[node] = splitters[static_cast<std::size_t>(Tree::splitter_of(node))];
    }
    std::vector<int> in_bin(Tree::bins);
    for (const std::uint64_t code : samples) {
      std::uint32_t bin = 0;
      tree.find<1>(&code, &bin);
      const auto behind = std::ranges::upper_bound(splitters, code) - splitters.begin();
      ASSERT_EQ(bin, static_cast<std::uint32_t>(behind - 1));
      ++in_bin[bin];
    }
    for (int bin = 1; bin + 1 < Tree::bins; ++bin) {
      const std::uint64_t begin = splitters[static_cast<std::size_t>(bin)];
      const std::uint64_t next = splitters[static_cast<std::size_t>(bin) + 1];
      const bool one_code = holds_one_code(begin, next);
      if (in_bin[static_cast<std::size_t>(bin)] > 3 * count / Tree::bins) {
        EXPECT_TRUE(one_code);
      }
      EXPECT_EQ(one_code, next - begin == 1);
    }
  }
}

/// Chunks of cells between splitters know their bounds, and none is made of too many keys that are the same.
TEST(Splitters, BoundChunks) {
  SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
  std::mt19937_64 random{keys::fresh_seed()};
  constexpr std::size_t most = 4352, cells = Route::cells;
  std::vector<std::uint64_t> ends(cells), splitters(cells);
  std::uint64_t count = 0, code = 0;
  for (std::size_t cell = 0; cell < cells; ++cell) {
    splitters[cell] = code;
    code += random() % 2 == 0 ? 1 : 1000;
    const bool is_long = cell % 97 == 13 || cell + 1 == cells;
    count += is_long ? most + random() % 9000 : random() % 60;
    ends[cell] = count;
  }
  const auto [listed, lists, in_memory] = list_cells(ends, most, /*alone=*/9000, false, splitters);
  const auto high_of = [&](std::size_t cell) {
    return cell + 1 < cells ? splitters[cell + 1] - 1 : ~std::uint64_t{0};
  };
  const auto size_of = [&](std::size_t cell) {
    return ends[cell] - (cell > 0 ? ends[cell - 1] : 0);
  };
  std::vector<int> seen(cells);  // in a list
  const auto see = [&](std::size_t begin, std::size_t end) {
    const auto first =
        static_cast<std::size_t>(std::ranges::upper_bound(ends, begin) - ends.begin());
    const auto last = static_cast<std::size_t>(std::ranges::lower_bound(ends, end) - ends.begin());
    for (std::size_t cell = first; cell <= last; ++cell) ++seen[cell];
    return std::pair{first, last};
  };
  for (std::uint64_t i = 0; i < listed.chunks; ++i) {
    const Chunk chunk{lists[i]};
    const auto size = static_cast<std::size_t>(chunk.size());
    ASSERT_GT(size, 1u);
    ASSERT_LE(size, most);
    auto [first, last] = see(chunk.begin(), chunk.begin() + size);
    const auto bounds = ChunkBounds<std::uint64_t>::of(in_memory.data() + chunk.begin());
    while (bounds.low != splitters[first]) {  // empty cells may belong to it
      ASSERT_GT(first, 0u);
      ASSERT_EQ(size_of(--first), 0u);
    }
    while (bounds.high != high_of(last)) {
      ASSERT_LT(last + 1, cells);
      ASSERT_EQ(size_of(++last), 0u);
    }
  }
  for (std::uint64_t i = 0; i < listed.left; ++i) {
    const Chunk chunk{lists[cells + i]};
    ASSERT_EQ(chunk.size(), 0);
    const auto [first, last] = see(chunk.begin(), LongRun::end(in_memory.data() + chunk.begin()));
    ASSERT_EQ(first, last);
    ASSERT_NE(splitters[first], high_of(first)) << "all keys are the same";
  }
  for (std::size_t cell = 0; cell < cells; ++cell) {
    if (size_of(cell) < 2) continue;  // alone in its chunk it is not listed
    const bool is_skipped = size_of(cell) > most && splitters[cell] == high_of(cell);
    ASSERT_EQ(seen[cell], is_skipped ? 0 : 1) << cell << " of " << size_of(cell);
  }
}

}  // namespace
