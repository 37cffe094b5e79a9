// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <functional>
#include <iterator>
#include <latch>
#include <list>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

// clang 15 and older cannot compile the views of libstdc++.
#if !defined(__clang__) || __clang_major__ >= 16
#include <ranges>
#define WEFT_TEST_VIEWS
#endif

#include <weft/event.h>
#include <weft/fiber.h>
#include <weft/scheduler.h>
#include <weft/waitgroup.h>

#include "in_task.h"
#include "waiting.h"
#include "with_scheduler.h"
#include "workers.h"

// Many tasks at once: Scheduler::enqueueMany() and scheduleMany().
namespace weft {
namespace {

using tests::awaitThat;
using tests::inTask;
using tests::queueTogether;
using tests::scaled;
using tests::upTo;

// Makes each element when it is asked for, by make(i).
template <class Category, class Make>
struct MadeRange {
  struct Iterator {
    using iterator_concept = Category;
    using difference_type = std::ptrdiff_t;
    using value_type = std::invoke_result_t<const Make&, int>;

    value_type operator*() const { return (*make)(at); }
    Iterator& operator++() {
      ++at;
      return *this;
    }
    Iterator operator++(int) {
      Iterator old = *this;
      ++at;
      return old;
    }
    bool operator==(const Iterator& other) const { return at == other.at; }
    bool operator==(int end) const { return at == end; }

    const Make* make = nullptr;
    int at = 0;
  };

  Iterator begin() const { return {&make, 0}; }
  int end() const { return count; }

