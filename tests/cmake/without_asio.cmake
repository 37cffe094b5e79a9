# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

# Takes weft/asio.h and what belongs to it out of the list `headers` where COMPILER finds no Asio.
file(WRITE ${WORK}/has_asio.cpp "#if !__has_include(<asio/async_result.hpp>) && !__has_include(<boost/asio/async_result.hpp>)\n#error\n#endif\n")
execute_process(COMMAND ${COMPILER} -std=c++20 -fsyntax-only ${WORK}/has_asio.cpp RESULT_VARIABLE status ERROR_QUIET)
if(NOT status EQUAL 0)
  message(STATUS "without weft/asio.h: there is no Asio (libasio-dev)")
  list(FILTER headers EXCLUDE REGEX "/asio[./]")
endif()
