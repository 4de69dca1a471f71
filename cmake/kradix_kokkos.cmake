# Kokkos: a target of the parent project, else a package that find_package finds (Kokkos_ROOT,
# CMAKE_PREFIX_PATH), else the pinned release. FETCHCONTENT_SOURCE_DIR_KOKKOS names a local tree.

set(KRADIX_KOKKOS_MINIMUM 4.7)
set(kradix_kokkos_url https://github.com/kokkos/kokkos/releases/download/5.2.2/kokkos-5.2.2.tar.gz)
set(kradix_kokkos_hash SHA256=d6557aaef39302282a15f9c770433d1fcdf4e961dfd6d9ed726b9d0d0f546b9f)

# One host backend that runs everywhere, and the threads of this machine where there are some.
function(kradix_choose_kokkos_backends)
  option(Kokkos_ENABLE_SERIAL "" ON)
  if(DEFINED Kokkos_ENABLE_OPENMP OR Kokkos_ENABLE_THREADS OR Kokkos_ENABLE_HPX)
    return()
  endif()
  find_package(OpenMP QUIET COMPONENTS CXX)
  option(Kokkos_ENABLE_OPENMP "" ${OpenMP_CXX_FOUND})
endfunction()

if(NOT TARGET Kokkos::kokkos AND NOT FETCHCONTENT_SOURCE_DIR_KOKKOS)
  find_package(Kokkos ${KRADIX_KOKKOS_MINIMUM} QUIET)
endif()

if(TARGET Kokkos::kokkos)
  message(STATUS "Kradix: Kokkos ${Kokkos_VERSION} ${Kokkos_DIR}")
else()
  include(FetchContent)
  FetchContent_Declare(kokkos URL ${kradix_kokkos_url} URL_HASH ${kradix_kokkos_hash})
  if(FETCHCONTENT_SOURCE_DIR_KOKKOS)
    message(STATUS "Kradix: building Kokkos from ${FETCHCONTENT_SOURCE_DIR_KOKKOS}")
  else()
    message(STATUS "Kradix: no Kokkos >= ${KRADIX_KOKKOS_MINIMUM} found, building ${kradix_kokkos_url}")
  endif()
  kradix_choose_kokkos_backends()
  FetchContent_MakeAvailable(kokkos)
endif()

# For scripts/compile_cuda: where Kokkos' headers are, and MPI's, one folder a line.
file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/cuda_include_directories
  CONTENT "$<JOIN:$<TARGET_PROPERTY:Kokkos::kokkos,INTERFACE_INCLUDE_DIRECTORIES>,\n>
$<$<TARGET_EXISTS:MPI::MPI_CXX>:$<JOIN:$<TARGET_GENEX_EVAL:MPI::MPI_CXX,$<TARGET_PROPERTY:MPI::MPI_CXX,INTERFACE_INCLUDE_DIRECTORIES>>,\n>>
")
