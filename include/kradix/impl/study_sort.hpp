// What the algorithms for study share on the host: the range of the keys, then passes, then the end.
#pragma once

#include <Kokkos_Core.hpp>
#include <string>

#include "kradix/impl/device/array_scan.hpp"
#include "kradix/impl/device/code_pass.hpp"
#include "kradix/impl/device/code_range.hpp"
#include "kradix/impl/device/settle.hpp"
#include "kradix/impl/study_plan.hpp"

namespace kradix::impl {

/// One call of an algorithm for study.
template <class ExecutionSpace, class Word, class Value>
struct StudyCall {
  const ExecutionSpace& exec;
  const Plan& plan;
  StudyCodec<Word> codec;
  const SortBuffers<Word, Value>& buffers;
  std::byte* scratch;  ///< as much as the algorithm listed
  const char* label;
};

/// Scratch memory that all of them need.
struct StudyScratch {
  static constexpr std::size_t most_measuring_threads = 65536;
  Slot range, passes, seen;

  static StudyScratch list(const Plan& plan, ScratchList& list) {
    constexpr std::size_t widest_bits = 16;
    const bool measures = plan.study.map != RangeMap::none;
    return {list.add(1, 4 * widest_bits), list.add(2, sizeof(PassTable)),
            list.add(measures ? most_measuring_threads : 0, 2 * widest_bits)};
  }
};

/// `Shape` is that of most kernels of the algorithm.
template <class ExecutionSpace, class Word, class Value, TeamShape Shape>
class StudySort {
 protected:
  using Space = ExecutionSpace;
  using Pass = CodePass<ExecutionSpace, Word, Value>;
  using Call = StudyCall<ExecutionSpace, Word, Value>;
  using Bits = typename StudyCodec<Word>::bits_type;
  static constexpr TeamShape shape = Shape;

  explicit StudySort(const Call& call)
      : exec_(call.exec),
        plan_(call.plan),
        label_(std::string(call.label) + "::" + std::string(name(call.plan.algorithm)) + "::"),
        two_steps_(study_traits(call.plan.algorithm).arrays == ArrayUse::two_steps) {
    ScratchList list;
    const StudyScratch scratch = StudyScratch::list(plan_, list);
    auto* const range = scratch.range.in<CodeRange<Word>>(call.scratch);
    seen_ = scratch.seen.in<Extremes<Bits>>(call.scratch);
    range_ = range;
    pass_.keys = call.buffers.keys;
    pass_.codec = call.codec;
    pass_.count = plan_.count;
    pass_.tile = plan_.tile;
    pass_.tiles = plan_.tiles;
    pass_.round = plan_.round;
    pass_.passes = scratch.passes.in<PassTable>(call.scratch);
    pass_.places = nullptr;
    pass_.bins = nullptr;
    pass_.leaves_keys = call.buffers.leaves_keys;
    pass_.values = call.buffers.values;
    pass_.makes_indices = call.buffers.makes_indices;
    pass_.rule = rule_of(call);
    pass_.range = range;
    pass_.width = plan_.digit_bits;
  }

  /// Learns the range of the keys if it is mapped, and with it the number of passes.
  void set_range() {
    constexpr TeamShape measuring{is_host_space<Space> ? 1 : 256, 1};
    std::size_t threads = 0;
    if (plan_.study.map != RangeMap::none) {
      const std::size_t teams = std::min<std::size_t>(256, plan_.tiles);
      threads = teams * measuring.threads;
      launch<measuring>("MeasureRange", teams, 0,
                        MeasureRange<Space, Word, measuring.threads>{pass_.keys.in, plan_.count,
                                                                     pass_.rule, seen_});
    }
    using Set = SetRange<Space, Word, measuring.threads>;
    launch<measuring>(
        "SetRange", 1, Set::scratch_bytes(),
        Set{seen_, threads, pass_.rule, plan_.bits.end - plan_.bits.begin, plan_.digit_bits,
            two_steps_, low_, range_, pass_.passes, pass_.passes + 1});
  }

  /// Copies what the passes left elsewhere.
  void settle() {
    launch("Settle", plan_.tiles, 0,
           Settle<Space, Word, Value, shape.threads>{pass_.buffers(), pass_.passes + 1, pass_.count,
                                                     pass_.tile});
  }

  PassClock clock() const { return {pass_.passes, pass_.pass}; }

  template <TeamShape LaunchShape = Shape, class Kernel>
  void launch(const char* kernel_name, std::size_t teams, std::size_t scratch_bytes,
              const Kernel& kernel) const {
    launch_teams<LaunchShape>(exec_, label_ + kernel_name, teams, scratch_bytes, kernel);
  }

  const ExecutionSpace& exec_;
  const Plan& plan_;
  std::string label_;
  Pass pass_;
  Bits low_ = 0;  ///< subtracted from every code; a mapped range has its own

 private:
  static CodeRule<Word> rule_of(const Call& call) {
    const BitRange bits = call.plan.bits;
    const bool none = bits.begin == bits.end;  // then a shift by all bits would be undefined
    const Bits mask = low_mask<Bits>(bits.end) & static_cast<Bits>(~low_mask<Bits>(bits.begin));
    return {call.codec, none ? Bits{0} : mask, none ? 0 : bits.begin, call.plan.study.map};
  }

  bool two_steps_;
  CodeRange<Word>* range_;
  Extremes<Bits>* seen_;
};

/// A sort whose passes count into one table, [digit][tile], scan it, and move elements by it.
template <class ExecutionSpace, class Word, class Value, TeamShape Shape>
class TableSort : protected StudySort<ExecutionSpace, Word, Value, Shape> {
  using Scanner = ArrayScanner<ExecutionSpace>;

 public:
  struct Scratch {
    StudyScratch study;
    Slot table;
    typename Scanner::Scratch scan;
    std::size_t entries;

    static Scratch list(const Plan& plan, ScratchList& list) {
      Scratch scratch;
      scratch.entries = plan.tiles << plan.digit_bits;
      scratch.study = StudyScratch::list(plan, list);
      scratch.table = list.add(scratch.entries, sizeof(Place));
      scratch.scan = Scanner::Scratch::list(scratch.entries, plan.study.scan, list);
      return scratch;
    }
  };

 protected:
  using Call = StudyCall<ExecutionSpace, Word, Value>;

  explicit TableSort(const Call& call) : TableSort(call, listed(call.plan)) {}

  void scan_table() { scanner_.scan({table_, entries_, false, this->clock()}); }

  Place* table_;

 private:
  static Scratch listed(const Plan& plan) {
    ScratchList list;
    return Scratch::list(plan, list);
  }
  TableSort(const Call& call, const Scratch& scratch)
      : StudySort<ExecutionSpace, Word, Value, Shape>(call),
        table_(scratch.table.template in<Place>(call.scratch)),
        entries_(scratch.entries),
        scanner_(call.exec, call.plan.study.scan, scratch.scan, call.scratch, this->label_) {}

  std::size_t entries_;
  Scanner scanner_;
};

}  // namespace kradix::impl
