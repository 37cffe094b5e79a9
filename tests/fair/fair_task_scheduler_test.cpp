// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/fair/task_scheduler.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include "with_fair_scheduler.h"
#include "with_scheduler.h"

namespace weft::inline v0_1::fair {
namespace {

using namespace std::chrono_literals;
using tests::awaitOnThread;
using tests::scaled;

using FairSchedulerTest = tests::WithFairThreads;
WEFT_INSTANTIATE_WITH_FAIR_THREADS(FairSchedulerTest);

TEST_P(FairSchedulerTest, TheExampleOfTheTasksComment) {
  int left = 3;
  Task countdown([&](Task* self) {
    if (--left > 0) {
      TaskScheduler::current()->postDelay(self, 1ms);
    }
  });
  TaskScheduler scheduler("sessions", numThreads(), config());
  scheduler.post(&countdown);
  scheduler.waitEmpty();
  EXPECT_EQ(left, 0);
}

TEST(FairSchedulerNameTest, IsTheOneThatItWasGiven) {
  const TaskScheduler scheduler("a name", 2);
  EXPECT_EQ(scheduler.name(), "a name");
  EXPECT_EQ(scheduler.numThreads(), 2);
}

TEST_P(FairSchedulerTest, RunsEachPostOnceWhoeverPosts) {
  TaskScheduler scheduler("posts", numThreads(), config());
  constexpr int kPosters = 5;
  const int tasksEach = scaled(5'000, 500);
  constexpr int kRuns = 4;
  struct Counted {
    Task task;
    int left = kRuns;
  };
  std::atomic<int> numRuns{0};
  std::vector<std::vector<Counted>> tasks(kPosters);
  std::vector<std::thread> posters;
  for (auto& mine : tasks) {
    mine = std::vector<Counted>(static_cast<size_t>(tasksEach));
    posters.emplace_back([&] {
      for (Counted& each : mine) {
        each.task.setCallback([&](Task* self) {
          numRuns.fetch_add(1, std::memory_order_relaxed);
          if (--each.left > 0) {
            scheduler.post(self);
          }
        });
        scheduler.post(&each.task);
      }
    });
  }
  for (std::thread& poster : posters) {
    poster.join();
  }
  scheduler.waitEmpty();
  EXPECT_EQ(numRuns, kPosters * tasksEach * kRuns);
  uint64_t numSteps = 0;
  for (const auto& thread : scheduler.stats()) {
    numSteps += thread.numSteps;
  }
  EXPECT_EQ(numSteps, static_cast<uint64_t>(numRuns));
}

TEST_P(FairSchedulerTest, StepsStartInTheOrderOfThePosts) {
  TaskScheduler scheduler("order", numThreads(), config());
  const size_t numTasks = scaled(20'000u, 2'000u);
  std::atomic<size_t> numStarted{0};
  std::vector<size_t> started(numTasks);
  std::vector<std::unique_ptr<Task>> tasks;
  for (size_t i = 0; i < numTasks; ++i) {
    tasks.push_back(std::make_unique<Task>([&, i] { started[numStarted++] = i; }));
  }
  for (size_t i = 0; i < numTasks; ++i) {
    scheduler.post(tasks[i].get());
  }
  scheduler.waitEmpty();
  tests::expectStartedInOrder(started, numThreads());
}

TEST_P(FairSchedulerTest, StepsStartInTheOrderOfThePostsWhoeverPosts) {
  TaskScheduler scheduler("order", numThreads(), config());
  const size_t numTasks = scaled(20'000u, 2'000u);
  std::atomic<size_t> numStarted{0};
  std::vector<size_t> started(numTasks);
  std::mutex mutex;  // makes one order of the posts of all threads
  size_t numPosted = 0;
  std::vector<std::thread> posters;
  for (int i = 0; i < 5; ++i) {
    posters.emplace_back([&] {
      for (bool isMore = true; isMore;) {
        std::scoped_lock guard(mutex);
        isMore = numPosted < numTasks;
        if (isMore) {
          scheduler.postOneShot([&, index = numPosted++] { started[numStarted++] = index; });
        }
      }
    });
  }
  for (std::thread& poster : posters) {
    poster.join();
  }
  scheduler.waitEmpty();
  tests::expectStartedInOrder(started, numThreads());
}

TEST_P(FairSchedulerTest, AStepIsNotRunWhileTheLastOneRuns) {
  TaskScheduler scheduler("steps", numThreads(), config());
  std::atomic<int> numInside{0};
  int left = scaled(2'000, 300);
  Task task([&](Task* self) {
    EXPECT_EQ(numInside.fetch_add(1), 0);
    if (--left > 0) {
      scheduler.post(self);
    }
    numInside.fetch_sub(1);
  });
  scheduler.post(&task);
  scheduler.waitEmpty();
  EXPECT_EQ(left, 0);
}

// Each waits for all the others: were a thread idle, or did one hold several, this would not end.
TEST_P(FairSchedulerTest, NoThreadIsIdleWhileWorkWaits) {
  TaskScheduler scheduler("rendezvous", numThreads(), config());
  for (int round = 0; round < 3; ++round) {
    std::atomic<int> numStarted{0};
    const auto meet = [&] {
      ++numStarted;
      awaitOnThread([&] { return numStarted == numThreads(); });
    };
    scheduler.postOneShot([&] {
      for (int i = 1; i < numThreads(); ++i) {
        scheduler.postOneShot(meet);
      }
      meet();
    });
    scheduler.waitEmpty();
    numStarted = 0;
    for (int i = 0; i < numThreads(); ++i) {
      scheduler.postOneShot(meet);
    }
    scheduler.waitEmpty();
  }
}

// Heavy tasks are many times longer than light ones: by their number alone they would all fall to one thread.
TEST_P(FairSchedulerTest, MixedTasksLeaveNoThreadIdle) {
  TaskScheduler scheduler("mixed", numThreads(), config());
  std::atomic<int> numHeavy{0};
  const int numRounds =
      numThreads() > 8 ? 3 : 20;  // of as many threads that wait for each other on few processors
  for (int round = 0; round < numRounds; ++round) {
    std::atomic<int> numInside{0};
    for (int i = 0; i < 100 * numThreads(); ++i) {
      scheduler.postOneShot([&, i] {
        if (i % 100 == 0) {
          ++numHeavy;
          ++numInside;
          awaitOnThread([&] { return numInside >= numThreads(); });
        }
      });
    }
    scheduler.waitEmpty();
  }
  EXPECT_EQ(numHeavy, numRounds * numThreads());
  for (const auto& thread : scheduler.stats()) {
    EXPECT_GE(thread.numSteps, static_cast<uint64_t>(numRounds));
  }
}

TEST_P(FairSchedulerTest, PostAllKeepsTheOrder) {
  TaskScheduler scheduler("range", 1, config());
  std::vector<int> order;
  std::vector<std::unique_ptr<Task>> tasks;
  std::vector<Task*> pointers;
  for (int i = 0; i < 100; ++i) {
    tasks.push_back(std::make_unique<Task>([&, i] { order.push_back(i); }));
    pointers.push_back(tasks.back().get());
  }
  scheduler.postAll(pointers);
  scheduler.postAll(std::vector<Task*>());
  scheduler.waitEmpty();
  EXPECT_EQ(order.size(), 100u);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

#if defined(__cpp_exceptions)
// Tasks, of which those from `numGood` on cannot be had.
struct ThrowsMidway {
  struct Iterator {
    using difference_type = std::ptrdiff_t;
    using value_type = Task*;
    Task* operator*() const {
      return at < range->numGood ? range->tasks[at] : throw std::runtime_error("midway");
    }
    Iterator& operator++() {
      ++at;
      return *this;
    }
    Iterator operator++(int) { return {range, at++}; }
    bool operator==(const Iterator& other) const { return at == other.at; }

    const ThrowsMidway* range;
    size_t at;
  };
  Iterator begin() const { return {this, 0}; }
  Iterator end() const { return {this, tasks.size()}; }

  std::vector<Task*> tasks;
  size_t numGood;
};

TEST_P(FairSchedulerTest, ARangeThatThrowsMidwayPostsNothing) {
  TaskScheduler scheduler("range", numThreads(), config());
  std::vector<Task> tasks(10);
  std::atomic<int> numSteps{0};
  for (Task& task : tasks) {
    task.setCallback([&] { ++numSteps; });
  }
  const auto postAll = [&](size_t numGood) {
    ThrowsMidway range{{}, numGood};
    for (Task& task : tasks) {
      range.tasks.push_back(&task);
    }
    scheduler.postAll(range);
  };
  tasks[1].setDelay(1h);
  EXPECT_THROW(postAll(7), std::runtime_error);
  EXPECT_THROW(postAll(0), std::runtime_error);
  scheduler.waitEmpty();
  EXPECT_EQ(numSteps, 0);
  Task outer([&, step = 0](Task* self) mutable {
    if (++step == 1) {
      EXPECT_THROW(scheduler.postAll(ThrowsMidway{{self, self}, 1}), std::runtime_error);
      scheduler.post(self);
    }
  });
  scheduler.post(&outer);
  scheduler.waitEmpty();
  EXPECT_EQ(numSteps, 0);
  tasks[1].setDelay(0s);
  postAll(10);
  scheduler.waitEmpty();
  EXPECT_EQ(numSteps, 10);
}
#endif

TEST_P(FairSchedulerTest, ABlockOfOneSlotWillDo) {
  for (const uint32_t blockSize : {1u, 2u, 5u, 10'000u}) {
    TaskScheduler scheduler("blocks", numThreads(), config().setBlockSize(blockSize));
    std::atomic<int> numRuns{0};
    for (int i = 0; i < 1'000; ++i) {
      scheduler.postOneShot([&] { ++numRuns; });
    }
    scheduler.waitEmpty();
    EXPECT_EQ(numRuns, 1'000);
  }
}

TEST_P(FairSchedulerTest, OneShotsOwnWhatTheyCapture) {
  const auto token = std::make_shared<int>(0);
  {
    TaskScheduler scheduler("one-shots", numThreads(), config());
    std::array<char, 200> large{};
    large[199] = 7;
    std::atomic<int> sum{0};
    scheduler.postOneShot([token, unique = std::make_unique<int>(1), &sum] { sum += *unique; });
    scheduler.postOneShot([token, large, &sum] { sum += large[199]; });
    scheduler.waitEmpty();
    EXPECT_EQ(sum, 8);
    EXPECT_EQ(token.use_count(), 1);
    scheduler.stop();
    scheduler.postOneShot([token] {});
  }
  EXPECT_EQ(token.use_count(), 1) << "one that never ran is destroyed";
}

TEST_P(FairSchedulerTest, TasksMoveBetweenSchedulers) {
  TaskScheduler first("first", numThreads(), config()), second("second", 2, config());
  int hops = 0;
  std::atomic<bool> isLast{false};
  Task task([&](Task* self) {
    EXPECT_EQ(TaskScheduler::current(), hops % 2 == 0 ? &first : &second);
    if (++hops < 200) {
      (hops % 2 == 0 ? first : second).post(self);
    } else {
      isLast = true;
    }
  });
  EXPECT_EQ(TaskScheduler::current(), nullptr);
  first.post(&task);
  // Each may be empty now and then before.
  awaitOnThread([&] { return isLast.load(); });
  first.waitEmpty();
  second.waitEmpty();
  EXPECT_EQ(hops, 200);
}

}  // namespace
}  // namespace weft::inline v0_1::fair
