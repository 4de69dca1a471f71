// The scratch memory of a host sort: what its threads share, and what each has for itself.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kradix/impl/host/host_level.hpp"
#include "kradix/impl/host/kind_homes.hpp"

namespace kradix::impl {

/// What threads have for themselves, one after the other in memory.
struct BenchSite {
  static constexpr std::size_t alone_chunks = 64;  ///< a thread sorts so many chunks alone

  std::byte* memory;
  std::size_t record_bytes;

  /// `records` of a bucket, or those of a block with the number of a bucket each; behind them keys go that stay behind.
  static BenchSite of(std::byte* memory, std::size_t records, std::size_t block,
                      std::size_t each_bytes) {
    const std::size_t bytes =
        std::max(records * each_bytes, block * (each_bytes + 2)) + each_bytes + 2;
    // A vector may be written behind.
    return {memory, (bytes + line_bytes - 1) / line_bytes * line_bytes + line_bytes};
  }
  static constexpr std::size_t counter_bytes =
      std::max(counter_count, DigitStack::counters) * sizeof(std::uint32_t);
  static constexpr std::size_t total_bytes = max_buckets * sizeof(std::uint64_t);
  static constexpr std::size_t rest_bytes = (alone_chunks + 1) * sizeof(HostRange);
  std::size_t bytes() const {
    constexpr std::size_t fixed = counter_bytes + total_bytes + rest_bytes;
    return 2 * record_bytes + (fixed + line_bytes - 1) / line_bytes * line_bytes;
  }

  template <class Rec>
  Workbench<Rec> bench(std::size_t thread) const {
    std::byte* const own = memory + thread * bytes();
    std::byte* const counters = own + 2 * record_bytes;
    return {reinterpret_cast<Rec*>(own), reinterpret_cast<Rec*>(own + record_bytes),
            reinterpret_cast<std::uint32_t*>(counters),
            reinterpret_cast<std::uint64_t*>(counters + counter_bytes)};
  }
  HostRange* rests(std::size_t thread) const {
    return reinterpret_cast<HostRange*>(memory + thread * bytes() + 2 * record_bytes +
                                        counter_bytes + total_bytes);
  }
};

/// The scratch memory of a host sort, by address.
struct HostMemory {
  std::byte* blocks;
  std::uint32_t* rows;
  BenchSite benches;
  std::byte* states;
  HostRange* rests;
  std::byte* kinds = nullptr;  ///< null where there may be none

  // Of a kind of any key, its slot, and the label of that.
  static constexpr std::size_t bytes_of_kind = 2 * sizeof(std::uint64_t);
  static constexpr std::size_t bytes_of_home = sizeof(std::uint64_t);
  static constexpr std::size_t bytes_of_label = sizeof(std::uint32_t);

  /// Of the kinds of a sample of so many keys alone, or of pairs, with two places for each, and their labels.
  static std::size_t kinds_bytes(std::size_t count, bool with_values) {
    const std::size_t size =
        with_values ? BucketSample::size_for_labels(count) : BucketSample::size_of(count);
    return (size + 1) * (2 * sizeof(std::uint64_t) + bytes_of_kind) +
           KindHomes<std::uint64_t>::end_of(size) * (bytes_of_home + bytes_of_label);
  }
  /// Of every level's state, whatever the key.
  static constexpr std::size_t state_bytes =
      sizeof(LevelState<std::uint64_t>) / 1024 * 1024 + 12 * max_buckets;
  template <class State>
  State* state(std::size_t thread) const {
    static_assert(sizeof(State) <= state_bytes);
    return reinterpret_cast<State*>(states + thread * state_bytes);
  }
};

}  // namespace kradix::impl
