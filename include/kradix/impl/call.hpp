// One call of a public function: plan it, list its scratch memory, stage its views, run it.
#pragma once

#include <Kokkos_Core.hpp>
#include <Kokkos_Profiling_ScopedRegion.hpp>
#include <cstdint>
#include <string>
#include <type_traits>

#include "kradix/impl/host/few.hpp"
#include "kradix/impl/instantiate.hpp"
#include "kradix/impl/run.hpp"
#include "kradix/impl/stage.hpp"
#include "kradix/impl/study.hpp"
#include "kradix/impl/tuned_choice.hpp"
#include "kradix/options.hpp"
#include "kradix/workspace.hpp"

namespace kradix::impl {

/// Stands for a view that an operation does not have.
struct NoView {};

template <class View>
struct StagedValue {
  using Value = typename View::non_const_value_type;
  using type = Staged<View, value_word<sizeof(Value)>>;
};
template <>
struct StagedValue<NoView> {
  struct type {
    explicit type(NoView) {}
    static bool packs() { return false; }
    static void list(ScratchList&) {}
    static void pack(const auto&, std::byte*, const char*) {}
    static void unpack(const auto&, std::byte*, const char*) {}
  };
};

/// `Out` is where sorted keys go: NoView when they stay in `Keys`' place. `Values` travel with the keys to
/// `ValuesOut`, or in their own place (NoView). Where `ValuesOut` is all that there is of values it becomes the
/// permutation, and nothing else is written.
template <class ExecutionSpace, class Keys, class Out, class Values, class ValuesOut = NoView>
class SortCall {
  template <class View>
  static constexpr bool is_there = !std::is_same_v<View, NoView>;
  using Key = typename Keys::non_const_value_type;
  using KeyWord = key_word<Key>;
  static constexpr bool makes_indices = is_there<ValuesOut> && !is_there<Values>;
  static constexpr bool out_of_place = is_there<Out>;
  static constexpr bool in_place = !out_of_place && !makes_indices;
  static constexpr bool with_values = is_there<Values> || makes_indices;
  static constexpr bool moves_values = is_there<Values> && is_there<ValuesOut>;

  static constexpr std::size_t value_bytes() {
    if constexpr (makes_indices) {
      return sizeof(typename ValuesOut::non_const_value_type);
    } else if constexpr (with_values) {
      return sizeof(typename Values::non_const_value_type);
    } else {
      return 0;
    }
  }
  /// Values without a word of their size do not travel: an index does, and they move once at the end.
  static constexpr bool always_permutes = with_values && !has_value_word(value_bytes());
  template <class View>
  using Words = typename StagedValue<std::conditional_t<always_permutes, NoView, View>>::type;
  /// The algorithms for study move words of few sizes.
  static constexpr bool may_study = has_study && builtin_key<Key>;
  static constexpr bool study_permutes =
      with_values && !always_permutes && !makes_indices && value_bytes() != 4 && value_bytes() != 8;
  static constexpr bool may_permute = always_permutes || (may_study && study_permutes);

 public:
  SortCall(const ExecutionSpace& exec, const Options& options, const Keys& keys, const Out& out,
           const Values& values, const ValuesOut& values_out = {})
      : exec_(exec),
        options_(options),
        keys_view_(keys),
        out_view_(out),
        keys_(keys),
        out_(out),
        values_(values),
        values_out_(values_out),
        words_(words_of(values)),
        words_out_(words_of(values_out)),
        count_(keys.extent(0)),
        studies_(is_study(options.algorithm)),
        permutes_(always_permutes || (studies_ && study_permutes)) {
    if (!is_few_call()) prepare(options.algorithm);
  }

  const Plan& plan() {
    if (is_few_call()) prepare(options_.algorithm);
    return plan_;
  }

  void sort() {
    if (is_few_call()) {
      if constexpr (works_at_once<ExecutionSpace>) sort_few();
      return;
    }
#ifdef KOKKOS_ENABLE_TUNING
    const TunedChoice<ExecutionSpace> choice(exec_, plan_,
                                             options_.algorithm == Algorithm::automatic);
    follow(choice.algorithm());
#endif
    sort_as_planned();
  }

