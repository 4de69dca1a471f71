// Small sorts: in one launch and in three, whatever the keys, with pieces so small that every way out
// is taken; bins that do not fit, chunks with too many keys alike, one tile and very many.
#include <bit>
#include <gtest/gtest.h>

#include "kradix/impl/small_msd.hpp"
#include "kradix/sort.hpp"
#include "support/device.hpp"
#include "support/keys.hpp"
#include "support/reference.hpp"
#include "support/sorted.hpp"

namespace {

using namespace kradix::impl;
using kradix::Order;

constexpr bool on_host = is_host_space<Space>;
constexpr TeamShape tile_with = on_host ? TeamShape{1, 64} : TeamShape{256, 4, 1};
constexpr TeamShape small_finish = on_host ? TeamShape{1, 512} : TeamShape{256, 2, 1};
constexpr TeamShape large_finish = on_host ? TeamShape{1, 4352} : TeamShape{256, 17, 1};
constexpr TeamShape rank_with = rank_shape<Space>(4, 4, 4);
constexpr std::size_t most_by_one_launch = 512;

struct Outcome {
  int passes = 0, finishes = 0;
  bool phases = false;  ///< were there any?
  bool splits = false;  ///< by splitters instead of a digit?
  std::uint64_t chunks = 0;
};

template <class T>
T read(const T* there) {
  T value{};
  const Kokkos::View<T, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> here(&value);
  Kokkos::deep_copy(here, Kokkos::View<T, Memory, Kokkos::MemoryUnmanaged>(const_cast<T*>(there)));
  return value;
}

/// Sorts keys, in place and by tiles, where there are few digits, unless told otherwise, with the index of each as its value and compares with the reference.
template <TeamShape Finish, class Key>
Outcome expect_sorted(const std::vector<Key>& input, Order order, kradix::BitRange bits,
                      const std::vector<std::size_t>& indices, bool in_place = true,
                      bool by_tiles = true) {
  constexpr SmallShapes shapes{tile_with, Finish, lone_shape<Space>(), rank_with};
  using Codec = codec_of<Key>;
  using Word = typename Codec::key_type;
  const std::size_t count = input.size();
  kradix::Plan plan;
  plan.count = count;
  plan.value_bytes = by_tiles ? 4 : 0;  // as of keys alone, that go by the topmost digit
  plan.bits = {bits.begin, bits.end == kradix::BitRange::all ? Codec::bits : bits.end};
  plan.passes = (plan.bits.end - plan.bits.begin + digit_bits - 1) / digit_bits;
  plan.round = plan.tile = static_cast<std::size_t>(tile_with.round());
  plan.chunk = static_cast<std::size_t>(Finish.round());
  plan.ranked = most_by_one_launch;
  plan.tiles = (count + plan.tile - 1) / plan.tile;
  ScratchList list;
  const Slot keys_other = list.add(count, sizeof(Key));
  const Slot values_other = list.add(count, 4);
  SmallMsdScratch scratch = SmallMsdScratch::list(plan, LookBackShape{}, list);
  const Kokkos::View<std::byte*, Memory> memory("memory", list.bytes());
  Kokkos::deep_copy(memory, std::byte{0xa5});  // nothing may rely on zeros
  std::byte* const base = aligned_scratch(memory.data());
  const Kokkos::View<Meeting, Memory> meeting("meeting");
  scratch.meeting = meeting.data();
  const auto keys = to_device(input);
  const auto keys_out = in_place ? keys : to_device(std::vector<Key>(count));
  const Kokkos::View<std::uint32_t*, Memory> permutation("permutation", count);
  const SortBuffers<Word, std::uint32_t> buffers{
      {reinterpret_cast<Word*>(keys.data()), reinterpret_cast<Word*>(keys_out.data()),
       keys_other.in<Word>(base)},
      {nullptr, permutation.data(), values_other.in<std::uint32_t>(base)},
      true,
      false};
  const Space exec;
  using Sort = SmallMsd<Space, Codec, std::uint32_t, shapes>;
  Sort(exec, plan, make_codec<Key>(order), buffers, scratch, base, "test").sort();
  exec.fence();
  const auto found = to_host(permutation);
  const auto sorted = to_host(keys_out);
  for (std::size_t i = 0; i < count; ++i) {
    EXPECT_EQ(found[i], indices[i]) << i;
    EXPECT_EQ(keys::bytes_of(sorted[i]), keys::bytes_of(input[indices[i]])) << i;
    if (::testing::Test::HasFailure()) break;
  }
  if (count <= plan.ranked) return {};
  const bool phases = read(scratch.state.in<PhaseState>(base)).ticket > 0;
  if (SmallMsdScratch::sweeps_by_tiles(plan)) {
    return {read(scratch.state.in<SweepByTilesState>(base)).passes.count, 0, phases, false, 0};
  }
  const TopDigit top = read(scratch.top.in<TopDigit>(base));
  Outcome outcome{top.passes.count, top.passes.finishes, phases, top.splits, 0};
  for (int bin = 0; outcome.finishes != 0 && bin < bin_count; ++bin) {
    outcome.chunks += top.first[bin + 1] > top.first[bin];
  }
  return outcome;
}

template <TeamShape Finish, class Key>
Outcome expect_sorted(const std::vector<Key>& input, Order order) {
  return expect_sorted<Finish>(input, order, {}, reference::sorted_indices(input, order));
}

template <class T>
class SmallMsdOf : public ::testing::Test {
 protected:
  std::mt19937_64 random_{keys::fresh_seed()};
};
using Keys = ::testing::Types<std::uint32_t, std::int64_t, float, double>;
TYPED_TEST_SUITE(SmallMsdOf, Keys);

TYPED_TEST(SmallMsdOf, SortsEveryPattern) {
  const std::size_t chunk = most_by_one_launch, few = 64;
  const auto tile = static_cast<std::size_t>(tile_with.round());
  for (const keys::Pattern pattern : keys::all_patterns) {
    for (const std::size_t count :
         {std::size_t{1}, std::size_t{2}, few - 1, few, few + 1, chunk - 1, chunk, chunk + 1,
          chunk + chunk / 2, 7 * tile, 7 * tile + 1, 10 * chunk + 3}) {
      for (const Order order : {Order::ascending, Order::descending}) {
        SCOPED_TRACE(::testing::Message()
                     << "seed " << keys::fresh_seed() << ", pattern " << static_cast<int>(pattern)
                     << ", count " << count << ", order " << static_cast<int>(order));
        expect_sorted<small_finish>(keys::make<TypeParam>(pattern, count, this->random_), order);
        if (this->HasFailure()) return;
      }
    }
  }
}

TYPED_TEST(SmallMsdOf, OneSweepAndAFinishWhereBinsFit) {
  SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
  const auto uniform = keys::make<TypeParam>(keys::Pattern::uniform, 100003, this->random_);
  const Outcome fits = expect_sorted<large_finish>(uniform, Order::ascending);
  EXPECT_EQ(fits.finishes, 1);
  EXPECT_EQ(fits.passes, 1);
  EXPECT_GT(fits.chunks, 100u);
  EXPECT_LE(fits.chunks, 256u);
}

/// Keys that a digit would crowd are sampled, and swept by splitters: few kinds, of which each has a bin of its own, most of them
/// the same, and such as lie closer together the lesser they are.
TYPED_TEST(SmallMsdOf, SplittersWhereTheDigitCrowds) {
  using Word = kradix::impl::unsigned_of_size<sizeof(TypeParam)>;
  SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
  auto& random = this->random_;
  const auto any = [&] { return static_cast<Word>(random() << 32 ^ random()); };
  const auto of_bits = [](Word bits) { return std::bit_cast<TypeParam>(bits); };
  // (The greatest code of all, that of NaNs, has no bin of its own.)
  const auto any_kind = [&] {
    Word bits = any();
    while (of_bits(bits) != of_bits(bits)) bits = any();
    return bits;
  };
  const Word often = any_kind();
  // (On hosts each of very many tiles adds up all others.)
  const auto counts = on_host ? std::vector<std::size_t>{30011, 50021}
                              : std::vector<std::size_t>{50021, 100003, 120011};
  for (const std::size_t count : counts) {
    std::vector<std::vector<TypeParam>> inputs(3, std::vector<TypeParam>(count));
    const Word kinds[] = {any_kind(), any_kind(), any_kind(), any_kind(), any_kind()};
    for (std::size_t i = 0; i < count; ++i) {
      inputs[0][i] = of_bits(kinds[random() % std::size(kinds)]);
      inputs[1][i] = of_bits(random() % 100 == 0 ? any() : often);
      inputs[2][i] = of_bits(any() >> random() % (8 * sizeof(Word)));
    }
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      for (const Order order : {Order::ascending, Order::descending}) {
        for (const bool in_place : {true, false}) {
          SCOPED_TRACE(::testing::Message()
                       << "input " << i << ", count " << count << ", order "
                       << static_cast<int>(order) << ", in place " << in_place);
          const auto indices = reference::sorted_indices(inputs[i], order);
          const Outcome outcome =
              expect_sorted<large_finish>(inputs[i], order, {}, indices, in_place);
          EXPECT_EQ(outcome.finishes, 1);
          EXPECT_EQ(outcome.passes, 1);
          EXPECT_FALSE(outcome.phases);
          EXPECT_TRUE(outcome.splits);
          if (this->HasFailure()) return;
        }
      }
    }
  }
}

