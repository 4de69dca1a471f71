// Sizes before and after, and the cuts they ask for: arithmetic alone.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace kradix::impl::mpi {

/// How many elements each rank has, and will have.
struct Layout {
  std::vector<std::uint64_t> before, after;
  std::uint64_t total = 0;
  bool kept = false;  ///< has every rank a workspace?

  /// Where the result of each rank begins in the whole, and where the last one ends.
  std::vector<std::uint64_t> begins() const {
    std::vector<std::uint64_t> places{0};
    for (const std::uint64_t count : after) places.push_back(places.back() + count);
    return places;
  }
};

inline std::uint64_t balanced_size(std::uint64_t total, std::uint64_t ranks, std::uint64_t rank) {
  return total / ranks + (rank < total % ranks ? 1 : 0);
}

/// The cuts between all ranges of all ranks: how many elements lie left of each.
inline std::vector<std::uint64_t> targets_of(const Layout& layout, int ranges) {
  const std::vector<std::uint64_t> begins = layout.begins();
  std::vector<std::uint64_t> targets;
  for (std::size_t r = 0; r < layout.after.size(); ++r) {
    for (int range = 0; range < ranges; ++range) {
      const auto k = static_cast<std::uint64_t>(ranges);
      const auto i = static_cast<std::uint64_t>(range);
      const std::uint64_t size = layout.after[r];
      if (r > 0 || range > 0) {
        targets.push_back(begins[r] + size / k * i + std::min(i, size % k));
      }
    }
  }
  return targets;
}

}  // namespace kradix::impl::mpi
