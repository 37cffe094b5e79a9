# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

# The commands for debuggers on a program that hangs, on its core file, and where it is stripped.
add_executable(debugged debuggers/debugged.cpp debuggers/split.cpp)
add_executable(debugged_stripped debuggers/debugged.cpp debuggers/split.cpp)
# gcc splits functions from -O2 on.
set_source_files_properties(debuggers/split.cpp PROPERTIES COMPILE_OPTIONS -O2)
foreach(program IN ITEMS debugged debugged_stripped)
  target_link_libraries(${program} PRIVATE ${weft_under_test} weft_own)
  target_compile_options(${program} PRIVATE -O0 -g)
endforeach()
target_link_options(debugged_stripped PRIVATE -s)

add_test(NAME debuggers_common
  COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/debuggers/common_test.py ${PROJECT_SOURCE_DIR}/src/tools/debuggers)

# A test that finds no debugger is skipped, and says so.
find_program(WEFT_GDB gdb)
find_program(WEFT_LLDB NAMES lldb lldb-21 lldb-20 lldb-19)
foreach(debugger IN ITEMS gdb lldb)
  string(TOUPPER WEFT_${debugger} program)
  add_test(NAME ${debugger}_commands
    COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/debuggers/${debugger}_test.py
      "$<$<BOOL:${${program}}>:${${program}}>" ${PROJECT_SOURCE_DIR}/src/tools/debuggers
      $<TARGET_FILE:debugged> $<TARGET_FILE:debugged_stripped>)
  set_tests_properties(${debugger}_commands PROPERTIES SKIP_RETURN_CODE 77)
endforeach()
