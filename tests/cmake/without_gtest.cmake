# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

# Configures weft by itself on a system without GoogleTest. CMake says what to install, and which option leaves the tests out.
# With that option it succeeds:
#   cmake -DROOT=<weft> -DWORK=<dir> "-DOPTIONS=<arguments of cmake>" -P this

file(REMOVE_RECURSE ${WORK})
set(configure ${CMAKE_COMMAND} -S ${ROOT} -B ${WORK} ${OPTIONS} -DCMAKE_DISABLE_FIND_PACKAGE_GTest=ON
  -DWEFT_BUILD_EXAMPLES=OFF -DWEFT_BUILD_BENCHMARKS=OFF)
execute_process(COMMAND ${configure} RESULT_VARIABLE result ERROR_VARIABLE messages)
# CMake breaks long lines.
string(REGEX REPLACE "[ \n]+" " " messages "${messages}")
if(result EQUAL 0 OR NOT messages MATCHES "apt-get install -y libgtest-dev.*-DWEFT_BUILD_TESTS=OFF")
  message(FATAL_ERROR "without GoogleTest, CMake ends with ${result} and says: ${messages}")
endif()
execute_process(COMMAND ${configure} -DWEFT_BUILD_TESTS=OFF COMMAND_ERROR_IS_FATAL ANY)
