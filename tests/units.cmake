# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

# One program and one test per file, named after it. What all of them include of others is compiled once. What they include of weft is
# so only where asked for: a precompiled header is a system header, whose warnings are lost.
option(WEFT_TEST_PRECOMPILE_WEFT "Whether the tests precompile weft's headers as well" OFF)

file(CONFIGURE OUTPUT test_headers.cpp CONTENT "")
add_library(test_headers OBJECT ${CMAKE_CURRENT_BINARY_DIR}/test_headers.cpp)
target_link_libraries(test_headers PRIVATE ${weft_under_test} weft_own GTest::gtest_main)
target_precompile_headers(test_headers PRIVATE ${weft_before_each} <gtest/gtest.h> <algorithm> <array> <atomic> <chrono>
  <condition_variable> <deque> <functional> <future> <memory> <mutex> <numeric> <optional> <set> <stdexcept> <stop_token> <string>
  <thread> <tuple> <utility> <vector>)
if(WEFT_TEST_PRECOMPILE_WEFT)
  target_precompile_headers(test_headers PRIVATE <weft/weft.h>)
  # What these define changes weft's headers.
  set_source_files_properties(hostile_namespace_test.cpp async/default_executor_test.cpp marl/marl_options_test.cpp
    scheduler/trace_off_test.cpp scheduler/trace_test.cpp PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
endif()

# What comes before each source, where there is no precompiled header that begins with it.
set(before_each_options "")
if(weft_before_each)
  set(before_each_options -include ${weft_before_each})
endif()

file(GLOB unitTests CONFIGURE_DEPENDS *_test.cpp */*_test.cpp)
list(FILTER unitTests EXCLUDE REGEX "/asio/[a-z_]+\\.cpp$")
include(asio/asio.cmake)
if(NOT WEFT_IO)
  list(FILTER unitTests EXCLUDE REGEX "/io/[a-z_]+\\.cpp$")
endif()
foreach(file IN LISTS unitTests)
  cmake_path(GET file STEM name)
  add_executable(${name} ${file})
  target_precompile_headers(${name} REUSE_FROM test_headers)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${weft_under_test} weft_own GTest::gtest_main)
  if(file MATCHES "/io/[a-z_]+\\.cpp$")
    target_link_libraries(${name} PRIVATE ${weft_io_under_test})
  endif()
  if(file MATCHES "/marl/[a-z_]+\\.cpp$")
    target_include_directories(${name} PRIVATE $<TARGET_PROPERTY:weft_marl,INTERFACE_INCLUDE_DIRECTORIES>)
  endif()
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT 300)
endforeach()

target_compile_definitions(docs_examples_test PRIVATE WEFT_TEST_SOURCE_DIR="${PROJECT_SOURCE_DIR}")

# The last moments of a scheduler, 110,000 times: with a sanitizer too, which leaves most of them out by day.
add_test(NAME last_moments COMMAND shutdown_test --gtest_filter=LastMomentTest.*)
set_tests_properties(last_moments PROPERTIES LABELS nightly TIMEOUT 7200 ENVIRONMENT WEFT_TEST_ALL_ROUNDS=1)

# Tests whose frames are larger than a guard are built as the documents tell users to build such code.
set_source_files_properties(os/overflow_test.cpp os/overflow_fiber_test.cpp PROPERTIES SKIP_PRECOMPILE_HEADERS ON
  COMPILE_OPTIONS "-fstack-clash-protection;${before_each_options}" COMPILE_DEFINITIONS WEFT_TEST_STACK_CLASH)

if(WEFT_STRESS AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # With what stands before each source, gcc 12 takes a part of an empty std::optional for uninitialised.
  set_source_files_properties(parallel/parallel_reduce_test.cpp PROPERTIES COMPILE_OPTIONS -Wno-maybe-uninitialized)
endif()

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
# There the message of an error that nobody catches ends the program.
add_executable(no_exceptions_error consumer/error_main.cpp)
target_compile_options(no_exceptions_error PRIVATE -fno-exceptions -fno-rtti ${before_each_options})
target_link_libraries(no_exceptions_error PRIVATE ${weft_under_test} weft_own)
set(errorMessage_task "an exception escaped from a task: weft::ChannelClosed: weft::ChannelClosed: a value was")
set(errorMessage_thread "terminate called after throwing an instance of 'weft::ChannelClosed'.*what\\(\\): +weft::ChannelClosed: a value was")
foreach(where IN ITEMS task thread)
  # Not at once: ctest takes a program that is ended by a signal for failed, whatever it has said.
  add_test(NAME no_exceptions_error_in_${where}
    COMMAND ${CMAKE_COMMAND} -E env $<TARGET_FILE:no_exceptions_error> ${where})
  set_tests_properties(no_exceptions_error_in_${where} PROPERTIES PASS_REGULAR_EXPRESSION "${errorMessage_${where}}")
endforeach()
target_sources(no_exceptions PRIVATE consumer/main.cpp consumer/crew.cpp)
target_sources(no_exceptions_marl PRIVATE consumer/marl_main.cpp)
target_include_directories(no_exceptions_marl PRIVATE $<TARGET_PROPERTY:weft_marl,INTERFACE_INCLUDE_DIRECTORIES>)

# A scheduler that outlives main().
add_executable(static_scheduler harsh/static_scheduler.cpp)
target_compile_options(static_scheduler PRIVATE ${before_each_options})
target_link_libraries(static_scheduler PRIVATE ${weft_under_test} weft_own)
add_test(NAME static_scheduler COMMAND static_scheduler)
set_tests_properties(static_scheduler PROPERTIES
  PASS_REGULAR_EXPRESSION "before main: 28.*in main: 28.*at exit: 28.*after main: 28.*at the end: 28"
  FAIL_REGULAR_EXPRESSION "Sanitizer")

# Memcheck does not go with a sanitizer, runs one thread at a time, and Debian 12's does not read what clang writes for debuggers.
find_program(WEFT_VALGRIND valgrind)
if(WEFT_VALGRIND AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize="
    AND NOT WEFT_STRESS)
  foreach(program IN ITEMS no_exceptions osfiber_test osfiber_exceptions_test osfiber_frames_test)
    add_test(NAME memcheck_${program}
      COMMAND ${WEFT_VALGRIND} -q --error-exitcode=9 --leak-check=full $<TARGET_FILE:${program}>)
  endforeach()
endif()

# A million operations instead of a tenth.
if(WEFT_IO)
  add_test(NAME io_bytes_million COMMAND io_bytes_test)
  set_tests_properties(io_bytes_million PROPERTIES ENVIRONMENT WEFT_IO_OPERATIONS=1000000 LABELS nightly TIMEOUT 1800)
endif()
