// Lane verbs of an NVIDIA warp. On the host side of a CUDA compilation they only have to exist.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "kradix/impl/words.hpp"

namespace kradix::impl {

#if defined(__CUDACC__)

struct CudaLanes {
  static constexpr int width = 32;
  using Mask = std::uint32_t;
  /// Comparisons are half as fast as additions of floats, and would share their unit with those of integers.
  using Count = float;

  KOKKOS_FUNCTION static int lane(int thread) { return thread & (width - 1); }

  /// Lanes that hold the same low `Bits` bits. Eight ballots beat the match instruction on an H200, which
  /// takes a step for every distinct value.
  template <int Bits>
  KOKKOS_FUNCTION static Mask match(std::uint32_t value) {
    // By pairs, so that three-input logic joins them.
    Mask same = ~Mask{0};
    KRADIX_UNROLL
    for (int bit = 0; bit < Bits; bit += 2) same &= same_bit(value, bit) & same_bit(value, bit + 1);
    return same;
  }
  KOKKOS_FUNCTION static int rank_in(Mask mask, int lane) {
    KOKKOS_IF_ON_DEVICE((return __popc(mask & ((Mask{1} << lane) - 1));))
    KOKKOS_IF_ON_HOST((return mask >> lane & 1;))
  }
  KOKKOS_FUNCTION static int size_of(Mask mask) {
    KOKKOS_IF_ON_DEVICE((return __popc(mask);))
    KOKKOS_IF_ON_HOST((return mask & 1;))
  }
  KOKKOS_FUNCTION static Mask where(bool holds) {
    KOKKOS_IF_ON_DEVICE((return __ballot_sync(~Mask{0}, holds);))
    KOKKOS_IF_ON_HOST((return holds;))
  }
  KOKKOS_FUNCTION static std::uint32_t from_last(std::uint32_t value) {
    KOKKOS_IF_ON_DEVICE((return __shfl_sync(~Mask{0}, value, width - 1);))
    KOKKOS_IF_ON_HOST((return value;))
  }
  KOKKOS_FUNCTION static std::uint32_t from_first(std::uint32_t value, Mask mask) {
    KOKKOS_IF_ON_DEVICE((return __shfl_sync(~Mask{0}, value, (__ffs(mask) - 1) & (width - 1));))
    KOKKOS_IF_ON_HOST((return mask != 0 ? value : 0;))
  }
  KOKKOS_FUNCTION static std::uint64_t of_lane(std::uint64_t value, [[maybe_unused]] int lane) {
    KOKKOS_IF_ON_DEVICE((return __shfl_sync(~Mask{0}, value, lane);))
    KOKKOS_IF_ON_HOST((return value;))
  }
  template <class Bits>
  KOKKOS_FUNCTION static Bits from_across(Bits value, int step) {
    constexpr int count = words_in<Bits>;
    if constexpr (count > 1) {
      std::uint64_t words[count];
      for (int w = 0; w < count; ++w) words[w] = from_across(word_of(value, w), step);
      return joined<Bits>(words);
    } else {
      using Word = std::conditional_t<(sizeof(Bits) > 4), std::uint64_t, std::uint32_t>;
      KOKKOS_IF_ON_DEVICE(
          (return static_cast<Bits>(__shfl_xor_sync(~Mask{0}, static_cast<Word>(value), step));))
      KOKKOS_IF_ON_HOST((return step < width ? value : Bits{};))
    }
  }
  /// Tells the compiler that memory is a team's scratch. Where a kernel takes scratch in one of several ways it may lose sight of
  /// that; then accesses ask what memory it is, and lanes add to one counter one after the other.
  template <class T>
  KOKKOS_FUNCTION static T* in_scratch(T* memory) {
    // There and back by name would be taken for nothing.
    KOKKOS_IF_ON_DEVICE((std::uint64_t place; asm("cvta.to.shared.u64 %0, %1;"
                                                  : "=l"(place)
                                                  : "l"(memory));
                         return static_cast<T*>(__cvta_shared_to_generic(place));))
    KOKKOS_IF_ON_HOST((return memory;))
  }
  /// Adds one to a counter in scratch. CUDA's own atomic: of equal addresses in a warp it makes one.
  KOKKOS_FUNCTION static void increment(std::uint32_t* counter) {
    KOKKOS_IF_ON_DEVICE((atomicAdd(counter, 1u);))
    KOKKOS_IF_ON_HOST((++*counter;))
  }
  KOKKOS_FUNCTION static std::uint32_t add(std::uint32_t* counter, std::uint32_t what) {
    KOKKOS_IF_ON_DEVICE((return atomicAdd(counter, what);))
    KOKKOS_IF_ON_HOST((*counter += what; return *counter - what;))
  }
  KOKKOS_FUNCTION static std::uint32_t set(std::uint32_t* word, std::uint32_t bits) {
    KOKKOS_IF_ON_DEVICE((return atomicOr(word, bits);))
    KOKKOS_IF_ON_HOST((const std::uint32_t before = *word; *word |= bits; return before;))
  }
  KOKKOS_FUNCTION static void barrier() { KOKKOS_IF_ON_DEVICE((__syncwarp();)) }
  KOKKOS_FUNCTION static std::uint64_t combine(std::uint64_t bits) {
    KRADIX_UNROLL
    for (int step = 1; step < width; step *= 2) bits |= from_across(bits, step);
    return bits;
  }

