#include <Kokkos_Core.hpp>
#include <gtest/gtest.h>
#include <mpi.h>

// All ranks run all tests; the program fails if any rank saw a failure.
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  ::testing::InitGoogleTest(&argc, argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
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
