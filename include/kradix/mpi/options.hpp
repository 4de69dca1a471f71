/// What a caller of the distributed sorts may choose. Every default is the library's own choice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "kradix/key.hpp"
#include "kradix/options.hpp"
#include "kradix/workspace.hpp"

namespace kradix::mpi {

/// How many elements each rank holds afterwards.
class OutputSizes {
 public:
  enum class Kind : std::uint8_t { balanced, keep_counts, requested };

  /// ⌊N/p⌋ on every rank, and one more on the first N mod p of them.
  static constexpr OutputSizes balanced() { return {Kind::balanced, 0}; }
  /// As many as the rank gave.
  static constexpr OutputSizes keep_counts() { return {Kind::keep_counts, 0}; }
  /// `count` on this rank; the counts of all ranks must add up to N.
  static constexpr OutputSizes requested(std::uint64_t count) { return {Kind::requested, count}; }

  constexpr Kind kind() const { return kind_; }
  constexpr std::uint64_t count() const { return count_; }

 private:
  constexpr OutputSizes(Kind kind, std::uint64_t count) : kind_(kind), count_(count) {}
  Kind kind_;
  std::uint64_t count_;
};

/// How the keys between two ranks are found.
class Splitters {
 public:
  /// By digit histograms: every rank gets exactly the size it should.
  static constexpr Splitters exact() { return Splitters(0); }
  /// From a random sample: no rank gets more than (1 + epsilon) N/p elements. One read of the keys
  /// instead of two or more; a sample that misses epsilon is replaced by the exact search.
  static constexpr Splitters sampled(double epsilon) { return Splitters(epsilon); }

  constexpr bool is_exact() const { return epsilon_ == 0; }
  constexpr double epsilon() const { return epsilon_; }

 private:
  constexpr explicit Splitters(double epsilon) : epsilon_(epsilon) {}
  double epsilon_;
};

/// The order of work; results are the same.
enum class Work : std::uint8_t {
  automatic,  ///< on devices `sort_first` on up to 16 ranks, `sort_halves` or `spread_first`, else `partition_first`
  partition_first,  ///< partition, exchange, local sort: least work where links are as fast as the sort
                    ///< (at most 127 cuts, on GPUs elements of at most 16 bytes; else `sort_first`)
  sort_first,  ///< local sort, exchange, merge or second sort: splitters by binary search, for any p
  sort_halves,  ///< likewise, but the first half of each rank's elements travels while the second is sorted (keys, or keys
  ///< with one array of values, on 2 to 8 ranks, in one level, cut exactly; else `sort_first`)
  spread_first,  ///< keys go to cells of equal width in value, travel, and are put in order as they arrive (integers of 4 or 8
  ///< bytes, alone or with one array of values of 4 or 8, and floats alone that are not `stable`; all bits, on 2 to 16 ranks,
  ///< in one level, cut exactly; else, or where a sample tells that keys lie too close, as `automatic` would do it otherwise)
};

/// How bytes travel.
enum class Transport : std::uint8_t {
  automatic,
  direct,  ///< MPI reads and writes the views' memory: host memory, or a GPU-aware MPI
  staged,  ///< through pinned host memory
  nccl,    ///< by NCCL, where Kradix was built with it
  peer,    ///< CUDA GPUs of one node fetch from each other's memory, or read it where it lies
};

/// How the exchange is routed.
enum class Route : std::uint8_t {
  automatic,
  one_level,  ///< every rank sends to every other
  two_level,  ///< first within nodes, then between ranks of one place on their nodes
};

constexpr std::string_view name(Work work) {
  return work == Work::automatic         ? "automatic"
         : work == Work::partition_first ? "partition_first"
         : work == Work::sort_first      ? "sort_first"
         : work == Work::sort_halves     ? "sort_halves"
                                         : "spread_first";
}
constexpr std::string_view name(Transport transport) {
  return transport == Transport::automatic ? "automatic"
         : transport == Transport::direct  ? "direct"
         : transport == Transport::staged  ? "staged"
         : transport == Transport::nccl    ? "nccl"
                                           : "peer";
}
constexpr std::string_view name(Route route) {
  return route == Route::automatic   ? "automatic"
         : route == Route::one_level ? "one_level"
                                     : "two_level";
}

/// Scratch memory to reuse from call to call, on one rank. It grows to the largest request it has met.
/// It must be gone, or released, before Kokkos::finalize.
class Workspace {
 public:
  std::size_t bytes() const { return arrays.bytes() + sort.bytes() + early.bytes(); }
  void release() {
    arrays.release();
    sort.release();
    early.release();
  }

  kradix::Workspace arrays;  ///< what is sent, and counts
  kradix::Workspace sort;    ///< of local sorts that run while `arrays` is in use
  kradix::Workspace early;   ///< what arrives while they do
};

/// All ranks must choose alike, but for OutputSizes::requested's count, `workspace` and `label`.
struct Options {
  Order order = Order::ascending;
  BitRange bits{};
  /// `stable` promises the order by key, source rank, index to sort too; sort_by_key and argsort always
  /// have it. By default sort orders floats that compare equal and differ in bits as kradix::sort does.
  Stability stability = Stability::automatic;
  OutputSizes sizes = OutputSizes::balanced();
  Splitters splitters = Splitters::exact();
  Work work = Work::automatic;
  Transport transport = Transport::automatic;
  Route route = Route::automatic;
  /// Parts of a rank's result, each sorted while the next arrives. 0: as many as fit the machine.
  int ranges = 0;
  /// Ranks per node, consecutive ones. 0: those that share memory.
  int node_size = 0;
  /// Messages are cut to at most this many bytes; at most 2^30.
  std::size_t message_bytes = std::size_t{1} << 30;
  Workspace* workspace = nullptr;
  /// First part of every kernel, region and allocation label that Kokkos Tools see. Must not be null.
  const char* label = "kradix";
};

}  // namespace kradix::mpi