/// The greatest of all codes comes often, and so does the least: nothing is beyond a splitter.
TEST(SmallMsd, SplittersAtTheEndsOfTheRange) {
  std::mt19937_64 random{keys::fresh_seed()};
  SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
  for (const int ends : {1, 2, 3}) {
    std::vector<std::uint32_t> input(60000);
    for (auto& key : input) {
      const auto draw = random() % 8;
      key = draw < 3 && (ends & 1) != 0   ? ~0u
            : draw > 4 && (ends & 2) != 0 ? 0u
                                          : static_cast<std::uint32_t>(random()) & 0xff0ffu;
    }
    for (const Order order : {Order::ascending, Order::descending}) {
      const Outcome outcome = expect_sorted<large_finish>(input, order);
      EXPECT_TRUE(outcome.splits);
      EXPECT_EQ(outcome.finishes, 1);
    }
    const auto cut = [](std::uint32_t key) { return reference::cut_bits(key, 3, 29); };
    const auto indices = reference::sorted_indices(
        input, [&](std::uint32_t a, std::uint32_t b) { return cut(a) < cut(b); });
    const Outcome outcome = expect_sorted<large_finish>(input, Order::ascending, {3, 29}, indices);
    EXPECT_TRUE(outcome.splits);
    EXPECT_EQ(outcome.finishes, 1);
  }
}

