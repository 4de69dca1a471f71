# Who includes whom: a header of the library includes headers of its own room or of rooms to its
# left, never to its right; algorithms do not include each other; examples, benchmarks and the tool
# see public headers only.
#   cmake -D SOURCE_DIR=<repository> -P check_include_directions.cmake
cmake_minimum_required(VERSION 3.22)

# Rank and pattern of each room; a header belongs to the first that matches. A header of impl/ that
# no line names is an algorithm, one directly in kradix/ a public one.
set(algorithm_rank 3)
set(rooms
  "8 ^(impl/)?mpi/"
  "0 ^(version|key|options|study_options)[.]hpp"
  "0 ^impl/(words|tuning|scratch|host_board)[.]hpp"
  "0 ^impl/backend/"
  "1 ^workspace[.]hpp"
  "1 ^impl/(buffers|check|stage)[.]hpp"
  "1 ^impl/(device|host)/"
  "2 ^impl/((study_)?plan|tuned_choice)[.]hpp"
  "2 ^impl/(known_route|study(_sort)?)[.]hpp"
  "4 ^impl/(run|msd_hybrid)[.]hpp"  # msd_hybrid sweeps by onesweep
  "5 ^impl/(instantiate|run_study)[.]hpp"
  "6 ^impl/call[.]hpp"
  "${algorithm_rank} ^impl/"
  "7 ^")

function(rank_of header result)
  foreach(room IN LISTS rooms)
    string(REGEX MATCH "^([0-9]) (.*)$" _ "${room}")
    if(header MATCHES "${CMAKE_MATCH_2}")
      string(REGEX MATCH "^[0-9]" rank "${room}")
      set(${result} ${rank} PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()

# The headers kradix/... that a file includes, without that prefix.
function(kradix_includes file result)
  file(STRINGS ${file} lines REGEX "^[ \t]*#[ \t]*include[ \t]*[<\"]kradix/")
  list(TRANSFORM lines REPLACE ".*[<\"]kradix/([^>\"]*).*" "\\1")
  set(${result} ${lines} PARENT_SCOPE)
endfunction()

set(wrong 0)
macro(report message)
  math(EXPR wrong "${wrong} + 1")
  message(NOTICE "${message}")
endmacro()

set(include_dir ${SOURCE_DIR}/include/kradix)
file(GLOB_RECURSE headers RELATIVE ${include_dir} ${include_dir}/*.hpp)
foreach(header IN LISTS headers)
  rank_of(${header} own)
  kradix_includes(${include_dir}/${header} included)
  foreach(other IN LISTS included)
    rank_of(${other} rank)
    if(NOT EXISTS ${include_dir}/${other})
      report("kradix/${header} includes kradix/${other}, which does not exist")
    elseif(rank GREATER own)
      report("kradix/${header} includes kradix/${other}, which lies to its right")
    elseif(rank EQUAL algorithm_rank AND own EQUAL algorithm_rank)
      report("kradix/${header} includes kradix/${other}: algorithms do not include each other")
    endif()
  endforeach()
  file(STRINGS ${include_dir}/${header} outside REGEX "#[ \t]*include[ \t]*\"(\\.\\.|support/|unit_tests/)")
  if(outside)
    report("kradix/${header} includes what is not part of the library: ${outside}")
  endif()
endforeach()

foreach(client IN ITEMS examples perf_tests src/tool)
  file(GLOB_RECURSE sources RELATIVE ${SOURCE_DIR} ${SOURCE_DIR}/${client}/*.[ch]pp)
  foreach(source IN LISTS sources)
    kradix_includes(${SOURCE_DIR}/${source} included)
    list(FILTER included INCLUDE REGEX "^impl/")
    # The model of scale plays the library's own splitter search for ranks that do not exist; tune gives the
    # algorithms other numbers than the tables'.
    if(included AND NOT source MATCHES "^perf_tests/(scale_model|tune)/")
      report("${source} includes ${included}: clients see public headers only")
    endif()
  endforeach()
endforeach()

list(LENGTH headers count)
if(wrong)
  message(FATAL_ERROR "${wrong} wrong include directions among ${count} headers")
endif()
message(STATUS "${count} headers, all include directions as planned")
