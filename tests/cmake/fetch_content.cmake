# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

# Packs weft's sources into an archive, and builds and runs the consumer with them by FetchContent:
#   cmake -DROOT=<weft> -DWORK=<dir> -DVERSION=<of weft> "-DOPTIONS=<arguments of cmake>" -P this

include(${CMAKE_CURRENT_LIST_DIR}/archive.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)
file(REMOVE_RECURSE ${WORK})
make_archive(${ROOT} ${WORK} ${VERSION})
set(archive ${WORK}/weft-${VERSION}.tar.gz)
file(SHA256 ${archive} hash)

file(WRITE ${WORK}/project/CMakeLists.txt "cmake_minimum_required(VERSION 3.25)
project(fetches LANGUAGES CXX)
include(FetchContent)
FetchContent_Declare(weft URL file://${archive} URL_HASH SHA256=${hash})
FetchContent_MakeAvailable(weft)
set(CMAKE_UNITY_BUILD OFF)
add_executable(consumer ${ROOT}/tests/consumer/main.cpp ${ROOT}/tests/consumer/crew.cpp)
target_link_libraries(consumer PRIVATE weft::weft)
target_compile_options(consumer PRIVATE -Wall -Wextra -Werror)
")

run(${CMAKE_COMMAND} -S ${WORK}/project -B ${WORK}/build ${OPTIONS})
run(${CMAKE_COMMAND} --build ${WORK}/build --target consumer)
run(${WORK}/build/consumer)
