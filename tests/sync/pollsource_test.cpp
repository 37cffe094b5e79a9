// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/pollsource.h>

#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <weft/channel.h>
#include <weft/event.h>
#include <weft/fiber.h>
#include <weft/scheduler.h>
#include <weft/select.h>
#include <weft/waitgroup.h>

#include "in_task.h"
#include "with_scheduler.h"

namespace weft::pollsource_test {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using tests::inTask;

// What a device knows of a request.
struct Job {
  std::atomic<bool> isDone{false};
  std::atomic<int> numTests{0};
  int result = 0;  // written by the test
};

bool test(Job* job) {
  ++job->numTests;
  if (!job->isDone) {
    return false;
  }
  job->result = 42;
  return true;
}

using Source = PollSource<Job*>;

class PollSourceTest : public tests::WithScheduler {};
WEFT_INSTANTIATE_WITH_SCHEDULER(PollSourceTest);

TEST_P(PollSourceTest, ARequestThatIsDoneIsTestedOnceAndTheFiberGoesOn) {
  Source source(&test);
  Job job;
  job.isDone = true;
  inTask([&] {
    Job* handle = &job;
    source.wait(handle);
  });
  EXPECT_EQ(job.numTests, 1);
  EXPECT_EQ(job.result, 42);
  EXPECT_EQ(source.numInFlight(), 0u);
}

TEST_P(PollSourceTest, OthersRunWhileAFiberWaits) {
  Source source(&test);
  Job job;
  WaitGroup done(2);
  schedule([&] {
    source.wait(&job);
    EXPECT_EQ(job.result, 42);
    done.done();
  });
  // On the same worker, too: without a scheduler's threads there is no other.
  schedule([&] {
    while (source.numInFlight() == 0) {
      yield();
    }
    job.isDone = true;
    done.done();
  });
  done.wait();
  EXPECT_EQ(source.numInFlight(), 0u);
}

TEST_P(PollSourceTest, ABoundThreadWaits) {
  Source source(&test);
  Job job;
  std::thread device([&] {
    while (job.numTests < 3) {
      std::this_thread::yield();
    }
    job.isDone = true;
  });
  source.wait(&job);
  EXPECT_EQ(job.result, 42);
  device.join();
}

TEST_P(PollSourceTest, WhatAThreadWithoutASchedulerWaitsForIsInFlight) {
  Source source(&test);
  Job job;
  std::thread waiter([&] { source.wait(&job); });
  while (source.numInFlight() == 0) {
    std::this_thread::yield();
  }
  EXPECT_EQ(source.numInFlight(), 1u);
  job.isDone = true;
  waiter.join();
  EXPECT_EQ(source.numInFlight(), 0u);
}

TEST_P(PollSourceTest, EachOfManyWaitersGoesOnOnceItsRequestIsDone) {
  constexpr int kJobs = tests::scaled(2000, 300);
  std::vector<Job> jobs(kJobs);
  std::atomic<size_t> most = 0;
  Source source(scheduler(), [&](PollBatch<Job*>& batch) {
    most = std::max<size_t>(most, batch.size());
    for (size_t i = 0; i < batch.size(); ++i) {
      if (test(batch[i])) {
        batch.setDone(i);
      }
    }
  });
  std::atomic<int> numWrong{0};
  WaitGroup done(kJobs);
  for (Job& job : jobs) {
    schedule([&] {
      source.wait(&job);
      numWrong += job.isDone && job.result == 42 ? 0 : 1;
      done.done();
    });
  }
  std::thread device([&] {
    std::vector<int> order(kJobs);
    for (int i = 0; i < kJobs; ++i) {
      order[i] = i;
    }
    std::shuffle(order.begin(), order.end(), std::mt19937(1));
    for (const int i : order) {
      jobs[i].isDone = true;
    }
  });
  done.wait();
  device.join();
  EXPECT_EQ(numWrong, 0);
  EXPECT_LE(most, 512u);
  EXPECT_EQ(source.numInFlight(), 0u);
}

TEST_P(PollSourceTest, NothingIsTestedAfterTheLastRequest) {
  std::atomic<int> numTests{0};
  Source source(scheduler(), [&](Job*& job) {
    ++numTests;
    return test(job);
  });
  Job job;
  std::thread device([&] {
    while (job.numTests < 2) {
      std::this_thread::yield();
    }
    job.isDone = true;
  });
  inTask([&] { source.wait(&job); });
  device.join();
  const int before = numTests;
  for (int i = 0; i < 1000; ++i) {
    inTask([] { yield(); });
  }
  EXPECT_EQ(numTests, before);
}

TEST_P(PollSourceTest, AWaitEndsAtItsDeadlineAndLeavesTheHandle) {
  Source source(&test);
  inTask([&] {
    const auto job = std::make_unique<Job>();
    Job* handle = job.get();
    EXPECT_FALSE(source.wait_for(handle, milliseconds(2)));
    EXPECT_EQ(source.numInFlight(), 0u);
    EXPECT_FALSE(source.wait_until(handle, std::chrono::system_clock::now() + milliseconds(1)));
  });
  EXPECT_EQ(source.numInFlight(), 0u);
}

TEST_P(PollSourceTest, AWaitEndsAtAStop) {
  Source source(&test);
  std::stop_source stop;
  WaitGroup done(1);
  schedule([&] {
    Job job;
    Job* handle = &job;
    EXPECT_FALSE(source.wait(handle, stop.get_token()));
    EXPECT_FALSE(source.wait(handle, stop.get_token()));
    job.isDone = true;
    EXPECT_TRUE(source.wait(handle, stop.get_token()));
    done.done();
  });
  schedule([&] {
    while (source.numInFlight() == 0) {
      yield();
    }
    stop.request_stop();
  });
  done.wait();
}

TEST_P(PollSourceTest, ThoseThatGiveUpLeaveTheOthers) {
  constexpr int kJobs = tests::scaled(400, 100);
  std::vector<Job> jobs(kJobs);
  Source source(&test);
  std::atomic<int> numDone{0}, numLate{0};
  WaitGroup done(kJobs);
  for (int i = 0; i < kJobs; ++i) {
    schedule([&, i] {
      Job* handle = &jobs[i];
      if (i % 2 == 0) {
        const bool isDone = source.wait_for(handle, milliseconds(i % 8));
        (isDone ? numDone : numLate)++;
      } else {
        source.wait(handle);
        ++numDone;
      }
      done.done();
    });
  }
  std::thread device([&] {
    for (Job& job : jobs) {
      job.isDone = true;
      std::this_thread::yield();
    }
  });
  done.wait();
  device.join();
  EXPECT_EQ(numDone + numLate, kJobs);
  EXPECT_GE(numDone, kJobs / 2);
  EXPECT_EQ(source.numInFlight(), 0u);
}

TEST_P(PollSourceTest, NoMoreRequestsAreInFlightThanAllowed) {
  constexpr int kJobs = 50;
  std::atomic<size_t> most{0};
  Source source(scheduler(),
                [&](PollBatch<Job*>& batch) {
                  most = std::max<size_t>(most, batch.size());
                  for (size_t i = 0; i < batch.size(); ++i) {
                    if (++batch[i]->numTests > 3) {
                      batch.setDone(i);
                    }
                  }
                },
                {.name = "narrow", .maxInFlight = 3});
  std::vector<Job> jobs(kJobs);
  WaitGroup done(kJobs);
  for (Job& job : jobs) {
    schedule([&] {
      source.wait(&job);
      EXPECT_LE(source.numInFlight(), 3u);
      done.done();
    });
  }
  done.wait();
  EXPECT_LE(most, 3u);
  EXPECT_EQ(source.numInFlight(), 0u);
}

TEST_P(PollSourceTest, AWaitForRoomEndsAtItsDeadline) {
  Source source(scheduler(), &test, {.maxInFlight = 1});
  Job first, second;
  WaitGroup done(1);
  schedule([&] {
    source.wait(&first);
    done.done();
  });
  inTask([&] {
    while (source.numInFlight() == 0) {
      yield();
    }
    Job* handle = &second;
    EXPECT_FALSE(source.wait_for(handle, milliseconds(1)));
  });
  first.isDone = true;
  done.wait();
}

TEST_P(PollSourceTest, ACompletionIsCalledOnceTheRequestIsDone) {
  Source source(&test);
  Job job, taskJob, doneJob;
  doneJob.isDone = true;
  Event inlineEnded, taskEnded;
  inTask([&] {
    int numCalls = 0;
    source.start(&doneJob, [&](Job* ended) { numCalls += ended == &doneJob ? 1 : 0; });
    EXPECT_EQ(numCalls, 1);
    source.start(&job, [&](Job* ended) {
      EXPECT_EQ(ended->result, 42);
      EXPECT_EQ(Fiber::current(), nullptr);
      inlineEnded.signal();
    });
    source.startTask(&taskJob, [&](Job* ended) {
      EXPECT_EQ(ended, &taskJob);
      yield();
      taskEnded.signal();
    });
    EXPECT_EQ(source.numInFlight(), 2u);
    job.isDone = taskJob.isDone = true;
  });
  inlineEnded.wait();
  taskEnded.wait();
  EXPECT_EQ(source.numInFlight(), 0u);
}

TEST_P(PollSourceTest, ACompletionMayStartTheNextRequest) {
  std::vector<Job> jobs(tests::scaled(500, 100));
  Source source(scheduler(), [](Job*& job) { return ++job->numTests > 2; });
  Event ended;
  struct Chain {
    void next(size_t i) {
      if (i == jobs.size()) {
        ended.signal();
        return;
      }
      source.startTask(&jobs[i], [this, i](Job*) { next(i + 1); });
    }
    std::vector<Job>& jobs;
    Source& source;
    Event ended;
  } chain{jobs, source, ended};
  inTask([&] { chain.next(0); });
  ended.wait();
}

TEST_P(PollSourceTest, OnlyItsThreadTestsASourceOfOneThread) {
  const std::thread::id own = std::this_thread::get_id();
  std::atomic<int> numElsewhere{0};
  Source source(scheduler(),
                [&](Job*& job) {
                  numElsewhere += std::this_thread::get_id() == own ? 0 : 1;
                  return ++job->numTests > 20;
                },
                {.isOnThisThreadOnly = true});
  Job job;
  source.wait(&job);
  EXPECT_EQ(numElsewhere, 0);
  EXPECT_GT(job.numTests, 20);
}

TEST_P(PollSourceTest, ASourceMayBeDestroyedOnceItsLastWaitHasReturned) {
  for (int i = 0; i < tests::scaled(200, 30); ++i) {
    Job job;
    WaitGroup done(1);
    schedule([&] {
      Source source(scheduler(), [](Job*& asked) { return ++asked->numTests > 2; });
      source.wait(&job);
      done.done();
    });
    done.wait();
  }
}

// Of several sources each is tested, also if another one's requests are never done.
TEST_P(PollSourceTest, SourcesDoNotHoldEachOtherUp) {
  Source one(&test), other(&test);
  Job job, otherJob;
  WaitGroup done(1), otherDone(1);
  schedule([&] {
    one.wait(&job);
    done.done();
  });
  schedule([&] {
    other.wait(&otherJob);
    otherDone.done();
  });
  std::thread device([&] {
    while (otherJob.numTests < 10) {
      std::this_thread::yield();
    }
    otherJob.isDone = true;
  });
  otherDone.wait();
  device.join();
  job.isDone = true;
  done.wait();
}

TEST_P(PollSourceTest, ASelectWaitsForARequest) {
  Source source(&test);
  Job job;
  const Channel<int> channel(0);
  inTask([&] {
    schedule([&] {
      while (source.numInFlight() == 0) {
        yield();
      }
      job.isDone = true;
    });
    Job* handle = &job;
    int result = 0;
    const size_t chosen =
        select(onReceive(channel, [](std::optional<int>) {}),
               onDone(source, handle, [&](Job*& done) { result = done->result; }), onTimeout(hours(1)));
    EXPECT_EQ(chosen, 1u);
    EXPECT_EQ(result, 42);
    EXPECT_EQ(select(onTimeout(hours(1)), onDone(source, handle)), 1u);  // is done at once
  });
  EXPECT_EQ(source.numInFlight(), 0u);
}

TEST_P(PollSourceTest, ASelectLeavesNoRequestBehind) {
  Source source(scheduler(), &test, {.maxInFlight = 1});
  inTask([&] {
    const auto job = std::make_unique<Job>();
    const auto other = std::make_unique<Job>();
    Job* handle = job.get();
    Job* otherHandle = other.get();
    const Event event;
    schedule([&] {
      while (source.numInFlight() < 2) {
        yield();
      }
      event.signal();
    });
    EXPECT_EQ(select(onDone(source, handle), onDone(source, otherHandle), onSignal(event)), 2u);
    EXPECT_EQ(source.numInFlight(), 0u);
    EXPECT_EQ(select(onDone(source, handle), onTimeout(milliseconds(1))), 1u);
    std::vector<AnyCase> cases;
    cases.emplace_back(onDone(source, handle));
    cases.emplace_back(onTimeout(milliseconds(1)));
    EXPECT_EQ(select(cases), 1u);
    job->isDone = true;
    cases.pop_back();
    EXPECT_EQ(select(cases), 0u);
    EXPECT_EQ(select(cases), 0u);
  });
  EXPECT_EQ(source.numInFlight(), 0u);
}

// Of two requests that are done, each is chosen now and then; and no request is both done and left.
TEST_P(PollSourceTest, SelectsOverManyRequestsEndWithOneEach) {
  constexpr int kFibers = tests::scaled(100, 30);
  Source source(scheduler(), [](Job*& job) { return ++job->numTests > 3; });
  std::atomic<int> numChosen[2] = {};
  WaitGroup done(kFibers);
  for (int i = 0; i < kFibers; ++i) {
    schedule([&, done] {
      for (int round = 0; round < 10; ++round) {
        Job jobs[2];
        Job* handles[2] = {&jobs[0], &jobs[1]};
        ++numChosen[select(onDone(source, handles[0]), onDone(source, handles[1]))];
      }
      done.done();
    });
  }
  done.wait();
  EXPECT_EQ(numChosen[0] + numChosen[1], 10 * kFibers);
  EXPECT_GT(numChosen[0], 0);
  EXPECT_GT(numChosen[1], 0);
  EXPECT_EQ(source.numInFlight(), 0u);
}

class PollSourceThreadTest : public tests::WithAllocator {};

// The worker of the fiber that waits is busy until its request was tested, which another one must do.
TEST_F(PollSourceThreadTest, AnIdleWorkerTestsForABusyOne) {
  Scheduler scheduler(tests::smallConfig(2, allocator()));
  Source source(scheduler, &test);
  Job job;
  WaitGroup done(2);
  for (int round = 0; round < 20; ++round) {
    job.isDone = false;
    Event isWaiting;
    WaitGroup both(2);
    scheduler.enqueueOn(0, Task([&, both] {
                          source.wait(&job);
                          both.done();
                        }));
    scheduler.enqueueOn(0, Task([&, both] {
                          const int before = job.numTests;
                          while (job.numTests < before + 3) {
                            std::this_thread::yield();
                          }
                          job.isDone = true;
                          both.done();
                        }));
    both.wait();
  }
}

// Returns: how many times the thread has waited in the system.
long numSleepsOfThread() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nvcsw;
}

