// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/scheduler.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <latch>
#include <memory>
#include <thread>
#include <vector>

#include <weft/event.h>
#include <weft/waitgroup.h>

#include "with_scheduler.h"
#include "workers.h"

namespace weft {
namespace {

using tests::scaled;
using tests::smallConfig;
using tests::sum;

class SchedulerTest : public tests::WithScheduler {
 protected:
  // Runs `f` on `count` threads at once, and joins them.
  template <class F>
  static void onThreads(int count, F f) {
    std::vector<std::thread> threads;
    std::latch start(count);
    for (int i = 0; i < count; ++i) {
      threads.emplace_back([&, i] {
        start.arrive_and_wait();
        f(i);
      });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
  }
};
WEFT_INSTANTIATE_WITH_SCHEDULER(SchedulerTest);

using SchedulerWithoutBindingTest = tests::WithAllocator;

TEST_P(SchedulerTest, IsTheBoundOneUntilItIsUnbound) {
  EXPECT_EQ(Scheduler::get(), &scheduler());
  Scheduler::unbind();
  EXPECT_EQ(Scheduler::get(), nullptr);
  scheduler().bind();
  EXPECT_EQ(Scheduler::get(), &scheduler());
}

TEST_P(SchedulerTest, IsBoundToThatThreadOnlyWhichBoundIt) {
  std::thread([] { EXPECT_EQ(Scheduler::get(), nullptr); }).join();
}

TEST_P(SchedulerTest, IsTheOneThatATaskSees) {
  WaitGroup done(1);
  Scheduler* seen = nullptr;
  schedule([&seen, done] {
    seen = Scheduler::get();
    done.done();
  });
  done.wait();
  EXPECT_EQ(seen, &scheduler());
}

TEST_P(SchedulerTest, EchoesItsConfiguration) {
  EXPECT_EQ(scheduler().config().workerThread.count, numWorkers());
  EXPECT_EQ(scheduler().config().allocator, allocator());
  EXPECT_EQ(scheduler().config().fiberStackSize, smallConfig(0).fiberStackSize);
}

TEST_P(SchedulerTest, RunsEachTaskOnceWithItsArguments) {
  constexpr int kTasks = 1000;
  std::vector<std::atomic<int>> runs(kTasks);
  WaitGroup done(kTasks);
  for (int i = 0; i < kTasks; ++i) {
    schedule(
        [&](int index, const WaitGroup& group) {
          ++runs[static_cast<size_t>(index)];
          group.done();
        },
        i, done);
  }
  done.wait();
  EXPECT_TRUE(std::all_of(runs.begin(), runs.end(), [](const auto& count) { return count == 1; }));
}

TEST_P(SchedulerTest, RunsMoveOnlyCapturesAndArguments) {
  WaitGroup done(2);
  std::atomic<int> total{0};
  schedule([value = std::make_unique<int>(40), &total, done] {
    total += *value;
    done.done();
  });
  schedule(
      [&total](std::unique_ptr<int> value, const WaitGroup& group) {
        total += *value;
        group.done();
      },
      std::make_unique<int>(2), done);
  done.wait();
  EXPECT_EQ(total, 42);
}

TEST_P(SchedulerTest, PassesReferencesThatAreWrapped) {
  int value = 0;
  WaitGroup done(1);
  schedule(
      [](int& target, const WaitGroup& group) {
        target = 7;
        group.done();
      },
      std::ref(value), done);
  done.wait();
  EXPECT_EQ(value, 7);
}

TEST_P(SchedulerTest, RunsTasksThatTasksSchedule) {
  WaitGroup done(1);
  std::atomic<int> ran{0};
  struct Tree {
    static void grow(int depth, std::atomic<int>& count, const WaitGroup& group) {
      ++count;
      if (depth > 0) {
        group.add(2);
        for (int i = 0; i < 2; ++i) {
          schedule([depth, &count, group] { grow(depth - 1, count, group); });
        }
      }
      group.done();
    }
  };
  schedule([&ran, done] { Tree::grow(11, ran, done); });
  done.wait();
  EXPECT_EQ(ran, 4095);
}

TEST_P(SchedulerTest, RunsTasksOnWorkersOnlyOrWithoutAnyOnTheThreadThatScheduledThem) {
  constexpr int kTasks = 200;
  const std::thread::id self = std::this_thread::get_id();
  WaitGroup done(kTasks);
  std::atomic<int> onSelf{0};
  for (int i = 0; i < kTasks; ++i) {
    schedule([&, done] {
      onSelf += std::this_thread::get_id() == self;
      done.done();
    });
  }
  done.wait();
  EXPECT_EQ(onSelf, numWorkers() == 0 ? kTasks : 0);
}

TEST_P(SchedulerTest, WithoutWorkersRunsATaskOnItsOwnThreadAndNoOther) {
  if (numWorkers() != 0) {
    GTEST_SKIP() << "about schedulers without workers";
  }
  std::atomic<int> elsewhere{0};
  onThreads(4, [&](int) {
    Scheduler::Binding binding(scheduler());
    const std::thread::id self = std::this_thread::get_id();
    WaitGroup done(100);
    for (int i = 0; i < 100; ++i) {
      schedule([&, done] {
        elsewhere += std::this_thread::get_id() != self;
        schedule([&elsewhere, self] { elsewhere += std::this_thread::get_id() != self; });
        done.done();
      });
    }
    done.wait();
  });
  EXPECT_EQ(elsewhere, 0);
}

TEST_P(SchedulerTest, RunsNothingOnABoundThreadBeforeItWaits) {
  if (numWorkers() != 0) {
    GTEST_SKIP() << "about schedulers without workers";
  }
  bool ran = false;
  schedule([&] { ran = true; });
  EXPECT_FALSE(ran);
  const Event signalled(Event::Mode::Auto, true);
  signalled.wait();
  EXPECT_FALSE(ran) << "a wait that need not wait runs nothing";
  Scheduler::unbind();
  EXPECT_TRUE(ran);
  scheduler().bind();
}

TEST_P(SchedulerTest, RunsSameThreadTasksOnTheThreadThatScheduledThem) {
  constexpr int kTasks = 50;
  const std::thread::id self = std::this_thread::get_id();
  std::atomic<int> elsewhere{0};
  WaitGroup done(2 * kTasks);
  for (int i = 0; i < kTasks; ++i) {
    schedule(Task([&, done] { elsewhere += std::this_thread::get_id() != self, done.done(); },
                  Task::Flags::SameThread));
    schedule([&, done] {
      const std::thread::id worker = std::this_thread::get_id();
      schedule(Task([&, worker, done] { elsewhere += std::this_thread::get_id() != worker, done.done(); },
                    Task::Flags::SameThread));
    });
  }
  done.wait();
  EXPECT_EQ(elsewhere, 0);
}

TEST_P(SchedulerTest, ResumesABlockedTaskOnTheThreadWhereItBegan) {
  constexpr int kTasks = 200;
  std::vector<Event> events;
  std::atomic<int> moved{0}, started{0};
  WaitGroup done(kTasks);
  for (int i = 0; i < kTasks; ++i) {
    events.emplace_back(Event::Mode::Manual);
    schedule([&moved, &started, done, event = events.back()] {
      const std::thread::id before = std::this_thread::get_id();
      ++started;
      event.wait();
      moved += std::this_thread::get_id() != before;
      done.done();
    });
  }
  WaitGroup signalled(1);
  schedule([events, signalled] {
    for (const Event& event : events) {
      event.signal();
    }
    signalled.done();
  });
  signalled.wait();
  done.wait();
  EXPECT_EQ(moved, 0);
  EXPECT_EQ(started, kTasks);
}

TEST_P(SchedulerTest, RunsAMillionShortTasksFromEightThreadsThatAreBound) {
  const int perThread = scaled(numWorkers() == 0 || numWorkers() == 2 ? 125'000 : 12'500, 1000);
  std::atomic<int64_t> ran{0};
  onThreads(8, [&](int) {
    Scheduler::Binding binding(scheduler());
    WaitGroup done(static_cast<unsigned>(perThread));
    for (int i = 0; i < perThread; ++i) {
      schedule([&ran, done] {
        ran.fetch_add(1, std::memory_order_relaxed);
        done.done();
      });
    }
    done.wait();
  });
  EXPECT_EQ(ran, int64_t{8} * perThread);
}

TEST_P(SchedulerTest, RunsAMillionShortTasksFromEightThreadsThatAreNotBound) {
  if (numWorkers() == 0) {
    GTEST_SKIP() << "nobody would run them";
  }
  const int perThread = scaled(numWorkers() == 2 ? 125'000 : 12'500, 1000);
  std::atomic<int64_t> ran{0};
  onThreads(8, [&](int) {
    WaitGroup done(static_cast<unsigned>(perThread));
    for (int i = 0; i < perThread; ++i) {
      scheduler().enqueue(Task([&ran, done] {
        ran.fetch_add(1, std::memory_order_relaxed);
        done.done();
      }));
    }
    done.wait();
  });
  EXPECT_EQ(ran, int64_t{8} * perThread);
}

TEST_P(SchedulerTest, BindsAThousandThreadsAtOnce) {
  // 32 bits have no address space for a thousand stacks of threads.
  const int kThreads = sizeof(void*) == 4 ? 100 : scaled(1000, 100);
  std::atomic<int> ran{0};
  std::latch allBound(kThreads);
  onThreads(kThreads, [&](int) {
    Scheduler::Binding binding(scheduler());
    allBound.arrive_and_wait();
    WaitGroup done(1);
    schedule([&ran, done] {
      ++ran;
      done.done();
    });
    done.wait();
  });
  EXPECT_EQ(ran, kThreads);
}

TEST_P(SchedulerTest, RunsATaskThatAWorkerOfAnotherSchedulerGivesItOnItsOwnWorkers) {
  if (numWorkers() == 0) {
    GTEST_SKIP() << "nobody would run them";
  }
  std::atomic<int> wrong{0};
  WaitGroup done(100);
  {
    Scheduler other(smallConfig(2));
    for (int i = 0; i < 100; ++i) {
      other.enqueue(Task([&, done] {
        wrong += Scheduler::get() != &other;
        scheduler().enqueue(Task([&, done] {
          wrong += Scheduler::get() != &scheduler();
          done.done();
        }));
      }));
    }
    done.wait();
  }
  EXPECT_EQ(wrong, 0);
}

TEST_P(SchedulerTest, LetsTasksOfTwoSchedulersWaitForEachOther) {
  if (numWorkers() == 0) {
    GTEST_SKIP() << "nobody would run them";
  }
  constexpr int kPairs = 100;
  WaitGroup done(2 * kPairs);
  Scheduler other(smallConfig(1));
  for (int i = 0; i < kPairs; ++i) {
    Event ping, pong;
    scheduler().enqueue(Task([=] {
      ping.signal();
      pong.wait();
      done.done();
    }));
    other.enqueue(Task([=] {
      ping.wait();
      pong.signal();
      done.done();
    }));
  }
  done.wait();
}

TEST_F(SchedulerWithoutBindingTest, RunsBesideOtherSchedulers) {
  constexpr int kSchedulers = 5;
  std::vector<std::unique_ptr<Scheduler>> schedulers;
  for (int i = 0; i < kSchedulers; ++i) {
    schedulers.push_back(std::make_unique<Scheduler>(smallConfig(i, allocator())));
  }
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (auto& scheduler : schedulers) {
    threads.emplace_back([&, own = scheduler.get()] {
      Scheduler::Binding binding(*own);
      WaitGroup done(100);
      for (int i = 0; i < 100; ++i) {
        schedule([&wrong, own, done] {
          wrong += Scheduler::get() != own;
          done.done();
        });
      }
      done.wait();
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(wrong, 0);
}

TEST_F(SchedulerWithoutBindingTest, MayBeMadeAndDestroyedInsideATaskOfAnother) {
  Scheduler outer(smallConfig(2, allocator()));
  Scheduler::Binding binding(outer);
  std::atomic<int> ran{0};
  WaitGroup done(1);
  schedule([&, done] {
    {
      Scheduler inner(smallConfig(2, allocator()));
      for (int i = 0; i < 10; ++i) {
        inner.enqueue(Task([&] { ++ran; }));
      }
    }
    done.done();
  });
  done.wait();
  EXPECT_EQ(ran, 10);
}

}  // namespace
}  // namespace weft
