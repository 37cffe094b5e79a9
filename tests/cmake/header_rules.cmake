# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

# Checks that none of weft's headers names or drags in what is inside the library, that none includes less without exceptions, that
# none but defer.h brings a macro but weft's own, that each header says what language it needs and compiles after macros of
# weft's names, and that marl/scheduler.h includes what it promises to:
#   cmake -DCOMPILER=g++ -DINCLUDE=<root>/include -DWORK=<dir> -P this

file(GLOB_RECURSE headers RELATIVE ${INCLUDE} ${INCLUDE}/weft/*.h)
file(GLOB marlHeaders RELATIVE ${INCLUDE}/compat ${INCLUDE}/compat/marl/*.h)
list(FILTER headers EXCLUDE REGEX "_inl\\.h$")  # the second half of another header
include(${CMAKE_CURRENT_LIST_DIR}/without_missing.cmake)
if(NOT headers OR NOT marlHeaders)
  message(FATAL_ERROR "no headers in ${INCLUDE}")
endif()

# Fails when `header` includes, directly or not, a header of weft whose path matches `forbidden`.
function(forbid header forbidden)
  file(WRITE ${WORK}/alone.cpp "#include <${header}>\n")
  execute_process(COMMAND ${COMPILER} -std=c++20 -M -I${INCLUDE} ${WORK}/alone.cpp
    RESULT_VARIABLE result OUTPUT_VARIABLE dependencies)
  if(NOT result EQUAL 0 OR dependencies MATCHES "weft/[a-z_/]*(${forbidden})[a-z_]*\\.h")
    message(SEND_ERROR "<${header}> drags in ${CMAKE_MATCH_0}:\n${dependencies}")
  endif()
endfunction()

# expect_told(header expected option...): fails unless the first error of a program that is compiled so is `expected`, and only
# weft's own sentences follow.
function(expect_told header expected)
  file(WRITE ${WORK}/alone.cpp "#include <${header}>\n")
  execute_process(
    COMMAND ${COMPILER} ${ARGN} -fsyntax-only -I${INCLUDE} -I${INCLUDE}/compat ${WORK}/alone.cpp
    RESULT_VARIABLE result ERROR_VARIABLE messages)
  string(FIND "${messages}" "error: " first)
  string(SUBSTRING "${messages}" ${first} 120 firstMessage)
  if(result EQUAL 0 OR NOT firstMessage MATCHES "${expected}")
    message(SEND_ERROR "<${header}> with ${ARGN} does not say first that \"${expected}\":\n${messages}")
  endif()
  string(REPLACE ";" "," messages "${messages}")
  string(REGEX MATCHALL "error: [^\n]*" errors "${messages}")
  list(FILTER errors EXCLUDE REGEX "^error: (#error )?[\"']?weft")
  if(errors)
    message(SEND_ERROR "<${header}> with ${ARGN} says more than what is missing:\n${messages}")
  endif()
endfunction()
set(needsLanguage "weft('s marl headers)? needs? C..20. Compile with -std=c..20")
set(unknownProcessor "weft does not know this processor: it lacks a switch of fibers")
expect_told(weft/weft.h "${unknownProcessor}" -std=c++20 -U__x86_64__)
expect_told(weft/weft.h "${unknownProcessor}" -std=c++20 -D__ILP32__)
expect_told(weft/weft.h "weft does not know this system: it needs Linux" -std=c++20 -U__linux__)
file(WRITE ${WORK}/old_library/version "#include_next <version>\n#undef __cpp_lib_jthread\n")
file(WRITE ${WORK}/old_library/stop_token "")
expect_told(weft/mutex.h "weft needs std::stop_token: libstdc.. 11, libc.. 20, or libc.. 18 with" -std=c++20 -I${WORK}/old_library)
if(COMPILER MATCHES "clang")
  expect_told(weft/weft.h "weft: -fsanitize=safe-stack does not work with fibers" -std=c++20 -fsanitize=safe-stack)
endif()

foreach(header IN LISTS headers)
  file(STRINGS ${INCLUDE}/${header} internal REGEX "OSFiber")
  if(internal)
    message(SEND_ERROR "<${header}> names OSFiber, which is the library's own")
  endif()
endforeach()

# What is between an #if about exceptions or run-time type information and its #endif. (Such do not nest.)
foreach(header IN LISTS headers)
  file(READ ${INCLUDE}/${header} text)
  string(REPLACE ";" "," text "${text}")
  string(REGEX REPLACE "#endif" ";" sections "${text}")
  foreach(section IN LISTS sections)
    if(section MATCHES "#(if|elif)[^\n]*(EXCEPTIONS|__cpp_exceptions|RTTI|__cpp_rtti)[^\n]*\n(.*\n)?[ ]*#[ ]*include")
      message(SEND_ERROR "<${header}> includes more or less where there are no exceptions:\n${CMAKE_MATCH_0}")
    endif()
  endforeach()
endforeach()

foreach(header IN LISTS headers marlHeaders)
  if(NOT header MATCHES "/detail/")
    expect_told(${header} "${needsLanguage}" -std=c++17)
  endif()
endforeach()

foreach(header IN ITEMS waitgroup event mutex conditionvariable semaphore ticket blockingcall dag pool defer finally)
  forbid(weft/${header}.h "scheduler|worker|stealing_deque")
endforeach()

# Each public header hides macros of weft's names while it is read.
set(includes "#include \"${CMAKE_CURRENT_LIST_DIR}/hostile_macros.h\"\n")
foreach(header IN LISTS headers marlHeaders)
  if(header MATCHES "/detail/")
    continue()
  endif()
  string(APPEND includes "#include <${header}>\n")
  if(header MATCHES "^weft/" AND NOT header STREQUAL "weft/weft.h")
    file(READ ${INCLUDE}/${header} text)
    if(NOT text MATCHES "language.h\"\n#include \"weft/detail/base/macros_begin.h\"\n.*\n#include \"weft/detail/base/macros_end.h\"\n$")
      message(SEND_ERROR "<${header}> does not begin with macros_begin.h, after language.h, and end with macros_end.h")
    endif()
  endif()
endforeach()
file(WRITE ${WORK}/hostile.cpp "${includes}static_assert(None == 0L && max(2, 1) == 2);\nint main() {}\n")
execute_process(COMMAND ${COMPILER} -std=c++20 -fsyntax-only -I${INCLUDE} -I${INCLUDE}/compat ${WORK}/hostile.cpp
  RESULT_VARIABLE result ERROR_VARIABLE messages)
if(NOT result EQUAL 0)
  message(SEND_ERROR "a macro of another library gets into a header:\n${messages}")
endif()

# Programs may ask for more warnings than weft itself.
set(warnings -Wall -Wextra -Wconversion -Wsign-conversion -Werror)
if(NOT COMPILER MATCHES "clang")
  list(APPEND warnings -Wuseless-cast)
endif()
file(WRITE ${WORK}/strict.cpp "#include <weft/weft.h>
struct Open { explicit operator bool() const { return true; } };
int main() {
  weft::BoundedPool<int, 4> bounded;
  weft::UnboundedPool<int> unbounded;
  weft::Channel<int> channel(2);
  weft::TaskGroup group;
  group.run([&] { channel.send(*bounded.borrow() + *unbounded.borrow()); });
  group.wait();
  WEFT_ASSERT(channel.size() == 1, \"%d\", 1);
  WEFT_ASSERT(Open(), \"explicit\");
  WEFT_DCHECK(Open(), \"explicit\");
  return weft::async([] { return 0; }).get();
}
")
execute_process(COMMAND ${COMPILER} -std=c++20 -fsyntax-only ${warnings} -I${INCLUDE} ${WORK}/strict.cpp
  RESULT_VARIABLE result ERROR_VARIABLE messages)
if(NOT result EQUAL 0)
  message(SEND_ERROR "a header gives warnings:\n${messages}")
endif()

# A header of the program may use a Channel before another one includes <weft/select.h>.
file(WRITE ${WORK}/late_select.cpp "#include <weft/channel.h>
inline weft::Channel<int> numbers(1);
#include <weft/select.h>
int main() {
  const int number = 1;
  weft::select(weft::onSend(numbers, number), weft::onReceive(numbers, [](std::optional<int>) {}));
}
")
execute_process(COMMAND ${COMPILER} -std=c++20 -fsyntax-only -I${INCLUDE} ${WORK}/late_select.cpp
  RESULT_VARIABLE result ERROR_VARIABLE messages)
if(NOT result EQUAL 0)
  message(SEND_ERROR "<weft/select.h> does not compile where a Channel was used before:\n${messages}")
endif()

# No header but <weft/defer.h> brings a macro without the prefix: it would change whatever else has that name.
set(includes)
foreach(header IN LISTS headers)
  if(NOT header STREQUAL "weft/defer.h")
    string(APPEND includes "#include <${header}>\n")
  endif()
endforeach()
file(WRITE ${WORK}/all.cpp "${includes}")
execute_process(COMMAND ${COMPILER} -std=c++20 -E -dM -I${INCLUDE} -o ${WORK}/all.macros ${WORK}/all.cpp
  COMMAND_ERROR_IS_FATAL ANY)
file(GLOB_RECURSE texts ${INCLUDE}/weft/*.h)
foreach(text IN LISTS texts)
  file(STRINGS ${text} definitions REGEX "^ *# *define +[A-Za-z_]+")
  foreach(definition IN LISTS definitions)
    string(REGEX REPLACE "^ *# *define +([A-Za-z_0-9]+).*" "\\1" name "${definition}")
    if(NOT name MATCHES "^WEFT_")
      file(STRINGS ${WORK}/all.macros leaked REGEX "^#define ${name}([ (]|$)")
      if(leaked)
        message(SEND_ERROR "a header other than <weft/defer.h> brings the macro ${name}, of ${text}")
      endif()
    endif()
  endforeach()
endforeach()

# What docs/marl_compatibility.md says of marl/scheduler.h: programs for marl leave these out.
file(WRITE ${WORK}/alone.cpp "#include <marl/scheduler.h>\n")
execute_process(COMMAND ${COMPILER} -std=c++20 -M -I${INCLUDE} -I${INCLUDE}/compat ${WORK}/alone.cpp
  OUTPUT_VARIABLE dependencies COMMAND_ERROR_IS_FATAL ANY)
foreach(header IN ITEMS array atomic chrono condition_variable functional memory mutex thread)
  if(NOT dependencies MATCHES "/c[+][+]/[0-9v.]+/${header}[ \n]")
    message(SEND_ERROR "<marl/scheduler.h> includes no <${header}>")
  endif()
endforeach()
