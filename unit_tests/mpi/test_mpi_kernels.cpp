// The kernels that move elements on one rank: the partition and the merge, beside the host's.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <gtest/gtest.h>
#include <numeric>
#include <vector>

#include "kradix/impl/mpi/merge.hpp"
#include "kradix/impl/mpi/partition.hpp"
#include "kradix/impl/mpi/shown_runs.hpp"
#include "mpi/world.hpp"
#include "support/device.hpp"
#include "support/inputs.hpp"
#include "support/keys.hpp"

namespace {

using namespace kradix::impl;
using namespace kradix::impl::mpi;

template <class Key>
using CodecFor = RangeCodec<codec_of<Key>>;
template <class Key>
CodecFor<Key> codec_for() {
  return {make_codec<Key>(kradix::Order::ascending), 0, codec_of<Key>::bits};
}

/// Random keys of which about so many are distinct (0: any).
template <class Key>
std::vector<Key> random_keys(std::size_t count, std::uint64_t distinct, std::uint64_t seed) {
  std::vector<Key> keys(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t random = inputs::mix(seed + i);
    keys[i] = static_cast<Key>(distinct == 0 ? random : inputs::mix(random % distinct));
  }
  return keys;
}

std::vector<std::uint64_t> count_up(std::size_t count) {
  std::vector<std::uint64_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), std::uint64_t{0});
  return numbers;
}

/// The order in which `less` puts the keys, stably.
template <class Less>
std::vector<std::uint64_t> stable_order(std::size_t count, const Less& less) {
  std::vector<std::uint64_t> order = count_up(count);
  std::stable_sort(order.begin(), order.end(), less);
  return order;
}

template <class T>
std::vector<T> in_order(const std::vector<T>& all, const std::vector<std::uint64_t>& order) {
  std::vector<T> moved;
  for (const std::uint64_t i : order) moved.push_back(all[static_cast<std::size_t>(i)]);
  return moved;
}

template <class Key>
void expect_partitioned(const std::vector<Key>& keys, std::size_t bound_count, std::uint64_t seed) {
  using Codec = CodecFor<Key>;
  using Bits = typename Codec::bits_type;
  const Codec codec = codec_for<Key>();
  std::vector<Bits> bits;
  for (std::size_t b = 0; b < bound_count; ++b) {  // some equal keys, most do not
    bits.push_back(codec.encode(b % 2 && !keys.empty() ? keys[inputs::mix(seed + b) % keys.size()]
                                                       : static_cast<Key>(inputs::mix(seed - b))));
  }
  std::sort(bits.begin(), bits.end());
  bits.erase(std::unique(bits.begin(), bits.end()), bits.end());
  BoundsOf<Codec> bounds;
  for (const Bits bound : bits) {
    const auto below =
        std::count_if(keys.begin(), keys.end(), [&](Key key) { return codec.encode(key) < bound; });
    bounds.push_back({bound, static_cast<std::uint64_t>(below)});
  }
  const auto class_of = [&](std::uint64_t i) {
    return std::upper_bound(bits.begin(), bits.end(),
                            codec.encode(keys[static_cast<std::size_t>(i)]));
  };
  const auto order = stable_order(
      keys.size(), [&](std::uint64_t a, std::uint64_t b) { return class_of(a) < class_of(b); });
  using Value = std::uint64_t;
  const Space exec;
  const auto keys_in = to_device(keys);
  const auto keys_out = to_device(std::vector<Key>(keys.size()));
  const auto values_out = to_device(std::vector<Value>(keys.size()));
  const auto run = [&](auto& partition, auto... values) {
    ScratchList list;
    partition.list(list);
    kradix::Workspace workspace;
    std::byte* const base = aligned_scratch(workspace.reserve(exec, list.bytes(), "test"));
    partition.run(base, codec, bounds, keys_in.data(), keys_out.data(), values..., "test");
    exec.fence("test");
  };
  Partition<Space, Key, Value> pairs(exec, keys.size());
  static_assert(decltype(pairs)::exists);
  run(pairs, static_cast<const Value*>(nullptr), values_out.data());
  EXPECT_EQ(to_host(keys_out), in_order(keys, order));
  EXPECT_EQ(to_host(values_out), order);
  const auto values_in = to_device(random_keys<Value>(keys.size(), 0, seed));
  run(pairs, static_cast<const Value*>(values_in.data()), values_out.data());
  EXPECT_EQ(to_host(values_out), in_order(to_host(values_in), order));
  Partition<Space, Key, NoValue> alone(exec, keys.size());
  Kokkos::deep_copy(keys_out, Key{});
  run(alone, static_cast<const NoValue*>(nullptr), static_cast<NoValue*>(nullptr));
  EXPECT_EQ(to_host(keys_out), in_order(keys, order));
}

