# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

# Takes weft/asio.h and weft/mpi.h, and what belongs to them, out of the list `headers` where COMPILER does not find what they include.
function(weft_without header pattern package)
  string(JOIN " && " absent ${ARGN})
  file(WRITE ${WORK}/has_other.cpp "#if ${absent}\n#error\n#endif\n")
  execute_process(COMMAND ${COMPILER} -std=c++20 -fsyntax-only ${WORK}/has_other.cpp RESULT_VARIABLE status ERROR_QUIET)
  if(NOT status EQUAL 0)
    message(STATUS "without ${header}: ${package} is not there")
    list(FILTER headers EXCLUDE REGEX "${pattern}")
    set(headers "${headers}" PARENT_SCOPE)
  endif()
endfunction()
weft_without(weft/asio.h "/asio[./]" libasio-dev "!__has_include(<asio/async_result.hpp>)" "!__has_include(<boost/asio/async_result.hpp>)")
weft_without(weft/mpi.h "/mpi[./]" "an MPI for COMPILER" "!__has_include(<mpi.h>)")
