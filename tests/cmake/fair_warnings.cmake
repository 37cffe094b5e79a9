# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

# Checks that what only co_await makes happen warns without it, that tasks which are taken back cannot be forgotten, and that the
# body of a CoroTask cannot be replaced:
#   cmake -DCOMPILER=g++ -DINCLUDE=<root>/include -DWORK=<dir> -P this

# Checks that `body` gives `numErrors` errors, which match `expected`.
function(check body numErrors expected)
  file(WRITE ${WORK}/fair.cpp "
#include <chrono>
#include <weft/fair/coro.h>
namespace fair = weft::fair;
fair::Coro<int> one() { co_return 1; }
fair::Coro<> use(fair::TaskScheduler& scheduler, fair::CoroTask& task) {
  (void)scheduler;
  (void)task;
  ${body}
  co_return;
}
")
  execute_process(COMMAND ${COMPILER} -std=c++20 -Wall -Werror -fsyntax-only -I${INCLUDE} ${WORK}/fair.cpp
    RESULT_VARIABLE result ERROR_VARIABLE messages)
  string(REGEX MATCHALL "error: [^\n]*${expected}" errors "${messages}")
  list(LENGTH errors count)
  if(NOT count EQUAL numErrors OR (numErrors EQUAL 0 AND NOT result EQUAL 0))
    message(SEND_ERROR "should be ${numErrors} errors \"${expected}\":\n${body}\n${messages}")
  endif()
endfunction()

set(second "std::chrono::seconds(1)")
check("co_await fair::yield(); co_await fair::delay(${second}); co_await fair::wait(); co_await fair::receiveSignal();
  co_await fair::moveTo(scheduler); if (co_await fair::signalFor(${second})) co_return;" 0 "")
check("fair::yield(); fair::delay(${second}); fair::deadline({}); fair::wait(); fair::signalFor(${second}); fair::signalUntil({});
  fair::receiveSignal(); fair::moveTo(scheduler); fair::self();" 9 "nothing happens without co_await")
check("one(); scheduler.takeBack();" 2 "nodiscard")
check("task.setCallback([] {});" 1 "deleted")
