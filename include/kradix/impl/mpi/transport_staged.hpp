// Pieces through pinned host memory: a few buffers each way, of which some are copied while others travel.
//
// To a rank of the same node only a notice is sent: that rank's device reads this one's buffer, and tells
// when it has. To other nodes the buffer itself is sent.
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <array>
#include <cstddef>
#include <mpi.h>
#include <type_traits>
#include <vector>

#include "kradix/impl/mpi/exchange.hpp"
#include "kradix/impl/mpi/staging.hpp"
#include "kradix/impl/mpi/transport.hpp"
#include "kradix/impl/tuning.hpp"

namespace kradix::impl::mpi {

/// An instance for each buffer: the end of one copy is told from that of another, and copies of both
/// directions run side by side. Kept with the communicator.
template <class ExecutionSpace>
class CopyInstances {
  static constexpr int buffers = StagingBuffers<ExecutionSpace>::per_direction;

 public:
  void make(const ExecutionSpace& exec) {
    if (!instances_.empty()) return;
    const std::vector<int> equal_shares(2 * buffers, 1);
    if constexpr (is_host_space<ExecutionSpace>) {
      instances_.assign(equal_shares.size(), exec);
    } else {
      instances_ = Kokkos::Experimental::partition_space(exec, equal_shares);
    }
  }
  const ExecutionSpace& out(int buffer) const { return instances_[at(buffer)]; }
  const ExecutionSpace& in(int buffer) const { return instances_[at(buffers + buffer)]; }

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }

  std::vector<ExecutionSpace> instances_;
};

/// Is all done that was enqueued? Where a backend cannot be asked, it is waited for.
template <class ExecutionSpace>
bool is_done(const ExecutionSpace& exec) {
#ifdef KOKKOS_ENABLE_CUDA
  if constexpr (std::is_same_v<ExecutionSpace, Kokkos::Cuda>) {
    if (cudaStreamQuery(exec.cuda_stream()) == cudaErrorNotReady) {
      (void)cudaGetLastError();  // it was no error
      return false;
    }
  }
#endif
  exec.fence("kradix::mpi: fence after a copy of a staging buffer");
  return true;
}

template <class ExecutionSpace>
class StagedTraffic : public Traffic {
  using Buffers = StagingBuffers<ExecutionSpace>;
  static constexpr int buffers = Buffers::per_direction;

 public:
  /// After `connect`. Ranks share buffers only within nodes of `node_size` ranks (0: of any size).
  StagedTraffic(Communicator& comm, std::size_t message_bytes, int node_size)
      : comm_(comm),
        message_bytes_(std::min(message_bytes, Buffers::bytes)),
        node_size_(node_size > 0 ? node_size : comm.size()),
        staging_(comm.keep<Buffers>()),
        instances_(comm.keep<CopyInstances<ExecutionSpace>>()) {}

