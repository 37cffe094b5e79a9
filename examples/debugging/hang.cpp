// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// This program hangs. docs/debugging.md shows how to find out why: two tasks wait for jobs that nobody sends,
// and main() waits for a third task that was never scheduled.

#include <cstdio>

#include <weft/channel.h>
#include <weft/scheduler.h>
#include <weft/waitgroup.h>

using Jobs = weft::Channel<int>;

void resize(int image) { std::printf("image %d\n", image); }

void work(Jobs jobs) {
  while (auto job = jobs.receive()) {
    resize(*job);
  }
}

int main() {
  weft::Scheduler scheduler(weft::Scheduler::Config().setWorkerThreadCount(1));
  weft::Scheduler::Binding bound(scheduler);

  Jobs jobs(8);
  weft::WaitGroup done(3);  // the mistake: there are two tasks
  for (int i = 0; i < 2; ++i) {
    weft::schedule([=] {
      work(jobs);
      done.done();
    });
  }
  std::puts("resizing images");
  std::fflush(stdout);
  done.wait();  // and nobody has called jobs.close()
}
