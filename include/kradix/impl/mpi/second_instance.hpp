// A second instance of the caller's execution space, for what is done beside a sort.
#pragma once

#include <Kokkos_Core.hpp>
#include <optional>
#include <type_traits>

#include "kradix/impl/mpi/check.hpp"
#include "kradix/impl/tuning.hpp"

namespace kradix::impl::mpi {

#ifdef KOKKOS_ENABLE_CUDA
inline void check_cuda(cudaError_t code, const char* call) {
  if (code == cudaSuccess) return;
  (void)cudaGetLastError();  // nobody else's
  fail(call, cudaGetErrorString(code));
}
#endif

/// Where copies, messages and searches are enqueued while the caller's instance sorts or merges. One per communicator, and
/// one for NCCL's messages. Before a sort's, whose teams would otherwise keep all processors until their kernel ends: the
/// exchange has the longer way to go, and on all ranks at once. On hosts, where nothing goes on beside anything, it is the
/// caller's.
template <class ExecutionSpace>
class SecondInstance {
 public:
  SecondInstance() = default;
  SecondInstance(const SecondInstance&) = delete;
  SecondInstance& operator=(const SecondInstance&) = delete;
  ~SecondInstance() {
    instance_.reset();
#ifdef KOKKOS_ENABLE_CUDA
    if (event_) (void)cudaEventDestroy(event_);
    if (stream_) (void)cudaStreamDestroy(stream_);
#endif
  }

  const ExecutionSpace& beside(const ExecutionSpace& exec) {
    if constexpr (is_host_space<ExecutionSpace>) return exec;
    if (!instance_) make(exec);
    return *instance_;
  }

  /// It waits for what `exec` has been given.
  void follow(const ExecutionSpace& exec) {
    order(exec, beside(exec));
  }
  /// `exec` waits for what it has been given.
  void precede(const ExecutionSpace& exec) {
    order(beside(exec), exec);
  }

 private:
  void order([[maybe_unused]] const ExecutionSpace& first,
             [[maybe_unused]] const ExecutionSpace& then) {
    if constexpr (!is_host_space<ExecutionSpace>) {
#ifdef KOKKOS_ENABLE_CUDA
      if constexpr (std::is_same_v<ExecutionSpace, Kokkos::Cuda>) {
        if (!event_) {
          check_cuda(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming),
                     "cudaEventCreateWithFlags");
        }
        check_cuda(cudaEventRecord(event_, first.cuda_stream()), "cudaEventRecord");
        check_cuda(cudaStreamWaitEvent(then.cuda_stream(), event_, 0), "cudaStreamWaitEvent");
        return;
      }
#endif
      first.fence("kradix::mpi: fence before another instance goes on");
    }
  }

  void make(const ExecutionSpace& exec) {
#ifdef KOKKOS_ENABLE_CUDA
    if constexpr (std::is_same_v<ExecutionSpace, Kokkos::Cuda>) {
      int least = 0, greatest = 0;
      (void)cudaSetDevice(exec.cuda_device());
      if (cudaDeviceGetStreamPriorityRange(&least, &greatest) == cudaSuccess &&
          cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, greatest) == cudaSuccess) {
        instance_.emplace(stream_);
        return;
      }
    }
#endif
    instance_ = Kokkos::Experimental::partition_space(exec, 1)[0];
  }

#ifdef KOKKOS_ENABLE_CUDA
  cudaStream_t stream_ = nullptr;
  cudaEvent_t event_ = nullptr;
#endif
  std::optional<ExecutionSpace> instance_;
};

/// One more, of equal rank, for kernels that are best done beside others of the caller's.
template <class ExecutionSpace>
class TwinInstance : public SecondInstance<ExecutionSpace> {};

}  // namespace kradix::impl::mpi
