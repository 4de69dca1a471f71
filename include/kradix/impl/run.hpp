// The one switch over algorithms.
#pragma once

#include <cstddef>
#include <string>

#include "kradix/impl/blocked_radix.hpp"
#include "kradix/impl/counting.hpp"
#include "kradix/impl/four_kernel.hpp"
#include "kradix/impl/msd_hybrid.hpp"
#include "kradix/impl/onesweep.hpp"
#include "kradix/impl/small_msd.hpp"

namespace kradix::impl {

/// Scratch memory of the algorithm that a plan names, beside the second key and value arrays.
struct AlgorithmScratch {
  BlockedRadixScratch blocked_radix;
  FourKernelScratch four_kernel;
  OnesweepScratch onesweep;
  MsdHybridScratch msd_hybrid;
  SmallMsdScratch small_msd;
  CountingScratch counting;

  static AlgorithmScratch list(const Plan& plan, ScratchList& list) {
    AlgorithmScratch scratch;
    if (plan.algorithm == Algorithm::onesweep) {
      scratch.onesweep = OnesweepScratch::list(plan, LookBackShape{}, list);
    } else if (plan.algorithm == Algorithm::msd_hybrid) {
      scratch.msd_hybrid = MsdHybridScratch::list(plan, LookBackShape{}, list);
    } else if (plan.algorithm == Algorithm::small_msd) {
      scratch.small_msd = SmallMsdScratch::list(plan, LookBackShape{}, list);
    } else if (plan.algorithm == Algorithm::counting) {
      scratch.counting = CountingScratch::list(plan, list);
    } else if (plan.algorithm == Algorithm::blocked_radix) {
      scratch.blocked_radix = BlockedRadixScratch::list(plan, list);
    } else {
      scratch.four_kernel = FourKernelScratch::list(plan, list);
    }
    return scratch;
  }
};

/// Sorts `buffers` by passes alone, onesweep or four_kernel.
template <class ExecutionSpace, class Codec, class Value>
void run_passes(const ExecutionSpace& exec, const Plan& plan, const Codec& codec,
                const SortBuffers<typename Codec::key_type, Value>& buffers,
                const AlgorithmScratch& scratch, std::byte* base, const char* label) {
  using Key = typename Codec::key_type;
  constexpr std::size_t value_bytes = std::is_same_v<Value, NoValue> ? 0 : sizeof(Value);
  constexpr TeamShape sweep = sweep_shape<ExecutionSpace>(sizeof(Key), value_bytes);
  if constexpr (has_lanes<ExecutionSpace> && sweep.exists()) {
    if (plan.algorithm == Algorithm::onesweep) {
      Onesweep<ExecutionSpace, Codec, Value, sweep>(exec, plan, codec, buffers, scratch.onesweep,
                                                    base, std::string(label) + "::onesweep::")
          .sort();
      return;
    }
  }
  constexpr TeamShape shape = team_shape<ExecutionSpace>();
  FourKernel<ExecutionSpace, Codec, Value, shape>(exec, plan, codec, buffers, scratch.four_kernel,
                                                  base, label)
      .sort();
}

/// Sorts `buffers` by kernels of teams, as the plan says.
template <class ExecutionSpace, class Codec, class Value>
void run_in_teams(const ExecutionSpace& exec, const Plan& plan, const Codec& codec,
                  const SortBuffers<typename Codec::key_type, Value>& buffers,
                  const AlgorithmScratch& scratch, std::byte* base, const char* label) {
  using Key = typename Codec::key_type;
  constexpr std::size_t value_bytes = std::is_same_v<Value, NoValue> ? 0 : sizeof(Value);
  if constexpr (has_lanes<ExecutionSpace> && invertible_codec<Codec> && value_bytes == 0 &&
                sizeof(Key) <= 2) {
    if (plan.algorithm == Algorithm::counting) {
      constexpr CountingShapes shapes = CountingShapes::of<ExecutionSpace>(sizeof(Key));
      Counting<ExecutionSpace, Codec, shapes>(exec, plan, codec, buffers.keys, scratch.counting,
                                              base, label)
          .sort();
      return;
    }
  }
  constexpr TeamShape sweep = sweep_shape<ExecutionSpace>(sizeof(Key), value_bytes);
  if constexpr (has_lanes<ExecutionSpace> && sweep.exists()) {
    constexpr std::size_t code_bytes = sizeof(typename Codec::bits_type);
    if constexpr (rank_shape<ExecutionSpace>(sizeof(Key), value_bytes, code_bytes).exists()) {
      if (plan.algorithm == Algorithm::small_msd) {
        constexpr SmallShapes shapes =
            SmallShapes::of<ExecutionSpace>(sizeof(Key), value_bytes, code_bytes);
        SmallMsd<ExecutionSpace, Codec, Value, shapes>(exec, plan, codec, buffers,
                                                       scratch.small_msd, base, label)
            .sort();
        return;
      }
    }
    constexpr TeamShape finish = finish_shape<ExecutionSpace>(sizeof(Key), value_bytes);
    if constexpr (finish.exists()) {
      if (plan.algorithm == Algorithm::msd_hybrid) {
        constexpr TeamShape range = range_shape<ExecutionSpace>(sizeof(Key), value_bytes);
        constexpr TeamShape alone = alone_shape<ExecutionSpace>(sizeof(Key), value_bytes);
        const auto finish_with = [&]<TeamShape shape>() {
          MsdHybrid<ExecutionSpace, Codec, Value, sweep, shape, alone, range>(
              exec, plan, codec, buffers, scratch.msd_hybrid, base, label)
              .sort(route_rule(plan));
        };
        constexpr TeamShape twice = long_finish_shape<ExecutionSpace>(sizeof(Key), value_bytes, 2);
        constexpr TeamShape longest =
            long_finish_shape<ExecutionSpace>(sizeof(Key), value_bytes, 4);
        if constexpr (twice.exists()) {
          if (plan.chunk == static_cast<std::size_t>(twice.round())) {
            finish_with.template operator()<twice>();
            return;
          }
          if (plan.chunk == static_cast<std::size_t>(longest.round())) {
            finish_with.template operator()<longest>();
            return;
          }
        }
        finish_with.template operator()<finish>();
        return;
      }
    }
  }
  run_passes(exec, plan, codec, buffers, scratch, base, label);
}

/// Sorts `buffers` as the plan says; everything is enqueued on `exec`.
template <class ExecutionSpace, class Codec, class Value>
void run(const ExecutionSpace& exec, const Plan& plan, const Codec& codec,
         const SortBuffers<typename Codec::key_type, Value>& buffers,
         const AlgorithmScratch& scratch, std::byte* base, const char* label) {
  if constexpr (works_at_once<ExecutionSpace>) {
    if (plan.algorithm == Algorithm::blocked_radix) {
      BlockedRadix<ExecutionSpace, Codec, Value>(exec, plan, codec, buffers, scratch.blocked_radix,
                                                 base, label)
          .sort();
      return;
    }
  }
  run_in_teams(exec, plan, codec, buffers, scratch, base, label);
}

}  // namespace kradix::impl
