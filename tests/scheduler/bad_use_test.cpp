// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <unwind.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <weft/barrier.h>
#include <weft/blockingcall.h>
#include <weft/channel.h>
#include <weft/conditionvariable.h>
#include <weft/containers.h>
#include <weft/dag.h>
#include <weft/event.h>
#include <weft/join.h>
#include <weft/memory.h>
#include <weft/mutex.h>
#include <weft/once.h>
#include <weft/pool.h>
#include <weft/recursivemutex.h>
#include <weft/scheduler.h>
#include <weft/semaphore.h>
#include <weft/sharedmutex.h>
#include <weft/sleep.h>
#include <weft/taskgroup.h>
#include <weft/thread.h>
#include <weft/waitgroup.h>

#include "children.h"
#include "next_function.h"
#include "waiting.h"

// What wrong use of schedulers, fibers and tasks gets, in release builds too: a message that says what, where
// and how to mend it, and the end of the program; and what a system gets that refuses memory or threads.

// The system's calls, which fail from call `failFrom` on. The runtimes of sanitizers have replacements of
// their own.
#define WEFT_CALLS_CAN_FAIL (!WEFT_ADDRESS_SANITIZER_ENABLED && !WEFT_THREAD_SANITIZER_ENABLED)

namespace {
struct FailingCall {
  std::atomic<int> numCalls{0};
  std::atomic<int> failFrom{std::numeric_limits<int>::max()};
  std::atomic<int> failUntil{std::numeric_limits<int>::max()};
  bool fails() {
    const int call = numCalls++;
    return call >= failFrom && call < failUntil;
  }
  void failAt(int call, int count = 1) {
    numCalls = 0;
    failUntil = call + count;
    failFrom = call;
  }
  void failNoMore() { failFrom = std::numeric_limits<int>::max(); }
};
constinit FailingCall threadCalls, mapCalls;
}  // namespace

#if WEFT_CALLS_CAN_FAIL
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*entry)(void*),
                              void* argument) noexcept {
  static const auto real = weft::tests::nextFunction<decltype(pthread_create)>("pthread_create");
  return threadCalls.fails() ? EAGAIN : real(thread, attributes, entry, argument);
}

extern "C" void* mmap(void* address, size_t length, int protection, int flags, int file,
                      off_t offset) noexcept {
  static const auto real = weft::tests::nextFunction<decltype(mmap)>("mmap");
  if (mapCalls.fails()) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  return real(address, length, protection, flags, file, offset);
}
#endif