/// A bin between splitters does not fit all the same: keys that the samples do not meet are sorted digit by digit.
TEST(SmallMsd, SplittersThatDoNotServe) {
  std::mt19937_64 random{keys::fresh_seed()};
  SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
  constexpr std::size_t count = 100000;
  std::vector<std::uint32_t> input(count);
  for (auto& key : input) key = static_cast<std::uint32_t>(random() % 7);
  const SamplePlaces places(count, 1024);
  std::vector<bool> met(count);
  for (std::size_t i = 0; i < 1024; ++i) met[std::min(places.of(i), count - 1)] = true;
  const SamplePlaces fewer(count, 512);
  for (std::size_t i = 0; i < 512; ++i) met[std::min(fewer.of(i), count - 1)] = true;
  for (std::size_t i = 0; i < count; ++i) {
    if (!met[i]) input[i] = 1000 + static_cast<std::uint32_t>(random() % 60000);
  }
  const Outcome outcome = expect_sorted<large_finish>(input, Order::ascending);
  EXPECT_EQ(outcome.finishes, 0);
  EXPECT_TRUE(outcome.phases);
}

/// Keys alone, whose codes are all that is compared: of each octave as many, of which more or fewer are alike.
template <class Key>
void expect_crowded_keys_sorted(std::mt19937_64& random) {
  using Word = kradix::impl::unsigned_of_size<sizeof(Key)>;
  kradix::Options options;
  options.algorithm = kradix::Algorithm::small_msd;
  SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
  for (const std::size_t count : {std::size_t{9001}, std::size_t{70001}, std::size_t{200003}}) {
    for (const unsigned alike : {1u, 100u, 3000u}) {
      std::vector<Key> input(count);
      for (auto& key : input) {
        const Word spread = keys::random_bits<Key>(random) >> random() % (8 * sizeof(Word) - 2);
        key = keys::from_bits<Key>(static_cast<Word>(spread / alike * alike));
      }
      for (const Order order : {Order::ascending, Order::descending}) {
        options.order = order;
        options.stability = kradix::Stability::automatic;
        expect_keys_sorted(input, reference::sorted_indices_in_bits(input, order), options);
        options.stability = kradix::Stability::stable;
        expect_keys_sorted(input, reference::sorted_indices(input, order), options);
        if (::testing::Test::HasFatalFailure()) return;
      }
    }
  }
}
TYPED_TEST(SmallMsdOf, KeysAloneThatTheDigitCrowds) {
  expect_crowded_keys_sorted<TypeParam>(this->random_);
}
#ifdef KRADIX_HAVE_INT128
TEST(SmallMsd, LongKeysAloneThatTheDigitCrowds) {
  std::mt19937_64 random{keys::fresh_seed()};
  expect_crowded_keys_sorted<uint128>(random);
}
#endif

