# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

# The program `weft` on programs that differ in how much they tell a debugger.
set(blockedOptions_debug -O0 -g)
set(blockedOptions_optimized -O2 -g)
set(blockedOptions_fixed -O2 -g -fno-pie)
set(blockedOptions_names -O2 -g0)
set(blockedOptions_stripped -O2 -g0)
set(programs "")
foreach(kind IN ITEMS debug optimized fixed names stripped)
  add_executable(blocked_${kind} tools/blocked.cpp)
  target_link_libraries(blocked_${kind} PRIVATE ${weft_under_test} weft_own)
  target_compile_options(blocked_${kind} PRIVATE ${blockedOptions_${kind}})
  list(APPEND programs $<TARGET_FILE:blocked_${kind}>)
endforeach()
target_link_options(blocked_fixed PRIVATE -no-pie)
target_link_options(blocked_stripped PRIVATE -s)

find_program(WEFT_ADDR2LINE addr2line)
if(WEFT_ADDR2LINE)
  add_test(NAME symbolize
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/tools/symbolize_test.py
      $<TARGET_FILE:weft_tool> ${programs})
endif()
