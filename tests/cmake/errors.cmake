# Copyright 2026 The weft Authors
# SPDX-License-Identifier: Apache-2.0

# Checks that mistakes with futures, executors, parallel algorithms and select() get one error each, which says what to write;
# that results which must not be dropped are not; that nobody but weft makes a TaskHandle; that a program may name its own
# default executor; and that assigning a moved Ticket, as programs for marl do, gives no warning:
#   cmake -DCOMPILER=g++ -DINCLUDE=<root>/include -DWORK=<dir> -P this

set(program "
#include <utility>
#include <weft/executor.h>
struct Own { void schedule(weft::TaskHandle task) const { task.run(); } };
inline const Own own;
#define WEFT_DEFAULT_EXECUTOR own
#include <atomic>
#include <list>
#include <memory>
#include <stdexcept>
#include <vector>
#include <weft/barrier.h>
#include <weft/blockingcall.h>
#include <weft/conditionvariable.h>
#include <weft/dag.h>
#include <weft/fair/coro.h>
#include <weft/fair/on_ready.h>
#include <weft/fair/task.h>
#include <weft/fair/task_scheduler.h>
#include <weft/fiberlocal.h>
#include <weft/finally.h>
#include <weft/future.h>
#include <weft/future/on_ready.h>
#include <weft/io/select.h>
#include <weft/join.h>
#include <weft/on_lock.h>
#include <weft/once.h>
#include <weft/parallel.h>
#include <weft/parallelize.h>
#include <weft/pollsource.h>
#include <weft/pool.h>
#include <weft/ticket.h>
#include <weft/waitgroup.h>
#include <weft/workerlocal.h>
#include <weft/recursivemutex.h>
#include <weft/scheduler.h>
#include <weft/select.h>
#include <weft/sharedmutex.h>
#include <weft/sleep.h>
#include <weft/taskgroup.h>
struct None { void schedule(int); } none;
inline const std::stop_token token;
inline std::vector<int> numbers(3);
inline weft::Channel<std::unique_ptr<int>> channel;
void use(weft::Future<int> a, weft::Future<int> b, weft::SharedMutex& shared, weft::mutex& mutex) { BODY }
")
# The macro is to be defined before anything of weft.
string(REPLACE "#include <weft/executor.h>
" "namespace weft::inline v0_1 { class TaskHandle; }
" program "${program}")
string(REPLACE "{ void schedule(weft::TaskHandle task) const { task.run(); } };" "{ void schedule(weft::TaskHandle task) const; };"
  program "${program}")

set(warnings -Wall -Werror=unused-result -Werror=pessimizing-move)
include(${CMAKE_CURRENT_LIST_DIR}/one_error.cmake)

set(notImplicit "what is sent must be a T, or convert to one implicitly")
check("(void)channel.trySend(new int(1));" "${notImplicit}")
check("int* const raw = nullptr; channel.send(raw);" "${notImplicit}")
check("(void)channel.send(static_cast<int*>(nullptr), token);" "${notImplicit}")
check("weft::Channel<std::vector<int>>(1).send(5);" "${notImplicit}")
check("weft::Channel<std::vector<int>>(1).send({5});" OK)
check("channel.send(nullptr); channel.send(std::make_unique<int>(1));" OK)
set(noExecutor "the first argument is no executor: .*schedule\\(weft::TaskHandle\\)")
check("(void)weft::async(own, [] { return 1; });" OK)
check("static_assert(std::is_same_v<decltype(weft::defaultExecutor()), const Own&>); (void)weft::async([] {});" OK)
check("(void)weft::async(none, [] { return 1; });" "${noExecutor}")
check("(void)weft::async(3, [] { return 1; });" "${noExecutor}")
check("(void)weft::async(none, [] { return 1; }).get();" "${noExecutor}")
check("(void)weft::async(none, std::stop_token(), [] { return 1; });" "${noExecutor}")
check("(void)weft::makeReadyFuture(1).then(none, [](int) {});" "${noExecutor}")
check("(void)weft::makeReadyFuture(1).then([](void*) {});" "f can be called with neither the value, nor the future, nor nothing")
set(takesError "f can be called neither with a std::exception_ptr nor with nothing")
check("(void)std::move(a).recover([](int) { return 1; });" "${takesError}")
check("(void)std::move(a).onError([](std::exception_ptr&) {});" "${takesError}")
set(takesPlace "f takes the place of the task, so it must return what converts to the future's type")
foreach(result IN ITEMS "none" "" "weft::makeReadyFuture()" "weft::makeReadyFuture(1.5)")
  check("(void)std::move(a).recover([] { return ${result}; });" "${takesPlace}")
endforeach()
check("(void)weft::Future<const int&>().recover([] { return 1; });" "${takesPlace}")
check("(void)std::move(a).recover([] { return 1.5; }); (void)std::move(b).recover([](const std::exception_ptr&) { return 1; });" OK)
check("(void)std::move(a).onError([] { return weft::makeReadyFuture(); });" "onError.f. does not wait for a future that f returns")
check("(void)std::move(a).recover(none, [] { return 1; });" "${noExecutor}")
check("(void)weft::SharedFuture<std::unique_ptr<int>>().onError([] {});" "copy the value, and a value of this type cannot be copied")
check("weft::TaskHandle task(static_cast<weft::detail::TaskNode*>(nullptr));" "private")

set(moves "whenAll\\(\\), whenAny\\(\\) and firstSuccess\\(\\) take futures over. Write whenAll\\(std::move")
check("(void)weft::whenAll(a, std::move(b)).get();" "${moves}")
check("(void)weft::whenAny(a, b);" "${moves}")
check("(void)weft::whenAny(std::stop_source(), a);" "${moves}")
check("(void)weft::firstSuccess(a, std::move(b));" "${moves}")
check("std::stop_source stop; (void)weft::firstSuccess(stop, std::move(a), b.share()); (void)weft::whenAll(stop);" OK)
check("(void)weft::firstSuccess();" "without arguments does not know the type of its result")
check("(void)weft::firstSuccess(std::move(a), weft::makeReadyFuture(1.5));" "firstSuccess.. takes futures of one type")
check("auto shared1 = a.share(), shared2 = shared1; (void)weft::whenAll(shared1, shared2, std::move(b));" OK)
check("(void)a.then(token, [](int) {});" "then\\(\\) takes no stop token. Write then\\(\\[token\\]")
set(arguments "async\\(\\) and then\\(\\) take no arguments for the function")
check("(void)weft::async([](int x) { return x; }, 3);" "${arguments}")
check("(void)a.then([](int x) { return x; }, 3);" "${arguments}")
foreach(begin IN ITEMS "" "token, " "own, " "own, token, ")
  check("(void)weft::async(${begin}[](int, long) {}, 3, 4L).get();" "${arguments}")
endforeach()
foreach(begin IN ITEMS "token" "own" "own, token" "[](std::stop_token, auto, int) {}, token")
  check("(void)weft::async(${begin}, [](int x) { return x; }, 3);" "${arguments}")
endforeach()
check("(void)weft::async([](std::stop_token, int) {}, token, 3);" "${arguments}")
check("(void)weft::async(own, {}, [] {}); (void)weft::async(own, token, [](std::stop_token) {});" OK)
set(called "f cannot be called without arguments")
check("(void)weft::async([](int x) { return x; });" "${called}")
check("(void)weft::async(token, [](int x) { return x; });" "${called}")
check("(void)weft::async(own, token, [](int x) { return x; });" "${called}")
check("(void)weft::async(own, [](std::stop_token) {});" "${called}")
check("(void)weft::async(own, token, [](std::stop_token) {});" OK)
set(exceptionObject "take a std::exception_ptr, or an object whose class derives from std::exception")
check("weft::Promise<int>().set_exception(1);" "${exceptionObject}")
check("(void)weft::makeExceptionalFuture<int>(1);" "${exceptionObject}")
set(typeless "Write makeExceptionalFuture<T>.error.")
check("(void)weft::makeExceptionalFuture(std::runtime_error(nullptr));" "${typeless}")
check("(void)weft::makeExceptionalFuture(std::exception_ptr());" "${typeless}")
check("(void)weft::makeExceptionalFuture<std::exception_ptr>(std::exception_ptr());" OK)
set(oneValue "takes one value that converts to T by itself, or none if T is void")
foreach(call IN ITEMS "<int>().set_value(nullptr)" "<int>().set_value()" "<void>().set_value(1)" "<int>().set_value(1, 2)"
    "<std::vector<int>>().set_value(3)" "<int&>().set_value(3)")
  check("weft::Promise${call};" "${oneValue}")
endforeach()
check("weft::Promise<std::vector<int>>().set_value({3, 4}); weft::Promise<void>().set_value();" OK)
set(whole "take no reference to an exception, of which only the part that the type names would be copied")
set(failure "std::runtime_error failure(nullptr); const std::exception& base = failure;")
check("${failure} weft::Promise<int>().set_exception(base);" "${whole}")
check("${failure} weft::Promise<int>().set_exception(failure);" "${whole}")
check("${failure} (void)weft::makeExceptionalFuture<int>(base);" "${whole}")
check("weft::Promise<int>().set_exception(std::runtime_error(nullptr)); weft::Promise<int>().set_exception(std::exception_ptr());" OK)
set(immovable "this type cannot be moved. Write a std::unique_ptr to it, made by std::make_unique")
set(make "[] { return std::atomic<int>(); }")
foreach(call IN ITEMS "(void)weft::async(${make})" "(void)weft::async(own, token, ${make})" "(void)a.then(${make})"
    "auto value = weft::blocking_call(${make})" "auto values = weft::join([] {}, ${make})"
    "weft::Promise<std::atomic<int>>().set_value(1)" "(void)weft::Future<std::atomic<int>>().get()"
    "(void)[]() -> weft::fair::Coro<Fixed> { co_return Fixed(); }()"
    "weft::Promise<Fixed>().set_value(Fixed())" "(void)weft::makeReadyFuture(Fixed())")
  check("struct Fixed { Fixed() = default; Fixed(Fixed&&) = delete; }; ${call};" "${immovable}")
endforeach()
check("weft::TaskGroup().run(${make}); weft::schedule(${make}); weft::parallelInvoke([] {}, ${make});" OK)
set(temporary "Promise<const T&>::set_value\\(\\) got a temporary, or makes one by a conversion")
check("weft::Promise<const int&>().set_value(1);" "${temporary}")
check("weft::Promise<const long&>().set_value(numbers[0]);" "${temporary}")
check("weft::Promise<const std::vector<int>&>().set_value(std::vector<int>());" "${temporary}")
check("weft::Promise<const int&>().set_value(numbers[0]); weft::Promise<int&>().set_value(numbers[0]);" OK)
check("weft::Promise<const int&>().set_value(std::cref(numbers[0])); weft::Promise<const int&>().set_value(std::ref(numbers[0]));" OK)
check("weft::Promise<const std::exception&> promise; std::runtime_error error(nullptr); promise.set_value(error);" OK)
check("weft::Promise<const int>().set_value(1); weft::Promise<long>().set_value(1);" OK)
set(receives "the handler takes a std::optional, which is empty")
check("weft::select(weft::onReceive(channel, [](std::unique_ptr<int>) {}));" "${receives}")
check("weft::select(weft::onReceive(channel, [] {}));" "${receives}")
check("weft::select(weft::onReceive(channel));" "onReceive.channel, handler. needs a handler")
check("weft::select(weft::onReceive(channel, [](std::optional<std::unique_ptr<int>>) {}));" OK)

set(noPartitioner "parallelSort\\(\\), parallelStableSort\\(\\) and parallelMerge\\(\\) take no partitioner")
check("weft::parallelSort(weft::autoPartitioner(numbers, 2));" "${noPartitioner}")
check("weft::parallelStableSort(weft::staticPartitioner(numbers));" "${noPartitioner}")
set(randomAccess "parallelSort\\(\\) and parallelStableSort\\(\\) need random-access iterators")
check("std::list<int> list; weft::parallelSort(list);" "${randomAccess}")
check("weft::parallelStableSort(weft::irange(0, 3));" "${randomAccess}")
set(ends "a range that begins with a number ends with one")
check("weft::parallelFor(0, numbers.end(), [](int) {});" "${ends}")
check("weft::parallelFor(numbers.begin(), 3, [](int) {});" "${ends}")

foreach(call IN ITEMS mutex.try_lock shared.try_lock shared.try_lock_shared channel.receive channel.tryReceive)
  check("${call}();" "nodiscard|unused")
endforeach()
check("(void)mutex.try_lock(); (void)shared.lock(token); (void)channel.receive(); (void)channel.trySend(nullptr);" OK)
check("shared.lock(token);" "nodiscard|unused")
check("weft::RecursiveMutex().try_lock_for(std::chrono::hours(1));" "nodiscard|unused")
check("channel.trySend(nullptr);" "nodiscard|unused")
check("channel.send(nullptr, token);" "nodiscard|unused")
check("channel.send(nullptr);" OK)
check("a.share();" "nodiscard|unused")

check("weft::schedule([](int) {});" "schedule.f, args....: f cannot be called with these arguments")
check("weft::schedule([](int) {}, token);" "schedule.f, args....: f cannot be called with these arguments")
check("weft::schedule(3);" "schedule.f, args....: f cannot be called with these arguments")
check("weft::scheduleMany(numbers);" "an element cannot be called without arguments")
check("std::vector<weft::Task> tasks; weft::scheduleMany(tasks);" "a Task cannot be copied from the range. Pass std::move..")
check("std::vector<weft::Task> tasks; weft::scheduleMany(std::move(tasks));" OK)
check("auto f = [p = std::make_unique<int>(1)] {}; weft::schedule(f);" "schedule.. keeps copies")
check("weft::schedule([](int, std::unique_ptr<int>) {}, 1, std::make_unique<int>(1));" OK)
check("weft::TaskGroup().run([](int) {});" "TaskGroup::run.f. and tryRun.f.: f can be called neither")
check("weft::join([] {}, [](int) {});" "join.f, g, ....: one of the functions cannot be called without arguments")
check("weft::join(3, [] {});" "join.f, g, ....: one of the functions cannot be called without arguments")

set(keeps "weft keeps a copy of this function, which cannot be copied. Write std::move.f.")
foreach(call IN ITEMS "weft::TaskGroup().run" "(void)weft::async" "(void)a.then" "weft::Task task" "weft::fair::Task task"
    "weft::Ticket::Queue().take().onCall" "weft::DAGBuilder<void>().root().then" "weft::fair::Task([] {}).setCallback"
    "weft::Scheduler(weft::Scheduler::Config()).enqueue" "weft::fair::TaskScheduler(\"\").postOneShot"
    "(void)weft::make_finally" "(void)weft::make_shared_finally" "(void)weft::serialStage" "(void)weft::parallelStage")
  check("auto f = [p = std::make_unique<int>(1)] {}; ${call}(f);" "${keeps}")
endforeach()

check("weft::parallelInvoke([] {}, [](int) {});" "parallelInvoke.f, g, ....: one of the functions cannot be called")
check("weft::parallelInvoke(none, [] {});" "no member function schedule.weft::TaskHandle")
check("weft::parallelize([] {}, [](int) {});" "parallelize.f, g, ....: one of the functions cannot be called")
check("weft::blocking_call([](int) {});" "blocking_call.f, args....: f cannot be called")
check("weft::Ticket::Queue().take().onCall([](int) {});" "Ticket::onCall.f.: f cannot be called")
check("weft::Ticket::Queue().take(3, [](int) {});" "Ticket::Queue::take.count, f.: f is const and is called with each Ticket")
check("weft::Ticket::Queue().take(3, [](const weft::Ticket&) {});" OK)
set(borrows "borrow.count, f.: f is const and is called with each Loan. Write borrow.count")
check("weft::UnboundedPool<int>().borrow(3, [](int) {});" "${borrows}")
check("weft::BoundedPool<int, 3>().borrow(3, [](weft::Loan<int>&) {});" "${borrows}")
check("weft::BoundedPool<int, 3>().borrow(3, [](weft::Loan<int>&&) {});" OK)
set(ofOnce "Once::call.f, args....: f cannot be called with these arguments. Write once.call")
foreach(arguments IN ITEMS "[](int) {}" "[] {}, 1" "5" "token, [](int) {}" "token, 5")
  check("weft::Once().call(${arguments});" "${ofOnce}")
endforeach()
check("weft::Once().call([](int) {}, 1); weft::Once().call(token, [](int) {}, 1); weft::Once().call({}, [] {});" OK)
set(condition "call f.. without arguments, and it returns whether the condition is true. Write wait.lock")
set(second "std::chrono::seconds(1)")
set(now "std::chrono::system_clock::now()")
foreach(call IN ITEMS "wait(lock" "wait(lock, token" "wait_for(lock, ${second}" "wait_for(lock, token, ${second}"
    "wait_until(lock, ${now}" "wait_until(lock, token, ${now}")
  set(condition_of "weft::lock lock(mutex); (void)weft::ConditionVariable().${call}")
  check("${condition_of}, [](int) { return true; });" "${condition}")
  check("${condition_of}, [] {});" "${condition}")
  check("${condition_of}, 5);" "${condition}")
  check("${condition_of}, [] { return std::optional<int>(); });" OK)
endforeach()
check("(void)weft::make_finally([](int) {});" "make_finally.f.: f cannot be called without arguments")
check("struct F { ~F() noexcept(false) {} void operator()() {} }; (void)weft::make_finally(F()), (void)weft::make_shared_finally(F());" OK)
check("struct F { F() = default; F(F&&) = delete; }; *weft::FiberLocal<F>(), *weft::FiberLocal<F>([] { return F(); });" OK)
set(local "struct F { explicit F(int) {} }; weft::FiberLocal<F> local")
check("${local};" "T has no default constructor, so say how the value is made. Write weft::FiberLocal<T> local")
check("${local}([] { return F(1); }); std::function<F()> f = [] { return F(1); }; weft::FiberLocal<F> other(f);" OK)
foreach(initializer IN ITEMS 5 "F(1)" "[](int) { return F(1); }" "[] { return 1; }" "[p = std::unique_ptr<int>()] { return F(1); }")
  check("${local}(${initializer});" "weft::FiberLocal<T>.f.: f can be copied, is called without arguments, and returns a T")
endforeach()
set(local "struct F { explicit F(int) {} }; weft::WorkerLocal<F> local")
check("${local};" "T has no default constructor, so say how the value is made. Write weft::WorkerLocal<T> values")
check("${local}([] { return F(1); }); local.combine(F(0), [](F sum, const F&) { return sum; });" OK)
foreach(factory IN ITEMS 5 "F(1)" "[](int) { return F(1); }" "[] { return 1; }" "[p = std::unique_ptr<int>()] { return F(1); }")
  check("${local}(${factory});" "weft::WorkerLocal<T>.f.: f can be copied, is called without arguments, and returns a T")
endforeach()
foreach(op IN ITEMS "[](F) { return F(0); }" "[](F, F&) { return F(0); }" "[](F, const F&) {}")
  check("${local}([] { return F(1); }); local.combine(F(0), ${op});" "combine.init, op.: op takes a T and a const T&, and returns a T")
endforeach()
check("${local}([] { return F(1); }); local.forEach([](int*) {});" "WorkerLocal<T>::forEach.f.: f is called with a T&")
check("weft::Barrier barrier(3, [](int) {});" "weft::Barrier.expected, f.: f cannot be called without arguments")
check("weft::DAGBuilder<int>().root().then([] {});" "the function of a node of a DAG<T> is called with the T")
check("weft::DAGBuilder<int> builder; builder.choice([] {}, {builder.root()});" "the function of a node of a DAG<T> is called with the T")
check("weft::DAGBuilder<int> builder; builder.choice([](int) { return 0.5; }, {builder.root()});" "DAGBuilder::choice.function, among. returns an integer")

set(noUnit "sleep_for.duration.: a number does not say its unit")
check("weft::sleep_for(5);" "${noUnit}")
check("(void)weft::sleep_for(0.5, token);" "${noUnit}")
check("weft::sleep_for(${second}); (void)weft::sleep_for(${second}, token);" OK)
set(isTime "the time is a duration, such as std::chrono::milliseconds")
check("weft::select(weft::onTimeout(5));" "${isTime}")
check("weft::select(weft::onTimeout([] {}, std::chrono::milliseconds(5)));" "${isTime}")
check("weft::select(weft::onTimeout(std::chrono::system_clock::now(), [] {}));" "${isTime}")
check("weft::select(weft::onTimeout(std::chrono::hours(1)), weft::onTimeout(std::chrono::steady_clock::now(), [] {}));" OK)
set(handler "the handler of this case of select.. cannot be called without arguments")
check("weft::select(weft::onTimeout(std::chrono::hours(1), [](int) {}));" "${handler}")
check("weft::select(weft::onSend(channel, nullptr, [](int) {}));" "${handler}")
check("weft::select(weft::otherwise([](int) {}));" "${handler}")
set(permit "onAcquire.semaphore, handler.: the handler takes the permit, or nothing")
check("weft::select(weft::onAcquire(weft::Semaphore(1), [](int) {}));" "${permit}")
check("weft::select(weft::onAcquire(weft::Semaphore(1), [](weft::Semaphore::Permit&) {}));" "${permit}")
check("weft::select(weft::onAcquire(weft::Semaphore(1), [](auto) {}), weft::onAcquire(weft::Semaphore(1), [] {}));" OK)
check("weft::select(weft::onLock(shared, [] {}));" "onLock.mutex, handler.: the first argument is a weft::mutex")
check("weft::select(weft::onLock(weft::mutex(), [] {}));" "refers to the mutex, which must live until select.. has returned")
check("weft::select(weft::onLock(std::as_const(mutex), [] {}));" "a variable that is not const")
check("weft::select(weft::onLock(mutex, [](int) {}));" "the handler takes the lock, or nothing")
check("weft::select(weft::onLock(mutex, [](auto) {}), weft::onLock(mutex), weft::onLock(mutex, [] {}));" OK)
check("weft::select(weft::onReady(5, [] {}));" "onReady.future, handler.: the first argument is a Future or a SharedFuture")
check("weft::select(weft::onReady(std::move(a), [] {}));" "refers to the future, which must live until select.. has returned")
check("weft::select(weft::onReady(a, [](weft::Future<int>) {}));" "the handler takes the future by reference, or nothing")
check("weft::select(weft::onReady(a, [](auto& it) { it.get(); }), weft::onReady(b), weft::onReady(b, [] {}));" OK)
check("weft::select(weft::io::onReadable(0, [](int) {}));" "${handler}")
check("weft::select(weft::io::onReadable(0, [] {}), weft::io::onWritable(0));" OK)
set(exit "weft::io::Process process; weft::select(weft::io::onExit(process")
check("${exit}, [](weft::io::Exit&) {}));" "onExit.process, handler.: the handler takes how the program ended, or nothing")
check("${exit}, [](weft::io::Exit) {}), weft::io::onExit(process), weft::io::onExit(process, [] {}));" OK)
check("weft::select(weft::io::onExit(weft::io::Process()));" "refers to the Process, which must live until select.. has returned")
check("weft::select(weft::io::onExit(5));" "onExit.process, handler.: the first argument is a weft::io::Process")
set(next "weft::io::Signals signals; weft::select(weft::io::onNext(signals")
check("${next}, [](int) {}));" "onNext.signals, handler.: the handler takes the signal, or nothing")
check("${next}, [](weft::io::SignalInfo) {}), weft::io::onNext(signals), weft::io::onNext(signals, [] {}));" OK)
check("weft::select(weft::io::onNext(weft::io::Signals()));" "refers to the Signals, which must live until select.. has returned")
check("const weft::io::Signals signals; weft::select(weft::io::onNext(signals));" "the first argument is a weft::io::Signals, not const")
check("weft::fair::Task task; weft::select(weft::onReady(task));" "only a fair::CoroTask knows when it ends")
set(coroutine "auto body = []() -> weft::fair::Coro<> { co_return; }; weft::fair::CoroTask task(body())")
check("${coroutine}; weft::select(weft::onReady(std::move(task)));" "refers to the task, which must live until select.. has returned")
check("${coroutine}; weft::select(weft::onReady(std::as_const(task)));" "a variable that is not const")
check("${coroutine}; weft::select(weft::onReady(task, [](int) {}));" "the handler takes the task by reference, or nothing")
check("${coroutine}; weft::select(weft::onReady(task, [](auto& it) { it.wait(); }), weft::onReady(task));" OK)
set(asked "the test is called as bool.Handle&., which returns whether the request is done")
check("weft::PollSource<int> source([](std::string) { return true; });" "${asked}")
check("weft::PollSource<int> source([](int&) {});" "${asked}")
check("weft::PollSource<int> source([](int) { return true; }); weft::PollSource<int> batch([](weft::PollBatch<int>& ints) { ints.setDone(0); });" OK)
set(source "weft::PollSource<int> source([](int&) { return true; }); int request = 0; weft::select(weft::onDone(source, request")
check("${source}, [](int*) {}));" "onDone.source, handle, handler.: the handler takes the handle by reference, or nothing")
check("${source}, [](int&) {}), weft::onDone(source, request), weft::onDone(source, request, [] {}));" OK)
check("weft::select(channel, [](int) {});" "weft::select.. takes cases that are made in its call")
check("const std::vector<weft::AnyCase> cases; weft::select(cases);" "takes one list of AnyCase, which is not const")
check("std::vector<weft::AnyCase> cases; cases.push_back(weft::onStop(token)); weft::select(cases);" OK)

set(others "take a range of futures: this one has other elements")
check("(void)weft::whenAll(numbers);" "${others}")
check("(void)weft::whenAny(numbers.begin(), numbers.end());" "${others}")
set(noFuture "take futures, or one range of futures: here is an argument of another type")
check("(void)weft::whenAll(std::move(a), 3);" "${noFuture}")
check("(void)weft::whenAny(3);" "${noFuture}")
check("std::vector<weft::Future<int>> more; (void)weft::whenAll(std::move(a), more);" "${noFuture}")
check("std::vector<weft::Future<int>> more; (void)weft::whenAny(more, std::move(more));" "${noFuture}")
check("(void)weft::whenAll(); (void)weft::whenAny(weft::makeReadyFuture(), weft::makeReadyFuture(3));" OK)
set(fromConst "move futures out of the range, and cannot do so where it is const")
check("(void)weft::whenAll(std::initializer_list<weft::Future<int>>{});" "${fromConst}")
check("const std::vector<weft::SharedFuture<int>> shares; (void)weft::whenAll(shares);" OK)

# What programs for marl write, with clang's warnings.
check("weft::Ticket::Queue queue; weft::Ticket ticket; ticket = std::move(queue.take()); ticket = queue.take();" OK)