/// Bits that do not count must not order, however few do.
TEST(SmallMsd, OnlyTheChosenBitsOrder) {
  std::mt19937_64 random{keys::fresh_seed()};
  for (const auto& [begin, end] :
       {std::pair{0, 8}, {0, 0}, {64, 64}, {5, 9}, {3, 16}, {3, 18}, {40, 64}, {0, 31}, {63, 64}}) {
    for (const std::size_t count : {std::size_t{30}, std::size_t{300}, std::size_t{40000}}) {
      SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed() << ", bits [" << begin
                                        << ", " << end << "), " << count);
      const auto input = keys::make<std::uint64_t>(keys::Pattern::uniform, count, random);
      const auto cut = [begin = begin, end = end](std::uint64_t key) {
        return reference::cut_bits(key, begin, end);
      };
      const auto indices = reference::sorted_indices(
          input, [&](std::uint64_t a, std::uint64_t b) { return cut(a) < cut(b); });
      expect_sorted<large_finish>(input, Order::ascending, {begin, end}, indices);
      const Outcome elsewhere = expect_sorted<large_finish>(input, Order::ascending, {begin, end},
                                                            indices, /*in_place=*/false);
      for (const bool in_place : {true, false}) {
        expect_sorted<large_finish>(input, Order::ascending, {begin, end}, indices, in_place,
                                    /*by_tiles=*/false);
      }
      if (count > 512 && end - begin <= 2 * digit_bits) {
        EXPECT_EQ(elsewhere.passes, (end - begin + digit_bits - 1) / digit_bits);
        EXPECT_EQ(elsewhere.finishes, 0);
      }
    }
  }
}

/// Where one digit is all that varies nothing is left to sort, however many share a bin.
TEST(SmallMsd, OneDigitIsSweptOnce) {
  std::mt19937_64 random{keys::fresh_seed()};
  SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
  std::vector<std::uint32_t> input(70001);
  for (const int shift : {0, 11, 24}) {
    for (auto& key : input) {
      key = static_cast<std::uint32_t>(random() & random() & 0xff) << shift | 0x400;
    }
    input[0] = input[1] = 0x400;
    const auto indices = reference::sorted_indices(input, Order::descending);
    const Outcome elsewhere =
        expect_sorted<small_finish>(input, Order::descending, {}, indices, /*in_place=*/false);
    EXPECT_EQ(elsewhere.passes, 1);
    EXPECT_FALSE(elsewhere.phases);
    EXPECT_TRUE(expect_sorted<small_finish>(input, Order::descending).phases);
  }
}

constexpr TeamShape no_finish{0, 0};

template <class T>
class ShortKeys : public SmallMsdOf<T> {};
using KeysOfOneOrTwoBytes =
    ::testing::Types<std::uint8_t, std::int8_t, std::int16_t, kradix::bfloat16_bits>;
TYPED_TEST_SUITE(ShortKeys, KeysOfOneOrTwoBytes);

/// Keys of one byte take one sweep, those of two as many as there are digits that vary.
TYPED_TEST(ShortKeys, AreSweptWithoutAFinish) {
  const auto chunk = most_by_one_launch;
  const auto tile = static_cast<std::size_t>(tile_with.round());
  for (const keys::Pattern pattern : keys::all_patterns) {
    for (const std::size_t count : {chunk, chunk + 1, 7 * tile, 7 * tile + 1, 10 * chunk + 3}) {
      for (const Order order : {Order::ascending, Order::descending}) {
        for (const bool in_place : {true, false}) {
          SCOPED_TRACE(::testing::Message()
                       << "seed " << keys::fresh_seed() << ", pattern " << static_cast<int>(pattern)
                       << ", count " << count << ", order " << static_cast<int>(order)
                       << ", in place " << in_place);
          const auto input = keys::make<TypeParam>(pattern, count, this->random_);
          const auto indices = reference::sorted_indices(input, order);
          const Outcome outcome = expect_sorted<no_finish>(input, order, {}, indices, in_place);
          if (count > chunk) {
            EXPECT_LE(outcome.passes, static_cast<int>(sizeof(TypeParam)));
          }
          if (this->HasFailure()) return;
        }
      }
    }
  }
}

