// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/detail/wait/reactor.h>
#include <weft/dump.h>

#include <gtest/gtest.h>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <weft/detail/wait/waiter.h>
#include <weft/event.h>
#include <weft/fiber.h>
#include <weft/scheduler.h>
#include <weft/sleep.h>
#include <weft/waitgroup.h>

#include "in_task.h"
#include "waiting.h"
#include "with_scheduler.h"

namespace {

// A dump leaves out the calls of functions of the library's namespace.
[[gnu::noinline]] void waitInAFunction(const std::function<void()>& wait) {
  wait();
  asm volatile("");  // no tail call
}

}  // namespace

// What a worker does for a reactor, with one that the test makes: its I/O comes when another thread says so.
namespace weft::inline v0_1::detail {
namespace {

// What its fibers wait for, and what was seen of it.
struct World {
  std::atomic<bool> hasCome{false};
  std::atomic<int> numPolls{0}, numParks{0}, numGone{0};
  std::atomic<int> wakeFd{-1};   // of the worker
  std::function<void()> onPoll;  // null: nothing

  // Any thread: what the fibers wait for has come.
  void come() {
    hasCome = true;
    if (wakeFd >= 0) {
      StdSync::signal(wakeFd);
    }
  }
};

class TestReactor final : public Reactor {
 public:
  explicit TestReactor(World& world, Use use = Use::Io) : Reactor(use), world_(world) {}
  ~TestReactor() override { ++world_.numGone; }

  bool poll() override {
    ++world_.numPolls;
    if (world_.onPoll) {
      world_.onPoll();
    }
    if (!world_.hasCome || waiting_.isEmpty()) {
      return false;
    }
    WaitList claimed;
    claimed.claimAll(waiting_);
    wakeAll(claimed);
    return true;
  }

  // With a deadline, looks again now and then.
  bool park(Parker<>& parker, TimePoint deadline) override {
    ++world_.numParks;
    if (world_.onPoll) {
      world_.onPoll = nullptr;  // the search is over
      world_.hasCome = true;
    }
    if (parker.wakeFd() < 0) {
      parker.setWakeFd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    }
    world_.wakeFd = parker.wakeFd();
    if (!parker.beginElsewhere()) {
      return true;
    }
    if (!world_.hasCome) {
      pollfd descriptor{parker.wakeFd(), POLLIN, 0};
      ::poll(&descriptor, 1, deadline == kNever ? -1 : 1);
      uint64_t rings = 0;
      (void)!read(parker.wakeFd(), &rings, sizeof rings);
    }
    const bool hasPermit = parker.endElsewhere();
    return poll() || hasPermit;
  }

  // Suspends the fiber until what it waits for has come.
  static void wait(World& world) {
    if (currentReactor() == nullptr) {
      setCurrentReactor(std::make_unique<TestReactor>(world));
    }
    auto& self = static_cast<TestReactor&>(*currentReactor());
    const IoWait wait(&self);
    Waiter& waiter = currentWaiter();
    self.waiting_.pushBack(waiter);
    block(waiter, "io::test", reinterpret_cast<const void*>(intptr_t{7}));
  }

