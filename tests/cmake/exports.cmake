# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

# Checks that a shared library exports names of weft alone: cmake -DNM=nm -DLIBRARY=<libweft.so> -P this

execute_process(COMMAND ${NM} -DC --defined-only ${LIBRARY} OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
string(REPLACE ";" "," output "${output}")
string(REGEX REPLACE "\n$" "" output "${output}")
string(REPLACE "\n" ";" symbols "${output}")
set(exported 0)
foreach(symbol IN LISTS symbols)
  if(symbol MATCHES "^[0-9a-f]+ [A-Zu] (typeinfo (name )?for |vtable for |guard variable for )?weft(::|_)")
    math(EXPR exported "${exported} + 1")
  # Weak instantiations of the standard library's templates are the compiler's doing, not the library's.
  elseif(NOT symbol MATCHES "^[0-9a-f]+ [VWu] ")
    message(SEND_ERROR "exported by accident: ${symbol}")
  endif()
endforeach()
if(exported EQUAL 0)
  message(FATAL_ERROR "${LIBRARY} exports nothing")
endif()
message(STATUS "${exported} symbols")
