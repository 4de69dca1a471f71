# --json prints one document that a parser takes, with every contender of every case.
cmake_minimum_required(VERSION 3.22)
execute_process(COMMAND ${BENCH_SORT} --key u32 --count 1000,2000 --max-value 99 --repetitions 3 --json
  OUTPUT_VARIABLE json RESULT_VARIABLE status)
if(status)
  message(FATAL_ERROR "bench_sort ended with ${status}")
endif()
string(JSON count GET "${json}" cases 1 count)
string(JSON ours GET "${json}" cases 1 contenders 0 name)
string(JSON peer GET "${json}" cases 1 contenders 1 name)
string(JSON ratio GET "${json}" cases 1 contenders 1 ratio)
string(JSON rounds LENGTH "${json}" cases 1 contenders 1 seconds)
if(NOT "${count} ${ours} ${rounds}" STREQUAL "2000 Kradix 3" OR NOT ratio GREATER 0)
  message(FATAL_ERROR "count ${count}, ours ${ours}, ${rounds} rounds, ratio ${ratio} to ${peer} in\n${json}")
endif()

# Who is quick takes part in all of the fewest rounds, though no time is left.
execute_process(COMMAND ${BENCH_SORT} --key u32 --count 1000 --seconds 0 --json OUTPUT_VARIABLE json)
foreach(contender 0 1)
  string(JSON rounds LENGTH "${json}" cases 0 contenders ${contender} seconds)
  if(NOT rounds EQUAL 15)
    message(FATAL_ERROR "${rounds} rounds of contender ${contender}, not 15, in\n${json}")
  endif()
endforeach()

execute_process(COMMAND ${BENCH_SORT} --key u32 --count 1000 --repetitions 3 --json --no-peers --phases --host-waits
    --slow-down 50
  OUTPUT_VARIABLE json RESULT_VARIABLE status)
string(JSON contenders LENGTH "${json}" cases 0 contenders)
string(JSON kernel GET "${json}" cases 0 phases 0 kernel)
string(JSON waits GET "${json}" cases 0 host_waits)
if(status OR NOT contenders EQUAL 1 OR NOT kernel MATCHES "^kradix::" OR NOT waits)
  message(FATAL_ERROR "bench_sort ended with ${status}; ${contenders} contenders, first kernel ${kernel} in\n${json}")
endif()
