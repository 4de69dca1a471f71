// The simplest sort of a small array: one team, one kernel, all passes in scratch.
#pragma once

#include "kradix/impl/device/tile_order.hpp"
#include "kradix/impl/study_sort.hpp"

namespace kradix::impl {

template <class ExecutionSpace>
inline constexpr TeamShape one_team_shape = study_shape(Algorithm::one_team,
                                                        is_host_space<ExecutionSpace>);

/// Words for the elements are sorted digit by digit; the elements move once, to the other array and back.
template <class ExecutionSpace, class Word, class Value>
struct SortOneTile : CodePass<ExecutionSpace, Word, Value> {
  using Team = TeamMember<ExecutionSpace>;
  static constexpr TeamShape shape = one_team_shape<ExecutionSpace>;

  static std::size_t scratch_bytes() { return 2 * shape.round() * sizeof(std::uint32_t) + 16; }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    const int passes = this->passes->count;
    if (passes == 0) return;
    auto* const words = take_scratch<std::uint32_t>(team, shape.round());
    SplitTile<shape.threads> split{words, take_scratch<std::uint32_t>(team, shape.round())};
    const auto out = this->first_step();
    const int size = static_cast<int>(this->count);
    for (int p = team.team_rank(); p < size; p += shape.threads) words[p] = TileWord::make(0, p);
    for (int pass = 0; pass < passes; ++pass) {
      const CodeReader<Word> reader = this->reader_of(pass);
      for (int p = team.team_rank(); p < size; p += shape.threads) {
        const auto from = static_cast<int>(TileWord::index(split.words[p]));
        split.words[p] = TileWord::make(reader.of(out.key(from)), from);
      }
      team.team_barrier();
      split.by_bits(team, size, this->width);
    }
    for (int p = team.team_rank(); p < size; p += shape.threads) {
      out(TileWord::index(split.words[p]), p);
    }
    team.team_barrier();
    SortOneTile last = *this;
    last.pass = passes - 1;
    const auto back = last.second_step();
    for (int p = team.team_rank(); p < size; p += shape.threads) back(p, p);
  }
};

template <class ExecutionSpace, class Word, class Value>
class OneTeam : StudySort<ExecutionSpace, Word, Value, one_team_shape<ExecutionSpace>> {
  using Base = StudySort<ExecutionSpace, Word, Value, one_team_shape<ExecutionSpace>>;

 public:
  struct Scratch {
    StudyScratch study;
    static Scratch list(const Plan& plan, ScratchList& list) {
      return {StudyScratch::list(plan, list)};
    }
  };

  static void sort(const StudyCall<ExecutionSpace, Word, Value>& call) { OneTeam(call).run(); }

 private:
  using Base::Base;

  void run() {
    using Kernel = SortOneTile<ExecutionSpace, Word, Value>;
    this->set_range();
    this->pass_.pass = 0;
    if (this->plan_.passes > 0) {
      this->launch("SortOneTile", 1, Kernel::scratch_bytes(), Kernel{this->pass_});
    }
    this->settle();
  }
};

}  // namespace kradix::impl
