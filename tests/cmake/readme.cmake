# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

# Does what README.md tells a newcomer to do, as printed, and compares the output with the printed one:
#   cmake -DROOT=<weft> -DWORK=<dir> "-DOPTIONS=<arguments of cmake>" -P this

# The first block of README.md that is marked with `language`.
function(excerpt language result)
  file(READ ${ROOT}/README.md text)
  string(FIND "${text}" "```${language}\n" start)
  if(start EQUAL -1)
    message(FATAL_ERROR "README.md has no block marked ${language}")
  endif()
  string(LENGTH "```${language}\n" skip)
  math(EXPR start "${start} + ${skip}")
  string(SUBSTRING "${text}" ${start} -1 text)
  string(FIND "${text}" "```" end)
  string(SUBSTRING "${text}" 0 ${end} text)
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

excerpt(cpp program)
excerpt(cmake project)
excerpt(text expected)

string(REGEX MATCHALL "\n" lines "${program}")
list(LENGTH lines count)
if(count GREATER 20)
  message(FATAL_ERROR "README.md's program has ${count} lines, which is more than 20")
endif()

file(REMOVE_RECURSE ${WORK})
file(WRITE ${WORK}/main.cpp "${program}")
file(WRITE ${WORK}/CMakeLists.txt "${project}")
file(CREATE_LINK ${ROOT} ${WORK}/weft SYMBOLIC)
execute_process(COMMAND ${CMAKE_COMMAND} -S ${WORK} -B ${WORK}/build ${OPTIONS} COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${WORK}/build COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${WORK}/build/hello OUTPUT_VARIABLE actual COMMAND_ERROR_IS_FATAL ANY)
if(NOT actual STREQUAL expected)
  message(FATAL_ERROR "README.md prints\n${expected}but its program\n${actual}")
endif()
message(STATUS "${actual}")
