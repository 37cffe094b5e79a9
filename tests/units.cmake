# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

# One test per file, named after it, and one program. With CMAKE_UNITY_BUILD the files of a folder are compiled as one, about seven at
# a time: they have most of what they instantiate in common. Then each test is a part of such a program, by a filter.
#
# What all of them include of others is compiled once. What they include of weft is so only where asked for: a precompiled header is a
# system header, whose warnings are lost, and whose code clang does not count for coverage.
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
  if(WEFT_BUILD_EXAMPLES AND NOT BUILD_SHARED_LIBS)
    get_property(examples DIRECTORY ${PROJECT_SOURCE_DIR}/examples PROPERTY BUILDSYSTEM_TARGETS)
    # gcc takes them only with what they were compiled with.
    get_target_property(options GTest::gtest INTERFACE_COMPILE_OPTIONS)
    if(NOT options)
      set(options "")
    endif()
    foreach(example IN LISTS examples)
      get_target_property(type ${example} TYPE)
      if(type STREQUAL "EXECUTABLE")
        target_precompile_headers(${example} REUSE_FROM test_headers)
        target_compile_options(${example} PRIVATE ${options})
      endif()
    endforeach()
  endif()
endif()

# The gate runs a half under a sanitizer: a target builds it, and its tests have its name as a label. (Two labels by time: what waits, and
# all else.)
add_custom_target(half_1)
add_custom_target(half_2)
function(weft_half_of file result)
  set(half half_1)
  if(file MATCHES "/(asio|torture|io|marl|os|scheduler|sync|wait)/[a-z_]+\\.cpp$")
    set(half half_2)
  endif()
  set(${result} ${half} PARENT_SCOPE)
endfunction()

# What comes before each source, where there is no precompiled header that begins with it.
set(before_each_options "")
if(weft_before_each)
  set(before_each_options -include ${weft_before_each})
endif()

