// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// A program whose tasks wait for all kinds of things. It prints "ready" once all of them
// have begun to wait. Once its input ends it ends their waits, and prints "ended".
//
//   hanging [NUMBER]   so many more tasks wait for an event
//   hanging busy       tasks work until the input ends
//   hanging crash      a fault ends the program, in a task
//   hanging data       a call of what is no code ends the program, in a task
//   hanging deep       a fault ends the program, in a task, behind 1000 calls
//   hanging overflow   a recursion of the main thread ends the program
//   hanging none       has no scheduler

#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <stop_token>

#include "weft/channel.h"
#include "weft/event.h"
#include "weft/future.h"
#include "weft/mutex.h"
#include "weft/scheduler.h"
#include "weft/semaphore.h"
#include "weft/sleep.h"
#include "weft/waitgroup.h"
#ifdef HANGING_IO
#include "weft/io.h"
#endif

namespace {

// A call behind a call keeps the frame of a function.
void keepFrame() { asm volatile(""); }

[[gnu::noinline]] void serve(const weft::Semaphore& requests) {
  requests.acquire();
  keepFrame();
}

[[gnu::noinline]] void takeMutex(weft::mutex& mutex) {
  std::unique_lock lock(mutex);
  keepFrame();
}

[[gnu::noinline]] void fault() {
  static int* volatile nowhere = nullptr;
  *nowhere = 1;
}

[[gnu::noinline]] void descend(int depth) {
  depth == 1 ? fault() : descend(depth - 1);
  keepFrame();
}

[[gnu::noinline]] void callData() {
  static int data = 1;
  void (*volatile function)() = reinterpret_cast<void (*)()>(&data);
  function();
  keepFrame();
}

// The frame has several pages, so that the stack pointer is far below the stack once that is full.
[[gnu::noinline]] void recurse(int depth) {
  char local[20'000];
  asm volatile("" : : "r"(local) : "memory");
  if (depth != 0) {
    recurse(depth - 1);
  }
  keepFrame();
}

void sayReady() {
  std::puts("ready");
  std::fflush(stdout);
}

void waitForEndOfInput() {
  while (std::getchar() != EOF) {
  }
}

class Tasks {
 public:
  template <class F>
  void start(F task) {
    group_.add(1);
    ++numTasks_;
    weft::schedule([this, task] {
      task();
      group_.done();
    });
  }

  void awaitBlocked() const {
    while (!areBlocked()) {
      weft::sleep_for(std::chrono::milliseconds(1));
    }
  }
  void awaitEnd() { group_.wait(); }

 private:
  // Returns: whether all tasks wait, and each worker thread has been to sleep since it began.
  bool areBlocked() const {
    uint64_t num = 0;
    bool haveSlept = true;
    for (const auto& worker : weft::Scheduler::get()->stats().workers) {
      num += worker.num == 0 ? worker.numBlockedFibers : 0;  // one that was woken waits again, or ends
      haveSlept = haveSlept && (worker.workerId < 0 || worker.numParks > 0);
    }
    return num == numTasks_ && haveSlept;
  }

  const weft::WaitGroup group_;
  uint64_t numTasks_ = 0;
};

// A task waits for bytes of a socket, which has none until its other end is shut down.
#ifdef HANGING_IO
class SilentSocket {
 public:
  SilentSocket() {
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends_) != 0) {
      std::abort();
    }
  }
  void startReader(Tasks& tasks) {
    tasks.start([this] {
      std::byte byte;
      (void)weft::io::recv(ends_[0], {&byte, 1}, 0);
    });
  }
  void endReader() { shutdown(ends_[1], SHUT_RDWR); }

 private:
  int ends_[2];
};
#else
struct SilentSocket {
  static void startReader(Tasks&) {}
  static void endReader() {}
};
#endif

// Returns once a task holds the mutex, which it unlocks after `mayEnd`.
void startHolder(Tasks& tasks, weft::mutex& mutex, const weft::Event& mayEnd) {
  const weft::Event isHeld;
  tasks.start([&mutex, mayEnd, isHeld] {
    std::unique_lock lock(mutex);
    isHeld.signal();
    mayEnd.wait();
  });
  isHeld.wait();
}

void hang(int numMore) {
  weft::mutex mutex;
  const weft::Event mayEnd(weft::Event::Mode::Manual);
  const weft::Semaphore requests(0);
  const weft::Channel<int> numbers;
  weft::Promise<int> promise;
  const weft::Future<int> future = promise.get_future();
  std::stop_source stop;
  SilentSocket socket;
  Tasks tasks;
  startHolder(tasks, mutex, mayEnd);
  for (int i = 0; i < 3; ++i) {
    tasks.start([&] { serve(requests); });
  }
  tasks.start([&] { takeMutex(mutex); });
  tasks.start([&] { (void)numbers.receive(); });
  tasks.start([&] { future.wait(); });
  tasks.start([&] { weft::sleep_for(std::chrono::hours(1), stop.get_token()); });
  for (int i = 0; i < numMore; ++i) {
    tasks.start([&] { mayEnd.wait(); });
  }
  socket.startReader(tasks);
  tasks.awaitBlocked();
  sayReady();
  waitForEndOfInput();
  mayEnd.signal();
  requests.release(3);
  numbers.close();
  promise.set_value(1);
  stop.request_stop();
  socket.endReader();
  tasks.awaitEnd();
}

// Rounds of tasks that wake each other. The sum of what they have counted has to be right.
void work() {
  std::atomic<bool> mayEnd = false;
  std::atomic<long> count = 0;
  Tasks tasks;
  long numRounds = 0;
  tasks.start([&] {
    while (!mayEnd.load()) {
      const weft::WaitGroup round(8);
      const weft::Event begin(weft::Event::Mode::Manual);
      for (int i = 0; i < 8; ++i) {
        weft::schedule([&, begin, round] {
          begin.wait();
          count.fetch_add(1);
          round.done();
        });
      }
      begin.signal();
      round.wait();
      ++numRounds;
    }
  });
  sayReady();
  waitForEndOfInput();
  mayEnd = true;
  tasks.awaitEnd();
  if (count.load() != 8 * numRounds) {
    std::abort();
  }
}

}  // namespace

int main(int argc, char** argv) {
  const char* const how = argc > 1 ? argv[1] : "0";
  if (std::strcmp(how, "none") == 0) {
    sayReady();
    waitForEndOfInput();
    std::puts("ended");
    return 0;
  }
  weft::Scheduler scheduler(weft::Scheduler::Config().setWorkerThreadCount(2));
  scheduler.bind();
  if (std::strcmp(how, "busy") == 0) {
    work();
  } else if (std::strcmp(how, "crash") == 0) {
    weft::schedule([] { fault(); });
    waitForEndOfInput();
  } else if (std::strcmp(how, "deep") == 0) {
    weft::schedule([] { descend(1000); });
    waitForEndOfInput();
  } else if (std::strcmp(how, "data") == 0) {
    weft::schedule([] { callData(); });
    waitForEndOfInput();
  } else if (std::strcmp(how, "overflow") == 0) {
    recurse(INT_MAX);
  } else {
    hang(std::atoi(how));
  }
  scheduler.unbind();
  std::puts("ended");
}