/// The public way, by the shapes of the space; by some of their bits too, and where a code does not tell all of a key.
TYPED_TEST(ShortKeys, AloneAreSweptLikewise) {
  kradix::Options options;
  options.algorithm = kradix::Algorithm::small_msd;
  const auto tile =
      static_cast<std::size_t>(small_sweep_shape<Space>(sizeof(TypeParam), 0).round());
  for (const std::size_t count :
       {3 * tile - 1, 5 * tile, 5 * tile + 1, 40 * tile + 77, 256 * tile}) {
    for (const keys::Pattern pattern : keys::all_patterns) {
      const Order order = this->random_() % 2 == 0 ? Order::ascending : Order::descending;
      SCOPED_TRACE(::testing::Message()
                   << "seed " << keys::fresh_seed() << ", pattern " << static_cast<int>(pattern)
                   << ", count " << count << ", order " << static_cast<int>(order));
      options.order = order;
      options.bits = {};
      const auto input = keys::make<TypeParam>(pattern, count, this->random_);
      options.stability = kradix::Stability::stable;
      expect_keys_sorted(input, reference::sorted_indices(input, order), options);
      options.stability = kradix::Stability::automatic;
      expect_keys_sorted(input, reference::sorted_indices_in_bits(input, order), options);
      if constexpr (key_kind<TypeParam>() == KeyKind::unsigned_integer) {
        options.order = Order::ascending;
        options.bits = {1, 7};
        const auto by_some =
            reference::sorted_indices(input, [](const TypeParam& a, const TypeParam& b) {
              return reference::cut_bits(a, 1, 7) < reference::cut_bits(b, 1, 7);
            });
        expect_keys_sorted(input, by_some, options);
      }
      if (this->HasFatalFailure()) return;
    }
  }
}

TEST(ShortKeysOfTwoBytes, TakeOneSweepWhereOneDigitVaries) {
  std::mt19937_64 random{keys::fresh_seed()};
  SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
  std::vector<std::uint16_t> input(50021);
  const auto outcome_of = [&](kradix::BitRange bits, bool in_place) {
    const auto cut = [&](std::uint16_t key) {
      return reference::cut_bits(key, bits.begin, bits.end);
    };
    const auto indices = reference::sorted_indices(
        input, [&](std::uint16_t a, std::uint16_t b) { return cut(a) < cut(b); });
    return expect_sorted<no_finish>(input, Order::ascending, bits, indices, in_place);
  };
  for (auto& key : input) key = static_cast<std::uint16_t>(random());
  for (const bool in_place : {true, false}) {
    EXPECT_EQ(outcome_of({0, 16}, in_place).passes, 2);
    EXPECT_EQ(outcome_of({3, 11}, in_place).passes, 1);
    EXPECT_EQ(outcome_of({5, 5}, in_place).passes, 0);
    EXPECT_EQ(outcome_of({3, 12}, in_place).passes, 2);
  }
  for (const int shift : {0, 8}) {
    for (auto& key : input)
      key = static_cast<std::uint16_t>((random() & 0xff) << shift | 0x12 << (8 - shift));
    for (const bool in_place : {true, false}) EXPECT_EQ(outcome_of({0, 16}, in_place).passes, 1);
  }
}

/// Bins fit, but most of their keys are alike: chunk after chunk is given up.
TEST(SmallMsd, ChunksWithTooManyKeysAlikeAreSortedByOneTeamEach) {
  std::mt19937_64 random{keys::fresh_seed()};
  SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
  std::vector<std::uint64_t> input;
  for (int i = 0; i < 200000; ++i) {
    const std::uint64_t any = random();
    input.push_back((any & 0xff) << 56 | (any >> 20 & 3) << 30 | (any >> 40 & 1));
  }
  const Outcome outcome = expect_sorted<large_finish>(input, Order::descending);
  EXPECT_EQ(outcome.finishes, 1);
  EXPECT_EQ(outcome.chunks, 256u);
}

/// A single key that the sample most likely does not see has a bit that no other has.
TEST(SmallMsd, AKeyBeyondTheSampleSweepsOverEveryDigit) {
  std::mt19937_64 random{keys::fresh_seed()};
  SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
  std::vector<std::uint32_t> input(90000);
  for (auto& key : input) key = static_cast<std::uint32_t>(random()) >> 4;
  EXPECT_EQ(expect_sorted<small_finish>(input, Order::ascending).finishes, 1);
  input[input.size() / 2 + 11] |= 1u << 30;
  EXPECT_EQ(expect_sorted<small_finish>(input, Order::ascending).finishes, 0);
}

/// More tiles than are ever added up: all digits are swept, though on hosts every bin would fit.
TEST(SmallMsd, TooManyTilesSweepOverEveryDigit) {
  std::mt19937_64 random{keys::fresh_seed()};
  SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
  const auto tile = static_cast<std::size_t>(tile_with.round());
  for (const std::size_t tiles : {most_added_up, most_added_up + 1}) {
    const auto input = keys::make<std::uint32_t>(keys::Pattern::uniform, tiles * tile, random);
    const Outcome outcome = expect_sorted<large_finish>(input, Order::ascending);
    EXPECT_EQ(outcome.finishes, on_host && tiles == most_added_up ? 1 : 0) << tiles;
  }
}

