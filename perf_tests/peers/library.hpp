// Other libraries' sorts of host memory as contenders. Those that sort an array of pairs have them put
// together and taken apart within the time measured, on all threads.
#pragma once

#include <chrono>
#include <thread>

#include "peers/library_sorts.hpp"
#include "support/affinity.hpp"
#include "support/kernels.hpp"

namespace bench {

template <class Pair>
struct JoinPairs {
  const decltype(Pair::key)* keys;
  const decltype(Pair::value)* values;
  Pair* pairs;
  void operator()(std::size_t i) const { pairs[i] = {keys[i], values[i]}; }
};
template <class Pair>
struct SplitPairs {
  const Pair* pairs;
  decltype(Pair::key)* keys;
  decltype(Pair::value)* values;
  void operator()(std::size_t i) const {
    keys[i] = pairs[i].key;
    values[i] = pairs[i].value;
  }
};

template <class Task, class Library>
class LibrarySort : public Contender<Task> {
  using Key = typename Task::Key;
  using Value = typename Task::Value;
  using Pair = library::Pair<Key, Value>;
  static constexpr bool alone = Task::operation == Operation::sort;
  static constexpr bool together = !alone && Library::pairs == library::Pairs::together;

  static constexpr bool can_do() {
    if constexpr (alone) return library::has_key<Key>;
    return Task::operation == Operation::sort_by_key && Library::pairs != library::Pairs::none &&
           library::has_pair<Key, Value>;
  }

 public:
  static constexpr bool takes_part = Library::built && in_host_memory && can_do();
  static constexpr bool stable = Library::stable;
  static constexpr bool wants_spares = false;
  static bool takes(const Case&) { return Library::runs_here(); }
  static std::string name() { return Library::name(!alone); }

  explicit LibrarySort(const Case& what)
      : pairs_(Kokkos::view_alloc("bench::pairs", Kokkos::WithoutInitializing),
               together ? what.count : 0) {}

  /// Threads inherit the one core that OpenMP may have bound the caller to, and those of Kokkos go on
  /// looking for work for a while.
  void before_run() override {
    if constexpr (Library::starts_threads) {
      affinity_.widen();
      std::this_thread::sleep_for(std::chrono::milliseconds(3));
    }
  }
  void after_run() override { affinity_.restore(); }

  void run(const Space& exec, Arrays<Task>& arrays) override {
    Key* const keys = arrays.keys.data();
    const std::size_t count = arrays.count();
    const int threads = exec.concurrency();
    if constexpr (alone) {
      Library::sort(keys, count, threads);
    } else if constexpr (together) {
      Value* const values = arrays.values.data();
      Kokkos::parallel_for("bench::JoinPairs", all_of(exec, count),
                           JoinPairs<Pair>{keys, values, pairs_.data()});
      exec.fence("bench: before pairs are sorted");
      Library::sort(pairs_.data(), count, threads);
      Kokkos::parallel_for("bench::SplitPairs", all_of(exec, count),
                           SplitPairs<Pair>{pairs_.data(), keys, values});
    } else {
      Library::sort(keys, arrays.values.data(), count, threads);
    }
  }

 private:
  Kokkos::View<Pair*, Kokkos::HostSpace> pairs_;
  Affinity affinity_;
};

/// For the table: LibraryPeer<...>::Sort is a template over tasks.
template <class Library>
struct LibraryPeer {
  template <class Task>
  using Sort = LibrarySort<Task, Library>;
};

}  // namespace bench
