// Kokkos Kernels, of which one header is enough: its bitonic sort of an array on any device, and its
// serial radix sorts, which run where they are called, here on one host thread.
#pragma once

#include "peers/absent.hpp"
#include "support/kernels.hpp"

#ifdef KRADIX_BENCH_KOKKOS_KERNELS
#include <KokkosKernels_Sorting.hpp>
#include <limits>
#endif

namespace bench {

#ifdef KRADIX_BENCH_KOKKOS_KERNELS

/// Launches on the default instance, which is the one that benchmarks use. O(n log² n).
template <class Task>
class KokkosKernelsBitonic : public Contender<Task> {
  using Keys = Array<typename Task::Key>;

 public:
  static constexpr bool takes_part =
      Task::operation == Operation::sort && sizeof(typename Task::Key) <= 8;
  static constexpr bool stable = false;
  static constexpr bool wants_spares = false;
  /// On hosts it is slow enough to take the time of the others.
  static bool takes(const Case& what) {
    return what.count <= (in_host_memory ? 1 << 16 : std::numeric_limits<int>::max() / 2);
  }
  static std::string name() { return "KokkosKernels::bitonicSort"; }

  explicit KokkosKernelsBitonic(const Case&) {}

  void run(const Space&, Arrays<Task>& arrays) override {
    KokkosKernels::bitonicSort<Keys, Space, int>(arrays.keys);
  }
};

template <class Task>
class KokkosKernelsRadix : public Contender<Task> {
  using Key = typename Task::Key;

 public:
  static constexpr bool takes_part =
      in_host_memory && std::is_integral_v<Key> && std::is_unsigned_v<Key> && sizeof(Key) >= 4;
  static constexpr bool stable = true;
  static constexpr bool wants_spares = true;
  static bool takes(const Case&) { return true; }
  static std::string name() {
    return Task::operation == Operation::sort ? "KokkosKernels::SerialRadixSort"
                                              : "KokkosKernels::SerialRadixSort2";
  }

  explicit KokkosKernelsRadix(const Case&) {}

  void run(const Space& exec, Arrays<Task>& arrays) override {
    const std::size_t count = arrays.count();
    Key* const spare = arrays.spare_keys.data();
    if constexpr (Task::operation == Operation::sort) {
      KokkosKernels::SerialRadixSort(arrays.keys.data(), spare, count);
    } else {
      if constexpr (Task::operation == Operation::argsort) {
        copy_bytes(exec, arrays.keys.data(), arrays.source.data(), count * sizeof(Key));
        number(exec, arrays.values);
        exec.fence("bench: before keys are sorted by this thread");
      }
      KokkosKernels::SerialRadixSort2(arrays.keys.data(), spare, arrays.values.data(),
                                      arrays.spare_values.data(), count);
    }
  }
};

#else
template <class Task>
using KokkosKernelsBitonic = Absent<Task>;
template <class Task>
using KokkosKernelsRadix = Absent<Task>;
#endif

}  // namespace bench