TEST(MpiKernels, PartitionsStably) {
  const std::uint64_t seed = keys::fresh_seed();
  SCOPED_TRACE("seed " + std::to_string(seed));
  const auto tile = static_cast<std::size_t>(partition_shape<Space>(8, 0).round());
  for (const std::size_t count :
       {std::size_t{0}, std::size_t{1}, tile - 1, tile, tile + 1, 9 * tile + 5, 40 * tile}) {
    for (const std::size_t bounds : {0u, 1u, 3u, 15u, 16u, 100u, 254u}) {
      for (const std::uint64_t distinct : {0u, 1u, 5u}) {
        SCOPED_TRACE(std::to_string(count) + " keys, " + std::to_string(bounds) + " bounds, " +
                     std::to_string(distinct) + " kinds");
        expect_partitioned(random_keys<std::uint64_t>(count, distinct, seed), bounds, seed);
      }
    }
  }
  expect_partitioned(random_keys<std::uint8_t>(5000, 0, seed), 254, seed);
  expect_partitioned(random_keys<std::uint32_t>(5000, 0, seed), 31, seed);
}

/// A value of any size that tells a place.
template <class Value>
Value value_at(std::uint64_t place) {
  Value value{};
  std::memcpy(&value, &place, std::min(sizeof value, sizeof place));
  return value;
}
template <class Value>
std::vector<Value> values_at(const std::vector<std::uint64_t>& places) {
  std::vector<Value> values;
  for (const std::uint64_t place : places) values.push_back(value_at<Value>(place));
  return values;
}