file(GLOB unitTests CONFIGURE_DEPENDS *_test.cpp */*_test.cpp)
list(FILTER unitTests EXCLUDE REGEX "/asio/[a-z_]+\\.cpp$")
if(NOT WEFT_IO)
  list(FILTER unitTests EXCLUDE REGEX "/io/[a-z_]+\\.cpp$")
elseif(NOT WEFT_IO_URING)
  list(FILTER unitTests EXCLUDE REGEX "/io/io_ring_test\\.cpp$")
endif()
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=thread")
  # What these say is said at compile time.
  list(FILTER unitTests EXCLUDE REGEX "/(docs_examples|hostile_namespace)_test\\.cpp$")
endif()

# These differ from their neighbours in how they are compiled or linked, or look at their program.
set(unitTestsAlone debug_test docs_examples_test hostile_namespace_test default_executor_test marl_options_test overflow_test
  overflow_fiber_test trace_test trace_off_test unloading_test)

# weft_unit_program(program folder file...)
function(weft_unit_program program folder)
  add_executable(${program} ${ARGN})
  list(GET ARGN 0 file)
  weft_half_of(${file} half)
  add_dependencies(${half} ${program})
  target_precompile_headers(${program} REUSE_FROM test_headers)
  target_include_directories(${program} PRIVATE ${PROJECT_SOURCE_DIR}/src ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(${program} PRIVATE ${weft_under_test} weft_own GTest::gtest_main)
  if(folder STREQUAL "io")
    target_link_libraries(${program} PRIVATE ${weft_io_under_test})
    if(WEFT_IO_URING)
      target_compile_definitions(${program} PRIVATE WEFT_IO_URING)
      target_link_libraries(${program} PRIVATE ${WEFT_LIBURING})
    endif()
  endif()
  if(folder STREQUAL "marl")
    target_include_directories(${program} PRIVATE $<TARGET_PROPERTY:weft_marl,INTERFACE_INCLUDE_DIRECTORIES>)
  endif()
endfunction()

# weft_add_unit_test(program file [name]): the test that is named after the file, and name_late for what a sanitizer leaves to the night.
function(weft_add_unit_test program file)
  cmake_path(GET file STEM name)
  if(ARGN)
    set(name ${ARGN})
  endif()
  weft_filters_of(${file} filter lateFilter)
  set(command_of_${name} $<TARGET_FILE:${program}> ${filter} PARENT_SCOPE)
  if(filter)
    weft_add_tests(${name} ${file} $<TARGET_FILE:${program}> ${filter})
    # A filter that fits nothing passes otherwise.
    weft_half_of(${file} half)
    set_tests_properties(${names} PROPERTIES TIMEOUT 300 FAIL_REGULAR_EXPRESSION "Running 0 tests" LABELS ${half})
  endif()
  if(lateFilter)
    weft_add_tests(${name}_late ${file} $<TARGET_FILE:${program}> ${lateFilter})
    set_tests_properties(${names} PROPERTIES TIMEOUT 1500 LABELS nightly)
  endif()
endfunction()

# weft_add_tests(name file command...): leaves in `names` what they are called.
function(weft_add_tests name file)
  set(names ${name})
  if(file MATCHES "/io/[a-z_]+\\.cpp$")
    weft_add_io_tests(${name} ${ARGN})
  else()
    add_test(NAME ${name} COMMAND ${ARGN})
  endif()
  set(names ${names} PARENT_SCOPE)
endfunction()

# weft_add_io_tests(name command...): with each backend. Where the system refuses io_uring, ctest says that it was skipped. (Not the
# program itself: ctest takes one that is ended by a signal for failed, whatever it has said.)
function(weft_add_io_tests name)
  set(backends epoll)
  if(name MATCHES "^io_ring_test")
    set(backends "")
  endif()
  if(WEFT_IO_URING)
    list(APPEND backends uring)
  endif()
  set(names "")
  foreach(backend IN LISTS backends)
    add_test(NAME ${name}_${backend} COMMAND ${CMAKE_COMMAND} -E env WEFT_IO=${backend} ${ARGN})
    set_tests_properties(${name}_${backend} PROPERTIES
      SKIP_REGULAR_EXPRESSION "WEFT_IO=uring, but the system refuses io_uring")
    list(APPEND names ${name}_${backend})
  endforeach()
  set(names ${names} PARENT_SCOPE)
endfunction()

# weft_filters_of(file result lateResult): a filter for the tests in the file, and one for those that a sanitizer leaves to the night;
# nothing, if there are none. A death test starts its program anew, to see a message that is the same without a sanitizer.
# ThreadSanitizer finds with 64 threads what it finds with 8.
function(weft_filters_of file result lateResult)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  file(STRINGS ${file} tests REGEX "^(TYPED_)?TEST(_F|_P)?\\(")
  list(TRANSFORM tests REPLACE "^[A-Z_]+\\(([A-Za-z0-9_]+),.*" "\\1")
  list(REMOVE_DUPLICATES tests)
  set(patterns "")
  set(latePatterns "")
  foreach(suite IN LISTS tests)
    get_property(other GLOBAL PROPERTY weft_file_of_${suite})
    if(other AND NOT other STREQUAL file)
      message(FATAL_ERROR "${file}: the test suite ${suite} is in ${other} already: each file needs suites of its own")
    endif()
    set_property(GLOBAL PROPERTY weft_file_of_${suite} ${file})
    set(pattern "${suite}.*:*/${suite}.*:${suite}/*")
    if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=" AND suite MATCHES "DeathTest$")
      list(APPEND latePatterns ${pattern})
    else()
      list(APPEND patterns ${pattern})
      if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=thread")
        list(APPEND latePatterns "*/${suite}.*/64")
      endif()
    endif()
  endforeach()
  list(JOIN patterns ":" patterns)
  if(patterns AND CMAKE_CXX_FLAGS MATCHES "-fsanitize=thread")
    string(APPEND patterns "-*/64")
  endif()
  list(JOIN latePatterns ":" latePatterns)
  list(TRANSFORM patterns PREPEND "--gtest_filter=")
  list(TRANSFORM latePatterns PREPEND "--gtest_filter=")
  set(${result} "${patterns}" PARENT_SCOPE)
  set(${lateResult} "${latePatterns}" PARENT_SCOPE)
endfunction()

include(asio/asio.cmake)

# Leaves in command_of_<name> what runs that test.
set(folders "")
foreach(file IN LISTS unitTests)
  cmake_path(GET file STEM name)
  cmake_path(GET file PARENT_PATH folder)
  cmake_path(GET folder FILENAME folder)
  if(NOT "$CACHE{CMAKE_UNITY_BUILD}" OR name IN_LIST unitTestsAlone)
    weft_unit_program(${name} ${folder} ${file})
    weft_add_unit_test(${name} ${file})
  else()
    list(APPEND folders ${folder})
    list(APPEND files_${folder} ${file})
  endif()
endforeach()
list(REMOVE_DUPLICATES folders)
foreach(folder IN LISTS folders)
  list(LENGTH files_${folder} count)
  math(EXPR numPrograms "(${count} + 6) / 7")
  math(EXPR perProgram "(${count} + ${numPrograms} - 1) / ${numPrograms}")
  foreach(i RANGE 1 ${numPrograms})
    math(EXPR begin "(${i} - 1) * ${perProgram}")
    list(SUBLIST files_${folder} ${begin} ${perProgram} files)
    set(program ${folder}_tests_${i})
    if(count EQUAL 1)
      cmake_path(GET files STEM program)
    endif()
    weft_unit_program(${program} ${folder} ${files})
    set_target_properties(${program} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
    foreach(file IN LISTS files)
      weft_add_unit_test(${program} ${file})
    endforeach()
  endforeach()
endforeach()

if(TARGET docs_examples_test)
  target_compile_definitions(docs_examples_test PRIVATE WEFT_TEST_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
endif()

# The last moments of a scheduler, 110,000 times: with a sanitizer too, which leaves most of them out by day.
list(GET command_of_shutdown_test 0 program)
add_test(NAME last_moments COMMAND ${program} --gtest_filter=LastMomentTest.*)
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
set(errorMessage_task "an exception escaped from a task: weft::v0_1::ChannelClosed: weft::ChannelClosed: a value was")
set(errorMessage_thread "terminate called after throwing an instance of 'weft::v0_1::ChannelClosed'.*what\\(\\): +weft::ChannelClosed: a value was")
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
add_executable(static_scheduler torture/static_scheduler.cpp)
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
  set(command_of_no_exceptions $<TARGET_FILE:no_exceptions>)
  foreach(name IN ITEMS no_exceptions osfiber_test osfiber_exceptions_test osfiber_frames_test)
    list(POP_FRONT command_of_${name} program)
    add_test(NAME memcheck_${name}
      COMMAND ${WEFT_VALGRIND} -q --error-exitcode=9 --leak-check=full ${program} ${command_of_${name}})
  endforeach()
endif()

# A million operations instead of a tenth.
if(WEFT_IO)
  weft_add_io_tests(io_bytes_million ${command_of_io_bytes_test})
  set_tests_properties(${names} PROPERTIES ENVIRONMENT WEFT_IO_OPERATIONS=1000000 LABELS nightly TIMEOUT 1800)
endif()

# What is no GoogleTest, and the examples.
set(others no_exceptions no_exceptions_marl no_exceptions_error static_scheduler)
if(WEFT_BUILD_EXAMPLES)
  get_property(examples DIRECTORY ${PROJECT_SOURCE_DIR}/examples PROPERTY BUILDSYSTEM_TARGETS)
  list(REMOVE_ITEM examples demo)
  list(APPEND others ${examples} treestat_faults)
endif()
add_dependencies(half_1 ${others})
set_tests_properties(no_exceptions no_exceptions_marl no_exceptions_error_in_task no_exceptions_error_in_thread static_scheduler PROPERTIES
  LABELS half_1)
