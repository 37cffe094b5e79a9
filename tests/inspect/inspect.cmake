# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

# Programs with a table of a layout for find_layout_test, which looks for it in them.
set(layoutOptions_stripped -s)
set(layoutOptions_fixed -no-pie)
set(layoutDefinitions_newer TEST_LAYOUT_VERSION=2)
set(layoutDefinitions_broken TEST_NUM_ENTRIES=1000000000)
foreach(kind IN ITEMS pie fixed stripped newer broken)
  add_executable(layout_${kind} inspect/layout_program.cpp inspect/layout_table.cpp)
  target_compile_definitions(layout_${kind} PRIVATE ${layoutDefinitions_${kind}})
  target_link_options(layout_${kind} PRIVATE ${layoutOptions_${kind}})
endforeach()
target_compile_options(layout_fixed PRIVATE -fno-pie)
add_library(layout_library SHARED inspect/layout_table.cpp)
add_executable(layout_user inspect/layout_program.cpp)
target_link_libraries(layout_user PRIVATE layout_library)
foreach(name IN ITEMS layout_pie layout_fixed layout_stripped layout_newer layout_broken layout_user layout_library)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${name} PRIVATE weft_own)
  add_dependencies(find_layout_test ${name})
endforeach()
target_compile_definitions(find_layout_test PRIVATE WEFT_TEST_FOLDER="${CMAKE_CURRENT_BINARY_DIR}")
