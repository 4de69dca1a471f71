// One sort by msd_hybrid with shapes so small that few elements make many tiles and chunks.
#pragma once

#include <algorithm>
#include <bit>
#include <gtest/gtest.h>
#include <optional>
#include <set>
#include <vector>

#include "kradix/impl/msd_hybrid.hpp"
#include "kradix/workspace.hpp"
#include "support/device.hpp"
#include "support/keys.hpp"

namespace hybrid {

using namespace kradix::impl;
using kradix::Order;

inline constexpr bool on_host = is_host_space<Space>;
inline constexpr TeamShape sweep_with = on_host ? TeamShape{1, 64} : TeamShape{256, 4, 1};
inline constexpr TeamShape small_finish = on_host ? TeamShape{1, 512} : TeamShape{256, 2, 1};
/// A team has 48 KB of scratch.
constexpr TeamShape alone_with(std::size_t key_bytes) {
  return on_host ? TeamShape{1, 4352} : TeamShape{256, key_bytes <= 8 ? 20 : 8, 1};
}
inline constexpr TeamShape large_finish = on_host ? TeamShape{1, 4352} : TeamShape{256, 17, 1};
/// A finish is worth while whatever the keys.
inline constexpr RouteRule always{.run = 1e30, .most = 1e30, .close = 1e30};
/// The same, digit by digit.
inline constexpr RouteRule by_digits{.run = 1e30, .most = 1e30, .close = -1, .gain = -1e30};
/// Neighbours out of order are mended, after one sweep or a few.
inline constexpr RouteRule by_mending{
    .run = 1e30, .most = 1e30, .close = -1, .gain = 1e30, .differ = 1e30, .mend_gain = -1e30};

/// What travels with the keys, and which of the results is wanted.
struct Movement {
  bool in_place = true;
  bool makes_indices = false;
  bool leaves_keys = false;
  std::optional<bool> waits{};  ///< the host, for what the device chooses
  bool deals = false;           ///< keys alone out to bins, if they are even
  bool ranges = false;          ///< sorts by bins of a short range, if keys lie in one
};

template <class Key>
struct Sorted {
  std::vector<Key> keys;
  std::vector<std::uint64_t> values;
  Route route;
};

/// `Value` is NoValue or an unsigned integer: element i has the value i.
template <TeamShape Finish, class Value, class Key, class Codec>
Sorted<Key> sort(const std::vector<Key>& input, const Codec& codec, const Movement& movement,
                 const RouteRule& rule, kradix::BitRange bits = {0, Codec::bits},
                 const LookBackShape& look_back = {}) {
  using Word = typename Codec::key_type;
  constexpr bool with_values = !std::is_same_v<Value, NoValue>;
  using Index = std::conditional_t<with_values, Value, std::uint32_t>;
  const std::size_t count = input.size();
  kradix::Plan plan;
  plan.count = count;
  plan.key_bytes = sizeof(Key);
  plan.value_bytes = with_values ? sizeof(Index) : 0;
  plan.bits = bits;
  plan.passes = (bits.end - bits.begin + digit_bits - 1) / digit_bits;
  plan.round = plan.tile = static_cast<std::size_t>(sweep_with.round());
  plan.chunk = static_cast<std::size_t>(Finish.round());
  plan.crowded_chunk =
      static_cast<std::size_t>(std::min(Finish.round(), alone_with(sizeof(Word)).round()));
  plan.tiles = (count + plan.tile - 1) / plan.tile;
  if (may_be_gathered<Space, Codec, Value>)
    plan.gathered =
        static_cast<std::size_t>(gather_shape<Space>(sizeof(Key), plan.value_bytes).round());
  if (may_be_numbered<Space, Codec, Value> && movement.makes_indices && movement.leaves_keys) {
    plan.numbered = static_cast<std::size_t>(gather_shape<Space>(8, 0).round());
  }
  if (may_be_dealt<Space, Codec> && movement.deals) {
    plan.dealt_bin = static_cast<std::size_t>(finish_dealt_shape<Space>(sizeof(Key)).round());
    plan.dealt = Dealing::of(count, plan.dealt_bin).places();
  }
  if (may_be_ranged<Space, Codec, Value> && movement.ranges)
    plan.ranged = static_cast<std::size_t>(range_tile_shape<Space>(sizeof(Index)).round());
  ScratchList list;
  const Slot keys_other = list.add(std::max(count, plan.dealt), sizeof(Key));
  const Slot keys_there = list.add(count, sizeof(Key));
  const Slot values_other = list.add(count + 2 * plan.numbered, sizeof(Index));
  const MsdHybridScratch scratch = MsdHybridScratch::list(plan, look_back, list, rule);
  const Kokkos::View<std::byte*, Memory> memory("memory", list.bytes());
  Kokkos::deep_copy(memory, std::byte{0x5a});  // as others leave it
  std::byte* const base = aligned_scratch(memory.data());
  const auto keys = to_device(input);
  const auto keys_out = to_device(std::vector<Key>(count));
  std::vector<Index> places(count);
  for (std::size_t i = 0; i < count; ++i) places[i] = static_cast<Index>(i);
  const auto values = to_device(places);
  const auto values_out = to_device(std::vector<Index>(count));
  const auto result = movement.in_place ? keys : keys_out;
  const auto values_result = movement.in_place ? values : values_out;
  SortBuffers<Word, Value> buffers;
  buffers.keys = {reinterpret_cast<const Word*>(keys.data()),
                  reinterpret_cast<Word*>(result.data()), keys_other.in<Word>(base)};
  if constexpr (with_values) {
    buffers.values = {movement.makes_indices ? nullptr : values.data(), values_result.data(),
                      values_other.in<Value>(base)};
  }
  if (plan.numbered > 0) buffers.keys.result = keys_there.in<Word>(base);
  buffers.makes_indices = movement.makes_indices;
  buffers.leaves_keys = movement.leaves_keys;
  const Space exec;
  // Some let the host wait (in no order that cases come in).
  static unsigned sorts = 0;
  kradix::Workspace workspace;
  MsdHybridScratch waiting = scratch;
  if constexpr (has_board<Space>) {
    if (movement.deals || movement.ranges ||
        movement.waits.value_or(std::popcount(sorts++) % 2 == 1))
      waiting.board = workspace.board(exec, "board");
  }
  MsdHybrid<Space, Codec, Value, sweep_with, Finish, alone_with(sizeof(Word)), sweep_with>(
      exec, plan, codec, buffers, waiting, base, "test")
      .sort(rule);
  exec.fence();
  Route route;
  const Kokkos::View<Route, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> there(&route);
  Kokkos::deep_copy(
      there, Kokkos::View<Route, Memory, Kokkos::MemoryUnmanaged>(scratch.route.in<Route>(base)));
  const auto moved = to_host(values_result);
  return {to_host(result), {moved.begin(), moved.end()}, route};
}

/// That the first look at keys leaves out.
inline std::size_t unseen_place(std::size_t count) {
  std::set<std::size_t> seen;
  const SamplePlaces places(count, GlancedPairs::samples);
  for (std::size_t i = 0; i < GlancedPairs::samples; ++i) seen.insert(places.of(i));
  std::size_t place = count / 2;
  while (seen.count(place) > 0) ++place;
  return place;
}

/// From there on, some that no sample looks at at all.
inline std::vector<std::size_t> unseen_places(std::size_t count, std::size_t wanted,
                                              std::size_t from) {
  std::set<std::size_t> seen;
  const RandomPlaces places{count};
  for (std::uint32_t i = 0; i < 4 * 1024; ++i) seen.insert(places.of(i));
  const SamplePlaces glanced(count, GlancedPairs::samples);
  for (std::size_t i = 0; i < GlancedPairs::samples; ++i) seen.insert(glanced.of(i));
  std::vector<std::size_t> unseen;
  for (std::size_t place = from; unseen.size() < wanted && place < count; ++place) {
    if (seen.count(place) == 0) unseen.push_back(place);
  }
  return unseen;
}

/// By which no two different keys are equal.
template <class Key>
auto codec_of_all_bits(Order order) {
  if constexpr (std::is_floating_point_v<Key>) {
    return total_order(make_codec<Key>(order));
  } else {
    return make_codec<Key>(order);
  }
}

/// Sorts keys alone, in place and not, by the order of codes; returns the routes of both.
template <class Key, class Codec>
std::vector<Route> routes_alone(const std::vector<Key>& input, const Codec& codec,
                                const RouteRule& rule, bool deals = false,
                                std::optional<bool> waits = {}) {
  using Word = typename Codec::key_type;
  const auto code = [&](const Key& key) { return codec.encode(std::bit_cast<Word>(key)); };
  std::vector<Key> expected = input;
  std::ranges::sort(expected, {}, code);
  std::vector<Route> routes;
  for (const bool in_place : {false, true}) {
    const auto sorted = sort<small_finish, NoValue>(
        input, codec, {.in_place = in_place, .waits = waits, .deals = deals}, rule);
    routes.push_back(sorted.route);
    for (std::size_t i = 0; i < input.size(); ++i) {
      EXPECT_EQ(keys::bytes_of(sorted.keys[i]), keys::bytes_of(expected[i])) << i;
      if (::testing::Test::HasFailure()) return routes;
    }
  }
  return routes;
}

/// What ListChunks makes of cells that end there: its route, its two lists side by side, and the spare array.
struct ListedCells {
  Route route;
  std::vector<std::uint64_t> lists, spare;
};
/// Cells of digits, or those that begin at splitters.
inline ListedCells list_cells(const std::vector<std::uint64_t>& ends, std::size_t most,
                              std::size_t alone, bool crowded,
                              const std::vector<std::uint64_t>& splitters = {}) {
  const auto codec = make_codec<std::uint64_t>(Order::ascending);
  constexpr TeamShape step = count_shape<Space>();
  using List = ListChunks<Space, std::remove_const_t<decltype(codec)>, step.threads>;
  const bool splits = !splitters.empty();
  const std::size_t count = ends.back();
  const auto spare = to_device(std::vector<std::uint64_t>(count));
  const auto device_ends = to_device(ends), device_splitters = to_device(splitters);
  const auto words = to_device(std::vector<std::uint64_t>(2 * ends.size()));
  std::vector<Route> routes(1);
  routes[0].spreads = splits ? Route::by_splitters : Route::to_chunks;
  routes[0].crowded = crowded ? 1 : 0;
  std::vector<PassTable> tables(1);
  tables[0].finishes = splits ? PassTable::splitting : 1;
  const auto route = to_device(routes);
  const auto passes = to_device(tables);
  launch_teams<step>(Space{}, "ListChunks", 7, List::scratch_bytes(),
                     List{{spare.data(), spare.data(), spare.data()},
                          codec,
                          count,
                          {0, 64},
                          ChunkShape::of(most, count, 1),
                          ChunkShape::of(most, count, 1),
                          passes.data(),
                          route.data(),
                          ChunkLists::of(words.data(), ends.size(), route.data()),
                          splits ? nullptr : device_ends.data(),
                          alone,
                          splits ? device_ends.data() : nullptr,
                          splits ? device_splitters.data() : nullptr});
  return {to_host(route)[0], to_host(words), to_host(spare)};
}

}  // namespace hybrid