/// Bins of as many elements as are compared with each other, and of some more or less; many of them equal.
TYPED_TEST(SmallMsdOf, BinsOfFewElements) {
  for (const std::size_t each : {21, 64, 255, 256, 257}) {
    for (const int kinds : {3, 1 << 20}) {
      SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed() << ", " << each
                                        << " elements a bin, of " << kinds << " kinds");
      std::vector<TypeParam> input;
      for (std::size_t i = 0; i < 256 * each; ++i) {
        const auto low = static_cast<std::uint64_t>(this->random_() % kinds);
        using Word = kradix::impl::unsigned_of_size<sizeof(TypeParam)>;
        const auto bits = static_cast<Word>(
            static_cast<Word>(i % 256) << (8 * sizeof(TypeParam) - 8) | static_cast<Word>(low));
        input.push_back(std::bit_cast<TypeParam>(bits));
      }
      expect_sorted<large_finish>(input, Order::ascending);
      if (this->HasFailure()) return;
    }
  }
}

/// More tiles than the look-back's buffer has slots, over every digit.
TEST(SmallMsd, ManyTilesSweepOverEveryDigit) {
  std::mt19937_64 random{keys::fresh_seed()};
  SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
  std::vector<std::uint32_t> input(1100 * static_cast<std::size_t>(tile_with.round()) + 7);
  for (auto& key : input) key = static_cast<std::uint32_t>(random()) >> (random() % 31);
  const Outcome outcome = expect_sorted<small_finish>(input, Order::ascending);
  EXPECT_EQ(outcome.finishes, 0);
  EXPECT_EQ(outcome.passes, 4);
}

struct Whole {
  std::uint64_t low, high;
  KOKKOS_FUNCTION explicit Whole(std::size_t i = 0) : low(i), high(~i) {}
  bool operator==(const Whole&) const = default;
};

/// Elements ranked among all, to where the input lies if `InPlace`. Teams of no patience leave their elements to the last.
template <class Value, bool InPlace, int Patience, class Codec, class Key>
void expect_ranked(const Kokkos::View<Meeting, Memory>& meeting, const Codec& codec,
                   const std::vector<Key>& input, kradix::BitRange bits,
                   const std::vector<std::size_t>& indices) {
  using Word = typename Codec::key_type;
  using Bits = typename Codec::bits_type;
  constexpr bool with_values = !std::is_same_v<Value, NoValue>;
  constexpr TeamShape shape =
      rank_shape<Space>(sizeof(Word), with_values ? sizeof(Value) : 0, sizeof(Bits));
  using Rank = RankAmongAll<Space, Codec, Value, shape, Patience>;
  const std::size_t count = input.size();
  std::vector<Value> numbers(with_values ? count : 0);
  if constexpr (with_values) {
    for (std::size_t i = 0; i < count; ++i) numbers[i] = static_cast<Value>(3 * i + 1);
  }
  const auto keys = to_device(input);
  const auto keys_out = InPlace ? keys : to_device(std::vector<Key>(count));
  const auto values = to_device(numbers);
  const auto values_out = InPlace ? values : to_device(std::vector<Value>(numbers.size()));
  const Kokkos::View<Key*, Memory> keys_other("keys_other", InPlace ? count : 0);
  const auto values_other = to_device(std::vector<Value>(InPlace ? numbers.size() : 0));
  const Kokkos::View<std::uint32_t*, Memory> ranks("ranks", InPlace ? count : 0);
  const auto words = [](const auto& view) { return reinterpret_cast<Word*>(view.data()); };
  const SortBuffers<Word, Value> buffers{{words(keys), words(keys_out), words(keys_other)},
                                         {values.data(), values_out.data(), values_other.data()},
                                         false,
                                         false};
  ASSERT_EQ(Rank::is_in_place(buffers), InPlace);
  const Ranking ranking = Ranking::of(count);
  const Space exec;
  launch_teams<shape>(exec, "test::RankAmongAll", ranking.teams, Rank::scratch_bytes(count),
                      Rank{buffers, codec, bits_between<Bits>(bits.begin, bits.end), ranking,
                           InPlace && ranking.teams > 1 ? meeting.data() : nullptr, ranks.data()});
  exec.fence();
  const auto sorted = to_host(keys_out);
  for (std::size_t i = 0; i < count; ++i) {
    ASSERT_EQ(keys::bytes_of(sorted[i]), keys::bytes_of(input[indices[i]])) << i;
  }
  if constexpr (with_values) {
    const auto dealt = to_host(values_out);
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(dealt[i], numbers[indices[i]]) << i;
  }
}

