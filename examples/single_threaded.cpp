// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// A scheduler without worker threads: tasks run on the thread that schedules them, while that thread waits.
// Nothing runs at the same time, and the order is certain: tasks from outside start first in, first out;
// those that a task schedules start before them, the newest first. A task that has been woken goes on before
// another starts.

#include <weft/weft.h>

#include <cstdio>
#include <thread>

namespace {

const std::thread::id kMainThread = std::this_thread::get_id();

// Schedules a task that prints its name and calls `body`.
template <class Body>
void scheduleNamed(const char* name, const weft::WaitGroup& done, Body body) {
  done.add();
  weft::schedule([name, done, body] {
    std::printf("%s%s\n", name, std::this_thread::get_id() == kMainThread ? "" : " on another thread");
    body();
    done.done();
  });
}

void scheduleNamed(const char* name, const weft::WaitGroup& done) {
  scheduleNamed(name, done, [] {});
}

}  // namespace

int main() {
  weft::Scheduler scheduler(weft::Scheduler::Config().setWorkerThreadCount(0));
  weft::Scheduler::Binding bound(scheduler);
  weft::WaitGroup done;
  weft::Event news;

  scheduleNamed("1", done, [=] {
    scheduleNamed("1.1", done);
    scheduleNamed("1.2", done, [=] {
      scheduleNamed("1.2.1", done);
      scheduleNamed("1.2.2", done);
    });
    std::puts("1 has scheduled 1.1 and 1.2");
  });
  scheduleNamed("2", done, [=] {
    std::puts("2 waits for news");
    news.wait();  // suspends this task; the thread goes on with task 3
    std::puts("2 has the news");
  });
  scheduleNamed("3", done, [=] {
    std::puts("3 has news");
    news.signal();
  });
  scheduleNamed("4", done);

  std::puts("main waits");
  done.wait();
  std::puts("main goes on");
}
