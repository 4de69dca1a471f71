#include <Kokkos_Core.hpp>
#include <cstdio>
#include <cstdlib>
#include <gtest/gtest.h>
#include <mpi.h>
#if defined(MPICH_VERSION) && defined(__linux__)
#include <csignal>
#include <ctime>
#include <sched.h>
#include <thread>

// MPICH's ranks wait without ever giving way. Where there are more of them than cores, what one waits for
// comes after the time slices of all others, unless a timer makes them yield. (Four times as often, signals take most of the
// time of some machines.)
void give_way_while_waiting(int ranks) {
  if (static_cast<unsigned>(ranks) <= std::thread::hardware_concurrency()) return;
  struct sigaction action = {};
  action.sa_handler = [](int) { sched_yield(); };
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, nullptr);
  timer_t timer = nullptr;
  const itimerspec often = {{0, 200000}, {0, 200000}};
  if (timer_create(CLOCK_MONOTONIC, nullptr, &timer) == 0) {
    timer_settime(timer, 0, &often, nullptr);
  }
}
#else
void give_way_while_waiting(int) {}
#endif

// All ranks run all tests; the program fails if any rank saw a failure. An argument says how many ranks
// there must be: those that another MPI's launcher starts are each alone.
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  ::testing::InitGoogleTest(&argc, argv);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc > 1 && std::atoi(argv[1]) != size) {
    std::fprintf(stderr, "there are %d ranks instead of %s: is the launcher another MPI's?\n", size,
                 argv[1]);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  give_way_while_waiting(size);
  if (rank != 0) {
    // Only rank 0 tells what passed; failures are told by all.
    auto& listeners = ::testing::UnitTest::GetInstance()->listeners();
    class Failures : public ::testing::EmptyTestEventListener {
      void OnTestPartResult(const ::testing::TestPartResult& result) override {
        if (!result.failed()) return;
        int rank_now = 0;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank_now);
        std::fprintf(stderr, "rank %d: %s:%d: %s\n", rank_now, result.file_name(),
                     result.line_number(), result.message());
      }
    };
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new Failures);
  }
  int failed = 0;
  {
    const Kokkos::ScopeGuard kokkos(argc, argv);
    failed = RUN_ALL_TESTS();
  }
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Finalize();
  return failed;
}
