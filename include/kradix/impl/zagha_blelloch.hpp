// Counting by processors: each counts its share, one scan over all counts, each ranks and permutes its share.
//
// Zagha and Blelloch, "Radix sort for vector multiprocessors" (Supercomputing 1991): HISTOGRAM-KEYS,
// SCAN-BUCKETS, RANK-AND-PERMUTE. A processor is one thread here, its buckets are its own, so nothing is
// combined atomically and equal keys keep their order.
#pragma once

#include "kradix/impl/study_sort.hpp"

namespace kradix::impl {

template <class ExecutionSpace>
inline constexpr TeamShape processors_shape = study_shape(Algorithm::zagha_blelloch,
                                                          is_host_space<ExecutionSpace>);

/// What both kernels of a pass know: the buckets lie [digit][processor].
template <class ExecutionSpace, class Word, class Value>
struct ProcessorPass : CodePass<ExecutionSpace, Word, Value> {
  Place* buckets;

  KOKKOS_FUNCTION std::size_t processor(const TeamMember<ExecutionSpace>& team) const {
    constexpr int threads = processors_shape<ExecutionSpace>.threads;
    return static_cast<std::size_t>(team.league_rank()) * threads + team.team_rank();
  }
  KOKKOS_FUNCTION Place& bucket(std::uint32_t digit, std::size_t processor) const {
    return buckets[digit * this->tiles + processor];
  }
  KOKKOS_FUNCTION Share share(std::size_t processor) const {
    return share_of(this->count, this->tile, processor);
  }
};

template <class ExecutionSpace, class Word, class Value>
struct HistogramKeys : ProcessorPass<ExecutionSpace, Word, Value> {
  KOKKOS_FUNCTION void operator()(const TeamMember<ExecutionSpace>& team) const {
    const std::size_t processor = this->processor(team);
    if (this->idle() || processor >= this->tiles) return;
    const CodeReader<Word> reader = this->reader();
    const Word* const keys = this->source_keys();
    for (std::uint32_t d = 0; d < 1u << this->width; ++d) this->bucket(d, processor) = 0;
    const Share mine = this->share(processor);
    for (std::size_t i = mine.begin; i < mine.end; ++i) {
      ++this->bucket(reader.of(keys[i]), processor);
    }
  }
};

template <class ExecutionSpace, class Word, class Value>
struct RankAndPermute : ProcessorPass<ExecutionSpace, Word, Value> {
  KOKKOS_FUNCTION void operator()(const TeamMember<ExecutionSpace>& team) const {
    const std::size_t processor = this->processor(team);
    if (this->idle() || processor >= this->tiles) return;
    const CodeReader<Word> reader = this->reader();
    const auto move = this->straight();
    const Share mine = this->share(processor);
    for (std::size_t i = mine.begin; i < mine.end; ++i) {
      const Word key = move.key(i);
      move(i, this->bucket(reader.of(key), processor)++, key);
    }
  }
};

template <class ExecutionSpace, class Word, class Value>
class ZaghaBlelloch
    : public TableSort<ExecutionSpace, Word, Value, processors_shape<ExecutionSpace>> {
  using Base = TableSort<ExecutionSpace, Word, Value, processors_shape<ExecutionSpace>>;
  using Base::launch, Base::pass_, Base::plan_, Base::table_;

 public:
  static void sort(const typename Base::Call& call) { ZaghaBlelloch(call).run(); }

 private:
  using Base::Base;

  void run() {
    const std::size_t teams = tiles_of(plan_.tiles, Base::shape.threads);
    this->set_range();
    for (pass_.pass = 0; pass_.pass < plan_.passes; ++pass_.pass) {
      launch("HistogramKeys", teams, 0,
             HistogramKeys<ExecutionSpace, Word, Value>{{pass_, table_}});
      this->scan_table();
      launch("RankAndPermute", teams, 0,
             RankAndPermute<ExecutionSpace, Word, Value>{{pass_, table_}});
    }
    this->settle();
  }
};

}  // namespace kradix::impl
