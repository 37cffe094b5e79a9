# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

# A stranger's builds. The proxies lead nowhere: a build that reaches for the network fails.
set(noNetwork http_proxy=http://127.0.0.1:9 https_proxy=http://127.0.0.1:9 all_proxy=http://127.0.0.1:9)
# weft is built once for each of them, by folders, in a third of the time; and in Debug, so that their parts are not inlined into each
# other. The reader of the README has this build's own type.
set(readerOptions -G ${CMAKE_GENERATOR} -DCMAKE_MAKE_PROGRAM=${CMAKE_MAKE_PROGRAM} -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER}
  -DCMAKE_UNITY_BUILD=ON)
set(strangerOptions ${readerOptions} -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=)
string(TOUPPER "CMAKE_CXX_FLAGS_${CMAKE_BUILD_TYPE}" flagsOfType)
list(APPEND readerOptions -DCMAKE_BUILD_TYPE=${CMAKE_BUILD_TYPE} "-D${flagsOfType}=${${flagsOfType}}")

# This build's own library is the static one that gets installed, if it is one, and has all that the applications use.
set(packageBuild_static)
if(WEFT_INSTALL AND WEFT_IO AND WEFT_TOOLS AND NOT BUILD_SHARED_LIBS AND NOT WEFT_MARL_TARGET)
  set(packageBuild_static -DBUILD=${PROJECT_BINARY_DIR})
endif()
# The shared one is that of consumer_shared, which asks its weft to be installed, under marl's name too.
set(packageBuild_shared -DBUILD=${CMAKE_CURRENT_BINARY_DIR}/consumer_shared/weft)

# One of the applications, and with it its weft, is compiled without exceptions wherever it does not say otherwise.
set(consumerOptions_static "-DCMAKE_CXX_FLAGS=-fno-exceptions -fno-rtti")
set(consumerOptions_shared -DWEFT_STACK_CLASH_PROTECTION=ON -DWEFT_INSTALL=ON -DWEFT_MARL_TARGET=ON)

foreach(kind IN ITEMS static shared)
  string(COMPARE EQUAL ${kind} shared shared)
  add_test(NAME consumer_${kind}
    COMMAND ${CMAKE_CTEST_COMMAND} --build-and-test
      ${CMAKE_CURRENT_SOURCE_DIR}/consumer ${CMAKE_CURRENT_BINARY_DIR}/consumer_${kind}
      --build-generator ${CMAKE_GENERATOR} --build-makeprogram ${CMAKE_MAKE_PROGRAM}
      --build-options ${strangerOptions} -DBUILD_SHARED_LIBS=${shared} ${consumerOptions_${kind}}
      --test-command ${CMAKE_COMMAND} -DPROGRAMS=consumer+io_consumer+marl_consumer+mixed_consumer+mixed_consumer_reversed
        -DINSTALLS=${shared} -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/consumer.cmake)
  add_test(NAME package_${kind}
    COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR} -DPYTHON=${Python3_EXECUTABLE} -DWORK=${CMAKE_CURRENT_BINARY_DIR}/package_${kind}
      -DSHARED=$<BOOL:${shared}> -DCOMPILER=${CMAKE_CXX_COMPILER} -DVERSION=${PROJECT_VERSION}
      "-DOPTIONS=${strangerOptions}" ${packageBuild_${kind}} -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/package.cmake)
  set_tests_properties(consumer_${kind} package_${kind} PROPERTIES ENVIRONMENT "${noNetwork}")
endforeach()
foreach(library IN ITEMS weft weft_io)
  add_test(NAME exports_${library}
    COMMAND ${CMAKE_COMMAND} -DNM=${CMAKE_NM}
      -DLIBRARY=${CMAKE_CURRENT_BINARY_DIR}/consumer_shared/weft/src/lib${library}.so
      -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/exports.cmake)
endforeach()
set_tests_properties(consumer_shared PROPERTIES FIXTURES_SETUP sharedLibrary)
set_tests_properties(exports_weft exports_weft_io package_shared PROPERTIES FIXTURES_REQUIRED sharedLibrary)

add_test(NAME export_sets
  COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR} -DWORK=${CMAKE_CURRENT_BINARY_DIR}/export_sets "-DOPTIONS=${strangerOptions}"
    -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/export_sets.cmake)