 private:
  bool is_few_call() const {
    return value_bytes() <= most_few_bytes &&
           is_few<ExecutionSpace>(keys_view_, options_, most_few_here());
  }
  std::size_t most_few_here() const {
    if constexpr (FewBySimd<Key>::exists && !with_values) {
      constexpr std::size_t most_copied = FewBySimd<Key>::most_copied;
      if (are_told_apart()) {
        const bool copies = packs_keys() || count_ <= most_copied;
        return copies ? most_copied : FewBySimd<Key>::most_in_place();
      }
    }
    return count_ <= most_inserted ? most_inserted : FewInOrder<Key>::most();
  }
  bool packs_keys() const {
    return keys_.packs() || out_.packs();
  }

  void sort_few() const {
    if constexpr (FewBySimd<Key>::exists && !with_values) {
      if (are_told_apart()) {
        if (packs_keys()) {
          FewBySimd<Key>::sort_copy(keys_view_, sorted_view(), options_.order);
        } else {
          FewBySimd<Key>::sort(keys_.words(nullptr), sorted_words(), count_, options_.order);
        }
        return;
      }
    }
    const FewInOrder<Key> few(keys_view_, options_, !with_values && may_order_equal_keys());
    if constexpr (makes_indices) {
      few.number(values_out_);
    } else {
      if constexpr (with_values) few.move(values_, written(values_, values_out_));
      few.move(keys_view_, sorted_view());
    }
  }

  /// Where the caller wants sorted keys: words if they are not packed.
  KeyWord* sorted_words() const {
    if constexpr (out_of_place) {
      return out_.words(nullptr);
    } else {
      return keys_.words(nullptr);
    }
  }
  const auto& sorted_view() const {
    return written(keys_view_, out_view_);
  }
  /// What is read is written, too, if there is nothing else.
  template <class In, class Other>
  static const auto& written(const In& in, const Other& other) {
    if constexpr (is_there<Other>) {
      return other;
    } else {
      return in;
    }
  }

#ifdef KOKKOS_ENABLE_TUNING
  /// A choice that cannot sort this leaves the plan as it is.
  void follow(Algorithm chosen) {
    if (chosen == Algorithm::automatic || chosen == plan_.algorithm || is_study(chosen)) return;
    try {
      prepare(chosen);
      plan_.reason = "chosen by a tool that tunes";
    } catch (const std::invalid_argument&) {
    }
  }
#endif

  void prepare(Algorithm algorithm) {
    if (studies_ && !may_study) {
      refuse_study(options_.algorithm, has_study ? "sorts built-in keys only"
                                                 : "is in the compiled library only: link "
                                                   "Kradix::compiled, not Kradix::kradix");
    }
    Problem problem;
    problem.count = count_;
    problem.key_bytes = sizeof(Key);
    problem.key_bits = codec_of<Key>::bits;
    problem.bits = options_.bits;
    problem.value_bytes = permutes_ ? index_bytes() : static_cast<int>(value_bytes());
    problem.packs = packs_keys() || (!permutes_ && (words_.packs() || words_out_.packs()));
    problem.permutes = permutes_;
    if constexpr (makes_indices) problem.numbers = has_room_for_words();
    problem.host_may_wait = options_.host_wait == HostWait::allowed &&
                            options_.workspace != nullptr && has_board<ExecutionSpace>;
    problem.forced = algorithm;
    problem.study = options_.study;
    if constexpr (builtin_key<Key>) {
      problem.floating = key_kind<Key>() == KeyKind::floating;
      problem.integral = !problem.floating;
      problem.told_apart = are_told_apart();
    }
    constexpr std::size_t code_bytes = sizeof(typename codec_of<Key>::bits_type);
    plan_ = make_plan(
        problem,
        machine_of(exec_, sizeof(Key), static_cast<std::size_t>(problem.value_bytes), code_bytes));
    if (studies_) plan_study(problem, machine_of(exec_, sizeof(Key), 0, code_bytes), plan_);
    list_scratch();
  }

  /// Does the array of indices begin where a word of 8 bytes may?
  bool has_room_for_words() const {
    if (words_out_.packs()) return true;
    return reinterpret_cast<std::uintptr_t>(words_out_.words(nullptr)) % sizeof(std::uint64_t) == 0;
  }

