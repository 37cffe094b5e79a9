# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

# Compiles weft without CMake, by a command of docs/install.md as printed but for the compiler, and runs what it has made:
#   cmake -DROOT=<weft> -DWORK=<dir> -DCOMPILER=<c++> -DPYTHON=<python3> -DKIND=amalgamation|sources -P this
#
# One file of the program is compiled beforehand, without exceptions, so that two files include the header.

include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

# The line of the page that begins with `start` and contains `part`.
function(printed start part result)
  file(STRINGS ${ROOT}/docs/install.md lines REGEX "^${start} .*${part}")
  list(LENGTH lines count)
  if(NOT count EQUAL 1)
    message(FATAL_ERROR "docs/install.md has ${count} lines that begin with ${start} and contain ${part}")
  endif()
  set(${result} "${lines}" PARENT_SCOPE)
endfunction()

# Runs a printed command, with `flags` behind the name of the compiler.
function(compile command flags)
  string(REGEX REPLACE "^g\\+\\+ " "'${COMPILER}' -Wall -Wextra -Wpedantic -Werror ${flags} " command "${command}")
  message(STATUS "${command}")
  run(sh -c "${command}")
endfunction()

file(REMOVE_RECURSE ${WORK})
file(COPY ${ROOT}/tests/consumer/one_command/ DESTINATION ${WORK})
file(CREATE_LINK ${ROOT} ${WORK}/weft SYMBOLIC)

if(KIND STREQUAL amalgamation)
  printed(python3 amalgamate command)
  string(REGEX REPLACE "^python3 " "'${PYTHON}' " command "${command}")
  foreach(seed IN ITEMS 1 2)
    run(${CMAKE_COMMAND} -E env PYTHONHASHSEED=${seed} sh -c "${command}")
    foreach(file IN ITEMS weft.h weft.cpp weft_io.h weft_io.cpp)
      file(SHA256 ${WORK}/${file} hash${seed}_${file})
    endforeach()
  endforeach()
  foreach(file IN ITEMS weft.h weft.cpp weft_io.h weft_io.cpp)
    if(NOT hash1_${file} STREQUAL hash2_${file})
      message(FATAL_ERROR "two calls of amalgamate.py differ in ${file}")
    endif()
  endforeach()
  # The files need nothing else of weft.
  file(REMOVE ${WORK}/weft)
  printed("g\\+\\+" " weft.cpp -pthread" command)
  compile("g++ -std=c++20 -fno-exceptions -fno-rtti -c bare.cpp" "")
  compile("g++ -std=c++20 -fsyntax-only weft_io.cpp" "")
else()
  printed("g\\+\\+" "find weft/src" command)
  # It is the flags and the list of files that are in question here.
  string(REPLACE " -O2 " " -O0 " command "${command}")
  compile("g++ -std=c++20 -fno-exceptions -fno-rtti -Iweft/include -c bare.cpp" "")
endif()
compile("${command}" "bare.o -o main")

run(${WORK}/main)
execute_process(COMMAND ${WORK}/main misuse ERROR_VARIABLE said RESULT_VARIABLE result)
if(result EQUAL 0 OR NOT said MATCHES "done\\(\\) called too many times.*\n  called from main\\+0x.*\n  at [^\n]*\\.h:[0-9]+\n")
  message(FATAL_ERROR "misuse ends with ${result}, and says: ${said}")
endif()
