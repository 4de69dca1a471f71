// Pieces between GPUs of one node: every rank shows the others where its pieces lie, and they fetch them by their copy
// engines, beside whatever kernels run, or let kernels read them there. MPI carries notices alone.
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <cuda.h>
#include <exception>
#include <limits>
#include <map>
#include <memory>
#include <mpi.h>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "kradix/impl/mpi/communicator.hpp"
#include "kradix/impl/mpi/second_instance.hpp"
#include "kradix/impl/mpi/transport.hpp"
#include "kradix/impl/mpi/turns.hpp"

namespace kradix::impl::mpi {

template <class ExecutionSpace>
inline constexpr bool peers_serve = std::is_same_v<ExecutionSpace, Kokkos::Cuda>;

/// Where bytes of one process lie, for another to find them.
struct Whereabouts {
  cudaIpcMemHandle_t handle;
  std::uint64_t allocation;  ///< its number in its process
  std::uint64_t offset;
  std::uint64_t shown;  ///< 0: nobody else can reach it
};

/// Smaller allocations share what is mapped as a whole, and only once.
inline constexpr std::size_t least_shown = std::size_t{1} << 21;

inline Whereabouts whereabouts(const std::byte* data) {
  Whereabouts here{};
  CUdeviceptr base = 0;
  std::size_t size = 0;
  const auto place = reinterpret_cast<CUdeviceptr>(data);
  if (cuMemGetAddressRange(&base, &size, place) != CUDA_SUCCESS || size < least_shown ||
      cuPointerGetAttribute(&here.allocation, CU_POINTER_ATTRIBUTE_BUFFER_ID, base) !=
          CUDA_SUCCESS ||
      cudaIpcGetMemHandle(&here.handle, reinterpret_cast<void*>(base)) != cudaSuccess) {
    (void)cudaGetLastError();
    return {};
  }
  here.offset = place - base;
  here.shown = 1;
  return here;
}

/// What this rank has mapped of others' memory, what it shows them besides, and what it copies with. Kept with the
/// communicator: mapping memory takes some 15 ms.
class PeerMemory {
 public:
  PeerMemory() = default;
  PeerMemory(const PeerMemory&) = delete;
  PeerMemory& operator=(const PeerMemory&) = delete;
  ~PeerMemory() {
    let_go();
    for (const cudaEvent_t event : events_) (void)cudaEventDestroy(event);
    if (stream_) (void)cudaStreamDestroy(stream_);
  }

  /// The same on all ranks. Collective when called first.
  bool is_possible(const Communicator& comm) {
    if (!known_) find_out(comm);
    return possible_;
  }

  const std::byte* find(int rank, const Whereabouts& there) {
    if (there.shown == 0) {
      throw std::runtime_error("kradix::mpi: memory of rank " + std::to_string(rank) +
                               " cannot be shown to others");
    }
    Mapped& mapped = mapped_[{rank, there.allocation}];
    if (!mapped.base) {
      void* base = nullptr;
      const cudaError_t code =
          cudaIpcOpenMemHandle(&base, there.handle, cudaIpcMemLazyEnablePeerAccess);
      if (code != cudaSuccess) mapped_.erase({rank, there.allocation});
      check_cuda(code, "cudaIpcOpenMemHandle");
      mapped.base = static_cast<std::byte*>(base);
    }
    mapped.used = true;
    return mapped.base + there.offset;
  }

  /// Whoever frees memory has it back when the others let go of it: they keep what they fetched from last.
  void let_go_of_unused(int rank) {
    for (auto at = mapped_.begin(); at != mapped_.end();) {
      if (at->first.first == rank && !std::exchange(at->second.used, false)) {
        (void)cudaIpcCloseMemHandle(at->second.base);
        at = mapped_.erase(at);
      } else {
        ++at;
      }
    }
  }

