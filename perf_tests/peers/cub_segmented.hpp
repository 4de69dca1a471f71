// CUB's sorts of segments, given one that is all of the array. (Its DeviceTopK cannot be given all of it:
// what it returns is in no order.)
#pragma once

#include "peers/absent.hpp"
#include "support/kernels.hpp"

#ifdef KOKKOS_ENABLE_CUDA
#include <cub/cub.cuh>

#include "support/stopwatch.hpp"
#endif

namespace bench {

#ifdef KOKKOS_ENABLE_CUDA

template <class Task, bool by_radix>
class CubSegmentedSort : public Contender<Task> {
  using Key = typename Task::Key;
  using Value = typename Task::Value;
  static constexpr bool alone = Task::operation == Operation::sort;

 public:
  static constexpr bool takes_part =
      std::is_same_v<Space, Kokkos::Cuda> && Task::operation != Operation::argsort &&
      (std::is_same_v<Key, std::uint32_t> ||
       std::is_same_v<Key, std::uint64_t>)&&(alone || sizeof(Value) == 4);
  static constexpr bool stable = by_radix;
  static constexpr bool wants_spares = true;
  /// One team sorts a segment: more keys would only take the time of the others.
  static bool takes(const Case& what) { return what.count <= std::size_t{1} << 22; }
  static std::string name() { return by_radix ? "CUB segmented radix" : "CUB segmented"; }

  explicit CubSegmentedSort(const Case& what)
      : count_(static_cast<int>(what.count)), ends_("bench::segment", 2) {
    Kokkos::deep_copy(Kokkos::subview(ends_, 1), count_);
    Buffers none;
    check(sort(nullptr, nullptr, none), "the size of CUB's temporary memory");
    temporary_ = Array<char>(Kokkos::view_alloc("bench::CUB", Kokkos::WithoutInitializing), bytes_);
  }

  std::optional<std::size_t> temporary_bytes() const override {
    return bytes_ + static_cast<std::size_t>(count_) * (sizeof(Key) + (alone ? 0 : sizeof(Value)));
  }

  void run(const Space& exec, Arrays<Task>& arrays) override {
    Buffers both;
    both.keys = {arrays.keys.data(), arrays.spare_keys.data()};
    if constexpr (!alone) both.values = {arrays.values.data(), arrays.spare_values.data()};
    check(sort(&exec, temporary_.data(), both), "CUB");
    if (both.keys.selector == 1) std::swap(arrays.keys, arrays.spare_keys);
    if (both.values.selector == 1) std::swap(arrays.values, arrays.spare_values);
  }

 private:
  struct Buffers {
    cub::DoubleBuffer<Key> keys;
    cub::DoubleBuffer<Value> values;
  };

  cudaError_t sort(const Space* exec, void* temporary, Buffers& both) {
    const cudaStream_t stream = exec ? exec->cuda_stream() : nullptr;
    const int *const begin = ends_.data(), *const end = begin + 1;
    constexpr int bits = 8 * sizeof(Key);
    if constexpr (by_radix && alone) {
      return cub::DeviceSegmentedRadixSort::SortKeys(temporary, bytes_, both.keys, count_, 1, begin,
                                                     end, 0, bits, stream);
    } else if constexpr (by_radix) {
      return cub::DeviceSegmentedRadixSort::SortPairs(temporary, bytes_, both.keys, both.values,
                                                      count_, 1, begin, end, 0, bits, stream);
    } else if constexpr (alone) {
      return cub::DeviceSegmentedSort::SortKeys(temporary, bytes_, both.keys, count_, 1, begin, end,
                                                stream);
    } else {
      return cub::DeviceSegmentedSort::SortPairs(temporary, bytes_, both.keys, both.values, count_,
                                                 1, begin, end, stream);
    }
  }

  int count_;
  std::size_t bytes_ = 0;
  Array<int> ends_;
  Array<char> temporary_;
};

template <class Task>
using CubSegmented = CubSegmentedSort<Task, false>;
template <class Task>
using CubSegmentedRadix = CubSegmentedSort<Task, true>;

#else
template <class Task>
using CubSegmented = Absent<Task>;
template <class Task>
using CubSegmentedRadix = Absent<Task>;
#endif

}  // namespace bench
