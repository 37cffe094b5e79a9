# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

# Checks a model with Spin, under weak fairness, and with a bug in it to see that this is found:
#   cmake -DSPIN=spin -DCC=gcc -DMODEL=<file> -DWORK=<dir> -DTHREADS=2 -DSCENARIO=1 -DBUG=none
#     -DOPTIMIZE=-O2 -DMINUTES=3 -P this

file(MAKE_DIRECTORY ${WORK})
execute_process(COMMAND ${SPIN} -DW=${THREADS} -DSCENARIO=${SCENARIO} -DBUG_${BUG} -a ${MODEL}
  WORKING_DIRECTORY ${WORK} RESULT_VARIABLE result OUTPUT_VARIABLE text ERROR_VARIABLE text)
if(result)
  message(FATAL_ERROR "spin: ${text}")
endif()
execute_process(COMMAND ${CC} -x c ${OPTIMIZE} -w -DNFAIR=3 -DVECTORSZ=2048 -DBITSTATE pan.c -o pan
  WORKING_DIRECTORY ${WORK} COMMAND_ERROR_IS_FATAL ANY)
# 2^30 bits; depth that no run comes near, and a limit to the time.
execute_process(COMMAND ${WORK}/pan -a -f -m200000 -w30 -Q${MINUTES} WORKING_DIRECTORY ${WORK} OUTPUT_VARIABLE text)
message("${text}")
string(REGEX MATCH "errors: ([0-9]+)" found "${text}")
if(NOT found)
  message(FATAL_ERROR "the check did not come to its end")
endif()
# A search that was cut off has found no error in what it has seen; one that finds an error always ends there.
if(NOT CMAKE_MATCH_1 EQUAL 0)
  message("RESULT: error found")
elseif(text MATCHES "Search not completed|max search depth too small|[Tt]ime limit|MEMLIM|out of memory")
  message(FATAL_ERROR "the search was cut off: ${CMAKE_MATCH_0}")
else()
  message("RESULT: no error found")
endif()