  cudaStream_t stream() {
    if (!stream_) {
      check_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking),
                 "cudaStreamCreateWithFlags");
    }
    return stream_;
  }
  cudaEvent_t event(std::size_t i) {
    while (events_.size() <= i) {
      cudaEvent_t event = nullptr;
      check_cuda(cudaEventCreateWithFlags(&event, cudaEventDisableTiming),
                 "cudaEventCreateWithFlags");
      events_.push_back(event);
    }
    return events_[i];
  }

  Turns& turns() { return turns_; }

  /// Memory that stays, its label beginning with `label`.
  std::byte* room(std::size_t bytes, const std::string& label) {
    if (room_.extent(0) < bytes) {
      room_ = {};
      room_ =
          decltype(room_)(Kokkos::view_alloc(label + "::mpi::shown", Kokkos::WithoutInitializing),
                          bytes_to_map<Kokkos::Cuda>(std::max(bytes, least_shown)));
    }
    return room_.data();
  }

 private:
  void let_go() {
    for (const auto& [key, mapped] : mapped_) (void)cudaIpcCloseMemHandle(mapped.base);
    mapped_.clear();
  }

  /// Every rank tries to map a little of every other's.
  void find_out(const Communicator& comm) {
    const auto ranks = static_cast<std::size_t>(comm.size());
    Kokkos::View<std::byte*, Kokkos::CudaSpace> trial;
    Whereabouts mine{};
    try {
      trial = decltype(trial)(Kokkos::view_alloc("kradix::mpi::shown", Kokkos::WithoutInitializing),
                              least_shown);
      mine = whereabouts(trial.data());
    } catch (const std::exception&) {
      mine = {};  // then nobody can
    }
    std::vector<Whereabouts> all(ranks);
    check(
        MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, comm.get()),
        "MPI_Allgather");
    int possible = comm.node_size() == comm.size() ? 1 : 0;
    for (const Whereabouts& there : all) possible = there.shown ? possible : 0;
    for (int rank = 0; rank < comm.size() && possible; ++rank) {
      if (rank == comm.rank()) continue;
      try {
        (void)find(rank, all[static_cast<std::size_t>(rank)]);
      } catch (const std::exception&) {
        possible = 0;
      }
    }
    let_go();
    check(MPI_Allreduce(MPI_IN_PLACE, &possible, 1, MPI_INT, MPI_MIN, comm.get()), "MPI_Allreduce");
    possible_ = possible == 1;
    known_ = true;
    // Two ranks always fetch in step, and those of one device have no link between them.
    if (possible_ && comm.size() > 2 && own_devices(comm)) turns_.open(comm);
  }

  /// Has every rank a device of its own? The same on all.
  static bool own_devices(const Communicator& comm) {
    CUuuid mine{};  // all alike where it is not known
    (void)cuDeviceGetUuid(&mine, Kokkos::Cuda().cuda_device());
    std::vector<CUuuid> all(static_cast<std::size_t>(comm.size()));
    check(
        MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, comm.get()),
        "MPI_Allgather");
    for (std::size_t a = 0; a < all.size(); ++a) {
      for (std::size_t b = 0; b < a; ++b) {
        if (std::memcmp(&all[a], &all[b], sizeof mine) == 0) return false;
      }
    }
    return true;
  }

  struct Mapped {
    std::byte* base = nullptr;
    bool used = false;
  };
  std::map<std::pair<int, std::uint64_t>, Mapped> mapped_;  ///< by rank and allocation
  cudaStream_t stream_ = nullptr;
  std::vector<cudaEvent_t> events_;
  Kokkos::View<std::byte*, Kokkos::CudaSpace> room_;
  Turns turns_;
  bool known_ = false, possible_ = false;
};

