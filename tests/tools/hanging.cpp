// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// A program whose tasks wait for all kinds of things. It prints "ready" once all of them
// have begun to wait. Once its input ends it ends their waits, and prints "ended".
//
//   hanging [NUMBER]   so many more tasks wait for an event
//   hanging busy       tasks work until the input ends
//   hanging compute    a task computes until the input ends
//   hanging far        a task computes behind 300 calls and 20 KiB of stack, until the input ends
//   hanging farther    a task computes behind 100 KiB of stack, until the input ends
//   hanging signals    a task sends signals to its thread until the input ends
//   hanging calls      tasks are in calls of the system until the input ends
//   hanging exec       a task waits until a line comes; then it begins once more, as by `hanging`
//   hanging crash      a fault ends the program, in a task
//   hanging data       a call of what is no code ends the program, in a task
//   hanging deep       a fault ends the program, in a task, behind 1000 calls
//   hanging overflow   a recursion of the main thread ends the program
//   hanging none       has no scheduler

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <climits>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <stop_token>
#include <thread>

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

__attribute__((noinline)) void waitForEndOfInput() {
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

void beginAnew() {
  const weft::Event never;
  Tasks tasks;
  tasks.start([&] { never.wait(); });
  tasks.awaitBlocked();
  sayReady();
  (void)std::getchar();
  execl("/proc/self/exe", "hanging", nullptr);
  std::abort();
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

[[gnu::noinline]] void computeUntil(const std::atomic<bool>& mayEnd) {
  while (!mayEnd.load()) {
    keepFrame();
  }
}

template <size_t kBytes>
[[gnu::noinline]] void computeBelow(const std::atomic<bool>& mayEnd) {
  char bytes[kBytes];
  asm volatile("" : : "r"(bytes) : "memory");
  computeUntil(mayEnd);
  keepFrame();
}

[[gnu::noinline]] void computeBehind(int numCalls, const std::atomic<bool>& mayEnd) {
  if (numCalls == 0) {
    computeBelow<20 * 1024>(mayEnd);
  } else {
    computeBehind(numCalls - 1, mayEnd);
  }
  keepFrame();
}

void computeBehindMany(const std::atomic<bool>& mayEnd) { computeBehind(300, mayEnd); }

volatile sig_atomic_t numSignals = 0;

[[gnu::noinline]] void raiseUntil(const std::atomic<bool>& mayEnd) {
  std::signal(SIGUSR1, [](int) { numSignals = numSignals + 1; });
  for (int i = 1; !mayEnd.load(); ++i) {
    std::raise(SIGUSR1);
    if (numSignals != i) {
      std::abort();
    }
  }
}

void compute(void (*computeUntil)(const std::atomic<bool>&)) {
  std::atomic<bool> mayEnd = false;
  std::atomic<bool> hasBegun = false;
  Tasks tasks;
  tasks.start([&] {
    hasBegun = true;
    computeUntil(mayEnd);
  });
  while (!hasBegun) {
    std::this_thread::yield();
  }
  sayReady();
  waitForEndOfInput();
  mayEnd = true;
  tasks.awaitEnd();
}

// Has a frame whose size only a register tells. syscall() does not save it, and all of the stack can be
// followed only if the registers are known.
template <class Call>
bool behindFrame(Call call) {
  static volatile size_t size = 64;
  void* const local = __builtin_alloca(size);
  asm volatile("" : : "r"(local) : "memory");
  const bool isRight = call();
  keepFrame();
  return isRight;
}

[[gnu::noinline]] bool awaitEvents(int poller) {
  epoll_event event;
  return behindFrame([&] { return syscall(SYS_epoll_wait, poller, &event, 1, -1) == 1; });
}

[[gnu::noinline]] bool readByte(int file) {
  char byte;
  return behindFrame([&] { return syscall(SYS_read, file, &byte, 1) == 0; });
}

// One call goes on where a stop has interrupted it, the other one fails with EINTR, which it must not.
void callSystem() {
  int ends[2];
  const int poller = epoll_create1(EPOLL_CLOEXEC);
  epoll_event event{};
  event.events = EPOLLIN;
  if (pipe2(ends, O_CLOEXEC) != 0 || epoll_ctl(poller, EPOLL_CTL_ADD, ends[0], &event) != 0) {
    std::abort();
  }
  std::atomic<int> numBegun = 0;
  Tasks tasks;
  for (const bool isRead : {false, true}) {
    tasks.start([&, isRead] {
      ++numBegun;
      if (!(isRead ? readByte(ends[0]) : awaitEvents(poller))) {
        std::abort();
      }
    });
  }
  while (numBegun != 2) {
    std::this_thread::yield();
  }
  sayReady();
  waitForEndOfInput();
  close(ends[1]);
  tasks.awaitEnd();
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
  } else if (std::strcmp(how, "compute") == 0) {
    compute(computeUntil);
  } else if (std::strcmp(how, "far") == 0) {
    compute(computeBehindMany);
  } else if (std::strcmp(how, "farther") == 0) {
    compute(computeBelow<100 * 1024>);
  } else if (std::strcmp(how, "signals") == 0) {
    compute(raiseUntil);
  } else if (std::strcmp(how, "calls") == 0) {
    callSystem();
  } else if (std::strcmp(how, "exec") == 0) {
    beginAnew();
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
