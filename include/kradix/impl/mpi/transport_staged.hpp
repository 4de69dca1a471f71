// Pieces through pinned host memory: two buffers each way, one is copied while the other travels.
//
// To a rank of the same node only a notice is sent: that rank's device reads this one's buffer, and tells
// when it has. To other nodes the buffer itself is sent.
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <array>
#include <cstddef>
#include <list>
#include <mpi.h>
#include <optional>
#include <utility>
#include <vector>

#include "kradix/impl/mpi/exchange.hpp"
#include "kradix/impl/mpi/staging.hpp"
#include "kradix/impl/mpi/transport.hpp"
#include "kradix/impl/tuning.hpp"

namespace kradix::impl::mpi {

/// One instance for each direction, so that both copy engines run. Kept with the communicator.
template <class ExecutionSpace>
class CopyInstances {
 public:
  void make(const ExecutionSpace& exec) {
    if (out_) return;
    if constexpr (is_host_space<ExecutionSpace>) {
      out_ = exec;
      in_ = exec;
    } else {
      const auto instances = Kokkos::Experimental::partition_space(exec, 1, 1);
      out_ = instances[0];
      in_ = instances[1];
    }
  }
  const ExecutionSpace& out() const { return *out_; }
  const ExecutionSpace& in() const { return *in_; }

 private:
  std::optional<ExecutionSpace> out_, in_;
};

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
    std::size_t sent = 0, posted = 0;
    left_ = out.count() + in.count();
    // Either direction goes on alone, in the order of steps: no rank waits for one that waits for it.
    while (left_ > 0) {
      bool busy = false;
      for (int b = 0; b < buffers; ++b) {
        if (out_[b].state == State::idle && sent < out.count()) {
          load(b, out[sent++].piece);
          busy = true;
        }
        if (in_[b].state == State::idle && posted < in.count()) {
          post(b, in[posted++].piece);
          busy = true;
        }
      }
      busy = end_copies() || busy;
      if (left_ > 0) progress(!busy);
    }
    for (auto& [request, text] : notices_) check(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
    notices_.clear();
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

  /// From the device to a buffer, enqueued.
  void load(int buffer, const Piece& piece) {
    count(piece);
    copy_bytes(instances_.out(), staging_.out(buffer), piece.data, piece.bytes);
    out_[buffer] = {State::copying, piece, 0};
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
    copy_bytes(instances_.in(), lane.piece.data,
               mate ? staging_.out_of(lane.piece.rank, lane.notice) : staging_.in(buffer),
               lane.piece.bytes);
    lane.state = State::copying;
  }

  /// Waits for copies of both directions, which run side by side. True if there were any.
  bool end_copies() {
    const auto copying = [](const Lane& lane) { return lane.state == State::copying; };
    const bool outwards = std::any_of(out_.begin(), out_.end(), copying);
    const bool inwards = std::any_of(in_.begin(), in_.end(), copying);
    if (outwards) {
      instances_.out().fence("kradix::mpi: fence after copies to staging buffers");
      staging_.synchronise();
    }
    for (int b = 0; b < buffers; ++b) {
      if (copying(out_[b])) dispatch(b);
    }
    if (inwards) instances_.in().fence("kradix::mpi: fence after copies from staging buffers");
    for (int b = 0; b < buffers; ++b) {
      if (copying(in_[b])) acknowledge(b);
    }
    return outwards || inwards;
  }

  void dispatch(int buffer) {
    Lane& lane = out_[buffer];
    lane.state = State::travelling;
    if (is_mate(lane.piece.rank)) {
      tell(lane.piece.rank, notice_tag, buffer);
      check(MPI_Irecv(&lane.notice, 1, MPI_INT, lane.piece.rank, done_tag + buffer, comm_.get(),
                      &out_request(buffer)),
            "MPI_Irecv");
    } else {
      check(MPI_Isend(staging_.out(buffer), static_cast<int>(lane.piece.bytes), MPI_BYTE,
                      lane.piece.rank, exchange_tag, comm_.get(), &out_request(buffer)),
            "MPI_Isend");
    }
  }

  void acknowledge(int buffer) {
    Lane& lane = in_[buffer];
    if (is_mate(lane.piece.rank)) tell(lane.piece.rank, done_tag + lane.notice, 0);
    lane.state = State::idle;
    --left_;
  }

  void tell(int rank, int tag, int text) {
    auto& [request, kept] = notices_.emplace_back(MPI_REQUEST_NULL, text);
    check(MPI_Isend(&kept, 1, MPI_INT, rank, tag, comm_.get(), &request), "MPI_Isend");
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
  std::array<MPI_Request, 2 * buffers> requests_;
  std::list<std::pair<MPI_Request, int>> notices_;
  std::size_t left_ = 0;
};

}  // namespace kradix::impl::mpi
