// Times of work enqueued on an execution-space instance: device events where there are some.
#pragma once

#include <Kokkos_Core.hpp>
#include <chrono>
#include <stdexcept>
#include <string>

namespace bench {

/// start() and stop() surround the work; stop() waits for it and returns seconds.
template <class ExecutionSpace>
class Stopwatch {
 public:
  explicit Stopwatch(const ExecutionSpace& exec) : exec_(exec) {}

  void start() {
    exec_.fence("bench: before the clock starts");
    start_ = Clock::now();
  }
  double stop() {
    exec_.fence("bench: before the clock stops");
    return std::chrono::duration<double>(Clock::now() - start_).count();
  }

 private:
  using Clock = std::chrono::steady_clock;
  ExecutionSpace exec_;
  Clock::time_point start_;
};

#ifdef KOKKOS_ENABLE_CUDA
inline void check(cudaError_t status, const char* what) {
  if (status != cudaSuccess) {
    throw std::runtime_error(std::string("bench: ") + what + ": " + cudaGetErrorString(status));
  }
}

template <>
class Stopwatch<Kokkos::Cuda> {
 public:
  explicit Stopwatch(const Kokkos::Cuda& exec) : exec_(exec) {
    check(cudaEventCreate(&start_), "cudaEventCreate");
    check(cudaEventCreate(&stop_), "cudaEventCreate");
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;
  ~Stopwatch() {
    (void)cudaEventDestroy(start_);
    (void)cudaEventDestroy(stop_);
  }

  void start() {
    exec_.fence("bench: before the clock starts");
    check(cudaEventRecord(start_, exec_.cuda_stream()), "cudaEventRecord");
  }
  double stop() {
    check(cudaEventRecord(stop_, exec_.cuda_stream()), "cudaEventRecord");
    check(cudaEventSynchronize(stop_), "the work that was timed");
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, start_, stop_), "cudaEventElapsedTime");
    return milliseconds * 1e-3;
  }

 private:
  Kokkos::Cuda exec_;
  cudaEvent_t start_, stop_;
};
#endif

}  // namespace bench
