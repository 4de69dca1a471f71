// The sequential radix sort that all others are measured against, on one host thread.
//
// The counting sort of Zagha and Blelloch's figure 1, digit by digit: HISTOGRAM-KEYS, SCAN-BUCKETS,
// RANK-AND-PERMUTE. Where the keys lie in a device's memory, they are copied to the host and back.
#pragma once

#include <type_traits>

#include "kradix/impl/study_sort.hpp"

namespace kradix::impl {

/// All passes, in one team of one thread.
template <class ExecutionSpace, class Word, class Value>
struct SortSerially : CodePass<ExecutionSpace, Word, Value> {
  Place* bucket;

  KOKKOS_FUNCTION void operator()(const TeamMember<ExecutionSpace>&) const {
    SortSerially now = *this;
    for (now.pass = 0; !now.idle(); ++now.pass) now.counting_sort();
  }

  KOKKOS_FUNCTION void counting_sort() const {
    const CodeReader<Word> reader = this->reader();
    const auto move = this->straight();
    const std::size_t bins = std::size_t{1} << this->width;
    for (std::size_t i = 0; i < bins; ++i) bucket[i] = 0;
    for (std::size_t j = 0; j < this->count; ++j) ++bucket[reader.of(move.key(j))];
    Place sum = 0;
    for (std::size_t i = 0; i < bins; ++i) {
      const Place counted = bucket[i];
      bucket[i] = sum;
      sum += counted;
    }
    for (std::size_t j = 0; j < this->count; ++j) {
      const Word key = move.key(j);
      move(j, bucket[reader.of(key)]++, key);
    }
  }
};

template <class ExecutionSpace, class Word, class Value>
class SerialRadix : StudySort<ExecutionSpace, Word, Value, TeamShape{1, 1}> {
  using Base = StudySort<ExecutionSpace, Word, Value, TeamShape{1, 1}>;
  using Call = StudyCall<ExecutionSpace, Word, Value>;
  using Host = std::conditional_t<is_host_space<ExecutionSpace>, ExecutionSpace,
                                  Kokkos::DefaultHostExecutionSpace>;
  using OnHost = SerialRadix<Host, Word, Value>;
  friend OnHost;

 public:
  struct Scratch {
    StudyScratch study;
    Slot bucket;
    static Scratch list(const Plan& plan, ScratchList& list) {
      return {StudyScratch::list(plan, list),
              list.add(std::size_t{1} << plan.digit_bits, sizeof(Place))};
    }
  };

  static void sort(const Call& call) {
    if constexpr (is_host_space<ExecutionSpace>) {
      SerialRadix(call).run(call.scratch);
    } else {
      sort_on_host(call);
    }
  }

 private:
  using Base::Base;

  void run(std::byte* base) {
    ScratchList list;
    const Scratch scratch = Scratch::list(this->plan_, list);
    this->set_range();
    this->launch("SortSerially", 1, 0,
                 SortSerially<ExecutionSpace, Word, Value>{
                     this->pass_, scratch.bucket.template in<Place>(base)});
    this->settle();
  }

  template <class T>
  using HostArray = Kokkos::View<T*, typename Host::memory_space>;
  template <class T>
  using DeviceArray =
      Kokkos::View<T*, typename ExecutionSpace::memory_space, Kokkos::MemoryUnmanaged>;

  template <class T>
  static HostArray<T> allocate(const Call& call, std::size_t count) {
    return HostArray<T>(Kokkos::view_alloc(Kokkos::WithoutInitializing,
                                           std::string(call.label) + "::serial_radix on the host"),
                        count);
  }

  /// Waits for the keys, sorts copies of them, and copies the result back.
  static void sort_on_host(const Call& call) {
    const std::size_t count = call.plan.count;
    const auto& from = call.buffers;
    constexpr bool with_values = !std::is_same_v<Value, NoValue>;
    const std::size_t values_count = with_values ? count : 0;
    const auto keys = allocate<Word>(call, count), keys_other = allocate<Word>(call, count);
    const auto values = allocate<Value>(call, values_count),
               values_other = allocate<Value>(call, values_count);
    ScratchList list;
    Scratch::list(call.plan, list);
    const auto memory = allocate<std::byte>(call, list.bytes());
    Kokkos::deep_copy(call.exec, keys, DeviceArray<Word>(const_cast<Word*>(from.keys.in), count));
    if (with_values && !from.makes_indices) {
      Kokkos::deep_copy(call.exec, values,
                        DeviceArray<Value>(const_cast<Value*>(from.values.in), values_count));
    }
    call.exec.fence(std::string(call.label) + ": fence before serial_radix");
    const SortBuffers<Word, Value> buffers{
        {keys.data(), keys.data(), keys_other.data()},
        {from.makes_indices ? nullptr : values.data(), values.data(), values_other.data()},
        from.makes_indices,
        from.leaves_keys};
    const Host host;
    OnHost::sort(
        {host, call.plan, call.codec, buffers, aligned_scratch(memory.data()), call.label});
    host.fence(std::string(call.label) + ": fence after serial_radix");
    if (!from.leaves_keys) {
      Kokkos::deep_copy(call.exec, DeviceArray<Word>(from.keys.result, count), keys);
    }
    if (with_values) {
      Kokkos::deep_copy(call.exec, DeviceArray<Value>(from.values.result, values_count), values);
    }
    call.exec.fence(std::string(call.label) + ": fence before the host arrays go");
  }
};

}  // namespace kradix::impl
