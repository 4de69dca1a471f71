// One operation on one pair of types: its arrays, and who competes in it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "support/case.hpp"

namespace bench {

/// Stands where keys travel alone.
struct NoValue {};

struct alignas(16) Value16 {
  std::uint64_t low, high;
};

/// Values are the indices of their keys, so that a result proves where every element came from.
template <class Value>
KOKKOS_FUNCTION Value value_of(std::uint64_t index) {
  if constexpr (std::is_same_v<Value, Value16>) {
    return {index, ~index};
  } else {
    return static_cast<Value>(index);
  }
}
/// The inverse; a damaged value gives an index that no array has.
template <class Value>
KOKKOS_FUNCTION std::uint64_t index_of(const Value& value) {
  if constexpr (std::is_same_v<Value, Value16>) {
    return value.high == ~value.low ? value.low : ~std::uint64_t{0};
  } else {
    return value;
  }
}

template <Operation What, class KeyType, class ValueType>
struct Task {
  static constexpr Operation operation = What;
  using Key = KeyType;
  using Value = ValueType;
};

template <class T>
using Array = Kokkos::View<T*, Space::memory_space>;

/// sort and sort_by_key work in place on `keys` and `values`; argsort leaves the permutation in
/// `values`. `source` holds the unsorted keys and is left alone. Peers that move between two arrays
/// use the spare ones, and may swap them with the others.
template <class Task>
struct Arrays {
  using Key = typename Task::Key;
  using Value = typename Task::Value;
  static constexpr bool with_values = Task::operation != Operation::sort;

  Arrays(const Space& exec, std::size_t count, bool with_spares)
      : source(allocate<Key>(exec, "source", count)),
        keys(allocate<Key>(exec, "keys", count)),
        values(allocate<Value>(exec, "values", with_values ? count : 0)),
        spare_keys(allocate<Key>(exec, "spare keys", with_spares ? count : 0)),
        spare_values(
            allocate<Value>(exec, "spare values", with_spares && with_values ? count : 0)) {}

  std::size_t count() const { return source.extent(0); }

  Array<Key> source, keys;
  Array<Value> values;
  Array<Key> spare_keys;
  Array<Value> spare_values;

 private:
  template <class T>
  static Array<T> allocate(const Space& exec, const char* label, std::size_t count) {
    return Array<T>(
        Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, std::string("bench::") + label),
        count);
  }
};

/// Someone who does the task. A peer is a class template over tasks, constructed untimed with the case
/// (memory that a caller would keep from call to call is taken there), with these static members:
///   takes_part      whether it can do this task in this build; the others are needed only then
///   takes(case)     whether it can do this case
///   name()          as its users call it
///   stable          whether ties keep their order
///   wants_spares    whether it uses the spare arrays
template <class Task>
class Contender {
 public:
  virtual ~Contender() = default;
  virtual void run(const Space& exec, Arrays<Task>& arrays) = 0;
  /// Around each run, while no clock runs.
  virtual void before_run() {}
  virtual void after_run() {}
  /// Beside the caller's arrays; asked after a run.
  virtual std::optional<std::size_t> temporary_bytes() const { return std::nullopt; }
};

}  // namespace bench