namespace weft {
namespace {

using tests::smallConfig;

class BadUseTest : public tests::WithAllocator {
 protected:
  // Death tests run in a process of their own, without the threads of this one.
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};
using BadUseDeathTest = BadUseTest;

TEST_F(BadUseDeathTest, SchedulingWithNothingBound) {
  EXPECT_DEATH(schedule([] {}),
               "weft: fatal: schedule\\(\\) was called on a thread to which no scheduler is bound.*Did you "
               "forget to call "
               "marl::Scheduler::bind");
}

// Not with the path of the machine that built the library.
TEST_F(BadUseDeathTest, MessagesNameASourceAsItIsCalledInTheProject) {
  EXPECT_DEATH(schedule([] {}), "\n  at weft/src/scheduler/core/scheduler\\.cpp:[0-9]+");
}

TEST_F(BadUseDeathTest, EnqueueingFromAnUnboundThreadWhereThereAreNoWorkers) {
  EXPECT_DEATH(
      {
        Scheduler scheduler(smallConfig(0));
        scheduler.enqueue(Task([] {}));
      },
      "weft: fatal: Scheduler::enqueue.*no worker threads.*setWorkerThreadCount");
}

TEST_F(BadUseDeathTest, EnqueueingFromAnUnboundThreadForTheSameThread) {
  EXPECT_DEATH(
      {
        Scheduler scheduler(smallConfig(1));
        scheduler.enqueue(Task([] {}, Task::Flags::SameThread));
      },
      "weft: fatal: Scheduler::enqueue.*a SameThread task was given by a thread that is not bound");
}

TEST_F(BadUseDeathTest, BindingTwice) {
  EXPECT_DEATH(
      {
        Scheduler scheduler(smallConfig(0));
        scheduler.bind();
        scheduler.bind();
      },
      "weft: fatal: Scheduler::bind.*this scheduler is bound to this thread already.*unbind");
}

TEST_F(BadUseDeathTest, BindingWhatIsBoundToAnother) {
  EXPECT_DEATH(
      {
        Scheduler first(smallConfig(0));
        Scheduler second(smallConfig(0));
        first.bind();
        second.bind();
      },
      "weft: fatal: Scheduler::bind.*another scheduler is bound to this thread already.*unbind");
}

TEST_F(BadUseDeathTest, BindingInsideATask) {
  EXPECT_DEATH(
      {
        Scheduler scheduler(smallConfig(1));
        Event done;
        scheduler.enqueue(Task([&] { scheduler.bind(); }));
        done.wait();
      },
      "weft: fatal: Scheduler::bind.*this scheduler is bound to this thread already");
}

// A thread locks what it has locked. `before` is called before the first time, `between` before the second.
void expectMessagesOfLockingTwice(void (*before)(Scheduler&), void (*between)(Scheduler&)) {
  const auto lockTwice = [&](auto& guard) WEFT_NO_THREAD_SAFETY_ANALYSIS {
    tests::endWithTheTest();
    Scheduler scheduler(smallConfig(1));
    before(scheduler);
    guard.lock();
    between(scheduler);
    guard.lock();
  };
  mutex plain;
  EXPECT_DEATH(lockTwice(plain), "weft: fatal: mutex .* was locked by the fiber or thread that holds it");
  SharedMutex shared;
  EXPECT_DEATH(lockTwice(shared), "weft: fatal: SharedMutex .* was locked by the fiber or thread that holds");
  EXPECT_DEATH(
      {
        tests::endWithTheTest();
        Once once;
        Scheduler scheduler(smallConfig(1));
        before(scheduler);
        once.call([&] {
          between(scheduler);
          once.call([] {});
        });
      },
      "weft: fatal: Once .*: call\\(\\) was called within the function that it calls");
}

// The code of a binding is part of what the thread runs, which waits for it.
TEST_F(BadUseDeathTest, LockingWhatTheThreadHasLockedBeforeItWasBound) {
  expectMessagesOfLockingTwice([](Scheduler&) {}, [](Scheduler& scheduler) { scheduler.bind(); });
}

TEST_F(BadUseDeathTest, LockingWhatTheThreadHasLockedWhileItWasBound) {
  expectMessagesOfLockingTwice([](Scheduler& scheduler) { scheduler.bind(); },
                               [](Scheduler&) { Scheduler::unbind(); });
}

TEST_F(BadUseTest, AThreadKeepsItsLocksWhenItBindsAndUnbinds) {
  const auto lockAndUnlock = [&](auto& beforeBind, auto& whileBound) WEFT_NO_THREAD_SAFETY_ANALYSIS {
    Scheduler scheduler(smallConfig(1, allocator()));
    beforeBind.lock();
    scheduler.bind();
    whileBound.lock();
    beforeBind.unlock();
    Scheduler::unbind();
    whileBound.unlock();
    for (auto* guard : {&beforeBind, &whileBound}) {
      EXPECT_TRUE(guard->try_lock());
      guard->unlock();
    }
  };
  mutex plain[2];
  lockAndUnlock(plain[0], plain[1]);
  SharedMutex shared[2];
  lockAndUnlock(shared[0], shared[1]);
  RecursiveMutex recursive;
  lockAndUnlock(recursive, recursive);
}

// Where the thread's own code goes on without a binding, the lock may come free.
TEST_F(BadUseTest, ATaskMayWaitForALockThatItsThreadHadBeforeItWasBound) {
  Scheduler scheduler(smallConfig(1, allocator()));
  mutex guard;
  guard.lock();
  WaitGroup done(1);
  {
    Scheduler::Binding binding(scheduler);
    schedule([&, done] {
      guard.lock();
      guard.unlock();
      done.done();
    });
  }
  guard.unlock();
  done.wait();
}

TEST_F(BadUseDeathTest, ReturningFromAFunctionOfJoinInAChildOfFork) {
  EXPECT_DEATH(
      {
        tests::endWithTheTest();
        Scheduler scheduler(smallConfig(1));
        Scheduler::Binding binding(scheduler);
        join(
            [] {
              if (fork() != 0) {
                wait(nullptr);
                std::abort();
              }
            },
            [] {});
      },
      "weft: fatal: the end of join\\(\\) was called in a child of fork\\(\\)");
}

TEST_F(BadUseDeathTest, UnbindingWhatIsNotBound) {
  EXPECT_DEATH(Scheduler::unbind(),
               "weft: fatal: Scheduler::unbind\\(\\) was called on a thread to which no scheduler is bound");
}

TEST_F(BadUseDeathTest, UnbindingInsideATask) {
  EXPECT_DEATH(
      {
        Scheduler scheduler(smallConfig(0));
        Scheduler::Binding binding(scheduler);
        schedule([] { Scheduler::unbind(); });
      },
      "weft: fatal: Scheduler::unbind\\(\\) was called inside a task");
  EXPECT_DEATH(
      {
        Scheduler scheduler(smallConfig(1));
        scheduler.enqueue(Task([] { Scheduler::unbind(); }));
      },
      "weft: fatal: Scheduler::unbind\\(\\) was called inside a task");
}

TEST_F(BadUseDeathTest, EndingAThreadThatIsBound) {
  EXPECT_DEATH(
      {
        Scheduler scheduler(smallConfig(0));
        std::thread([&] { scheduler.bind(); }).join();
      },
      "weft: fatal: a thread ended while a scheduler was bound to it.*unbind");
}

TEST_F(BadUseDeathTest, AbsurdWorkerCounts) {
  for (const int count : {-1, 4097, std::numeric_limits<int>::min(), std::numeric_limits<int>::max()}) {
    EXPECT_DEATH(Scheduler scheduler(smallConfig(count)),
                 "weft: fatal: Scheduler: " + std::to_string(count) +
                     " worker threads make no sense; from 0 to 4096 do");
  }
}

TEST_F(BadUseDeathTest, AbsurdTimesToSearch) {
  for (const std::chrono::nanoseconds time :
       {std::chrono::nanoseconds(-1), std::chrono::nanoseconds(1'000'000'001),
        std::chrono::nanoseconds::max()}) {
    EXPECT_DEATH(Scheduler scheduler(Scheduler::Config().setIdleSearch(time)),
                 "weft: fatal: Scheduler: Config::idleSearch of " + std::to_string(time.count()) +
                     " ns makes no sense; from 0 to a second does");
  }
}

TEST_F(BadUseDeathTest, AbsurdStackSizes) {
  for (const size_t size :
       {size_t{0}, size_t{1}, size_t{4095}, (size_t{1} << 31) + 1, std::numeric_limits<size_t>::max()}) {
    EXPECT_DEATH(Scheduler scheduler(Scheduler::Config().setFiberStackSize(size)),
                 "weft: fatal: Scheduler: fiber stacks of " + std::to_string(size) +
                     " bytes make no sense; from 4096 to");
  }
}

TEST_F(BadUseDeathTest, ANullAllocator) {
  EXPECT_DEATH(Scheduler scheduler(Scheduler::Config().setAllocator(nullptr)),
               "weft: fatal: Scheduler: Config::allocator is null");
  const auto expectDeath = [](const std::string& what, const auto& make) {
    EXPECT_DEATH(make(), "weft: fatal: " + what + ": the allocator is null\\. Leave it at Allocator::Default")
        << what;
  };
  Allocator* const none = nullptr;
  expectDeath("a Channel", [&] { const Channel<int> channel(1, none); });
  expectDeath("a Semaphore", [&] { const Semaphore semaphore(1, none); });
  expectDeath("a WaitGroup", [&] { const WaitGroup group(0, none); });
  expectDeath("an Event", [&] { const Event event(Event::Mode::Auto, false, none); });
  expectDeath("BoundedPool", [&] { const BoundedPool<int, 2> pool(none); });
  expectDeath("UnboundedPool", [&] { const UnboundedPool<int> pool(none); });
  expectDeath("DAGBuilder", [&] { const DAG<>::Builder builder(none); });
  expectDeath("DAG::run\\(\\)", [&] {
    Scheduler scheduler(smallConfig(0));
    const Scheduler::Binding binding(scheduler);
    DAG<>::Builder builder;
    builder.root().then([] {});
    builder.build()->run(none);
  });
  expectDeath("containers::vector", [&] { const containers::vector<int, 2> row(none); });
  expectDeath("containers::vector", [&] {
    const containers::vector<int, 2> row;
    const containers::vector<int, 2> copy(row, none);
  });
  expectDeath("containers::list", [&] { const containers::list<int> list(none); });
  expectDeath("StlAllocator", [&] { const containers::map<int, int> map(none); });
  expectDeath("TrackedAllocator", [&] { const TrackedAllocator tracked(none); });
  expectDeath("StlAllocator", [&] { const Thread::Affinity affinity(none); });
  expectDeath("Thread::Affinity::Policy::anyOf\\(\\)",
              [&] { (void)Thread::Affinity::Policy::anyOf(Thread::Affinity(), none); });
  expectDeath("Thread::Affinity::Policy::oneOf\\(\\)",
              [&] { (void)Thread::Affinity::Policy::oneOf(Thread::Affinity(), none); });
}

TEST_F(BadUseDeathTest, DestroyingASchedulerOnAThreadThatIsBoundToIt) {
  for (const int numWorkers : {0, 2}) {
    EXPECT_DEATH(
        {
          Scheduler scheduler(smallConfig(numWorkers));
          scheduler.bind();
        },
        "weft: fatal: ~Scheduler was called on a thread that is still bound to it.*unbind");
  }
}

TEST_F(BadUseDeathTest, DestroyingASchedulerInATaskOfIts) {
  EXPECT_DEATH(
      {
        auto scheduler = std::make_unique<Scheduler>(smallConfig(1));
        Event done;
        scheduler->enqueue(Task([&] { scheduler.reset(); }));
        done.wait();
      },
      "weft: fatal: ~Scheduler was called in a task of the scheduler.*Destroy it, or shut it down");
}

TEST_F(BadUseDeathTest, WaitingOnTheNullOfAThreadWithoutAScheduler) {
#if WEFT_ADDRESS_SANITIZER_ENABLED
  GTEST_SKIP() << "UndefinedBehaviorSanitizer reports the call on null itself";
#endif
  EXPECT_DEATH(Fiber::current()->wait(), "weft: fatal: Fiber::wait\\(\\) was called on null.*Bind one");
  EXPECT_DEATH(Fiber::current()->wait(std::chrono::steady_clock::now()),
               "weft: fatal: Fiber::wait\\(\\) was called on null.*Bind one");
  EXPECT_DEATH(Fiber::current()->yield(), "weft: fatal: Fiber::yield\\(\\) was called on null.*Bind one");
}

TEST_F(BadUseDeathTest, WaitingForAnotherFiber) {
  EXPECT_DEATH(
      {
        Scheduler scheduler(smallConfig(0));
        Scheduler::Binding binding(scheduler);
        schedule([main = Fiber::current()] { main->wait(); });
        Event().wait();
      },
      "weft: fatal: Fiber::wait\\(\\) was called on fiber 0 from elsewhere.*Fiber::current");
  EXPECT_DEATH(
      {
        Scheduler scheduler(smallConfig(0));
        scheduler.bind();
        Fiber* fiber = Fiber::current();
        std::thread([fiber] { fiber->yield(); }).join();
      },
      "weft: fatal: Fiber::yield\\(\\) was called on fiber 0 from elsewhere");
}

TEST_F(BadUseDeathTest, CallingAnEmptyTask) {
  EXPECT_DEATH(Task()(), "weft: fatal: an empty Task was called");
}

// The report comes before any frame is left.
struct EndsWellIfUnwound {
  ~EndsWellIfUnwound() { std::_Exit(0); }
};

__attribute__((noinline)) void throwFromTask() {
  const EndsWellIfUnwound local;
  throw std::runtime_error("what went wrong");
}

TEST_F(BadUseDeathTest, LettingAnExceptionEscapeFromATask) {
  EXPECT_DEATH(
      {
        Scheduler scheduler(smallConfig(1));
        scheduler.enqueue(Task([] { throwFromTask(); }));
      },
      "weft: fatal: an exception escaped from a task: std::runtime_error: what went wrong, thrown at "
      ".*throwFromTask\\(\\) \\(.+\\+0x.+\\), on fiber [0-9]+, task .*BadUse.+ \\(.+\\+0x.+\\)\\. Catch it");
  EXPECT_DEATH(
      {
        Scheduler scheduler(smallConfig(0));
        Scheduler::Binding binding(scheduler);
        schedule([] { throw "some text"; });
        Event().wait();
      },
      "weft: fatal: an exception escaped from a task: char const\\*: some text, thrown at .+, on fiber 1");
  EXPECT_DEATH(
      {
        Scheduler scheduler(smallConfig(0));
        Scheduler::Binding binding(scheduler);
        schedule([] { throw 5; });
        Event().wait();
      },
      "weft: fatal: an exception escaped from a task: int, thrown at .+, on fiber 1");
}

// Such an exception need not have set what the unwinder keeps in it.
void throwOfAnotherLanguage() {
  static _Unwind_Exception exception;
  exception.exception_class = 0x5745465445585400;
  exception.private_1 = 1;
  exception.private_2 = 1;
  _Unwind_RaiseException(&exception);
}

TEST_F(BadUseDeathTest, LettingWhatIsNoCppExceptionEscapeFromATask) {
  EXPECT_DEATH(
      {
        Scheduler scheduler(smallConfig(1));
        scheduler.enqueue(Task([] { throwOfAnotherLanguage(); }));
      },
      "weft: fatal: an exception escaped from a task: of an unknown type, on fiber [0-9]+, task .+Catch it");
  EXPECT_DEATH(
      {
        Scheduler scheduler(smallConfig(0));
        Scheduler::Binding binding(scheduler);
        schedule([] { pthread_exit(nullptr); });
        Event().wait();
      },
      "weft: fatal: an exception escaped from a task: the end of the thread, by pthread_exit\\(\\) or by its "
      "cancellation, on fiber 1");
}

struct ThrowsWhenDestroyed {
  ThrowsWhenDestroyed() = default;
  ThrowsWhenDestroyed(ThrowsWhenDestroyed&& other) noexcept : isArmed(std::exchange(other.isArmed, false)) {}
  ~ThrowsWhenDestroyed() noexcept(false) {
    if (isArmed) {
      throw std::runtime_error("what went wrong");
    }
  }
  bool isArmed = true;
};

TEST_F(BadUseDeathTest, LettingAnExceptionEscapeFromADestructorOfACapture) {
  EXPECT_DEATH(
      {
        Scheduler scheduler(smallConfig(1));
        Scheduler::Binding binding(scheduler);
        schedule([captured = ThrowsWhenDestroyed()] {});
        Event().wait();
      },
      "weft: fatal: an exception escaped from the destructor of what a task keeps: std::runtime_error: "
      "what went wrong, thrown at .+, on fiber [0-9]+, task .+Catch it");
  EXPECT_DEATH(
      {
        Scheduler scheduler(smallConfig(0));
        Scheduler::Binding binding(scheduler);
        TaskGroup group;
        group.run([captured = ThrowsWhenDestroyed()] {});
        group.wait();
      },
      "weft: fatal: an exception escaped from the destructor of what a task keeps: std::runtime_error: ");
}

TEST_F(BadUseDeathTest, LettingAnExceptionEscapeFromACompletionOfABarrier) {
  EXPECT_DEATH(
      {
        Scheduler scheduler(smallConfig(1));
        Scheduler::Binding binding(scheduler);
        schedule([] {
          Barrier barrier(1, [] { throwFromTask(); });
          barrier.arrive_and_wait();
        });
        Event().wait();
      },
      "weft: fatal: an exception escaped from the completion function of a weft::Barrier: "
      "std::runtime_error: "
      "what went wrong, thrown at .+, on fiber [0-9]+, task .+Catch it");
}

TEST_F(BadUseDeathTest, LettingAnExceptionEscapeFromAWorkersInitializer) {
  EXPECT_DEATH(Scheduler scheduler(smallConfig(1).setWorkerThreadInitializer([](int) { throwFromTask(); })),
               "weft: fatal: an exception escaped from the initializer of worker thread "
               "0.*setWorkerThreadInitializer.*: "
               "std::runtime_error: what went wrong, thrown at .+. Catch it");
}

TEST_F(BadUseDeathTest, ADeadlockThatIsCertain) {
  if (tests::kUnderTsan || tests::kIsEmulated) {
    GTEST_SKIP() << "ThreadSanitizer and qemu-user have a thread of their own in each process";
  }
  EXPECT_DEATH(
      {
        tests::endWithTheTest();
        Scheduler scheduler(smallConfig(0));
        Scheduler::Binding binding(scheduler);
        WaitGroup never(1);
        never.wait();
      },
      "the code of main thread [0-9]+ waits for WaitGroup 0x[0-9a-f]+.*\n(.*\n)*"
      "weft: fatal: deadlock: every fiber waits, no timer is set, nothing is left to run");
}

// Holds what a task needs that it waits for.
template <class Mutex>
void holdUpATask() {
  Mutex guard;
  std::unique_lock lock(guard);
  Event done;
  schedule([&guard, done] {
    std::unique_lock second(guard);
    done.signal();
  });
  done.wait();
}

TEST_F(BadUseDeathTest, ADeadlockThatIsCertainNamesEachFiberAndWhatItWaitsFor) {
  if (tests::kUnderTsan || tests::kIsEmulated) {
    GTEST_SKIP() << "ThreadSanitizer and qemu-user have a thread of their own in each process";
  }
  const auto deadlock = [](auto wait) {
    tests::endWithTheTest();
    Scheduler scheduler(smallConfig(0));
    Scheduler::Binding binding(scheduler);
    schedule([] { sleep_for(std::chrono::microseconds(10)); });
    schedule([] {});
    schedule(wait);
  };
  const std::string end = ".*, in .*: main thread [0-9]+, fiber [0-9]+, task (.*\n)*weft: fatal: deadlock";
  const std::string begin = "1 fiber waits for ";
  EXPECT_DEATH(deadlock([] { Event().wait(); }), begin + "Event" + end);
  EXPECT_DEATH(deadlock([] { Semaphore(0).acquire(); }), begin + "Semaphore" + end);
  EXPECT_DEATH(deadlock([] { Fiber::current()->wait(); }), begin + "Fiber::notify" + end);
  EXPECT_DEATH(deadlock([] {
                 mutex guard;
                 std::unique_lock lock(guard);
                 ConditionVariable condition;
                 condition.wait(lock, [] { return false; });
               }),
               begin + "ConditionVariable" + end);
  EXPECT_DEATH(deadlock(holdUpATask<mutex>), begin + "mutex" + end);
  EXPECT_DEATH(deadlock(holdUpATask<SharedMutex>), begin + "SharedMutex" + end);
  EXPECT_DEATH(deadlock(holdUpATask<RecursiveMutex>), begin + "RecursiveMutex" + end);
}

TEST_F(BadUseDeathTest, AWaitThatATimerEndsIsNoDeadlock) {
  Scheduler scheduler(smallConfig(0));
  Scheduler::Binding binding(scheduler);
  EXPECT_FALSE(Event().wait_for(std::chrono::milliseconds(1)));
}

TEST_F(BadUseDeathTest, AWaitThatAnotherThreadMayEndIsNoDeadlock) {
  Scheduler scheduler(smallConfig(0));
  Scheduler::Binding binding(scheduler);
  Event event;
  std::thread other([event] {
    tests::awaitThat([&] { return tests::numWaiting(event) == 1; });
    event.signal();
  });
  event.wait();
  other.join();
}

// The thread that wakes the last fiber ends between the worker's last look at its inbox and its look at the
// process's threads. Several processes at once, since it takes a busy machine.
TEST(CertainDeadlockTest, AThreadThatEndsRightAfterItsWakeIsNoDeadlock) {
  constexpr int kProcesses = 4;
  constexpr int kRounds = tests::kUnderTsan || tests::kUnderAsan || tests::kUnderStress ? 500 : 10'000;
  std::vector<pid_t> children;
  for (int i = 0; i < kProcesses; ++i) {
    children.push_back(fork());
    if (children.back() == 0) {
      tests::endWithTheTest();
      {
        Scheduler scheduler(smallConfig(0));
        Scheduler::Binding bound(scheduler);
        for (int round = 0; round < kRounds; ++round) {
          const Event event;
          std::thread([event] { event.signal(); }).detach();
          event.wait();
        }
      }
      _exit(7);
    }
  }
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7);
  }
}

size_t numThreads() {
  using Iterator = std::filesystem::directory_iterator;
  return static_cast<size_t>(std::distance(Iterator("/proc/self/task"), Iterator()));
}

// A scheduler that does a little of everything.
void useScheduler(int numWorkers, Allocator* allocator) {
  Scheduler scheduler(smallConfig(numWorkers, allocator));
  Scheduler::Binding binding(scheduler);
  Event event;
  WaitGroup done(2);
  schedule([=] {
    event.wait();
    done.done();
  });
  schedule([=] {
    event.signal();
    done.done();
  });
  done.wait();
}

TEST_F(BadUseTest, AThreadThatCannotBeStartedIsReportedAndNothingIsLeftBehind) {
  if (!WEFT_CALLS_CAN_FAIL) {
    GTEST_SKIP() << "the sanitizer owns the call";
  }
  constexpr int kWorkers = 6;
  useScheduler(kWorkers, allocator());
  const size_t threadsBefore = numThreads();
  for (int call = 0; call < kWorkers; ++call) {
    threadCalls.failAt(call);
    try {
      Scheduler scheduler(smallConfig(kWorkers, allocator()));
      ADD_FAILURE() << "call " << call << " to pthread_create failed, and nothing was said";
    } catch (const std::system_error& error) {
      EXPECT_EQ(error.code().value(), EAGAIN);
      EXPECT_NE(std::strstr(error.what(), ("only " + std::to_string(call) + " of 6 worker threads").c_str()),
                nullptr)
          << error.what();
    }
    threadCalls.failNoMore();
    tests::expectNothingAllocated(*allocator());
    // A thread that was joined stays in the list for a moment.
    while (numThreads() > threadsBefore) {
      std::this_thread::yield();
    }
    useScheduler(kWorkers, allocator());
  }
  threadCalls.failAt(kWorkers);
  useScheduler(kWorkers, allocator());
  threadCalls.failNoMore();
}

TEST_F(BadUseTest, AThreadThatCannotBeStartedLeavesTheInitializersOfTheOthersToEnd) {
  if (!WEFT_CALLS_CAN_FAIL) {
    GTEST_SKIP() << "the sanitizer owns the call";
  }
  for (int call = 0; call < 4; ++call) {
    std::atomic<int> ran{0};
    threadCalls.failAt(call);
    EXPECT_THROW(Scheduler(smallConfig(4, allocator()).setWorkerThreadInitializer([&](int) {
                   sleep_for(std::chrono::microseconds(100));
                   schedule([&] { ++ran; });
                 })),
                 std::system_error);
    threadCalls.failNoMore();
    EXPECT_EQ(ran, call);
  }
}

TEST_F(BadUseTest, ABlockingCallWithoutAThreadIsReportedToItsCaller) {
  if (!WEFT_CALLS_CAN_FAIL) {
    GTEST_SKIP() << "the sanitizer owns the call";
  }
  threadCalls.failAt(0);
  EXPECT_THROW(blocking_call([] {}), std::system_error);
  threadCalls.failNoMore();
  EXPECT_EQ(BlockingThreads::count(), 0u);
  BlockingThreads::setIdleTime(std::chrono::milliseconds(1));
  EXPECT_EQ(blocking_call([] { return 7; }), 7);
  while (BlockingThreads::count() != 0) {
    std::this_thread::yield();
  }
}

// Prints how it went. Ends the process.
template <class F>
[[noreturn]] void useAndReport(F limit) {
  tests::endWithTheTest();
  TrackedAllocator allocator(Allocator::Default);
  try {
    limit();
    useScheduler(4, &allocator);
    std::fprintf(stderr, "all went well\n");
  } catch (const std::system_error& error) {
    std::fprintf(stderr, "%s\n", error.what());
  }
  const bool leaked = allocator.stats().numAllocations() != 0;
  std::fprintf(stderr, leaked ? "leaked\n" : "");
  std::_Exit(leaked ? 1 : 0);
}

constexpr const char* kReport = "all went well|of 4 worker threads|weft: fatal: .*(memory|mmap)";

TEST_F(BadUseDeathTest, AMapCallThatFailsIsReportedWhicheverItIs) {
  if (!WEFT_CALLS_CAN_FAIL) {
    GTEST_SKIP() << "the sanitizer owns the call";
  }
  for (const int count : {1, 1'000'000}) {
    for (int call = 0; call < 12; ++call) {
      EXPECT_EXIT(useAndReport([=] { mapCalls.failAt(call, count); }), tests::endedInOrder, kReport)
          << "at call " << call << ", " << count << " times";
    }
  }
}

// To what is used already, and so much more.
void limitAddressSpace(size_t mebibytes) {
  size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const rlim_t bytes = pages * pageSize() + (mebibytes << 20);
  const rlimit most{bytes, bytes};
  setrlimit(RLIMIT_AS, &most);
}

TEST_F(BadUseDeathTest, AddressSpaceThatIsUsedUpIsReported) {
  if (!WEFT_CALLS_CAN_FAIL) {
    GTEST_SKIP() << "the sanitizer needs address space itself";
  }
  // As the limit grows a worker's stack, the others', then the pool's memory fit.
  for (size_t mebibytes = 0; mebibytes <= 128; mebibytes = mebibytes < 16 ? mebibytes + 1 : mebibytes + 8) {
    EXPECT_EXIT(useAndReport([=] { limitAddressSpace(mebibytes); }), tests::endedInOrder, kReport)
        << "with " << mebibytes << " MiB left";
  }
}

TEST_F(BadUseDeathTest, AStackThatCannotBeHadIsReportedWithTheNumberOfFibers) {
  if (!WEFT_CALLS_CAN_FAIL) {
    GTEST_SKIP() << "the sanitizer owns the call";
  }
  EXPECT_DEATH(
      {
        tests::endWithTheTest();
        Scheduler scheduler(smallConfig(0));
        Scheduler::Binding binding(scheduler);
        mapCalls.failAt(0, 1'000'000);
        Event never;
        for (int i = 0; i < 100; ++i) {
          schedule([never] { never.wait(); });
        }
      },
      "weft: no dump, or not all of it: the system gives no memory\n.*"
      "weft: fatal: no memory for another fiber: this worker has [0-9]+, of which [0-9]+ are "
      "blocked.*setFiberStackSize");
}

TEST_F(BadUseDeathTest, AStackThatCannotBeHadIsReportedWithWhatFibersWaitFor) {
  if (!WEFT_CALLS_CAN_FAIL) {
    GTEST_SKIP() << "the sanitizer needs address space itself";
  }
  EXPECT_DEATH(
      {
        tests::endWithTheTest();
        Scheduler scheduler(smallConfig(0).setFiberStackSize(size_t{64} << 20));
        Scheduler::Binding binding(scheduler);
        Event never;
        Event isWaiting;
        schedule([=] {
          isWaiting.signal();
          never.wait();
        });
        isWaiting.wait();
        limitAddressSpace(32);
        for (int i = 0; i < 100; ++i) {
          schedule([never] { never.wait(); });
        }
        WaitGroup(1).wait();
      },
      "fibers? waits? for Event 0x.*\n"
      "the code of main thread [0-9]+ waits for WaitGroup 0x[0-9a-f]+ \\(count 1\\).*\n    .*"
      "weft: end of process [0-9]+\n.*"
      "weft: fatal: no memory for another fiber: this worker has [0-9]+, of which [0-9]+ are "
      "blocked.*The dump above, or");
}

}  // namespace
}  // namespace weft