  void sort_as_planned() {
    const std::string label = options_.label;
    const Kokkos::Profiling::ScopedRegion region(region_name());
    Workspace own;
    Workspace& workspace = options_.workspace ? *options_.workspace : own;
    std::byte* const base =
        aligned_scratch(workspace.reserve(exec_, plan_.temporary_bytes, label + "::workspace"));
    if constexpr (has_board<ExecutionSpace>) {
      if (plan_.waits) algorithm_.msd_hybrid.board = workspace.board(exec_, label + "::board");
    }
    // (A caller's workspace is warm for all sorts, once it is for one.)
    if (meets() || (options_.workspace != nullptr && !works_at_once<ExecutionSpace>))
      algorithm_.small_msd.meeting = workspace.meeting(exec_, label + "::workspace");
    keys_.pack(exec_, base, options_.label);
    if (permutes_) {
      if constexpr (may_permute) {
        if (index_bytes() == 4) {
          sort_index<std::uint32_t>(base);
        } else {
          sort_index<std::uint64_t>(base);
        }
      }
    } else if constexpr (with_values && !always_permutes) {
      using Word = value_word<value_bytes()>;
      words_.pack(exec_, base, options_.label);
      const Word* in = nullptr;
      Word* result = nullptr;
      if constexpr (is_there<Values>) in = result = words_.words(base);
      if constexpr (is_there<ValuesOut>) result = words_out_.words(base);
      sort_words<Word>(base, {in, result, values_other_.in<Word>(base)});
      if constexpr (!is_there<ValuesOut>) words_.unpack(exec_, base, options_.label);
      words_out_.unpack(exec_, base, options_.label);
    } else {
      sort_words<NoValue>(base, {});
    }
    if constexpr (in_place) keys_.unpack(exec_, base, options_.label);
    if constexpr (out_of_place) out_.unpack(exec_, base, options_.label);
  }

  /// Are elements ranked where they lie?
  bool meets() const {
    return (in_place || is_there<Values>)&&plan_.algorithm == Algorithm::small_msd &&
           plan_.count <= plan_.ranked;
  }

  /// Nobody reads it where no tool listens.
  std::string region_name() const {
    if (!Kokkos::Tools::profileLibraryLoaded()) return {};
    return std::string(options_.label) + "::sort [" + summary(plan_) + "]";
  }

  template <class View>
  static Words<View> words_of(const View& values) {
    if constexpr (always_permutes) {
      return Words<View>(NoView{});
    } else {
      return Words<View>(values);
    }
  }
  int index_bytes() const {
    return count_ <= std::size_t{1} << 32 ? 4 : 8;
  }

  void list_scratch() {
    ScratchList list;
    keys_.list(list);
    out_.list(list);
    if (!permutes_) {
      words_.list(list);
      words_out_.list(list);
    }
    const auto count_if = [&](bool needed) { return needed ? count_ : 0; };
    // In place even one pass needs a second array; elsewhere one pass goes straight to its end.
    // Passes of two steps go through the second array every time.
    const ArrayUse use = studies_ ? study_traits(plan_.algorithm).arrays : ArrayUse::straight;
    const bool two_steps = use == ArrayUse::two_steps;
    const bool blocks = plan_.algorithm == Algorithm::blocked_radix;  // they lie in its own scratch
    const bool counts = plan_.algorithm == Algorithm::counting;
    const bool needs_other = !blocks && !counts && plan_.passes > (in_place || two_steps ? 0 : 1);
    // A finish reads keys that a first pass has moved, however few passes there are.
    const bool moves_first =
        blocks || (plan_.algorithm == Algorithm::small_msd && plan_.chunk > 0 && plan_.passes > 2);
    const bool needs_result =
        moves_first ? plan_.count > plan_.chunk : plan_.passes > (two_steps ? 1 : 2);
    // Both arrays for keys side by side hold words of keys and indices.
    keys_other_ = list.add(std::max(count_if(needs_other && use != ArrayUse::none), plan_.dealt),
                           sizeof(Key));
    keys_result_ = list.add(count_if(makes_indices && needs_result), sizeof(Key));
    const auto word_bytes = static_cast<std::size_t>(plan_.value_bytes);
    const bool straight = (is_there<ValuesOut> || permutes_) && !two_steps;
    const std::size_t one_tile = 2 * plan_.numbered;
    values_other_ =
        list.add(count_if(!blocks && plan_.passes > (straight ? 1 : 0)) + one_tile, word_bytes);
    values_result_ = list.add(count_if(permutes_), word_bytes);
    gathered_ = list.add(count_if(permutes_ && !moves_values), value_bytes());
    if constexpr (may_study) {
      if (studies_) study_ = list.add(1, study_scratch_bytes<ExecutionSpace>(plan_));
    }
    if (!studies_) algorithm_ = AlgorithmScratch::list(plan_, list);
    plan_.temporary_bytes = list.bytes();
  }

