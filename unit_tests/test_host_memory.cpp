// Objects and bytes that hosts write in whole lines, past the caches or not: what is asked for, and nothing beside it.
#include <algorithm>
#include <array>
#include <bit>
#include <gtest/gtest.h>
#include <random>
#include <string>
#include <vector>

#include "kradix/impl/host/memory.hpp"
#include "support/keys.hpp"

namespace {

using namespace kradix::impl;

std::string seed_text() {
  return "seed " + std::to_string(keys::fresh_seed());
}

/// Memory and what is to be there, both of any bytes.
struct Page {
  static constexpr std::size_t bytes = 8192;
  alignas(line_bytes) std::byte memory[bytes];
  std::vector<std::byte> expected;
  Page() : expected(bytes, std::byte{77}) { std::fill_n(memory, bytes, std::byte{77}); }
  bool is_as_expected() const { return std::equal(expected.begin(), expected.end(), memory); }
};

template <class T>
class WriteObjects : public ::testing::Test {};
using Objects = ::testing::Types<std::uint8_t, std::uint16_t, std::uint32_t, float, std::uint64_t,
                                 double, std::array<std::byte, 8>, std::array<std::byte, 12>,
                                 std::array<std::uint64_t, 2>, std::array<std::byte, 64>>;
TYPED_TEST_SUITE(WriteObjects, Objects);

TYPED_TEST(WriteObjects, InOrderAndNothingBeside) {
  std::mt19937_64 random{keys::fresh_seed()};
  SCOPED_TRACE(seed_text());
  constexpr std::size_t size = sizeof(TypeParam);
  for (const bool streams : {false, true}) {
    for (int turn = 0; turn < 300; ++turn) {
      Page page;
      const std::size_t first = random() % (2 * line_bytes / std::min(size, line_bytes));
      const std::size_t count = random() % (Page::bytes / size - first);
      std::vector<std::array<std::byte, size>> objects(count);
      for (auto& object : objects) {
        for (std::byte& byte : object) byte = static_cast<std::byte>(random());
      }
      std::byte* const to = page.memory + first * size;
      write_objects(reinterpret_cast<TypeParam*>(to), count, streams,
                    [&](std::size_t i) { return std::bit_cast<TypeParam>(objects[i]); });
      settle_lines();
      for (std::size_t i = 0; i < count; ++i) {
        std::copy_n(objects[i].begin(), size,
                    page.expected.begin() + static_cast<std::ptrdiff_t>((first + i) * size));
      }
      ASSERT_TRUE(page.is_as_expected()) << turn << ": " << count << " from " << first;
    }
  }
}

TEST(WriteBytes, AsTheyAreAndNothingBeside) {
  std::mt19937_64 random{keys::fresh_seed()};
  SCOPED_TRACE(seed_text());
  for (const bool streams : {false, true}) {
    for (int turn = 0; turn < 1000; ++turn) {
      Page page;
      const std::size_t first = random() % 200, count = random() % 700, odd = random() % 64;
      std::vector<std::byte> bytes(odd + count);
      for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
      write_bytes(page.memory + first, bytes.data() + odd, count, streams);
      settle_lines();
      std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(odd), count,
                  page.expected.begin() + static_cast<std::ptrdiff_t>(first));
      ASSERT_TRUE(page.is_as_expected()) << turn << ": " << count << " from " << first;
    }
  }
}

TEST(LineWriter, WritesPiecesOneBehindTheOther) {
  std::mt19937_64 random{keys::fresh_seed()};
  SCOPED_TRACE(seed_text());
  for (const bool streams : {false, true}) {
    for (int turn = 0; turn < 300; ++turn) {
      const std::size_t begin = random() % (2 * line_bytes), count = random() % 12;
      Page page;
      std::size_t at = begin;
      {
        LineWriter writer(page.memory + begin, streams);
        for (std::size_t piece = 0; piece < count; ++piece) {
          std::byte bytes[400];
          const std::size_t size = random() % 5 == 0 ? 0 : random() % std::size(bytes);
          for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
          writer.put(bytes, size);
          std::copy_n(bytes, size, page.expected.begin() + static_cast<std::ptrdiff_t>(at));
          at += size;
          ASSERT_EQ(writer.size(), at - begin);
        }
      }
      settle_lines();
      ASSERT_TRUE(page.is_as_expected()) << turn;
    }
  }
}

}  // namespace
