// Kokkos::sort and Kokkos::Experimental::sort_by_key; an argsort is what a user writes with the latter.
#pragma once

#include <Kokkos_Sort.hpp>

#include "support/kernels.hpp"

namespace bench {

template <class Task>
class KokkosSort : public Contender<Task> {
 public:
  static constexpr bool takes_part = true;
  static constexpr bool stable = false;
  static constexpr bool wants_spares = Task::operation == Operation::argsort;
  static bool takes(const Case&) { return true; }
  static std::string name() {
    return Task::operation == Operation::sort ? "Kokkos::sort" : "Kokkos::sort_by_key";
  }

  explicit KokkosSort(const Case&) {}

  void run(const Space& exec, Arrays<Task>& arrays) override {
    if constexpr (Task::operation == Operation::sort) {
      Kokkos::sort(exec, arrays.keys);
    } else if constexpr (Task::operation == Operation::sort_by_key) {
      Kokkos::Experimental::sort_by_key(exec, arrays.keys, arrays.values);
    } else {
      copy_bytes(exec, arrays.spare_keys.data(), arrays.source.data(),
                 arrays.count() * sizeof(typename Task::Key));
      number(exec, arrays.values);
      Kokkos::Experimental::sort_by_key(exec, arrays.spare_keys, arrays.values);
    }
  }
};

}  // namespace bench
