// The one switch over algorithms.
#pragma once

#include <cstddef>

#include "kradix/impl/four_kernel.hpp"

namespace kradix::impl {

/// Sorts `buffers` as the plan says; everything is enqueued on `exec`.
template <class ExecutionSpace, class Codec, class Value>
void run(const ExecutionSpace& exec, const Plan& plan, const Codec& codec,
         const SortBuffers<typename Codec::key_type, Value>& buffers,
         const FourKernelScratch& scratch, std::byte* base, const char* label) {
  switch (plan.algorithm) {
    case Algorithm::automatic:  // a plan never leaves the choice open
    case Algorithm::four_kernel:
      constexpr TeamShape shape = team_shape<ExecutionSpace>();
      FourKernel<ExecutionSpace, Codec, Value, shape>(exec, plan, codec, buffers, scratch, base, label)
          .sort();
  }
}

}  // namespace kradix::impl
