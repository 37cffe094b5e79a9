// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/weft.h>

#include <cstdio>

int main() {
  // As many worker threads as there are processors.
  weft::Scheduler scheduler(weft::Scheduler::Config::allCores());
  // Until the end of main(), this thread may schedule tasks.
  weft::Scheduler::Binding bound(scheduler);

  std::puts("main schedules a task");
  weft::WaitGroup done(1);  // one piece of work is not done yet
  weft::schedule([done] {
    std::puts("the task runs");
    done.done();
  });
  done.wait();  // until no piece of work is left
  std::puts("the task has ended");
}
