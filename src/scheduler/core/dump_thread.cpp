// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "scheduler/core/dump_thread.h"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>

#include "os/detached_thread.h"
#include "scheduler/core/trace_triggers.h"
#include "weft/dump.h"

namespace weft::inline v0_1::detail {
namespace {

// Counts the requests. A job's own count is added to before, so that there is a job for each post.
sem_t requests;
constinit std::atomic<uint32_t> numRequested[kNumDumpJobs]{};
constinit std::atomic<pid_t> processOfThread{0};  // written once, before there is anything to request

void doJob(DumpJob job) {
  switch (job) {
    case DumpJob::Text:
      dump();
      break;
    case DumpJob::TraceAtSignal:
      dumpTraceAtSignal();
      break;
    case DumpJob::TraceOfLateness:
      dumpTraceOfLateness();
      break;
  }
}

void* work(void*) {
  // The program's own threads get its signals.
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, nullptr);
  pthread_setname_np(pthread_self(), "weft:dump");
  for (;;) {
    if (sem_wait(&requests) != 0) {
      continue;
    }
    for (int job = 0; job < kNumDumpJobs; ++job) {
      // relaxed, both: the semaphore comes between, and only this thread takes.
      if (numRequested[job].load(std::memory_order_relaxed) != 0) {
        numRequested[job].fetch_sub(1, std::memory_order_relaxed);
        doJob(static_cast<DumpJob>(job));
        break;
      }
    }
  }
}

}  // namespace

bool startDumpThread() noexcept {
  static const bool isStarted = [] {
    // relaxed: who requests comes later.
    processOfThread.store(getpid(), std::memory_order_relaxed);
    return sem_init(&requests, 0, 0) == 0 && startDetachedThread(&work, nullptr) == 0;
  }();
  return isStarted;
}

bool requestDump(DumpJob job) noexcept {
  // relaxed, both: see above.
  if (processOfThread.load(std::memory_order_relaxed) != getpid()) {
    return false;
  }
  numRequested[static_cast<int>(job)].fetch_add(1, std::memory_order_relaxed);
  sem_post(&requests);
  return true;
}

}  // namespace weft::inline v0_1::detail