constexpr int patient = is_host_space<Space> ? 1 : 64;

template <class T>
class Ranked : public ::testing::Test {
 protected:
  std::mt19937_64 random_{keys::fresh_seed()};
  const Kokkos::View<Meeting, Memory> meeting_{"meeting"};  ///< of all sorts, one after the other

  void expect_sorted(const std::vector<T>& input, Order order) const {
    constexpr int all_bits = codec_of<T>::bits;
    const auto indices = reference::sorted_indices(input, order);
    const auto codec = make_codec<T>(order);
    const kradix::BitRange all{0, all_bits};
    expect_ranked<NoValue, true, patient>(meeting_, codec, input, all, indices);
    expect_ranked<NoValue, true, 0>(meeting_, codec, input, all, indices);
    expect_ranked<NoValue, false, patient>(meeting_, codec, input, all, indices);
    expect_ranked<std::uint32_t, true, patient>(meeting_, codec, input, all, indices);
    expect_ranked<std::uint32_t, true, 0>(meeting_, codec, input, all, indices);
    expect_ranked<std::uint32_t, false, patient>(meeting_, codec, input, all, indices);
    if constexpr (sizeof(T) <= 8)
      expect_ranked<Whole, true, 0>(meeting_, codec, input, all, indices);
    expect_ranked<std::uint64_t, false, patient>(meeting_, codec, input, all, indices);
    if constexpr (key_kind<T>() == KeyKind::floating) {
      const auto in_bits = reference::sorted_indices_in_bits(input, order);
      expect_ranked<NoValue, true, patient>(meeting_, total_order(codec), input, all, in_bits);
    } else if (order == Order::ascending && key_kind<T>() == KeyKind::unsigned_integer) {
      const auto by_some = reference::sorted_indices(input, [&](const T& a, const T& b) {
        return reference::cut_bits(a, 2, all_bits - 1) < reference::cut_bits(b, 2, all_bits - 1);
      });
      const kradix::BitRange some{2, all_bits - 1};
      expect_ranked<NoValue, true, patient>(meeting_, codec, input, some, by_some);
      expect_ranked<std::uint32_t, true, 0>(meeting_, codec, input, some, by_some);
    }
  }
};
using KeysOfAllWidths = ::testing::Types<std::uint8_t, std::int16_t, kradix::bfloat16_bits,
                                         std::uint32_t, float, std::int64_t, double
#ifdef KRADIX_HAVE_INT128
                                         ,
                                         unsigned __int128
#endif
                                         >;
TYPED_TEST_SUITE(Ranked, KeysOfAllWidths);

/// Keys alone as a sort of few takes them: a handful of codes of 4 bytes by one team, others by several.
template <bool InPlace, class Codec, class Key>
void expect_few_sorted(const Kokkos::View<Meeting, Memory>& meeting, const Codec& codec,
                       const std::vector<Key>& input, kradix::BitRange bits,
                       const std::vector<std::size_t>& indices) {
  using Word = typename Codec::key_type;
  constexpr SmallShapes shapes =
      SmallShapes::of<Space>(sizeof(Word), 0, sizeof(typename Codec::bits_type));
  kradix::Plan plan;
  plan.count = plan.ranked = input.size();
  plan.bits = bits;
  plan.passes = 1;
  ScratchList list;
  const Slot other = list.add(plan.count, sizeof(Word));
  SmallMsdScratch scratch = SmallMsdScratch::list(plan, LookBackShape{}, list);
  scratch.meeting = meeting.data();
  const Kokkos::View<std::byte*, Memory> memory("memory", list.bytes());
  std::byte* const base = aligned_scratch(memory.data());
  const auto keys = to_device(input);
  const auto keys_out = InPlace ? keys : to_device(std::vector<Key>(plan.count));
  const SortBuffers<Word, NoValue> buffers{
      {reinterpret_cast<Word*>(keys.data()), reinterpret_cast<Word*>(keys_out.data()),
       other.in<Word>(base)},
      {},
      false,
      false};
  const Space exec;
  SmallMsd<Space, Codec, NoValue, shapes>(exec, plan, codec, buffers, scratch, base, "test").sort();
  exec.fence();
  const auto sorted = to_host(keys_out);
  for (std::size_t i = 0; i < plan.count; ++i) {
    ASSERT_EQ(keys::bytes_of(sorted[i]), keys::bytes_of(input[indices[i]])) << i;
  }
}

