// A stable partition of keys, and of what travels with them, by the class of each key.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kradix/impl/mpi/codecs.hpp"
#include "kradix/impl/run.hpp"

namespace kradix::impl::mpi {

/// A stable sort whose digits are classes: one pass where there are at most 256 of them. It reads the
/// keys where they are and writes them elsewhere.
template <class ExecutionSpace, class Codec, class Value>
class Partition {
 public:
  using Key = typename Codec::key_type;
  using Classes = ClassCodec<Codec>;
  static constexpr std::size_t value_bytes = std::is_same_v<Value, NoValue> ? 0 : sizeof(Value);

  Partition(const ExecutionSpace& exec, std::size_t count, std::size_t most_splitters)
      : exec_(exec) {
    Problem problem;
    problem.count = count > 0 ? count : 1;
    problem.key_bytes = sizeof(Key);
    problem.key_bits = Classes::bits;
    problem.bits = {0, class_bits(most_splitters)};
    problem.value_bytes = static_cast<int>(value_bytes);
    const Machine machine = machine_of(exec, sizeof(Key), value_bytes);
    const bool sweeps = machine.sweep.exists() && !machine.shape.serial();
    problem.forced = sweeps ? Algorithm::onesweep : Algorithm::four_kernel;
    plan_ = make_plan(problem, machine);
  }

  void list(ScratchList& scratch) {
    if (plan_.passes > 1) {
      keys_other_ = scratch.add(plan_.count, sizeof(Key));
      values_other_ = scratch.add(plan_.count, value_bytes);
    }
    algorithm_ = AlgorithmScratch::list(plan_, scratch);
  }

  /// Enqueued. With `values_in` null the values are the indices of the keys.
  void run(std::byte* base, const Classes& classes, const Key* keys_in, Key* keys_out,
           const Value* values_in, Value* values_out, const char* label) const {
    const SortBuffers<Key, Value> buffers{{keys_in, keys_out, keys_other_.in<Key>(base)},
                                          {values_in, values_out, values_other_.in<Value>(base)},
                                          values_out != nullptr && values_in == nullptr,
                                          false};
    run_passes(exec_, plan_, classes, buffers, algorithm_, base, label);
  }

 private:
  const ExecutionSpace& exec_;
  Plan plan_;
  Slot keys_other_, values_other_;
  AlgorithmScratch algorithm_;
};

}  // namespace kradix::impl::mpi
