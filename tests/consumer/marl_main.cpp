// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <marl/defer.h>
#include <marl/event.h>
#include <marl/scheduler.h>
#include <marl/waitgroup.h>

#include <cstdio>

/// A program as marl's users write them.
int main() {
  constexpr int kTasks = 10;
  marl::Scheduler scheduler(marl::Scheduler::Config::allCores());
  scheduler.bind();
  defer(scheduler.unbind());

  marl::Event sayHello(marl::Event::Mode::Manual);
  marl::WaitGroup saidHello(kTasks);
  marl::mutex mutex;
  int sum = 0;
  for (int i = 0; i < kTasks; i++) {
    marl::schedule([=, &mutex, &sum] {
      defer(saidHello.done());
      sayHello.wait();
      marl::lock lock(mutex);
      sum += i;
    });
  }
  sayHello.signal();
  saidHello.wait();
  if (sum != kTasks * (kTasks - 1) / 2) {
    std::fprintf(stderr, "the sum is %d\n", sum);
    return 1;
  }
  std::puts("marl_consumer: ok");
  return 0;
}
