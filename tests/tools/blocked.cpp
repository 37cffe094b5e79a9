// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// For symbolize_test.py: prints a report of a task that is blocked, or of a fatal misuse, or waits.

#include <cstdio>
#include <cstring>
#include <string>
#include <thread>

#include "weft/dump.h"
#include "weft/event.h"
#include "weft/mutex.h"
#include "weft/scheduler.h"
#include "weft/waitgroup.h"

int main(int argc, char** argv) WEFT_NO_THREAD_SAFETY_ANALYSIS {
  if (argc > 1 && std::strcmp(argv[1], "wait") == 0) {
    return std::getchar() == EOF ? 0 : 1;
  }
  weft::Scheduler scheduler(weft::Scheduler::Config().setWorkerThreadCount(1));
  scheduler.bind();
  if (argc > 1 && std::strcmp(argv[1], "misuse") == 0) {
    weft::mutex mutex;
    mutex.unlock();  // line: of the misuse
  }
  weft::Event hasStarted, mayEnd;
  weft::WaitGroup group(1);
  weft::schedule([=] {
    hasStarted.signal();  // line: of the task
    mayEnd.wait();        // line: of the wait
    group.done();
  });
  hasStarted.wait();
  while (weft::dumpText().find("sleeps; 1 fiber waits") == std::string::npos) {
    std::this_thread::yield();
  }
  scheduler.reportBlockedFibers();
  mayEnd.signal();
  group.wait();
  scheduler.unbind();
}
