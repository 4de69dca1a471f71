// Compiled twice: for one thread, and with XSS_USE_OPENMP, where large arrays are sorted on the threads of
// OpenMP. All that the library defines is static.
#ifdef XSS_USE_OPENMP
#include <omp.h>
#define KRADIX_BENCH_PEER X86SimdSortOpenMp
#else
#define KRADIX_BENCH_PEER X86SimdSort
#endif
#include <x86simdsort-static-incl.h>

#include "peers/libraries/instructions.hpp"
#include "peers/library_sorts.hpp"

namespace bench::library {

bool KRADIX_BENCH_PEER::runs_here() {
  return has_instructions_of_this_source();
}

namespace {
void use_threads([[maybe_unused]] int threads) {
#ifdef XSS_USE_OPENMP
  omp_set_num_threads(threads);
#endif
}
}  // namespace

template <class Element>
void KRADIX_BENCH_PEER::sort(Element* elements, std::size_t count, int threads) {
  use_threads(threads);
  x86simdsortStatic::qsort(elements, count);
}

template <class Key, class Value>
void KRADIX_BENCH_PEER::sort(Key* keys, Value* values, std::size_t count, int threads) {
  use_threads(threads);
  x86simdsortStatic::keyvalue_qsort(keys, values, count);
}

}  // namespace bench::library

KRADIX_BENCH_LIBRARY_KEYS(KRADIX_BENCH_SORT_KEYS)
KRADIX_BENCH_LIBRARY_PAIRS(KRADIX_BENCH_SORT_APART)