TYPED_TEST(Ranked, AHandfulOfKeysAlone) {
  using Key = TypeParam;
  constexpr int all_bits = codec_of<Key>::bits;
  const kradix::BitRange all{0, all_bits};
  for (const std::size_t size :
       {1, 2, 3, 15, 16, 17, 127, 128, 129, 255, 256, 257, 400, 511, 512, 513}) {
    for (const keys::Pattern pattern : keys::all_patterns) {
      const Order order = size % 2 == 0 ? Order::ascending : Order::descending;
      SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed() << ", size " << size
                                        << ", pattern " << static_cast<int>(pattern));
      const auto input = keys::make<Key>(pattern, size, this->random_);
      const auto indices = reference::sorted_indices(input, order);
      const auto codec = make_codec<Key>(order);
      expect_few_sorted<true>(this->meeting_, codec, input, all, indices);
      expect_few_sorted<false>(this->meeting_, codec, input, all, indices);
      if constexpr (key_kind<Key>() == KeyKind::floating) {
        const auto in_bits = reference::sorted_indices_in_bits(input, order);
        expect_few_sorted<true>(this->meeting_, total_order(codec), input, all, in_bits);
      } else if (order == Order::ascending && key_kind<Key>() == KeyKind::unsigned_integer) {
        const auto by_some = reference::sorted_indices(input, [&](const Key& a, const Key& b) {
          return reference::cut_bits(a, 2, all_bits - 1) < reference::cut_bits(b, 2, all_bits - 1);
        });
        expect_few_sorted<true>(this->meeting_, codec, input, {2, all_bits - 1}, by_some);
      }
      if (this->HasFatalFailure()) return;
    }
  }
}

/// Around the ends of a team's share, of what lanes compare at once, and of what all teams rank by one share.
TYPED_TEST(Ranked, EveryPatternOfFew) {
  for (const std::size_t size : {1,   2,   3,   4,   5,   31,  32,  33,   63,   64,   65,  96,
                                 127, 128, 129, 255, 256, 257, 500, 1023, 1024, 1025, 1536}) {
    for (const keys::Pattern pattern : keys::all_patterns) {
      const Order order = size % 2 == 0 ? Order::ascending : Order::descending;
      SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed() << ", size " << size
                                        << ", pattern " << static_cast<int>(pattern));
      this->expect_sorted(keys::make<TypeParam>(pattern, size, this->random_), order);
      if (this->HasFatalFailure()) return;
    }
  }
}

/// Around the ends of pieces that scratch holds, and where a share becomes longer.
TYPED_TEST(Ranked, AsManyAsSharesAndPiecesHold) {
  for (const std::size_t size : {2047, 2048, 2049, 3001, 4095, 4096, 4097, 5120, 8191, 8192, 8193,
                                 12288, 12289, 16383, 16384}) {
    if (on_host && size > 4097 && size != 8193) continue;  // (they take as long as all others)
    for (const keys::Pattern pattern : keys::all_patterns) {
      const bool is_usual = pattern == keys::Pattern::uniform || pattern == keys::Pattern::few;
      if (on_host && !is_usual) continue;
      SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed() << ", size " << size
                                        << ", pattern " << static_cast<int>(pattern));
      this->expect_sorted(keys::make<TypeParam>(pattern, size, this->random_),
                          size % 2 == 0 ? Order::ascending : Order::descending);
      if (this->HasFatalFailure()) return;
    }
  }
}

/// Teams that wait for nobody leave what they have to the last, which comes back for it, and no turn takes what an earlier one left.
TEST(Ranked, WhatTeamsLeaveIsPutWhereItBelongs) {
  std::mt19937_64 random{keys::fresh_seed()};
  SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
  const Kokkos::View<Meeting, Memory> meeting("meeting");
  const auto codec = make_codec<std::uint32_t>(Order::ascending);
  std::uint64_t turns = 0;
  for (const std::size_t size : {4096, 300, 4000, 257, 1000, 2500}) {
    const auto input = keys::make<std::uint32_t>(keys::Pattern::few, size, random);
    const auto indices = reference::sorted_indices(input, Order::ascending);
    expect_ranked<std::uint32_t, true, 0>(meeting, codec, input, {0, 32}, indices);
    ++turns;
    const Meeting found = read(meeting.data());
    EXPECT_EQ(found.come, turns * Meeting::most);
    const std::uint32_t teams = Ranking::of(size).teams;
    std::uint32_t left = 0;
    for (std::uint32_t team = 0; team < teams; ++team) left += found.left[team] == found.come;
    EXPECT_EQ(left, teams - 1);  // all but the last
  }
}

}  // namespace
