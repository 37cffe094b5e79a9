// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// A shared library that contains weft and shows one function of its own.

#include <weft/blockingcall.h>
#include <weft/scheduler.h>
#include <weft/waitgroup.h>

#include <thread>

// Returns: 42, after a thread that ends has used a scheduler and a thread for blocking calls.
extern "C" int useWeft() {
  int result = 0;
  std::thread([&result] {
    weft::Scheduler scheduler(weft::Scheduler::Config().setWorkerThreadCount(2));
    scheduler.bind();
    weft::WaitGroup done(1);
    weft::schedule([&result, done] {
      result = weft::blocking_call([] { return 42; });
      done.done();
    });
    done.wait();
    scheduler.unbind();
  }).join();
  return result;
}
