// bench_mpi: times of the distributed sort, phase by phase, beside its local sort and an all-to-all.
#include <Kokkos_Core.hpp>
#include <cstdio>
#include <exception>
#include <mpi.h>

#include "mpi/contest.hpp"
#include "mpi/options.hpp"

namespace bench_mpi {

void print_json(const Options& options, const Outcome& o, int size) {
  const kradix::mpi::Times& t = o.report.seconds;
  std::printf(
      "{\"key\": \"%s\", \"values\": %d, \"arrays\": %d, \"distribution\": \"%s\", \"ranks\": %d, "
      "\"total\": %llu, "
      "\"seconds\": %.9g, \"check\": %.9g, \"survey\": %.9g, \"first_sort\": %.9g, "
      "\"splitters\": %.9g, \"partition\": %.9g, \"allocate\": %.9g, \"exchange\": %.9g, "
      "\"sort\": %.9g, \"local_sort\": %.9g, \"alltoall\": %.9g, \"alltoall_beside_sort\": %.9g, "
      "\"alltoall_by\": \"%s\", "
      "\"bytes_sent\": %llu, \"temporary_bytes\": %llu, \"imbalance\": %.6g, \"rounds\": %d, "
      "\"ranges\": %d, \"work\": \"%s\", \"transport\": \"%s\", \"route\": \"%s\"}\n",
      options.key.c_str(), options.values, options.arrays,
      std::string(name(options.input.distribution)).c_str(), size,
      static_cast<unsigned long long>(o.total), o.seconds, t.check, t.survey, t.first_sort,
      t.splitters, t.partition, t.allocate, t.exchange, t.sort, o.local_sort, o.alltoall,
      o.beside_sort, alltoall_name, static_cast<unsigned long long>(o.bytes_sent),
      static_cast<unsigned long long>(o.temporary_bytes), o.report.imbalance, o.report.rounds,
      o.report.ranges, std::string(name(o.report.work)).c_str(),
      std::string(name(o.report.transport)).c_str(), std::string(name(o.report.route)).c_str());
}

void print_table(const Options& options, const Outcome& o, int size) {
  const kradix::mpi::Times& t = o.report.seconds;
  const double element = (options.key == "u64" ? 8.0 : 4.0) + options.values * options.arrays;
  const double bound = o.local_sort + o.alltoall;
  const auto rate = [](double amount, double seconds) {
    return seconds > 0 ? amount / seconds * 1e-9 : 0;
  };
  std::printf("%s%s, %s, %d ranks on %s, %llu elements: %s, %s, %s, %d ranges, %d rounds\n",
              options.key.c_str(),
              options.values == 0   ? ""
              : options.arrays == 1 ? " with 4 B"
                                    : " with 4, 4, 4 B",
              std::string(name(options.input.distribution)).c_str(), size, Space::name(),
              static_cast<unsigned long long>(o.total), std::string(name(o.report.work)).c_str(),
              std::string(name(o.report.transport)).c_str(),
              std::string(name(o.report.route)).c_str(), o.report.ranges, o.report.rounds);
  std::printf("  whole      %10.3f ms  %8.2f Gkeys/s  %8.2f GB/s a rank  %5.1f%% of the bound\n",
              o.seconds * 1e3, rate(static_cast<double>(o.total), o.seconds),
              rate(static_cast<double>(o.per_rank) * element, o.seconds), 100 * bound / o.seconds);
  std::printf(
      "  phases, ms: check %.3f, survey %.3f, first sort %.3f, splitters %.3f, partition %.3f, "
      "allocate %.3f, exchange %.3f, sort %.3f\n",
      t.check * 1e3, t.survey * 1e3, t.first_sort * 1e3, t.splitters * 1e3, t.partition * 1e3,
      t.allocate * 1e3, t.exchange * 1e3, t.sort * 1e3);
  std::printf("  local sort %10.3f ms  all-to-all by %s %.3f ms (%.2f GB/s a rank)\n",
              o.local_sort * 1e3, alltoall_name, o.alltoall * 1e3,
              rate(static_cast<double>(o.bytes_sent), o.alltoall));
  if (o.beside_sort > 0) {
    std::printf("  all-to-all beside local sorts %.3f ms (%.2f GB/s a rank)\n", o.beside_sort * 1e3,
                rate(static_cast<double>(o.bytes_sent), o.beside_sort));
  }
  if (o.report.ranges == 1 &&
      o.report.transport != kradix::mpi::Transport::peer) {  // no merge beside
    std::printf("  exchange   %10.2f GB/s a rank\n",
                rate(static_cast<double>(o.bytes_sent), t.exchange));
  }
  if (o.link.bytes > 0) {
    const auto bytes = static_cast<double>(o.link.bytes);
    std::printf("  host link  %10.2f GB/s a rank out, %.2f in, %.2f each way at once\n",
                rate(bytes, o.link.out), rate(bytes, o.link.in), rate(bytes, o.link.both));
  }
  std::printf("  imbalance %.6f, %.1f MB temporary; every result was verified\n",
              o.report.imbalance, static_cast<double>(o.temporary_bytes) * 1e-6);
}

template <class Key>
void run(const Options& options) {
  int rank = 0;
  int size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const Outcome outcome = Contest<Key>(options, rank, size).measure();
  if (rank != 0) return;
  if (options.json) {
    print_json(options, outcome, size);
  } else {
    print_table(options, outcome, size);
  }
}

}  // namespace bench_mpi

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int status = 0;
  try {
    const bench_mpi::Options options = bench_mpi::parse(argc, argv);
    if (options.help) {
      if (rank == 0) std::fputs(bench_mpi::usage, stdout);
    } else {
      const Kokkos::ScopeGuard kokkos(argc, argv);
      if (options.key == "u32") {
        bench_mpi::run<std::uint32_t>(options);
      } else {
        bench_mpi::run<std::uint64_t>(options);
      }
    }
  } catch (const std::exception& error) {
    if (rank == 0) std::fprintf(stderr, "bench_mpi: %s\n", error.what());
    status = 1;
  }
  MPI_Finalize();
  return status;
}
