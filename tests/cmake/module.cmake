# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

# Compiles the modules `weft` and `weft.io`, and a program that imports them, and runs it. The modules export each public name:
#   cmake -DROOT=<weft> -DWORK=<dir> -DCOMPILER=<clang++ 19> -DPYTHON=<python3> "-DLIBRARIES=<of weft::io, weft, and what these need>" -P this

include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
set(compile ${COMPILER} -std=c++20 -pthread -Wall -Wextra -Wpedantic -Werror -fprebuilt-module-path=${WORK})
set(headers -I${ROOT}/include)

foreach(module IN ITEMS weft weft.io)
  string(REPLACE "." "_" file ${module})
  run(${compile} ${headers} --precompile ${ROOT}/src/package/module/${file}.cppm -o ${module}.pcm)
  run(${compile} -c ${module}.pcm -o ${module}.o)
endforeach()
run(${compile} ${headers} ${ROOT}/tests/consumer/module_main.cpp weft.o weft.io.o ${LIBRARIES} -o module_main)
run(./module_main)
run(${PYTHON} ${ROOT}/tests/module_names.py ${ROOT} ${COMPILER} ${WORK})
