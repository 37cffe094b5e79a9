// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <chrono>
#include <cstdint>

#include "fair/dispatcher.h"
#include "fair/look_pacer.h"
#include "os/single_writer_counter.h"
#include "scheduler/report/run_or_die.h"
#include "weft/detail/park/parker.h"
#include "weft/thread.h"
#include "weft/trace.h"

namespace weft::inline v0_1::detail {

struct FairCore;

// One thread of a fair::TaskScheduler. Only the thread itself uses a member unless a comment says otherwise.
class FairWorker {
 public:
  explicit FairWorker(FairCore& fairCore);
  FairWorker(const FairWorker&) = delete;
  FairWorker& operator=(const FairWorker&) = delete;
  ~FairWorker() { releaseParker(parker); }

  void run();

  // Lets a step that returns in a child of fork() end that child, from now on.
  static void watchForksOfSteps();

  // A step has posted its own task to `to`. Keeps the task until the step ends.
  void repost(FairTask& task, FairCore& to);

  // `what` waits for steps. These end the program with a message if it would wait for the caller's own step:
  // one of `core`, or one that has posted its own task to `to`.
  static void assertNotInStepOf(const FairCore& core, const char* what);
  static void assertKeepsNoneFor(const FairCore& to, const char* what);

  FairCore& core;
  Parker<>* const parker = acquireParker();
  FairTask* current = nullptr;  // whose step runs
  NativeThread thread;
  SingleWriterCounter numSteps, numDispatches, numParks;

  // For IdleThreads, guarded by its lock.
  FairWorker* below = nullptr;      // in the stack of idle threads
  std::chrono::nanoseconds tick{};  // while it watches

 private:
  // Hints, read through this thread's consumers of the queues.
  bool hasQueued();
  bool hasWork();  // queued, or due

  FairTask* next();
  FairTask* requeue(FairTask& task);
  FairTask* takeNext();
  [[gnu::always_inline]] FairTask* takeAlone();
  bool isAlone() const;
  bool isNext(const FairTask& task);
  [[gnu::always_inline]] FairTask* dispatch();
  void runStep(FairTask& task);
  void followRecorder() { callStep_ = trace::isRecording() ? &runStepRecorded : &runStepOrDie; }
  static void runStepRecorded(FairTask& task);
  void look();
  void waitForWork(bool isRetiring);
  bool spin();

  // Lets no exception escape. While nothing is recorded, no step asks whether something is.
  void (*callStep_)(FairTask&) = &runStepOrDie;
  FairConsumer queued_;
  FairTask* reposted_ = nullptr;
  LookPacer pacer_;
  bool isRetired_ = false;
  bool owesMark_ = false;  // has replaced an idle thread's mark without waking it
  std::chrono::nanoseconds spinBudget_{20'000};
};

// The worker whose thread calls, or null.
extern constinit thread_local FairWorker* currentFairWorker;

}  // namespace weft::inline v0_1::detail
