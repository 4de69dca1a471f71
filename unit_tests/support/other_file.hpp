// Sorts that are compiled in another source file than the test that asks for them.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

#include "support/device.hpp"

namespace other_file {

void argsort(const Space& exec, const Kokkos::View<std::uint32_t*, Memory>& keys,
             const Kokkos::View<std::uint64_t*, Memory>& permutation);

}  // namespace other_file
