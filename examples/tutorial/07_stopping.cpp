// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/weft.h>

#include <chrono>
#include <cstdio>
#include <stop_token>

int main() {
  weft::Scheduler scheduler(weft::Scheduler::Config::allCores());
  weft::Scheduler::Binding bound(scheduler);

  // A wait with a time limit returns whether it has ended in time.
  weft::Event never;
  if (!never.wait_for(std::chrono::milliseconds(10))) {
    std::puts("no signal came within 10 milliseconds");
  }

  // A wait with a token ends when a stop is requested.
  std::stop_source stop;
  weft::Future<bool> signalled = weft::async([never, token = stop.get_token()] { return never.wait(token); });

  // A task that computes looks at the token itself.
  weft::Event begun;
  weft::Future<void> endless = weft::async([begun, token = stop.get_token()] {
    begun.signal();
    while (true) {
      weft::interruptionPoint(token);  // throws TaskCanceled after a stop
    }
  });

  begun.wait();
  stop.request_stop();
  std::printf("the wait was %s\n", signalled.get() ? "signalled" : "stopped");
  try {
    endless.get();
  } catch (const weft::TaskCanceled&) {
    std::puts("the computation was stopped");
  }
}
