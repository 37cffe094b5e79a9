# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

# Shared libraries that contain weft, and programs with and without weft, in one process, whatever the visibility that their
# flags give and whatever the dynamic linker makes one for all of them:
#   cmake -DINCLUDE=<weft's headers> -DWORK=<dir> -DCOMPILER=<c++> -DLIBRARY=<libweft.a> -DPLUGIN=<a plugin that CMake links> -P this
# It also checks that code that is compiled with other settings, or for another version, does not link.

file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
set(sources ${CMAKE_CURRENT_LIST_DIR}/../copies)
set(compile ${COMPILER} -std=c++20 -O1 -Wall -Wextra -Werror)
set(system -lpthread -ldl)
set(shared -fPIC -shared -Wl,-z,now)

function(run)
  execute_process(COMMAND ${ARGN} TIMEOUT 120 COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# A weft of another version: headers and a library whose namespace is called otherwise.
function(make_version version)
  file(COPY ${INCLUDE} DESTINATION ${WORK}/${version})
  configure_file(${LIBRARY} ${WORK}/${version}/libweft.a COPYONLY)
  run(find ${WORK}/${version}/include -name "*.h" -exec sed -i "s/inline v0_1/inline ${version}/" {} +)
  run(sed -i "s/4v0_1/4${version}/g" ${WORK}/${version}/libweft.a)
endfunction()

make_version(v9_1)
make_version(v9_2)
run(${compile} -I${INCLUDE} ${shared} ${sources}/plugin.cpp ${LIBRARY} ${system} -o ${WORK}/shown.so)
configure_file(${WORK}/shown.so ${WORK}/shown_too.so COPYONLY)
configure_file(${PLUGIN} ${WORK}/plugin.so COPYONLY)
run(${compile} -I${INCLUDE} ${shared} -fvisibility=hidden ${sources}/plugin.cpp ${LIBRARY} ${system} -o ${WORK}/hidden.so)
foreach(version IN ITEMS v9_1 v9_2)
  run(${compile} -I${WORK}/${version}/include -DVERSION=${version} ${shared} ${sources}/plugin.cpp ${WORK}/${version}/libweft.a ${system}
    -o ${WORK}/${version}.so)
endforeach()
run(${compile} ${sources}/host.cpp -ldl -o ${WORK}/without)
run(${compile} -I${INCLUDE} -DWITH_WEFT -c ${sources}/host.cpp -o ${WORK}/with.o)
run(${COMPILER} ${WORK}/with.o ${LIBRARY} ${system} -o ${WORK}/with)
run(${COMPILER} ${WORK}/with.o -rdynamic ${LIBRARY} ${system} -o ${WORK}/with_and_shows)
run(${COMPILER} ${WORK}/with.o -Wl,--no-as-needed ${WORK}/shown.so ${LIBRARY} ${system} -o ${WORK}/with_and_linked)
run(${COMPILER} -shared -Wl,--whole-archive ${LIBRARY} -Wl,--no-whole-archive ${system} -o ${WORK}/libweft_shared.so)
run(${COMPILER} ${WORK}/with.o -L${WORK} -lweft_shared -Wl,-rpath,${WORK} ${system} -o ${WORK}/with_a_shared_one)

foreach(host IN ITEMS without with with_and_shows with_and_linked with_a_shared_one)
  foreach(scope IN ITEMS local global lazy)
    foreach(others IN ITEMS "shown;shown_too" "shown;hidden" "hidden;shown" "hidden;v9_1" "v9_1;shown" "plugin;shown")
      list(TRANSFORM others REPLACE "(.+)" "${WORK}/\\1.so")
      run(${WORK}/${host} ${scope} same ${others})
    endforeach()
    run(${WORK}/${host} ${scope} other ${WORK}/v9_1.so ${WORK}/v9_2.so)
  endforeach()
  foreach(others IN ITEMS "shown;shown_too" "v9_1;v9_2")
    list(TRANSFORM others REPLACE "(.+)" "${WORK}/\\1.so")
    execute_process(COMMAND ${WORK}/${host} local overflow ${others} TIMEOUT 120 RESULT_VARIABLE result ERROR_VARIABLE error)
    if(result EQUAL 0 OR NOT error MATCHES "weft: fatal: [^\n]*overflow")
      message(FATAL_ERROR "${host} with ${others} should tell of the overflow: ${result}\n${error}")
    endif()
  endforeach()
endforeach()

# expect_no_link(<what the linker misses> <arguments of the compiler>...)
function(expect_no_link expected)
  execute_process(COMMAND ${compile} ${ARGN} ${sources}/plugin.cpp -fPIC -shared -Wl,-z,defs ${LIBRARY} ${system} -o ${WORK}/unfit
    RESULT_VARIABLE result ERROR_VARIABLE error)
  if(result EQUAL 0 OR NOT error MATCHES "${expected}")
    message(FATAL_ERROR "What is compiled with ${ARGN} should miss ${expected}: ${result}\n${error}")
  endif()
endfunction()

expect_no_link(libraryIsCompiledWith_GLIBCXX_DEBUG -I${INCLUDE} -D_GLIBCXX_DEBUG)
expect_no_link(libraryIsCompiledWith_fsanitize_address -I${INCLUDE} -fsanitize=address)
expect_no_link(libraryIsCompiledWith_fsanitize_thread -I${INCLUDE} -fsanitize=thread)
expect_no_link("weft::v9_1::" -I${WORK}/v9_1/include)
