# What our own programs and tests do to compile sooner where GCC compiles them for hosts. nvcc and other
# compilers of devices are left alone, whatever CMake takes them for.
set(kradix_host_gcc OFF)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND kradix_language STREQUAL "CXX"
    AND NOT Kokkos_ENABLE_CUDA AND NOT Kokkos_ENABLE_HIP AND NOT Kokkos_ENABLE_SYCL)
  set(kradix_host_gcc ON)
endif()

# For what is soon run, or runs on hosts in tests alone: to optimise it all takes longer than it saves.
set(kradix_hasty_options)
if(kradix_host_gcc)
  set(kradix_hasty_options $<$<CONFIG:Release>:-O1>)
endif()

# kradix_parse_once(<owner> <headers...>): the headers are parsed when the owner is built, which takes
# seconds, and loaded by every target of kradix_reuse_parsed(<owner> <targets...>) with the same flags.
# CMAKE_DISABLE_PRECOMPILE_HEADERS turns both off.
function(kradix_parse_once owner)
  if(kradix_host_gcc)
    target_precompile_headers(${owner} PRIVATE ${ARGN})
  endif()
endfunction()

function(kradix_reuse_parsed owner)
  if(kradix_host_gcc)
    foreach(target IN LISTS ARGN)
      target_precompile_headers(${target} REUSE_FROM ${owner})
    endforeach()
  endif()
endfunction()

# Kokkos alone, for what is compiled with the build's own flags.
if(kradix_host_gcc)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/kokkos_parsed.cpp CONTENT "" @ONLY)
  add_library(kradix_kokkos_parsed OBJECT EXCLUDE_FROM_ALL ${PROJECT_BINARY_DIR}/kokkos_parsed.cpp)
  target_link_libraries(kradix_kokkos_parsed PRIVATE Kradix::kradix)
endif()
kradix_parse_once(kradix_kokkos_parsed <Kokkos_Core.hpp>)
