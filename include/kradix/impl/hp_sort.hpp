// H-P sorts: integers in a known range, sorted by histograms (H) and prefix sums (P) alone.
//
// Kozakai, Fujimoto and Wada, "Efficient GPU-implementation for integer sorting based on histogram and
// prefix-sums" (2021), after Eisenstat's O(log n) algorithms on a Sum-CRCW PRAM (2007). No key moves: the
// result is made from counts, so keys come alone. The host waits once, to refuse keys that do not fit.
#pragma once

#include <array>

#include "kradix/impl/device/hp_kernels.hpp"
#include "kradix/impl/study_sort.hpp"

namespace kradix::impl {

/// What the three forms share: one block of memory, the first histogram, and its check.
template <class ExecutionSpace, class Word>
class HpFamily : protected StudySort<ExecutionSpace, Word, NoValue, hp_shape<ExecutionSpace>> {
  using Base = StudySort<ExecutionSpace, Word, NoValue, hp_shape<ExecutionSpace>>;
  using Scanner = ArrayScanner<ExecutionSpace>;

 public:
  /// All work arrays, 64-bit numbers: the document found that one allocation each costs more than the sort.
  struct Scratch {
    StudyScratch study;
    Slot findings, values, keys;  ///< one entry per value of the range, one per key
    Slot tiles, kinds;            ///< hp_compressed: per tile of values; per kind of value, twice
    std::size_t kind_count;
    typename Scanner::Scratch scan;

    static Scratch list(const Plan& plan, ScratchList& list) {
      const auto range = static_cast<std::size_t>(range_size(plan.study));
      const bool compresses = plan.algorithm == Algorithm::hp_compressed;
      const bool distinct = plan.algorithm == Algorithm::hp_distinct;
      Scratch scratch;
      scratch.kind_count = compresses ? std::min(range, plan.count) : 0;
      scratch.study = StudyScratch::list(plan, list);
      scratch.findings = list.add(1, sizeof(HpFindings));
      scratch.values = list.add(range + 1, sizeof(std::uint64_t));
      scratch.keys = list.add(distinct ? 0 : plan.count + 1, sizeof(std::uint64_t));
      scratch.tiles = list.add(compresses ? tiles_of(range, hp_shape<ExecutionSpace>.round()) : 0,
                               sizeof(std::uint64_t));
      scratch.kinds = list.add(2 * scratch.kind_count, sizeof(std::uint64_t));
      scratch.scan = Scanner::Scratch::list(std::max(range, plan.count) + 1, plan.study.scan, list);
      return scratch;
    }
  };

 protected:
  using Call = StudyCall<ExecutionSpace, Word, NoValue>;
  using Bits = typename Base::Bits;
  using Base::plan_;

  explicit HpFamily(const Call& call) : HpFamily(call, listed(call.plan)) {}

  /// The first histogram.
  void count_keys() {
    this->set_range();
    const bool distinct = plan_.algorithm == Algorithm::hp_distinct;
    scanner_.zero(reinterpret_cast<std::uint64_t*>(findings_),
                  sizeof(HpFindings) / sizeof(std::uint64_t));
    scanner_.zero(values_, range_ + 1);
    this->launch(
        "CountCodes", plan_.tiles, 0,
        CountCodes<ExecutionSpace, Word>{this->pass_, values_, static_cast<Bits>(range_), findings_,
                                         distinct, plan_.study.interleaves_loads});
  }

  /// Waits for what the kernels so far found; refuses keys that are not what the caller promised.
  HpFindings judge_keys() const {
    using Host = Kokkos::View<HpFindings, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;
    using Device =
        Kokkos::View<HpFindings, typename ExecutionSpace::memory_space, Kokkos::MemoryUnmanaged>;
    HpFindings found{};
    Kokkos::deep_copy(this->exec_, Host(&found), Device(findings_));
    this->exec_.fence(this->label_ + "fence before the keys are judged");
    const std::string of_all = " of " + std::to_string(plan_.count) + " keys ";
    if (found.outside > 0) {
      refuse_study(plan_.algorithm,
                   "sorts keys within [" + std::to_string(plan_.study.range_begin) + ", " +
                       std::to_string(plan_.study.range_end) + "), but " +
                       std::to_string(found.outside) + of_all + "lie outside, " +
                       std::to_string(ascending(found.outside_key)) + " among them");
    }
    if (found.duplicates > 0) {
      refuse_study(plan_.algorithm, "sorts distinct keys, but " + std::to_string(found.duplicates) +
                                        of_all + "repeat another, " +
                                        std::to_string(ascending(found.duplicate_key)) +
                                        " among them");
    }
    return found;
  }

  void scan(std::uint64_t* data, std::size_t count, bool inclusive) const {
    scanner_.scan({data, count, inclusive, {}});
  }
  void zero(std::uint64_t* data, std::size_t count) const { scanner_.zero(data, count); }

  template <class Kernel>
  void launch_over(const char* kernel_name, std::size_t numbers, const Kernel& kernel) const {
    this->launch(kernel_name, tiles_of(numbers, hp_shape<ExecutionSpace>.round()), 0, kernel);
  }

