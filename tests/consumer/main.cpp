// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/weft.h>

#include <cstdio>

#include "crew.h"

namespace {

constexpr int kCrew = 100;
constexpr int kSum = kCrew * (kCrew + 1) / 2;

/// A task that launches others, and blocks on an event and on a wait group meanwhile.
int lead() {
  Crew crew;
  weft::Event start(weft::Event::Mode::Manual);
  weft::WaitGroup done(kCrew);
  crew.launch(kCrew, start, done);

  weft::Event warm(weft::Event::Mode::Auto);
  weft::schedule([](const weft::Event& event) { event.signal(); }, warm);
  warm.wait();

  start.signal();
  done.wait();
  return crew.sum();
}

int run(int workers) {
  weft::Scheduler scheduler(weft::Scheduler::Config().setWorkerThreadCount(workers));
  scheduler.bind();
  defer(scheduler.unbind());

  // A future, by way of a task handle and a continuation; where it fails, its message ends the program.
  weft::MainLoopExecutor loop;
  weft::Future<int> answer = weft::async(loop, [] { return 20; }).then(weft::inlineExecutor(), [](int n) { return n + 1; });
  loop.runAll();
  const int twice = weft::async([&answer] { return 2 * answer.get(); }).get();
  if (twice != 42 || weft::whenAny(weft::makeReadyFuture(1)).get().index != 0) {
    return 0;
  }

  int sum = 0;
  weft::WaitGroup finished(1);
  weft::schedule([&sum, finished] {
    sum = lead();
    finished.done();
  });
  finished.wait();
  return sum;
}

}  // namespace

int main() {
  for (int workers : {0, 1, 4}) {
    int sum = run(workers);
    if (sum != kSum) {
      std::fprintf(stderr, "%d workers: the sum is %d, not %d\n", workers, sum, kSum);
      return 1;
    }
  }
  std::puts("consumer: ok");
  return 0;
}
