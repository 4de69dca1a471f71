// The algorithms for study, each through the public functions, element by element against a stable
// reference: sizes around tile edges, awkward data, both orders, ranges of bits, every parameter.
#include <sstream>

#include "support/events.hpp"
#include "support/refused.hpp"
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
      {Algorithm::ha_kruger_silva, {}},
      {Algorithm::ha_kruger_silva, {.separate_arrays = true}},
      {Algorithm::ha_kruger_silva, {.map = RangeMap::exact}},
      {Algorithm::hp_stable, {}},
      {Algorithm::hp_stable, {.digit_bits = 6, .scan = ArrayScan::circular_in_order}},
      {Algorithm::hp_stable, {.digit_bits = 1, .map = RangeMap::exact}},
      {Algorithm::transposed, {}},
      {Algorithm::transposed, {.digit_bits = 3, .threads = 128, .items = 1, .copies = 8}},
      {Algorithm::transposed, {.threads = 512, .items = 3, .map = RangeMap::exact}},
      {Algorithm::one_team, {}},
      {Algorithm::one_team, {.digit_bits = 11, .map = RangeMap::exact}},
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
  std::ostringstream text;
  text << name(what.algorithm) << ' ' << what.study;
  return text.str();
}

/// Around the edges of this algorithm's tiles.
template <class T>
std::vector<std::size_t> sizes_of(const Named& what) {
  const Kokkos::View<T*, Memory> keys("keys", 2);
  const std::size_t planned = kradix::plan(Space{}, keys, options_of(what)).tile;
  const std::size_t tile = std::max<std::size_t>(planned, 1021);
  std::vector<std::size_t> sizes{0, 1, 2, 3, 33, 257, tile - 1, tile};
  if (what.algorithm != Algorithm::one_team) {
    for (const std::size_t more : {tile + 1, 2 * tile - 1, 3 * tile + 1}) sizes.push_back(more);
  }
  return sizes;
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

template <class T>
class StudyBits : public Study<T> {};
using Unsigned = ::testing::Types<std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(StudyBits, Unsigned);

TYPED_TEST(StudyBits, OnlyTheChosenBitsOrder) {
  constexpr int bits = 8 * sizeof(TypeParam);
  const auto input = keys::make<TypeParam>(keys::Pattern::uniform, 3001, this->random_);
  {
    for (const Named& what : all_cases()) {
      for (const auto& [begin, end] : {std::pair{0, 0}, {bits, bits}, {3, 8}, {1, bits - 1}}) {
        SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed() << ", " << text_of(what)
                                          << ", bits " << begin << ":" << end);
        kradix::Options options = options_of(what);
        options.bits = {begin, end};
        const auto less = [from = begin, to = end](TypeParam a, TypeParam b) {
          return reference::cut_bits(a, from, to) < reference::cut_bits(b, from, to);
        };
        const auto indices = reference::sorted_indices(input, less);
        expect_keys_sorted(input, indices, options);
        expect_pairs_sorted(input, indices, options);
        if (this->HasFatalFailure()) return;
      }
    }
  }
}

/// Keys of every width; values that travel as words of 8 bytes, and those that follow an index.
template <class T>
class StudyTypes : public Study<T> {};
using OtherKeys = ::testing::Types<bool, std::int8_t, std::uint16_t, std::int64_t, double,
                                   kradix::float16_bits, kradix::bfloat16_bits
#ifdef KRADIX_HAVE_INT128
                                   ,
                                   kradix::impl::int128
#endif
                                   >;
TYPED_TEST_SUITE(StudyTypes, OtherKeys);

struct Three {
  char byte[3];
};

template <class Value>
Value value_of_index(std::size_t i) {
  Value value{};
  std::memcpy(&value, &i, std::min(sizeof value, sizeof i));
  return value;
}

