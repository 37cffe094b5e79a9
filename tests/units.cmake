# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

# One test per file, named after it, and one program. With CMAKE_UNITY_BUILD the files of a folder are compiled as one, about seven at
# a time: they have most of what they instantiate in common. Then each test is a part of such a program, by a filter.
include(cmake/unit_precompiled.cmake)

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

# What depends on the processor most, and takes minutes under an emulator: the gate runs it for other processors.
set(weft_core_files "/((os/osfiber|queue/|park/|wait/|sync/)[a-z_]+|scheduler/(fiber|scheduler|timers|worker)_test)\\.cpp")
add_custom_target(core)

# What comes before each source, where there is no precompiled header that begins with it.
set(before_each_options "")
if(weft_before_each)
  set(before_each_options -include ${weft_before_each})
endif()

file(GLOB unitTests CONFIGURE_DEPENDS *_test.cpp */*_test.cpp)
list(FILTER unitTests EXCLUDE REGEX "/(asio|mpi)/[a-z_]+\\.cpp$")
if(NOT WEFT_IO)
  list(FILTER unitTests EXCLUDE REGEX "/io/[a-z_]+\\.cpp$")
elseif(NOT WEFT_IO_URING)
  list(FILTER unitTests EXCLUDE REGEX "/io/io_ring_test\\.cpp$")
endif()
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=thread")
  # What these say is said at compile time.
  list(FILTER unitTests EXCLUDE REGEX "/(docs_examples|hostile_namespace)_test\\.cpp$")
endif()

# On other processors no program steps through itself.
if(NOT CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  list(FILTER unitTests EXCLUDE REGEX "/osfiber_steps_test\\.cpp$")
endif()
# ucontext's frames are the C library's. Where there is assembly, the file is compiled nevertheless.
if(WEFT_NEEDS_UCONTEXT)
  list(FILTER unitTests EXCLUDE REGEX "/osfiber_frames_test\\.cpp$")
endif()

# It has machine code for these.
if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|aarch64|riscv64)$")
  list(FILTER unitTests EXCLUDE REGEX "/marl_no_unwind_test\\.cpp$")
endif()

if(NOT WEFT_TOOLS)
  list(FILTER unitTests EXCLUDE REGEX "/tools/[a-z_]+\\.cpp$")
endif()

# These differ from their neighbours in how they are compiled or linked, or look at their program.
set(unitTestsAlone core_file_test debug_test docs_examples_test hostile_namespace_test default_executor_test
  marl_options_test target_test overflow_test
  overflow_fiber_test find_layout_test trace_dump_test trace_limits_test trace_test trace_off_test
  unloading_test)

include(cmake/unit_programs.cmake)
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
add_test(NAME last_moments COMMAND ${CMAKE_CROSSCOMPILING_EMULATOR} ${program} --gtest_filter=LastMomentTest.*)
set_tests_properties(last_moments PROPERTIES LABELS nightly TIMEOUT 7200 ENVIRONMENT WEFT_TEST_ALL_ROUNDS=1)

# Tests whose frames are larger than a guard are built as the documents tell users to build such code.
set_source_files_properties(os/overflow_test.cpp os/overflow_fiber_test.cpp PROPERTIES SKIP_PRECOMPILE_HEADERS ON
  COMPILE_OPTIONS "-fstack-clash-protection;${before_each_options}")
# gcc before 15 takes the option for riscv64, and does nothing.
if(NOT (CMAKE_SYSTEM_PROCESSOR MATCHES "^riscv" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 15))
  set_source_files_properties(os/overflow_test.cpp os/overflow_fiber_test.cpp PROPERTIES COMPILE_DEFINITIONS WEFT_TEST_STACK_CLASH)
endif()

if(WEFT_STRESS AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # With what stands before each source, gcc 12 takes a part of an empty std::optional for uninitialised.
  set_source_files_properties(parallel/parallel_reduce_test.cpp PROPERTIES COMPILE_OPTIONS -Wno-maybe-uninitialized)
endif()

# Pages of 16 and 64 KiB, which some systems for these processors have. Static: where a loader maps a file, the emulator has no memory
# behind the file's end, from the machine's own page on. The high water mark of a stack comes from /proc/self/pagemap, which is the machine's.
if(CMAKE_CROSSCOMPILING AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|ppc64le)$")
  set(files os/osfiber_test os/osfiber_exceptions_test os/osfiber_frames_test os/memory_test os/stack_pool_test os/page_size_test
    scheduler/fiber_test)
  list(TRANSFORM files REPLACE "(.+)" "${CMAKE_CURRENT_SOURCE_DIR}/\\1.cpp")
  weft_unit_program(large_pages os ${files})
  set_target_properties(large_pages PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
  target_link_options(large_pages PRIVATE -static)
  foreach(bytes IN ITEMS 16384 65536)
    add_test(NAME pages_of_${bytes} COMMAND ${CMAKE_CROSSCOMPILING_EMULATOR} $<TARGET_FILE:large_pages>
      --gtest_filter=-${weft_cannot_run}:*HighWater*:*/64)
    set_tests_properties(pages_of_${bytes} PROPERTIES TIMEOUT 1500 LABELS "half_2;core" ENVIRONMENT QEMU_PAGESIZE=${bytes})
  endforeach()
endif()

include(cmake/unit_applications.cmake)
include(inspect/inspect.cmake)

# Memcheck does not go with a sanitizer, runs one thread at a time, and Debian 12's does not read what clang writes for debuggers.
find_program(WEFT_VALGRIND valgrind)
if(WEFT_VALGRIND AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize="
    AND NOT WEFT_STRESS AND NOT CMAKE_CROSSCOMPILING)
  set(command_of_no_exceptions $<TARGET_FILE:no_exceptions>)
  foreach(name IN ITEMS no_exceptions osfiber_test osfiber_exceptions_test osfiber_frames_test)
    list(POP_FRONT command_of_${name} program)
    add_test(NAME memcheck_${name}
      COMMAND ${WEFT_VALGRIND} -q --error-exitcode=9 --leak-check=full ${program} ${command_of_${name}})
  endforeach()
  # weft tells Valgrind of its stacks: otherwise it guesses, and says so.
  add_test(NAME valgrind_knows_stacks COMMAND ${WEFT_VALGRIND} $<TARGET_FILE:no_exceptions>)
  set_tests_properties(valgrind_knows_stacks PROPERTIES FAIL_REGULAR_EXPRESSION "switching stacks")
endif()

# A million operations instead of a tenth.
if(WEFT_IO)
  weft_add_io_tests(io_bytes_million ${command_of_io_bytes_test})
  set_tests_properties(${names} PROPERTIES ENVIRONMENT WEFT_IO_OPERATIONS=1000000 LABELS nightly TIMEOUT 1800)
endif()

# Sanitizers, counters and stress put code of their own into the functions that the program `weft` looks at.
if(WEFT_TOOLS AND NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize=|-fprofile-" AND NOT weft_before_each)
  include(tools/tools.cmake)
  include(debuggers/debuggers.cmake)
endif()
