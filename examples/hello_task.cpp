// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Schedules tasks, and waits for them.

#include <weft/defer.h>
#include <weft/weft.h>

#include <cstdio>

int main() {
  // As many worker threads as there are processors to use. This thread is bound, so that it may schedule
  // tasks.
  weft::Scheduler scheduler(weft::Scheduler::Config::allCores());
  weft::Scheduler::Binding bound(scheduler);

  constexpr int kTasks = 10;
  weft::Event start(weft::Event::Mode::Manual);
  weft::WaitGroup done(kTasks);

  // Handles such as Event and WaitGroup are captured by value: a task may outlive the scope that made it.
  for (int i = 0; i < kTasks; ++i) {
    weft::schedule([i, start, done] {
      defer(done.done());
      start.wait();  // suspends this task; its thread goes on with another
      std::printf("hello from task %d\n", i);
    });
  }

  std::puts("all tasks are scheduled");
  start.signal();
  done.wait();  // blocks this thread, for it runs no task
  std::puts("all tasks are done");
}