set_tests_properties(export_sets PROPERTIES ENVIRONMENT "${noNetwork}" LABELS full)

add_test(NAME fetch_content
  COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR} -DWORK=${CMAKE_CURRENT_BINARY_DIR}/fetch_content -DVERSION=${PROJECT_VERSION}
    "-DOPTIONS=${strangerOptions}" -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/fetch_content.cmake)
add_test(NAME without_gtest
  COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR} -DWORK=${CMAKE_CURRENT_BINARY_DIR}/without_gtest
    "-DOPTIONS=${strangerOptions}" -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/without_gtest.cmake)
set_tests_properties(fetch_content without_gtest PROPERTIES ENVIRONMENT "${noNetwork}" LABELS full)

add_test(NAME package_deb
  COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR} -DWORK=${CMAKE_CURRENT_BINARY_DIR}/package_deb -DCOMPILER=${CMAKE_CXX_COMPILER}
    -DVERSION=${PROJECT_VERSION} "-DOPTIONS=${strangerOptions}" -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/deb.cmake)
set_tests_properties(package_deb PROPERTIES ENVIRONMENT "${noNetwork}" LABELS full
  SKIP_REGULAR_EXPRESSION "the system lacks what makes Debian's packages")

find_program(WEFT_MESON meson)
if(WEFT_MESON)
  add_test(NAME meson
    COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR} -DWORK=${CMAKE_CURRENT_BINARY_DIR}/meson -DMESON=${WEFT_MESON}
      "-DCOMPILER=${CMAKE_CXX_COMPILER_LAUNCHER} ${CMAKE_CXX_COMPILER}" -DVERSION=${PROJECT_VERSION}
      -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/meson.cmake)
  # Meson compiles each file by itself, since folders alone may be compiled together.
  set_tests_properties(meson PROPERTIES ENVIRONMENT "${noNetwork}" LABELS nightly TIMEOUT 3600)
else()
  message(STATUS "Tests: no Meson, without which the test meson is left out (Debian: meson)")
endif()

# CMake 3.25 knows no modules. The library that this build has is that of either kind of program.
find_program(WEFT_CLANG_WITH_MODULES NAMES clang++-19 clang++-20 clang++-21)
if(NOT WEFT_CLANG_WITH_MODULES)
  message(STATUS "Tests: no clang 19, without which the test module is left out (Debian: clang-19)")
elseif(WEFT_IO AND NOT BUILD_SHARED_LIBS AND NOT WEFT_HAS_LIBCXX)
  list(TRANSFORM CMAKE_DL_LIBS PREPEND -l OUTPUT_VARIABLE dlLibraries)
  set(moduleLibraries $<TARGET_FILE:weft_io> $<TARGET_FILE:weft> ${dlLibraries})
  if(WEFT_IO_URING)
    list(APPEND moduleLibraries ${WEFT_LIBURING})
  endif()
  add_test(NAME module
    COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR} -DWORK=${CMAKE_CURRENT_BINARY_DIR}/module -DCOMPILER=${WEFT_CLANG_WITH_MODULES}
      -DPYTHON=${Python3_EXECUTABLE} "-DLIBRARIES=${moduleLibraries}" -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/module.cmake)
  set_tests_properties(module PROPERTIES LABELS full)
endif()

add_test(NAME readme
  COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR} -DWORK=${CMAKE_CURRENT_BINARY_DIR}/readme
    "-DOPTIONS=${readerOptions}" -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/readme.cmake)
set_tests_properties(readme PROPERTIES ENVIRONMENT "${noNetwork}")

# Without CMake: docs/install.md.
foreach(kind IN ITEMS amalgamation sources)
  add_test(NAME one_command_${kind}
    COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR} -DWORK=${CMAKE_CURRENT_BINARY_DIR}/one_command_${kind} -DKIND=${kind}
      -DCOMPILER=${CMAKE_CXX_COMPILER} -DPYTHON=${Python3_EXECUTABLE} -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/one_command.cmake)
  set_tests_properties(one_command_${kind} PROPERTIES LABELS full)
endforeach()

# The preset `test` has the consumer of the README alone. The shared library is built once.
set_tests_properties(consumer_static package_static consumer_shared exports_weft exports_weft_io package_shared PROPERTIES
  LABELS full)
