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

# What perf tells of a task's calls. The test is skipped where there is no perf, or where it may not look.
add_executable(perf_program tools/perf_program.cpp)
target_link_libraries(perf_program PRIVATE ${weft_under_test} weft_own)
find_program(WEFT_PERF perf)
add_test(NAME perf_call_graphs
  COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/tools/perf_test.py
    "$<$<BOOL:${WEFT_PERF}>:${WEFT_PERF}>" $<TARGET_FILE:perf_program>)
set_tests_properties(perf_call_graphs PROPERTIES SKIP_RETURN_CODE 77)

# Programs that wait, for those commands that look at processes and core files.
set(hangingOptions_debug -g)
set(hangingOptions_stripped -g0)
set(hangingOptions_static -g)
set(hanging "")
foreach(kind IN ITEMS debug stripped static)
  add_executable(hanging_${kind} tools/hanging.cpp)
  target_link_libraries(hanging_${kind} PRIVATE ${weft_under_test} weft_own)
  target_compile_options(hanging_${kind} PRIVATE ${hangingOptions_${kind}})
  if(WEFT_IO)
    target_link_libraries(hanging_${kind} PRIVATE ${weft_io_under_test})
    target_compile_definitions(hanging_${kind} PRIVATE HANGING_IO)
  endif()
  list(APPEND hanging $<TARGET_FILE:hanging_${kind}>)
endforeach()
target_link_options(hanging_stripped PRIVATE -s)
target_link_options(hanging_static PRIVATE -static)
add_dependencies(target_test hanging_stripped)
target_compile_definitions(target_test PRIVATE WEFT_TEST_HANGING)

# A program that loads and unloads libraries. These have no weft, and lie at the same addresses.
add_executable(plugins tools/plugins.cpp)
target_link_libraries(plugins PRIVATE ${weft_under_test} weft_own ${CMAKE_DL_LIBS})
set(plugins $<TARGET_FILE:plugins>)
foreach(function IN ITEMS waitInFirst waitInOther)
  add_library(plugin_${function} MODULE tools/plugins.cpp)
  target_compile_definitions(plugin_${function} PRIVATE PLUGIN=${function})
  list(APPEND plugins $<TARGET_FILE:plugin_${function}>)
endforeach()

# A program that loads a library with a weft of its own.
add_executable(two_copies tools/two_copies.cpp)
target_link_libraries(two_copies PRIVATE ${weft_under_test} weft_own ${CMAKE_DL_LIBS})
set(copies $<TARGET_FILE:two_copies>)
if(NOT BUILD_SHARED_LIBS)
  add_library(two_copies_library MODULE tools/two_copies.cpp)
  target_link_libraries(two_copies_library PRIVATE weft weft_own)
  target_compile_definitions(two_copies_library PRIVATE LIBRARY_OF_A_COPY)
  list(APPEND copies $<TARGET_FILE:two_copies_library>)
endif()
add_test(NAME inspect_commands
  COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/tools/inspect_test.py $<TARGET_FILE:weft_tool> ${hanging}
    ${plugins} ${copies})

find_program(WEFT_ADDR2LINE addr2line)
if(WEFT_ADDR2LINE)
  add_test(NAME symbolize
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/tools/symbolize_test.py
      $<TARGET_FILE:weft_tool> ${programs})
endif()