  template <int Group = width, class Bits>
  KOKKOS_FUNCTION static Bits least(Bits value) {
    KRADIX_UNROLL
    for (int step = 1; step < Group; step *= 2) {
      const Bits other = from_across(value, step);
      value = other < value ? other : value;
    }
    return value;
  }

  KOKKOS_FUNCTION static std::uint32_t greatest_before(std::uint32_t value, int lane) {
    std::uint32_t greatest = from_below(value, 1);
    if (lane == 0) greatest = 0;
    KRADIX_UNROLL
    for (int step = 1; step < width; step *= 2) {
      const std::uint32_t other = from_below(greatest, step);
      if (lane >= step && other > greatest) greatest = other;
    }
    return greatest;
  }

  KOKKOS_FUNCTION static std::uint32_t scan(std::uint32_t value, int lane) {
    std::uint32_t sum = value;
    KRADIX_UNROLL
    for (int step = 1; step < width; step *= 2) {
      const std::uint32_t other = from_below(sum, step);
      if (lane >= step) sum += other;
    }
    return sum - value;
  }

  KOKKOS_FUNCTION static std::uint32_t sum(std::uint32_t value) {
    KOKKOS_IF_ON_DEVICE((return __reduce_add_sync(~Mask{0}, value);))
    KOKKOS_IF_ON_HOST((return value;))
  }

  template <int Row>
  KOKKOS_FUNCTION static std::uint32_t sum_of_rows(std::uint32_t value) {
    KRADIX_UNROLL
    for (int step = Row; step < width; step *= 2) value += from_across(value, step);
    return value;
  }
  // Left alone, the compiler makes a number of what a comparison finds, and adds that.
  KOKKOS_FUNCTION static void count_below(Count& count, std::uint32_t a, std::uint32_t b) {
    KOKKOS_IF_ON_DEVICE(
        (asm("{ .reg .pred is; setp.lo.u32 is, %1, %2; @is add.f32 %0, %0, 0f3F800000; }"
             : "+f"(count)
             : "r"(a), "r"(b));))
    KOKKOS_IF_ON_HOST((if (a < b) count += 1;))
  }
  KOKKOS_FUNCTION static void count_below(Count& count, std::uint64_t a, std::uint64_t b) {
    KOKKOS_IF_ON_DEVICE(
        (asm("{ .reg .pred is; setp.lo.u64 is, %1, %2; @is add.f32 %0, %0, 0f3F800000; }"
             : "+f"(count)
             : "l"(a), "l"(b));))
    KOKKOS_IF_ON_HOST((if (a < b) count += 1;))
  }
  template <class Bits>
  KOKKOS_FUNCTION static void count_below(Count& count, const Bits& a, const Bits& b) {
    if (a < b) count += 1;
  }
  KOKKOS_FUNCTION static void count_not_above(Count& count, std::uint32_t a, std::uint32_t b) {
    KOKKOS_IF_ON_DEVICE(
        (asm("{ .reg .pred is; setp.ls.u32 is, %1, %2; @is add.f32 %0, %0, 0f3F800000; }"
             : "+f"(count)
             : "r"(a), "r"(b));))
    KOKKOS_IF_ON_HOST((if (a <= b) count += 1;))
  }
  KOKKOS_FUNCTION static void count_not_above(Count& count, std::uint64_t a, std::uint64_t b) {
    KOKKOS_IF_ON_DEVICE(
        (asm("{ .reg .pred is; setp.ls.u64 is, %1, %2; @is add.f32 %0, %0, 0f3F800000; }"
             : "+f"(count)
             : "l"(a), "l"(b));))
    KOKKOS_IF_ON_HOST((if (a <= b) count += 1;))
  }
  template <class Bits>
  KOKKOS_FUNCTION static void count_not_above(Count& count, const Bits& a, const Bits& b) {
    if (!(b < a)) count += 1;
  }

