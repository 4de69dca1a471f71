// Pieces by NCCL: all sends and receives of a batch in one group, GPU to GPU.
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstring>
#include <memory>
#include <mpi.h>
#include <nccl.h>
#include <type_traits>
#include <vector>

#include "kradix/impl/mpi/communicator.hpp"
#include "kradix/impl/mpi/second_instance.hpp"
#include "kradix/impl/mpi/transport.hpp"

namespace kradix::impl::mpi {

template <class ExecutionSpace>
inline constexpr bool nccl_serves = std::is_same_v<ExecutionSpace, Kokkos::Cuda>;

inline void check_nccl(ncclResult_t code, const char* call) {
  if (code != ncclSuccess) fail(call, ncclGetErrorString(code));
}

/// NCCL's communicator over the ranks of ours, made when it is needed first.
class NcclCommunicator {
 public:
  NcclCommunicator() = default;
  NcclCommunicator(const NcclCommunicator&) = delete;
  NcclCommunicator& operator=(const NcclCommunicator&) = delete;
  ~NcclCommunicator() {
    if (comm_) ncclCommDestroy(comm_);
  }

  /// Collective when called first.
  ncclComm_t over(const Communicator& ours) {
    if (comm_) return comm_;
    ncclUniqueId id{};
    if (ours.rank() == 0) check_nccl(ncclGetUniqueId(&id), "ncclGetUniqueId");
    check(MPI_Bcast(&id, sizeof id, MPI_BYTE, 0, ours.get()), "MPI_Bcast");
    check_nccl(ncclCommInitRank(&comm_, ours.size(), id, ours.rank()), "ncclCommInitRank");
    return comm_;
  }

 private:
  ncclComm_t comm_ = nullptr;
};

/// Has every rank a GPU of its own? NCCL refuses two ranks on one.
struct NcclPossibility {
  bool known = false;
  bool possible = false;

  void find_out(const Communicator& comm) {
    struct Place {
      char host[MPI_MAX_PROCESSOR_NAME];
      char bus[64];
      bool operator<(const Place& other) const {
        return std::memcmp(this, &other, sizeof *this) < 0;
      }
      bool operator==(const Place& other) const {
        return std::memcmp(this, &other, sizeof *this) == 0;
      }
    } mine;
    std::memset(&mine, 0, sizeof mine);
    int length = 0;
    int device = 0;
    check(MPI_Get_processor_name(mine.host, &length), "MPI_Get_processor_name");
    if (cudaGetDevice(&device) != cudaSuccess ||
        cudaDeviceGetPCIBusId(mine.bus, sizeof mine.bus, device) != cudaSuccess) {
      mine.bus[0] = '?';  // alike on all ranks that cannot tell
    }
    std::vector<Place> all(static_cast<std::size_t>(comm.size()));
    check(
        MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, comm.get()),
        "MPI_Allgather");
    std::sort(all.begin(), all.end());
    possible = std::adjacent_find(all.begin(), all.end()) == all.end();
    known = true;
  }
};

/// Collective when asked first.
template <class ExecutionSpace>
bool nccl_is_possible(Communicator& comm) {
  if constexpr (nccl_serves<ExecutionSpace>) {
    auto& possibility = comm.keep<NcclPossibility>();
    if (!possibility.known) possibility.find_out(comm);
    return possibility.possible;
  } else {
    return false;
  }
}

/// Batch after batch is sent and received by NCCL on an instance of its own, each while `mover` has the one before it.
template <class ExecutionSpace>
class NcclExchange : public Batches {
 public:
  /// What is sent must be there when `mover` has done what it has been given.
  NcclExchange(const ExecutionSpace& mover, Communicator& comm, std::size_t message_bytes,
               const std::vector<Pieces>& batches)
      : mover_(mover),
        courier_(comm.keep<Courier>().instance),
        nccl_(comm.keep<NcclCommunicator>().over(comm)) {
    for (const Pieces& batch : batches) {
      out_.emplace_back(batch.sends, comm.rank(), comm.size(), true, message_bytes, true);
      in_.emplace_back(batch.receives, comm.rank(), comm.size(), false, message_bytes, true);
    }
    courier_.follow(mover_);
    enqueue();
  }
  const std::vector<Messages>& out() const { return out_; }

  void next() override {
    courier_.precede(mover_);
    enqueue();
  }

  void finish() override {
    courier_.beside(mover_).fence("kradix::mpi: fence after an exchange by NCCL");
    ncclResult_t later = ncclSuccess;
    check_nccl(ncclCommGetAsyncError(nccl_, &later), "ncclCommGetAsyncError");
    check_nccl(later, "the exchange");
  }

 private:
  /// Beside the second instance, which searches for what the next batch brings.
  struct Courier {
    SecondInstance<ExecutionSpace> instance;
  };

  /// The next batch, if there is one: all its messages in one group.
  void enqueue() {
    if (enqueued_ == out_.size()) return;
    const Messages &out = out_[enqueued_], &in = in_[enqueued_];
    ++enqueued_;
    const cudaStream_t stream = courier_.beside(mover_).cuda_stream();
    check_nccl(ncclGroupStart(), "ncclGroupStart");
    for (std::size_t i = 0; i < out.count(); ++i) {
      const Piece& piece = out[i].piece;
      check_nccl(ncclSend(piece.data, piece.bytes, ncclUint8, piece.rank, nccl_, stream),
                 "ncclSend");
    }
    for (std::size_t i = 0; i < in.count(); ++i) {
      const Piece& piece = in[i].piece;
      check_nccl(ncclRecv(piece.data, piece.bytes, ncclUint8, piece.rank, nccl_, stream),
                 "ncclRecv");
    }
    check_nccl(ncclGroupEnd(), "ncclGroupEnd");
  }

  const ExecutionSpace& mover_;
  SecondInstance<ExecutionSpace>& courier_;
  ncclComm_t nccl_;
  std::vector<Messages> out_, in_;  ///< batch after batch
  std::size_t enqueued_ = 0;
};

template <class ExecutionSpace>
class NcclTraffic : public TrafficInBatches {
 public:
  /// After `connect`. `mover` waits for what arrives.
  NcclTraffic(const ExecutionSpace& mover, Communicator& comm, std::size_t message_bytes)
      : mover_(mover), comm_(comm), message_bytes_(message_bytes) {}

  std::unique_ptr<Batches> begin(std::vector<Pieces> batches, const Pieces&) override {
    auto made =
        std::make_unique<NcclExchange<ExecutionSpace>>(mover_, comm_, message_bytes_, batches);
    count(made->out());
    return made;
  }

 private:
  const ExecutionSpace& mover_;
  Communicator& comm_;
  std::size_t message_bytes_;
};

}  // namespace kradix::impl::mpi
