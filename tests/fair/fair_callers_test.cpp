// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include <weft/event.h>
#include <weft/fair/task_scheduler.h>
#include <weft/scheduler.h>
#include <weft/waitgroup.h>

#include "fair/core.h"
#include "waiting.h"
#include "with_fair_scheduler.h"

namespace weft::tests {

struct FairSchedulerCore {
  friend constexpr auto member(FairSchedulerCore);
};
template struct Expose<FairSchedulerCore, &fair::TaskScheduler::core_>;

}  // namespace weft::tests

// Who may call a fair::TaskScheduler, all at the same time; and what its threads do meanwhile.
namespace weft::inline v0_1::fair {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using tests::awaitOnThread;
using tests::scaled;

using FairCallersTest = tests::WithFairThreads;
WEFT_INSTANTIATE_WITH_FAIR_THREADS(FairCallersTest);

// Calls all that any caller may call.
class Everything {
 public:
  explicit Everything(TaskScheduler& scheduler) : scheduler_(scheduler) {
    for (Task* task : {&now_, &later_, &at_, &woken_, &first_, &second_}) {
      task->setCallback([this] { ++numRuns_; });
    }
    signaled_.setCallback([this](Task* self) { numRuns_ += self->receiveSignal() ? 1 : 100; });
  }

  void post() {
    scheduler_.reserve(10);
    scheduler_.post(&now_);
    scheduler_.postDelay(&later_, 1us);
    scheduler_.postDeadline(&at_, Clock::now());
    scheduler_.postWait(&woken_);
    scheduler_.postWait(&signaled_);
    scheduler_.postOneShot([this] { ++numRuns_; });
    scheduler_.postAll(std::array{&first_, &second_});
    EXPECT_FALSE(scheduler_.isEmpty());
    EXPECT_EQ(scheduler_.stats().size(), static_cast<size_t>(scheduler_.numThreads()));
    scheduler_.wakeup(&woken_);
    scheduler_.signal(&signaled_);
  }

  void expectAllRan() {
    scheduler_.waitEmpty();
    EXPECT_TRUE(scheduler_.isEmpty());
    EXPECT_EQ(numRuns_, 8);
    numRuns_ = 0;
  }

 private:
  TaskScheduler& scheduler_;
  std::atomic<int> numRuns_{0};
  Task now_, later_, at_, woken_, signaled_, first_, second_;
};

// By whoever is no step of the scheduler.
void useEverything(TaskScheduler& scheduler) {
  Everything everything(scheduler);
  everything.post();
  everything.expectAllRan();
  Task waiting([] {});
  scheduler.postWait(&waiting);
  EXPECT_FALSE(scheduler.waitEmpty(0s));
  scheduler.stop();
  EXPECT_EQ(scheduler.takeBack(), std::vector<Task*>{&waiting});
  everything.post();
  scheduler.start();
  everything.expectAllRan();
}

TEST_P(FairCallersTest, AThreadMayCallEverything) {
  TaskScheduler scheduler("called", numThreads(), config());
  EXPECT_EQ(TaskScheduler::current(), nullptr);
  useEverything(scheduler);
}

TEST_P(FairCallersTest, AStepOfAnotherSchedulerMayCallEverything) {
  TaskScheduler scheduler("called", numThreads(), config()), caller("caller", 1, config());
  caller.postOneShot([&] {
    EXPECT_EQ(TaskScheduler::current(), &caller);
    useEverything(scheduler);
  });
  caller.waitEmpty();
}

TEST_P(FairCallersTest, AFiberMayCallEverything) {
  TaskScheduler scheduler("called", numThreads(), config());
  for (const int numWorkers : {0, 2}) {
    Scheduler fibers(tests::smallConfig(numWorkers));
    fibers.bind();
    const WaitGroup done(1);
    schedule([&, done] {
      EXPECT_EQ(TaskScheduler::current(), nullptr);
      useEverything(scheduler);
      done.done();
    });
    done.wait();
    Scheduler::unbind();
  }
}

TEST_P(FairCallersTest, AStepMayPostWakeAndSignal) {
  TaskScheduler scheduler("called", numThreads(), config());
  Everything everything(scheduler);
  scheduler.postOneShot([&] {
    EXPECT_EQ(TaskScheduler::current(), &scheduler);
    everything.post();
  });
  everything.expectAllRan();
}

// Five threads post, wake and signal at random, while the scheduler is stopped and started. A step posts its
// task again, or lets any thread do so. Counts match: of steps and posts, of signals that found none and
// those that were received.
struct Stormed {
  Task task;
  std::atomic<bool> isIdle{true};     // anybody may post it
  std::atomic<bool> isSent{false};    // there is a signal, or about to be
  std::atomic<uint64_t> numPosts{0};  // counted before the post
  std::atomic<uint64_t> numEdges{0};
  uint64_t numSteps = 0;
  uint64_t numReceived = 0;
};

class Storm {
 public:
  Storm(TaskScheduler& scheduler, size_t numTasks) : scheduler_(scheduler), tasks_(numTasks) {
    for (Stormed& each : tasks_) {
      each.task.setCallback([this, &each] { step(each); });
    }
  }

