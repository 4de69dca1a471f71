#include <boost/sort/block_indirect_sort/block_indirect_sort.hpp>
#include <boost/sort/parallel_stable_sort/parallel_stable_sort.hpp>
#include <boost/sort/spreadsort/spreadsort.hpp>

#include "peers/library_sorts.hpp"

namespace bench::library {

template <class Element>
void BoostBlockIndirect::sort(Element* elements, std::size_t count, int threads) {
  boost::sort::block_indirect_sort(elements, elements + count, static_cast<unsigned>(threads));
}

template <class Element>
void BoostParallelStable::sort(Element* elements, std::size_t count, int threads) {
  boost::sort::parallel_stable_sort(elements, elements + count, static_cast<unsigned>(threads));
}

template <class Element>
void BoostSpreadsort::sort(Element* elements, std::size_t count, int) {
  boost::sort::spreadsort::spreadsort(elements, elements + count);
}

}  // namespace bench::library

#define KRADIX_BENCH_PEER BoostBlockIndirect
KRADIX_BENCH_LIBRARY_KEYS(KRADIX_BENCH_SORT_KEYS)
#undef KRADIX_BENCH_PEER
#define KRADIX_BENCH_PEER BoostParallelStable
KRADIX_BENCH_LIBRARY_KEYS(KRADIX_BENCH_SORT_KEYS)
KRADIX_BENCH_LIBRARY_PAIRS(KRADIX_BENCH_SORT_PAIRS)
#undef KRADIX_BENCH_PEER
#define KRADIX_BENCH_PEER BoostSpreadsort
KRADIX_BENCH_LIBRARY_KEYS(KRADIX_BENCH_SORT_KEYS)
