# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

# Builds and runs the consumer with a weft that is built and not installed. Then installs it, moves it elsewhere, and builds and runs the
# consumer with it by find_package and by pkg-config:
#   cmake -DROOT=<weft> -DWORK=<dir> -DSHARED=ON|OFF -DCOMPILER=<c++> -DPYTHON=<python3> -DVERSION=<of weft> "-DOPTIONS=<arguments of cmake>"
#     [-DBUILD=<build folder of such a weft, instead of a static one of its own>] -P this

include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
set(prefix "${WORK}/a prefix")

if(NOT BUILD)
  set(BUILD ${WORK}/build)
  run(${CMAKE_COMMAND} -S ${ROOT} -B ${BUILD} ${OPTIONS} -DBUILD_SHARED_LIBS=OFF
    -DWEFT_BUILD_TESTS=OFF -DWEFT_BUILD_EXAMPLES=OFF -DWEFT_BUILD_BENCHMARKS=OFF)
  run(${CMAKE_COMMAND} --build ${BUILD})
endif()

# The build tree, by find_package with its folder. (The shared library is that of a project that has weft as a subdirectory.)
run(${CMAKE_COMMAND} -S ${ROOT}/tests/consumer/installed -B ${WORK}/consumer_of_build ${OPTIONS} "-DCMAKE_PREFIX_PATH=${BUILD}/src/package"
  -DWEFT_EXPECTED_VERSION=${VERSION} -DWEFT_EXPECT_MARL=OFF)
run(${CMAKE_COMMAND} --build ${WORK}/consumer_of_build --target io_consumer)
run(${WORK}/consumer_of_build/io_consumer)

run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/installed)
file(RENAME ${WORK}/installed "${prefix}")

# What is installed: every public header, what these include, and each of marl's where its target leads.
execute_process(COMMAND ${PYTHON} ${ROOT}/tests/layers.py ${ROOT} --reached
  OUTPUT_VARIABLE reached OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
string(REPLACE "\n" ";" reached "${reached}")
list(TRANSFORM reached REPLACE "^include/" "")
list(FILTER reached EXCLUDE REGEX "^weft/mpi[./]")  # weft::mpi is not built here
file(GLOB_RECURSE expected RELATIVE ${ROOT}/include/compat ${ROOT}/include/compat/*.h)
list(TRANSFORM expected PREPEND weft/compat/)
list(APPEND expected ${reached})
file(GLOB_RECURSE actual RELATIVE "${prefix}/include" "${prefix}/include/*")
list(SORT expected)
list(SORT actual)
if(NOT actual STREQUAL expected)
  message(FATAL_ERROR "installed are ${actual}\nand not ${expected}")
endif()
foreach(header IN LISTS actual)
  file(READ "${prefix}/include/${header}" text)
  if(text MATCHES "class OSFiber[^;]|struct OSFiber[^;]")
    message(FATAL_ERROR "${header} defines OSFiber")
  endif()
  if(text MATCHES "#include \"(weft/)?[a-z_]*(worker|core|fiber_control_block|osfiber)\\.h\"")
    message(FATAL_ERROR "${header} includes ${CMAKE_MATCH_0}")
  endif()
endforeach()

foreach(module IN ITEMS weft.cppm weft_io.cppm)
  if(NOT EXISTS "${prefix}/share/weft/module/${module}")
    message(FATAL_ERROR "${module} is not installed")
  endif()
endforeach()

# The commands for debuggers.
foreach(script IN ITEMS weft_common.py weft_objects.py weft-gdb.py weft_lldb.py weft_lldb_fibers.py)
  if(NOT EXISTS "${prefix}/share/weft/debuggers/${script}")
    message(FATAL_ERROR "${script} is not installed")
  endif()
endforeach()

# gdb loads them with the shared library, from a folder that it trusts. A static library needs `source`.
file(GLOB_RECURSE loader "${prefix}/lib*/*-gdb.py")
if(SHARED)
  file(GLOB_RECURSE library "${prefix}/lib*/libweft.so")
  file(REAL_PATH "${library}" library)
  if(NOT loader STREQUAL "${library}-gdb.py")
    message(FATAL_ERROR "gdb looks for ${library}-gdb.py, and not for '${loader}'")
  endif()
  find_program(gdb gdb)
  if(gdb)
    execute_process(
      COMMAND ${gdb} -nx -batch -iex "add-auto-load-safe-path ${prefix}" ${library} -ex "help weft fibers"
      OUTPUT_VARIABLE help ERROR_VARIABLE help)
    if(NOT help MATCHES "List the fibers" AND NOT help MATCHES "Python scripting is not supported")
      message(FATAL_ERROR "gdb does not load its commands with the library: ${help}")
    endif()
  endif()
elseif(loader)
  message(FATAL_ERROR "gdb finds no ${loader}")
endif()

# The program `weft`, which a project that has weft as a subdirectory does not get.
if(NOT SHARED)
  run("${prefix}/bin/weft" --version)
elseif(EXISTS "${prefix}/bin")
  message(FATAL_ERROR "a subdirectory's installation has programs")
endif()

# find_package
run(${CMAKE_COMMAND} -S ${ROOT}/tests/consumer/installed -B ${WORK}/consumer ${OPTIONS} "-DCMAKE_PREFIX_PATH=${prefix}"
  -DWEFT_EXPECTED_VERSION=${VERSION} -DWEFT_EXPECT_MARL=${SHARED})
run(${CMAKE_COMMAND} --build ${WORK}/consumer)
set(programs consumer io_consumer marl_consumer marl_consumer_by_its_name)
if(SHARED)
  list(APPEND programs marl_consumer_plain)
endif()
foreach(program IN LISTS programs)
  run(${WORK}/consumer/${program})
endforeach()

# pkg-config
find_program(pkgConfig NAMES pkg-config pkgconf)
if(NOT pkgConfig)
  message(FATAL_ERROR "There is no pkg-config to try the installed files with: apt-get install -y pkgconf")
endif()
file(GLOB_RECURSE pcFile "${prefix}/weft.pc")
cmake_path(GET pcFile PARENT_PATH pcFolder)
set(ENV{PKG_CONFIG_PATH} ${pcFolder})
# In the shared library's own folder, so that a program finds it there.
set(ENV{LD_LIBRARY_PATH} "${prefix}/lib:$ENV{LD_LIBRARY_PATH}")

function(build_by_pkg_config package program)
  execute_process(COMMAND ${pkgConfig} --cflags --libs ${package} OUTPUT_VARIABLE flags COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND ${pkgConfig} --modversion ${package} OUTPUT_VARIABLE version
    OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  if(NOT version STREQUAL VERSION)
    message(FATAL_ERROR "${package} says that it is ${version}, not ${VERSION}")
  endif()
  separate_arguments(flags UNIX_COMMAND "${flags}")
  list(TRANSFORM ARGN PREPEND ${ROOT}/tests/consumer/ OUTPUT_VARIABLE sources)
  run(${COMPILER} -std=c++20 -o ${WORK}/${program} ${sources} ${flags})
  run(${WORK}/${program})
endfunction()

build_by_pkg_config(weft by_pkg_config main.cpp crew.cpp)
build_by_pkg_config(weft-io io_by_pkg_config io_main.cpp)
build_by_pkg_config(weft-marl marl_by_pkg_config marl_main.cpp)
