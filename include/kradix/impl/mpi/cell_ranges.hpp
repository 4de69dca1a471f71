// Which cells' keys a rank needs for its places of the result, and in which ranges they come: arithmetic alone.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "kradix/impl/mpi/layout.hpp"

namespace kradix::impl::mpi {

/// A rank needs all cells that have one of its places. One that a cut between ranks divides comes to those on both sides, whole:
/// when it is in order each takes what is its own.
class CellRanges {
 public:
  /// [rank][cell]: keys, and where they begin among their rank's, with gaps or without. Ranges of a rank get about as many keys
  /// each, the first and the last half as many: nothing can be done before the one is there, nor comes beside what is done with
  /// the other.
  CellRanges(std::vector<std::uint64_t> counts, std::vector<std::uint64_t> begins,
             const Layout& layout, int ranges)
      : cells_(counts.size() / layout.after.size()),
        ranges_(static_cast<std::size_t>(ranges)),
        counts_(std::move(counts)),
        begins_(std::move(begins)) {
    whole_.assign(cells_ + 1, 0);
    for (std::size_t i = 0; i < counts_.size(); ++i) whole_[i % cells_ + 1] += counts_[i];
    for (std::size_t cell = 0; cell < cells_; ++cell) whole_[cell + 1] += whole_[cell];
    const std::vector<std::uint64_t> places = layout.begins();
    for (std::size_t rank = 0; rank < layout.after.size(); ++rank) {
      cut(places[rank], places[rank + 1]);
    }
  }

  std::uint32_t cells() const { return static_cast<std::uint32_t>(cells_); }
  int ranks() const { return static_cast<int>(counts_.size() / cells_); }
  int ranges() const { return static_cast<int>(ranges_); }
  const std::vector<std::uint64_t>& counts() const { return counts_; }
  const std::vector<std::uint64_t>& begins() const { return begins_; }
  std::uint64_t begin(int rank, std::uint32_t cell) const { return begins_[at(rank, cell)]; }
  std::uint64_t keys(int rank, std::uint32_t cell) const { return counts_[at(rank, cell)]; }
  /// Where a cell begins in the whole.
  std::uint64_t place(std::uint32_t cell) const { return whole_[cell]; }
  std::vector<std::uint64_t> counts_of_all() const {
    std::vector<std::uint64_t> counts;
    for (std::size_t cell = 0; cell < cells_; ++cell) {
      counts.push_back(whole_[cell + 1] - whole_[cell]);
    }
    return counts;
  }

  /// The first cell of a range of a rank; range `ranges` is the end.
  std::uint32_t first(int rank, int range) const {
    return first_[static_cast<std::size_t>(rank) * (ranges_ + 1) + static_cast<std::size_t>(range)];
  }
  std::uint32_t end(int rank, int range) const { return first(rank, range + 1); }
  /// Keys of a range, of all ranks.
  std::uint64_t keys_of_range(int rank, int range) const {
    return place(end(rank, range)) - place(first(rank, range));
  }
  /// Where those of one of them begin, and what they take with all gaps between cells.
  std::uint64_t begin_from(int from, int rank, int range) const {
    const std::uint32_t cell = first(rank, range);
    return cell < end(rank, range) ? begin(from, cell) : 0;
  }
  std::uint64_t span_from(int from, int rank, int range) const {
    const std::uint32_t cell = first(rank, range), behind = end(rank, range);
    if (cell == behind) return 0;
    return begin(from, behind - 1) + keys(from, behind - 1) - begin(from, cell);
  }

 private:
  std::size_t at(int rank, std::uint32_t cell) const {
    return static_cast<std::size_t>(rank) * cells_ + cell;
  }
  void cut(std::uint64_t begin, std::uint64_t end) {
    std::uint32_t first = 0, behind = 0;
    if (begin < end) {
      first = last_up_to(begin);
      behind = static_cast<std::uint32_t>(std::lower_bound(whole_.begin(), whole_.end(), end) -
                                          whole_.begin());
    }
    const std::uint64_t from = whole_[first], keys = whole_[behind] - from;
    const std::uint64_t units = ranges_ > 2 ? 2 * ranges_ - 2 : ranges_;
    first_.push_back(first);
    for (std::size_t range = 1; range < ranges_; ++range) {
      const std::uint64_t before = ranges_ > 2 ? 2 * range - 1 : range;
      const std::uint64_t place = from + keys / units * before;
      const auto cell = static_cast<std::uint32_t>(
          std::lower_bound(whole_.begin(), whole_.end(), place) - whole_.begin());
      first_.push_back(std::clamp(cell, first_.back(), behind));
    }
    first_.push_back(behind);
  }
  /// The last cell that begins up to there: it has that place.
  std::uint32_t last_up_to(std::uint64_t place) const {
    return static_cast<std::uint32_t>(std::upper_bound(whole_.begin(), whole_.end(), place) -
                                      whole_.begin() - 1);
  }

  std::size_t cells_, ranges_;
  std::vector<std::uint64_t> counts_, begins_, whole_;
  std::vector<std::uint32_t> first_;
};

}  // namespace kradix::impl::mpi
