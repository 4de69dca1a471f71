// The C++ library, where keys lie in the host's memory. It sorts one array: pairs are put together
// and taken apart again within the time measured.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "support/task.hpp"

namespace bench {

template <class Task>
class StdSort : public Contender<Task> {
 public:
  static constexpr bool takes_part = in_host_memory && Task::operation == Operation::sort;
  static constexpr bool stable = false;
  static constexpr bool wants_spares = false;
  static bool takes(const Case&) { return true; }
  static std::string name() { return "std::sort"; }

  explicit StdSort(const Case&) {}

  void run(const Space&, Arrays<Task>& arrays) override {
    auto* const keys = arrays.keys.data();
    std::sort(keys, keys + arrays.count());
  }
};

template <class Task>
class StdStableSort : public Contender<Task> {
  using Key = typename Task::Key;
  using Value = typename Task::Value;
  struct Pair {
    Key key;
    Value value;
  };

 public:
  static constexpr bool takes_part = in_host_memory && Task::operation != Operation::sort;
  static constexpr bool stable = true;
  static constexpr bool wants_spares = false;
  static bool takes(const Case&) { return true; }
  static std::string name() { return "std::stable_sort"; }

  explicit StdStableSort(const Case& what)
      : pairs_(Task::operation == Operation::sort_by_key ? what.count : 0) {}

  void run(const Space&, Arrays<Task>& arrays) override {
    if constexpr (Task::operation == Operation::argsort) {
      sort_indices(arrays);
    } else {
      sort_pairs(arrays);
    }
  }

 private:
  void sort_indices(Arrays<Task>& arrays) {
    const Key* const keys = arrays.source.data();
    Value* const indices = arrays.values.data();
    std::iota(indices, indices + arrays.count(), Value{0});
    std::stable_sort(indices, indices + arrays.count(),
                     [keys](Value a, Value b) { return keys[a] < keys[b]; });
  }

  void sort_pairs(Arrays<Task>& arrays) {
    Key* const keys = arrays.keys.data();
    Value* const values = arrays.values.data();
    for (std::size_t i = 0; i < pairs_.size(); ++i) pairs_[i] = {keys[i], values[i]};
    std::stable_sort(pairs_.begin(), pairs_.end(),
                     [](const Pair& a, const Pair& b) { return a.key < b.key; });
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      keys[i] = pairs_[i].key;
      values[i] = pairs_[i].value;
    }
  }

  std::vector<Pair> pairs_;
};

}  // namespace bench
