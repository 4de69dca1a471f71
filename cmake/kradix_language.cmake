# Kokkos is compiled either as C++ (host backends, nvcc_wrapper, clang, hipcc) or, with
# Kokkos_ENABLE_COMPILE_AS_CMAKE_LANGUAGE, as CMake's CUDA or HIP; what uses it must follow suit.

set(kradix_language CXX)
if(Kokkos_COMPILE_LANGUAGE)
  set(kradix_language ${Kokkos_COMPILE_LANGUAGE})
elseif(Kokkos_ENABLE_COMPILE_AS_CMAKE_LANGUAGE AND Kokkos_ENABLE_CUDA)
  set(kradix_language CUDA)
elseif(Kokkos_ENABLE_COMPILE_AS_CMAKE_LANGUAGE AND Kokkos_ENABLE_HIP)
  set(kradix_language HIP)
endif()

if(NOT kradix_language STREQUAL "CXX")
  # The device that Kokkos was configured for, not CMake's default (already in the cache by now): the
  # package of Kokkos says which, and so does the folder of its sub-project.
  set(architectures ${Kokkos_${kradix_language}_ARCHITECTURES})
  if(NOT architectures AND kokkos_SOURCE_DIR)
    get_directory_property(architectures DIRECTORY ${kokkos_SOURCE_DIR}
      DEFINITION CMAKE_${kradix_language}_ARCHITECTURES)
  endif()
  if(architectures)
    set(CMAKE_${kradix_language}_ARCHITECTURES ${architectures})
  endif()
  enable_language(${kradix_language})
endif()

# kradix_set_language(<sources...>): the sources of this directory that include Kokkos.
function(kradix_set_language)
  if(NOT kradix_language STREQUAL "CXX")
    set_source_files_properties(${ARGN} PROPERTIES LANGUAGE ${kradix_language})
  endif()
endfunction()
