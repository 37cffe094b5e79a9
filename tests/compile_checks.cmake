# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

# Headers and mistakes, with both families of compilers where they are there.
find_program(WEFT_GNU NAMES g++)
find_program(WEFT_Clang NAMES clang++ clang++-19 clang++-14)
set(WEFT_${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER})

# weft_source_test(name family script [LABEL label] [-D...]): a script of the folder cmake, with a compiler of the family.
function(weft_source_test name family script)
  if(NOT WEFT_${family})
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 3 arg "" LABEL "")
  add_test(NAME ${name}
    COMMAND ${CMAKE_COMMAND} -DCOMPILER=${WEFT_${family}} -DINCLUDE=${PROJECT_SOURCE_DIR}/include
      -DWORK=${CMAKE_CURRENT_BINARY_DIR}/${name} ${arg_UNPARSED_ARGUMENTS} -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/${script}.cmake)
  set_tests_properties(${name} PROPERTIES TIMEOUT 1500)
  if(NOT arg_LABEL AND NOT family STREQUAL CMAKE_CXX_COMPILER_ID)
    set(arg_LABEL full)
  endif()
  if(arg_LABEL)
    set_tests_properties(${name} PROPERTIES LABELS ${arg_LABEL})
  endif()
endfunction()

if(NOT BUILD_SHARED_LIBS)
  add_library(copies_plugin MODULE copies/plugin.cpp)
  target_link_libraries(copies_plugin PRIVATE weft)
endif()
set(headerBatches_GNU 1)
set(headerBatches_Clang 4)
foreach(family IN ITEMS GNU Clang)
  string(TOLOWER ${family} suffix)
  weft_source_test(header_rules_${suffix} ${family} header_rules)
  weft_source_test(deprecated_${suffix} ${family} deprecated)
  foreach(script IN ITEMS errors parallel_errors fair_warnings)
    weft_source_test(${script}_${suffix} ${family} ${script} LABEL full)
  endforeach()
  if(NOT BUILD_SHARED_LIBS)
    weft_source_test(copies_${suffix} ${family} copies LABEL full -DLIBRARY=$<TARGET_FILE:weft> -DPLUGIN=$<TARGET_FILE:copies_plugin>)
  endif()
  foreach(batch RANGE 1 ${headerBatches_${family}})
    weft_source_test(headers_${suffix}_${batch} ${family} headers LABEL headers
      -DBATCH=${batch} -DNUM_BATCHES=${headerBatches_${family}})
  endforeach()
endforeach()
weft_source_test(unknown_target_gnu GNU unknown_target)
weft_source_test(headers_together_clang Clang headers LABEL full -DBATCH=1 -DNUM_BATCHES=1 -DTOGETHER=ON)
weft_source_test(thread_safety Clang thread_safety)
weft_source_test(qualified_calls Clang qualified_calls)

# The machine code of the switch: no executable stack, the marks for unwinding and for control-flow enforcement.
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  add_test(NAME osfiber_object
    COMMAND ${CMAKE_COMMAND} -DCOMPILER=${CMAKE_CXX_COMPILER} -DREADELF=${CMAKE_READELF} -DOBJDUMP=${CMAKE_OBJDUMP}
      -DSOURCE=${PROJECT_SOURCE_DIR}/src/osfiber_asm/osfiber_x86_64.S -DWORK=${CMAKE_CURRENT_BINARY_DIR}/osfiber_object
      -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/osfiber_object.cmake)
endif()

# The barriers in the machine code of the hot paths, for processors that keep little order. GCC before 14 has other
# barriers for riscv64, of which the test looks at those that processor_riscv64.h adds.
find_program(WEFT_CLANG_19 NAMES clang++-19)
foreach(processor IN ITEMS aarch64 riscv64)
  find_program(WEFT_${processor}_GNU NAMES ${processor}-linux-gnu-g++)
  find_program(WEFT_${processor}_OBJDUMP NAMES ${processor}-linux-gnu-objdump)
  if(NOT WEFT_${processor}_GNU OR NOT WEFT_${processor}_OBJDUMP)
    message(STATUS "Tests: no ${processor}-linux-gnu-g++, without which barriers_${processor}_* are left out (Debian: g++-${processor}-linux-gnu)")
    continue()
  endif()
  set(barriers Python3::Interpreter -B ${CMAKE_CURRENT_SOURCE_DIR}/barriers/barriers.py ${PROJECT_SOURCE_DIR})
  execute_process(COMMAND ${WEFT_${processor}_GNU} -dumpversion OUTPUT_VARIABLE version)
  set(lists ${processor})
  if(processor STREQUAL "riscv64" AND version VERSION_LESS 14)
    set(lists riscv64-old)
  endif()
  add_test(NAME barriers_${processor}_gnu COMMAND ${barriers} ${lists} ${WEFT_${processor}_OBJDUMP} ${WEFT_${processor}_GNU})
  if(WEFT_CLANG_19)
    add_test(NAME barriers_${processor}_clang COMMAND ${barriers} ${processor} ${WEFT_${processor}_OBJDUMP} ${WEFT_CLANG_19}
      --target=${processor}-linux-gnu)
  endif()
