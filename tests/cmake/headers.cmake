# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

# Checks that each header of weft, and each in marl's name, compiles alone: those of one of the batches. What a header does not
# include, any compiler misses: gcc leaves that to clang, which is faster, and compiles them together.
#   cmake -DCOMPILER=g++ -DINCLUDE=<root>/include -DWORK=<dir> -DBATCH=1 -DNUM_BATCHES=4 [-DTOGETHER=ON] -P this
# With TOGETHER, clang compiles them together too, which takes seconds and finds what it warns of.

file(REMOVE_RECURSE ${WORK})
file(GLOB_RECURSE headers RELATIVE ${INCLUDE} ${INCLUDE}/weft/*.h)
file(GLOB marlHeaders RELATIVE ${INCLUDE}/compat ${INCLUDE}/compat/marl/*.h)
list(FILTER headers EXCLUDE REGEX "(_inl|/macros_begin|/macros_end)\\.h$")  # halves of other headers
include(${CMAKE_CURRENT_LIST_DIR}/without_missing.cmake)
if(NOT headers OR NOT marlHeaders)
  message(FATAL_ERROR "no headers in ${INCLUDE}")
endif()
list(APPEND headers ${marlHeaders})
list(SORT headers)
set(warnings -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Werror)
# Asio must be told.
set(bare -fno-exceptions -fno-rtti -DASIO_NO_EXCEPTIONS -DASIO_NO_TYPEID)

# All that clang knows, but for what contradicts C++20 (c++98-compat, c++20-compat) or what such a library is made of
# (padding, pointers into memory of its own, virtual functions in headers), and one reserved name that marl has.
if(COMPILER MATCHES "clang")
  list(APPEND warnings -Weverything -Wno-unknown-warning-option -Wno-c++98-compat -Wno-c++98-compat-pedantic
    -Wno-c++20-compat -Wno-padded -Wno-unsafe-buffer-usage -Wno-weak-vtables -Wno-reserved-macro-identifier)
endif()

# Compiles sources of the folder with further options, each as a program of its own.
function(compile what options)
  execute_process(
    COMMAND ${COMPILER} -std=c++20 -fsyntax-only ${warnings} ${options} -I${INCLUDE} -I${INCLUDE}/compat ${ARGN}
    WORKING_DIRECTORY ${WORK} RESULT_VARIABLE result ERROR_VARIABLE messages)
  if(NOT result EQUAL 0)
    message(SEND_ERROR "${what}:\n${messages}")
  endif()
endfunction()

set(position 0)
set(sources)
set(includes)
set(reversed)
foreach(header IN LISTS headers)
  math(EXPR position "(${position} + 1) % ${NUM_BATCHES}")
  math(EXPR own "${BATCH} % ${NUM_BATCHES}")
  if(NOT position EQUAL own)
    continue()
  endif()
  if(COMPILER MATCHES "clang" AND NOT TOGETHER)
    # Twice, so that a missing include guard shows.
    string(MAKE_C_IDENTIFIER ${header} name)
    file(WRITE ${WORK}/${name}.cpp "#include <${header}>\n#include <${header}>\nint main() {}\n")
    list(APPEND sources ${name}.cpp)
  endif()
  string(APPEND includes "#include <${header}>\n")
  string(PREPEND reversed "#include <${header}>\n")
endforeach()
file(WRITE ${WORK}/together.cpp "${includes}int main() {}\n")
file(WRITE ${WORK}/reversed.cpp "${reversed}int main() {}\n")
if(NOT sources)
  set(sources together.cpp reversed.cpp)
endif()
compile("a header does not compile" "" ${sources})

# Without exceptions together, in both orders: header_rules.cmake sees to it that no header includes less then, so that what
# compiles alone with exceptions compiles alone without.
compile("a header does not compile without exceptions" "${bare}" together.cpp reversed.cpp)

foreach(header IN ITEMS weft marl)
  file(WRITE ${WORK}/traced_${header}.cpp "#include <${header}/trace.h>\nint main() {}\n")
endforeach()
if(BATCH EQUAL 1)
  compile("a header does not compile with traces" -DWEFT_TRACE_ENABLED=1 traced_weft.cpp traced_marl.cpp)
endif()