  // Left alone, the compiler keeps every item's digit and address alive across a whole phase.
  KOKKOS_FUNCTION static void settle([[maybe_unused]] std::uint32_t& value) {
    KOKKOS_IF_ON_DEVICE((asm volatile("" : "+r"(value));))
  }
  KOKKOS_FUNCTION static void settle([[maybe_unused]] std::uint64_t& value) {
    KOKKOS_IF_ON_DEVICE((asm volatile("" : "+l"(value));))
  }
  template <class T>
  KOKKOS_FUNCTION static void settle(T&) {}
  KOKKOS_FUNCTION static void settle_memory() {
    KOKKOS_IF_ON_DEVICE((asm volatile("" ::: "memory");))
  }

  KOKKOS_FUNCTION static void prefetch([[maybe_unused]] const void* address) {
    KOKKOS_IF_ON_DEVICE((asm volatile("prefetch.global.L2 [%0];" ::"l"(address));))
  }
  template <class T>
  KOKKOS_FUNCTION static void bring(T* scratch, const T* memory) {
    KOKKOS_IF_ON_DEVICE((
        if constexpr (sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16) {
          const auto to = static_cast<unsigned>(__cvta_generic_to_shared(scratch));
          asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(memory),
                       "n"(sizeof(T))
                       : "memory");
        } else { *scratch = *memory; }))
    KOKKOS_IF_ON_HOST((*scratch = *memory;))
  }
  KOKKOS_FUNCTION static void await_brought() {
    KOKKOS_IF_ON_DEVICE((asm volatile("cp.async.wait_all;" ::: "memory");))
  }
  KOKKOS_FUNCTION static void pause() {}

  KOKKOS_FUNCTION static std::uint32_t load([[maybe_unused]] const std::uint32_t* word) {
    std::uint32_t value = 0;
    KOKKOS_IF_ON_DEVICE((asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];"
                                      : "=r"(value)
                                      : "l"(word)
                                      : "memory");))
    return value;
  }
  KOKKOS_FUNCTION static void store([[maybe_unused]] std::uint32_t* word,
                                    [[maybe_unused]] std::uint32_t value) {
    KOKKOS_IF_ON_DEVICE((asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(word), "r"(value)
                                      : "memory");))
  }
  KOKKOS_FUNCTION static std::uint64_t load([[maybe_unused]] const std::uint64_t* word) {
    std::uint64_t value = 0;
    KOKKOS_IF_ON_DEVICE((asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];"
                                      : "=l"(value)
                                      : "l"(word)
                                      : "memory");))
    return value;
  }
  KOKKOS_FUNCTION static void store([[maybe_unused]] std::uint64_t* word,
                                    [[maybe_unused]] std::uint64_t value) {
    KOKKOS_IF_ON_DEVICE((asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(word), "l"(value)
                                      : "memory");))
  }

 private:
  KOKKOS_FUNCTION static std::uint32_t from_below(std::uint32_t value, int step) {
    KOKKOS_IF_ON_DEVICE((return __shfl_up_sync(~Mask{0}, value, step);))
    KOKKOS_IF_ON_HOST((return step < width ? 0 : value;))
  }

  /// Lanes whose bit is as mine: one ballot, inverted where my bit is clear.
  KOKKOS_FUNCTION static Mask same_bit(std::uint32_t value, int bit) {
    Mask mask = value >> bit & 1;
    KOKKOS_IF_ON_DEVICE((asm("{\n"
                             "  .reg .pred set;\n"
                             "  .reg .u32 picked;\n"
                             "  and.b32 picked, %1, %2;\n"
                             "  setp.ne.u32 set, picked, 0;\n"
                             "  vote.sync.ballot.b32 %0, set, 0xffffffff;\n"
                             "  @!set not.b32 %0, %0;\n"
                             "}\n"
                             : "=r"(mask)
                             : "r"(value), "r"(Mask{1} << bit));))
    return mask;
  }
};

#endif

}  // namespace kradix::impl
