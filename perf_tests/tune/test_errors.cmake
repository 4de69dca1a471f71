# Every wrong option ends with a status and one line that names it.
cmake_minimum_required(VERSION 3.22)

function(expect_error pattern)
  execute_process(COMMAND ${TUNE} ${ARGN} OUTPUT_QUIET ERROR_VARIABLE errors RESULT_VARIABLE status)
  if(status EQUAL 0)
    message(SEND_ERROR "tune ${ARGN} succeeded")
  elseif(NOT errors MATCHES "tune: ${pattern}[^\n]*\n$")
    message(SEND_ERROR "tune ${ARGN} ended with ${status} and said\n${errors}")
  endif()
endfunction()

expect_error("there is no option --tabel" --tabel sweep_shape)
expect_error("--table needs an argument" --table)
expect_error("there is no table sweeps" --table sweeps)
expect_error("there are no words u9" --words u9)
expect_error("--count takes a number above 0, not \"-1\"" --count -1)
expect_error("--seconds takes a number above 0, not \"0\"" --seconds 0)
