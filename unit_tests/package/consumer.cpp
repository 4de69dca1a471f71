// SPDX-License-Identifier: BSD-3-Clause
// What the smallest user of the package writes.
#include <Kokkos_Core.hpp>
#include <cstdint>
#include <cstdio>
#include <kradix/sort.hpp>
#include <stdexcept>

/// The algorithms for study are in the compiled library alone; without it they are refused by name.
bool studies(const Kokkos::View<std::uint32_t*>& keys) {
  kradix::Options options;
  options.algorithm = kradix::Algorithm::bit_split;
  try {
    kradix::sort(keys, options);
    return true;
  } catch (const std::invalid_argument&) {
    return false;
  }
}

#ifdef KRADIX_USE_COMPILED
constexpr bool compiled = true;
#else
constexpr bool compiled = false;
#endif

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
  if (studies(keys) != compiled) {
    std::fprintf(stderr, "algorithms for study: %s\n", compiled ? "missing" : "there");
    return 1;
  }
  return sorted ? 0 : 1;
}
