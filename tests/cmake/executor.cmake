# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

# Checks that a type that is no executor gets one error, which says what is wrong, that nobody but weft makes a TaskHandle, and
# that a program may name its own default executor:
#   cmake -DCOMPILER=g++ -DINCLUDE=<root>/include -DWORK=<dir> -P this

set(program "
#include <utility>
#include <weft/executor.h>
struct Own { void schedule(weft::TaskHandle task) const { task.run(); } };
inline const Own own;
#define WEFT_DEFAULT_EXECUTOR own
#include <weft/future.h>
struct None { void schedule(int); } none;
void use() { BODY }
")
# The macro is to be defined before anything of weft.
string(REPLACE "#include <weft/executor.h>
" "namespace weft { class TaskHandle; }
" program "${program}")
string(REPLACE "{ void schedule(weft::TaskHandle task) const { task.run(); } };" "{ void schedule(weft::TaskHandle task) const; };"
  program "${program}")

function(check body expected)
  string(REPLACE BODY "${body}" code "${program}")
  file(WRITE ${WORK}/executor.cpp "${code}")
  execute_process(COMMAND ${COMPILER} -std=c++20 -fsyntax-only -I${INCLUDE} ${WORK}/executor.cpp
    RESULT_VARIABLE result ERROR_VARIABLE messages)
  if(expected STREQUAL OK)
    if(NOT result EQUAL 0)
      message(SEND_ERROR "does not compile:\n${body}\n${messages}")
    endif()
    return()
  endif()
  string(REGEX MATCHALL "error: [^\n]*" errors "${messages}")
  list(LENGTH errors count)
  if(result EQUAL 0 OR NOT errors MATCHES "${expected}" OR count GREATER 1)
    message(SEND_ERROR "should be the one error \"${expected}\":\n${body}\n${messages}")
  endif()
endfunction()

set(noExecutor "the first argument is no executor: .*schedule\\(weft::TaskHandle\\)")
check("(void)weft::async(own, [] { return 1; });" OK)
check("static_assert(std::is_same_v<decltype(weft::defaultExecutor()), const Own&>); (void)weft::async([] {});" OK)
check("weft::async(none, [] { return 1; });" "${noExecutor}")
check("weft::async(3, [] { return 1; });" "${noExecutor}")
check("(void)weft::async(none, [] { return 1; }).get();" "${noExecutor}")
check("(void)weft::async(none, std::stop_token(), [] { return 1; });" "${noExecutor}")
check("(void)weft::makeReadyFuture(1).then(none, [](int) {});" "${noExecutor}")
check("(void)weft::makeReadyFuture(1).then([](void*) {});" "f can be called with neither the value, nor the future, nor nothing")
check("weft::TaskHandle task(static_cast<weft::detail::TaskNode*>(nullptr));" "private")
