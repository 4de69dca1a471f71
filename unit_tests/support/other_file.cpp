#include "support/other_file.hpp"

#include <kradix/sort.hpp>

namespace other_file {

void argsort(const Space& exec, const Kokkos::View<std::uint32_t*, Memory>& keys,
             const Kokkos::View<std::uint64_t*, Memory>& permutation) {
  kradix::argsort(exec, keys, permutation);
}

}  // namespace other_file
