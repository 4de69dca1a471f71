#include "support/other_file.hpp"

#include <kradix/sort.hpp>

namespace other_file {

void argsort(const Space& exec, const Array<std::uint32_t>& keys,
             const Array<std::uint64_t>& permutation) {
  kradix::argsort(exec, keys, permutation);
}

}  // namespace other_file
