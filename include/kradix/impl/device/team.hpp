// How a kernel of the house is launched, and the small verbs its teams share.
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "kradix/impl/backend/lanes.hpp"
#include "kradix/impl/tuning.hpp"
#include "kradix/impl/words.hpp"

namespace kradix::impl {

template <class ExecutionSpace>
using TeamMember = typename Kokkos::TeamPolicy<ExecutionSpace>::member_type;

/// Scratch of a team: hosts have little at level 0 and lose nothing by level 1.
template <class ExecutionSpace>
inline constexpr int scratch_level = is_host_space<ExecutionSpace> ? 1 : 0;

/// As many teams as may run at once: they stay for more than one tile, so that a kernel with nothing
/// to do costs no more than its launch.
template <class ExecutionSpace>
std::size_t resident_teams(const ExecutionSpace& exec, const TeamShape& shape) {
  const int teams = exec.concurrency() / shape.threads;
  return teams > 1 ? static_cast<std::size_t>(teams) : 1;
}
template <TeamShape Shape, class ExecutionSpace>
std::size_t resident_teams_of(const ExecutionSpace& exec) {
  return resident_teams(exec, Shape);
}

/// The same, of teams that ask for so many on a processor at once: of equal shares none may wait for a place.
template <class ExecutionSpace>
std::size_t running_teams(const ExecutionSpace& exec, const TeamShape& shape) {
  constexpr std::size_t threads_of_a_processor = 2048;
  const std::size_t teams = resident_teams(exec, shape);
  if (shape.teams == 0) return teams;
  const auto threads = static_cast<std::size_t>(shape.teams * shape.threads);
  return std::max<std::size_t>(teams * threads / threads_of_a_processor, 1);
}
template <TeamShape Shape, class ExecutionSpace>
std::size_t running_teams_of(const ExecutionSpace& exec) {
  return running_teams(exec, Shape);
}

/// What Kokkos takes of a team's scratch for itself.
template <TeamShape Shape>
inline constexpr std::size_t scratch_of_kokkos = sizeof(std::uint64_t) * (Shape.threads + 2);

/// Does a team of this kernel find room on a device?
template <TeamShape Shape, class ExecutionSpace, class Functor>
constexpr bool finds_room() {
  if constexpr (!is_host_space<ExecutionSpace> && requires { sizeof(typename Functor::Scratch); }) {
    constexpr std::size_t given = team_scratch_bytes, aligned = alignof(std::max_align_t);
    return sizeof(typename Functor::Scratch) + aligned + scratch_of_kokkos<Shape> <= given;
  }
  return true;
}

/// Do as many of them as are asked for find room on one processor? Else Kokkos launches none.
template <TeamShape Shape, class ExecutionSpace, class Functor>
constexpr bool find_room_at_once() {
  if constexpr (is_host_space<ExecutionSpace>) return true;
  return Shape.teams * (sizeof(typename Functor::Scratch) + scratch_of_kokkos<Shape>) <=
         processor_scratch_bytes;
}

/// May a team of this kernel want more than devices give unasked?
template <class ExecutionSpace, class Functor>
constexpr bool may_ask_for_scratch() {
  if constexpr (is_host_space<ExecutionSpace> || !has_room_for_long_tiles) {
    return false;
  } else if constexpr (requires { sizeof(typename Functor::Scratch); }) {
    constexpr std::size_t given = 48 << 10, of_kokkos = 10 << 10;  // at most
    return sizeof(typename Functor::Scratch) > given - of_kokkos;
  }
  return true;
}

namespace {
/// A type of each source file's own.
struct ThisFile {};
}  // namespace

/// Kokkos 5.2 asks for a kernel's scratch once for each type of it, but every source file has a kernel of its own of that type, and those for
/// which nobody has asked are not launched. So each file has a type of its own.
template <class Functor, class File>
struct OfFile : Functor {};

/// Launches `teams` teams of this shape, each with `scratch` bytes, on the caller's instance.
template <TeamShape Shape, class ExecutionSpace, class Functor>
void launch_teams(const ExecutionSpace& exec, const std::string& label, std::size_t teams,
                  std::size_t scratch, const Functor& functor) {
  static_assert(finds_room<Shape, ExecutionSpace, Functor>());
  using Policy =
      Kokkos::TeamPolicy<ExecutionSpace, Kokkos::LaunchBounds<Shape.threads, Shape.teams>>;
  Policy policy(exec, static_cast<int>(teams), Shape.threads);
  if (scratch > 0) {
    policy.set_scratch_size(scratch_level<ExecutionSpace>,
                            Kokkos::PerTeam(static_cast<int>(scratch + alignof(std::max_align_t))));
  }
  if constexpr (may_ask_for_scratch<ExecutionSpace, Functor>()) {
    Kokkos::parallel_for(label, policy, OfFile<Functor, ThisFile>{functor});
  } else {
    Kokkos::parallel_for(label, policy, functor);
  }
}

/// The next `count` objects of a team's scratch.
template <class T, class Team>
KOKKOS_FUNCTION T* take_scratch(const Team& team, std::size_t count) {
  constexpr int level = scratch_level<typename Team::execution_space>;
  return static_cast<T*>(team.team_scratch(level).get_shmem_aligned(count * sizeof(T), alignof(T)));
}
/// The first `bytes` of an object there, whose rest is not used.
template <class T, class Team>
KOKKOS_FUNCTION T* take_scratch_of(const Team& team, std::size_t bytes) {
  constexpr int level = scratch_level<typename Team::execution_space>;
  return static_cast<T*>(team.team_scratch(level).get_shmem_aligned(bytes, alignof(T)));
}
/// The next objects, in a kernel that does one of several things, each with scratch of its own.
template <class T, class Team>
KOKKOS_FUNCTION T* take_scratch_apart(const Team& team, std::size_t count) {
  return Lanes<typename Team::execution_space>::in_scratch(take_scratch<T>(team, count));
}

/// Counts the teams that come here. True for the last of `all`: it sees what the others wrote before. `left` is
/// zero at first, `word` the team's own, in scratch.
template <class Team>
KOKKOS_FUNCTION bool leaves_last(const Team& team, std::uint64_t* left, std::uint64_t all,
                                 std::uint64_t& word) {
  Kokkos::memory_fence();
  team.team_barrier();
  if (team.team_rank() == 0) {
    word = Kokkos::atomic_add_fetch(left, std::uint64_t{1});
    Kokkos::memory_fence();
  }
  team.team_barrier();
  return word == all;
}

/// By a whole team. Several loads under way at once; on hosts the compiler sees a plain copy.
template <int Threads, class Team, class T>
KOKKOS_FUNCTION void copy_elements(const Team& team, std::size_t count, const T* from, T* to) {
  std::size_t i = team.team_rank();
  constexpr std::size_t batch = 8;
  for (; i + (batch - 1) * Threads < count; i += batch * Threads) {
    T moving[batch];
    KRADIX_UNROLL
    for (std::size_t b = 0; b < batch; ++b) moving[b] = from[i + b * Threads];
    KRADIX_UNROLL
    for (std::size_t b = 0; b < batch; ++b) to[i + b * Threads] = moving[b];
  }
  for (; i < count; i += Threads) to[i] = from[i];
}

/// Elements [begin, end) of a run of `count` cut into equal shares.
struct Share {
  std::size_t begin, end;
};

KOKKOS_INLINE_FUNCTION Share share_of(std::size_t count, std::size_t share, std::size_t index) {
  const std::size_t begin = index * share;
  const std::size_t end = begin + share;
  return {begin < count ? begin : count, end < count ? end : count};
}

}  // namespace kradix::impl
