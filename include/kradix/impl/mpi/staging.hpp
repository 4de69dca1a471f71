// Pinned host memory that pieces pass through: shared by the ranks of a node, so that one rank's device
// writes what another's reads, and no processor copies anything in between.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <cstring>
#include <mpi.h>
#include <type_traits>
#include <utility>
#include <vector>

#include "kradix/impl/mpi/communicator.hpp"

namespace kradix::impl::mpi {

/// Host memory that the device's copy engines reach at full speed.
#ifdef KOKKOS_HAS_SHARED_HOST_PINNED_SPACE
using PinnedSpace = Kokkos::SharedHostPinnedSpace;
#else
using PinnedSpace = Kokkos::HostSpace;
#endif

/// Tells the device's driver of host memory that it did not allocate. Where that fails, copies are slower.
template <class ExecutionSpace>
class Registration {
 public:
  Registration(void* memory, std::size_t bytes) : memory_(memory) {
#ifdef KOKKOS_ENABLE_CUDA
    if constexpr (std::is_same_v<ExecutionSpace, Kokkos::Cuda>) {
      registered_ = cudaHostRegister(memory, bytes, cudaHostRegisterPortable) == cudaSuccess;
      if (!registered_) (void)cudaGetLastError();
    }
#else
    (void)bytes;
#endif
  }
  Registration(Registration&& other) noexcept
      : memory_(other.memory_), registered_(std::exchange(other.registered_, false)) {}
  Registration& operator=(Registration&&) = delete;
  ~Registration() {
#ifdef KOKKOS_ENABLE_CUDA
    if (registered_) (void)cudaHostUnregister(memory_);
#endif
  }

 private:
  void* memory_;
  bool registered_ = false;
};

/// The buffers of one communicator. Pinning memory takes longer than most exchanges: they stay.
template <class ExecutionSpace>
class StagingBuffers {
 public:
  static constexpr int per_direction = 4;
  static constexpr std::size_t bytes = std::size_t{1} << 24;

  StagingBuffers() = default;
  StagingBuffers(const StagingBuffers&) = delete;
  StagingBuffers& operator=(const StagingBuffers&) = delete;
  ~StagingBuffers() {
    registrations_.clear();
    int finalized = 0;
    if (MPI_Finalized(&finalized) != MPI_SUCCESS || finalized) return;
    if (window_ != MPI_WIN_NULL) {
      MPI_Win_unlock_all(window_);
      MPI_Win_free(&window_);
    }
    if (node_ != MPI_COMM_NULL) MPI_Comm_free(&node_);
  }

  /// Memory that the ranks of the node share, or, where there is none, this rank's own. Collective when
  /// called first.
  void make(const Communicator& comm) {
    if (!mates_.empty()) return;
    mates_.assign(static_cast<std::size_t>(comm.size()), nullptr);
    if (!share(comm)) {
      const auto raw = Kokkos::view_alloc("kradix::mpi::staging", Kokkos::WithoutInitializing);
      own_ = Kokkos::View<std::byte*, PinnedSpace>(raw, per_direction * bytes);
      mates_.assign(mates_.size(), nullptr);
    }
    const auto raw = Kokkos::view_alloc("kradix::mpi::staging", Kokkos::WithoutInitializing);
    in_ = Kokkos::View<std::byte*, PinnedSpace>(raw, per_direction * bytes);
  }

  std::byte* out(int buffer) const {
    return (shared_ ? shared_ : own_.data()) + static_cast<std::size_t>(buffer) * bytes;
  }
  std::byte* in(int buffer) const { return in_.data() + static_cast<std::size_t>(buffer) * bytes; }
  /// Can this rank read that one's outgoing buffers?
  bool shares_with(int rank) const { return mates_[static_cast<std::size_t>(rank)] != nullptr; }
  const std::byte* out_of(int rank, int buffer) const {
    return mates_[static_cast<std::size_t>(rank)] + static_cast<std::size_t>(buffer) * bytes;
  }
  /// Between writes of one rank and reads of another.
  void synchronise() const {
    if (window_ != MPI_WIN_NULL) check(MPI_Win_sync(window_), "MPI_Win_sync");
  }

 private:
  bool share(const Communicator& comm) {
    check(MPI_Comm_split_type(comm.get(), MPI_COMM_TYPE_SHARED, comm.rank(), MPI_INFO_NULL, &node_),
          "MPI_Comm_split_type");
    check(MPI_Comm_set_errhandler(node_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    const int code = MPI_Win_allocate_shared(static_cast<MPI_Aint>(per_direction * bytes), 1,
                                             MPI_INFO_NULL, node_, &shared_, &window_);
    int all = code == MPI_SUCCESS ? 1 : 0;  // containers may have little shared memory
    check(MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, node_), "MPI_Allreduce");
    if (!all) {
      if (code == MPI_SUCCESS) check(MPI_Win_free(&window_), "MPI_Win_free");
      window_ = MPI_WIN_NULL;
      shared_ = nullptr;
      return false;
    }
    check(MPI_Win_lock_all(MPI_MODE_NOCHECK, window_), "MPI_Win_lock_all");
    // Touched first here, it lies in the memory next to this rank's device.
    std::memset(shared_, 0, per_direction * bytes);
    check(MPI_Barrier(node_), "MPI_Barrier");
    find_mates(comm);
    return true;
  }

  void find_mates(const Communicator& comm) {
    int size = 0;
    check(MPI_Comm_size(node_, &size), "MPI_Comm_size");
    const int mine = comm.rank();
    std::vector<int> ranks(static_cast<std::size_t>(size));
    check(MPI_Allgather(&mine, 1, MPI_INT, ranks.data(), 1, MPI_INT, node_), "MPI_Allgather");
    for (int place = 0; place < size; ++place) {
      MPI_Aint length = 0;
      int unit = 0;
      std::byte* memory = nullptr;
      check(MPI_Win_shared_query(window_, place, &length, &unit, &memory), "MPI_Win_shared_query");
      mates_[static_cast<std::size_t>(ranks[static_cast<std::size_t>(place)])] = memory;
      registrations_.emplace_back(memory, static_cast<std::size_t>(length));
    }
  }

  MPI_Comm node_ = MPI_COMM_NULL;
  MPI_Win window_ = MPI_WIN_NULL;
  std::byte* shared_ = nullptr;
  std::vector<std::byte*> mates_;  ///< outgoing buffers, by rank; null on other nodes
  std::vector<Registration<ExecutionSpace>> registrations_;
  Kokkos::View<std::byte*, PinnedSpace> own_, in_;
};

}  // namespace kradix::impl::mpi