  template <class Value>
  void sort_words(std::byte* base, const PassBuffers<Value>& values) {
    KeyWord* const in = keys_.words(base);
    KeyWord* result = in;
    if constexpr (out_of_place) result = out_.words(base);
    if constexpr (makes_indices) result = keys_result_.in<KeyWord>(base);
    const SortBuffers<KeyWord, Value> buffers{{in, result, keys_other_.in<KeyWord>(base)},
                                              values,
                                              makes_indices || permutes_,
                                              makes_indices};
    if constexpr (may_study && is_study_value<Value>) {
      if (studies_) {
        const auto codec = make_codec<Key>(options_.order);
        constexpr bool floating = key_kind<Key>() == KeyKind::floating;
        run_study(StudyCall<ExecutionSpace, KeyWord, Value>{exec_,
                                                            plan_,
                                                            {codec.flip, codec.infinity, floating},
                                                            buffers,
                                                            study_.in<std::byte>(base),
                                                            options_.label});
        return;
      }
    }
    const auto codec = make_codec<Key>(options_.order);
    if constexpr (floats_alone<Value>) {
      if (may_order_equal_keys()) {
        run(exec_, plan_, total_order(codec), buffers, algorithm_, base, options_.label);
        return;
      }
    }
    run(exec_, plan_, codec, buffers, algorithm_, base, options_.label);
  }

  template <class Value>
  static constexpr bool floats_alone =
      std::is_same_v<Value, NoValue>&& builtin_key<Key>&& key_kind<Key>() == KeyKind::floating;
  bool orders_by_all_bits() const {
    const BitRange range = options_.bits;
    return range.begin == 0 && (range.end == BitRange::all || range.end == codec_of<Key>::bits);
  }
  bool may_order_equal_keys() const {
    return options_.stability != Stability::stable && orders_by_all_bits();
  }
  /// Built-in keys alone, of which no two differ and are equal?
  bool are_told_apart() const {
    if (with_values || !orders_by_all_bits()) return false;
    return key_kind<Key>() != KeyKind::floating || may_order_equal_keys();
  }

  template <class Index>
  void sort_index(std::byte* base) {
    Index* const index = values_result_.in<Index>(base);
    sort_words<Index>(base, {nullptr, index, values_other_.in<Index>(base)});
    const Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::size_t>> all(exec_, 0, count_);
    const std::string label = options_.label;
    if constexpr (moves_values) {
      Kokkos::parallel_for(label + "::stage::GatherValues", all,
                           GatherValues<Values, Index, ValuesOut>{values_, index, values_out_});
    } else {
      using Value = typename Values::non_const_value_type;
      const Contiguous<Value> gathered{gathered_.in<Value>(base)};
      Kokkos::parallel_for(
          label + "::stage::GatherValues", all,
          GatherValues<Values, Index, Contiguous<Value>>{values_, index, gathered});
      Kokkos::parallel_for(label + "::stage::ReturnValues", all,
                           ReturnValues<Values>{gathered.data, values_});
    }
  }

  const ExecutionSpace& exec_;
  const Options& options_;
  const Keys& keys_view_;
  const Out& out_view_;
  Staged<Keys, KeyWord> keys_;
  typename std::conditional_t<out_of_place, std::type_identity<Staged<Out, KeyWord>>,
                              StagedValue<NoView>>::type out_;
  Values values_;
  ValuesOut values_out_;
  Words<Values> words_;
  Words<ValuesOut> words_out_;
  std::size_t count_;
  bool studies_;   ///< by an algorithm for study
  bool permutes_;  ///< values move once at the end, by a sorted index
  Slot study_;
  Slot keys_other_, keys_result_, values_other_, values_result_, gathered_;
  AlgorithmScratch algorithm_;
  Plan plan_;
};

}  // namespace kradix::impl
