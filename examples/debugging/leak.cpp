// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// This program uses more memory with each request: a task of each request waits for ever. docs/debugging.md
// shows how to find out which one. Usage: leak [REQUESTS]

#include <cstdio>
#include <cstdlib>

#include <weft/event.h>
#include <weft/scheduler.h>
#include <weft/waitgroup.h>

struct Request {
  weft::Event isAnswered;
  weft::WaitGroup tasks;
};

void logAnswer(const Request& request) { request.isAnswered.wait(); }

void serve(int number) {
  Request request;
  request.tasks.add(1);
  weft::schedule([request] {
    logAnswer(request);
    request.tasks.done();
  });
  if (number % 2 == 0) {  // the mistake: the other requests return too early
    return;
  }
  request.isAnswered.signal();
  request.tasks.wait();
}

int main(int argc, char** argv) {
  const int numRequests = argc > 1 ? std::atoi(argv[1]) : 20'000;
  weft::Scheduler scheduler(weft::Scheduler::Config().setWorkerThreadCount(1));
  weft::Scheduler::Binding bound(scheduler);

  for (int i = 0; i < numRequests; ++i) {
    weft::WaitGroup served(1);
    weft::schedule([=] {
      serve(i);
      served.done();
    });
    served.wait();
  }
  std::printf("%d requests served\n", numRequests);
  std::fflush(stdout);
  weft::Event(weft::Event::Mode::Manual).wait();  // for more requests
}