endforeach()

# What is read rather than compiled: the notes on memory orders and their page, which folder includes which, and what knows a processor.
file(GLOB_RECURSE code CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/*.h ${PROJECT_SOURCE_DIR}/src/*.h
  ${PROJECT_SOURCE_DIR}/src/*.cpp)
add_test(NAME atomics COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/atomics.py ${code})
add_test(NAME weak_memory
  COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/weak_memory.py ${PROJECT_SOURCE_DIR})
add_test(NAME layers COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/layers.py ${PROJECT_SOURCE_DIR})
add_test(NAME ports COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/ports.py ${PROJECT_SOURCE_DIR})

# Whether the header, the project, the namespace, the recipes, the pages and the list of changes say one version.
add_test(NAME version
  COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/version.py ${PROJECT_SOURCE_DIR} ${PROJECT_VERSION})

# Whether each source compiles alone: a user's build does that, and those of the tests compile a folder's files together.
add_test(NAME file_by_file
  COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/file_by_file.py ${PROJECT_SOURCE_DIR} ${CMAKE_CXX_COMPILER})
set_tests_properties(file_by_file PROPERTIES COST 100 PROCESSORS 2)

# Whether they need of the C library only what musl has. Where libc++ serves, clang can be given musl's headers.
find_path(WEFT_MUSL_HEADERS features.h PATHS /usr/include/${CMAKE_SYSTEM_PROCESSOR}-linux-musl NO_DEFAULT_PATH)
if(WEFT_MUSL_HEADERS AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_FLAGS MATCHES "-stdlib=libc\\+\\+")
  add_test(NAME musl
    COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/file_by_file.py ${PROJECT_SOURCE_DIR} ${CMAKE_CXX_COMPILER} --musl)
  set_tests_properties(musl PROPERTIES COST 100 PROCESSORS 2)
endif()

# Whether the recipes of package managers have weft's options, and the flags of its libraries.
add_test(NAME recipes
  COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/recipes.py ${PROJECT_SOURCE_DIR})

# Whether the tests exist that the documents name.
add_test(NAME named_tests
  COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/named_tests.py ${PROJECT_SOURCE_DIR})

# Whether the paths, commands, numbers and members are there that documents and comments name.
add_test(NAME docs_facts
  COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/docs_facts.py ${PROJECT_SOURCE_DIR}
    --tests ${CMAKE_BINARY_DIR})

# Whether the charts and tables of the page of performance are those of its figures.
add_test(NAME performance_page
  COMMAND Python3::Interpreter -B ${PROJECT_SOURCE_DIR}/benchmarks/page_charts.py --check)

# The gate itself, with programs that only pretend to build and test.
find_program(WEFT_GIT git)
if(WEFT_GIT)
  add_test(NAME gate COMMAND Python3::Interpreter -B ${CMAKE_CURRENT_SOURCE_DIR}/gate_test.py)
endif()

# The script that compares two commits' shared libraries, on small ones. It needs abidiff of abigail-tools.
find_program(WEFT_ABIDIFF abidiff)
if(WEFT_ABIDIFF)
  add_test(NAME abi COMMAND Python3::Interpreter -B ${CMAKE_CURRENT_SOURCE_DIR}/abi_test.py ${CMAKE_CXX_COMPILER})
else()
  message(STATUS "Tests: no abidiff, without which the test abi is left out (Debian: abigail-tools)")
endif()

# Whether each mutant that explained.txt explains is still there. The mutants themselves take hours: docs/reliability.md.
add_test(NAME mutants_list COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/mutants/mutants.py --list)

# Whether each line that coverage_explained.txt explains is still there: no test executes those.
add_test(NAME coverage_list COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/coverage.py --check)

# What the preset stress changes, and whether each such line is still there once.
add_test(NAME stress_choices
  COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/model/scheduler/change.py ${CMAKE_CURRENT_SOURCE_DIR}/stress/choices.txt
    ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_BINARY_DIR}/stress_choices)

# The layout, by the one version of clang-format that .ci/run installs (others differ), and the width of pages.
find_program(WEFT_CLANG_FORMAT clang-format-19)
if(WEFT_CLANG_FORMAT)
  add_test(NAME format
    COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/format.py ${PROJECT_SOURCE_DIR} ${WEFT_CLANG_FORMAT})
endif()
