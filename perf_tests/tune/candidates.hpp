// The shapes that are tried in place of the present ones. A sweep's items come in fours, and a finish has a
// power of two of threads. A shape whose kernel asks for too much scratch memory is reported, not run.
#pragma once

#include "kradix/impl/counting.hpp"
#include "kradix/impl/onesweep.hpp"
#include "kradix/impl/small_msd.hpp"
#include "kradix/impl/tuning.hpp"
#include "support/case.hpp"

namespace tune {

using kradix::impl::CountingShapes;
using kradix::impl::LookBackShape;
using kradix::impl::SmallShapes;
using kradix::impl::TeamShape;

template <TeamShape... Shape>
struct Shapes {};

inline constexpr bool on_host = kradix::impl::is_host_space<bench::Space>;

/// Of a Onesweep team, by the bytes of the widest word that it holds.
template <std::size_t widest, bool with_values>
constexpr auto sweep_candidates() {
  if constexpr (on_host) {
    return Shapes<TeamShape{1, 1024}, TeamShape{1, 4096}>{};
  } else if constexpr (widest <= 4) {
    return Shapes<TeamShape{128, 32, 5}, TeamShape{256, 20, 3}, TeamShape{256, 24, 3},
                  TeamShape{256, 28, 3}, TeamShape{256, 32, 2}, TeamShape{256, 36, 2},
                  TeamShape{256, 40, 2}, TeamShape{384, 20, 2}, TeamShape{384, 24, 2},
                  TeamShape{384, 28, 1}, TeamShape{512, 16, 2}, TeamShape{512, 20, 1}>{};
  } else {
    return Shapes<TeamShape{128, 20, 5}, TeamShape{256, 12, 3}, TeamShape{256, 16, 3},
                  TeamShape{256, 16, 2}, TeamShape{256, 20, 3}, TeamShape{256, 24, 2},
                  TeamShape{384, 12, 2}, TeamShape{384, 16, 1}, TeamShape{512, 8, 2},
                  TeamShape{512, 12, 1}>{};
  }
}

/// Of a team of the unordered first pass.
template <std::size_t key_bytes>
constexpr auto spread_candidates() {
  if constexpr (on_host) {
    return Shapes<TeamShape{1, 1024}, TeamShape{1, 4096}>{};
  } else if constexpr (key_bytes <= 4) {
    return Shapes<TeamShape{256, 20, 4}, TeamShape{256, 28, 3}, TeamShape{256, 36, 2},
                  TeamShape{384, 20, 2}, TeamShape{384, 28, 2}, TeamShape{512, 12, 2},
                  TeamShape{512, 16, 2}>{};
  } else {
    return Shapes<TeamShape{256, 12, 4}, TeamShape{256, 16, 3}, TeamShape{384, 12, 2},
                  TeamShape{512, 8, 2}, TeamShape{512, 10, 1}>{};
  }
}

/// Of the teams that count short keys and write them anew; `places` is what it is.
template <CountingShapes... Shape>
struct CountingCandidates {};

template <std::size_t key_bytes>
constexpr auto counting_candidates() {
  constexpr CountingShapes now = CountingShapes::of<bench::Space>(key_bytes);
  constexpr auto with = [](TeamShape counts, TeamShape expand) {
    CountingShapes shapes = CountingShapes::of<bench::Space>(key_bytes);
    shapes.bytes = shapes.shorts = counts;
    shapes.expand = expand;
    return shapes;
  };
  constexpr TeamShape counts = key_bytes == 1 ? now.bytes : now.shorts;
  if constexpr (on_host) {
    return CountingCandidates<with({1, 16}, now.expand), with(counts, {1, 512})>{};
  } else {
    return CountingCandidates<
        with({256, 2, 6}, now.expand), with({256, 4, 6}, now.expand), with({512, 4, 3}, now.expand),
        with({512, 1, 3}, now.expand), with({1024, 2, 1}, now.expand), with(counts, {256, 4, 4}),
        with(counts, {256, 16, 4}), with(counts, {256, 8, 8}), with(counts, {512, 8, 2})>{};
  }
}

/// Of a team that finishes a chunk.
template <std::size_t widest, bool with_values>
constexpr auto finish_candidates() {
  if constexpr (on_host) {
    return Shapes<TeamShape{1, 4096}>{};
  } else if constexpr (widest <= 4) {
    return Shapes<TeamShape{128, 18, 6}, TeamShape{256, 12, 4}, TeamShape{256, 14, 4},
                  TeamShape{256, 16, 4}, TeamShape{256, 16, 3}, TeamShape{256, 20, 3},
                  TeamShape{512, 9, 2}>{};
  } else {
    return Shapes<TeamShape{128, 17, 5}, TeamShape{256, 13, 3}, TeamShape{256, 15, 3},
                  TeamShape{256, 15, 2}, TeamShape{256, 17, 3}, TeamShape{256, 19, 2},
                  TeamShape{512, 8, 1}>{};
  }
}

/// Of the kernels for few elements: tiles of their sweep, and the finish. Teams of both have as many threads.
template <SmallShapes... Shape>
struct SmallCandidates {};

template <std::size_t key_bytes, std::size_t value_bytes>
constexpr auto small_candidates() {
  constexpr SmallShapes now = SmallShapes::of<bench::Space>(key_bytes, value_bytes, key_bytes);
  constexpr auto with = [](TeamShape tile, TeamShape finish) {
    SmallShapes shapes = SmallShapes::of<bench::Space>(key_bytes, value_bytes, key_bytes);
    shapes.tile = tile;
    shapes.finish = finish;
    return shapes;
  };
  if constexpr (on_host) {
    return SmallCandidates<with({1, 1024}, now.finish), with(now.tile, {1, 1024})>{};
  } else {
    return SmallCandidates<with({256, 8, 4}, now.finish), with({256, 8, 6}, now.finish),
                           with({256, 16, 3}, now.finish), with({256, 20, 2}, now.finish),
                           with(now.tile, {256, 12, 4}), with(now.tile, {256, 14, 4}),
                           with(now.tile, {256, 16, 3})>{};
  }
}

/// Slots, reach and group of the look-back; these are no template arguments.
inline constexpr LookBackShape look_backs[] = {{9, 256, 4},  {9, 256, 5},  {10, 256, 5},
                                               {10, 512, 4}, {10, 512, 6}, {11, 1024, 5},
                                               {12, 2048, 5}};

/// Of a host's sort: the bytes of a core's cache that blocks and buckets may count on, as a multiple in
/// eighths of what was found, and the bits of a bucket's number.
struct BlockNumbers {
  int cache_eighths;
  int bucket_bits;
};
inline constexpr BlockNumbers block_numbers[] = {{2, 10}, {4, 10}, {6, 10}, {12, 10}, {16, 10},
                                                 {8, 7},  {8, 8},  {8, 9},  {8, 11}};

/// Elements of a serial round on a host, as bytes of keys and values together.
inline constexpr std::size_t round_bytes[] = {std::size_t{1} << 15, std::size_t{1} << 16,
                                              std::size_t{1} << 17, std::size_t{1} << 18,
                                              std::size_t{1} << 19, std::size_t{1} << 20};

}  // namespace tune