// A test takes so long that a round of all requests is cut into many windows.
TEST_F(PollSourceThreadTest, AWorkerSleepsBetweenRoundsAndNotWithinThem) {
  constexpr int kJobs = 200;
  constexpr int kBegin = 100, kEnd = 300;  // in windows; long before the first, they are of eight requests
  Scheduler scheduler(tests::smallConfig(1, allocator()));
  int numWindows = 0;
  long numSleeps = 0;
  PollSource<int> source(scheduler, [&](PollBatch<int>& batch) {
    const auto begin = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() - begin < std::chrono::microseconds(10)) {
    }
    numWindows += batch.size() > 1 ? 1 : 0;  // a single one is tested where it is started
    numSleeps += numWindows == kEnd ? numSleepsOfThread() : 0;
    numSleeps -= numWindows == kBegin ? numSleepsOfThread() : 0;
    for (size_t i = 0; i < batch.size() && numWindows > kEnd; ++i) {
      batch.setDone(i);
    }
  });
  WaitGroup done(kJobs);
  for (int job = 0; job < kJobs; ++job) {
    scheduler.enqueue(Task([&source, job, done] {
      source.wait(int(job));
      done.done();
    }));
  }
  done.wait();
  EXPECT_GT(numSleeps, 0);
  if (!tests::kUnderStress) {  // whose random waits come at any place
    EXPECT_LT(numSleeps, (kEnd - kBegin) / 2);
  }
}