  int count;
  Make make;
};

template <class Make>
MadeRange<std::input_iterator_tag, Make> made(int count, Make make) {
  return {count, std::move(make)};
}

// A range of made tasks that can be passed several times.
template <class Make>
MadeRange<std::forward_iterator_tag, Make> madeAgain(int count, Make make) {
  return {count, std::move(make)};
}

class EnqueueManyTest : public tests::WithScheduler {};
WEFT_INSTANTIATE_WITH_SCHEDULER(EnqueueManyTest);

// More than a deque holds, and no whole number of batches.
constexpr int kMoreThanADeque = 10'000 + 7;

// scheduleAll() gets a range of tasks, each of which counts its runs.
template <class ScheduleAll>
void expectEachTaskRunsOnce(ScheduleAll scheduleAll) {
  const int count = scaled(kMoreThanADeque, 5'000);
  std::vector<std::atomic<int>> numRuns(static_cast<size_t>(count));
  WaitGroup done(static_cast<unsigned>(count));
  scheduleAll(madeAgain(count, [&](int i) {
    return [&, i] {
      ++numRuns[static_cast<size_t>(i)];
      done.done();
    };
  }));
  done.wait();
  for (const auto& number : numRuns) {
    EXPECT_EQ(number, 1);
  }
}

TEST_P(EnqueueManyTest, EachTaskRunsOnceFromATask) {
  expectEachTaskRunsOnce([](auto tasks) { inTask([&] { scheduleMany(std::move(tasks)); }); });
}

TEST_P(EnqueueManyTest, EachTaskRunsOnceFromOutsideOfTasks) {
  expectEachTaskRunsOnce([&](auto tasks) { scheduler().enqueueMany(std::move(tasks)); });
}

// The end of the scheduler waits for them: each is counted.
TEST_P(EnqueueManyTest, TheEndWaitsForAllTasksOfUnboundThreads) {
  if (numWorkers() == 0) {
    GTEST_SKIP() << "only its bound thread may schedule there";
  }
  constexpr int kThreads = 3, kTasks = 300;
  std::atomic<int> numRun{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      scheduler().enqueueMany(std::vector(size_t{kTasks}, [&numRun] {
        yield();
        ++numRun;
      }));
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  destroyScheduler();
  EXPECT_EQ(numRun, kThreads * kTasks);
}

TEST_P(EnqueueManyTest, TheEndWaitsForAllTasksOfTasks) {
  constexpr int kTasks = 300;
  std::atomic<int> numRun{0};
  schedule([&] {
    scheduleMany(std::vector(size_t{kTasks}, [&numRun] {
      yield();
      ++numRun;
    }));
  });
  destroyScheduler();
  EXPECT_EQ(numRun, kTasks);
}

TEST_P(EnqueueManyTest, TakesAllKindsOfRanges) {
  std::atomic<int> sum{0};
  int expected = 0;
  WaitGroup left;
  const auto add = [&](int number) {
    expected += number;
    left.add();
    // Larger than the buffer of a std::function, which may be copied in place of a move, and stay.
    return [&sum, left, numbers = std::array<int, 16>{number}] {
      sum += numbers[0];
      left.done();
    };
  };
  // Copied: also from an rvalue that owns nothing.
  std::vector<std::function<void()>> functions{add(1), add(2)};
  scheduleMany(functions);
  EXPECT_TRUE(functions[0] && functions[1]);
  left.add(2);
  expected += 3;
  scheduleMany(std::span(functions));
  EXPECT_TRUE(functions[0] && functions[1]);
  const auto& constant = functions;
  left.add(2);
  expected += 3;
  scheduleMany(constant);
  left.add(2);
  expected += 3;
  scheduleMany(std::move(constant));
  EXPECT_TRUE(functions[0] && functions[1]);
  // Moved.
  left.add(2);
  expected += 3;
  scheduleMany(std::move(functions));
  EXPECT_FALSE(functions[0] || functions[1]);
  const auto addOwned = [&](int number) {
    return [task = add(number), owned = std::make_unique<int>(number)] { task(); };
  };
  std::list<decltype(addOwned(0))> movable;
  movable.push_back(addOwned(4));
  movable.push_back(addOwned(8));
  scheduleMany(std::move(movable));
  std::vector<Task> tasks;
  tasks.emplace_back(add(16));
  tasks.emplace_back(addOwned(32));
  scheduleMany(std::move(tasks));
  EXPECT_FALSE(tasks[0] || tasks[1]);
  Task array[] = {Task(add(64)), Task(add(128))};
  scheduleMany(std::move(array));
  // Made when asked for.
  scheduleMany(made(3, addOwned));
  scheduleMany(madeAgain(3, [&](int number) { return Task(add(number)); }));
  // Nothing.
  scheduleMany(std::vector<Task>());
  scheduler().enqueueMany(made(0, addOwned));
  left.wait();
  EXPECT_EQ(sum, expected);
}

#ifdef WEFT_TEST_VIEWS
TEST_P(EnqueueManyTest, TakesViews) {
  std::atomic<int> sum{0};
  WaitGroup left(3 + 1 + 2);
  const auto add = [&](int number) {
    return [&sum, number, left] {
      sum += number;
      left.done();
    };
  };
  scheduleMany(std::views::iota(1, 4) | std::views::transform(add));
  std::vector<std::function<void()>> functions{add(10), add(100)};
  // What a view refers to is left alone.
  scheduleMany(functions | std::views::filter([](const auto& function) { return function != nullptr; }) |
               std::views::take(1));
  EXPECT_TRUE(functions[0] != nullptr);
  const std::vector<int> numbers{1000, 2000};
  scheduler().enqueueMany(numbers | std::views::transform(add));
  left.wait();
  EXPECT_EQ(sum, 6 + 10 + 3000);
}
#endif

class EnqueueManyOrderTest : public tests::WithScheduler {
 protected:
  // Returns: the order in which `count` tasks begin that queueAll(count, make) queues. If a task queues them,
  // some are for its thread only.
  template <class QueueAll>
  std::vector<int> orderOf(int count, bool isFromTask, QueueAll queueAll) {
    std::vector<int> order;
    WaitGroup done(static_cast<unsigned>(count));
    const auto make = [&](int i) {
      return Task(
          [&order, i, done] {
            order.push_back(i);
            done.done();
          },
          isFromTask && i % 100 == 99 ? Task::Flags::SameThread : Task::Flags::None);
    };
    if (isFromTask) {
      inTask([&] { queueAll(count, make); });
    } else {
      queueTogether(scheduler(), [&] { queueAll(count, make); });
    }
    done.wait();
    return order;
  }

  template <class QueueMany>
  void expectOrderOfLoop(int count, QueueMany queueMany) {
    for (const bool isFromTask : {false, true}) {
      const auto loop = orderOf(count, isFromTask, [](int number, const auto& make) {
        for (int i = 0; i < number; ++i) {
          schedule(make(i));
        }
      });
      EXPECT_EQ(orderOf(count, isFromTask, queueMany), loop) << count << (isFromTask ? " from a task" : "");
    }
  }
};
// With one worker, or with none, the order is certain.
INSTANTIATE_TEST_SUITE_P(OneThread, EnqueueManyOrderTest, ::testing::Values(0, 1),
                         [](const auto& numWorkers) { return std::to_string(numWorkers.param); });

TEST_P(EnqueueManyOrderTest, TasksStartInTheOrderOfALoop) {
  for (const int count : {1, 2, 3, 64, 130, 1000}) {
    expectOrderOfLoop(count, [](int number, const auto& make) { scheduleMany(madeAgain(number, make)); });
    expectOrderOfLoop(count, [](int number, const auto& make) { scheduleMany(made(number, make)); });
    expectOrderOfLoop(count, [](int number, const auto& make) {
      std::vector<Task> tasks;
      for (int i = 0; i < number; ++i) {
        tasks.push_back(make(i));
      }
      Scheduler::get()->enqueueMany(std::move(tasks));
    });
  }
}

TEST_P(EnqueueManyOrderTest, FromOutsideTheyStartFirstInFirstOut) {
  const auto order =
      orderOf(1000, false, [](int count, const auto& make) { scheduleMany(madeAgain(count, make)); });
  EXPECT_EQ(order, upTo(1000));
}

// What throws half-way leaves those before it queued, and nothing of those after it.
TEST_P(EnqueueManyTest, WhatWasBeforeAnExceptionRuns) {
  for (const int thrower : {0, 1, 5, 100}) {
    std::atomic<int> numRun{0};
    WaitGroup left(static_cast<unsigned>(2 * thrower));
    const auto make = [&](int i) {
      if (i == thrower) {
        throw std::runtime_error("an element");
      }
      return [&numRun, left] {
        ++numRun;
        left.done();
      };
    };
    EXPECT_THROW(scheduleMany(madeAgain(1000, make)), std::runtime_error);
    inTask([&] { EXPECT_THROW(scheduleMany(made(1000, make)), std::runtime_error); });
    left.wait();
    EXPECT_EQ(numRun, 2 * thrower);
  }
}

// A copy of which throws.
struct ThrowsIfCopied {
  ThrowsIfCopied(WaitGroup group, bool throws) : left(std::move(group)), doesThrow(throws) {}
  ThrowsIfCopied(const ThrowsIfCopied& other) : left(other.left), doesThrow(other.doesThrow) {
    if (doesThrow) {
      throw std::runtime_error("a copy");
    }
  }
  void operator()() const { left.done(); }

  WaitGroup left;
  bool doesThrow;
};

TEST_P(EnqueueManyTest, WhatWasBeforeACopyThatThrowsRuns) {
  WaitGroup left(4);
  std::list<ThrowsIfCopied> functions;
  for (int i = 0; i < 6; ++i) {
    functions.emplace_back(left, i == 4);
  }
  EXPECT_THROW(scheduleMany(functions), std::runtime_error);
  left.wait();
}

TEST_P(EnqueueManyTest, SameThreadTasksStayOnTheirThread) {
  constexpr int kTasks = 500;
  const auto queueMixed = [](bool isFromTask) {
    const auto own = std::this_thread::get_id();
    WaitGroup left(kTasks);
    scheduleMany(madeAgain(kTasks, [&](int i) {
      const bool isPinned = i % 7 == 3;
      return Task(
          [=] {
            if (isPinned) {
              EXPECT_EQ(std::this_thread::get_id(), own) << isFromTask;
            }
            left.done();
          },
          isPinned ? Task::Flags::SameThread : Task::Flags::None);
    }));
    left.wait();
  };
  queueMixed(false);
  inTask([&] { queueMixed(true); });
}

// An element that can be had only once may wait for the task of the one before.
TEST_P(EnqueueManyTest, ARangeThatIsPassedOnceMayWaitForItsTasks) {
  std::vector<int> order;
  Event hasRun(Event::Mode::Auto);
  const auto make = [&](int i) {
    if (i > 0) {
      hasRun.wait();
    }
    return [&, i, hasRun] {
      order.push_back(i);
      hasRun.signal();
    };
  };
  scheduleMany(made(100, make));
  hasRun.wait();
  inTask([&] { scheduleMany(made(100, make)); });
  hasRun.wait();
  EXPECT_EQ(order.size(), 200u);
}

// One long task of a batch keeps no other from running: as many workers wake as there is work for.
TEST_P(EnqueueManyTest, AsManyWorkersWakeAsThereAreTasks) {
  const auto expectAllAtOnce = [this](const auto& enqueueAll) {
    awaitThat([&] {
      const auto stats = scheduler().stats();
      return std::all_of(stats.workers.begin(), stats.workers.end(),
                         [](const auto& worker) { return worker.workerId < 0 || worker.numParks > 0; });
    });
    std::latch allRun(numWorkers());
    WaitGroup left(static_cast<unsigned>(numWorkers()));
    // A task may read the range after enqueueAll() has returned.
    auto tasks = madeAgain(numWorkers(), [&](int) {
      return [&allRun, left] {
        allRun.arrive_and_wait();  // blocks the thread
        left.done();
      };
    });
    enqueueAll(tasks);
    left.wait();
  };
  if (numWorkers() == 0) {
    GTEST_SKIP() << "nobody else";
  }
  const int rounds = numWorkers() > 8 ? 3 : 30;
  for (int i = 0; i < rounds; ++i) {
    expectAllAtOnce([](auto& tasks) { scheduleMany(tasks); });
    expectAllAtOnce([this](auto& tasks) { std::thread([&] { scheduler().enqueueMany(tasks); }).join(); });
    expectAllAtOnce([](auto& tasks) { schedule([&tasks] { scheduleMany(tasks); }); });
  }
}

using EnqueueManyDeathTest = tests::DeathTest;

TEST_F(EnqueueManyDeathTest, WithoutASchedulerThatCouldRunThem) {
  const auto nothing = [] {};
  EXPECT_DEATH(scheduleMany(std::vector{nothing}),
               "fatal.*scheduleMany\\(\\) was called on a thread to which no scheduler is bound");
  EXPECT_DEATH(
      {
        Scheduler scheduler(Scheduler::Config().setWorkerThreadCount(0));
        scheduler.enqueueMany(std::vector{nothing});
      },
      "fatal.*Scheduler::enqueueMany\\(\\): this scheduler has no worker threads");
  EXPECT_DEATH(
      {
        Scheduler scheduler(Scheduler::Config().setWorkerThreadCount(1));
        std::vector<Task> tasks;
        tasks.emplace_back(nothing);
        tasks.emplace_back(nothing);
        tasks.emplace_back(nothing, Task::Flags::SameThread);
        scheduler.enqueueMany(std::move(tasks));
      },
      "fatal.*Scheduler::enqueueMany\\(\\): a SameThread task was given by a thread");
}

}  // namespace
}  // namespace weft
