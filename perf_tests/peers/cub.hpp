// CUB's device radix sort with its temporary memory taken beforehand: DoubleBuffer where the sort may
// end in either array, so that CUB needs no third one and no copy (input to output took the same time
// on an H200); input and output for argsort, which must leave the keys alone. Twice, with counts of 32
// and of 64 bits: CUB tunes by the type of the count, and now the one is faster and now the other.
#pragma once

#include "support/kernels.hpp"

#ifdef KOKKOS_ENABLE_CUDA
#include <cub/cub.cuh>
#include <limits>

#include "support/stopwatch.hpp"
#endif

namespace bench {

#ifdef KOKKOS_ENABLE_CUDA

template <class Task, class Count>
class CubSort : public Contender<Task> {
  using Key = typename Task::Key;
  using Value = typename Task::Value;

 public:
  static constexpr bool takes_part = std::is_same_v<Space, Kokkos::Cuda>;
  static constexpr bool stable = true;
  static constexpr bool wants_spares = true;
  static bool takes(const Case& what) { return what.count <= std::numeric_limits<Count>::max(); }
  static std::string name() { return sizeof(Count) == 4 ? "CUB 32" : "CUB 64"; }

  explicit CubSort(const Case& what) : count_(static_cast<Count>(what.count)) {
    check(sort(nullptr, nullptr, {}, {}), "the size of CUB's temporary memory");
    temporary_ = Array<char>(Kokkos::view_alloc("bench::CUB", Kokkos::WithoutInitializing), bytes_);
  }

  std::optional<std::size_t> temporary_bytes() const override {
    const std::size_t value_bytes = Task::operation == Operation::sort ? 0 : sizeof(Value);
    return bytes_ + count_ * (sizeof(Key) + value_bytes);
  }

  void run(const Space& exec, Arrays<Task>& arrays) override {
    if constexpr (Task::operation == Operation::argsort) number(exec, arrays.spare_values);
    Pointers<Key> keys{arrays.keys.data(), arrays.spare_keys.data()};
    Pointers<Value> values{arrays.values.data(), arrays.spare_values.data()};
    if constexpr (Task::operation == Operation::argsort) keys.now = arrays.source.data();
    check(sort(&exec, temporary_.data(), keys, values), "CUB");
    if (keys_moved_) {
      std::swap(arrays.keys, arrays.spare_keys);
      std::swap(arrays.values, arrays.spare_values);
    }
  }

 private:
  template <class T>
  struct Pointers {
    T* now = nullptr;
    T* spare = nullptr;
  };

  /// Without temporary memory it only sets bytes_, as CUB's functions do.
  cudaError_t sort(const Space* exec, void* temporary, Pointers<Key> keys, Pointers<Value> values) {
    using Radix = cub::DeviceRadixSort;
    constexpr int bits = 8 * sizeof(Key);
    const cudaStream_t stream = exec ? exec->cuda_stream() : nullptr;
    cudaError_t status = cudaSuccess;
    if constexpr (Task::operation == Operation::argsort) {
      status = Radix::SortPairs(temporary, bytes_, static_cast<const Key*>(keys.now), keys.spare,
                                static_cast<const Value*>(values.spare), values.now, count_, 0,
                                bits, stream);
    } else {
      cub::DoubleBuffer<Key> key_buffers(keys.now, keys.spare);
      if constexpr (Task::operation == Operation::sort) {
        status = Radix::SortKeys(temporary, bytes_, key_buffers, count_, 0, bits, stream);
      } else {
        cub::DoubleBuffer<Value> value_buffers(values.now, values.spare);
        status = Radix::SortPairs(temporary, bytes_, key_buffers, value_buffers, count_, 0, bits,
                                  stream);
      }
      keys_moved_ = key_buffers.selector == 1;
    }
    return status;
  }

  Count count_;
  std::size_t bytes_ = 0;
  bool keys_moved_ = false;
  Array<char> temporary_;
};

#else

/// Takes part in CUDA builds only.
template <class Task, class>
struct CubSort {
  static constexpr bool takes_part = false;
};

#endif

template <class Task>
using CubWith32BitCount = CubSort<Task, std::uint32_t>;
template <class Task>
using CubWith64BitCount = CubSort<Task, std::uint64_t>;

}  // namespace bench
