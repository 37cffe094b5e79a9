// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <pthread.h>

#include <chrono>
#include <cstring>
#include <exception>
#include <functional>
#include <stdexcept>
#include <vector>

#include <weft/detail/base/task_scope.h>
#include <weft/event.h>
#include <weft/fiber.h>
#include <weft/fiberlocal.h>
#include <weft/future.h>
#include <weft/recursivemutex.h>
#include <weft/scheduler.h>
#include <weft/taskgroup.h>

#include "in_task.h"
#include "scheduler/fibers/fiber_control_block.h"
#include "with_scheduler.h"

// All that belongs to a task is its own in whatever way the task runs: the table in docs/scheduler.md, "Tasks
// in place".
namespace weft {
namespace {

using tests::inTask;
using Function = std::function<void()>;

void letOthersRun() {
  for (int i = 0; i < 3; ++i) {
    yield();
  }
}

// Each calls f() as a task and waits for its end. Some run it in place where no thief comes first, others
// give it time to begin elsewhere.
void byFuture(const Function& f) { async(f).get(); }
void byFutureThatIsLeft(const Function& f) {
  auto future = async(f);
  letOthersRun();
  future.get();
}
void bySharedFuture(const Function& f) { async(f).share().get(); }
void byContinuation(const Function& f) {
  async([] {}).then([&](const Future<void>&) { f(); }).get();
}
void byGroup(const Function& f) {
  TaskGroup group;
  group.run(f);
  group.wait();
}
void byGroupThatIsLeft(const Function& f) {
  TaskGroup group;
  group.run(f);
  letOthersRun();
  group.wait();
}
void byEndOfGroup(const Function& f) {
  TaskGroup group;
  group.run(f);
}
void byGroupOfMany(const Function& f) {
  TaskGroup group;
  for (int i = 0; i < 3; ++i) {
    group.run([] { letOthersRun(); });
    group.run([&f, i] { i == 1 ? f() : void(); });
  }
  group.wait();
}
void bySchedule(const Function& f) { inTask(f); }

struct Way {
  const char* name;
  void (*call)(const Function&);
};
constexpr Way kWays[] = {{"Future::get()", &byFuture},
                         {"Future::get(), later", &byFutureThatIsLeft},
                         {"SharedFuture::get()", &bySharedFuture},
                         {"then()", &byContinuation},
                         {"TaskGroup::wait()", &byGroup},
                         {"TaskGroup::wait(), later", &byGroupThatIsLeft},
                         {"~TaskGroup", &byEndOfGroup},
                         {"TaskGroup::wait(), beside others", &byGroupOfMany},
                         {"schedule()", &bySchedule}};

class TaskStateTest : public tests::WithScheduler {
 protected:
  // Calls test(way) in a task, and outside of tasks, for each way.
  template <class F>
  static void forEachWay(F&& test) {
    for (const Way& way : kWays) {
      SCOPED_TRACE(way.name);
      test(way.call);
      inTask([&] { test(way.call); });
    }
  }
};
WEFT_INSTANTIATE_WITH_SCHEDULER(TaskStateTest);

int handledInt() {
  try {
    throw;
  } catch (int value) {
    return value;
  }
}

void expectNoException() {
  EXPECT_EQ(std::current_exception(), nullptr);
  EXPECT_EQ(std::uncaught_exceptions(), 0);
}

// What a task does with exceptions of its own.
void throwAndHandle() {
  expectNoException();
  try {
    throw 5;
  } catch (int) {
    yield();
    EXPECT_EQ(handledInt(), 5);
  }
  expectNoException();
}

TEST_P(TaskStateTest, ATaskDoesNotSeeTheExceptionThatItsWaiterHandles) {
  forEachWay([](auto way) {
    try {
      throw 1;
    } catch (int) {
      way([&] {
        throwAndHandle();
        way(&throwAndHandle);
        letOthersRun();
        expectNoException();
      });
      EXPECT_EQ(handledInt(), 1);
    }
    expectNoException();
  });
}

TEST_P(TaskStateTest, ATaskDoesNotSeeTheExceptionThatItsWaiterThrows) {
  forEachWay([](auto way) {
    struct Unwinding {
      decltype(way) call;
      ~Unwinding() {
        EXPECT_EQ(std::uncaught_exceptions(), 1);
        call([this] {
          throwAndHandle();
          call(&throwAndHandle);
          letOthersRun();
          expectNoException();
        });
        EXPECT_EQ(std::uncaught_exceptions(), 1);
      }
    };
    try {
      const Unwinding unwinding{way};
      throw 1;
    } catch (int value) {
      EXPECT_EQ(value, 1);
    }
    expectNoException();
  });
}

TEST_P(TaskStateTest, AnExceptionOfATaskReachesItsWaiterWithinAHandler) {
  forEachWay([](auto way) {
    try {
      throw 1;
    } catch (int) {
      int caught = 0;
      way([&] {
        try {
          way == &bySchedule || way == &byEndOfGroup ? throw 2 : way([] { throw 2; });
        } catch (int value) {
          caught = value;
        }
        expectNoException();
      });
      EXPECT_EQ(caught, 2);
      EXPECT_EQ(handledInt(), 1);
    }
  });
}

TEST_P(TaskStateTest, ATaskHasItsOwnNumberFiberPermitLocalsAndLocks) {
  forEachWay([](auto way) {
    FiberLocal<int> local([] { return 7; });
    RecursiveMutex mutex;
    *local = 1;
    Fiber* const fiber = Fiber::current();
    const uint64_t number = detail::currentTaskNumber();
    fiber->notify();
    mutex.lock();
    way([&] {
      for (int i = 0; i < 2; ++i) {
        EXPECT_NE(Fiber::current(), fiber);
        EXPECT_FALSE(Fiber::current()->wait(std::chrono::steady_clock::now()));
        EXPECT_NE(detail::currentTaskNumber(), number);
        EXPECT_EQ(*local, 7);
        const bool isMine = mutex.try_lock();
        EXPECT_FALSE(isMine);
        if (isMine) {
          mutex.unlock();
        }
        yield();
      }
      *local = 2;
      Fiber::current()->notify();
    });
    EXPECT_EQ(Fiber::current(), fiber);
    EXPECT_EQ(detail::currentTaskNumber(), number);
    EXPECT_TRUE(fiber->wait(std::chrono::steady_clock::now()));
    EXPECT_FALSE(fiber->wait(std::chrono::steady_clock::now()));
    EXPECT_EQ(*local, 1);
    EXPECT_TRUE(mutex.try_lock());
    mutex.unlock();
    mutex.unlock();
  });
}

// Checks that the calling task has at least 13 of 16 parts of its stack before it: what a task may count on
// in place, less what this test uses.
void expectFreeStack() {
  const auto& fiber = static_cast<const detail::FiberControlBlock&>(*detail::currentFiber);
  if (fiber.task != nullptr) {
    const detail::Stack stack = fiber.stack();
    EXPECT_GT(detail::stackPointer() - stack.bottom(), stack.size / 16 * 13);
  }
}

[[gnu::noinline]] void useStack(void (*way)(const Function&), int depth, int* left) {
  char frame[1024];
  std::memset(frame, depth, sizeof frame);
  asm volatile("" : : "r"(frame) : "memory");
  expectFreeStack();
  if (depth > 0) {
    way([=] { useStack(way, depth - 1, left); });
  }
  asm volatile("" : : "r"(frame) : "memory");
  --*left;
}

// Far more frames than a stack has room for.
TEST_P(TaskStateTest, ATaskFindsMostOfAStackHoweverDeepItsWaitersAreNested) {
  constexpr int kDepth = 200;
  forEachWay([](auto way) {
    int left = kDepth + 1;
    inTask([&] { useStack(way, kDepth, &left); });
    EXPECT_EQ(left, 0);
  });
}

// On a thread whose stack has little more room than that of a fiber.
TEST(TaskStateOfThreadTest, TasksOfGroupsDoNotOverflowTheStackOfABoundThread) {
  for (const int numWorkers : {0, 1}) {
    const auto body = [](void* argument) -> void* {
      Scheduler scheduler(tests::smallConfig(*static_cast<const int*>(argument)));
      Scheduler::Binding bound(scheduler);
      constexpr int kDepth = 600;
      int left = kDepth + 1;
      useStack(&byGroup, kDepth, &left);
      EXPECT_EQ(left, 0);
      return nullptr;
    };
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    ASSERT_EQ(pthread_attr_setstacksize(&attributes, size_t{256} * 1024), 0);
    pthread_t thread;
    int count = numWorkers;
    ASSERT_EQ(pthread_create(&thread, &attributes, body, &count), 0);
    pthread_join(thread, nullptr);
    pthread_attr_destroy(&attributes);
  }
}

class TaskStateDeathTest : public tests::DeathTest {};

// A TaskGroup that keeps an exception only warns while another one is being thrown. The waiter's is none of
// the task's.
TEST_F(TaskStateDeathTest, AFailedGroupInATaskWhoseWaiterThrows) {
  const auto run = [](void (*way)(const Function&)) {
    Scheduler scheduler(tests::smallConfig(0));
    Scheduler::Binding bound(scheduler);
    inTask([&] {
      struct Unwinding {
        void (*call)(const Function&);
        ~Unwinding() {
          call([] {
            TaskGroup group;
            group.run([] { throw std::runtime_error("lost"); });
          });
        }
      };
      try {
        const Unwinding unwinding{way};
        throw 1;
      } catch (int) {
      }
    });
  };
  for (const Way& way : kWays) {
    EXPECT_DEATH(run(way.call), "a TaskGroup was destroyed whose task had let an exception escape")
        << way.name;
  }
}

}  // namespace
}  // namespace weft
