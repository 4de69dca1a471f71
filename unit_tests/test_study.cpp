// The algorithms for study, each through the public functions, element by element against a stable
// reference: sizes around tile edges, awkward data, both orders, ranges of bits, every parameter.
#include "support/sorted.hpp"

namespace {

using kradix::Algorithm;
using kradix::Order;

struct Named {
  Algorithm algorithm;
  kradix::StudyOptions study;
};

/// Every algorithm for study that sorts any keys with any values, with the parameters worth trying.
std::vector<Named> all_cases() {
  using kradix::ArrayScan;
  using kradix::RangeMap;
  return {
      {Algorithm::bit_split, {}},
      {Algorithm::bit_split, {.map = RangeMap::exact, .scan = ArrayScan::look_back}},
      {Algorithm::serial_radix, {}},
      {Algorithm::serial_radix, {.digit_bits = 11, .map = RangeMap::exact}},
      {Algorithm::zagha_blelloch, {}},
      {Algorithm::zagha_blelloch, {.digit_bits = 5, .tiles = 7}},
      {Algorithm::zagha_blelloch, {.digit_bits = 13, .tiles = 3, .map = RangeMap::exact}},
      {Algorithm::satish, {}},
      {Algorithm::satish, {.digit_bits = 1, .scan = ArrayScan::chained}},
      {Algorithm::satish, {.digit_bits = 7, .map = RangeMap::exact}},
      {Algorithm::four_prefix, {}},
      {Algorithm::four_prefix, {.map = RangeMap::exact, .scan = ArrayScan::circular}},
  };
}

kradix::Options options_of(const Named& what, Order order = Order::ascending) {
  kradix::Options options;
  options.algorithm = what.algorithm;
  options.study = what.study;
  options.order = order;
  options.stability = kradix::Stability::stable;
  return options;
}

std::string text_of(const Named& what) {
  return std::string(name(what.algorithm)) + ", digit bits " +
         std::to_string(what.study.digit_bits) + ", tiles " + std::to_string(what.study.tiles) +
         ", map " + std::to_string(static_cast<int>(what.study.map)) + ", scan " +
         std::to_string(static_cast<int>(what.study.scan));
}

/// Around the edges of this algorithm's tiles.
template <class T>
std::vector<std::size_t> sizes_of(const Named& what) {
  const Kokkos::View<T*, Memory> keys("keys", 2);
  const std::size_t tile = kradix::plan(Space{}, keys, options_of(what)).tile;
  return {0, 1, 2, 3, 33, 257, tile - 1, tile, tile + 1, 2 * tile - 1, 3 * tile + 1};
}

template <class T>
class Study : public ::testing::Test {
 protected:
  std::mt19937_64 random_{keys::fresh_seed()};
};
using Keys = ::testing::Types<std::uint32_t, std::uint64_t, float>;
TYPED_TEST_SUITE(Study, Keys);

TYPED_TEST(Study, EverySizePatternAndOrder) {
  for (const Named& what : all_cases()) {
    const auto sizes = sizes_of<TypeParam>(what);
    for (const std::size_t size : sizes) {
      for (const keys::Pattern pattern : keys::all_patterns) {
        // All patterns where a tile has a neighbour, some of them elsewhere.
        if (size != sizes.back() && this->random_() % 4 != 0) continue;
        const auto input = keys::make<TypeParam>(pattern, size, this->random_);
        const Order order = this->random_() % 2 == 0 ? Order::ascending : Order::descending;
        SCOPED_TRACE(::testing::Message()
                     << "seed " << keys::fresh_seed() << ", " << text_of(what) << ", size " << size
                     << ", pattern " << static_cast<int>(pattern) << ", order "
                     << static_cast<int>(order));
        const auto indices = reference::sorted_indices(input, order);
        expect_keys_sorted(input, indices, options_of(what, order));
        expect_pairs_sorted(input, indices, options_of(what, order));
        if (this->HasFatalFailure()) return;
      }
    }
  }
}

}  // namespace
