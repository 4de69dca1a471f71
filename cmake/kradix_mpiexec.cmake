# Who names a compiler of MPI, as in -D MPI_CXX_COMPILER=mpicxx.mpich, means its launcher too: mpiexec.mpich beside
# it. CMake alone takes the first mpiexec of the PATH, whose ranks, where it is another MPI's, are each alone.
foreach(compiler IN ITEMS "${MPI_CXX_COMPILER}" "${CMAKE_CXX_COMPILER}")
  if(NOT MPIEXEC_EXECUTABLE AND compiler MATCHES "^(.*/)?mpi(cxx|c[+][+]|CC)([.-][^/]*)?$")
    set(suffix "${CMAKE_MATCH_3}")
    find_program(kradix_mpi_compiler "${compiler}" NO_CACHE)
    get_filename_component(directory "${kradix_mpi_compiler}" DIRECTORY)
    find_program(MPIEXEC_EXECUTABLE NAMES mpiexec${suffix} mpirun${suffix} HINTS "${directory}")
    unset(kradix_mpi_compiler)
  endif()
endforeach()