template <class T, class Value>
void expect_values_moved(const std::vector<T>& input, const std::vector<std::size_t>& indices,
                         const kradix::Options& options) {
  std::vector<Value> values(input.size()), expected;
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = value_of_index<Value>(i);
  for (const std::size_t i : indices) expected.push_back(values[i]);
  const auto device_keys = to_device(input);
  const auto device_values = to_device(values);
  const Space exec;
  kradix::sort_by_key(exec, device_keys, device_values, options);
  exec.fence();
  expect_same(permuted(input, indices), to_host(device_keys), "keys");
  expect_same(expected, to_host(device_values), "values");
}

TYPED_TEST(StudyTypes, KeysOfEveryWidthAndValuesOfEverySize) {
  for (const Named& what : all_cases()) {
    const auto input = keys::make<TypeParam>(keys::Pattern::awkward, 2500, this->random_);
    SCOPED_TRACE(::testing::Message() << "seed " << keys::fresh_seed() << ", " << text_of(what));
    const auto indices = reference::sorted_indices(input, Order::ascending);
    expect_keys_sorted(input, indices, options_of(what));
    expect_values_moved<TypeParam, double>(input, indices, options_of(what));
    expect_values_moved<TypeParam, std::uint16_t>(input, indices, options_of(what));
    expect_values_moved<TypeParam, Three>(input, indices, options_of(what));
    if (this->HasFatalFailure()) return;
  }
}

TEST(StudyViews, StridedKeysAndValues) {
  std::mt19937_64 random{keys::fresh_seed()};
  const auto input = keys::make<std::uint32_t>(keys::Pattern::uniform, 2000, random);
  const auto indices = reference::sorted_indices(input, Order::ascending);
  for (const Named& what : all_cases()) {
    SCOPED_TRACE(text_of(what));
    using Matrix = Kokkos::View<std::uint32_t**, Kokkos::LayoutRight, Memory>;
    const Matrix keys_among("keys among", input.size(), 3);
    const Matrix values_among("values among", input.size(), 3);
    const auto device_keys = Kokkos::subview(keys_among, Kokkos::ALL, 1);
    const auto device_values = Kokkos::subview(values_among, Kokkos::ALL, 2);
    Kokkos::deep_copy(Space{}, device_keys, to_device(input));
    Kokkos::deep_copy(Space{}, device_values, to_device(input));
    kradix::sort_by_key(Space{}, device_keys, device_values, options_of(what));
    Kokkos::fence();
    expect_same(permuted(input, indices), to_host(device_keys), "keys");
    expect_same(permuted(input, indices), to_host(device_values), "values");
  }
}

TEST(StudyEvents, NamedKernelsAndWithAWarmWorkspaceNothingElse) {
  const Kokkos::View<std::uint16_t*, Memory> keys("keys", 3000);
  kradix::Workspace workspace;
  for (const Algorithm algorithm : kradix::all_algorithms) {
    // Equal keys are not distinct.
    if (!is_study(algorithm) || algorithm == Algorithm::hp_distinct) continue;
    const std::string start = "kradix::" + std::string(name(algorithm)) + "::";
    const bool waits =
        algorithm == Algorithm::hp_sort || algorithm == Algorithm::hp_compressed ||
        (algorithm == Algorithm::serial_radix && !kradix::impl::is_host_space<Space>);
    kradix::Options options = options_of({algorithm, {}});
    options.workspace = &workspace;
    const Space exec;
    kradix::sort(exec, keys, options);
    exec.fence();
    {
      const Listener listener;
      kradix::sort(exec, keys, options);
    }
    ASSERT_FALSE(Listener::of(Event::kernel).empty());
    for (const Event& event : Listener::events()) {
      if (event.kind == Event::kernel) {
        EXPECT_EQ(event.label.rfind(start, 0), 0u) << event.label;
      } else if (event.kind != Event::region && event.kind != Event::region_end && !waits) {
        if (event.label.find("Kokkos::Threads") != std::string::npos) continue;
        ADD_FAILURE() << name(algorithm) << ", event " << event.kind << ": " << event.label;
      }
    }
    exec.fence();
  }
}

