// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// A service with 12 clients, which runs until its input ends. It answers slowly, and no processor is busy:
// docs/tracing.md finds out why by `weft profile`. service [mended]

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <map>

#include <weft/blockingcall.h>
#include <weft/mutex.h>
#include <weft/scheduler.h>
#include <weft/sleep.h>
#include <weft/waitgroup.h>

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

#define FRAME [[gnu::noinline]]  // the function is a row of its own in the picture

struct Service {
  bool isMended = false;
  weft::mutex mutex;
  std::map<int, int> cache;
  std::atomic<bool> isOver = false;
  std::atomic<unsigned> numRequests = 0;
};

// In place of reading from a socket.
FRAME unsigned awaitRequest(Service& service) {
  weft::sleep_for(5ms);
  return ++service.numRequests;
}

FRAME int parse(unsigned request) {
  for (int i = 0; i < 100'000; ++i) {
    request = request * 1'664'525 + 1'013'904'223;
  }
  return static_cast<int>(request >> 16);
}

// In place of a query over the network.
FRAME int askDatabase(int key) {
  weft::sleep_for(5ms);
  return 2 * key;
}

// The first mistake: whoever needs the cache waits for the database, too.
FRAME int lookUp(Service& service, int key) {
  if (!service.isMended) {
    weft::lock lock(service.mutex);
    return service.cache[key] = askDatabase(key);
  }
  const int value = askDatabase(key);
  weft::lock lock(service.mutex);
  return service.cache[key] = value;
}

// In place of fsync() on a disk.
FRAME void writeToDisk() { usleep(3000); }

// The second mistake: nothing else runs on the worker's thread meanwhile.
FRAME void store(bool isMended) { isMended ? weft::blocking_call(writeToDisk) : writeToDisk(); }

struct Session {
  Service& service;
  bool doesStore;
  weft::WaitGroup done;

  void operator()() const {
    while (!service.isOver) {
      const int key = parse(awaitRequest(service));
      doesStore ? store(service.isMended) : (void)lookUp(service, key);
    }
    done.done();
  }
};

int main(int argc, char**) {
  weft::Scheduler scheduler(weft::Scheduler::Config().setWorkerThreadCount(2));
  weft::Scheduler::Binding bound(scheduler);

  Service service;
  service.isMended = argc > 1;
  weft::WaitGroup done(12);
  const auto begin = Clock::now();
  for (int client = 0; client < 12; ++client) {
    weft::schedule(Session{service, client % 3 == 0, done});
  }
  while (std::getchar() != EOF) {
  }
  const std::chrono::duration<double> time = Clock::now() - begin;
  std::printf("%.0f answers in a second\n", service.numRequests / time.count());
  service.isOver = true;
  done.wait();
}
