# The component MPI: headers in kradix/mpi/, the target Kradix::mpi.

if(KRADIX_ENABLE_MPI AND NOT TARGET MPI::MPI_CXX)
  find_package(MPI REQUIRED COMPONENTS CXX)
endif()

if(KRADIX_ENABLE_MPI)
  add_library(kradix_mpi INTERFACE)
  add_library(Kradix::mpi ALIAS kradix_mpi)
  set_target_properties(kradix_mpi PROPERTIES EXPORT_NAME mpi)
  target_link_libraries(kradix_mpi INTERFACE kradix MPI::MPI_CXX)
  # MPI's own C++ classes left its standard in 2012, and cost compile time.
  target_compile_definitions(kradix_mpi INTERFACE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
  if(Kokkos_ENABLE_CUDA)
    target_link_libraries(kradix_mpi INTERFACE rt)  # shm_open, before glibc 2.34
  endif()
endif()

# NCCL comes without a CMake package. NCCL_ROOT (or CMAKE_PREFIX_PATH) says where it is.
if(KRADIX_ENABLE_NCCL)
  if(NOT KRADIX_ENABLE_MPI OR NOT Kokkos_ENABLE_CUDA)
    message(FATAL_ERROR "KRADIX_ENABLE_NCCL needs KRADIX_ENABLE_MPI and a Kokkos with CUDA")
  endif()
  find_path(KRADIX_NCCL_INCLUDE_DIR nccl.h HINTS ${NCCL_ROOT} ENV NCCL_ROOT PATH_SUFFIXES include REQUIRED)
  find_library(KRADIX_NCCL_LIBRARY NAMES nccl libnccl.so.2 HINTS ${NCCL_ROOT} ENV NCCL_ROOT
    PATH_SUFFIXES lib lib64 REQUIRED)
  message(STATUS "Kradix: NCCL ${KRADIX_NCCL_LIBRARY}")
  target_include_directories(kradix_mpi INTERFACE ${KRADIX_NCCL_INCLUDE_DIR})
  target_link_libraries(kradix_mpi INTERFACE ${KRADIX_NCCL_LIBRARY})
  target_compile_definitions(kradix_mpi INTERFACE KRADIX_ENABLE_NCCL)
endif()

# Open MPI refuses more ranks than cores unless told; others, like MPICH's Hydra, do not know its words.
if(KRADIX_ENABLE_MPI AND NOT DEFINED KRADIX_MPIEXEC_FLAGS)
  execute_process(COMMAND ${MPIEXEC_EXECUTABLE} --version OUTPUT_VARIABLE kradix_mpiexec ERROR_VARIABLE kradix_mpiexec)
  set(kradix_mpiexec_flags "")
  if(kradix_mpiexec MATCHES "Open MPI|OpenRTE|PRRTE")
    set(kradix_mpiexec_flags "--map-by;:OVERSUBSCRIBE")
  endif()
  set(KRADIX_MPIEXEC_FLAGS "${kradix_mpiexec_flags}" CACHE STRING "What mpiexec needs to run more ranks than cores")
endif()

# kradix_add_mpi_run(<test> <ranks> <command...>): the command on so many ranks, as a test. All ranks
# share this machine; the flags let there be more of them than cores.
function(kradix_add_mpi_run name ranks)
  add_test(NAME ${name} COMMAND ${MPIEXEC_EXECUTABLE} ${KRADIX_MPIEXEC_FLAGS}
    ${MPIEXEC_NUMPROC_FLAG} ${ranks} ${ARGN})
  set(threads 1)
  if(ranks EQUAL 1)
    set(threads 2)
  endif()
  set_tests_properties(${name} PROPERTIES TIMEOUT 300 PROCESSORS 2
    ENVIRONMENT "OMP_NUM_THREADS=${threads};OMP_PROC_BIND=false;KOKKOS_DISABLE_WARNINGS=true")
endfunction()