/// One exchange in which batch after batch is fetched, and `exec` waits for each. What is sent, or only shown, must be
/// there when it is made. Nothing that fails on one rank keeps the others waiting.
///
/// In each step of a batch every rank fetches from another one. Ranks that fell out of step would stay so, and share a link of
/// one with somebody while another's idles: so a rank's turn comes when the one before it is done with the rank it will fetch
/// from.
class PeerExchange : public Batches {
 public:
  PeerExchange(const Kokkos::Cuda& exec, const Communicator& comm, PeerMemory& memory,
               const Shown& stays, std::size_t message_bytes, const std::vector<Pieces>& batches,
               const Pieces& to_show)
      : exec_(exec), comm_(comm), memory_(memory), stays_(stays) {
    const auto add = [&](const Pieces& pieces, std::size_t most_bytes) {
      out_.emplace_back(pieces.sends, comm.rank(), comm.size(), true, most_bytes);
      in_.emplace_back(pieces.receives, comm.rank(), comm.size(), false, most_bytes);
    };
    for (const Pieces& batch : batches) add(batch, message_bytes);
    add(to_show, std::numeric_limits<std::size_t>::max());
    std::map<int, std::vector<Whereabouts>> shown = show();
    std::map<int, std::vector<Whereabouts>> seen;
    each(in_, [&](const Messages::Message& m) { seen[m.piece.rank].emplace_back(); });
    swap(shown, seen, shown_tag);
    attempt([&] {
      std::map<int, std::size_t> next;
      each(in_, [&](const Messages::Message& m) {
        const int rank = m.piece.rank;
        sources_.push_back(memory_.find(rank, seen.at(rank)[next[rank]++]));
      });
      for (const auto& [rank, all] : seen) memory_.let_go_of_unused(rank);
    });
    for (const auto& [rank, all] : shown) asked_.push_back(rank);
    for (const auto& [rank, all] : seen) asking_.push_back(rank);
    const std::size_t turns = batches.size() * static_cast<std::size_t>(comm.size() - 1);
    turn_ = memory.turns().number(static_cast<std::uint32_t>(turns));
    last_turn_ = turn_ + static_cast<std::uint32_t>(turns);
  }
  ~PeerExchange() override { leave_out_turns(); }
  const std::vector<Messages>& out() const { return out_; }

  const std::byte* where(int rank, std::size_t i) const override {
    if (failed_) std::rethrow_exception(failed_);
    const Messages& whole = in_.back();
    std::size_t source = sources_.size() - whole.count();
    std::size_t of_rank = 0;
    for (std::size_t m = 0; m < whole.count(); ++m, ++source) {
      if (whole[m].piece.rank == rank && of_rank++ == i) return sources_[source];
    }
    return Batches::where(rank, i);
  }

  void next() override {
    const Messages& batch = in_[fetched_++];
    attempt([&] {
      std::size_t i = 0;
      for (int step = 1; step < comm_.size(); ++step) {
        await_turn(step);
        for (const std::size_t end = batch.end_of_step(i, step); i < end; ++i) {
          const Piece& piece = batch[i].piece;
          check_cuda(cudaMemcpyAsync(piece.data, sources_[copied_++], piece.bytes,
                                     cudaMemcpyDefault, memory_.stream()),
                     "cudaMemcpyAsync");
        }
        if (memory_.turns().are_taken()) {
          memory_.turns().take(memory_.stream(), comm_.rank(), turn_++);
        }
      }
      const cudaEvent_t event = memory_.event(events_++);
      check_cuda(cudaEventRecord(event, memory_.stream()), "cudaEventRecord");
      check_cuda(cudaStreamWaitEvent(exec_.cuda_stream(), event, 0), "cudaStreamWaitEvent");
    });
  }

  void finish() override {
    attempt([&] { check_cuda(cudaStreamSynchronize(memory_.stream()), "cudaStreamSynchronize"); });
    leave_out_turns();
    std::map<int, std::vector<Whereabouts>> nothing, no_more;
    for (const int rank : asking_) nothing[rank];
    for (const int rank : asked_) no_more[rank];
    swap(nothing, no_more, done_tag);
    if (failed_) std::rethrow_exception(failed_);
  }

 private:
  static constexpr int shown_tag = exchange_tag + 1;
  static constexpr int done_tag = exchange_tag + 2;

  /// Who fetched from the same rank in the step before.
  void await_turn(int step) {
    if (!memory_.turns().are_taken()) return;
    const int ranks = comm_.size(), before = step > 1 ? step - 1 : ranks - 1;
    memory_.turns().await(memory_.stream(), (comm_.rank() - step + before + ranks) % ranks, turn_);
  }
  /// Of an exchange that failed, for the others to go on.
  void leave_out_turns() {
    if (turn_ == last_turn_ || !memory_.turns().are_taken()) return;
    (void)cudaStreamSynchronize(memory_.stream());
    memory_.turns().leave_out(comm_.rank(), turn_ = last_turn_);
  }

  template <class Step>
  void attempt(const Step& step) {
    if (failed_) return;
    try {
      step();
    } catch (...) {
      failed_ = std::current_exception();
    }
  }

