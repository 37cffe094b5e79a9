// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// For the tests of the commands for debuggers: has fibers that wait in known ways, says "ready", and waits
// for the end of its input.
//   debugged        one fiber of each kind
//   debugged many   100 more that wait alike
//   debugged split  one more, in a function of two parts
//   debugged kinds  one more for each kind of object
//   debugged locks  two more that wait for locks of each other
//   debugged placed one more on the worker whose thread is blocked, which is woken; and two tasks behind it
//   debugged bound  100 more, and two bound threads, whose own code waits, and so does a task of each
//   debugged abort  ends by abort() once all wait

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "split.h"
#include "weft/barrier.h"
#include "weft/channel.h"
#include "weft/event.h"
#include "weft/future.h"
#include "weft/latch.h"
#include "weft/mutex.h"
#include "weft/scheduler.h"
#include "weft/sharedmutex.h"
#include "weft/sleep.h"
#include "weft/task.h"
#include "weft/waitgroup.h"

namespace debugged {

struct Objects {
  weft::Event event{weft::Event::Mode::Manual};
  weft::Event mayRun{weft::Event::Mode::Manual};
  weft::mutex lock;
  weft::Channel<int> channel{2};
  weft::WaitGroup group{3};
  weft::mutex freeLock;
  weft::Task task, emptyTask;
  weft::Channel<int> closed{4};
  weft::Promise<int> promise, gonePromise, takenPromise = std::move(gonePromise), kept;
  weft::Future<int> pending = promise.get_future(), ready = weft::makeReadyFuture(7), none;
  weft::Future<int> failed = weft::makeExceptionalFuture<int>(std::make_exception_ptr(7));
  weft::SharedFuture<int> shared = weft::makeReadyFuture(8).share(), unshared;
  weft::Future<void> done = weft::makeReadyFuture();
  weft::Future<int> goneFuture = weft::makeReadyFuture(9), takenFuture = std::move(goneFuture);
  weft::SharedFuture<int> goneShared = weft::makeReadyFuture(9).share(), takenShared = std::move(goneShared);
  weft::Task goneTask{[] {}}, takenTask = std::move(goneTask);
  weft::Event gone, taken = std::move(gone);
  weft::WaitGroup goneGroup, takenGroup = std::move(goneGroup);
  weft::Channel<int> goneChannel{1}, takenChannel = std::move(goneChannel);
  weft::Event automatic;
  weft::Latch latch{2};
  weft::Barrier<> barrier{3};
  weft::SharedMutex sharedLock;
  weft::Channel<int> full{1}, unbuffered{0};
  weft::mutex first, second;
};
Objects* objects = nullptr;

// The fibers that have been placed, and shall wait.
uint64_t numPlaced = 0;

[[gnu::noinline]] size_t waitDeep(int depth, const char* name) {
  const std::string local = std::string(name) + "-" + std::to_string(depth);
  size_t size = local.size();
  if (depth == 0) {
    objects->event.wait();  // line: of the wait
  } else {
    size += waitDeep(depth - 1, name);
  }
  return size;
}

struct HoldAndWait {
  void operator()() const {
    objects->lock.lock();
    objects->event.wait();
    objects->lock.unlock();
  }
};
struct TakeLock {
  void operator()() const {
    objects->lock.lock();
    objects->lock.unlock();
  }
};
struct Receive {
  void operator()() const { (void)objects->channel.receive(); }
};
struct WaitForGroup {
  void operator()() const { objects->group.wait(); }
};
struct Sleep {
  void operator()() const { weft::sleep_for(std::chrono::hours(100)); }
};
struct WaitForEvent {
  void operator()() const { objects->event.wait(); }
};
// A wait of `debugged kinds`.
struct Wait {
  void operator()() const { function(); }
  void (*function)();
};
struct LockFirst {
  void operator()() const WEFT_NO_THREAD_SAFETY_ANALYSIS {
    objects->first.lock();
    objects->automatic.wait();
    objects->second.lock();
  }
};
struct LockSecond {
  void operator()() const WEFT_NO_THREAD_SAFETY_ANALYSIS {
    objects->second.lock();
    objects->automatic.signal();
    objects->first.lock();
  }
};
// Blocks its thread, and all fibers of it.
struct BlockThread {
  void operator()() const {
    objects->mayRun.signal();
    while (std::getchar() != EOF) {
    }
    _exit(0);
  }
};

uint64_t numBlocked(const weft::Scheduler& scheduler) {
  uint64_t count = 0;
  for (const auto& worker : scheduler.stats().workers) {
    count += worker.numBlockedFibers;
  }
  return count;
}

// Now and then a fiber that waits for a mutex is awake, and not counted.
void awaitBlocked(const weft::Scheduler& scheduler, uint64_t count) {
  while (numBlocked(scheduler) < count) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

// Has the worker run the task until it waits.
template <class Task>
void placeAndAwait(weft::Scheduler& scheduler, Task task, unsigned worker = 0) {
  scheduler.enqueueOn(worker, std::move(task));
  awaitBlocked(scheduler, ++numPlaced);
}

// `debugged kinds`
void placeKinds(weft::Scheduler& scheduler) WEFT_NO_THREAD_SAFETY_ANALYSIS {
  objects->sharedLock.lock_shared();
  objects->full.send(1);
  for (const auto wait : {
           +[] { objects->automatic.wait(); },
           +[] { objects->latch.wait(); },
           +[] { objects->barrier.arrive_and_wait(); },
           +[]() WEFT_NO_THREAD_SAFETY_ANALYSIS { objects->sharedLock.lock(); },
           +[] { objects->full.send(2); },
           +[] { objects->unbuffered.send(1); },
       }) {
    placeAndAwait(scheduler, Wait{wait});
  }
}

// `debugged bound`
void waitInBoundThread(weft::Scheduler& scheduler) {
  std::thread([&scheduler] {
    scheduler.bind();
    weft::schedule(weft::Task(WaitForEvent(), weft::Task::Flags::SameThread));
    objects->event.wait();
  }).detach();
  awaitBlocked(scheduler, numPlaced += 2);
}

void placeFibers(weft::Scheduler& scheduler, std::string_view how) {
  placeAndAwait(scheduler, HoldAndWait());
  placeAndAwait(scheduler, TakeLock());
  placeAndAwait(scheduler, Receive());
  placeAndAwait(scheduler, WaitForGroup());
  for (int i = 0; (how == "many" || how == "bound") && i < 100; ++i) {
    placeAndAwait(scheduler, WaitForEvent());
  }
  placeAndAwait(scheduler, Sleep());
  if (how == "split") {
    placeAndAwait(scheduler, splitTask(objects->event));
  }
  if (how == "kinds") {
    placeKinds(scheduler);
  }
  if (how == "locks") {
    placeAndAwait(scheduler, LockFirst());
    placeAndAwait(scheduler, LockSecond());
  }
  if (how == "placed") {
    placeAndAwait(scheduler, Wait{[] { objects->automatic.wait(); }}, 1);
  }
  for (int i = 0; how == "bound" && i < 2; ++i) {
    waitInBoundThread(scheduler);
  }
}

// `debugged placed`: gives worker 1 what it does not see, since its thread is blocked.
void addToBlockedWorker(weft::Scheduler& scheduler) {
  objects->automatic.signal();
  scheduler.enqueueOn(1, WaitForEvent());
  scheduler.enqueueOn(1, WaitForEvent());
}

// What the main thread goes on doing.
[[gnu::noinline]] void rest() { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }

}  // namespace debugged

int main(int argc, char** argv) {
  using namespace debugged;
  const std::string_view how = argc > 1 ? argv[1] : "";
  Objects all;
  objects = &all;
  all.kept.set_value(1);
  all.task = HoldAndWait();
  all.closed.send(1);
  all.closed.close();
  weft::Scheduler scheduler(weft::Scheduler::Config().setWorkerThreadCount(2));
  placeAndAwait(scheduler, [] { waitDeep(2, "depth"); });
  placeFibers(scheduler, how);
  scheduler.enqueueOn(1, BlockThread());
  all.mayRun.wait();
  if (how == "placed") {
    addToBlockedWorker(scheduler);
  }
  if (how == "abort") {
    std::abort();
  }
  std::puts("ready");
  std::fflush(stdout);
  for (;;) {
    rest();
  }
}
