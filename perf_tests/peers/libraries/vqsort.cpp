// vqsort chooses the instruction set itself, when it first runs.
#include <hwy/contrib/sort/vqsort.h>

#include "peers/library_sorts.hpp"

namespace bench::library {

template <class Element>
void Vqsort::sort(Element* elements, std::size_t count, int) {
  static hwy::Sorter sorter;
  sorter(elements, count, hwy::SortAscending());
}

}  // namespace bench::library

#define KRADIX_BENCH_PEER Vqsort
KRADIX_BENCH_LIBRARY_KEYS(KRADIX_BENCH_SORT_KEYS)
