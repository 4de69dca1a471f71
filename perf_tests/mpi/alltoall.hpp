// What the exchange is measured against: every rank sends as much to every other, and nothing else.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <mpi.h>
#include <stdexcept>
#include <string>
#include <vector>
#ifdef KRADIX_ENABLE_NCCL
#include <nccl.h>
#endif

#include "support/stopwatch.hpp"

namespace bench_mpi {

using Space = Kokkos::DefaultExecutionSpace;
using Bytes = Kokkos::View<std::byte*, Space::memory_space>;

#ifdef KRADIX_ENABLE_NCCL
inline constexpr const char* alltoall_name = "NCCL";

/// One group of sends and receives.
class AllToAll {
 public:
  AllToAll(const Space& exec, int rank, int size) : exec_(exec), rank_(rank), size_(size) {
    ncclUniqueId id{};
    if (rank == 0) check(ncclGetUniqueId(&id));
    MPI_Bcast(&id, sizeof id, MPI_BYTE, 0, MPI_COMM_WORLD);
    check(ncclCommInitRank(&comm_, size, id, rank));
  }
  ~AllToAll() { ncclCommDestroy(comm_); }
  AllToAll(const AllToAll&) = delete;
  AllToAll& operator=(const AllToAll&) = delete;

  void run(const Bytes& from, const Bytes& to, std::uint64_t each) {
    check(ncclGroupStart());
    for (int step = 1; step < size_; ++step) {
      const int right = (rank_ + step) % size_;
      const int left = (rank_ - step + size_) % size_;
      check(
          ncclSend(from.data() + right * each, each, ncclUint8, right, comm_, exec_.cuda_stream()));
      check(ncclRecv(to.data() + left * each, each, ncclUint8, left, comm_, exec_.cuda_stream()));
    }
    check(ncclGroupEnd());
    exec_.fence();
  }

 private:
  static void check(ncclResult_t code) {
    if (code != ncclSuccess)
      throw std::runtime_error(std::string("NCCL: ") + ncclGetErrorString(code));
  }
  Space exec_;
  int rank_, size_;
  ncclComm_t comm_{};
};
#else
inline constexpr const char* alltoall_name = "MPI";

/// MPI_Alltoall between arrays in host memory, wherever the sort's arrays are.
class AllToAll {
 public:
  AllToAll(const Space&, int, int) {}

  void run(const Bytes& from, const Bytes& to, std::uint64_t each) {
    if (host_from_.extent(0) != from.extent(0)) {
      host_from_ = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, from);
      host_to_ = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, to);
    }
    MPI_Datatype block{};
    MPI_Type_contiguous(static_cast<int>(each), MPI_BYTE, &block);
    MPI_Type_commit(&block);
    MPI_Alltoall(host_from_.data(), 1, block, host_to_.data(), 1, block, MPI_COMM_WORLD);
    MPI_Type_free(&block);
  }

 private:
  Kokkos::View<std::byte*, Kokkos::HostSpace> host_from_, host_to_;
};
#endif

/// The largest of all ranks.
inline double slowest(double seconds) {
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return seconds;
}

/// Median seconds of an all-to-all in which every rank sends `bytes` in all, on `exec`, after `start()` has
/// enqueued other work elsewhere; `finish()` waits for that.
template <class Start, class Finish>
double alltoall_seconds(const Space& exec, int rank, int size, std::uint64_t bytes, int repetitions,
                        const Start& start, const Finish& finish) {
  constexpr std::uint64_t most = std::uint64_t{1} << 30;
  constexpr std::uint64_t line =
      128;  // NCCL takes half as long again for pieces that are not aligned
  std::uint64_t each = bytes / static_cast<std::uint64_t>(size > 1 ? size - 1 : 1);
  each = each < most ? (each + line - 1) / line * line : most;
  const double scale =
      each == 0 ? 0 : static_cast<double>(bytes) / (static_cast<double>(each) * (size - 1));
  if (size == 1 || each == 0) return 0;
  const Bytes from("from", each * static_cast<std::uint64_t>(size));
  const Bytes to("to", each * static_cast<std::uint64_t>(size));
  AllToAll alltoall(exec, rank, size);
  std::vector<double> samples;
  for (int i = 0; i <= repetitions; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    start();
    const double begin = MPI_Wtime();
    alltoall.run(from, to, each);
    const double seconds = slowest(MPI_Wtime() - begin);
    finish();
    if (i > 0) samples.push_back(seconds);
  }
  std::sort(samples.begin(), samples.end());
  return samples[samples.size() / 2] * scale;
}

}  // namespace bench_mpi
