// The cores that the calling thread, and threads that it starts, may run on.
#pragma once

#include <Kokkos_Core.hpp>
#include <vector>
#if defined(KOKKOS_ENABLE_OPENMP) && defined(__linux__)
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#define KRADIX_BENCH_HAS_AFFINITY
#endif

namespace bench {

/// Where OpenMP binds its threads, the caller is bound to the first of its places.
class Affinity {
 public:
#ifdef KRADIX_BENCH_HAS_AFFINITY
  /// To all of OpenMP's places, until restore().
  void widen() {
    if (omp_get_num_places() == 0) return;
    cpu_set_t all;
    CPU_ZERO(&all);
    for (int place = 0; place < omp_get_num_places(); ++place) {
      std::vector<int> cores(static_cast<std::size_t>(omp_get_place_num_procs(place)));
      omp_get_place_proc_ids(place, cores.data());
      for (const int core : cores) CPU_SET(core, &all);
    }
    if (pthread_getaffinity_np(pthread_self(), sizeof before_, &before_) != 0) return;
    widened_ = pthread_setaffinity_np(pthread_self(), sizeof all, &all) == 0;
  }
  void restore() {
    if (widened_) pthread_setaffinity_np(pthread_self(), sizeof before_, &before_);
    widened_ = false;
  }

 private:
  cpu_set_t before_{};
  bool widened_ = false;
#else
  void widen() {}
  void restore() {}
#endif
};

}  // namespace bench
