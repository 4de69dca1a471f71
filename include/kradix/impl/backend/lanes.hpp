// Lanes: the threads of a team that run in step and can look at each other's registers. Each backend
// gives the same verbs under the same names; spaces without them sort by algorithms that need none.
#pragma once

#include <Kokkos_Core.hpp>

#include "kradix/impl/backend/lanes_cuda.hpp"
#include "kradix/impl/backend/lanes_host.hpp"
#include "kradix/impl/tuning.hpp"

namespace kradix::impl {

template <class ExecutionSpace>
struct LanesOf {
  static constexpr bool exist = is_host_space<ExecutionSpace>;
  using type = HostLanes;
};

#if defined(KOKKOS_ENABLE_CUDA) && defined(__CUDACC__)
template <>
struct LanesOf<Kokkos::Cuda> {
  static constexpr bool exist = true;
  using type = CudaLanes;
};
#endif

/// Can teams of this space run kernels written in lane verbs?
template <class ExecutionSpace>
inline constexpr bool has_lanes = LanesOf<ExecutionSpace>::exist;

template <class ExecutionSpace>
using Lanes = typename LanesOf<ExecutionSpace>::type;

}  // namespace kradix::impl