// Very many fibers of worker 0 are blocked, so that it pauses before the next task. It is the watcher in that
// pause, as the other worker is busy until a test tells it to sleep. Then it runs that task until the request
// was tested, which the other worker must do.
TEST_F(PollSourceThreadTest, AnIdleWorkerTestsForOneThatPausesAndGoesOn) {
  constexpr int kBlocked = 1025;
  Scheduler scheduler(tests::smallConfig(2, allocator()).setIdleSearch({}));
  std::atomic<int> numBlocked{0};
  std::atomic<bool> isBusy{false};
  std::atomic<bool> isPausing{false};
  std::atomic<bool> isTested{false};
  Source source(scheduler, [&](Job*&) {
    isPausing = numBlocked == kBlocked;
    isTested = isBusy.load();
    return isTested.load();
  });
  Job job;
  Event mayEnd(Event::Mode::Manual);
  WaitGroup done(kBlocked + 3);
  scheduler.enqueueOn(1, Task([&, done] {
                        while (!isPausing && !isBusy) {
                          std::this_thread::yield();
                        }
                        done.done();
                      }));
  scheduler.enqueueOn(0, Task([&, done] {
                        source.wait(&job);
                        done.done();
                      }));
  for (int i = 0; i < kBlocked; ++i) {
    scheduler.enqueueOn(0, Task([&, done] {
                          ++numBlocked;
                          mayEnd.wait();
                          done.done();
                        }));
  }
  scheduler.enqueueOn(0, Task([&, done] {
                        isBusy = true;
                        while (!isTested) {
                          std::this_thread::yield();
                        }
                        mayEnd.signal();
                        done.done();
                      }));
  done.wait();
}