  void rage(unsigned seed, int count) {
    std::mt19937 random(seed);
    for (int i = 0; i < count; ++i) {
      Stormed& each = tasks_[random() % tasks_.size()];
      switch (random() % 3) {
        case 0:
          if (each.isIdle.exchange(false)) {
            post(each, random());
          }
          break;
        case 1:
          scheduler_.wakeup(&each.task);
          break;
        default:
          if (!each.isSent.exchange(true)) {
            ++each.numEdges;
            scheduler_.signal(&each.task);
          }
      }
    }
  }

  // All threads are back.
  void end() {
    isOver_ = true;
    for (Stormed& each : tasks_) {
      scheduler_.wakeup(&each.task);
    }
    scheduler_.waitEmpty();
    for (Stormed& each : tasks_) {
      ASSERT_TRUE(each.isIdle.exchange(false));
      post(each, 0);  // receives a signal that came when it was idle
    }
    scheduler_.waitEmpty();
    for (Stormed& each : tasks_) {
      EXPECT_EQ(each.numSteps, each.numPosts);
      EXPECT_EQ(each.numReceived, each.numEdges);
      EXPECT_FALSE(each.task.isSignaled());
    }
  }

 private:
  void post(Stormed& each, unsigned how) {
    ++each.numPosts;
    switch (how % 3) {
      case 0:
        scheduler_.post(&each.task);
        break;
      case 1:
        scheduler_.postDelay(&each.task, std::chrono::microseconds(how % 50));
        break;
      default:
        scheduler_.postWait(&each.task);
    }
  }

  void step(Stormed& each) {
    ++each.numSteps;
    if (each.task.receiveSignal()) {
      ++each.numReceived;
      each.isSent = false;
    }
    if (isOver_ || each.numSteps % 2 == 0) {
      each.isIdle = true;  // the last access: another thread may post it now
    } else {
      post(each, static_cast<unsigned>(each.numSteps / 2));
    }
  }

