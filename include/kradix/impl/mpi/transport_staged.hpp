// Pieces through pinned host memory: two buffers each way, copied on one side while the other travels.
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <array>
#include <cstddef>
#include <mpi.h>
#include <vector>

#include "kradix/impl/mpi/exchange.hpp"
#include "kradix/impl/mpi/transport.hpp"

namespace kradix::impl::mpi {

/// Host memory that the device's copy engines reach at full speed.
#ifdef KOKKOS_HAS_SHARED_HOST_PINNED_SPACE
using PinnedSpace = Kokkos::SharedHostPinnedSpace;
#else
using PinnedSpace = Kokkos::HostSpace;
#endif

/// The buffers of one communicator: pinning memory takes longer than most exchanges, so they stay.
struct StagingBuffers {
  static constexpr int per_direction = 2;
  static constexpr std::size_t bytes = std::size_t{1} << 25;
  Kokkos::View<std::byte*, PinnedSpace> out[per_direction], in[per_direction];

  void allocate() {
    if (out[0].extent(0) > 0) return;
    const auto buffer = Kokkos::view_alloc("kradix::mpi::staging", Kokkos::WithoutInitializing);
    for (int i = 0; i < per_direction; ++i) {
      out[i] = Kokkos::View<std::byte*, PinnedSpace>(buffer, bytes);
      in[i] = Kokkos::View<std::byte*, PinnedSpace>(buffer, bytes);
    }
  }
};

template <class ExecutionSpace>
class StagedTraffic : public Traffic {
  static constexpr int buffers = StagingBuffers::per_direction;

 public:
  StagedTraffic(const ExecutionSpace& exec, Communicator& comm, std::size_t message_bytes)
      : exec_(exec),
        comm_(comm),
        message_bytes_(std::min(message_bytes, StagingBuffers::bytes)),
        staging_(comm.keep<StagingBuffers>("staging")) {
    staging_.allocate();
  }

  void exchange(const std::vector<Piece>& sends, const std::vector<Piece>& receives) override {
    const Messages out(sends, comm_.rank(), comm_.size(), true, message_bytes_);
    const Messages in(receives, comm_.rank(), comm_.size(), false, message_bytes_);
    // Requests of the two outgoing buffers, then of the two incoming ones. Either direction goes on
    // alone, in the order of steps, so that no rank waits for one that waits for it.
    std::array<MPI_Request, 2 * buffers> requests;
    requests.fill(MPI_REQUEST_NULL);
    std::array<std::size_t, buffers> arriving{};
    std::size_t sent = 0, posted = 0, arrived = 0;
    for (int b = 0; b < buffers; ++b) {
      post(in, posted, b, arriving, requests);
      send(out, sent, b, requests);
    }
    while (arrived < in.count() || sent < out.count() || any_left(requests)) {
      int done = MPI_UNDEFINED;
      check(MPI_Waitany(2 * buffers, requests.data(), &done, MPI_STATUS_IGNORE), "MPI_Waitany");
      if (done == MPI_UNDEFINED) break;
      if (done < buffers) {
        send(out, sent, done, requests);
      } else {
        const int b = done - buffers;
        unload(in[arriving[static_cast<std::size_t>(b)]].piece, b);
        ++arrived;
        post(in, posted, b, arriving, requests);
      }
    }
  }

 private:
  static bool any_left(const std::array<MPI_Request, 2 * buffers>& requests) {
    return std::any_of(requests.begin(), requests.end(),
                       [](MPI_Request r) { return r != MPI_REQUEST_NULL; });
  }

  void send(const Messages& out, std::size_t& sent, int buffer,
            std::array<MPI_Request, 2 * buffers>& requests) {
    if (sent == out.count()) return;
    const Piece& piece = out[sent++].piece;
    count(piece);
    copy(staging_.out[buffer].data(), piece.data, piece.bytes);
    check(
        MPI_Isend(staging_.out[buffer].data(), static_cast<int>(piece.bytes), MPI_BYTE, piece.rank,
                  exchange_tag, comm_.get(), &requests[static_cast<std::size_t>(buffer)]),
        "MPI_Isend");
  }

  void post(const Messages& in, std::size_t& posted, int buffer,
            std::array<std::size_t, buffers>& arriving,
            std::array<MPI_Request, 2 * buffers>& requests) {
    if (posted == in.count()) return;
    const Piece& piece = in[posted].piece;
    arriving[static_cast<std::size_t>(buffer)] = posted++;
    check(
        MPI_Irecv(staging_.in[buffer].data(), static_cast<int>(piece.bytes), MPI_BYTE, piece.rank,
                  exchange_tag, comm_.get(), &requests[static_cast<std::size_t>(buffers + buffer)]),
        "MPI_Irecv");
  }

  void unload(const Piece& piece, int buffer) {
    copy(piece.data, staging_.in[buffer].data(), piece.bytes);
  }

  /// Pinned memory is reachable from the device: one copy kernel or copy engine does it.
  void copy(std::byte* to, const std::byte* from, std::uint64_t bytes) {
    copy_bytes(exec_, to, from, bytes);
    exec_.fence("kradix::mpi: fence after a staged piece");
  }

  const ExecutionSpace& exec_;
  Communicator& comm_;
  std::size_t message_bytes_;
  StagingBuffers& staging_;
};

}  // namespace kradix::impl::mpi
