# Sorts of other libraries on hosts, each where it can be found:
#   Boost (boost/sort), TBB, Highway (hwy_contrib)    packages
#   KRADIX_IPS4O_ROOT, KRADIX_X86_SIMD_SORT_ROOT      source trees, headers only
set(KRADIX_IPS4O_ROOT "" CACHE PATH "A source tree of ips4o to compare with")
set(KRADIX_X86_SIMD_SORT_ROOT "" CACHE PATH "A source tree of x86-simd-sort to compare with")
find_package(Threads QUIET)
find_package(OpenMP QUIET COMPONENTS CXX)
find_package(TBB QUIET CONFIG)
find_path(KRADIX_BOOST_SORT_INCLUDE_DIR boost/sort/block_indirect_sort/block_indirect_sort.hpp)
find_path(KRADIX_HWY_SORT_INCLUDE_DIR hwy/contrib/sort/vqsort.h)
find_library(KRADIX_HWY_CONTRIB_LIBRARY hwy_contrib)
find_library(KRADIX_HWY_LIBRARY hwy)

add_library(bench_libraries INTERFACE)
set(bench_peers_found)

# kradix_bench_library(<name> <source> [INCLUDES ...] [LIBRARIES ...] [OPTIONS ...]): one peer, or several.
# The source sees no Kokkos, and nothing but itself and who asks `built` the macro KRADIX_BENCH_<name>.
function(kradix_bench_library name source)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "INCLUDES;LIBRARIES;OPTIONS")
  string(TOLOWER bench_library_${name} target)
  add_library(${target} STATIC peers/libraries/${source})
  set_target_properties(${target} PROPERTIES CXX_STANDARD 20)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/perf_tests)
  target_include_directories(${target} SYSTEM PRIVATE ${arg_INCLUDES})
  target_link_libraries(${target} PUBLIC ${arg_LIBRARIES})
  target_compile_options(${target} PRIVATE -w ${arg_OPTIONS})  # the warnings are others'
  target_link_libraries(bench_libraries INTERFACE ${target})
  target_compile_definitions(bench_libraries INTERFACE KRADIX_BENCH_${name})
  set(bench_peers_found ${bench_peers_found} ${name} PARENT_SCOPE)
endfunction()

if(TARGET TBB::tbb)
  kradix_bench_library(TBB std_par.cpp LIBRARIES TBB::tbb)
endif()
if(KRADIX_BOOST_SORT_INCLUDE_DIR AND TARGET Threads::Threads)
  kradix_bench_library(BOOST boost_sorts.cpp INCLUDES ${KRADIX_BOOST_SORT_INCLUDE_DIR} LIBRARIES Threads::Threads)
endif()
if(TARGET hwy::hwy_contrib)  # the one that Kradix finishes by
  kradix_bench_library(VQSORT vqsort.cpp LIBRARIES hwy::hwy_contrib hwy::hwy)
elseif(KRADIX_HWY_SORT_INCLUDE_DIR AND KRADIX_HWY_CONTRIB_LIBRARY AND KRADIX_HWY_LIBRARY)
  kradix_bench_library(VQSORT vqsort.cpp INCLUDES ${KRADIX_HWY_SORT_INCLUDE_DIR}
    LIBRARIES ${KRADIX_HWY_CONTRIB_LIBRARY} ${KRADIX_HWY_LIBRARY})
endif()
if(KRADIX_IPS4O_ROOT AND TARGET OpenMP::OpenMP_CXX)
  find_library(KRADIX_ATOMIC_LIBRARY NAMES atomic libatomic.so.1)
  kradix_bench_library(IPS4O ips4o.cpp INCLUDES ${KRADIX_IPS4O_ROOT}/include
    LIBRARIES OpenMP::OpenMP_CXX Threads::Threads ${KRADIX_ATOMIC_LIBRARY} OPTIONS -march=native)
endif()
if(KRADIX_X86_SIMD_SORT_ROOT)
  kradix_bench_library(X86_SIMD_SORT x86_simd_sort.cpp INCLUDES ${KRADIX_X86_SIMD_SORT_ROOT}/src OPTIONS -march=native)
  if(TARGET OpenMP::OpenMP_CXX)
    kradix_bench_library(X86_SIMD_SORT_OPENMP x86_simd_sort.cpp INCLUDES ${KRADIX_X86_SIMD_SORT_ROOT}/src
      LIBRARIES OpenMP::OpenMP_CXX OPTIONS -march=native -DXSS_USE_OPENMP)
  endif()
endif()
message(STATUS "Kradix: benchmarks beside these libraries: ${bench_peers_found}")