template <class Key, std::size_t ValueBytes>
void expect_merged(std::size_t runs, std::size_t most, std::uint64_t distinct, std::uint64_t seed) {
  std::vector<std::size_t> sizes;
  std::vector<Key> keys;
  for (std::size_t run = 0; run < runs; ++run) {
    const std::size_t length = inputs::mix(seed + 7 * run) % (run % 3 == 2 ? 2 : most + 1);
    std::vector<Key> sorted = random_keys<Key>(length, distinct, seed * run);
    std::sort(sorted.begin(), sorted.end());
    keys.insert(keys.end(), sorted.begin(), sorted.end());
    sizes.push_back(length);
  }
  const auto order = stable_order(keys.size(), [&](std::uint64_t a, std::uint64_t b) {
    return keys[static_cast<std::size_t>(a)] < keys[static_cast<std::size_t>(b)];
  });
  using Value = kradix::impl::value_word<ValueBytes>;
  using Codec = CodecFor<Key>;
  using MergePairs = Merge<Space, Codec, Value>;
  using MergeKeys = Merge<Space, Codec, NoValue>;
  const Space exec;
  kradix::Workspace workspace;
  auto merged = to_device(keys);
  const auto values = to_device(values_at<Value>(count_up(keys.size())));
  std::vector<typename MergePairs::Run> in_place;
  std::vector<typename MergeKeys::Run> alone;
  // Runs that lie apart, in an order of their own.
  const std::size_t gap = 3;
  std::vector<Key> keys_apart(keys.size() + gap * runs, Key{77});
  std::vector<Value> values_apart(keys_apart.size());
  const Kokkos::View<Key*, Memory> keys_from("keys_from", keys_apart.size());
  const Kokkos::View<Value*, Memory> values_from("values_from", keys_apart.size());
  std::vector<typename MergePairs::Run> apart;
  std::size_t begin = 0, end = keys_apart.size();
  for (const std::size_t size : sizes) {
    in_place.push_back({merged.data() + begin, values.data() + begin, size});
    alone.push_back({merged.data() + begin, nullptr, size});
    end -= size + gap;
    for (std::size_t i = 0; i < size; ++i) {
      keys_apart[end + i] = keys[begin + i];
      values_apart[end + i] = value_at<Value>(begin + i);
    }
    apart.push_back({keys_from.data() + end, values_from.data() + end, size});
    begin += size;
  }
  MergePairs(exec, codec_for<Key>(), workspace, "test")
      .run(in_place, {merged.data(), values.data()});
  exec.fence("test");
  EXPECT_EQ(to_host(merged), in_order(keys, order));
  EXPECT_TRUE(world::same_bytes(to_host(values), values_at<Value>(order)));
  Kokkos::deep_copy(keys_from, to_device(keys_apart));
  Kokkos::deep_copy(values_from, to_device(values_apart));
  Kokkos::deep_copy(merged, Key{});
  Kokkos::deep_copy(values, value_at<Value>(7));
  MergePairs(exec, codec_for<Key>(), workspace, "test").run(apart, {merged.data(), values.data()});
  exec.fence("test");
  EXPECT_EQ(to_host(merged), in_order(keys, order)) << "apart";
  EXPECT_TRUE(world::same_bytes(to_host(values), values_at<Value>(order))) << "apart";
  Kokkos::deep_copy(merged, to_device(keys));
  MergeKeys(exec, codec_for<Key>(), workspace, "test").run(alone, {merged.data(), nullptr});
  exec.fence("test");
  EXPECT_EQ(to_host(merged), in_order(keys, order));
}

TEST(MpiKernels, MergesStably) {
  const std::uint64_t seed = keys::fresh_seed();
  SCOPED_TRACE("seed " + std::to_string(seed));
  const auto tile = static_cast<std::size_t>(merge_shape<Space>(8, 8).round());
  for (std::size_t runs = 1; runs <= most_merged_runs; ++runs) {
    for (const std::size_t most : {std::size_t{0}, std::size_t{3}, tile, 4 * tile + 999}) {
      for (const std::uint64_t distinct : {0u, 1u, 40u}) {
        SCOPED_TRACE(std::to_string(runs) + " runs of at most " + std::to_string(most) + ", " +
                     std::to_string(distinct) + " kinds");
        expect_merged<std::uint64_t, 8>(runs, most, distinct, seed + runs);
      }
    }
  }
  expect_merged<std::uint32_t, 4>(5, 9000, 0, seed);
  expect_merged<std::uint64_t, 4>(3, 9000, 300, seed);
  expect_merged<std::uint32_t, 16>(5, 9000, 300, seed);
  expect_merged<std::uint8_t, 2>(4, 9000, 0, seed);
}

