// With XSS_USE_OPENMP it sorts large arrays on the threads of OpenMP.
#include <omp.h>
#include <x86simdsort-static-incl.h>

#include "peers/library_sorts.hpp"

namespace bench::library {

template <class Element>
void X86SimdSort::sort(Element* elements, std::size_t count, int threads) {
  omp_set_num_threads(threads);
  x86simdsortStatic::qsort(elements, count);
}

template <class Key, class Value>
void X86SimdSort::sort(Key* keys, Value* values, std::size_t count, int threads) {
  omp_set_num_threads(threads);
  x86simdsortStatic::keyvalue_qsort(keys, values, count);
}

}  // namespace bench::library

#define KRADIX_BENCH_PEER X86SimdSort
KRADIX_BENCH_LIBRARY_KEYS(KRADIX_BENCH_SORT_KEYS)
KRADIX_BENCH_LIBRARY_PAIRS(KRADIX_BENCH_SORT_APART)
