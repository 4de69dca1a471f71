// The choice between transports, and what MPI can be trusted with.
#pragma once

#include <mpi.h>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

#include <Kokkos_Core.hpp>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "kradix/impl/mpi/plan.hpp"
#include "kradix/impl/mpi/transport.hpp"
#include "kradix/impl/mpi/transport_staged.hpp"
#ifdef KOKKOS_ENABLE_CUDA
#include "kradix/impl/mpi/transport_peer.hpp"
#endif
#ifdef KRADIX_ENABLE_NCCL
#include "kradix/impl/mpi/transport_nccl.hpp"
#endif
#include "kradix/impl/tuning.hpp"

namespace kradix::impl::mpi {

/// Can MPI read and write device memory? KRADIX_GPU_AWARE_MPI=0|1 says it, else MPI itself.
inline bool mpi_is_gpu_aware() {
  const auto says = [](const char* variable) -> int {
    const char* const value = std::getenv(variable);
    return value == nullptr ? -1 : std::string_view(value) != "0" && *value != '\0';
  };
  if (const int said = says("KRADIX_GPU_AWARE_MPI"); said >= 0) return said == 1;
#if defined(KOKKOS_ENABLE_CUDA) && defined(MPIX_CUDA_AWARE_SUPPORT)
  if (MPIX_Query_cuda_support() == 1) return true;
#endif
  return says("MPICH_GPU_SUPPORT_ENABLED") == 1;
}

/// Can every rank read the memory of every other? Collective when asked first.
template <class ExecutionSpace>
bool peers_are_possible([[maybe_unused]] Communicator& comm) {
#ifdef KOKKOS_ENABLE_CUDA
  if constexpr (peers_serve<ExecutionSpace>) return comm.keep<PeerMemory>().is_possible(comm);
#endif
  return false;
}

/// Collective: all ranks must be able to. `fetching_hides`: what peers fetch arrives beside sorts and merges.
template <class ExecutionSpace>
Transport choose_transport(Communicator& comm, Transport wanted, bool fetching_hides) {
  if (wanted != Transport::automatic) return wanted;
  if (is_host_space<ExecutionSpace>) return Transport::direct;
  if (fetching_hides && peers_are_possible<ExecutionSpace>(comm)) return Transport::peer;
#ifdef KRADIX_ENABLE_NCCL
  if (nccl_is_possible<ExecutionSpace>(comm)) return Transport::nccl;
#endif
  if (peers_are_possible<ExecutionSpace>(comm)) return Transport::peer;
  int aware = mpi_is_gpu_aware() ? 1 : 0;
  check(MPI_Allreduce(MPI_IN_PLACE, &aware, 1, MPI_INT, MPI_MIN, comm.get()), "MPI_Allreduce");
  return aware ? Transport::direct : Transport::staged;
}

/// What ranks must make together before any of them goes on. Collective.
template <class ExecutionSpace>
void connect(const ExecutionSpace& exec, Communicator& comm, Transport transport,
             const char* function) {
  Verdict verdict;
  verdict.attempt([&] {
    if (transport == Transport::staged) {
      comm.keep<StagingBuffers<ExecutionSpace>>().make(comm);
      comm.keep<CopyInstances<ExecutionSpace>>().make(exec);
    }
#ifdef KRADIX_ENABLE_NCCL
    if (transport == Transport::nccl) comm.keep<NcclCommunicator>().over(comm);
#endif
    if (transport == Transport::peer && !peers_are_possible<ExecutionSpace>(comm)) {
      throw std::invalid_argument(
          "kradix::mpi: ranks fetch from each other's memory only where all of them are on one "
          "node and their CUDA GPUs reach each other");
    }
  });
  try {
    verdict.agree(comm.get(), function);
  } catch (...) {  // nobody keeps what others do not have
    comm.drop<StagingBuffers<ExecutionSpace>>();
#ifdef KRADIX_ENABLE_NCCL
    comm.drop<NcclCommunicator>();
#endif
    throw;
  }
}

/// After `connect`. `mover` sends, or waits for what arrives. `stays`: memory of the sort that is there in the next call,
/// too.
template <class ExecutionSpace>
std::unique_ptr<Traffic> make_traffic([[maybe_unused]] const ExecutionSpace& mover,
                                      Communicator& comm, Transport transport,
                                      std::size_t message_bytes, int node_size,
                                      [[maybe_unused]] const Shown& stays) {
  if (transport == Transport::staged) {
    return std::make_unique<StagedTraffic<ExecutionSpace>>(comm, message_bytes, node_size);
  }
  if (transport == Transport::nccl) {
#ifdef KRADIX_ENABLE_NCCL
    if constexpr (nccl_serves<ExecutionSpace>) {
      return std::make_unique<NcclTraffic<ExecutionSpace>>(mover, comm, message_bytes);
    }
#endif
    throw std::invalid_argument(
        "kradix::mpi: NCCL moves CUDA memory, and only where Kradix was built with "
        "KRADIX_ENABLE_NCCL");
  }
#ifdef KOKKOS_ENABLE_CUDA
  if constexpr (peers_serve<ExecutionSpace>) {
    if (transport == Transport::peer) {
      return std::make_unique<PeerTraffic>(mover, comm, message_bytes, stays);
    }
  }
#endif
  return std::make_unique<DirectTraffic>(comm, message_bytes);
}

}  // namespace kradix::impl::mpi
