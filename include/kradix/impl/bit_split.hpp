// A bit at a time, by map, scan and scatter of whole arrays.
//
// The data-parallel radix sort that Blelloch's scan model suggests ("Prefix sums and their applications",
// 1990; radix_bit in the Futhark library; partition_by_bit with plus_scan in one block): flag the keys
// whose bit is 0, scan the flags, and every element knows its place.
#pragma once

#include "kradix/impl/study_sort.hpp"

namespace kradix::impl {

template <class ExecutionSpace>
inline constexpr TeamShape bit_split_shape = study_shape(Algorithm::bit_split,
                                                         is_host_space<ExecutionSpace>);

/// Map: 1 for each key whose bit is 0; one more flag, 0, so that the scan tells their number.
template <class ExecutionSpace, class Word, class Value>
struct FlagZeros : CodePass<ExecutionSpace, Word, Value> {
  std::uint64_t* flags;

  KOKKOS_FUNCTION void operator()(const TeamMember<ExecutionSpace>& team) const {
    if (this->idle()) return;
    const CodeReader<Word> reader = this->reader();
    const Word* const keys = this->source_keys();
    const Share tile = this->tile_of(team);
    for (std::size_t i = tile.begin + team.team_rank(); i < tile.end;
         i += bit_split_shape<ExecutionSpace>.threads) {
      flags[i] = reader.of(keys[i]) ^ 1u;
    }
    if (team.league_rank() == 0 && team.team_rank() == 0) flags[this->count] = 0;
  }
};

/// Scatter: zeros to how many zeros come before, ones behind all zeros.
template <class ExecutionSpace, class Word, class Value>
struct ScatterByFlag : CodePass<ExecutionSpace, Word, Value> {
  const std::uint64_t* zeros_before;

  KOKKOS_FUNCTION void operator()(const TeamMember<ExecutionSpace>& team) const {
    if (this->idle()) return;
    const CodeReader<Word> reader = this->reader();
    const auto move = this->straight();
    const std::uint64_t zeros = zeros_before[this->count];
    const Share tile = this->tile_of(team);
    for (std::size_t i = tile.begin + team.team_rank(); i < tile.end;
         i += bit_split_shape<ExecutionSpace>.threads) {
      const Word key = move.keys_in[i];
      const std::uint64_t before = zeros_before[i];
      move(i, reader.of(key) == 0 ? before : zeros + (i - before), key);
    }
  }
};

template <class ExecutionSpace, class Word, class Value>
class BitSplit : StudySort<ExecutionSpace, Word, Value, bit_split_shape<ExecutionSpace>> {
  using Base = StudySort<ExecutionSpace, Word, Value, bit_split_shape<ExecutionSpace>>;
  using Scanner = ArrayScanner<ExecutionSpace>;
  using Base::launch, Base::pass_, Base::plan_;

 public:
  /// Beside the second key and value arrays: 8 bytes an element.
  struct Scratch {
    StudyScratch study;
    Slot flags;
    typename Scanner::Scratch scan;
    static Scratch list(const Plan& plan, ScratchList& list) {
      Scratch scratch;
      scratch.study = StudyScratch::list(plan, list);
      scratch.flags = list.add(plan.count + 1, sizeof(std::uint64_t));
      scratch.scan = Scanner::Scratch::list(plan.count + 1, plan.study.scan, list);
      return scratch;
    }
  };

  static void sort(const StudyCall<ExecutionSpace, Word, Value>& call) {
    BitSplit(call).run(call.scratch);
  }

 private:
  using Base::Base;

  void run(std::byte* base) {
    ScratchList list;
    const Scratch scratch = Scratch::list(plan_, list);
    auto* const flags = scratch.flags.template in<std::uint64_t>(base);
    const Scanner scanner(this->exec_, plan_.study.scan, scratch.scan, base, this->label_);
    this->set_range();
    for (pass_.pass = 0; pass_.pass < plan_.passes; ++pass_.pass) {
      launch("FlagZeros", plan_.tiles, 0, FlagZeros<ExecutionSpace, Word, Value>{pass_, flags});
      scanner.scan({flags, plan_.count + 1, false, this->clock()});
      launch("ScatterByFlag", plan_.tiles, 0,
             ScatterByFlag<ExecutionSpace, Word, Value>{pass_, flags});
    }
    this->settle();
  }
};

}  // namespace kradix::impl
