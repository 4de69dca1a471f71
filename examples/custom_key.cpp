// Sorts a struct of its own: jobs, the most urgent first and, among equally urgent ones, the one
// that has waited longest. One workspace serves every batch, so that only the first allocates.
#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <kradix/sort.hpp>
#include <tuple>
#include <vector>

struct Job {
  std::int8_t priority;
  std::uint32_t arrival;
  double cost;
};

template <>
struct kradix::KeyCodec<Job> {
  // First field first. Order::descending below turns all of it round, ~ turns arrival back again.
  KOKKOS_FUNCTION static auto encode(const Job& job) {
    return key_bits(job.priority, ~job.arrival);
  }
};

bool more_urgent(const Job& a, const Job& b) {
  return std::tuple(-a.priority, a.arrival) < std::tuple(-b.priority, b.arrival);
}

bool same(const Job& a, const Job& b) {
  return a.priority == b.priority && a.arrival == b.arrival && a.cost == b.cost;
}

std::vector<Job> make_jobs(std::uint32_t count, std::uint32_t batch) {
  std::vector<Job> jobs(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t random = (batch * count + i) * 2654435761u;  // odd: no arrival comes twice
    jobs[i] = {static_cast<std::int8_t>(random % 7 - 3), random, 0.5 * i};
  }
  return jobs;
}

/// Sorts one batch on the device and says whether that is the order of `more_urgent`.
bool sort_batch(std::uint32_t batch, kradix::Workspace& workspace) {
  using HostJobs = Kokkos::View<Job*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;
  std::vector<Job> expected = make_jobs(100'000, batch);
  const Kokkos::View<Job*> jobs("jobs", expected.size());
  Kokkos::deep_copy(jobs, HostJobs(expected.data(), expected.size()));

  kradix::sort(jobs, {.order = kradix::Order::descending, .workspace = &workspace});

  const auto sorted = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), jobs);
  std::sort(expected.begin(), expected.end(), more_urgent);
  return std::equal(expected.begin(), expected.end(), sorted.data(), same);
}

int main(int argc, char** argv) {
  const Kokkos::ScopeGuard kokkos(argc, argv);

  kradix::Workspace workspace;
  bool right = sort_batch(0, workspace);
  const std::size_t bytes = workspace.bytes();
  right = right && sort_batch(1, workspace) && sort_batch(2, workspace);
  right = right && workspace.bytes() == bytes;
  std::printf("custom_key: 3 batches of 100000 jobs in one workspace of %zu bytes, %s\n", bytes,
              right ? "the most urgent first" : "WRONG");
  return right ? 0 : 1;
}
