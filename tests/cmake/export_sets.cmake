# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

# A project has weft as its subdirectory, and installs and exports a static library of its own that links it; another project uses that
# library from the build tree. Both are configured, and not built:
#   cmake -DROOT=<weft> -DWORK=<dir> "-DOPTIONS=<arguments of cmake>" -P this

file(REMOVE_RECURSE ${WORK})
file(WRITE ${WORK}/library/CMakeLists.txt "cmake_minimum_required(VERSION 3.25)
project(library LANGUAGES CXX)
add_subdirectory(\"${ROOT}\" weft)
file(WRITE library.cpp \"#include <weft/weft.h>\\n\")
add_library(library STATIC library.cpp)
target_link_libraries(library PUBLIC weft::weft)
install(TARGETS library EXPORT libraryTargets)
install(EXPORT libraryTargets NAMESPACE library:: DESTINATION lib/cmake/library)
export(EXPORT libraryTargets NAMESPACE library:: FILE libraryTargets.cmake)
")
file(WRITE ${WORK}/user/CMakeLists.txt "cmake_minimum_required(VERSION 3.25)
project(user LANGUAGES CXX)
find_package(weft REQUIRED)
include(${WORK}/build/libraryTargets.cmake)
file(WRITE user.cpp \"int main() {}\\n\")
add_executable(user user.cpp)
target_link_libraries(user PRIVATE library::library)
")

function(run)
  execute_process(COMMAND ${CMAKE_COMMAND} ${ARGN} ${OPTIONS} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

run(-S ${WORK}/library -B ${WORK}/build -DWEFT_INSTALL=ON)
run(-S ${WORK}/user -B ${WORK}/user/build -Dweft_DIR=${WORK}/build/weft/src/package)
