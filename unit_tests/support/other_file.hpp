// Sorts that are compiled in another source file than the test that asks for them.
#pragma once

#include <Kokkos_Core.hpp>
#include <cstdint>

namespace other_file {

using Space = TEST_EXECSPACE;
template <class T>
using Array = Kokkos::View<T*, Space::memory_space>;

void argsort(const Space& exec, const Array<std::uint32_t>& keys,
             const Array<std::uint64_t>& permutation);

}  // namespace other_file
