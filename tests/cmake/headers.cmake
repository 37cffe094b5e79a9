# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

# Checks that each header of weft, and each in marl's name, compiles alone, that the latter say what they need, and that none of
# weft's names what is inside the library:
#   cmake -DCOMPILER=g++ -DINCLUDE=<root>/include -DWORK=<dir> -P this

file(GLOB_RECURSE headers RELATIVE ${INCLUDE} ${INCLUDE}/weft/*.h)
file(GLOB marlHeaders RELATIVE ${INCLUDE}/compat ${INCLUDE}/compat/marl/*.h)
list(FILTER headers EXCLUDE REGEX "_inl\\.h$")  # the second half of another header
if(NOT headers OR NOT marlHeaders)
  message(FATAL_ERROR "no headers in ${INCLUDE}")
endif()
set(warnings -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Werror)
set(plain)
set(bare -fno-exceptions -fno-rtti -DWEFT_NO_EXCEPTIONS)
set(traced -DWEFT_TRACE_ENABLED=1)

# All that clang knows, but for what contradicts C++20 (c++98-compat, c++20-compat) or what such a library is made of
# (padding, pointers into memory of its own, virtual functions in headers), and one reserved name that marl has.
if(COMPILER MATCHES "clang")
  list(APPEND warnings -Weverything -Wno-unknown-warning-option -Wno-c++98-compat -Wno-c++98-compat-pedantic
    -Wno-c++20-compat -Wno-padded -Wno-unsafe-buffer-usage -Wno-weak-vtables -Wno-reserved-macro-identifier)
endif()

function(compile header variant)
  # Twice, so that a missing include guard shows.
  file(WRITE ${WORK}/alone.cpp "#include <${header}>\n#include <${header}>\nint main() {}\n")
  execute_process(
    COMMAND ${COMPILER} -std=c++20 -fsyntax-only ${warnings} ${${variant}} -I${INCLUDE} -I${INCLUDE}/compat
      ${WORK}/alone.cpp
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

# Fails unless a program of C++17 is told at once what `header` needs.
function(expect_told header)
  file(WRITE ${WORK}/alone.cpp "#include <${header}>\n")
  execute_process(
    COMMAND ${COMPILER} -std=c++17 -E -o ${WORK}/alone.ii -I${INCLUDE} -I${INCLUDE}/compat ${WORK}/alone.cpp
    RESULT_VARIABLE result ERROR_VARIABLE messages)
  string(FIND "${messages}" "error: " first)
  string(SUBSTRING "${messages}" ${first} 100 firstMessage)
  if(result EQUAL 0 OR NOT firstMessage MATCHES "weft's marl headers need C..20. Compile with -std=c..20")
    message(SEND_ERROR "<${header}> does not say first that it needs C++20:\n${messages}")
  endif()
endfunction()

foreach(header IN LISTS headers)
  file(STRINGS ${INCLUDE}/${header} internal REGEX "OSFiber")
  if(internal)
    message(SEND_ERROR "<${header}> names OSFiber, which is the library's own")
  endif()
endforeach()
foreach(header IN LISTS headers marlHeaders)
  compile(${header} plain)
  compile(${header} bare)
endforeach()
compile(weft/trace.h traced)
compile(marl/trace.h traced)

foreach(header IN LISTS marlHeaders)
  expect_told(${header})
endforeach()

foreach(header IN ITEMS waitgroup event mutex conditionvariable semaphore ticket blockingcall dag pool defer finally)
  forbid(weft/${header}.h "scheduler|worker|stealing_deque")
endforeach()