TEST(StudyErrors, ParametersOutOfRange) {
  const Kokkos::View<std::uint32_t*, Memory> keys("keys", 5000);
  const Kokkos::View<float*, Memory> floats("floats", 100);
  const Space exec;
  const auto sort = [&](Algorithm algorithm, const kradix::StudyOptions& study) {
    return [&exec, &keys, algorithm, study] {
      kradix::sort(exec, keys, options_of({algorithm, study}));
    };
  };
  expect_message(sort(Algorithm::satish, {.digit_bits = 9}), {"satish", "1 to 8", "not 9"});
  expect_message(sort(Algorithm::serial_radix, {.digit_bits = -1}), {"serial_radix", "not -1"});
  expect_message(sort(Algorithm::four_prefix, {.digit_bits = 3}), {"1 to 2 bits", "not 3"});
  expect_message(sort(Algorithm::transposed, {.threads = 96}), {"transposed", "not 96"});
  expect_message(sort(Algorithm::transposed, {.threads = 512, .items = 21}),
                 {"1 to 20 items", "512", "not 21"});
  expect_message(sort(Algorithm::transposed, {.items = 33}), {"1 to 32 items", "not 33"});
  expect_message(sort(Algorithm::transposed, {.copies = 9}), {"1 to 8 copies", "not 9"});
  expect_message(sort(Algorithm::satish, {.map = static_cast<kradix::RangeMap>(7)}), {"map 7"});
  expect_message(sort(Algorithm::satish, {.scan = static_cast<kradix::ArrayScan>(9)}), {"scan 9"});
  expect_message(sort(Algorithm::one_team, {}), {"one_team", "at most 4096", "5000"});
  expect_message(sort(Algorithm::satish, {.map = kradix::RangeMap::approximate}),
                 {"satish", "integers of 32 bits"});
  kradix::Options bits = options_of({Algorithm::satish, {.map = kradix::RangeMap::approximate}});
  bits.bits = {0, 31};
  expect_message([&] { kradix::sort(exec, floats, bits); }, {"floats", "[0, 31)"});
}

TEST(StudyOptions, ReadAndWritten) {
  using kradix::study_from_text;
  EXPECT_EQ(study_from_text(""), kradix::StudyOptions{});
  const kradix::StudyOptions all{.digit_bits = 4,
                                 .tiles = 12345678901,
                                 .threads = 128,
                                 .items = 7,
                                 .copies = 2,
                                 .separate_arrays = true,
                                 .range_begin = 5,
                                 .range_end = ~std::uint64_t{0},
                                 .interleaves_loads = true,
                                 .map = kradix::RangeMap::approximate,
                                 .scan = kradix::ArrayScan::circular};
  std::ostringstream text;
  text << all;
  EXPECT_EQ(text.str(),
            "digit_bits=4,tiles=12345678901,threads=128,items=7,copies=2,separate_arrays=1,"
            "range=5:18446744073709551615,interleaves_loads=1,map=approximate,scan=circular");
  EXPECT_EQ(study_from_text(text.str()), all);
  for (const char* wrong : {"digit_bits", "digit_bits=x", "digit_bits=", "bits=3", "range=7",
                            "map=linear", "scan=circular,,", "scan=5"}) {
    EXPECT_THROW(study_from_text(wrong), std::invalid_argument) << wrong;
  }
}

struct Point {
  int x;
};

}  // namespace

template <>
struct kradix::KeyCodec<Point> {
  KOKKOS_FUNCTION static auto encode(const Point& point) { return kradix::key_bits(point.x); }
};

namespace {

TEST(StudyErrors, KeysOfUsersOwn) {
  const Kokkos::View<Point*, Memory> points("points", 10);
  expect_message(
      [&] {
        kradix::sort(Space{}, points, options_of({Algorithm::satish, {}}));
      },
      {"satish", "built-in keys"});
}

}  // namespace
