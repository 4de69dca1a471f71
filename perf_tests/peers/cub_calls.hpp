// CUB's radix sorts behind one interface. Compiled against the CUB of the toolkit and, in a library of
// its own (newer_cccl.cu), against another one: who includes this names the class in
// KRADIX_BENCH_CUB_CALLS.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cub/cub.cuh>
#include <utility>

namespace bench {

/// Without temporary memory the functions only set `bytes`. Pairs of arrays are swapped where CUB left
/// the result in the second.
template <class Count>
struct KRADIX_BENCH_CUB_CALLS {
  template <class Key>
  static cudaError_t sort_keys(void* temporary, std::size_t& bytes, Key*& keys, Key*& spare,
                               Count count, cudaStream_t stream) {
    cub::DoubleBuffer<Key> both(keys, spare);
    const cudaError_t status = cub::DeviceRadixSort::SortKeys(
        temporary, bytes, both, count, 0, static_cast<int>(8 * sizeof(Key)), stream);
    if (temporary != nullptr && both.selector == 1) std::swap(keys, spare);
    return status;
  }

  template <class Key, class Value>
  static cudaError_t sort_pairs(void* temporary, std::size_t& bytes, Key*& keys, Key*& spare,
                                Value*& values, Value*& spare_values, Count count,
                                cudaStream_t stream) {
    cub::DoubleBuffer<Key> both(keys, spare);
    cub::DoubleBuffer<Value> both_values(values, spare_values);
    const cudaError_t status = cub::DeviceRadixSort::SortPairs(
        temporary, bytes, both, both_values, count, 0, static_cast<int>(8 * sizeof(Key)), stream);
    if (temporary != nullptr && both.selector == 1) {
      std::swap(keys, spare);
      std::swap(values, spare_values);
    }
    return status;
  }

  /// Leaves `keys` and `values` alone.
  template <class Key, class Value>
  static cudaError_t sort_pairs_to(void* temporary, std::size_t& bytes, const Key* keys,
                                   Key* keys_out, const Value* values, Value* values_out,
                                   Count count, cudaStream_t stream) {
    return cub::DeviceRadixSort::SortPairs(temporary, bytes, keys, keys_out, values, values_out,
                                           count, 0, static_cast<int>(8 * sizeof(Key)), stream);
  }
};

}  // namespace bench
