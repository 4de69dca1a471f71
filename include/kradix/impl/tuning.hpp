// Plain numbers that fit an algorithm to a machine.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>

namespace kradix::impl {

/// Do teams of this space run as one host thread each?
template <class ExecutionSpace>
inline constexpr bool is_host_space =
    Kokkos::SpaceAccessibility<ExecutionSpace, Kokkos::HostSpace>::accessible;

/// How a team works through its tile: `items` elements in registers of each of `threads` threads, or
/// (items = 0) one thread that partitions a round of run-time length in its cache.
struct TeamShape {
  int threads;
  int items;
  constexpr bool serial() const { return items == 0; }
  constexpr int round() const { return threads * items; }
};

template <class ExecutionSpace>
constexpr TeamShape team_shape() {
  // Odd items keep the blocked reads of scratch free of bank conflicts.
  return is_host_space<ExecutionSpace> ? TeamShape{1, 0} : TeamShape{256, 19};
}

/// Elements that a serial round partitions in cache: keys and values of one round must stay within a
/// private second-level cache (512 KB and more on current cores), with room for the source.
constexpr std::size_t serial_round(std::size_t element_bytes) {
  constexpr std::size_t cache_share = std::size_t{1} << 17;
  return cache_share / element_bytes;
}

/// A table of 8-bit digit counts holds at most this many tiles, so it stays below 16 MB for any n.
inline constexpr std::size_t max_tiles = 8192;

}  // namespace kradix::impl
