# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

# Programs with a table of a layout for tests that look for it in them.
set(layoutOptions_stripped -s)
set(layoutOptions_fixed -no-pie)
set(layoutDefinitions_newer TEST_LAYOUT_VERSION=weft::detail::inspect::kLayoutVersion+1)
set(layoutDefinitions_none TEST_NO_NOTE)
set(layoutDefinitions_broken TEST_NUM_ENTRIES=1000000000)
foreach(kind IN ITEMS pie fixed stripped newer broken none)
  add_executable(layout_${kind} inspect/layout_program.cpp inspect/layout_table.cpp)
  target_compile_definitions(layout_${kind} PRIVATE ${layoutDefinitions_${kind}})
  target_link_options(layout_${kind} PRIVATE ${layoutOptions_${kind}})
endforeach()
target_compile_options(layout_fixed PRIVATE -fno-pie)
add_library(layout_library SHARED inspect/layout_table.cpp)
add_executable(layout_user inspect/layout_program.cpp)
target_link_libraries(layout_user PRIVATE layout_library)
set(programs layout_pie layout_fixed layout_stripped layout_newer layout_broken layout_none
  layout_user layout_library)
foreach(name IN LISTS programs)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${name} PRIVATE weft_own)
endforeach()
set(users find_layout_test)
if(WEFT_TOOLS)
  list(APPEND users core_file_test target_test)
endif()
foreach(user IN LISTS users)
  add_dependencies(${user} ${programs})
  target_compile_definitions(${user} PRIVATE WEFT_TEST_FOLDER="${CMAKE_CURRENT_BINARY_DIR}")
endforeach()

# Files of recordings, as other programs read them. Without protoc the half is skipped that is for it.
add_executable(timeline_program inspect/timeline_program.cpp)
target_include_directories(timeline_program PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(timeline_program PRIVATE ${weft_under_test} weft_own)
find_program(WEFT_PROTOC protoc)
add_test(NAME timeline_files
  COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/inspect/timeline_files_test.py
    "${CMAKE_CROSSCOMPILING_EMULATOR};$<TARGET_FILE:timeline_program>" $<$<BOOL:${WEFT_PROTOC}>:${WEFT_PROTOC}>)
set_tests_properties(timeline_files PROPERTIES SKIP_RETURN_CODE 77)
