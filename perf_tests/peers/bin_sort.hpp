// Kokkos::BinSort as its users set it up for keys: as many bins as half the keys, over the range of the
// keys, with a sort within the bins. One thread sorts a bin by insertion, so that it is for keys that
// spread evenly.
#pragma once

#include <Kokkos_Sort.hpp>
#include <limits>

#include "support/kernels.hpp"

namespace bench {

template <class Task>
class KokkosBinSort : public Contender<Task> {
  using Key = typename Task::Key;

 public:
  static constexpr bool takes_part =
      std::is_same_v<Key, std::uint32_t> || std::is_same_v<Key, std::uint64_t>;
  static constexpr bool stable = false;
  static constexpr bool wants_spares = Task::operation == Operation::argsort;
  static bool takes(const Case& what) {
    return what.count > 1 && what.count <= std::numeric_limits<int>::max() &&
           what.input.distribution == inputs::Distribution::uniform;
  }
  static std::string name() { return "Kokkos::BinSort"; }

  explicit KokkosBinSort(const Case&) {}

  void run(const Space& exec, Arrays<Task>& arrays) override {
    const Array<Key> keys = Task::operation == Operation::argsort ? arrays.spare_keys : arrays.keys;
    if constexpr (Task::operation == Operation::argsort) {
      copy_bytes(exec, keys.data(), arrays.source.data(), arrays.count() * sizeof(Key));
      number(exec, arrays.values);
    }
    Kokkos::MinMaxScalar<Key> range;
    Kokkos::parallel_reduce("bench::FindRange", all_of(exec, arrays.count()), FindRange{keys},
                            Kokkos::MinMax<Key>(range));
    using Bins = Kokkos::BinOp1D<Array<Key>>;
    const Bins bins(static_cast<int>(arrays.count() / 2), range.min_val, range.max_val);
    Kokkos::BinSort<Array<Key>, Bins> sorter(exec, keys, bins, true);
    sorter.create_permute_vector(exec);
    if constexpr (Task::operation != Operation::argsort) sorter.sort(exec, keys);
    if constexpr (Task::operation != Operation::sort) sorter.sort(exec, arrays.values);
  }

  struct FindRange {
    Array<Key> keys;
    KOKKOS_FUNCTION void operator()(std::size_t i, Kokkos::MinMaxScalar<Key>& range) const {
      if (keys(i) < range.min_val) range.min_val = keys(i);
      if (range.max_val < keys(i)) range.max_val = keys(i);
    }
  };
};

}  // namespace bench