 private:
  World& world_;
  WaitList waiting_;
};

class ReactorTest : public tests::WithScheduler {};

// Has a task wait. Once its worker sleeps, another thread calls asleep(), and then what the task waits for
// comes.
template <class F>
void waitInATask(World& world, const F& asleep) {
  WaitGroup done(1);
  schedule([&, done] {
    TestReactor::wait(world);
    done.done();
  });
  std::thread outside([&] {
    tests::awaitThat([&] { return world.numParks > 0; });
    asleep();
    world.come();
  });
  done.wait();
  outside.join();
}

TEST_P(ReactorTest, AWorkerSleepsInItWhileAFiberWaitsAndIsWokenByWhatComes) {
  World world;
  waitInATask(world, [] {});
  destroyScheduler();
  EXPECT_EQ(world.numGone, 1) << "the worker destroys its reactor";
}

TEST_P(ReactorTest, AWakeFromAnotherThreadEndsTheSleepInIt) {
  World world;
  Event event;
  WaitGroup done(2);
  schedule(Task(
      [&, done] {
        schedule(Task(
            [&, done] {
              event.wait();
              world.come();
              done.done();
            },
            Task::Flags::SameThread));
        TestReactor::wait(world);
        done.done();
      },
      Task::Flags::None));
  std::thread outside([&] {
    tests::awaitThat([&] { return world.numParks > 0; });
    event.signal();
  });
  done.wait();
  outside.join();
  destroyScheduler();
}

// What it waits for comes while the other fiber runs, which never leaves the worker without work.
TEST_P(ReactorTest, ItIsLookedIntoBesideFibersThatNeverStop) {
  World world;
  WaitGroup done(2);
  std::atomic<bool> isBack{false};
  schedule([&, done] {
    schedule(Task(
        [&, done] {
          for (int i = 0; !isBack; ++i) {
            world.hasCome = i > 100;
            yield();
          }
          done.done();
        },
        Task::Flags::SameThread));
    TestReactor::wait(world);
    isBack = true;
    done.done();
  });
  done.wait();
  destroyScheduler();
}

// Each of the tasks waits for I/O without having scheduled anything. Tasks that did so for another reason
// would make the worker take the oldest task next, from then on.
TEST_P(ReactorTest, AWaitForIoTellsNothingOfTheOrderOfTasks) {
  if (numWorkers() > 1) {
    GTEST_SKIP() << "thieves take the oldest";
  }
  World world;
  std::vector<int> order;
  tests::inTask([&] {
    WaitGroup done(3);
    // The newest is first.
    for (int i = 0; i < 3; ++i) {
      schedule([&, i, done] {
        order.push_back(i);
        TestReactor::wait(world);
        done.done();
      });
    }
    tests::awaitThat([&] { return order.size() == 3; });
    world.come();
    done.wait();
  });
  EXPECT_EQ(order, (std::vector{2, 1, 0}));
  destroyScheduler();
}

TEST_P(ReactorTest, TheReportNamesTheDescriptor) {
  World world;
  waitInATask(world, [&] {
    // Workers that have nothing to do share a line from four on.
    tests::awaitThat([&] {
      const std::string text = dumpText();
      return text.find(" waits for io::test, fd 7") != std::string::npos &&
             (numWorkers() >= 4 || text.find(" waits, 1 for I/O\n") != std::string::npos);
    });
  });
  destroyScheduler();
}

// The thread is on the stack of the fiber that has waited last, and does not sleep.
TEST_P(ReactorTest, AWorkerThatSearchesShowsTheCallsOfItsFiber) {
  World world;
  std::string texts;
  world.onPoll = [&] {
    texts += dumpText();
    world.hasCome = texts.find("waitInAFunction") != std::string::npos;
  };
  tests::inTask([&] { waitInAFunction([&] { TestReactor::wait(world); }); });
  EXPECT_TRUE(texts.find("waitInAFunction") != std::string::npos) << texts;
  destroyScheduler();
}

WEFT_INSTANTIATE_WITH_SCHEDULER(ReactorTest);

// In a process of one thread, where each fiber waits, the wait for what comes from outside is none for ever.
TEST(ReactorAloneTest, AWaitForIoIsNoDeadlock) {
  ::testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(
      {
        Scheduler scheduler(tests::smallConfig(0));
        scheduler.bind();
        tests::inTask([&] {
          class Alarm final : public Reactor {
           public:
            bool poll() override { return false; }
            bool park(Parker<>&, TimePoint) override {
              wake(*waiter);
              return true;
            }
            Waiter* waiter = nullptr;
          };
          auto alarm = std::make_unique<Alarm>();
          Alarm& reactor = *alarm;
          setCurrentReactor(std::move(alarm));
          const IoWait wait(&reactor);
          reactor.waiter = &currentWaiter();
          block(*reactor.waiter, "io::test", nullptr);
        });
        Scheduler::unbind();
        std::exit(0);
      },
      ::testing::ExitedWithCode(0), "");
}

// It is slept in, and looked into, though no fiber is counted that waits. Where there are no other workers,
// turns come by the number of dequeues alone.
TEST(ReactorAloneTest, ThatOfAnAsioContextIsLookedIntoInEachTurnOfOthers) {
  constexpr int kTurns = 20;
  World world;
  Scheduler scheduler(tests::smallConfig(0));
  scheduler.bind();
  tests::inTask([&] {
    setCurrentReactor(std::make_unique<TestReactor>(world, Reactor::Use::Asio));
    bool hasEnded = false;
    WaitGroup done(1);
    schedule([&, done] {
      while (!hasEnded) {
        yield();
      }
      done.done();
    });
    yield();  // the other begins
    const int before = world.numPolls;
    for (int i = 0; i < kTurns * 61 / 2; ++i) {
      yield();
    }
    EXPECT_GE(world.numPolls - before, kTurns - 2);
    EXPECT_LE(world.numPolls - before, kTurns + 2);
    hasEnded = true;
    done.wait();
  });
  Event isOver;
  std::thread outside([&] {
    tests::awaitThat([&] { return world.numParks > 0; });
    isOver.signal();
  });
  isOver.wait();
  outside.join();
  setCurrentReactor(nullptr);
  EXPECT_EQ(world.numGone, 1);
  Scheduler::unbind();
}

// More fibers than those beside which a worker starts tasks without a thought.
TEST(ReactorAloneTest, FibersThatWaitForIoHoldNoTasksBack) {
  constexpr int kMany = tests::scaled(5'000, 2'000);
  World worlds[2];
  Scheduler scheduler(tests::smallConfig(2));
  scheduler.bind();
  std::atomic<int> numWaiting{0};
  WaitGroup done(kMany);
  for (int i = 0; i < kMany; ++i) {
    schedule([&, done] {
      thread_local World* world = nullptr;
      static std::atomic<int> numWorlds{0};
      if (world == nullptr) {
        world = &worlds[numWorlds++];
      }
      ++numWaiting;
      TestReactor::wait(*world);
      done.done();
    });
  }
  // A hold ends after a millisecond and lets four start: that would take seconds.
  tests::awaitThat([&] { return numWaiting == kMany; });
  worlds[0].come();
  worlds[1].come();
  done.wait();
  Scheduler::unbind();
}

}  // namespace
}  // namespace weft::inline v0_1::detail