  void write_codes() const {
    launch_over(
        "WriteCodes", plan_.count,
        WriteCodes<ExecutionSpace, Word>{
            {plan_.count}, keys_, this->pass_.range, this->pass_.codec, this->pass_.keys.result});
  }

  std::size_t range_;  ///< values that keys may have
  std::uint64_t *values_, *keys_, *tiles_, *kinds_;
  std::size_t kind_count_;
  HpFindings* findings_;

 private:
  static Scratch listed(const Plan& plan) {
    ScratchList list;
    return Scratch::list(plan, list);
  }

  HpFamily(const Call& call, const Scratch& scratch)
      : Base(call),
        range_(static_cast<std::size_t>(range_size(call.plan.study))),
        values_(scratch.values.template in<std::uint64_t>(call.scratch)),
        keys_(scratch.keys.template in<std::uint64_t>(call.scratch)),
        tiles_(scratch.tiles.template in<std::uint64_t>(call.scratch)),
        kinds_(scratch.kinds.template in<std::uint64_t>(call.scratch)),
        kind_count_(scratch.kind_count),
        findings_(scratch.findings.template in<HpFindings>(call.scratch)),
        scanner_(call.exec, call.plan.study.scan, scratch.scan, call.scratch, this->label_) {
    const Bits mask = this->pass_.rule.mask;
    this->low_ = descending() ? mask - static_cast<Bits>(call.plan.study.range_end - 1)
                              : static_cast<Bits>(call.plan.study.range_begin);
  }

  /// Of integers the mask of descending order turns every bit, that of a sign only one.
  bool descending() const { return (this->pass_.codec.flip & 1) != 0; }
  std::uint64_t ascending(std::uint64_t encoded) const {
    const auto mask = static_cast<std::uint64_t>(this->pass_.rule.mask);
    return descending() ? mask - encoded : encoded;
  }

  Scanner scanner_;
};

/// H, P, H, P: the histogram's prefix sums tell how many keys go up to each value; their histogram's prefix
/// sums tell for each place how many values are done with by then, which is the value at that place.
template <class ExecutionSpace, class Word>
class HpSort : public HpFamily<ExecutionSpace, Word> {
  using Base = HpFamily<ExecutionSpace, Word>;
  using Base::plan_, Base::range_, Base::values_, Base::keys_;

 public:
  static void sort(const typename Base::Call& call) { HpSort(call).run(); }

 private:
  using Base::Base;

  void run() {
    this->count_keys();
    this->judge_keys();
    this->scan(values_, range_, true);
    this->zero(keys_, plan_.count + 1);
    this->launch_over("CountPrefixes", range_,
                      CountPrefixes<ExecutionSpace>{{range_}, values_, keys_});
    this->scan(keys_, plan_.count, true);
    this->write_codes();
  }
};

/// H, P: of distinct keys the prefix sums are the places.
template <class ExecutionSpace, class Word>
class HpDistinct : public HpFamily<ExecutionSpace, Word> {
  using Base = HpFamily<ExecutionSpace, Word>;
  using Base::range_, Base::values_;

 public:
  static void sort(const typename Base::Call& call) { HpDistinct(call).run(); }

 private:
  using Base::Base;

  void run() {
    this->count_keys();
    this->judge_keys();
    this->scan(values_, range_ + 1, false);
    this->launch_over(
        "WriteDistinct", range_,
        WriteDistinct<ExecutionSpace, Word>{
            {range_}, values_, this->pass_.range, this->pass_.codec, this->pass_.keys.result});
  }
};

/// H, then only the values that occur: the step from each to the next, at the place where it begins, and P.
template <class ExecutionSpace, class Word>
class HpCompressed : public HpFamily<ExecutionSpace, Word> {
  using Base = HpFamily<ExecutionSpace, Word>;
  using Base::kinds_, Base::kind_count_, Base::findings_;
  using Base::plan_, Base::range_, Base::values_, Base::keys_, Base::tiles_;

 public:
  static void sort(const typename Base::Call& call) { HpCompressed(call).run(); }

 private:
  using Base::Base;

  void run() {
    this->count_keys();
    this->launch_over("CountValues", range_,
                      CountValues<ExecutionSpace>{{range_}, values_, tiles_, findings_});
    const auto distinct = static_cast<std::size_t>(this->judge_keys().distinct);
    std::uint64_t *const kinds = kinds_, *const begins = kinds_ + kind_count_;
    this->scan(tiles_, tiles_of(range_, hp_shape<ExecutionSpace>.round()), false);
    this->launch_over("CompressZeros", range_,
                      CompressZeros<ExecutionSpace>{{range_}, values_, tiles_, kinds, begins});
    this->scan(begins, distinct, false);
    this->zero(keys_, plan_.count);
    this->launch_over("SetSteps", distinct,
                      SetSteps<ExecutionSpace>{{distinct}, kinds, begins, keys_});
    this->scan(keys_, plan_.count, true);
    this->write_codes();
  }
};

}  // namespace kradix::impl
