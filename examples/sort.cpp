// Sorts a million random doubles on the default execution space.
#include <Kokkos_Core.hpp>
#include <Kokkos_Random.hpp>
#include <algorithm>
#include <cstdio>
#include <kradix/sort.hpp>
#include <vector>

int main(int argc, char** argv) {
  const Kokkos::ScopeGuard kokkos(argc, argv);

  const Kokkos::View<double*> keys("keys", 1'000'000);
  Kokkos::fill_random(keys, Kokkos::Random_XorShift64_Pool<>(2024), -1.0, 1.0);
  const auto host = Kokkos::create_mirror(keys);
  Kokkos::deep_copy(host, keys);
  std::vector<double> expected(host.data(), host.data() + host.size());

  kradix::sort(keys);

  Kokkos::deep_copy(host, keys);
  std::sort(expected.begin(), expected.end());
  const bool right = std::equal(expected.begin(), expected.end(), host.data());
  std::printf("sort: %zu doubles from %.6f to %.6f, %s\n", host.size(), host(0),
              host(host.size() - 1), right ? "as std::sort has them" : "WRONG");
  return right ? 0 : 1;
}
