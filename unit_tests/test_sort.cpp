// Every public operation, element by element against a stable reference: all key types, both orders,
// sizes around every round and tile edge, awkward data.
#include "support/sorted.hpp"

namespace {

using kradix::Order;

/// sort in both forms, sort_by_key and argsort give exactly what `indices` says.
template <class T>
void expect_sorted(const std::vector<T>& input, const std::vector<std::size_t>& indices,
                   kradix::Options options) {
  options.stability = kradix::Stability::stable;
  expect_keys_sorted(input, indices, options);
  expect_pairs_sorted(input, indices, options);
}

template <class T>
class Sort : public ::testing::Test {
 protected:
  std::mt19937_64 random_{keys::fresh_seed()};
};
TYPED_TEST_SUITE(Sort, keys::AllTypes);

// 1024 is the least round of a host thread, 4864 the round of a device team.
constexpr std::size_t sizes[] = {0,    1,    2,    3,    31,   33,   255,  256,  257,  1023, 1024,
                                 1025, 2047, 2049, 4863, 4864, 4865, 9727, 9728, 9729, 40000};

TYPED_TEST(Sort, EverySizePatternAndOrder) {
  for (const std::size_t size : sizes) {
    for (const keys::Pattern pattern : keys::all_patterns) {
      const auto input = keys::make<TypeParam>(pattern, size, this->random_);
      for (const Order order : {Order::ascending, Order::descending}) {
        SCOPED_TRACE(::testing::Message()
                     << "seed " << keys::fresh_seed() << ", size " << size << ", pattern "
                     << static_cast<int>(pattern) << ", order " << static_cast<int>(order));
        kradix::Options options;
        options.order = order;
        expect_sorted(input, reference::sorted_indices(input, order), options);
        if (this->HasFatalFailure()) return;
      }
    }
  }
}

TYPED_TEST(Sort, EveryAlgorithmForced) {
  const auto input = keys::make<TypeParam>(keys::Pattern::uniform, 30011, this->random_);
  const auto indices = reference::sorted_indices(input, Order::ascending);
  for (const kradix::Algorithm algorithm : kradix::all_algorithms) {
    if (is_study(algorithm)) continue;  // test_study.cpp
    SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed() << ", " << name(algorithm));
    const bool finishes =
        algorithm == kradix::Algorithm::msd_hybrid || algorithm == kradix::Algorithm::small_msd;
    if (finishes && sizeof(TypeParam) < 4) continue;
    if (algorithm == kradix::Algorithm::counting) continue;  // test_counting.cpp
    const bool on_hosts = algorithm == kradix::Algorithm::blocked_radix;
    if (on_hosts && !kradix::impl::works_at_once<Space>) continue;
    kradix::Options options;
    options.algorithm = algorithm;
    EXPECT_EQ(kradix::plan(Space{}, to_device(input), options).algorithm, algorithm);
    expect_sorted(input, indices, options);
  }
}

/// Floats alone: equal keys that differ in bits come in one order, whatever the order of the input.
template <class T>
class SortFloats : public Sort<T> {};
using Floats = ::testing::Types<float, double, kradix::float16_bits, kradix::bfloat16_bits>;
TYPED_TEST_SUITE(SortFloats, Floats);

TYPED_TEST(SortFloats, TheResultDependsOnTheSetOfKeysAlone) {
  for (const std::size_t size : {3u, 31u, 300u, 9000u, 200000u}) {
    auto input = keys::make<TypeParam>(keys::Pattern::awkward, size, this->random_);
    for (const Order order : {Order::ascending, Order::descending}) {
      SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed() << ", size " << size
                                        << ", order " << static_cast<int>(order));
      std::shuffle(input.begin(), input.end(), this->random_);
      kradix::Options options;
      options.order = order;
      const auto indices = reference::sorted_indices_in_bits(input, order);
      expect_keys_sorted(input, indices, options);
      if (this->HasFatalFailure()) return;
    }
  }
}

