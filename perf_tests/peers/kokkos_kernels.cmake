# KRADIX_KOKKOS_KERNELS_ROOT: an installation or a source tree of Kokkos Kernels. Headers alone are used, of a
# source tree without the configuration that they include and do not need.
set(KRADIX_KOKKOS_KERNELS_ROOT "" CACHE PATH "Kokkos Kernels, to compare with")

set(where HINTS ${KRADIX_KOKKOS_KERNELS_ROOT} PATH_SUFFIXES include kokkos common/src)
find_path(KRADIX_KOKKOS_KERNELS_INCLUDE_DIR KokkosKernels_Sorting.hpp ${where})
if(KRADIX_KOKKOS_KERNELS_INCLUDE_DIR)
  message(STATUS "Kradix: benchmarks beside Kokkos Kernels in ${KRADIX_KOKKOS_KERNELS_INCLUDE_DIR}")
  set(kokkos_kernels_dirs ${KRADIX_KOKKOS_KERNELS_INCLUDE_DIR})
  if(NOT EXISTS ${KRADIX_KOKKOS_KERNELS_INCLUDE_DIR}/KokkosKernels_config.h)
    file(CONFIGURE OUTPUT kokkos_kernels/KokkosKernels_config.h CONTENT "// Nothing.\n")
    list(APPEND kokkos_kernels_dirs ${CMAKE_CURRENT_BINARY_DIR}/kokkos_kernels)
  endif()
  target_include_directories(bench_support SYSTEM PUBLIC ${kokkos_kernels_dirs})
  target_compile_definitions(bench_support PUBLIC KRADIX_BENCH_KOKKOS_KERNELS)
endif()
