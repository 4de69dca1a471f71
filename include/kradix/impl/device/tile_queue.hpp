// The queue of tiles that teams draw from and look back along, and the memory that it takes.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>

#include "kradix/impl/device/look_back.hpp"
#include "kradix/impl/scratch.hpp"

namespace kradix::impl {

/// Teams may start in any order, tiles may not: each team draws one.
template <class ExecutionSpace, int Bins>
struct TileQueue {
  std::uint64_t* ticket;
  LookBack<ExecutionSpace, Bins> look_back;

  KOKKOS_FUNCTION std::uint32_t draw() const {
    return static_cast<std::uint32_t>(Kokkos::atomic_fetch_add(ticket, std::uint64_t{1}));
  }
};

/// For several passes over up to so many tiles each.
template <class ExecutionSpace, int Bins>
class TileQueueSlots {
 public:
  void list(ScratchList& scratch, std::size_t tiles, std::size_t passes) {
    shape_ = LookBackShape{}.fitted(tiles > 1 ? tiles : 1);
    words_ = scratch.add(passes * words(), sizeof(std::uint32_t));
    counters_ = scratch.add(passes * counters(), sizeof(std::uint64_t));
  }
  /// Of all passes. Enqueued.
  void clear(const ExecutionSpace& exec, std::byte* base) const {
    for (const Slot& slot : {words_, counters_}) {
      using Bytes = Kokkos::View<std::byte*, typename ExecutionSpace::memory_space,
                                 Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
      Kokkos::deep_copy(exec, Bytes(slot.in<std::byte>(base), slot.bytes), std::byte{0});
    }
  }
  TileQueue<ExecutionSpace, Bins> of(std::byte* base, std::size_t pass, std::size_t tiles) const {
    std::uint64_t* const ticket = counters_.in<std::uint64_t>(base) + pass * counters();
    return {ticket,
            LookBack<ExecutionSpace, Bins>::of(words_.in<std::uint32_t>(base) + pass * words(),
                                               ticket + 1, shape_, tiles)};
  }

 private:
  std::size_t words() const { return shape_.bytes(Bins) / sizeof(std::uint32_t); }
  std::size_t counters() const { return 1 + shape_.counters(Bins); }

  LookBackShape shape_;
  Slot words_, counters_;
};

}  // namespace kradix::impl