  TaskScheduler& scheduler_;
  std::vector<Stormed> tasks_;
  std::atomic<bool> isOver_{false};
};

TEST_P(FairCallersTest, AStormFromFiveThreadsAcrossStopsAndStarts) {
  TaskScheduler scheduler("storm", numThreads(), config());
  Storm storm(scheduler, 30);
  std::vector<std::thread> stormers;
  for (unsigned i = 0; i < 5; ++i) {
    stormers.emplace_back([&, i] { storm.rage(i, scaled(20'000, 2'000)); });
  }
  for (int i = 0; i < scaled(20, 5); ++i) {
    scheduler.stop();
    scheduler.start();
  }
  for (std::thread& stormer : stormers) {
    stormer.join();
  }
  storm.end();
}

// Threads come and go with the work: a task posts itself, some after a moment, and then three others.
TEST_P(FairCallersTest, NoStepIsLostWhereThreadsComeAndGo) {
  TaskScheduler scheduler("tree", numThreads(), config());
  constexpr size_t kTasks = 10'000;
  for (int round = 0; round < scaled(10, 1); ++round) {
    std::atomic<size_t> numEnded{0};
    std::vector<std::unique_ptr<Task>> tasks(kTasks);
    const std::function<void(size_t)> begin = [&](size_t i) {
      tasks[i] = std::make_unique<Task>([&, i, step = 0](Task* self) mutable {
        if (++step == 1 && i % 20 == 0) {
          scheduler.postDelay(self, 100us);
          return;
        }
        if (step < 4) {
          scheduler.post(self);
          return;
        }
        ++numEnded;
        for (size_t child = 3 * i + 1; child < std::min(3 * i + 4, kTasks); ++child) {
          begin(child);
        }
      });
      scheduler.post(tasks[i].get());
    };
    begin(0);
    scheduler.waitEmpty();
    ASSERT_EQ(numEnded, kTasks);
  }
}

// The blocker that the task posts before itself takes a thread until the task's next step, which another
// thread has to run.
TEST_P(FairCallersTest, ATaskIsBoundToNoThread) {
  if (numThreads() == 1) {
    return;
  }
  TaskScheduler scheduler("unbound", numThreads(), config());
  std::set<std::thread::id> threads;
  std::atomic<int> numSteps{0};
  Task task([&](Task* self) {
    threads.insert(std::this_thread::get_id());
    const int step = ++numSteps;
    if (threads.size() < 2) {
      scheduler.postOneShot([&, step] { awaitOnThread([&] { return numSteps > step; }); });
      scheduler.post(self);
    }
  });
  scheduler.post(&task);
  scheduler.waitEmpty();
  EXPECT_EQ(threads.size(), 2u);
}

// Whether all threads but the one that runs a step sleep until they are woken.
bool doOthersSleep(detail::FairCore& core) {
  const std::scoped_lock held(core.quiescence.lock);
  return core.dispatcher.lock.numActive() == 1 &&
         (core.workers.size() == 1 || (core.idle.hasNoWatcher() && core.dispatcher.front.isParked()));
}

uint64_t numParksOf(const TaskScheduler& scheduler) {
  uint64_t sum = 0;
  for (const auto& thread : scheduler.stats()) {
    sum += thread.numParks;
  }
  return sum;
}

// A thread that the system keeps from running while it becomes idle may hold up the others, which park again
// and again meanwhile. So the steps count from the time at which all others sleep.
TEST_P(FairCallersTest, ALoneTaskThatPostsItselfWakesNobody) {
  TaskScheduler scheduler("lone", numThreads(), config());
  detail::FairCore& core = *(scheduler.*member(tests::FairSchedulerCore{}));
  uint64_t left = scaled(100'000u, 20'000u), before = 0, after = 0;
  bool isCounting = false;
  Task task([&](Task* self) {
    if (!isCounting && doOthersSleep(core)) {
      isCounting = true;
      before = numParksOf(scheduler);
    }
    left -= isCounting ? 1 : 0;
    if (left > 0) {
      scheduler.post(self);
    } else {
      after = numParksOf(scheduler);
    }
  });
  scheduler.post(&task);
  scheduler.waitEmpty();
  // A thread that was woken before, and finds nothing to do, parks once more.
  EXPECT_LE(after - before, static_cast<uint64_t>(numThreads() - 1));
}

TEST_P(FairCallersTest, QueuesGiveTheirMemoryBackAfterABurst) {
  TaskScheduler scheduler("burst", numThreads(), config());
  scheduler.postOneShot([] {});
  scheduler.waitEmpty();
  const size_t before = allocator().stats().bytesAllocated();
  std::vector<std::unique_ptr<Task>> tasks;
  std::vector<Task*> pointers;
  for (int i = 0; i < scaled(100'000, 10'000); ++i) {
    tasks.push_back(std::make_unique<Task>([] {}));
    pointers.push_back(tasks.back().get());
  }
  scheduler.postAll(pointers);
  scheduler.waitEmpty();
  EXPECT_LT(allocator().stats().bytesAllocated(), before + 64 * 1024);
}

TEST_P(FairCallersTest, ATaskTakenBackHasForgottenItsDeadline) {
  TaskScheduler scheduler("taken back", numThreads(), config());
  std::atomic<int> numRuns{0}, numBusy{0};
  std::atomic<bool> mayEnd{false};
  Task due([&] { ++numRuns; });
  std::vector<Task> busy(static_cast<size_t>(numThreads()));
  for (Task& task : busy) {
    task.setCallback([&] {
      ++numBusy;
      awaitOnThread([&] { return mayEnd.load(); });
    });
    scheduler.post(&task);
  }
  awaitOnThread([&] { return numBusy == numThreads(); });
  scheduler.postDeadline(&due, Clock::now() - 1s);
  std::thread stopping([&] { scheduler.stop(); });
  mayEnd = true;
  stopping.join();
  const size_t numTaken = scheduler.takeBack().size();
  EXPECT_EQ(numTaken + static_cast<size_t>(numRuns), 1u);
  numRuns = 0;
  scheduler.start();
  scheduler.postWait(&due);
  std::atomic<bool> hasRun{false};
  scheduler.postOneShot([&] { hasRun = true; });  // after it was looked at
  awaitOnThread([&] { return hasRun.load(); });
  EXPECT_FALSE(scheduler.waitEmpty(1ms));
  EXPECT_EQ(numRuns, 0);
  scheduler.wakeup(&due);
  scheduler.waitEmpty();
}

TEST_P(FairCallersTest, ATaskThatWaitsIsGivenBackWithoutItsDeadline) {
  std::atomic<int> numRuns{0};
  Task first([&] { ++numRuns; }), second([&] { ++numRuns; });
  {
    TaskScheduler scheduler("given back", numThreads(), config());
    scheduler.postWait(&first);
    scheduler.postDelay(&second, 1h);
    scheduler.stop();
    EXPECT_EQ(scheduler.takeBack().size(), 2u);
    EXPECT_EQ(first.deadline(), Clock::time_point::min());
    scheduler.start();
    scheduler.post(&first);
    scheduler.post(&second);
    EXPECT_TRUE(scheduler.waitEmpty(1min)) << "they wait for the old deadlines";
    EXPECT_EQ(numRuns, 2);
    scheduler.postWait(&first);
  }
  TaskScheduler other("other", numThreads(), config());
  other.post(&first);
  EXPECT_TRUE(other.waitEmpty(1min));
  EXPECT_EQ(numRuns, 3);
}

// Short steps do not look after deadlines for others when one of them turns out to be long.
TEST_P(FairCallersTest, AnIdleThreadSeesToTheDeadlinesBesideAStepThatIsLong) {
  if (numThreads() == 1) {
    GTEST_SKIP() << "needs an idle thread";
  }
  TaskScheduler scheduler("long", numThreads(), config());
  std::atomic<int> numTicks{0};
  std::atomic<bool> isOver{false};
  Task ticking([&](Task* self) {
    ++numTicks;
    if (!isOver) {
      scheduler.postDelay(self, 5ms);
    }
  });
  int numLeft = scaled(10, 3);
  Clock::time_point fineUntil = Clock::now();
  Task mostlyShort([&](Task* self) {
    if (Clock::now() >= fineUntil) {
      // Hangs if nobody sees to the deadline.
      const int before = numTicks;
      awaitOnThread([&] { return numTicks >= before + 2; });
      fineUntil = Clock::now() + 20ms;
      --numLeft;
    }
    numLeft > 0 ? scheduler.post(self) : isOver.store(true);
  });
  scheduler.post(&ticking);
  scheduler.post(&mostlyShort);
  scheduler.waitEmpty();
}

// A thread that has just had a deadline seen to, sleeps, and wakes for a long step, must have it seen to
// again.
TEST_P(FairCallersTest, AnIdleThreadSeesToTheDeadlinesBesideALongStepAfterAPause) {
  if (numThreads() == 1) {
    GTEST_SKIP() << "needs an idle thread";
  }
  TaskScheduler scheduler("after a pause", numThreads(), config());
  for (int i = 0; i < scaled(50, 5); ++i) {
    std::atomic<bool> hasTicked{false};
    Task ticking([&] { hasTicked = true; });
    int numLeft = 100;
    Event areOver;
    Task shortSteps([&](Task* self) { --numLeft > 0 ? scheduler.post(self) : areOver.signal(); });
    // Hangs if nobody sees to the deadline.
    Task longStep([&] { awaitOnThread([&] { return hasTicked.load(); }); });
    scheduler.postDelay(&ticking, 3ms);
    scheduler.post(&shortSteps);
    areOver.wait();
    std::this_thread::sleep_for(std::chrono::microseconds(50 * (i % 10)));
    scheduler.post(&longStep);
    scheduler.waitEmpty();
  }
}

TEST_P(FairCallersTest, ReserveMakesRoomForDeadlines) {
  TaskScheduler scheduler("reserved", numThreads(), config());
  constexpr size_t kTasks = 1'000;
  const auto bytes = [&] {
    return allocator().stats().byUsage[static_cast<size_t>(Allocation::Usage::Vector)].bytes;
  };
  std::vector<Task> tasks(kTasks);
  scheduler.reserve(kTasks);
  for (Task& task : tasks) {
    task.setCallback([] {});
    task.setWait();
  }
  scheduler.post(&tasks[0]);
  awaitOnThread([&] { return bytes() >= kTasks * sizeof(void*); });
  const size_t reserved = bytes();
  for (size_t i = 1; i < kTasks; ++i) {
    scheduler.post(&tasks[i]);
  }
  std::atomic<bool> hasRun{false};
  scheduler.postOneShot([&] { hasRun = true; });  // after all of them were looked at
  awaitOnThread([&] { return hasRun.load(); });
  EXPECT_EQ(bytes(), reserved);
  for (Task& task : tasks) {
    scheduler.wakeup(&task);
  }
  scheduler.waitEmpty();
}

}  // namespace
}  // namespace weft::inline v0_1::fair
