#include <functional>
#include <ips4o.hpp>

#include "peers/libraries/instructions.hpp"
#include "peers/library_sorts.hpp"

namespace bench::library {

bool Ips4o::runs_here() {
  return has_instructions_of_this_source();
}

template <class Element>
void Ips4o::sort(Element* elements, std::size_t count, int threads) {
  ips4o::parallel::sort(elements, elements + count, std::less<>{}, threads);
}

}  // namespace bench::library

#define KRADIX_BENCH_PEER Ips4o
KRADIX_BENCH_LIBRARY_KEYS(KRADIX_BENCH_SORT_KEYS)
KRADIX_BENCH_LIBRARY_PAIRS(KRADIX_BENCH_SORT_PAIRS)
