// Into which tiles falls what has arrived of cells whose elements keep their order: arithmetic alone.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kradix/impl/mpi/cell_ranges.hpp"

namespace kradix::impl::mpi {

/// A tile of one rank's elements of a cell.
struct ArrivedTile {
  std::uint64_t begin;  ///< among what came from that rank of its range's first cell on
  std::uint32_t size;
  std::uint32_t cell, chain;  ///< its cell in the range, and the first tile of that
  std::uint16_t rank;
  std::uint16_t is_last;  ///< of its cell
};

/// Of all ranges of a rank, in the order of cell, rank and place.
class ArrivedTiles {
 public:
  ArrivedTiles() = default;
  ArrivedTiles(const CellRanges& plan, int rank, std::size_t tile_size) {
    for (int range = 0; range < plan.ranges(); ++range) {
      const std::size_t first = tiles_.size();
      firsts_.push_back(first);
      for (std::uint32_t cell = plan.first(rank, range); cell < plan.end(rank, range); ++cell) {
        const auto chain = tiles_.size();
        for (int from = 0; from < plan.ranks(); ++from) {
          const std::uint64_t begin = plan.begin(from, cell) - plan.begin_from(from, rank, range);
          const std::uint64_t keys = plan.keys(from, cell);
          for (std::uint64_t at = 0; at < keys; at += tile_size) {
            tiles_.push_back(
                {begin + at,
                 static_cast<std::uint32_t>(std::min<std::uint64_t>(tile_size, keys - at)),
                 cell - plan.first(rank, range), static_cast<std::uint32_t>(chain - first),
                 static_cast<std::uint16_t>(from), 0});
          }
        }
        if (tiles_.size() > chain) tiles_.back().is_last = 1;
      }
    }
    firsts_.push_back(tiles_.size());
  }

  /// Of a range, at most.
  static std::size_t most(const CellRanges& plan, int rank, int range, std::size_t tile_size) {
    const auto runs = static_cast<std::uint64_t>(plan.ranks()) *
                      (plan.end(rank, range) - plan.first(rank, range));
    return static_cast<std::size_t>(plan.keys_of_range(rank, range) / tile_size + runs);
  }

  const std::vector<ArrivedTile>& all() const { return tiles_; }
  std::size_t first_of_range(int range) const { return firsts_[static_cast<std::size_t>(range)]; }
  std::size_t of_range(int range) const {
    return first_of_range(range + 1) - first_of_range(range);
  }

 private:
  std::vector<ArrivedTile> tiles_;
  std::vector<std::size_t> firsts_;
};

}  // namespace kradix::impl::mpi
