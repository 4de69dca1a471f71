# A Kokkos built with Kokkos_ENABLE_COMPILE_AS_CMAKE_LANGUAGE wants its users' sources in that language.
if(Kokkos_COMPILE_LANGUAGE AND NOT Kokkos_COMPILE_LANGUAGE STREQUAL "CXX")
  set(CMAKE_${Kokkos_COMPILE_LANGUAGE}_ARCHITECTURES ${Kokkos_${Kokkos_COMPILE_LANGUAGE}_ARCHITECTURES})
  enable_language(${Kokkos_COMPILE_LANGUAGE})
  set_source_files_properties(../consumer.cpp ../consumer_mpi.cpp PROPERTIES LANGUAGE ${Kokkos_COMPILE_LANGUAGE})
endif()
