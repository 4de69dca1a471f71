// The host sort: blocks are put in order of buckets in a core's cache, buckets are sorted in one.
//
// After the cache-resident radix sorts of Satish et al. (SIGMOD 2010) and Polychroniou and Ross
// (SIGMOD 2014); docs/algorithms/blocked_radix.md has the data flow and what each step costs.
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <string>
#include <type_traits>

#include "kradix/impl/buffers.hpp"
#include "kradix/impl/host/host_sort.hpp"
#include "kradix/impl/host/order.hpp"
#include "kradix/impl/plan.hpp"

namespace kradix::impl {

/// Scratch memory of this algorithm: it takes no second arrays, but keys for an argsort of several levels.
struct BlockedRadixScratch {
  Slot blocks, rows, benches, states, rests, kinds;

  static std::size_t record_bytes(const Plan& plan) {
    return static_cast<std::size_t>(plan.key_bytes + plan.value_bytes);
  }
  static BenchSite bench_site(const Plan& plan, std::byte* memory) {
    return BenchSite::of(memory, plan.chunk, plan.tile, record_bytes(plan));
  }

  static BlockedRadixScratch list(const Plan& plan, ScratchList& list) {
    BlockedRadixScratch scratch;
    // Ranges that are still to be sorted do not overlap, and each is longer than a chunk.
    const std::size_t rests = plan.count / plan.chunk + 1;
    const std::size_t row = row_of_buckets(plan.digit_bits);
    const bool levels = has_levels(plan) || may_label(plan);
    scratch.benches = list.add(plan.teams, bench_site(plan, nullptr).bytes());
    scratch.states = list.add(plan.teams + 1, HostMemory::state_bytes);
    scratch.blocks = list.add(levels ? plan.count : 0, record_bytes(plan));
    scratch.rows = list.add(levels ? (plan.tiles + rests) * row : 0, sizeof(std::uint32_t));
    scratch.rests = list.add(levels ? rests : 0, sizeof(HostRange));
    scratch.kinds = list.add(levels && plan.key_bytes <= 8 ? 1 : 0,
                             HostMemory::kinds_bytes(plan.count, plan.value_bytes > 0));
    return scratch;
  }

  /// Does more than one thread or one cache sort?
  static bool has_levels(const Plan& plan) { return plan.teams > 1 || plan.count > plan.chunk; }

  /// May values that one thread sorts move by labels of few kinds?
  static bool may_label(const Plan& plan) {
    constexpr std::size_t least = std::size_t{1} << 11;
    return plan.value_bytes > 0 && plan.key_bytes <= 8 && plan.count >= least;
  }

  HostMemory memory(const Plan& plan, std::byte* base) const {
    return {blocks.in<std::byte>(base),
            rows.in<std::uint32_t>(base),
            bench_site(plan, benches.in<std::byte>(base)),
            states.in<std::byte>(base),
            rests.in<HostRange>(base),
            kinds.in<std::byte>(base)};
  }
};

/// One sort by this algorithm.
template <class ExecutionSpace, class Codec, class Value>
class BlockedRadix {
  using Key = typename Codec::key_type;

 public:
  BlockedRadix(const ExecutionSpace& exec, const Plan& plan, const Codec& codec,
               const SortBuffers<Key, Value>& buffers, const BlockedRadixScratch& scratch,
               std::byte* base, const char* label)
      : threads_(exec, std::string(label) + "::blocked_radix::"),
        plan_(plan),
        codec_(codec),
        buffers_(buffers),
        memory_(scratch.memory(plan, base)) {}

  void sort() {
    if constexpr (QuickOrder<Codec>::exists) {
      if (sort_in<typename QuickOrder<Codec>::type>()) return;
    }
    if constexpr (!QuickOrder<Codec>::serves_all) sort_in<CodecOrder<Codec>>();
  }

 private:
  template <class Order>
  bool sort_in() {
    using Level = HostLevel<Order, Value>;
    Level level{};
    level.order = {codec_, bits_between<typename Order::Bits>(plan_.bits.begin, plan_.bits.end)};
    level.source = {buffers_.keys.in, buffers_.values.in, buffers_.makes_indices};
    level.sink = {buffers_.keys.result, buffers_.values.result, buffers_.leaves_keys,
                  plan_.count * BlockedRadixScratch::record_bytes(plan_) > stream_bytes()};
    level.block = plan_.tile;
    level.capacity = plan_.chunk;
    level.most_bits = plan_.digit_bits;
    level.range = {0, plan_.count, 0};
    level.threads = static_cast<std::size_t>(plan_.teams);
    level.parts_words = plan_.parts_words;
    return HostSort<ExecutionSpace, Order, Value>(threads_, level, memory_).sort();
  }

  /// Results larger than this are written past the caches.
  static std::size_t stream_bytes() { return 16 * core_cache_bytes(); }

  HostThreads<ExecutionSpace> threads_;
  const Plan& plan_;
  Codec codec_;
  SortBuffers<Key, Value> buffers_;
  HostMemory memory_;
};

}  // namespace kradix::impl
