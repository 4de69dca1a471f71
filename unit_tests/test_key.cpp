// KeyCodec: the order of encoded bits is the order of the keys, for every pair that could matter.
#include <gtest/gtest.h>
#include <tuple>

#include "kradix/sort.hpp"
#include "support/device.hpp"
#include "support/keys.hpp"
#include "support/reference.hpp"

namespace {

/// Without padding: bytes nobody set would not survive a copy.
struct Ghost {
  std::int32_t cell;
  std::uint16_t id, tag;
  float energy;
  float payload[5];
};

struct Narrow {
  std::uint32_t word;
};

}  // namespace

template <>
struct kradix::KeyCodec<Ghost> {
  KOKKOS_FUNCTION static auto encode(const Ghost& g) {
    return kradix::key_bits(g.cell, g.id, g.energy);
  }
};

template <>
struct kradix::KeyCodec<Narrow> {
  KOKKOS_FUNCTION static std::uint32_t encode(const Narrow& n) { return n.word & 0xfffu; }
  static constexpr int bits = 12;
};

namespace {

template <class T>
void expect_order(const T& a, const T& b) {
  const auto x = kradix::KeyCodec<T>::encode(a);
  const auto y = kradix::KeyCodec<T>::encode(b);
  ASSERT_EQ(x < y, reference::before(a, b));
  ASSERT_EQ(y < x, reference::before(b, a));
}

template <class T>
class Codec : public ::testing::Test {};
TYPED_TEST_SUITE(Codec, keys::AllTypes);

TYPED_TEST(Codec, OrdersAwkwardAndRandomKeysAsTheirValues) {
  std::mt19937_64 random{keys::fresh_seed()};
  SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
  auto all = keys::awkward<TypeParam>();
  for (int i = 0; i < 200; ++i)
    all.push_back(keys::from_bits<TypeParam>(keys::random_bits<TypeParam>(random)));
  for (const TypeParam a : all) {
    for (const TypeParam b : all) expect_order<TypeParam>(a, b);
  }
}

TEST(Codec, OrdersEveryHalf) {
  // Neighbours in value order, walked through all 65 536 bit patterns.
  std::vector<kradix::float16_bits> all;
  for (int bits = 0; bits < 0x10000; ++bits) all.push_back({static_cast<std::uint16_t>(bits)});
  const auto indices = reference::sorted_indices(all, kradix::Order::ascending);
  for (std::size_t i = 1; i < indices.size(); ++i)
    expect_order(all[indices[i - 1]], all[indices[i]]);
}

TEST(Codec, KeyBitsOrdersAsTuple) {
  std::mt19937_64 random{keys::fresh_seed()};
  SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
  for (int i = 0; i < 20000; ++i) {
    const auto draw = [&] {
      return std::tuple{static_cast<std::int8_t>(random() % 3 - 1),
                        static_cast<std::int64_t>(random() % 5) - 2,
                        static_cast<float>(random() % 3) - 1.0f};
    };
    const auto a = draw(), b = draw();
    const auto bits = [](const auto& t) {
      return kradix::key_bits(std::get<0>(t), std::get<1>(t), std::get<2>(t));
    };
    static_assert(sizeof(bits(a)) == 16);
    ASSERT_EQ(bits(a) < bits(b), a < b);
  }
}

TEST(Codec, StructKeysSortStablyByTheirCodec) {
  std::mt19937_64 random{keys::fresh_seed()};
  SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
  std::vector<Ghost> ghosts(20011);
  for (auto& g : ghosts) {
    g = {static_cast<std::int32_t>(random() % 40) - 20,
         static_cast<std::uint16_t>(random() % 3),
         7,
         static_cast<float>(random() % 5) - 2.0f,
         {static_cast<float>(random() % 1000), 2, 3, 4, 5}};
  }
  const auto less = [](const Ghost& a, const Ghost& b) {
    return std::tie(a.cell, a.id, a.energy) < std::tie(b.cell, b.id, b.energy);
  };
  for (const auto order : {kradix::Order::ascending, kradix::Order::descending}) {
    kradix::Options options;
    options.order = order;
    options.stability = kradix::Stability::stable;
    const auto indices =
        order == kradix::Order::ascending
            ? reference::sorted_indices(ghosts, less)
            : reference::sorted_indices(ghosts,
                                        [&](const Ghost& a, const Ghost& b) { return less(b, a); });
    const auto view = to_device(ghosts);
    kradix::sort(Space{}, view, options);
    const auto sorted = to_host(view);
    for (std::size_t i = 0; i < ghosts.size(); ++i) {
      ASSERT_EQ(keys::bytes_of(sorted[i]), keys::bytes_of(ghosts[indices[i]])) << i;
    }
  }
}

TEST(Codec, DeclaredBitsBoundThePasses) {
  std::vector<Narrow> narrow;
  for (std::uint32_t i = 0; i < 5000; ++i) narrow.push_back({i * 2654435761u});
  const auto view = to_device(narrow);
  EXPECT_EQ(kradix::plan(Space{}, view).passes, 2);
  kradix::Options options;
  options.order = kradix::Order::descending;
  kradix::sort(Space{}, view, options);
  const auto sorted = to_host(view);
  for (std::size_t i = 1; i < sorted.size(); ++i)
    ASSERT_GE(sorted[i - 1].word & 0xfffu, sorted[i].word & 0xfffu);
}

}  // namespace
