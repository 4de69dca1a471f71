#include <algorithm>
#include <execution>
#include <tbb/global_control.h>
#include <type_traits>

#include "peers/library_sorts.hpp"

namespace bench::library {

template <class Element>
void StdPar::sort(Element* elements, std::size_t count, int threads) {
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                                  static_cast<std::size_t>(threads));
  if constexpr (std::is_arithmetic_v<Element>) {
    std::sort(std::execution::par, elements, elements + count);
  } else {
    std::stable_sort(std::execution::par, elements, elements + count);
  }
}

}  // namespace bench::library

#define KRADIX_BENCH_PEER StdPar
KRADIX_BENCH_LIBRARY_KEYS(KRADIX_BENCH_SORT_KEYS)
KRADIX_BENCH_LIBRARY_PAIRS(KRADIX_BENCH_SORT_PAIRS)
