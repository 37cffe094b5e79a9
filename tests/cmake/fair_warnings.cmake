# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

# Checks that what only co_await makes happen warns without it, that tasks which are taken back cannot be forgotten, that the
# body of a CoroTask cannot be replaced, and that other mistakes with weft::fair get one error each, which says what to write:
#   cmake -DCOMPILER=g++ -DINCLUDE=<root>/include -DWORK=<dir> -P this

include(${CMAKE_CURRENT_LIST_DIR}/precompile.cmake)
set(options -std=c++20 -Wall -Werror -I${INCLUDE})
precompile(common "
#include <chrono>
#include <coroutine>
#include <vector>
#include <weft/event.h>
#include <weft/fair/bridge.h>
#include <weft/fair/coro.h>
#include <weft/latch.h>
#include <weft/waitgroup.h>
namespace fair = weft::fair;
fair::Coro<int> one() { co_return 1; }
struct Foreign {
  bool await_ready() { return false; }
  void await_suspend(std::coroutine_handle<>) {}
  int await_resume() { return 1; }
};
struct Wrapped { auto operator co_await() { return fair::yield(); } };
struct Lasting { auto operator co_await() const { return Foreign(); } };
struct Object { void step(fair::Task*) {} void other(int) {} } object;
" ${options})

# Checks that `body` gives `numErrors` errors, and no others, which match `expected`.
function(check body numErrors expected)
  file(WRITE ${WORK}/fair.cpp "
fair::Coro<> use(fair::TaskScheduler& scheduler, fair::CoroTask& task) {
  (void)scheduler;
  (void)task;
  ${body}
  co_return;
}
")
  execute_process(COMMAND ${COMPILER} ${options} -fsyntax-only -include ${WORK}/common.h ${WORK}/fair.cpp
    RESULT_VARIABLE result ERROR_VARIABLE messages)
  string(REPLACE ";" "," messages "${messages}")
  string(REGEX MATCHALL "error: [^\n]*${expected}" errors "${messages}")
  list(LENGTH errors count)
  string(REGEX MATCHALL "error: " all "${messages}")
  list(LENGTH all countAll)
  if(NOT count EQUAL numErrors OR NOT countAll EQUAL numErrors OR (numErrors EQUAL 0 AND NOT result EQUAL 0))
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

set(awaits "a fair::Coro can co_await another fair::Coro, and fair::yield")
check("co_await Wrapped(); Wrapped lasting; co_await lasting; co_await std::suspend_never(); auto kept = one(); co_await kept;" 0 "")
check("int i = co_await Foreign(); (void)i;" 1 "${awaits}")
check("Foreign kept; co_await kept;" 1 "${awaits}")
check("co_await Lasting();" 1 "${awaits}")
check("co_await std::suspend_always();" 1 "${awaits}")
check("co_await 5;" 1 "${awaits}")
set(returns "co_return in a fair::Coro<T>: the value does not become a T by itself. Write co_return T")
check("(void)+[]() -> fair::Coro<std::vector<int>> { co_return 5; };" 1 "${returns}")
check("(void)+[]() -> fair::Coro<std::vector<int>> { co_return {5, 6}; };
  (void)+[]() -> fair::Coro<double> { co_return 5; };" 0 "")

set(calls "fair::Task.f.: f can be called neither with a weft::fair::Task. nor without arguments. Write")
check("fair::Task wrong([](int) {});" 1 "${calls}")
check("fair::Task wrong(5);" 1 "${calls}")
check("fair::Task given; given.setCallback([](int) {});" 1 "${calls}")
check("fair::Task wrong(&object, &Object::other);" 1 "the method is none of the object's that takes a weft::fair::Task. or nothing")
check("fair::Task good(&object, &Object::step); good.setCallback([](fair::Task*) {}); good.setCallback([] {});" 0 "")
check("scheduler.postOneShot([](int) {});" 1 "postOneShot.f.: f cannot be called without arguments")

set(signal "(void)fair::signalAfter")
set(waits "signalAfter.source, scheduler, .task.: the source has no wait... Give it an Event")
check("${signal}(5, scheduler, &task);" 1 "${waits}")
check("${signal}(object, scheduler, &task);" 1 "${waits}")
set(address "the last argument is the address of a fair::Task")
foreach(arguments IN ITEMS "scheduler, task" "scheduler, &object" "&scheduler, &task" "task, scheduler"
    "scheduler, static_cast<const fair::Task*>(nullptr)" "std::move(scheduler), &task")
  check("weft::Event event; ${signal}(event, ${arguments});" 1 "${address}")
  check("weft::Future<int> future; ${signal}(future, ${arguments});" 1 "${address}")
endforeach()
set(lives "a source that can be neither copied nor moved is referred to, and this one is a temporary")
check("${signal}(weft::Latch(1), scheduler, &task);" 1 "${lives}")
check("weft::Latch latch(1); ${signal}(std::move(latch), scheduler, &task);" 1 "${lives}")
check("weft::Latch latch(1); ${signal}(latch, scheduler, &task); ${signal}(weft::WaitGroup(), scheduler, &task);
  weft::Event event; ${signal}(event, scheduler, &task); ${signal}(weft::Future<int>(), scheduler, &task);" 0 "")
