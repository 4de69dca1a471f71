// Lane verbs of a host thread: a group of one lane.
#pragma once

#include <Kokkos_Core.hpp>
#include <atomic>
#include <cstdint>
#include <thread>

namespace kradix::impl {

struct HostLanes {
  static constexpr int width = 1;
  using Mask = std::uint32_t;
  using Count = std::uint32_t;  ///< of what comparisons find, up to 2^24

  /// Position of this thread in its group.
  KOKKOS_FUNCTION static int lane(int) { return 0; }
  /// Lanes that hold the same low `Bits` bits.
  template <int Bits>
  KOKKOS_FUNCTION static Mask match(std::uint32_t) {
    return 1;
  }
  /// How many lanes of the mask come before this one.
  KOKKOS_FUNCTION static int rank_in(Mask, int) { return 0; }
  KOKKOS_FUNCTION static int size_of(Mask mask) { return static_cast<int>(mask); }
  /// Lanes for which it holds.
  KOKKOS_FUNCTION static Mask where(bool holds) { return holds ? 1 : 0; }
  /// Of the values of all lanes.
  KOKKOS_FUNCTION static std::uint32_t sum(std::uint32_t value) { return value; }
  /// The value of the last lane.
  KOKKOS_FUNCTION static std::uint32_t from_last(std::uint32_t value) { return value; }
  /// The value of the first lane of the mask; of no use if there is none.
  KOKKOS_FUNCTION static std::uint32_t from_first(std::uint32_t value, Mask) { return value; }
  /// The value of one lane.
  KOKKOS_FUNCTION static std::uint64_t of_lane(std::uint64_t value, int) { return value; }
  /// The value of the lane whose number is this one's with the bits of `step` turned over.
  template <class Bits>
  KOKKOS_FUNCTION static Bits from_across(Bits value, int) {
    return value;
  }
  /// Memory of a team's scratch.
  template <class T>
  KOKKOS_FUNCTION static T* in_scratch(T* memory) {
    return memory;
  }
  /// Adds one to a counter in scratch.
  KOKKOS_FUNCTION static void increment(std::uint32_t* counter) { ++*counter; }
  /// Adds to a counter in scratch and returns what it was.
  KOKKOS_FUNCTION static std::uint32_t add(std::uint32_t* counter, std::uint32_t what) {
    const std::uint32_t before = *counter;
    *counter += what;
    return before;
  }
  /// Sets bits of a word in scratch and returns what it was.
  KOKKOS_FUNCTION static std::uint32_t set(std::uint32_t* word, std::uint32_t bits) {
    const std::uint32_t before = *word;
    *word |= bits;
    return before;
  }
  /// All lanes have come here, and see what the others wrote.
  KOKKOS_FUNCTION static void barrier() {}
  /// The bits that any lane holds.
  KOKKOS_FUNCTION static std::uint64_t combine(std::uint64_t bits) { return bits; }
  /// The least value of so many lanes side by side.
  template <int Group = width, class Bits>
  KOKKOS_FUNCTION static Bits least(Bits value) {
    return value;
  }
  /// The greatest value of the lanes before; 0 if there are none.
  KOKKOS_FUNCTION static std::uint32_t greatest_before(std::uint32_t, int) { return 0; }
  /// Exclusive prefix sum over the group.
  KOKKOS_FUNCTION static std::uint32_t scan(std::uint32_t, int) { return 0; }
  /// Of the lanes that lie a multiple of `Row` away.
  template <int Row>
  KOKKOS_FUNCTION static std::uint32_t sum_of_rows(std::uint32_t value) {
    return value;
  }
  template <class Bits>
  KOKKOS_FUNCTION static void count_below(Count& count, const Bits& a, const Bits& b) {
    count += a < b ? 1 : 0;
  }
  template <class Bits>
  KOKKOS_FUNCTION static void count_not_above(Count& count, const Bits& a, const Bits& b) {
    count += b < a ? 0 : 1;
  }
  /// The compiler must not move the computation of `value` past this point.
  template <class T>
  KOKKOS_FUNCTION static void settle(T&) {}
  KOKKOS_FUNCTION static void settle_memory() {}

  /// Copies to scratch without waiting; done when `await_brought` returns.
  template <class T>
  KOKKOS_FUNCTION static void bring(T* scratch, const T* memory) {
    *scratch = *memory;
  }
  KOKKOS_FUNCTION static void await_brought() {}
  /// The memory there is wanted soon.
  KOKKOS_FUNCTION static void prefetch(const void*) {}
  /// Called while waiting for another team: on a busy host that team may not even be running.
  KOKKOS_FUNCTION static void pause() { KOKKOS_IF_ON_HOST((std::this_thread::yield();)) }

  // Words of the look-back are whole messages: relaxed order suffices.
  template <class Word>
  KOKKOS_FUNCTION static Word load(const Word* word) {
    KOKKOS_IF_ON_HOST(
        (return std::atomic_ref<Word>(*const_cast<Word*>(word)).load(std::memory_order_relaxed);))
    KOKKOS_IF_ON_DEVICE((return *word;))
  }
  template <class Word>
  KOKKOS_FUNCTION static void store(Word* word, Word value) {
    KOKKOS_IF_ON_HOST((std::atomic_ref<Word>(*word).store(value, std::memory_order_relaxed);))
    KOKKOS_IF_ON_DEVICE((*word = value;))
  }
};

}  // namespace kradix::impl
