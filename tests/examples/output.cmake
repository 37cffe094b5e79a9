# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

# Runs a program and compares its output with a file:
#   cmake -DPROGRAM=<program> [-DARGUMENTS=<its arguments>] -DEXPECTED=<file> -P this
# With a line "(in any order)" at the top of the file, the order of the lines does not matter.

execute_process(COMMAND ${PROGRAM} ${ARGUMENTS} OUTPUT_VARIABLE actual COMMAND_ERROR_IS_FATAL ANY)
file(READ ${EXPECTED} expected)
set(printed "${actual}")

if(expected MATCHES "^\\(in any order\\)\n")
  string(REPLACE "(in any order)\n" "" expected "${expected}")
  foreach(text IN ITEMS expected actual)
    string(REPLACE "\n" ";" lines "${${text}}")
    list(SORT lines)
    set(${text} "${lines}")
  endforeach()
endif()
if(NOT actual STREQUAL expected)
  message(FATAL_ERROR "${PROGRAM} prints\n${printed}and not what ${EXPECTED} says")
endif()
message(STATUS "${printed}")