/// Tiles of eight sorted runs of these keys that were left to be merged; the result is checked. Of keys the lowest `ignored` bits do
/// not count.
std::size_t tiles_left(std::vector<std::uint64_t> keys, int ignored) {
  using Key = std::uint64_t;
  constexpr std::size_t runs = 8;
  const auto less = [&](Key a, Key b) { return a >> ignored < b >> ignored; };
  const Space exec;
  std::vector<std::size_t> begins;
  for (std::size_t run = 0; run <= runs; ++run) begins.push_back(run * keys.size() / runs);
  for (std::size_t run = 0; run < runs; ++run) {
    std::stable_sort(keys.begin() + static_cast<std::ptrdiff_t>(begins[run]),
                     keys.begin() + static_cast<std::ptrdiff_t>(begins[run + 1]), less);
  }
  const auto from = to_device(keys);
  std::vector<SortedRun<Key, NoValue>> all;
  for (std::size_t run = 0; run < runs; ++run) {
    all.push_back({from.data() + begins[run], nullptr, begins[run + 1] - begins[run]});
  }
  const Kokkos::View<Key*, Memory> merged("merged", keys.size());
  const Kokkos::View<std::uint64_t*, Memory> splits("splits",
                                                    most_splits<Space, Key, NoValue>(keys.size()));
  const CodecFor<Key> codec(make_codec<Key>(kradix::Order::ascending), ignored, 64 - ignored);
  kradix::Workspace workspace;
  Merge<Space, CodecFor<Key>, NoValue>(exec, codec, workspace, "test")
      .run(all, {merged.data(), nullptr}, {nullptr, nullptr, splits.data()});
  exec.fence("test");
  std::stable_sort(keys.begin(), keys.end(), less);
  EXPECT_EQ(to_host(merged), keys);
  const auto tile = static_cast<std::size_t>(merge_shape<Space>(8, 0).round());
  return static_cast<std::size_t>(to_host(splits)[runs * ((keys.size() + tile - 1) / tile)]);
}

TEST(MpiKernels, CountsTilesOfKeysThatSpread) {
  const std::uint64_t seed = keys::fresh_seed();
  SCOPED_TRACE("seed " + std::to_string(seed));
  const auto tile = static_cast<std::size_t>(merge_shape<Space>(8, 0).round());
  const std::size_t tiles = 100, count = tiles * tile;
  const auto spread = random_keys<std::uint64_t>(count, 0, seed);
  EXPECT_EQ(tiles_left(spread, 0), 0u);
  EXPECT_EQ(tiles_left({spread.begin(), spread.end() - 1}, 0), 1u) << "not full";
  EXPECT_EQ(tiles_left(std::vector<std::uint64_t>(count, 5), 0), 0u);
  std::vector<std::uint64_t> two_kinds(count, 5);
  std::fill(two_kinds.begin(), two_kinds.begin() + static_cast<std::ptrdiff_t>(count / 2 + 7), 4);
  EXPECT_EQ(tiles_left(two_kinds, 0), 1u) << "where one of them ends";
  EXPECT_EQ(tiles_left(random_keys<std::uint64_t>(count, 10 * tiles, seed), 0), tiles);
  auto close = spread, pairs = spread, crowd = spread;
  for (std::size_t i = 0; i < count; ++i) {
    close[i] = 1000 + spread[i] % (4 * count);
    pairs[i] = spread[i] % (2 * count) << 20 | i % (1 << 20);
    crowd[i] = i % 200 == 0 ? std::uint64_t{7} << 60 : spread[i];
  }
  EXPECT_EQ(tiles_left(close, 0), 0u);
  EXPECT_EQ(tiles_left(pairs, 20), 0u) << "some keys of a kind, in the order of runs";
  const std::size_t left = tiles_left(crowd, 0);
  EXPECT_GE(left, 1u);
  EXPECT_LE(left, 2u);
}

