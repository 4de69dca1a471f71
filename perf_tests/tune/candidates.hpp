// The shapes that are tried in place of the present ones. A sweep's items come in fours, and a finish has a
// power of two of threads. A shape whose kernel asks for too much scratch memory is reported, not run.
#pragma once

#include "kradix/impl/onesweep.hpp"
#include "kradix/impl/tuning.hpp"
#include "support/case.hpp"

namespace tune {

using kradix::impl::LookBackShape;
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

/// Slots, reach and group of the look-back; these are no template arguments.
inline constexpr LookBackShape look_backs[] = {{9, 256, 4},  {9, 256, 5},  {10, 256, 5},
                                               {10, 512, 4}, {10, 512, 6}, {11, 1024, 5},
                                               {12, 2048, 5}};

/// Elements of a serial round on a host, as bytes of keys and values together.
inline constexpr std::size_t round_bytes[] = {std::size_t{1} << 15, std::size_t{1} << 16,
                                              std::size_t{1} << 17, std::size_t{1} << 18,
                                              std::size_t{1} << 19, std::size_t{1} << 20};

}  // namespace tune
