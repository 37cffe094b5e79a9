# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

# Checks that weft's CMakeLists.txt refuses a system that weft does not know with one sentence, and chooses ucontext
# for a processor that has no assembly, with a warning:
#   cmake -DCOMPILER=g++ -DINCLUDE=<root>/include -DWORK=<dir> -P this

cmake_path(GET INCLUDE PARENT_PATH root)

function(expect_told flag isRefused expected)
  file(REMOVE_RECURSE ${WORK})
  execute_process(
    COMMAND ${CMAKE_COMMAND} -S ${root} -B ${WORK} -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_CXX_FLAGS=${flag}
      -DWEFT_BUILD_TESTS=OFF -DWEFT_BUILD_EXAMPLES=OFF -DWEFT_BUILD_BENCHMARKS=OFF
    RESULT_VARIABLE result OUTPUT_QUIET ERROR_VARIABLE messages)
  string(REGEX REPLACE "[ \n]+" " " messages "${messages}")
  set(wasRefused ON)
  if(result EQUAL 0)
    set(wasRefused OFF)
  endif()
  if(NOT wasRefused STREQUAL isRefused OR NOT messages MATCHES "${expected}")
    message(SEND_ERROR "CMake with ${flag} does not say \"${expected}\":\n${messages}")
  endif()
endfunction()
expect_told(-U__linux__ ON "weft does not know this system: it needs Linux")
expect_told(-U__x86_64__ OFF "fibers are switched by getcontext\\(\\) and setcontext\\(\\) \\(WEFT_UCONTEXT\\)")
expect_told("" OFF "^$")
