// CUB's device radix sort with its temporary memory taken beforehand: DoubleBuffer where the sort may
// end in either array, so that CUB needs no third one and no copy (input to output took the same time
// on an H200); input and output for argsort, which must leave the keys alone. Twice, with counts of 32
// and of 64 bits: CUB tunes by the type of the count, and now the one is faster and now the other.
#pragma once

#include "peers/absent.hpp"
#include "peers/newer_cccl.hpp"
#include "support/kernels.hpp"

#ifdef KOKKOS_ENABLE_CUDA
#define KRADIX_BENCH_CUB_CALLS CubCalls
#include <limits>

#include "peers/cub_calls.hpp"
#include "support/stopwatch.hpp"
#endif

namespace bench {

#ifdef KOKKOS_ENABLE_CUDA

/// `Calls` is the CUB of the toolkit or another one.
template <class Task, class Count, template <class> class Calls>
class CubSort : public Contender<Task> {
  using Key = typename Task::Key;
  using Value = typename Task::Value;
  static constexpr bool newer = !std::is_same_v<Calls<Count>, CubCalls<Count>>;

  static constexpr bool is_built() {
    if constexpr (!newer) return true;
    if constexpr (Task::operation == Operation::sort) return newer_cccl_sorts<Key>;
    return newer_cccl_sorts_pairs<Key, Value>;
  }

 public:
  static constexpr bool takes_part = std::is_same_v<Space, Kokkos::Cuda> && is_built();
  static constexpr bool stable = true;
  static constexpr bool wants_spares = true;
  static bool takes(const Case& what) { return what.count <= std::numeric_limits<Count>::max(); }
  static std::string name() {
    return std::string(newer ? "newer CUB " : "CUB ") + (sizeof(Count) == 4 ? "32" : "64");
  }

  explicit CubSort(const Case& what) : count_(static_cast<Count>(what.count)) {
    Pointers none;
    check(sort(nullptr, nullptr, none), "the size of CUB's temporary memory");
    temporary_ = Array<char>(Kokkos::view_alloc("bench::CUB", Kokkos::WithoutInitializing), bytes_);
  }

  std::optional<std::size_t> temporary_bytes() const override {
    const std::size_t value_bytes = Task::operation == Operation::sort ? 0 : sizeof(Value);
    return bytes_ + count_ * (sizeof(Key) + value_bytes);
  }

  void run(const Space& exec, Arrays<Task>& arrays) override {
    if constexpr (Task::operation == Operation::argsort) number(exec, arrays.spare_values);
    Pointers at{arrays.source.data(), arrays.keys.data(), arrays.spare_keys.data(),
                arrays.values.data(), arrays.spare_values.data()};
    check(sort(&exec, temporary_.data(), at), "CUB");
    if (at.keys != arrays.keys.data()) {
      std::swap(arrays.keys, arrays.spare_keys);
      std::swap(arrays.values, arrays.spare_values);
    }
  }

 private:
  struct Pointers {
    const Key* source = nullptr;
    Key *keys = nullptr, *spare_keys = nullptr;
    Value *values = nullptr, *spare_values = nullptr;
  };

  cudaError_t sort(const Space* exec, void* temporary, Pointers& at) {
    using Cub = Calls<Count>;
    const cudaStream_t stream = exec ? exec->cuda_stream() : nullptr;
    if constexpr (Task::operation == Operation::sort) {
      return Cub::sort_keys(temporary, bytes_, at.keys, at.spare_keys, count_, stream);
    } else if constexpr (Task::operation == Operation::sort_by_key) {
      return Cub::sort_pairs(temporary, bytes_, at.keys, at.spare_keys, at.values, at.spare_values,
                             count_, stream);
    } else {
      const Value* const indices = at.spare_values;
      return Cub::sort_pairs_to(temporary, bytes_, at.source, at.spare_keys, indices, at.values,
                                count_, stream);
    }
  }

  Count count_;
  std::size_t bytes_ = 0;
  Array<char> temporary_;
};

template <class Task>
using CubWith32BitCount = CubSort<Task, std::uint32_t, CubCalls>;
template <class Task>
using CubWith64BitCount = CubSort<Task, std::uint64_t, CubCalls>;

#endif

#ifndef KOKKOS_ENABLE_CUDA
template <class Task>
using CubWith32BitCount = Absent<Task>;
template <class Task>
using CubWith64BitCount = Absent<Task>;
#endif
#ifdef KRADIX_BENCH_NEWER_CCCL
template <class Task>
using NewerCubWith32BitCount = CubSort<Task, std::uint32_t, NewerCubCalls>;
template <class Task>
using NewerCubWith64BitCount = CubSort<Task, std::uint64_t, NewerCubCalls>;
#else
template <class Task>
using NewerCubWith32BitCount = Absent<Task>;
template <class Task>
using NewerCubWith64BitCount = Absent<Task>;
#endif

}  // namespace bench
