// Onesweep: a stable least-significant-digit radix sort that reads and writes keys once a pass.
//
// Adinets and Merrill, "Onesweep: a faster least significant digit radix sort for GPUs" (2022): one read
// counts all digits, then each pass is one kernel whose tiles learn their places by decoupled
// look-back. The look-back lives in a circular buffer, so memory beside the second arrays is constant.
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <bit>
#include <string>

#include "kradix/impl/device/count_all_digits.hpp"
#include "kradix/impl/device/settle.hpp"
#include "kradix/impl/device/sweep_tile.hpp"
#include "kradix/impl/plan.hpp"

namespace kradix::impl {

/// Scratch memory of this algorithm beside the second key and value arrays: at most 2.2 MB for any n.
struct OnesweepScratch {
  Slot words;   ///< of the look-back
  Slot counts;  ///< bins, tickets and tails, which start at zero as the words do
  Slot passes;
  LookBackShape look_back;

  static OnesweepScratch list(const Plan& plan, const LookBackShape& most, ScratchList& list) {
    OnesweepScratch scratch;
    scratch.look_back = most;
    if (plan.tiles <= most.slots()) {
      // Every tile has a slot of its own: none waits for another to leave.
      scratch.look_back.slot_bits = std::bit_width(plan.tiles - 1);
      scratch.look_back.reach = static_cast<std::uint32_t>(scratch.look_back.slots());
      scratch.look_back.group_bits = 0;
    }
    scratch.words = list.add(scratch.look_back.bytes(), 1);
    const std::size_t counts_of_a_pass = bin_count + 1 + scratch.look_back.counters();
    scratch.counts =
        list.add(static_cast<std::size_t>(plan.passes) * counts_of_a_pass, sizeof(std::uint64_t));
    scratch.passes = list.add(1, sizeof(PassTable));
    return scratch;
  }
};

/// One sort by this algorithm. (Tests give a look-back of their own that stalls.)
template <class ExecutionSpace, class Codec, class Value, TeamShape Shape,
          class TileLookBack = LookBack<ExecutionSpace>>
class Onesweep {
  using Key = typename Codec::key_type;
  using Sweep = SweepTile<ExecutionSpace, Codec, Value, Shape, TileLookBack>;
  static constexpr TeamShape count_with = count_shape<ExecutionSpace>();
  using Count = CountAllDigits<ExecutionSpace, Codec, count_with>;
  using List = ListDigits<ExecutionSpace, count_with.threads>;

 public:
  Onesweep(const ExecutionSpace& exec, const Plan& plan, const Codec& codec,
           const SortBuffers<Key, Value>& buffers, const OnesweepScratch& scratch, std::byte* base,
           const char* label)
      : exec_(exec),
        plan_(plan),
        codec_(codec),
        buffers_(buffers),
        scratch_(scratch),
        label_(std::string(label) + "::onesweep::"),
        words_(scratch.words.in<std::uint64_t>(base)),
        bins_(scratch.counts.in<std::uint64_t>(base)),
        passes_(scratch.passes.in<PassTable>(base)) {}

  void sort() {
    const DigitList digits{plan_.bits.begin, plan_.bits.end};
    clear();
    const std::size_t teams = std::min<std::size_t>(plan_.tiles, resident_teams());
    launch<count_with>("CountAllDigits", teams, Count::scratch_bytes(digits.count()),
                       Count{buffers_.keys.in, codec_, plan_.count, digits, bins_});
    launch<count_with>("ListDigits", 1, List::scratch_bytes(),
                       List{plan_.count, digits, bins_, passes_});
    std::uint64_t* const tickets = bins_ + plan_.passes * bin_count;
    std::uint64_t* const tails = tickets + plan_.passes;
    for (int pass = 0; pass < plan_.passes; ++pass) {
      TileLookBack look_back;
      look_back.words = words_;
      look_back.tail = tails + static_cast<std::size_t>(pass) * scratch_.look_back.counters();
      look_back.shape = scratch_.look_back;
      look_back.pass = pass;
      look_back.reuses_slots = plan_.tiles > scratch_.look_back.slots();
      launch<Shape>("SweepTile", plan_.tiles, Sweep::scratch_bytes(),
                    Sweep{buffers_, codec_, plan_.count, digits, passes_, bins_, tickets + pass,
                          look_back, pass});
    }
    settle();
  }

 private:
  /// As many teams as run at once: they stay, so that each adds its sums to the whole's only once.
  std::size_t resident_teams() const {
    return static_cast<std::size_t>(std::max(1, exec_.concurrency() / count_with.threads));
  }

  void clear() {
    using Clear = ClearWords<ExecutionSpace, count_with.threads>;
    const std::size_t words = scratch_.words.bytes / sizeof(std::uint64_t);
    const std::size_t counts = scratch_.counts.bytes / sizeof(std::uint64_t);
    // Words and counts lie side by side, the gap between them included.
    const std::size_t all =
        (scratch_.counts.offset - scratch_.words.offset) / sizeof(std::uint64_t) + counts;
    launch<count_with>(
        "ClearWords",
        std::min<std::size_t>((words + 8 * count_with.threads - 1) / (8 * count_with.threads), 512),
        0, Clear{words_, all});
  }

  void settle() {
    using End = Settle<ExecutionSpace, Codec, Value, count_with.threads>;
    const KeyPass<ExecutionSpace, Codec> keys{
        buffers_.keys, codec_,  plan_.count, plan_.tile, plan_.tiles,
        plan_.round,   passes_, nullptr,     nullptr,    buffers_.leaves_keys};
    launch<count_with>("Settle", plan_.tiles, 0,
                       End{{keys, buffers_.values, buffers_.makes_indices}});
  }

  template <TeamShape LaunchShape, class Kernel>
  void launch(const char* name, std::size_t teams, std::size_t scratch_bytes,
              const Kernel& kernel) {
    launch_teams<LaunchShape>(exec_, label_ + name, teams, scratch_bytes, kernel);
  }

  const ExecutionSpace& exec_;
  const Plan& plan_;
  Codec codec_;
  SortBuffers<Key, Value> buffers_;
  const OnesweepScratch& scratch_;
  std::string label_;
  std::uint64_t* words_;
  std::uint64_t* bins_;
  PassTable* passes_;
};

}  // namespace kradix::impl