  template <class Act>
  static void each(const std::vector<Messages>& batches, const Act& act) {
    for (const Messages& batch : batches) {
      for (std::size_t i = 0; i < batch.count(); ++i) act(batch[i]);
    }
  }

  /// Kernels may read it there.
  static std::uint64_t in_room(const Piece& piece) {
    return (piece.bytes + aligned_bytes - 1) / aligned_bytes * aligned_bytes;
  }

  /// By rank, in the order of its messages. What does not stay where it is, is copied first: nobody keeps memory mapped
  /// that its owner may want back.
  std::map<int, std::vector<Whereabouts>> show() {
    std::map<int, std::vector<Whereabouts>> shown;
    std::uint64_t bytes = 0;
    each(out_, [&](const Messages::Message& m) {
      Whereabouts& here = shown[m.piece.rank].emplace_back();
      if (stays_.holds(m.piece)) here = whereabouts(m.piece.data);
      bytes += here.shown ? 0 : in_room(m.piece);
    });
    if (bytes == 0) return shown;
    attempt([&] {
      std::byte* room = memory_.room(bytes, stays_.label);
      std::map<int, std::size_t> next;
      each(out_, [&](const Messages::Message& m) {
        Whereabouts& here = shown[m.piece.rank][next[m.piece.rank]++];
        if (here.shown) return;
        check_cuda(
            cudaMemcpyAsync(room, m.piece.data, m.piece.bytes, cudaMemcpyDefault, memory_.stream()),
            "cudaMemcpyAsync");
        here = whereabouts(room);
        room += in_room(m.piece);
      });
      check_cuda(cudaStreamSynchronize(memory_.stream()), "cudaStreamSynchronize");
    });
    return shown;
  }

  /// With each of these ranks, both of them know how many.
  void swap(const std::map<int, std::vector<Whereabouts>>& to,
            std::map<int, std::vector<Whereabouts>>& from, int tag) {
    std::vector<MPI_Request> requests;
    const auto bytes = [](const std::vector<Whereabouts>& all) {
      return static_cast<int>(all.size() * sizeof(Whereabouts));
    };
    for (auto& [rank, all] : from) {
      check(MPI_Irecv(all.data(), bytes(all), MPI_BYTE, rank, tag, comm_.get(),
                      &requests.emplace_back()),
            "MPI_Irecv");
    }
    for (const auto& [rank, all] : to) {
      check(MPI_Isend(all.data(), bytes(all), MPI_BYTE, rank, tag, comm_.get(),
                      &requests.emplace_back()),
            "MPI_Isend");
    }
    check(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE),
          "MPI_Waitall");
  }

  const Kokkos::Cuda& exec_;
  const Communicator& comm_;
  PeerMemory& memory_;
  Shown stays_;
  std::vector<Messages> out_, in_;         ///< batch after batch; in the end what is shown
  std::vector<const std::byte*> sources_;  ///< of the messages in, batch after batch
  std::vector<int> asked_, asking_;        ///< who fetches from here, and from whom this rank does
  std::size_t fetched_ = 0, copied_ = 0, events_ = 0;
  std::uint32_t turn_ = 0, last_turn_ = 0;
  std::exception_ptr failed_;
};

class PeerTraffic : public TrafficInBatches {
 public:
  /// After `connect`. `exec` waits for what arrives.
  PeerTraffic(const Kokkos::Cuda& exec, Communicator& comm, std::size_t message_bytes,
              const Shown& stays)
      : exec_(exec),
        comm_(comm),
        message_bytes_(message_bytes),
        stays_(stays),
        memory_(comm.keep<PeerMemory>()) {}

  std::unique_ptr<Batches> begin(std::vector<Pieces> batches, const Pieces& to_show) override {
    auto made = std::make_unique<PeerExchange>(exec_, comm_, memory_, stays_, message_bytes_,
                                               batches, to_show);
    count(made->out());
    return made;
  }

 private:
  const Kokkos::Cuda& exec_;
  Communicator& comm_;
  std::size_t message_bytes_;
  Shown stays_;
  PeerMemory& memory_;
};

}  // namespace kradix::impl::mpi