/// Of sorted runs what comes behind the first `cut` elements of all: as if some of them lay afar, tiles searched for while
/// others are merged.
template <class Key, std::size_t ValueBytes>
void expect_merged_behind(std::size_t runs, std::size_t most, std::uint64_t distinct, double cut,
                          bool aside, std::uint64_t seed) {
  using Value = kradix::impl::value_word<ValueBytes>;
  std::vector<Key> keys;
  std::vector<std::size_t> begins;
  for (std::size_t run = 0; run < runs; ++run) {
    begins.push_back(keys.size());
    const std::size_t length = inputs::mix(seed + 5 * run) % (run % 5 == 3 ? 2 : most + 1);
    std::vector<Key> sorted = random_keys<Key>(length, distinct, seed * (run + 1));
    std::sort(sorted.begin(), sorted.end());
    keys.insert(keys.end(), sorted.begin(), sorted.end());
  }
  begins.push_back(keys.size());
  auto order = stable_order(keys.size(), [&](std::uint64_t a, std::uint64_t b) {
    return keys[static_cast<std::size_t>(a)] < keys[static_cast<std::size_t>(b)];
  });
  const auto before = static_cast<std::size_t>(cut * static_cast<double>(keys.size()));
  const auto from = to_device(keys);
  const auto values = to_device(values_at<Value>(count_up(keys.size())));
  const Space exec;
  std::vector<SortedRun<Key, Value>> all;
  std::vector<Kokkos::View<Key*, Memory>> landmarks;
  for (std::size_t run = 0; run < runs; ++run) {
    const std::size_t begin = begins[run], end = begins[run + 1];
    const auto taken = static_cast<std::size_t>(std::count_if(
        order.begin(), order.begin() + before, [&](auto i) { return i >= begin && i < end; }));
    SortedRun<Key, Value> part{from.data() + begin + taken, values.data() + begin + taken,
                               end - begin - taken};
    if (inputs::mix(seed + run) % 3 != 0) {
      landmarks.emplace_back("landmarks", ((end - begin) >> landmark_bits) + 1);
      take_landmarks(exec, "test", static_cast<const Key*>(from.data()) + begin, end - begin,
                     landmarks.back().data());
      part.landmarks = landmarks.back().data() + (taken >> landmark_bits);
      part.lead = taken % landmark_step;
    }
    all.push_back(part);
  }
  order.erase(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(before));
  const Kokkos::View<Key*, Memory> merged("merged", order.size()), other("other", order.size());
  const Kokkos::View<Value*, Memory> moved("moved", order.size()),
      other_values("other", order.size());
  const Kokkos::View<std::uint64_t*, Memory> splits("splits",
                                                    most_splits<Space, Key, Value>(order.size()));
  SecondInstance<Space> second;
  kradix::Workspace workspace;
  exec.fence("test");
  Merge<Space, CodecFor<Key>, Value>(exec, codec_for<Key>(), workspace, "test",
                                     aside ? &second : nullptr)
      .search_at_once(1)
      .run(all, {merged.data(), moved.data()}, {other.data(), other_values.data(), splits.data()});
  exec.fence("test");
  EXPECT_EQ(to_host(merged), in_order(keys, order));
  EXPECT_TRUE(world::same_bytes(to_host(moved), values_at<Value>(order)));
}

TEST(MpiKernels, MergesWhatLiesAfar) {
  const std::uint64_t seed = keys::fresh_seed();
  SCOPED_TRACE("seed " + std::to_string(seed));
  const auto tile = static_cast<std::size_t>(merge_shape<Space>(8, 4).round());
  for (std::size_t runs = 1; runs <= most_merged_runs; runs += runs < 6 ? 1 : 5) {
    for (const std::size_t most : {std::size_t{70}, tile, 8 * tile + 99, 40 * tile}) {
      for (const std::uint64_t distinct : {0u, 1u, 7u}) {
        for (const double cut : {0.0, 0.3, 0.999}) {
          SCOPED_TRACE(std::to_string(runs) + " runs of at most " + std::to_string(most) + ", " +
                       std::to_string(distinct) + " kinds, behind " + std::to_string(cut));
          expect_merged_behind<std::uint64_t, 4>(runs, most, distinct, cut, most > tile,
                                                 seed + runs);
        }
      }
    }
  }
  expect_merged_behind<std::uint32_t, 4>(2, 40 * tile, 0, 0.5, true, seed);
  expect_merged_behind<std::uint32_t, 8>(4, 40 * tile, 0, 0.5, true, seed);
}

}  // namespace
