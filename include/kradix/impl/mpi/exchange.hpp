// Who sends which elements to whom, in one level or through nodes. Knows ranks and counts, not order.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstdint>
#include <mpi.h>
#include <numeric>
#include <vector>

#include "kradix/impl/mpi/communicator.hpp"
#include "kradix/impl/mpi/transport.hpp"

namespace kradix::impl::mpi {

/// One array of what travels: keys, or values.
struct Column {
  const std::byte* send;
  std::byte* receive;
  std::size_t element_bytes;
};

/// Elements side by side.
struct Run {
  std::uint64_t begin = 0, size = 0;
};

/// How many elements go where, range by range. Sent elements lie in the order of (rank, range), received
/// ones in that of (range, rank).
class Routing {
 public:
  /// `to[rank * ranges + range]` elements leave this rank. Collective.
  Routing(const Communicator& comm, const std::vector<std::uint64_t>& to, int ranges)
      : ranks_(static_cast<std::size_t>(comm.size())),
        ranges_(static_cast<std::size_t>(ranges)),
        to_(to.size()),
        from_(to.size()) {
    std::uint64_t begin = 0;
    for (std::size_t i = 0; i < to.size(); ++i) {
      to_[i] = {begin, to[i]};
      begin += to[i];
    }
    static_assert(sizeof(Run) == 2 * sizeof(std::uint64_t));
    check(MPI_Alltoall(to_.data(), 2 * ranges, MPI_UINT64_T, from_.data(), 2 * ranges, MPI_UINT64_T,
                       comm.get()),
          "MPI_Alltoall");
    from_begin_.resize(from_.size());
    std::uint64_t sum = 0;
    for (std::size_t range = 0; range < ranges_; ++range) {
      range_begin_.push_back(sum);
      for (std::size_t rank = 0; rank < ranks_; ++rank) {
        from_begin_[rank * ranges_ + range] = sum;
        sum += from_[rank * ranges_ + range].size;
      }
    }
    range_begin_.push_back(sum);
  }

  std::uint64_t to(int rank, int range) const { return to_[at(rank, range)].size; }
  std::uint64_t to_begin(int rank, int range) const { return to_[at(rank, range)].begin; }
  std::uint64_t from(int rank, int range) const { return from_[at(rank, range)].size; }
  /// Where the sender has them.
  std::uint64_t sent_begin(int rank, int range) const { return from_[at(rank, range)].begin; }
  /// In all ranges, or so many of them.
  std::uint64_t to_all(int rank) const { return of_ranges(to_, rank, 0, ranges()); }
  std::uint64_t from_all(int rank) const { return from_ranges(rank, 0, ranges()); }
  std::uint64_t from_ranges(int rank, int range, int ranges) const {
    return of_ranges(from_, rank, range, ranges);
  }
  std::uint64_t from_begin(int rank, int range) const { return from_begin_[at(rank, range)]; }
  /// Where a range begins among the received elements; range `ranges` is their number.
  std::uint64_t range_begin(int range) const {
    return range_begin_[static_cast<std::size_t>(range)];
  }
  std::uint64_t received() const { return range_begin_.back(); }
  /// Where what each rank sends lies in a range.
  std::vector<Run> runs(int range) const {
    std::vector<Run> runs;
    for (int rank = 0; rank < static_cast<int>(ranks_); ++rank) {
      runs.push_back({from_begin(rank, range) - range_begin(range), from(rank, range)});
    }
    return runs;
  }

  /// Lets elements arrive with gaps, as far from an aligned place as they are sent from. They need `room()` then.
  void align_arrivals() {
    std::uint64_t end = 0;
    for (std::size_t range = 0; range < ranges_; ++range) {
      for (std::size_t rank = 0; rank < ranks_; ++rank) {
        const std::size_t i = rank * ranges_ + range;
        end += (from_[i].begin - end) % aligned_bytes;
        from_begin_[i] = end;
        end += from_[i].size;
      }
    }
  }
  std::uint64_t room() const { return received() + aligned_bytes * from_.size(); }

 private:
  std::size_t at(int rank, int range) const {
    return static_cast<std::size_t>(rank) * ranges_ + static_cast<std::size_t>(range);
  }
  int ranges() const { return static_cast<int>(ranges_); }
  /// They lie side by side where they are sent.
  std::uint64_t of_ranges(const std::vector<Run>& runs, int rank, int range, int ranges) const {
    const Run& last = runs[at(rank, range + ranges - 1)];
    return last.begin + last.size - runs[at(rank, range)].begin;
  }
  std::size_t ranks_, ranges_;
  std::vector<Run> to_, from_;  ///< as they lie where they are sent
  std::vector<std::uint64_t> from_begin_, range_begin_;
};

/// Bytes between two places of one device, enqueued on `exec`.
template <class ExecutionSpace>
void copy_bytes(const ExecutionSpace& exec, std::byte* to, const std::byte* from,
                std::uint64_t bytes) {
  using Space = typename ExecutionSpace::memory_space;
  using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
  if (bytes == 0 || to == from) return;
  Kokkos::deep_copy(exec, Kokkos::View<std::byte*, Space, Unmanaged>(to, bytes),
                    Kokkos::View<const std::byte*, Space, Unmanaged>(from, bytes));
}

/// Every rank to every other; what stays on its rank never enters MPI, but is copied on `exec`, enqueued, unless it is
/// left where it is.
template <class ExecutionSpace>
Pieces pieces_in_one_level(const ExecutionSpace& exec, const Communicator& comm,
                           const Routing& routing, int range, const std::vector<Column>& columns,
                           bool leaves_own) {
  Pieces pieces;
  for (const Column& column : columns) {
    const std::size_t size = column.element_bytes;
    for (int rank = 0; rank < comm.size(); ++rank) {
      std::byte* const out =
          const_cast<std::byte*>(column.send) + routing.to_begin(rank, range) * size;
      std::byte* const in = column.receive + routing.from_begin(rank, range) * size;
      if (rank == comm.rank()) {
        if (!leaves_own) copy_bytes(exec, in, out, routing.to(rank, range) * size);
      } else {
        pieces.sends.push_back({rank, out, routing.to(rank, range) * size,
                                bytes_to_alignment(routing.to_begin(rank, range) * size)});
        pieces.receives.push_back({rank, in, routing.from(rank, range) * size,
                                   bytes_to_alignment(routing.sent_begin(rank, range) * size)});
      }
    }
  }
  return pieces;
}

}  // namespace kradix::impl::mpi
