// A matrix turned over through scratch, so that loads and stores both run along rows.
#pragma once

#include <Kokkos_Core.hpp>

#include "kradix/impl/device/array_scan.hpp"
#include "kradix/impl/device/pass.hpp"

namespace kradix::impl {

/// to[c][r] = from[r][c]. A team takes a square of `side` rows and columns.
template <class ExecutionSpace, int Threads>
struct Transpose {
  static constexpr int side = 32;
  static constexpr int pitch = side + 1;  // a column of scratch then lies on different banks

  const Place* from;
  Place* to;
  std::size_t rows, columns;
  PassClock clock;

  static std::size_t scratch_bytes() { return side * pitch * sizeof(Place) + 16; }
  std::size_t teams() const { return tiles_of(rows, side) * tiles_of(columns, side); }

  KOKKOS_FUNCTION void operator()(const TeamMember<ExecutionSpace>& team) const {
    if (clock.idle()) return;
    Place* const square = take_scratch<Place>(team, side * pitch);
    const auto squares_in_row = static_cast<int>((columns + side - 1) / side);
    const int down = team.league_rank() / squares_in_row,
              across = team.league_rank() % squares_in_row;
    const std::size_t row = static_cast<std::size_t>(down) * side;
    const std::size_t column = static_cast<std::size_t>(across) * side;
    for (int i = team.team_rank(); i < side * side; i += Threads) {
      const int r = i / side, c = i % side;
      if (row + r < rows && column + c < columns) {
        square[r * pitch + c] = from[(row + r) * columns + column + c];
      }
    }
    team.team_barrier();
    for (int i = team.team_rank(); i < side * side; i += Threads) {
      const int c = i / side, r = i % side;
      if (row + r < rows && column + c < columns) {
        to[(column + c) * rows + row + r] = square[r * pitch + c];
      }
    }
  }
};

}  // namespace kradix::impl
