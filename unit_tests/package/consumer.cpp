// SPDX-License-Identifier: BSD-3-Clause
// What the smallest user of the package writes.
#include <Kokkos_Core.hpp>
#include <cstdint>
#include <cstdio>
#include <kradix/sort.hpp>

int main(int argc, char** argv) {
  const Kokkos::ScopeGuard kokkos(argc, argv);
  const Kokkos::View<std::uint32_t*> keys("keys", 3);
  const auto host = Kokkos::create_mirror_view(keys);
  host(0) = 3, host(1) = 1, host(2) = 2;
  Kokkos::deep_copy(keys, host);

  kradix::sort(keys);

  Kokkos::deep_copy(host, keys);
  const bool sorted = host(0) == 1 && host(1) == 2 && host(2) == 3;
  if (!sorted) std::fprintf(stderr, "got %u %u %u, not 1 2 3\n", host(0), host(1), host(2));
  return sorted ? 0 : 1;
}