TEST_F(PollSourceThreadTest, AThreadWithoutASchedulerWaits) {
  Scheduler scheduler(tests::smallConfig(1, allocator()));
  Source source(scheduler, &test);
  Job job;
  Job* handle = &job;
  EXPECT_FALSE(source.wait_for(handle, milliseconds(2)));
  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(source.wait(handle, stop.get_token()));
  std::thread device([&] {
    while (job.numTests < 100) {
      std::this_thread::yield();
    }
    job.isDone = true;
  });
  source.wait(handle);
  device.join();
  EXPECT_EQ(job.result, 42);
}

// The deadline comes while a test is under way, which finds the request done: the result wins.
TEST_F(PollSourceThreadTest, AResultThatIsFoundMeanwhileWinsOverTheDeadline) {
  Scheduler scheduler(tests::smallConfig(2, allocator()));
  std::atomic<int> numTests{0};
  std::atomic<bool> hasGivenUp{false};
  Source source(scheduler, [&](Job*& job) {
    if (++numTests < 2) {
      return false;
    }
    while (!hasGivenUp) {
      std::this_thread::yield();
    }
    job->result = 42;
    return true;
  });
  Job job;
  WaitGroup done(1);
  std::stop_source stop;
  scheduler.enqueueOn(0, Task([&] {
                        Job* handle = &job;
                        EXPECT_TRUE(source.wait(handle, stop.get_token()));
                        EXPECT_EQ(job.result, 42);
                        done.done();
                      }));
  while (numTests < 2) {
    std::this_thread::yield();
  }
  stop.request_stop();
  hasGivenUp = true;
  done.wait();
}