  void exchange(const std::vector<Piece>& sends, const std::vector<Piece>& receives) override {
    const Messages out(sends, comm_.rank(), comm_.size(), true, message_bytes_);
    const Messages in(receives, comm_.rank(), comm_.size(), false, message_bytes_);
    requests_.fill(MPI_REQUEST_NULL);
    notices_.fill(MPI_REQUEST_NULL);
    loaded_ = dispatched_ = posted_ = 0;
    left_ = out.count() + in.count();
    // Either direction goes on alone, in the order of steps: no rank waits for one that waits for it.
    while (left_ > 0) {
      bool moved = false;
      for (int turn = 0; turn < buffers; ++turn) {
        moved = go_on_sending(out) || moved;
        moved = go_on_receiving(in, turn) || moved;
      }
      if (left_ > 0) progress(!moved && !copies());
    }
    check(MPI_Waitall(2 * buffers, notices_.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
  }

 private:
  enum class State { idle, copying, travelling };
  struct Lane {
    State state = State::idle;
    Piece piece{};
    int notice = 0;  ///< which of the sender's buffers holds it
  };
  static constexpr int notice_tag = exchange_tag + 1;
  static constexpr int done_tag = exchange_tag + 2;  ///< one for each buffer

  bool is_mate(int rank) const {
    return rank / node_size_ == comm_.rank() / node_size_ && staging_.shares_with(rank);
  }
  MPI_Request& out_request(int buffer) { return requests_[static_cast<std::size_t>(buffer)]; }
  MPI_Request& in_request(int buffer) {
    return requests_[static_cast<std::size_t>(buffers + buffer)];
  }
  bool copies() const {
    const auto copying = [](const Lane& lane) { return lane.state == State::copying; };
    return std::any_of(out_.begin(), out_.end(), copying) ||
           std::any_of(in_.begin(), in_.end(), copying);
  }

  /// Buffers are loaded in turn and sent off in turn: a receiver knows a message by its place in the order.
  bool go_on_sending(const Messages& out) {
    bool moved = false;
    const int next = static_cast<int>(loaded_ % buffers);
    if (out_[next].state == State::idle && loaded_ < out.count()) {
      load(next, out[loaded_++].piece);
      moved = true;
    }
    const int first = static_cast<int>(dispatched_ % buffers);
    if (dispatched_ < loaded_ && is_done(instances_.out(first))) {
      dispatch(first);
      ++dispatched_;
      moved = true;
    }
    return moved;
  }

  bool go_on_receiving(const Messages& in, int buffer) {
    const Lane& lane = in_[buffer];
    if (lane.state == State::idle && posted_ < in.count()) {
      post(buffer, in[posted_++].piece);
      return true;
    }
    if (lane.state == State::copying && is_done(instances_.in(buffer))) {
      acknowledge(buffer);
      return true;
    }
    return false;
  }

  /// From the device to a buffer, enqueued.
  void load(int buffer, const Piece& piece) {
    count(piece);
    copy_bytes(instances_.out(buffer), staging_.out(buffer), piece.data, piece.bytes);
    out_[buffer] = {State::copying, piece, 0};
  }

  void dispatch(int buffer) {
    Lane& lane = out_[buffer];
    lane.state = State::travelling;
    if (is_mate(lane.piece.rank)) {
      staging_.synchronise();
      tell(buffer, lane.piece.rank, notice_tag, buffer);
      check(MPI_Irecv(&lane.notice, 1, MPI_INT, lane.piece.rank, done_tag + buffer, comm_.get(),
                      &out_request(buffer)),
            "MPI_Irecv");
    } else {
      check(MPI_Isend(staging_.out(buffer), static_cast<int>(lane.piece.bytes), MPI_BYTE,
                      lane.piece.rank, exchange_tag, comm_.get(), &out_request(buffer)),
            "MPI_Isend");
    }
  }

  void post(int buffer, const Piece& piece) {
    Lane& lane = in_[buffer];
    lane = {State::travelling, piece, 0};
    if (is_mate(piece.rank)) {
      check(MPI_Irecv(&lane.notice, 1, MPI_INT, piece.rank, notice_tag, comm_.get(),
                      &in_request(buffer)),
            "MPI_Irecv");
    } else {
      check(MPI_Irecv(staging_.in(buffer), static_cast<int>(piece.bytes), MPI_BYTE, piece.rank,
                      exchange_tag, comm_.get(), &in_request(buffer)),
            "MPI_Irecv");
    }
  }

  /// From a buffer to the device, enqueued.
  void unload(int buffer) {
    Lane& lane = in_[buffer];
    const bool mate = is_mate(lane.piece.rank);
    if (mate) staging_.synchronise();
    copy_bytes(instances_.in(buffer), lane.piece.data,
               mate ? staging_.out_of(lane.piece.rank, lane.notice) : staging_.in(buffer),
               lane.piece.bytes);
    lane.state = State::copying;
  }

  void acknowledge(int buffer) {
    Lane& lane = in_[buffer];
    if (is_mate(lane.piece.rank)) {
      tell(buffers + buffer, lane.piece.rank, done_tag + lane.notice, 0);
    }
    lane.state = State::idle;
    --left_;
  }

  /// Each buffer has room for one notice under way; the one before has been taken long since.
  void tell(int place, int rank, int tag, int text) {
    const auto at = static_cast<std::size_t>(place);
    check(MPI_Wait(&notices_[at], MPI_STATUS_IGNORE), "MPI_Wait");
    texts_[at] = text;
    check(MPI_Isend(&texts_[at], 1, MPI_INT, rank, tag, comm_.get(), &notices_[at]), "MPI_Isend");
  }

  void progress(bool wait) {
    std::array<int, 2 * buffers> done{};
    int count = 0;
    if (wait) {
      check(MPI_Waitsome(2 * buffers, requests_.data(), &count, done.data(), MPI_STATUSES_IGNORE),
            "MPI_Waitsome");
    } else {
      check(MPI_Testsome(2 * buffers, requests_.data(), &count, done.data(), MPI_STATUSES_IGNORE),
            "MPI_Testsome");
    }
    for (int i = 0; i < count; ++i) {  // a count of MPI_UNDEFINED is negative
      const int which = done[static_cast<std::size_t>(i)];
      if (which < buffers) {
        out_[which].state = State::idle;
        --left_;
      } else {
        unload(which - buffers);
      }
    }
  }

  Communicator& comm_;
  std::size_t message_bytes_;
  int node_size_;
  Buffers& staging_;
  CopyInstances<ExecutionSpace>& instances_;
  std::array<Lane, buffers> out_, in_;
  std::array<MPI_Request, 2 * buffers> requests_, notices_;  ///< of those out, then of those in
  std::array<int, 2 * buffers> texts_{};
  std::size_t loaded_ = 0, dispatched_ = 0, posted_ = 0, left_ = 0;
};

}  // namespace kradix::impl::mpi
