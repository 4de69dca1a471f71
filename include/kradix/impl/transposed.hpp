// Histogram, transpose, scan, transpose, rank and permute, with tuning values to sweep.
//
// Heldbo, Nielsen and Lyngsoe's GPU sort (2024) after Ha, Krueger and Silva: a team of B threads counts
// Q elements a thread into H = 2^lgH bins, its row of a matrix; turned over, the matrix is scanned; turned
// back, each team reads its row, partitions its tile in scratch lgH times by one bit, and writes it.
// Theirs is neither stable nor deterministic; splits and places without atomics make this one both.
#pragma once

#include "kradix/impl/device/team_histogram.hpp"
#include "kradix/impl/device/tile_order.hpp"
#include "kradix/impl/device/transpose.hpp"
#include "kradix/impl/study_sort.hpp"

namespace kradix::impl {

template <class ExecutionSpace>
inline constexpr TeamShape transposed_shape = study_shape(Algorithm::transposed,
                                                          is_host_space<ExecutionSpace>);

/// First kernel: the team's row of counts, [tile][digit].
template <class ExecutionSpace, class Word, class Value, int Threads>
struct CountRow : CodePass<ExecutionSpace, Word, Value> {
  Place* rows;
  int copies;

  KOKKOS_FUNCTION void operator()(const TeamMember<ExecutionSpace>& team) const {
    if (this->idle()) return;
    const int bins = 1 << this->width;
    const TeamHistogram<Threads> histogram{
        take_scratch<std::uint32_t>(team, static_cast<std::size_t>(bins * copies)), bins, copies};
    histogram.count(team, this->reader(), this->source_keys(), this->tile_of(team));
    Place* const row = rows + static_cast<std::size_t>(team.league_rank()) * bins;
    for (int bin = team.team_rank(); bin < bins; bin += Threads) row[bin] = histogram.of(bin);
  }
};

/// Last kernel: two-way partitions over the digit's bits, then every element to its place.
template <class ExecutionSpace, class Word, class Value, int Threads>
struct RankAndPermuteTile : CodePass<ExecutionSpace, Word, Value> {
  using Team = TeamMember<ExecutionSpace>;
  using Split = PartitionTile<Threads>;

  const Place* rows;

  static std::size_t scratch_bytes(int digit_bits, int tile) {
    return Split::scratch_bytes(tile) + (std::size_t{2} << digit_bits) * sizeof(std::uint32_t) + 48;
  }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    if (this->idle()) return;
    const int bins = 1 << this->width;
    Split split(team, static_cast<int>(this->tile));
    auto* const begin = take_scratch<std::uint32_t>(team, bins);
    const TileRuns runs{begin, take_scratch<std::uint32_t>(team, bins)};
    const CodeReader<Word> reader = this->reader();
    const auto move = this->straight();
    const Share tile = this->tile_of(team);
    const int size = static_cast<int>(tile.end - tile.begin);
    for (int p = team.team_rank(); p < size; p += Threads) {
      split.words[p] = TileWord::make(reader.of(move.key(tile.begin + p)), p);
    }
    team.team_barrier();
    split.by_bits(team, size, this->width);
    const std::uint32_t* const sorted = split.words;
    runs.template find<Threads>(team, size, bins,
                                [=](int p) { return TileWord::digit(sorted[p]); });
    const Place* const row = rows + static_cast<std::size_t>(team.league_rank()) * bins;
    for (int p = team.team_rank(); p < size; p += Threads) {
      const std::uint32_t digit = TileWord::digit(sorted[p]);
      move(tile.begin + TileWord::index(sorted[p]), row[digit] + (p - begin[digit]));
    }
  }
};

template <class ExecutionSpace, class Word, class Value>
class Transposed : public TableSort<ExecutionSpace, Word, Value, transposed_shape<ExecutionSpace>> {
  using Base = TableSort<ExecutionSpace, Word, Value, transposed_shape<ExecutionSpace>>;
  using Base::pass_, Base::plan_, Base::table_;

 public:
  struct Scratch {
    typename Base::Scratch table;
    Slot rows;  ///< the matrix the other way round
    static Scratch list(const Plan& plan, ScratchList& list) {
      Scratch scratch;
      scratch.table = Base::Scratch::list(plan, list);
      scratch.rows = list.add(scratch.table.entries, sizeof(Place));
      return scratch;
    }
  };

  static void sort(const typename Base::Call& call) {
    ScratchList list;
    Place* const rows = Scratch::list(call.plan, list).rows.template in<Place>(call.scratch);
    Transposed sort(call);
    if constexpr (is_host_space<ExecutionSpace>) {
      sort.template run<1>(rows);
    } else if (call.plan.study.threads == 128) {
      sort.template run<128>(rows);
    } else if (call.plan.study.threads == 256) {
      sort.template run<256>(rows);
    } else {
      sort.template run<512>(rows);
    }
  }

 private:
  using Base::Base;

  template <int Threads>
  void run(Place* rows) {
    constexpr TeamShape shape{Threads, 1};
    using Permute = RankAndPermuteTile<ExecutionSpace, Word, Value, Threads>;
    const std::size_t bins = std::size_t{1} << plan_.digit_bits;
    const int copies = plan_.study.copies;
    this->set_range();
    for (pass_.pass = 0; pass_.pass < plan_.passes; ++pass_.pass) {
      this->template launch<shape>(
          "CountRow", plan_.tiles,
          TeamHistogram<Threads>::scratch_bytes(static_cast<int>(bins), copies),
          CountRow<ExecutionSpace, Word, Value, Threads>{pass_, rows, copies});
      transpose(rows, table_, plan_.tiles, bins);
      this->scan_table();
      transpose(table_, rows, bins, plan_.tiles);
      this->template launch<shape>(
          "RankAndPermuteTile", plan_.tiles,
          Permute::scratch_bytes(plan_.digit_bits, static_cast<int>(plan_.tile)),
          Permute{pass_, rows});
    }
    this->settle();
  }

  void transpose(const Place* from, Place* to, std::size_t rows, std::size_t columns) {
    using Turn = Transpose<ExecutionSpace, Base::shape.threads>;
    const Turn turn{from, to, rows, columns, this->clock()};
    this->launch("Transpose", turn.teams(), Turn::scratch_bytes(), turn);
  }
};

}  // namespace kradix::impl
