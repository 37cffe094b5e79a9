# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

# Checks that no template of weft's headers calls a function by a name that the compiler would also look for in the namespaces
# of the arguments' types: a user's function of that name would be called instead, or make the call ambiguous:
#   cmake -DCOMPILER=clang++ -DINCLUDE=<root>/include -DWORK=<dir> -P this
# Only clang tells, by "(ADL)" in its dump of what it has parsed. What is to be found there is allowed below: `co_await` of the
# program's own types, and in EventCore, whose waiters are never the program's, those of a model checker.

set(allowed "operator co_await|ownerOf|claim")

file(GLOB_RECURSE headers RELATIVE ${INCLUDE} ${INCLUDE}/weft/*.h)
list(FILTER headers EXCLUDE REGEX "_inl\\.h$")  # the second half of another header
include(${CMAKE_CURRENT_LIST_DIR}/without_missing.cmake)
if(NOT headers)
  message(FATAL_ERROR "no headers in ${INCLUDE}")
endif()
list(TRANSFORM headers REPLACE "(.+)" "#include <\\1>\n")
string(JOIN "" headers ${headers})

# Sets `result` to what is looked for in other namespaces, each as "<name> in <function>".
function(find_unqualified code result)
  file(WRITE ${WORK}/calls.cpp "${code}")
  execute_process(
    COMMAND ${COMPILER} -std=c++20 -fsyntax-only -fno-color-diagnostics -Xclang -ast-dump -Xclang -ast-dump-filter
      -Xclang weft -I${INCLUDE} ${WORK}/calls.cpp
    OUTPUT_FILE ${WORK}/calls.txt RESULT_VARIABLE status ERROR_VARIABLE messages)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${messages}")
  endif()
  file(STRINGS ${WORK}/calls.txt lines REGEX "(FunctionDecl|CXXMethodDecl|CXXConstructorDecl) 0x|\\(ADL\\) = ")
  set(found "")
  set(function "?")
  foreach(line IN LISTS lines)
    if(line MATCHES "\\(ADL\\) = '([^']*)'")
      list(APPEND found "${CMAKE_MATCH_1} in ${function}")
    elseif(line MATCHES " ([A-Za-z_~0-9]+) '")
      set(function ${CMAKE_MATCH_1})
    endif()
  endforeach()
  set(${result} "${found}" PARENT_SCOPE)
endfunction()

find_unqualified("namespace weft { void f(int); template <class T> void g(T t) { f(t); weft::f(t); } }\n" found)
if(NOT found STREQUAL "f in g")
  message(FATAL_ERROR "the dump is not read as it should be: \"${found}\"")
endif()

find_unqualified("${headers}" found)
foreach(call IN LISTS found)
  if(NOT call MATCHES "^(${allowed}) in ")
    message(SEND_ERROR "an unqualified call of ${call}(), which a user's namespace may answer. Write detail::, weft:: or fair:: "
      "before it.")
  endif()
endforeach()