class PollSourceDeathTest : public tests::DeathTest {};

TEST_F(PollSourceDeathTest, ATestThatThrowsIsReported) {
  EXPECT_DEATH(
      {
        Scheduler scheduler(tests::smallConfig(0));
        scheduler.bind();
        PollSource<int> source([](int&) -> bool { throw std::runtime_error("broken device"); },
                               {.name = "device"});
        source.wait(1);
      },
      "the test of the poll source \"device\" threw: broken device");
}

TEST_F(PollSourceDeathTest, ASourceWithRequestsInFlightIsNotDestroyed) {
  EXPECT_DEATH(
      {
        Scheduler scheduler(tests::smallConfig(0));
        scheduler.bind();
        PollSource<int> source([](int&) { return false; }, {.name = "device"});
        source.start(1, [](int) {});
      },
      "\"device\" was destroyed with 1 requests in flight");
}

TEST_F(PollSourceDeathTest, ASchedulerIsNotDestroyedBeforeItsSource) {
  EXPECT_DEATH(
      {
        auto scheduler = std::make_unique<Scheduler>(tests::smallConfig(1));
        PollSource<int> source(*scheduler, [](int&) { return true; }, {.name = "device"});
        scheduler.reset();
      },
      "destroyed before its poll source \"device\"");
}

TEST_F(PollSourceDeathTest, ASourceNeedsAScheduler) {
  EXPECT_DEATH(PollSource<int>([](int&) { return true; }), "made on a thread without a scheduler");
}

TEST_F(PollSourceDeathTest, ASourceOfOneThreadIsNotUsedByAnother) {
  EXPECT_DEATH(
      {
        Scheduler scheduler(tests::smallConfig(1));
        scheduler.bind();
        PollSource<int> source([](int&) { return false; }, {.isOnThisThreadOnly = true});
        inTask([&] { source.wait(1); });
      },
      "was used on another thread");
}

TEST_F(PollSourceDeathTest, ARequestThatNobodyWouldTestIsReported) {
  EXPECT_DEATH(
      {
        Scheduler scheduler(tests::smallConfig(0));
        PollSource<int> source(scheduler, [](int&) { return false; });
        source.start(1, [](int) {});
      },
      "nobody would test it");
}

}  // namespace
}  // namespace weft::pollsource_test
