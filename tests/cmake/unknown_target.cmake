# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

# Checks that weft's CMakeLists.txt refuses a system and a processor that weft does not know, with one sentence:
#   cmake -DCOMPILER=g++ -DINCLUDE=<root>/include -DWORK=<dir> -P this

cmake_path(GET INCLUDE PARENT_PATH root)

function(expect_refused flag expected)
  file(REMOVE_RECURSE ${WORK})
  execute_process(
    COMMAND ${CMAKE_COMMAND} -S ${root} -B ${WORK} -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_CXX_FLAGS=${flag}
      -DWEFT_BUILD_TESTS=OFF -DWEFT_BUILD_EXAMPLES=OFF -DWEFT_BUILD_BENCHMARKS=OFF
    RESULT_VARIABLE result OUTPUT_QUIET ERROR_VARIABLE messages)
  string(REGEX REPLACE "[ \n]+" " " messages "${messages}")
  if(result EQUAL 0 OR NOT messages MATCHES "${expected}")
    message(SEND_ERROR "CMake with ${flag} does not say \"${expected}\":\n${messages}")
  endif()
endfunction()
expect_refused(-U__linux__ "weft does not know this system: it needs Linux")
expect_refused(-U__x86_64__ "weft does not know this processor: it lacks a switch of fibers")
