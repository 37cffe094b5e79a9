# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

# A project of Meson has weft as a subproject, from an archive and the files of src/package/meson, and its program runs:
#   cmake -DROOT=<weft> -DWORK=<dir> -DMESON=<meson> "-DCOMPILER=<c++>" -DVERSION=<of weft> -P this

include(${CMAKE_CURRENT_LIST_DIR}/archive.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)
file(REMOVE_RECURSE ${WORK})
set(recipes ${ROOT}/src/package/meson)
set(subprojects ${WORK}/project/subprojects)
make_archive(${ROOT} ${subprojects}/packagefiles ${VERSION})
file(COPY ${recipes}/weft.wrap DESTINATION ${subprojects})
file(COPY ${recipes}/meson.build ${recipes}/meson_options.txt DESTINATION ${subprojects}/packagefiles/weft)
file(COPY ${ROOT}/tests/consumer/main.cpp ${ROOT}/tests/consumer/crew.cpp ${ROOT}/tests/consumer/crew.h
  ${ROOT}/tests/consumer/io_main.cpp DESTINATION ${WORK}/project)
file(WRITE ${WORK}/project/meson.build "project('user', 'cpp', default_options: ['cpp_std=c++20', 'warning_level=2', 'buildtype=plain'])
executable('consumer', 'main.cpp', 'crew.cpp', dependencies: dependency('weft'))
executable('io_consumer', 'io_main.cpp', dependencies: dependency('weft-io'))
")

set(ENV{CXX} "${COMPILER}")
run(${MESON} setup ${WORK}/build ${WORK}/project --wrap-mode=nodownload -Dweft:buildtype=plain
  -Ddefault_library=static)
run(${MESON} compile -C ${WORK}/build consumer io_consumer)
run(${WORK}/build/consumer)
run(${WORK}/build/io_consumer)
