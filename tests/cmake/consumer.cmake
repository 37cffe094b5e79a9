# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

# Run in the build folder of tests/consumer: its programs work, and installing it installs nothing of weft unless it asks for that.
#   cmake -DPROGRAMS=<name>+<name> -DINSTALLS=ON|OFF -P this

string(REPLACE "+" ";" PROGRAMS ${PROGRAMS})
foreach(program IN LISTS PROGRAMS)
  execute_process(COMMAND ./${program} COMMAND_ERROR_IS_FATAL ANY)
endforeach()

if(INSTALLS)
  return()
endif()
execute_process(COMMAND ${CMAKE_COMMAND} --install . --prefix installed COMMAND_ERROR_IS_FATAL ANY)
file(GLOB_RECURSE installed installed/*)
if(installed)
  message(FATAL_ERROR "weft as a subdirectory installs ${installed}")
endif()
