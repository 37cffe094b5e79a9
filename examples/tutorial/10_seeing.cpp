// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/dump.h>
#include <weft/trace.h>
#include <weft/weft.h>

#include <cstdint>
#include <cstdio>

// A task that is a class has a name, which a dump can print.
struct Reader {
  weft::Event loaded;
  weft::WaitGroup done;

  void operator()() const {
    const weft::trace::Scope scope("reads");  // on the time line, while the flight recorder records
    loaded.wait();
    done.done();
  }
};

uint64_t numWaiting(const weft::Scheduler& scheduler) {
  uint64_t count = 0;
  for (const auto& worker : scheduler.stats().workers) {
    count += worker.numBlockedFibers;
  }
  return count;
}

int main() {
  auto config = weft::Scheduler::Config().setWorkerThreadCount(2);
  config.setWorkerThreadInitializer([](int id) { weft::Thread::setName("reader %d", id); });
  weft::Scheduler scheduler(config);
  weft::Scheduler::Binding bound(scheduler);

  weft::Event loaded(weft::Event::Mode::Manual);
  weft::WaitGroup done(1);
  weft::schedule(weft::Task(Reader{loaded, done}).setName("read a page"));  // the name is for the time line
  while (numWaiting(scheduler) == 0) {
    weft::yield();
  }

  std::puts("one fiber waits");
  weft::dump();  // prints to stderr
  loaded.signal();
  done.wait();
  std::puts("no fiber waits");
}
