#include "ranks.hpp"

#ifdef KRADIX_TOOL_MPI
#include <cstdlib>
#include <mpi.h>

#include "world.hpp"
#endif

namespace tool {

#ifdef KRADIX_TOOL_MPI
namespace {

/// Without mpirun there is no MPI_Init: it takes longer than most commands.
bool started_by_mpirun() {
  for (const char* const variable : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK", "PMI_RANK"}) {
    if (std::getenv(variable)) return true;
  }
  return false;
}

bool running = false;

}  // namespace

Ranks::Ranks() {
  running = started_by_mpirun() && MPI_Init(nullptr, nullptr) == MPI_SUCCESS;
}
Ranks::~Ranks() {
  if (running) MPI_Finalize();
}
int Ranks::size() {
  return running ? World().size() : 1;
}
int Ranks::rank() {
  return running ? World().rank() : 0;
}
void Ranks::abort() {
  MPI_Abort(MPI_COMM_WORLD, 1);
}

#else
Ranks::Ranks() = default;
Ranks::~Ranks() = default;
int Ranks::size() {
  return 1;
}
int Ranks::rank() {
  return 0;
}
void Ranks::abort() {}
void run_sort_on_ranks(const SortCommand&) {}
void run_check_on_ranks(const CheckCommand&) {}
#endif

}  // namespace tool
