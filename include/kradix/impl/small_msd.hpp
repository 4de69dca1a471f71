// Small sorts in one launch or three: what fits a team's scratch is sorted there; what one sweep over the
// topmost varying digit cuts into such pieces goes through kernels of several phases.
//
// At these sizes a kernel costs its launch, so kernels and passes are what to save. All keys are surveyed
// (which costs no more than a sample), the topmost digit that varies is counted and swept, and each of
// its bins is sorted in scratch. If a bin does not fit, a Onesweep in one kernel goes over all digits.
//
// After Stehle and Jacobsen, "A memory bandwidth-efficient hybrid radix sort on GPUs" (SIGMOD 2017) and
// Adinets and Merrill, "Onesweep" (2022).
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <string>

#include "kradix/impl/device/sort_by_top_digit.hpp"
#include "kradix/impl/device/sort_one_chunk.hpp"
#include "kradix/impl/device/survey_and_clear.hpp"
#include "kradix/impl/device/sweep_all.hpp"
#include "kradix/impl/plan.hpp"

namespace kradix::impl {

struct SmallMsdScratch {
  LookBackShape look_back;
  Slot words;  ///< of the look-back
  Slot tails;  ///< zero at first, as the words and the state are
  Slot state;
  Slot seen;

  /// Nothing for a sort in one launch.
  static SmallMsdScratch list(const Plan& plan, const LookBackShape& most, ScratchList& list) {
    SmallMsdScratch scratch;
    if (plan.count <= plan.chunk) return scratch;
    constexpr std::size_t most_key_words = 2;
    scratch.look_back = most.fitted(plan.tiles);
    scratch.words = list.add(scratch.look_back.bytes(), 1);
    const auto passes = static_cast<std::size_t>(std::max(plan.passes, 1));
    scratch.tails = list.add(passes * scratch.look_back.counters(), sizeof(std::uint64_t));
    scratch.state = list.add(1, sizeof(SmallState));
    scratch.seen = list.add(most_key_words * most_survey_teams, sizeof(std::uint64_t));
    return scratch;
  }
};

/// How the teams of its kernels work.
struct SmallShapes {
  TeamShape tile;    ///< in the sweep over the topmost digit
  TeamShape sweep;   ///< in those over all digits: not smaller
  TeamShape finish;  ///< in a chunk
  TeamShape alone;   ///< in a chunk, pass by pass
  TeamShape tiny;    ///< in a handful of elements

  template <class ExecutionSpace>
  static constexpr SmallShapes of(std::size_t key_bytes, std::size_t value_bytes) {
    return {range_shape<ExecutionSpace>(key_bytes, value_bytes),
            small_sweep_shape<ExecutionSpace>(key_bytes, value_bytes),
            finish_shape<ExecutionSpace>(key_bytes, value_bytes),
            alone_shape<ExecutionSpace>(key_bytes, value_bytes), tiny_shape<ExecutionSpace>()};
  }
};

template <class ExecutionSpace, class Codec, class Value, SmallShapes Shapes>
class SmallMsd {
  using Key = typename Codec::key_type;
  static constexpr TeamShape step_with = count_shape<ExecutionSpace>();
  using Walk = KeyWalk<Key, step_with.threads>;
  using Survey = SurveyAndClear<ExecutionSpace, Codec, step_with.threads>;
  using Any = AnyChunk<ExecutionSpace, Codec, Value, Shapes.finish, Shapes.alone>;

 public:
  SmallMsd(const ExecutionSpace& exec, const Plan& plan, const Codec& codec,
           const SortBuffers<Key, Value>& buffers, const SmallMsdScratch& scratch, std::byte* base,
           const char* label)
      : exec_(exec),
        plan_(plan),
        scratch_(scratch),
        label_(std::string(label) + "::small_msd::"),
        chunk_{buffers, codec, {plan.bits.begin, plan.bits.end}, false},
        base_(base) {
    chunk_.keeps_order = equal_keys_differ(codec, chunk_.all);
  }

