# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

# Checks that each header of weft compiles alone: cmake -DCOMPILER=g++ -DINCLUDE=<root>/include -DWORK=<dir> -P this

file(GLOB_RECURSE headers RELATIVE ${INCLUDE} ${INCLUDE}/weft/*.h)
list(FILTER headers EXCLUDE REGEX "_inl\\.h$")  # the second half of another header
if(NOT headers)
  message(FATAL_ERROR "no headers in ${INCLUDE}")
endif()
set(warnings -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Werror)
set(plain)
set(bare -fno-exceptions -fno-rtti -DWEFT_NO_EXCEPTIONS)

function(compile header variant)
  # Twice, so that a missing include guard shows.
  file(WRITE ${WORK}/alone.cpp "#include <${header}>\n#include <${header}>\nint main() {}\n")
  execute_process(
    COMMAND ${COMPILER} -std=c++20 -fsyntax-only ${warnings} ${${variant}} -I${INCLUDE} ${WORK}/alone.cpp
    RESULT_VARIABLE result ERROR_VARIABLE messages)
  if(NOT result EQUAL 0)
    message(SEND_ERROR "<${header}> does not compile alone (${variant}):\n${messages}")
  endif()
endfunction()

# Fails when `header` includes, directly or not, a header of weft whose path matches `forbidden`.
function(forbid header forbidden)
  file(WRITE ${WORK}/alone.cpp "#include <${header}>\n")
  execute_process(COMMAND ${COMPILER} -std=c++20 -M -I${INCLUDE} ${WORK}/alone.cpp
    RESULT_VARIABLE result OUTPUT_VARIABLE dependencies)
  if(NOT result EQUAL 0 OR dependencies MATCHES "weft/[a-z_/]*(${forbidden})[a-z_]*\\.h")
    message(SEND_ERROR "<${header}> drags in ${CMAKE_MATCH_0}:\n${dependencies}")
  endif()
endfunction()

foreach(header IN LISTS headers)
  compile(${header} plain)
  compile(${header} bare)
endforeach()

foreach(header IN ITEMS waitgroup event mutex conditionvariable semaphore ticket blockingcall dag pool defer finally)
  if(EXISTS ${INCLUDE}/weft/${header}.h)
    forbid(weft/${header}.h "scheduler|worker|stealing_deque")
  endif()
endforeach()
