# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

# Makes Debian's packages of a shared weft, unpacks them into a folder, and builds and runs the consumer with what lies there:
#   cmake -DROOT=<weft> -DWORK=<dir> -DCOMPILER=<c++> -DVERSION=<of weft> "-DOPTIONS=<arguments of cmake>" -P this

include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

find_program(dpkg dpkg-deb)
find_program(shlibdeps dpkg-shlibdeps)
find_program(pkgConfig NAMES pkg-config pkgconf)
if(NOT dpkg OR NOT shlibdeps OR NOT pkgConfig)
  message("the system lacks what makes Debian's packages: apt-get install -y dpkg-dev pkgconf")
  return()
endif()

function(expect what actual expected)
  if(NOT actual MATCHES "${expected}")
    message(FATAL_ERROR "${what} is '${actual}', not '${expected}'")
  endif()
endfunction()

# field(package name result): a field of a package's description.
function(field package name result)
  execute_process(COMMAND ${dpkg} --field ${WORK}/build/${package} ${name} OUTPUT_VARIABLE text
    OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
run(${CMAKE_COMMAND} -S ${ROOT} -B ${WORK}/build ${OPTIONS} -DCMAKE_INSTALL_PREFIX=/usr -DBUILD_SHARED_LIBS=ON
  -DWEFT_BUILD_TESTS=OFF -DWEFT_BUILD_EXAMPLES=OFF -DWEFT_BUILD_BENCHMARKS=OFF)
run(${CMAKE_COMMAND} --build ${WORK}/build)
execute_process(COMMAND ${CMAKE_CPACK_COMMAND} -G DEB WORKING_DIRECTORY ${WORK}/build COMMAND_ERROR_IS_FATAL ANY)

# Which packages there are, and what they need.
file(GLOB packages RELATIVE ${WORK}/build ${WORK}/build/*.deb)
string(REGEX REPLACE "^([0-9]+\\.[0-9]+).*" "\\1" soVersion ${VERSION})
expect("the list of packages" "${packages}"
  "^libweft-dev_${VERSION}_[a-z0-9]+\\.deb;libweft${soVersion}_${VERSION}_[a-z0-9]+\\.deb;weft-doc_${VERSION}_all\\.deb;weft-tools_${VERSION}_[a-z0-9]+\\.deb$")
list(GET packages 0 dev)
list(GET packages 1 library)
list(GET packages 3 tools)
field(${dev} Depends depends)
expect("what libweft-dev depends on" "${depends}" "^libweft${soVersion} \\(= ${VERSION}\\)$")
field(${library} Depends depends)
expect("what the library depends on" "${depends}" "libc6 .*libstdc\\+\\+6 ")
field(${tools} Depends depends)
expect("what weft-tools depends on" "${depends}" "libc6 .*libstdc\\+\\+6 ")
find_program(lintian lintian)
if(lintian)
  list(TRANSFORM packages PREPEND ${WORK}/build/ OUTPUT_VARIABLE paths)
  run(${lintian} --allow-root --fail-on error --tag-display-limit 0 ${paths})
else()
  message(STATUS "no lintian looks at the packages: apt-get install -y lintian")
endif()

foreach(package IN LISTS packages)
  run(${dpkg} --extract ${WORK}/build/${package} ${WORK}/root)
endforeach()
run(${WORK}/root/usr/bin/weft --version)
foreach(page IN ITEMS README.md docs/install.md docs/llms.txt examples/CMakeLists.txt changelog.gz copyright)
  if(NOT EXISTS ${WORK}/root/usr/share/doc/weft-doc/${page})
    message(FATAL_ERROR "weft-doc has no ${page}")
  endif()
endforeach()
if(EXISTS ${WORK}/root/usr/share/doc/weft-doc/docs/site)
  message(FATAL_ERROR "weft-doc has the scripts that make the site")
endif()
file(GLOB_RECURSE loader ${WORK}/root/usr/share/gdb/auto-load/usr/lib*/libweft.so.${VERSION}-gdb.py)
if(NOT loader)
  message(FATAL_ERROR "gdb would not find its commands")
endif()

# find_package
run(${CMAKE_COMMAND} -S ${ROOT}/tests/consumer/installed -B ${WORK}/consumer ${OPTIONS} -DCMAKE_PREFIX_PATH=${WORK}/root/usr
  -DWEFT_EXPECTED_VERSION=${VERSION} -DWEFT_EXPECT_MARL=OFF)
run(${CMAKE_COMMAND} --build ${WORK}/consumer --target io_consumer)
run(${WORK}/consumer/io_consumer)

# pkg-config
file(GLOB_RECURSE pcFile ${WORK}/root/usr/lib*/weft-io.pc)
cmake_path(GET pcFile PARENT_PATH pcFolder)
cmake_path(GET pcFolder PARENT_PATH libFolder)
set(ENV{PKG_CONFIG_PATH} ${pcFolder})
set(ENV{LD_LIBRARY_PATH} ${libFolder}:$ENV{LD_LIBRARY_PATH})
execute_process(COMMAND ${pkgConfig} --cflags --libs weft-io OUTPUT_VARIABLE flags COMMAND_ERROR_IS_FATAL ANY)
separate_arguments(flags UNIX_COMMAND "${flags}")
run(${COMPILER} -std=c++20 -o ${WORK}/by_pkg_config ${ROOT}/tests/consumer/io_main.cpp ${flags})
run(${WORK}/by_pkg_config)
