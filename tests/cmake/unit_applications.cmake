# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

# Programs that are no GoogleTest: plugins, applications without exceptions, a scheduler that outlives main().

# Shared libraries that contain weft, for a program to load and unload. They show one function: the unique symbols of
# inline variables would keep them loaded otherwise.
foreach(name IN ITEMS weft_plugin weft_unused_plugin)
  add_library(${name} MODULE unloading/plugin.cpp)
  target_link_libraries(${name} PRIVATE ${weft_under_test} weft_own)
  target_compile_options(${name} PRIVATE ${before_each_options})
  target_link_options(${name} PRIVATE -Wl,--version-script=${CMAKE_CURRENT_SOURCE_DIR}/unloading/plugin.map)
endforeach()
add_dependencies(unloading_test weft_plugin weft_unused_plugin)
target_compile_definitions(unloading_test PRIVATE
  WEFT_TEST_PLUGIN="$<TARGET_FILE:weft_plugin>" WEFT_TEST_UNUSED_PLUGIN="$<TARGET_FILE:weft_unused_plugin>")

# Applications without exceptions and run-time type information.
foreach(program IN ITEMS no_exceptions no_exceptions_marl)
  add_executable(${program})
  target_compile_options(${program} PRIVATE -fno-exceptions -fno-rtti ${before_each_options})
  target_link_libraries(${program} PRIVATE ${weft_under_test} weft_own)
  add_test(NAME ${program} COMMAND ${program})
endforeach()
# There the message of an error that nobody catches ends the program. The exception finds weft below the task by tables, which gcc for
# riscv64 leaves out of code without exceptions.
add_executable(no_exceptions_error consumer/error_main.cpp)
target_compile_options(no_exceptions_error PRIVATE -fno-exceptions -fno-rtti -funwind-tables ${before_each_options})
target_link_libraries(no_exceptions_error PRIVATE ${weft_under_test} weft_own)
set(errorMessage_task "an exception escaped from a task: weft::v0_1::ChannelClosed: weft::ChannelClosed: a value was")
# The words of libstdc++, or of libc++.
set(errorMessage_thread
  "(throwing an instance of|uncaught exception of type) '?weft::v0_1::ChannelClosed.*: +weft::ChannelClosed: a value was")
foreach(where IN ITEMS task thread)
  # Not at once: ctest takes a program that is ended by a signal for failed, whatever it has said.
  add_test(NAME no_exceptions_error_in_${where}
    COMMAND ${CMAKE_COMMAND} -E env ${CMAKE_CROSSCOMPILING_EMULATOR} $<TARGET_FILE:no_exceptions_error> ${where})
  set_tests_properties(no_exceptions_error_in_${where} PROPERTIES PASS_REGULAR_EXPRESSION "${errorMessage_${where}}")
endforeach()
target_sources(no_exceptions PRIVATE consumer/main.cpp consumer/crew.cpp)
target_sources(no_exceptions_marl PRIVATE consumer/marl_main.cpp)
target_include_directories(no_exceptions_marl PRIVATE $<TARGET_PROPERTY:weft_marl,INTERFACE_INCLUDE_DIRECTORIES>)

# A scheduler that outlives main().
add_executable(static_scheduler torture/static_scheduler.cpp)
target_compile_options(static_scheduler PRIVATE ${before_each_options})
target_link_libraries(static_scheduler PRIVATE ${weft_under_test} weft_own)
add_test(NAME static_scheduler COMMAND static_scheduler)
set_tests_properties(static_scheduler PROPERTIES
  PASS_REGULAR_EXPRESSION "before main: 28.*in main: 28.*at exit: 28.*after main: 28.*at the end: 28"
  FAIL_REGULAR_EXPRESSION "Sanitizer")

# What WEFT_STACK_REPORT changes of the library, before the library: the linker takes the rest from there.
file(GLOB measured CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/scheduler/worker/*.cpp ${PROJECT_SOURCE_DIR}/src/scheduler/report/*.cpp)
add_executable(stack_report torture/stack_report.cpp ${measured})
set_target_properties(stack_report PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
target_include_directories(stack_report PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_compile_definitions(stack_report PRIVATE WEFT_STACK_REPORT)
target_compile_options(stack_report PRIVATE ${before_each_options})
target_link_libraries(stack_report PRIVATE ${weft_under_test} weft_own)
add_test(NAME stack_report COMMAND stack_report)
if(NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize=address")
  set_tests_properties(stack_report PROPERTIES PASS_REGULAR_EXPRESSION
    "3 of 3:\n.* 50[0-9][0-9][0-9][0-9] +4[78][.].*% +4 .* 10[0-9][0-9][0-9][0-9] +9[.].*% +10 .* 3[01][0-9][0-9][0-9] +[23][.].*% +6 ")
endif()

# What is no GoogleTest, and the examples.
set(others no_exceptions no_exceptions_marl no_exceptions_error static_scheduler stack_report)
if(WEFT_BUILD_EXAMPLES)
  get_property(examples DIRECTORY ${PROJECT_SOURCE_DIR}/examples PROPERTY BUILDSYSTEM_TARGETS)
  list(REMOVE_ITEM examples demo)
  list(APPEND others ${examples} treestat_faults)
  if(TARGET weft_tool)
    list(APPEND others weft_tool)
  endif()
endif()
add_dependencies(half_1 ${others})
set_tests_properties(no_exceptions no_exceptions_marl no_exceptions_error_in_task no_exceptions_error_in_thread static_scheduler
  stack_report PROPERTIES LABELS half_1)
