// Ranks of a node that fetch from each other take turns, so that no two fetch from the same one.
#pragma once

#include <Kokkos_Core.hpp>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cuda.h>
#include <fcntl.h>
#include <mpi.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kradix/impl/mpi/communicator.hpp"
#include "kradix/impl/mpi/second_instance.hpp"

namespace kradix::impl::mpi {

/// How many turns every rank has taken, in memory that all of them share, so that streams write it and wait for it without a
/// kernel, and a host can where its device does not any more.
class Turns {
 public:
  Turns() = default;
  Turns(const Turns&) = delete;
  Turns& operator=(const Turns&) = delete;
  ~Turns() { close(); }

  /// If there is memory that all ranks can share. Collective.
  void open(const Communicator& comm) {
    int opened = 1;
    char name[64] = {};
    int file = -1;
    ranks_ = static_cast<std::size_t>(comm.size());
    if (comm.rank() == 0) {
      static int count = 0;
      std::snprintf(name, sizeof name, "/kradix-%ld-%d", static_cast<long>(getpid()), count++);
      file = shm_open(name, O_CREAT | O_EXCL | O_RDWR, 0600);
      if (file < 0 || ftruncate(file, static_cast<off_t>(bytes())) != 0) opened = 0;
    }
    check(MPI_Bcast(name, sizeof name, MPI_CHAR, 0, comm.get()), "MPI_Bcast");
    if (comm.rank() != 0) file = shm_open(name, O_RDWR, 0600);
    opened = opened && map(file) ? 1 : 0;
    if (file >= 0) (void)::close(file);
    check(MPI_Allreduce(MPI_IN_PLACE, &opened, 1, MPI_INT, MPI_MIN, comm.get()), "MPI_Allreduce");
    if (comm.rank() == 0) (void)shm_unlink(name);
    if (!opened) close();
  }
  bool are_taken() const { return registered_; }

  /// Numbers of so many turns more. They go round; the same on all ranks.
  std::uint32_t number(std::uint32_t more) {
    const std::uint32_t first = next_;
    next_ += more;
    return first;
  }

  /// What the stream is given from now on waits until this rank has taken its turns before `turn`.
  void await(cudaStream_t stream, int rank, std::uint32_t turn) {
    check_driver(cuStreamWaitValue32(stream, place(rank), turn, CU_STREAM_WAIT_VALUE_GEQ),
                 "cuStreamWaitValue32");
  }
  /// When the stream comes here, so does this rank.
  void take(cudaStream_t stream, int rank, std::uint32_t turn) {
    check_driver(cuStreamWriteValue32(stream, place(rank), turn + 1, CU_STREAM_WRITE_VALUE_DEFAULT),
                 "cuStreamWriteValue32");
  }
  /// Nobody waits any more for a turn of this rank before `turn`. What its stream was given has been done, or never will be.
  void leave_out(int rank, std::uint32_t turn) {
    std::atomic_ref<std::uint32_t>(*word(rank)).store(turn);
  }

 private:
  static constexpr std::size_t apart = 64;  ///< bytes of a rank, that it alone writes
  std::size_t bytes() const { return ranks_ * apart; }
  std::uint32_t* word(int rank) const {
    return reinterpret_cast<std::uint32_t*>(shared_ + static_cast<std::size_t>(rank) * apart);
  }
  CUdeviceptr place(int rank) const { return on_device_ + static_cast<std::size_t>(rank) * apart; }

  static void check_driver(CUresult code, const char* call) {
    if (code == CUDA_SUCCESS) return;
    const char* text = nullptr;
    (void)cuGetErrorString(code, &text);
    fail(call, text ? text : "unknown error");
  }

  bool map(int file) {
    if (file < 0) return false;
    void* const shared = mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (shared == MAP_FAILED) return false;
    shared_ = static_cast<std::byte*>(shared);
    void* device = nullptr;
    registered_ = cudaHostRegister(shared, bytes(), cudaHostRegisterMapped) == cudaSuccess;
    if (!registered_ || cudaHostGetDevicePointer(&device, shared, 0) != cudaSuccess) {
      (void)cudaGetLastError();
      return false;
    }
    on_device_ = reinterpret_cast<CUdeviceptr>(device);
    return true;
  }
  void close() {
    if (registered_) (void)cudaHostUnregister(shared_);
    if (shared_) (void)munmap(shared_, bytes());
    registered_ = false;
    shared_ = nullptr;
  }

  std::size_t ranks_ = 0;
  std::byte* shared_ = nullptr;
  CUdeviceptr on_device_ = 0;
  bool registered_ = false;
  std::uint32_t next_ = 0;
};

}  // namespace kradix::impl::mpi
