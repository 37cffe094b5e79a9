// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/blockingcall.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <limits>
#include <mutex>
#include <new>
#include <system_error>
#include <utility>

#include "os/detached_thread.h"
#include "os/stack_overflow.h"
#include "scheduler/worker/process_fork.h"
#include "weft/debug.h"
#include "weft/detail/base/deadline.h"
#include "weft/detail/base/spin_lock.h"
#include "weft/detail/park/parker.h"
#include "weft/detail/wait/reactor.h"
#include "weft/detail/wait/waiter.h"
#include "weft/scheduler.h"

// A pool of detached threads. Idle threads lie in a list, newest first, so that those not needed grow old at
// its end. A caller that takes a thread off the list owes it exactly one call. A thread whose time is up
// takes itself off, or finds that it was taken, and waits for the call.
// A thread enters the list before it wakes the caller whose call it has made, so that this caller's next call
// finds it. The thread then uses only its own stack, memory that stays (parkers), and the next caller's call.
// The whole pool stays until the process has ended: threads that sleep touch no destroyed static storage.
namespace weft::inline v0_1 {
namespace detail {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

// After a call a thread looks for the next before it sleeps: longer after a success, else shorter.
constexpr std::chrono::nanoseconds kLongestSpinForCall = microseconds(20);
constexpr std::chrono::nanoseconds kShortestSpinForCall = microseconds(1);
constexpr int kLooksPerYieldForCall = 8;
constexpr int kMostSpinning = 1;

// Lies in the frame of its caller, or, where nobody waits for it, in memory of its own.
struct BlockingCall {
  void (*run)(void*);
  void* argument;
  Scheduler* scheduler;                   // the caller's, or null
  Waiter* waiter;                         // or null
  void (*refused)(void*, int) = nullptr;  // if nobody waits
  int error = 0;                          // of the system, which granted no thread for the call
  BlockingCall* next = nullptr;  // in the list of calls that wait for a thread; guarded by the pool's lock
};

// Ends a call that was made, or that has its error. If nobody waits, its memory is freed.
void end(BlockingCall& call) {
  if (call.waiter != nullptr) {
    wake(*call.waiter);
    return;
  }
  if (call.error != 0) {
    call.refused(call.argument, call.error);
  }
  delete &call;
}

struct BlockingThread {
  // A caller that took it off the list: null -> a call, its last access. The thread: a call -> null.
  std::atomic<BlockingCall*> call{nullptr};
  Parker<>* parker = nullptr;
  std::chrono::nanoseconds spin = kLongestSpinForCall / 2;
  BlockingThread* newer = nullptr;  // these three are guarded by the pool's lock
  BlockingThread* older = nullptr;
  bool isIdle = false;
};

struct BlockingPool {
  SpinLock lock;
  BlockingThread* newestIdle = nullptr;  // all guarded by lock
  BlockingCall* firstWaiting = nullptr;
  BlockingCall* lastWaiting = nullptr;
  unsigned int numThreads = 0;
  unsigned int maxThreads = std::numeric_limits<unsigned int>::max();
  milliseconds idleTime{10'000};

  void addIdle(BlockingThread& thread) {
    thread.isIdle = true;
    thread.newer = nullptr;
    thread.older = newestIdle;
    if (newestIdle != nullptr) {
      newestIdle->newer = &thread;
    }
    newestIdle = &thread;
  }

  void removeIdle(BlockingThread& thread) {
    thread.isIdle = false;
    (thread.newer != nullptr ? thread.newer->older : newestIdle) = thread.older;
    if (thread.older != nullptr) {
      thread.older->newer = thread.newer;
    }
  }

  void addWaiting(BlockingCall& call) {
    (firstWaiting != nullptr ? lastWaiting->next : firstWaiting) = &call;
    lastWaiting = &call;
  }

  void addWaitingFirst(BlockingCall& call) {
    call.next = firstWaiting;
    lastWaiting = firstWaiting != nullptr ? lastWaiting : &call;
    firstWaiting = &call;
  }

  BlockingCall* takeWaiting() {
    return firstWaiting != nullptr ? std::exchange(firstWaiting, firstWaiting->next) : nullptr;
  }
};

constinit BlockingPool blockingPool;

constinit thread_local bool isBlockingThread = false;

// The child of a fork has none of the threads. (If a scheduler existed, it may not call: see process_fork.h.)
void registerForkHandlers() {
  const auto unlock = [] { blockingPool.lock.unlock(); };
  const auto forget = [] {
    blockingPool.newestIdle = nullptr;
    blockingPool.firstWaiting = nullptr;
    blockingPool.numThreads = isBlockingThread ? 1 : 0;
    blockingPool.lock.unlock();
  };
  watchForks();
  // If this fails for want of memory, only a child that calls without exec() is affected.
  [[maybe_unused]] static const int registered =
      pthread_atfork([] { blockingPool.lock.lock(); }, unlock, forget);
}

void runBound(const BlockingCall& call) {
  call.run(call.argument);
  assertReturnsInParent("a function that was given to blocking_call()");
  WEFT_ASSERT(Scheduler::get() == call.scheduler,
              "a function that was given to blocking_call() has %s. "
              "Let it unbind what it binds, and nothing else.",
              Scheduler::get() != nullptr ? "left a scheduler bound" : "unbound the scheduler of its caller");
}

void make(const BlockingCall& call) {
  if (call.scheduler != nullptr) {
    call.scheduler->bind();
  }
  runBound(call);
  if (call.scheduler != nullptr) {
    Scheduler::unbind();
  }
}

// Makes a call for which nobody waits, on the thread of another call, whose scheduler is not the call's.
void makeHere(const BlockingCall& call) {
  const WithoutFibers withoutFibers;
  runBound(call);
}

// The next step of a thread after a call: it makes another call, or is idle for a time, or ends.
struct NextStep {
  BlockingCall* call = nullptr;
  bool isIdle = false;
  milliseconds idleTime{};
};

NextStep chooseNext(BlockingThread& self) {
  std::scoped_lock guard(blockingPool.lock);
  if (blockingPool.numThreads > blockingPool.maxThreads) {
    --blockingPool.numThreads;
    return {};
  }
  if (BlockingCall* waiting = blockingPool.takeWaiting()) {
    return {waiting};
  }
  blockingPool.addIdle(self);
  return {nullptr, true, blockingPool.idleTime};
}

BlockingCall* takeCall(BlockingThread& self) {
  // (1) acquire: sees what the caller did before; pairs with (2).
  BlockingCall* call = self.call.load(std::memory_order_acquire);
  if (call != nullptr) {
    // relaxed: the next call comes after this thread has entered the list again.
    self.call.store(nullptr, std::memory_order_relaxed);
  }
  return call;
}

// The number of threads that spin now. relaxed throughout: a count that is off by one costs a little time.
constinit std::atomic<int> numSpinning{0};

// Gives the processor away at each step: the caller that was just woken may share it.
BlockingCall* spinForCall(BlockingThread& self) {
  BlockingCall* call = nullptr;
  if (numSpinning.fetch_add(1, std::memory_order_relaxed) < kMostSpinning) {
    const TimePoint end = TimePoint::clock::now() + self.spin;
    for (;;) {
      for (int i = 0; i < kLooksPerYieldForCall && call == nullptr; ++i) {
        StdSync::pause();
        call = takeCall(self);
      }
      if (call != nullptr || TimePoint::clock::now() >= end) {
        break;
      }
      sched_yield();
    }
    self.spin = call != nullptr ? std::min(2 * self.spin, kLongestSpinForCall)
                                : std::max(self.spin / 2, kShortestSpinForCall);
  }
  numSpinning.fetch_sub(1, std::memory_order_relaxed);
  return call;
}

// Returns: null when the thread has been idle for too long, and no longer belongs to the pool.
BlockingCall* waitForCall(BlockingThread& self, milliseconds idleTime) {
  BlockingCall* call = spinForCall(self);
  TimePoint deadline = deadlineAfter(idleTime);
  while (call == nullptr) {
    if (!self.parker->parkUntil(deadline) && TimePoint::clock::now() >= deadline) {
      std::scoped_lock guard(blockingPool.lock);
      if (self.isIdle) {
        blockingPool.removeIdle(self);
        --blockingPool.numThreads;
        return nullptr;
      }
      deadline = kNever;  // a call is on its way
    }
    call = takeCall(self);
  }
  return call;
}

void* runBlockingThread(void* firstCall) {
  pthread_setname_np(pthread_self(), "weft:blocking");
  AlternateStack signalStack;
  isBlockingThread = true;
  BlockingThread self;
  self.parker = acquireParker();
  auto* call = static_cast<BlockingCall*>(firstCall);
  while (call != nullptr) {
    make(*call);
    const NextStep next = chooseNext(self);
    end(*call);
    call = next.isIdle ? waitForCall(self, next.idleTime) : next.call;
  }
  releaseParker(self.parker);
  return nullptr;
}

void give(BlockingThread& thread, BlockingCall& call) {
  Parker<>* parker = thread.parker;
  // (2) release: what the caller did is seen by the thread; the last access to it; pairs with (1).
  thread.call.store(&call, std::memory_order_release);
  parker->unpark();
}

// Starts a thread, which is counted already, that makes `call`. Returns: 0, or the error number.
int startThread(BlockingCall& call) { return startDetachedThread(&runBlockingThread, &call); }

// Called when the system refused the thread that was counted for `call`, which waited.
// Returns: whether a thread should be started for other calls that wait.
bool handleRefusal(BlockingCall& call, int error) {
  BlockingThread* idle = nullptr;
  {
    std::scoped_lock guard(blockingPool.lock);
    --blockingPool.numThreads;
    idle = blockingPool.newestIdle;
    if (idle != nullptr) {
      blockingPool.removeIdle(*idle);
    } else if (blockingPool.numThreads != 0) {
      blockingPool.addWaitingFirst(call);  // for a thread that ends its call
      return false;
    }
  }
  if (idle != nullptr) {
    give(*idle, call);
  } else {
    call.error = error;
    end(call);
  }
  return true;
}

void startForWaiting() {
  BlockingCall* call = nullptr;
  int error = 0;
  do {
    {
      std::scoped_lock guard(blockingPool.lock);
      call = blockingPool.numThreads < blockingPool.maxThreads ? blockingPool.takeWaiting() : nullptr;
      blockingPool.numThreads += call != nullptr ? 1 : 0;
    }
    error = call != nullptr ? startThread(*call) : 0;
  } while (call != nullptr && (error == 0 || handleRefusal(*call, error)));
}

// Starts a thread for a call that was counted. Returns: 0, or the error number.
int startCounted(BlockingCall& call) {
  const int error = startThread(call);
  if (error != 0) {
    {
      std::scoped_lock guard(blockingPool.lock);
      --blockingPool.numThreads;
    }
    startForWaiting();  // other calls may rely on this one
  }
  return error;
}

enum class Granted { IdleThread, NewThread, Later, OwnThread };

Granted findThread(BlockingCall& call, BlockingThread*& idle) {
  std::scoped_lock guard(blockingPool.lock);
  idle = blockingPool.newestIdle;
  if (idle != nullptr) {
    blockingPool.removeIdle(*idle);
    return Granted::IdleThread;
  }
  if (blockingPool.numThreads < blockingPool.maxThreads) {
    ++blockingPool.numThreads;
    return Granted::NewThread;
  }
  if (isBlockingThread) {
    return Granted::OwnThread;
  }
  blockingPool.addWaiting(call);
  return Granted::Later;
}

}  // namespace

void callOnBlockingThread(void (*run)(void*), void* argument) {
  if (const int error = tryOnBlockingThread(run, argument); error != 0) {
    constexpr const char* kMessage =
        "weft::blocking_call: the system granted no further thread. "
        "Bound the calls at one time (BlockingThreads::setMaxCount), "
        "or raise the limit on threads (ulimit -u, the cgroup's pids.max)";
    throw std::system_error(error, std::generic_category(), kMessage);
  }
}

int tryOnBlockingThread(void (*run)(void*), void* argument) noexcept {
  assertNotForked("blocking_call()");
  registerForkHandlers();
  Waiter& self = currentWaiter();
  BlockingCall call{run, argument, Scheduler::get(), &self};
  BlockingThread* idle = nullptr;
  switch (findThread(call, idle)) {
    case Granted::IdleThread:
      give(*idle, call);
      // It may share this processor. A short call then ends before this thread looks for other work.
      sched_yield();
      break;
    case Granted::NewThread:
      if (const int error = startCounted(call); error != 0) {
        return error;
      }
      break;
    case Granted::OwnThread:
      runBound(call);
      return 0;
    case Granted::Later:
      break;
  }
  block(self, "blocking_call", argument);
  return call.error;
}

void startOnBlockingThread(void (*run)(void*), void (*refused)(void*, int), void* argument) {
  assertNotForked("blocking_call()");
  registerForkHandlers();
  auto* const call = new (std::nothrow) BlockingCall{run, argument, nullptr, nullptr, refused};
  if (call == nullptr) {
    refused(argument, ENOMEM);
    return;
  }
  BlockingThread* idle = nullptr;
  switch (findThread(*call, idle)) {
    case Granted::IdleThread:
      give(*idle, *call);
      return;
    case Granted::NewThread:
      // If it starts, the call may be gone.
      if (const int error = startCounted(*call); error != 0) {
        call->error = error;
        end(*call);
      }
      return;
    case Granted::OwnThread:
      makeHere(*call);
      end(*call);
      return;
    case Granted::Later:
      return;
  }
}

}  // namespace detail

void BlockingThreads::setMaxCount(unsigned int count) {
  using namespace detail;
  WEFT_ASSERT(count > 0,
              "BlockingThreads::setMaxCount(0): no call could ever be made. Allow one thread at least.");
  {
    std::scoped_lock guard(blockingPool.lock);
    blockingPool.maxThreads = count;
  }
  startForWaiting();
}

void BlockingThreads::setIdleTime(std::chrono::milliseconds time) {
  std::scoped_lock guard(detail::blockingPool.lock);
  detail::blockingPool.idleTime = time;
}

unsigned int BlockingThreads::count() {
  std::scoped_lock guard(detail::blockingPool.lock);
  return detail::blockingPool.numThreads;
}

}  // namespace weft::inline v0_1
