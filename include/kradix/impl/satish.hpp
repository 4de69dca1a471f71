// Tiles sorted in scratch, then copied in runs.
//
// Satish, Harris and Garland, "Designing efficient sorting algorithms for manycore GPUs" (IPDPS 2009): each
// team sorts its tile by b one-bit splits and writes it with the histogram of its 2^b digits; a scan over
// the histograms in column-major order gives every run its place; each team copies its runs there.
#pragma once

#include "kradix/impl/device/copy_sorted_tile.hpp"
#include "kradix/impl/study_sort.hpp"

namespace kradix::impl {

template <class ExecutionSpace>
inline constexpr TeamShape satish_shape = study_shape(Algorithm::satish,
                                                      is_host_space<ExecutionSpace>);

/// Steps 1 and 2: a tile in order of its digit, and how many of each digit it has.
template <class ExecutionSpace, class Word, class Value>
struct SortTileBySplits : CodePass<ExecutionSpace, Word, Value> {
  using Team = TeamMember<ExecutionSpace>;
  static constexpr TeamShape shape = satish_shape<ExecutionSpace>;

  Place* histograms;  ///< [digit][tile]: column-major as the paper sees it

  static std::size_t scratch_bytes(int digit_bits) {
    return (2 * shape.round() + (std::size_t{2} << digit_bits)) * sizeof(std::uint32_t) + 32;
  }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    if (this->idle()) return;
    const int bins = 1 << this->width;
    auto* const words = take_scratch<std::uint32_t>(team, shape.round());
    SplitTile<shape.threads> split{words, take_scratch<std::uint32_t>(team, shape.round())};
    auto* const begin = take_scratch<std::uint32_t>(team, bins);
    const TileRuns runs{begin, take_scratch<std::uint32_t>(team, bins)};
    const CodeReader<Word> reader = this->reader();
    const auto move = this->first_step();
    const Share tile = this->tile_of(team);
    const int size = static_cast<int>(tile.end - tile.begin);
    for (int p = team.team_rank(); p < size; p += shape.threads) {
      words[p] = TileWord::make(reader.of(move.key(tile.begin + p)), p);
    }
    team.team_barrier();
    split.by_bits(team, size, this->width);
    const std::uint32_t* const sorted = split.words;
    for (int p = team.team_rank(); p < size; p += shape.threads) {
      move(tile.begin + TileWord::index(sorted[p]), tile.begin + p);
    }
    runs.template find<shape.threads>(team, size, bins,
                                      [=](int p) { return TileWord::digit(sorted[p]); });
    const auto column = static_cast<std::size_t>(team.league_rank());
    for (int bin = team.team_rank(); bin < bins; bin += shape.threads) {
      histograms[bin * this->tiles + column] = runs.end[bin] - runs.begin[bin];
    }
  }
};

template <class ExecutionSpace, class Word, class Value>
class Satish : public TableSort<ExecutionSpace, Word, Value, satish_shape<ExecutionSpace>> {
  using Base = TableSort<ExecutionSpace, Word, Value, satish_shape<ExecutionSpace>>;
  using Base::launch, Base::pass_, Base::plan_, Base::table_;

 public:
  static void sort(const typename Base::Call& call) { Satish(call).run(); }

 private:
  using Base::Base;
  using SortTile = SortTileBySplits<ExecutionSpace, Word, Value>;
  using CopyTile = CopySortedTile<typename Base::Pass, Base::shape.threads>;

  void run() {
    this->set_range();
    for (pass_.pass = 0; pass_.pass < plan_.passes; ++pass_.pass) {
      launch("SortTileBySplits", plan_.tiles, SortTile::scratch_bytes(plan_.digit_bits),
             SortTile{pass_, table_});
      this->scan_table();
      launch("CopySortedTile", plan_.tiles,
             CopyTile::scratch_bytes(plan_.digit_bits, Base::shape.round()),
             CopyTile{pass_, table_});
    }
    this->settle();
  }
};

}  // namespace kradix::impl
