// Prefix sums of whole arrays by every method: sizes around tile edges, more tiles than the circular
// buffer has slots, numbers of all sizes; and the words that tiles exchange.
#include <gtest/gtest.h>
#include <random>

#include "kradix/impl/device/array_scan.hpp"
#include "support/device.hpp"
#include "support/keys.hpp"

namespace {

using namespace kradix::impl;
using kradix::ArrayScan;

constexpr ArrayScan methods[] = {ArrayScan::divide_and_conquer, ArrayScan::chained,
                                 ArrayScan::look_back, ArrayScan::circular_in_order,
                                 ArrayScan::circular};
constexpr std::size_t tile = ScanTile<Space>::size;

void expect_scanned(ArrayScan method, const std::vector<std::uint64_t>& input, bool inclusive) {
  ScratchList list;
  const auto scratch = ArrayScanner<Space>::Scratch::list(input.size(), method, list);
  const Kokkos::View<std::byte*, Memory> memory("memory", list.bytes());
  const auto data = to_device(input);
  const Space exec;
  const ArrayScanner<Space> scanner(exec, method, scratch, aligned_scratch(memory.data()),
                                    "test::");
  scanner.scan({data.data(), input.size(), inclusive, {}});
  exec.fence();
  const auto found = to_host(data);
  std::uint64_t before = 0;
  for (std::size_t i = 0; i < input.size(); ++i) {
    ASSERT_EQ(found[i], inclusive ? before + input[i] : before) << i;
    before += input[i];
  }
}

std::vector<std::uint64_t> numbers(std::size_t count, std::uint64_t most, std::mt19937_64& random) {
  std::vector<std::uint64_t> numbers(count);
  for (std::uint64_t& number : numbers) number = random() % (most + 1);
  return numbers;
}

TEST(ArrayScanner, EveryMethodAndSize) {
  std::mt19937_64 random{keys::fresh_seed()};
  for (const ArrayScan method : methods) {
    if (method != ArrayScan::divide_and_conquer && !has_lanes<Space>) continue;
    for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{7}, tile - 1, tile,
                                    tile + 1, 40 * tile + 3}) {
      for (const std::uint64_t most : {std::uint64_t{1}, std::uint64_t{1} << 25}) {
        SCOPED_TRACE(::testing::Message()
                     << "seed " << keys::fresh_seed() << ", method " << static_cast<int>(method)
                     << ", count " << count << ", most " << most);
        expect_scanned(method, numbers(count, most, random), false);
        expect_scanned(method, numbers(count, most, random), true);
      }
    }
  }
}

TEST(ArrayScanner, MoreTilesThanSlotsGoRoundTheBuffer) {
  std::mt19937_64 random{keys::fresh_seed()};
  if (!has_lanes<Space>) GTEST_SKIP() << "no lanes";
  const std::size_t slots = std::size_t{1} << ChainShape::slot_bits;
  const auto input = numbers((2 * slots + 300) * tile + 5, 1000, random);
  for (const ArrayScan method : methods) {
    SCOPED_TRACE(::testing::Message()
                 << "seed " << keys::fresh_seed() << ", method " << static_cast<int>(method));
    expect_scanned(method, input, true);
  }
}

TEST(ChainShape, CircularBuffersStaySmall) {
  for (const ArrayScan method : {ArrayScan::circular, ArrayScan::circular_in_order}) {
    EXPECT_EQ(ChainShape(method).words(1 << 20), ChainShape::counters + 1024);
    EXPECT_EQ(ChainShape(method).words(10), ChainShape::counters + 10);
  }
  EXPECT_EQ(ChainShape(ArrayScan::look_back).words(1 << 20), ChainShape::counters + (1 << 20));
}

TEST(ChainWord, KeepsWhatItIsGiven) {
  const std::uint64_t most = (std::uint64_t{1} << ChainWord::sum_bits) - 1;
  for (const std::uint64_t turn : {0u, 1u, (1u << ChainWord::turn_bits) - 1}) {
    for (const std::uint64_t sum : {std::uint64_t{0}, std::uint64_t{12345}, most}) {
      for (const auto kind : {ChainWord::own, ChainWord::inclusive}) {
        const ChainWord word = ChainWord::make(kind, turn, sum);
        EXPECT_EQ(word.kind(), kind);
        EXPECT_EQ(word.sum(), sum);
        EXPECT_TRUE(word.is_of(turn));
        EXPECT_FALSE(word.is_of(turn ^ 1));
      }
    }
  }
  EXPECT_FALSE(ChainWord{0}.is_of(0)) << "cleared memory belongs to nobody";
}

}  // namespace
