# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

# A program of weft::io that is linked with -static. It runs as soon as it is built.

include(CheckCXXSourceCompiles)

function(add_static_io_consumer source)
  set(CMAKE_REQUIRED_LINK_OPTIONS -static)
  set(CMAKE_REQUIRED_LIBRARIES uring)
  check_cxx_source_compiles("#include <liburing.h>
    int main() { io_uring ring; return io_uring_queue_init(1, &ring, 0); }" CAN_LINK_STATICALLY)
  if(NOT CAN_LINK_STATICALLY)
    message(STATUS "skipped: the system lacks a static library, of libc or of liburing, for a program that is linked with -static")
    return()
  endif()
  add_executable(static_io_consumer ${source})
  target_link_libraries(static_io_consumer PRIVATE weft::io)
  target_link_options(static_io_consumer PRIVATE -static)
  add_custom_command(TARGET static_io_consumer POST_BUILD COMMAND static_io_consumer)
endfunction()
