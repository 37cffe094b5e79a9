# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

# What all unit tests include of others is compiled once. What they include of weft is so only where asked for: a precompiled header is a
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
