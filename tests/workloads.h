// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include <weft/event.h>
#include <weft/scheduler.h>
#include <weft/waitgroup.h>

// Programs whose fibers more than one test counts.
namespace weft::tests {

// The n-th Fibonacci number, each addition in a task that waits for two others.
inline uint64_t fib(unsigned n) {
  if (n < 2) {
    return n;
  }
  uint64_t first = 0, second = 0;
  WaitGroup done(2);
  schedule([&first, n, done] {
    first = fib(n - 1);
    done.done();
  });
  schedule([&second, n, done] {
    second = fib(n - 2);
    done.done();
  });
  done.wait();
  return first + second;
}

// fib(n) in a task of its own.
inline uint64_t fibInTask(unsigned n) {
  uint64_t result = 0;
  WaitGroup done(1);
  schedule([&result, n, done] {
    result = fib(n);
    done.done();
  });
  done.wait();
  return result;
}

// Inside a task, schedules so many tasks of which each waits for the one before, and waits for the last.
inline void runRowOfTasks(int numTasks) {
  WaitGroup done(1);
  schedule([numTasks, done] {
    Event previous(Event::Mode::Manual, true);
    for (int i = 0; i < numTasks; ++i) {
      Event next(Event::Mode::Manual);
      schedule([=] {
        previous.wait();
        next.signal();
      });
      previous = next;
    }
    previous.wait();
    done.done();
  });
  done.wait();
}

// How many fibers the workers of `scheduler` have made and kept.
inline uint64_t numFibers(const Scheduler& scheduler) {
  uint64_t fibers = 0;
  for (const auto& worker : scheduler.stats().workers) {
    fibers += worker.numFibers;
  }
  return fibers;
}

}  // namespace weft::tests