template <class T>
class SortBits : public Sort<T> {};
using Integers = ::testing::Types<std::int8_t, std::uint16_t, std::int32_t, std::uint64_t
#ifdef KRADIX_HAVE_INT128
                                  ,
                                  kradix::impl::int128
#endif
                                  >;
TYPED_TEST_SUITE(SortBits, Integers);

TYPED_TEST(SortBits, OnlyTheChosenBitsOrder) {
  constexpr int bits = 8 * sizeof(TypeParam);
  const auto input = keys::make<TypeParam>(keys::Pattern::uniform, 5003, this->random_);
  using kradix::Algorithm;
  for (const Algorithm algorithm :
       {Algorithm::automatic, Algorithm::onesweep, Algorithm::small_msd}) {
    const bool forced = algorithm != Algorithm::automatic;
    if (forced && !kradix::impl::has_lanes<Space>) continue;
    if (algorithm == Algorithm::small_msd && sizeof(TypeParam) < 4) continue;
    for (const auto& [begin, end] : {std::pair{0, bits},
                                     {0, 0},
                                     {bits, bits},
                                     {0, 1},
                                     {bits - 1, bits},
                                     {3, 8},
                                     {bits / 2, bits},
                                     {1, bits - 1},
                                     {0, bits / 2 + 1}}) {
      SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed() << ", " << name(algorithm)
                                        << ", bits " << begin << ":" << end);
      kradix::Options options;
      options.algorithm = algorithm;
      options.bits = {begin, end};
      const auto ascending = [&](TypeParam a, TypeParam b) {
        return reference::cut_bits(a, options.bits.begin, options.bits.end) <
               reference::cut_bits(b, options.bits.begin, options.bits.end);
      };
      expect_sorted(input, reference::sorted_indices(input, ascending), options);
      options.order = Order::descending;
      const auto descending = [&](TypeParam a, TypeParam b) { return ascending(b, a); };
      expect_sorted(input, reference::sorted_indices(input, descending), options);
    }
  }
}

TEST(SortWhole, ManyTilesOfUniformKeys) {
  std::mt19937_64 random{keys::fresh_seed()};
  SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed());
  const auto input = keys::make<std::uint32_t>(keys::Pattern::uniform, 1500007, random);
  expect_sorted(input, reference::sorted_indices(input, Order::ascending), {});
  const auto wide = keys::make<std::uint64_t>(keys::Pattern::uniform, 1500007, random);
  expect_sorted(wide, reference::sorted_indices(wide, Order::ascending), {});
}

TEST(SortWhole, WithoutAnInstanceItHasFinishedOnReturn) {
  std::mt19937_64 random{keys::fresh_seed()};
  const auto input = keys::make<double>(keys::Pattern::awkward, 9001, random);
  const auto indices = reference::sorted_indices(input, Order::ascending);
  const auto expected = permuted(input, indices);
  const auto keys = to_device(input);
  const Kokkos::View<double*, Memory> sorted("sorted", input.size());
  kradix::Options options;
  options.stability = kradix::Stability::stable;
  kradix::sort(keys, sorted, options);
  expect_same(expected, to_host(sorted), "sort(in, out)");
  const Kokkos::View<std::int64_t*, Memory> permutation("permutation", input.size());
  kradix::argsort(keys, permutation);
  const auto found = to_host(permutation);
  for (std::size_t i = 0; i < indices.size(); ++i)
    ASSERT_EQ(static_cast<std::size_t>(found[i]), indices[i]);
  const auto values = to_device(input);
  const Kokkos::View<double*, Memory> values_sorted("values_sorted", input.size());
  Kokkos::deep_copy(sorted, 0.0);
  kradix::sort_by_key(keys, values, sorted, values_sorted);
  expect_same(expected, to_host(sorted), "keys of sort_by_key(in, out)");
  expect_same(expected, to_host(values_sorted), "values of sort_by_key(in, out)");
  kradix::sort_by_key(keys, values);
  expect_same(expected, to_host(values), "values of sort_by_key");
  kradix::sort(values, options);
  expect_same(expected, to_host(values), "sort of sorted keys");
  EXPECT_EQ(kradix::plan(keys).count, input.size());
}

}  // namespace
