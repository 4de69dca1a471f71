# KRADIX_CCCL_ROOT: a source tree or an installation of CCCL newer than the toolkit's, to compare with.
# Its CUB lives in a shared library that binds its symbols to itself, beside the toolkit's in the program.
set(KRADIX_CCCL_ROOT "" CACHE PATH "A CCCL beside the toolkit's to compare with")

if(KRADIX_CCCL_ROOT)
  foreach(header IN ITEMS cub/cub.cuh thrust/version.h cuda/std/version)
    string(MAKE_C_IDENTIFIER "KRADIX_CCCL_${header}_DIR" variable)
    find_path(${variable} ${header} PATHS ${KRADIX_CCCL_ROOT} NO_DEFAULT_PATH NO_CACHE REQUIRED
      PATH_SUFFIXES include/cccl include cub thrust libcudacxx/include)
    list(APPEND cccl_include_dirs ${${variable}})
  endforeach()
  list(REMOVE_DUPLICATES cccl_include_dirs)
  message(STATUS "Kradix: benchmarks beside the CUB in ${cccl_include_dirs}")

  if(kradix_language STREQUAL "CUDA")
    set_source_files_properties(peers/newer_cccl.cu PROPERTIES LANGUAGE CUDA)
  else()  # nvcc_wrapper is the C++ compiler
    set_source_files_properties(peers/newer_cccl.cu PROPERTIES LANGUAGE CXX)
    set(cccl_options -x cu)
  endif()
  set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)  # a build folder may be copied to the machine with the GPU
  add_library(bench_newer_cccl SHARED peers/newer_cccl.cu)
  set_target_properties(bench_newer_cccl PROPERTIES CXX_STANDARD 20 CUDA_STANDARD 20
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
  target_include_directories(bench_newer_cccl PRIVATE ${cccl_include_dirs} ${CMAKE_CURRENT_SOURCE_DIR})
  target_compile_options(bench_newer_cccl PRIVATE ${cccl_options})
  target_link_options(bench_newer_cccl PRIVATE LINKER:-Bsymbolic)
  target_compile_definitions(bench_support PUBLIC KRADIX_BENCH_NEWER_CCCL)
  target_link_libraries(bench_support PUBLIC bench_newer_cccl)
endif()
