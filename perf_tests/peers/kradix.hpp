// Ours, with a warm workspace.
#pragma once

#include "support/task.hpp"

namespace bench {

inline kradix::Options kradix_options(const Case& what, kradix::Workspace& workspace) {
  kradix::Options options;
  options.algorithm = what.algorithm;
  options.study = what.study;
  options.workspace = &workspace;
  options.host_wait = what.host_waits ? kradix::HostWait::allowed : kradix::HostWait::never;
  return options;
}

template <class Task>
kradix::Plan kradix_plan(const Space& exec, const Arrays<Task>& arrays, const Case& what) {
  kradix::Workspace workspace;
  const kradix::Options options = kradix_options(what, workspace);
  if constexpr (Task::operation == Operation::sort) {
    return kradix::plan(exec, arrays.keys, options);
  } else if constexpr (Task::operation == Operation::sort_by_key) {
    return kradix::plan_by_key(exec, arrays.keys, arrays.values, options);
  } else {
    return kradix::plan_argsort(exec, arrays.source, arrays.values, options);
  }
}

template <class Task>
class KradixSort : public Contender<Task> {
 public:
  static constexpr bool takes_part = true;
  static constexpr bool stable = true;
  static constexpr bool wants_spares = false;
  static bool takes(const Case&) { return true; }
  static std::string name() { return "Kradix"; }

  explicit KradixSort(const Case& what) : options_(kradix_options(what, workspace_)) {}

  std::optional<std::size_t> temporary_bytes() const override { return workspace_.bytes(); }

  void run(const Space& exec, Arrays<Task>& arrays) override {
    if constexpr (Task::operation == Operation::sort) {
      kradix::sort(exec, arrays.keys, options_);
    } else if constexpr (Task::operation == Operation::sort_by_key) {
      kradix::sort_by_key(exec, arrays.keys, arrays.values, options_);
    } else {
      kradix::argsort(exec, arrays.source, arrays.values, options_);
    }
  }

 private:
  kradix::Workspace workspace_;
  kradix::Options options_;
};

}  // namespace bench