  void sort() {
    constexpr bool finishes = Shapes.finish.exists();
    if (plan_.count <= static_cast<std::size_t>(Shapes.tiny.round())) {
      sort_one_chunk<finishes ? Shapes.tiny : TeamShape{0, 0}, Shapes.tiny>();
    } else if (plan_.count <= plan_.chunk) {
      sort_one_chunk<Shapes.finish, Shapes.alone>();
    } else if constexpr (finishes) {
      survey_and_clear();
      sort_by_top_digit();
      sweep_all();
    }
  }

 private:
  template <TeamShape FinishShape, TeamShape AloneShape>
  void sort_one_chunk() {
    using Sort = SortOneChunk<ExecutionSpace, Codec, Value, FinishShape, AloneShape>;
    constexpr TeamShape shape = FinishShape.exists() ? FinishShape : AloneShape;
    launch<shape>(
        "SortOneChunk", 1, Sort::scratch_bytes(),
        Sort{{chunk_.buffers, chunk_.codec, chunk_.all, chunk_.keeps_order}, plan_.count});
  }

  void survey_and_clear() {
    // Words, tails and state lie side by side, the gaps between them included.
    const std::size_t zeros =
        (scratch_.state.offset - scratch_.words.offset + scratch_.state.bytes) /
        sizeof(std::uint64_t);
    launch<step_with>("SurveyAndClear", surveyors(), Survey::scratch_bytes(),
                      Survey{{chunk_.buffers.keys.in, plan_.count},
                             chunk_.codec,
                             scratch_.words.in<std::uint64_t>(base_),
                             zeros,
                             scratch_.seen.in<std::uint64_t>(base_)});
  }

  std::size_t surveyors() const {
    const std::size_t batch = std::size_t{Walk::batch} * step_with.threads;
    return std::min({(plan_.count + batch - 1) / batch, most_survey_teams,
                     resident_teams_of<step_with>(exec_)});
  }

  void sort_by_top_digit() {
    using Sort =
        SortByTopDigit<ExecutionSpace, Codec, Value, Shapes.tile, Shapes.finish, Shapes.alone>;
    const std::size_t tiles = tiles_of(Shapes.tile);
    const std::size_t wanted = std::max<std::size_t>(tiles, bin_count);
    launch<Shapes.finish>(
        "SortByTopDigit", std::min(wanted, resident_teams_of<Shapes.finish>(exec_)),
        Sort::scratch_bytes(),
        Sort{chunk_, plan_.count, tiles, plan_.chunk, scratch_.seen.in<std::uint64_t>(base_),
             surveyors(), state(), look_back<typename Sort::TileLookBack>(tiles)});
  }

  void sweep_all() {
    using Sweep = SweepAll<ExecutionSpace, Codec, Value, Shapes.sweep>;
    const std::size_t tiles = tiles_of(Shapes.sweep);
    launch<Shapes.sweep>("SweepAll", std::min(tiles, resident_teams_of<Shapes.sweep>(exec_)),
                         Sweep::scratch_bytes(),
                         Sweep{chunk_.buffers, chunk_.codec, plan_.count, tiles, state(),
                               look_back<typename Sweep::TileLookBack>(tiles)});
  }

  std::size_t tiles_of(const TeamShape& shape) const {
    const auto size = static_cast<std::size_t>(shape.round());
    return (plan_.count + size - 1) / size;
  }

  /// Either kernel's: only one of them looks back.
  template <class TileLookBack>
  TileLookBack look_back(std::size_t tiles) const {
    return TileLookBack::of(scratch_.words.in<std::uint32_t>(base_),
                            scratch_.tails.in<std::uint64_t>(base_), scratch_.look_back, tiles);
  }

  SmallState* state() const { return scratch_.state.in<SmallState>(base_); }

  template <TeamShape LaunchShape, class Kernel>
  void launch(const char* name, std::size_t teams, std::size_t scratch_bytes,
              const Kernel& kernel) {
    launch_teams<LaunchShape>(exec_, label_ + name, teams, scratch_bytes, kernel);
  }

  const ExecutionSpace& exec_;
  const Plan& plan_;
  const SmallMsdScratch& scratch_;
  std::string label_;
  Any chunk_;
  std::byte* base_;
};

}  // namespace kradix::impl
