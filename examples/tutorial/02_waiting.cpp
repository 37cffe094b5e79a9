// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/weft.h>

#include <atomic>
#include <cstdio>

int main() {
  weft::Scheduler scheduler(weft::Scheduler::Config().setWorkerThreadCount(2));
  weft::Scheduler::Binding bound(scheduler);

  constexpr int kTasks = 1000;
  weft::WaitGroup begun(kTasks), done(kTasks);
  weft::Event start(weft::Event::Mode::Manual);
  std::atomic<int> sum = 0;
  for (int i = 1; i <= kTasks; ++i) {
    weft::schedule([=, &sum] {
      begun.done();
      start.wait();  // suspends this task; its thread begins another one
      sum += i;
      done.done();
    });
  }

  begun.wait();
  std::printf("%d tasks have begun on two threads, and the sum is %d\n", kTasks, sum.load());
  start.signal();
  done.wait();
  std::printf("all tasks have gone on, and the sum is %d\n", sum.load());
}
