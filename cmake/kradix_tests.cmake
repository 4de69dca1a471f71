# One source, one executable per backend that Kokkos was built with.

set(kradix_backends)
foreach(backend IN ITEMS Serial OpenMP Threads Cuda HIP SYCL)
  string(TOUPPER Kokkos_ENABLE_${backend} enabled)
  string(REPLACE "KOKKOS" "Kokkos" enabled ${enabled})
  if(${enabled})
    list(APPEND kradix_backends ${backend})
  endif()
endforeach()
message(STATUS "Kradix: unit tests for ${kradix_backends}")

add_library(kradix_test_main OBJECT ${PROJECT_SOURCE_DIR}/unit_tests/support/main.cpp)
target_link_libraries(kradix_test_main PUBLIC Kradix::kradix GTest::gtest)
target_include_directories(kradix_test_main PUBLIC ${PROJECT_SOURCE_DIR}/unit_tests)
kradix_set_language(${PROJECT_SOURCE_DIR}/unit_tests/support/main.cpp)

# kradix_add_unit_test(<name> <sources...>): tests <name>.<Backend>, each with TEST_EXECSPACE defined.
function(kradix_add_unit_test name)
  kradix_set_language(${ARGN})
  foreach(backend IN LISTS kradix_backends)
    set(target ${name}.${backend})
    add_executable(${target} ${ARGN})
    target_compile_definitions(${target} PRIVATE TEST_EXECSPACE=Kokkos::${backend})
    target_link_libraries(${target} PRIVATE kradix_test_main)
    if(TARGET kradix_compiled)
      target_link_libraries(${target} PRIVATE Kradix::compiled)
    endif()
    add_test(NAME ${target} COMMAND ${target})
    set_tests_properties(${target} PROPERTIES TIMEOUT 900)
  endforeach()
endfunction()

# Each header compiles alone: one object per header. A test builds them (not `all`), so that a
# header that cannot stand alone is a failed test with its name, not a broken build.
function(kradix_add_header_test name)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/include
    ${PROJECT_SOURCE_DIR}/include/kradix/*.hpp)
  if(NOT KRADIX_ENABLE_MPI)
    list(FILTER headers EXCLUDE REGEX "/mpi/")
  endif()
  if(NOT KRADIX_ENABLE_NCCL)
    list(FILTER headers EXCLUDE REGEX "/transport_nccl[.]hpp$")
  endif()
  foreach(header IN LISTS headers)
    string(REGEX REPLACE "[/.]" "_" source ${header})
    set(source ${PROJECT_BINARY_DIR}/header_checks/${source}.cpp)
    file(CONFIGURE OUTPUT ${source} CONTENT "#include <@header@>\n#include <@header@>\n" @ONLY)
    list(APPEND sources ${source})
  endforeach()
  add_library(${name} OBJECT EXCLUDE_FROM_ALL ${sources})
  kradix_set_language(${sources})
  target_link_libraries(${name} PRIVATE Kradix::kradix $<TARGET_NAME_IF_EXISTS:Kradix::mpi>)
  set(keep_going)
  if(CMAKE_GENERATOR STREQUAL "Ninja")
    set(keep_going -- -k 0)
  endif()
  add_test(NAME ${name} COMMAND ${CMAKE_COMMAND} --build ${PROJECT_BINARY_DIR} --target ${name}
    --config $<CONFIG> ${keep_going})
  set_tests_properties(${name} PROPERTIES TIMEOUT 900)
endfunction()

kradix_add_header_test(headers_alone)

add_test(NAME include_directions COMMAND ${CMAKE_COMMAND} -D SOURCE_DIR=${PROJECT_SOURCE_DIR}
  -P ${PROJECT_SOURCE_DIR}/cmake/check_include_directions.cmake)
