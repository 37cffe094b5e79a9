// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// A scheduler that is made before main(), and used and destroyed after it.

#include <weft/blockingcall.h>
#include <weft/event.h>
#include <weft/scheduler.h>
#include <weft/sleep.h>
#include <weft/waitgroup.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>

namespace {

int sumOfTasks() {
  std::atomic<int> sum{0};
  weft::WaitGroup done(8);
  for (int i = 0; i < 8; ++i) {
    weft::schedule([&sum, i, done] {
      weft::sleep_for(std::chrono::microseconds(100 * i));
      sum += weft::blocking_call([i] { return i; });
      done.done();
    });
  }
  done.wait();
  return sum;
}

void tell(const char* when, int sum) {
  std::printf("%s: %d\n", when, sum);
  std::fflush(stdout);
  if (sum != 28) {
    std::_Exit(1);
  }
}

struct Program {
  Program() {
    scheduler = std::make_unique<weft::Scheduler>(weft::Scheduler::Config().setWorkerThreadCount(3));
    scheduler->bind();
    tell("before main", sumOfTasks());
  }
  // The thread that began the program is still bound. Tasks that wait are waited for.
  ~Program() {
    tell("after main", sumOfTasks());
    std::atomic<int> numEnded{0};
    for (int i = 0; i < 28; ++i) {
      scheduler->enqueue(weft::Task([&numEnded] {
        weft::sleep_for(std::chrono::milliseconds(1));
        ++numEnded;
      }));
    }
    weft::Scheduler::unbind();
    scheduler.reset();
    tell("at the end", numEnded);
  }

  std::unique_ptr<weft::Scheduler> scheduler;
};

Program program;

}  // namespace

int main() {
  // Runs before the destructor of `program`.
  std::atexit([] { tell("at exit", sumOfTasks()); });
  tell("in main", sumOfTasks());
}
