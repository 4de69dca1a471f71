// Two bits a pass, with the prefix sums of all four digits made in one divide and conquer.
//
// D. Basu, "Parallel radix sort on the GPU using C++ AMP" (2013): tiles are summed, the sums are scanned,
// and each tile makes its part of the prefix sums and moves its elements; four counts go together.
#pragma once

#include "kradix/impl/study_sort.hpp"

namespace kradix::impl {

template <class ExecutionSpace>
inline constexpr TeamShape four_prefix_shape = study_shape(Algorithm::four_prefix,
                                                           is_host_space<ExecutionSpace>);

/// Counts of the four digits in one word, 16 bits each: a tile has fewer than 2^16 elements.
struct FourCounts {
  std::uint64_t bits = 0;
  static constexpr int digits = 4;
  KOKKOS_FUNCTION void add(std::uint32_t digit) { bits += std::uint64_t{1} << (16 * digit); }
  KOKKOS_FUNCTION std::uint32_t of(std::uint32_t digit) const {
    return static_cast<std::uint32_t>(bits >> (16 * digit)) & 0xffffu;
  }
};

/// The run of a tile that is one thread's, and its counts.
template <class ExecutionSpace, class Word, class Value>
struct FourPrefixPass : CodePass<ExecutionSpace, Word, Value> {
  using Team = TeamMember<ExecutionSpace>;
  static constexpr TeamShape shape = four_prefix_shape<ExecutionSpace>;
  static_assert(shape.round() < 1 << 16);

  Place* sums;  ///< [digit][tile]

  KOKKOS_FUNCTION Share run(const Team& team) const {
    return share_of(
        this->count, shape.items,
        static_cast<std::size_t>(team.league_rank()) * shape.threads + team.team_rank());
  }
  KOKKOS_FUNCTION TeamSum<std::uint64_t> count_run(const Team& team,
                                                   const CodeReader<Word>& reader) const {
    const Word* const keys = this->source_keys();
    const Share mine = run(team);
    FourCounts counts;
    for (std::size_t i = mine.begin; i < mine.end; ++i) counts.add(reader.of(keys[i]));
    return scan_team<shape.threads>(team, counts.bits);
  }
  KOKKOS_FUNCTION Place& sum(std::uint32_t digit, const Team& team) const {
    return sums[digit * this->tiles + static_cast<std::size_t>(team.league_rank())];
  }
};

/// Tile-wise partial reduction.
template <class ExecutionSpace, class Word, class Value>
struct SumFours : FourPrefixPass<ExecutionSpace, Word, Value> {
  KOKKOS_FUNCTION void operator()(const TeamMember<ExecutionSpace>& team) const {
    if (this->idle()) return;
    const FourCounts counts{this->count_run(team, this->reader()).total};
    if (team.team_rank() != 0) return;
    for (std::uint32_t d = 0; d < FourCounts::digits; ++d) this->sum(d, team) = counts.of(d);
  }
};

/// Partial prefix sums of each tile, combined with the scanned sums; elements go to their places.
template <class ExecutionSpace, class Word, class Value>
struct ScatterFours : FourPrefixPass<ExecutionSpace, Word, Value> {
  KOKKOS_FUNCTION void operator()(const TeamMember<ExecutionSpace>& team) const {
    if (this->idle()) return;
    const CodeReader<Word> reader = this->reader();
    FourCounts before{this->count_run(team, reader).before};
    const auto move = this->straight();
    const Share mine = this->run(team);
    for (std::size_t i = mine.begin; i < mine.end; ++i) {
      const Word key = move.key(i);
      const std::uint32_t digit = reader.of(key);
      move(i, this->sum(digit, team) + before.of(digit), key);
      before.add(digit);
    }
  }
};

template <class ExecutionSpace, class Word, class Value>
class FourPrefix
    : public TableSort<ExecutionSpace, Word, Value, four_prefix_shape<ExecutionSpace>> {
  using Base = TableSort<ExecutionSpace, Word, Value, four_prefix_shape<ExecutionSpace>>;
  using Base::launch, Base::pass_, Base::plan_, Base::table_;

 public:
  static void sort(const typename Base::Call& call) { FourPrefix(call).run(); }

 private:
  using Base::Base;

  void run() {
    this->set_range();
    for (pass_.pass = 0; pass_.pass < plan_.passes; ++pass_.pass) {
      launch("SumFours", plan_.tiles, 0, SumFours<ExecutionSpace, Word, Value>{{pass_, table_}});
      this->scan_table();
      launch("ScatterFours", plan_.tiles, 0,
             ScatterFours<ExecutionSpace, Word, Value>{{pass_, table_}});
    }
    this->settle();
  }
};

}  // namespace kradix::impl
