// How few elements that are ranked among all are shared out to teams.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kradix/impl/device/meeting.hpp"

namespace kradix::impl {

/// Who ranks how many of so many elements.
struct Ranking {
  static constexpr std::uint32_t at_once = 16;      ///< by a group of lanes
  static constexpr std::uint32_t most_share = 128;  ///< by a team
  static constexpr std::size_t most = Meeting::most * most_share;
  /// Half as many teams meet sooner, and have so many elements at most.
  static constexpr std::size_t half = Meeting::most / 2, most_by_half = half * 2 * at_once;

  std::uint32_t count, share, teams;

  /// One team has done with few before several have met.
  static Ranking of(std::size_t count) {
    const std::size_t teams = count <= most_share     ? 1
                              : count <= most_by_half ? half
                                                      : std::size_t{Meeting::most};
    const std::size_t each = (count + teams - 1) / teams;
    const std::size_t share = (each + at_once - 1) / at_once * at_once;
    return {static_cast<std::uint32_t>(count), static_cast<std::uint32_t>(share),
            static_cast<std::uint32_t>((count + share - 1) / share)};
  }
  /// Elements that no more teams rank than run at once: others would keep those waiting.
  static std::size_t most_by(std::size_t running) {
    return running >= Meeting::most ? most : running >= half ? most_by_half : most_share;
  }
};

}  // namespace kradix::impl
