// Thrust on the caller's stream. It allocates temporary memory in each call.
#pragma once

#include "peers/absent.hpp"
#include "support/kernels.hpp"

#ifdef KOKKOS_ENABLE_CUDA
#include <thrust/execution_policy.h>
#include <thrust/sort.h>
#endif

namespace bench {

#ifdef KOKKOS_ENABLE_CUDA

template <class Task, bool keeps_ties>
class SortByThrust : public Contender<Task> {
 public:
  static constexpr bool takes_part = std::is_same_v<Space, Kokkos::Cuda> &&
                                     sizeof(typename Task::Key) <= 8 &&
                                     Task::operation != Operation::argsort;
  static constexpr bool stable = keeps_ties;
  static constexpr bool wants_spares = false;
  static bool takes(const Case&) { return true; }
  static std::string name() { return keeps_ties ? "thrust::stable_sort" : "thrust::sort"; }

  explicit SortByThrust(const Case&) {}

  void run(const Space& exec, Arrays<Task>& arrays) override {
    const auto policy = thrust::cuda::par.on(exec.cuda_stream());
    auto* const begin = arrays.keys.data();
    auto* const end = begin + arrays.count();
    if constexpr (Task::operation == Operation::sort) {
      if constexpr (keeps_ties) {
        thrust::stable_sort(policy, begin, end);
      } else {
        thrust::sort(policy, begin, end);
      }
    } else if constexpr (keeps_ties) {
      thrust::stable_sort_by_key(policy, begin, end, arrays.values.data());
    } else {
      thrust::sort_by_key(policy, begin, end, arrays.values.data());
    }
  }
};

#else

template <class Task, bool>
using SortByThrust = Absent<Task>;

#endif

template <class Task>
using ThrustSort = SortByThrust<Task, false>;
template <class Task>
using ThrustStableSort = SortByThrust<Task, true>;

}  // namespace bench
