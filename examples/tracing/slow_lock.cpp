// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Eight requests each ask a database, which answers within 5 ms. Together they take 40 ms: docs/tracing.md
// shows in a picture why. slow_lock [mended]

#include <chrono>
#include <cstdio>
#include <map>

#include <weft/mutex.h>
#include <weft/scheduler.h>
#include <weft/sleep.h>
#include <weft/trace.h>
#include <weft/waitgroup.h>

using Clock = std::chrono::steady_clock;

// In place of a query over the network.
int askDatabase(int key) {
  const weft::trace::Scope scope("askDatabase");
  weft::sleep_for(std::chrono::milliseconds(5));
  return 2 * key;
}

struct Cache {
  weft::mutex mutex;
  std::map<int, int> values;
};

// The mistake: whoever needs the cache waits for the database, too.
int lookUp(Cache& cache, int key) {
  weft::lock lock(cache.mutex);
  if (const auto found = cache.values.find(key); found != cache.values.end()) {
    return found->second;
  }
  return cache.values[key] = askDatabase(key);
}

// The mend: the lock is held while the map is in use, and no longer.
int lookUpMended(Cache& cache, int key) {
  {
    weft::lock lock(cache.mutex);
    if (const auto found = cache.values.find(key); found != cache.values.end()) {
      return found->second;
    }
  }
  const int value = askDatabase(key);
  weft::lock lock(cache.mutex);
  return cache.values[key] = value;
}

struct Request {
  Cache& cache;
  int key;
  bool isMended;
  weft::WaitGroup done;

  void operator()() const {
    isMended ? lookUpMended(cache, key) : lookUp(cache, key);
    done.done();
  }
};

int main(int argc, char**) {
  weft::Scheduler scheduler(weft::Scheduler::Config().setWorkerThreadCount(2));
  weft::Scheduler::Binding bound(scheduler);

  Cache cache;
  const auto begin = Clock::now();
  weft::WaitGroup done(8);
  for (int key = 0; key < 8; ++key) {
    weft::schedule(Request{cache, key, argc > 1, done});
  }
  done.wait();
  const std::chrono::duration<double, std::milli> time = Clock::now() - begin;
  std::printf("all requests took %.0f ms\n", time.count());
}
