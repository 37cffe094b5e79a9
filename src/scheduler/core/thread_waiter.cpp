// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "os/thread_end.h"
#include "scheduler/fibers/fiber_control_block.h"
#include "scheduler/policy/search_budget.h"
#include "scheduler/report/run_or_die.h"
#include "scheduler/worker/process_fork.h"
#include "weft/detail/base/callable.h"
#include "weft/detail/base/sync.h"
#include "weft/detail/park/parker.h"
#include "weft/detail/wait/reactor.h"
#include "weft/detail/wait/waiter.h"
#include "weft/waithandler.h"

// How a thread that runs no fibers waits: it parks, or calls its wait handler. A wait inside a handler gets a
// waiter of its own, in the frame of the outer wait, whose waiter may be linked somewhere.
namespace weft::inline v0_1 {
namespace detail {

struct ThreadWaiter : Waiter {
  // Transitions. Waker: kNotWoken -> kWoken; where there is a callback, its address -> kCalling -> kWoken,
  // its last access. Thread: kNotWoken <-> the address of a callback; kWoken -> kNotWoken.
  static constexpr uintptr_t kNotWoken = 0, kWoken = 1, kCalling = 2;
  using Callback = std::function<void()>;

  static bool isCallback(uintptr_t state) { return state > kCalling; }

  bool isReady() const {
    // (1) acquire: sees what the waker did before; pairs with (2, 4).
    const uintptr_t now = state.load(std::memory_order_acquire);
    return now == kWoken || now == kCalling;
  }

  // Returns: whether the wake has come. Then the waiter is ready for another wait.
  bool takeWake() {
    uintptr_t woken = kWoken;
    // (5) acquire: sees what the waker did before; pairs with (2, 4).
    return state.compare_exchange_strong(woken, kNotWoken, std::memory_order_acquire,
                                         std::memory_order_relaxed);
  }

  // Replaces the callback by `callback`, which may be null. Returns: false if the wake came first.
  bool replace(Callback* callback) {
    // relaxed: the thread's own callback, or a guess for the compare-exchange.
    uintptr_t before = state.load(std::memory_order_relaxed);
    do {
      if (before == kWoken || before == kCalling) {
        return false;
      }
      // (3) release: the callback is complete; pairs with (2).
    } while (!state.compare_exchange_weak(before, reinterpret_cast<uintptr_t>(callback),
                                          std::memory_order_release, std::memory_order_relaxed));
    delete reinterpret_cast<Callback*>(before);
    return true;
  }

  void wakeUp() {
    Parker<>* const ownParker = parker;
    uintptr_t before = kNotWoken;
    // (2) acq_rel: the thread sees what the waker did; the waker sees the callback complete; pairs
    // with (1, 3, 5). The waiter may be gone after it.
    while (!state.compare_exchange_weak(before, isCallback(before) ? kCalling : kWoken,
                                        std::memory_order_acq_rel, std::memory_order_relaxed)) {
    }
    if (isCallback(before)) {
      callAndWake(before);
    }
    ownParker->unpark();
  }

  [[gnu::cold]] void callAndWake(uintptr_t address) {
    std::unique_ptr<Callback> callback(reinterpret_cast<Callback*>(address));
    runOrDie([&] { (*callback)(); }, "the function of WaitHandle::onReady()");
    // Its captures may refer to objects that are destroyed once the wait returns.
    callback.reset();
    // (4) release: the callback has returned; the last access to the waiter; pairs with (1, 5).
    state.store(kWoken, std::memory_order_release);
  }

  Parker<>* parker = nullptr;  // the thread's own; process-wide memory
  StdSync::Atomic<uintptr_t> state{kNotWoken};

  static WaitHandle handle(ThreadWaiter& self, TimePoint deadline) { return {self, deadline}; }
};

namespace {

constexpr int kLooksPerYield = 8;

constinit thread_local ThreadWaiter ownWaiter;
constinit thread_local SearchBudget ownSearch(SearchBudget::kLongestOfOthers);
constinit thread_local Reactor* ownReactor = nullptr;         // set by setThreadReactor()
constinit thread_local ThreadWaiter* nestedWaiter = nullptr;  // of the innermost wait whose handler runs

// Stays while it runs, even if it is replaced. A wait makes no copy, since there may be no memory for one.
struct KeptHandler {
  WaitHandler function;
  int numUses = 1;  // by the thread, as its handler, and by its calls
};

void endUse(KeptHandler* handler) {
  if (--handler->numUses == 0) {
    delete handler;
  }
}

// The thread's handler, destroyed when the thread ends. Destructors after that may wait and set another one.
constinit thread_local KeptHandler* ownHandler = nullptr;
constinit thread_local bool isHandlerOn = false;  // not for a time, nor where it is empty

void dropHandler(void*) {
  isHandlerOn = false;
  endUse(std::exchange(ownHandler, nullptr));
}

bool hasOwnHandler() { return ownHandler != nullptr && ownHandler->function != nullptr; }

ThreadWaiter& innermostWaiter() { return nestedWaiter != nullptr ? *nestedWaiter : ownWaiter; }

[[gnu::cold]] void callHandler(ThreadWaiter& self, TimePoint deadline) {
  ThreadWaiter nested;
  ThreadWaiter* const outer = std::exchange(nestedWaiter, &nested);
  // The waiter may be queued, so no exception may end the wait.
  KeptHandler* const handler = ownHandler;
  ++handler->numUses;
  const WaitHandle handle = ThreadWaiter::handle(self, deadline);
  // Two pointers: std::function allocates memory for more.
  runOrDie([handler, &handle] { handler->function(handle); }, "a wait handler");
  endUse(handler);
  nestedWaiter = outer;
  self.replace(nullptr);
}

// Waits for the wake without sleeping, as long as that pays. Returns: whether the wake has come.
bool watchFor(const ThreadWaiter& self, TimePoint begin, TimePoint deadline) {
  const TimePoint end = std::min(begin + ownSearch.length(begin), deadline);
  for (TimePoint now = begin; now < end;) {
    for (int i = 0; i < kLooksPerYield; ++i) {
      if (self.isReady()) {
        ownSearch.recordHit(now - begin);
        return true;
      }
      StdSync::pause();
    }
    if (!ownSearch.giveWay(now, true)) {
      return self.isReady();
    }
  }
  if (end != deadline) {
    ownSearch.recordMiss(end);
  }
  return self.isReady();
}

// Returns: whether it was woken before the deadline.
bool sleepUntilWoken(ThreadWaiter& self, TimePoint deadline) {
  const auto park = [&] {
    return ownReactor == nullptr ? self.parker->parkUntil(deadline)
                                 : ownReactor->park(*self.parker, deadline);
  };
  // A permit may be left over from an earlier wait, so test the state again each time.
  while (!self.takeWake()) {
    if (!park() && TimePoint::clock::now() >= deadline) {
      return self.takeWake();  // one may have come at the last moment
    }
  }
  return true;
}

}  // namespace

WithoutHandler::WithoutHandler() noexcept
    : wasOn_(currentFiber == nullptr && std::exchange(isHandlerOn, false)) {}

WithoutHandler::~WithoutHandler() {
  if (wasOn_) {
    isHandlerOn = hasOwnHandler();
  }
}

Waiter& threadWaiter() noexcept {
  ThreadWaiter& waiter = innermostWaiter();
  // Looked up each time: a late thread_local destructor may wait after the first parker was given back.
  waiter.parker = &threadParker();
  return waiter;
}

bool isOwnWaiter(const Waiter& waiter) noexcept {
  return waiter.fiber == currentFiber && (waiter.fiber != nullptr || &waiter == &innermostWaiter());
}

bool parkThreadUntil(Waiter& waiter, TimePoint deadline) {
  auto& self = static_cast<ThreadWaiter&>(waiter);
  assertNotForked("something that waits");
  const TimePoint begin = TimePoint::clock::now();
  const bool hasSlept = !watchFor(self, begin, deadline);
  const bool isWoken = sleepUntilWoken(self, deadline);
  if (hasSlept && isWoken) {
    ownSearch.recordGap(TimePoint::clock::now() - begin);
  }
  return isWoken;
}

bool blockThreadUntil(Waiter& waiter, TimePoint deadline) {
  if (isHandlerOn) [[unlikely]] {
    auto& self = static_cast<ThreadWaiter&>(waiter);
    if (!self.isReady() && (deadline == kNever || TimePoint::clock::now() < deadline)) {
      callHandler(self, deadline);
    }
  }
  return parkThreadUntil(waiter, deadline);
}

bool hasWaitHandler() noexcept { return currentFiber == nullptr && isHandlerOn; }

void setThreadReactor(Reactor* reactor) noexcept { ownReactor = reactor; }

void wakeThread(Waiter& waiter) noexcept { static_cast<ThreadWaiter&>(waiter).wakeUp(); }

}  // namespace detail

bool WaitHandle::ready() const noexcept {
  return waiter_->isReady() || (deadline_ != detail::kNever && detail::TimePoint::clock::now() >= deadline_);
}

void WaitHandle::onReady(std::function<void()> wake) const {
  detail::assertCallable(wake, "WaitHandle::onReady()");
  auto callback = std::make_unique<std::function<void()>>(std::move(wake));
  if (waiter_->replace(callback.get())) {
    (void)callback.release();
  } else {
    (*callback)();
  }
}

WaitHandler setThreadWaitHandler(WaitHandler handler) {
  if (detail::ownHandler == nullptr) {
    if (handler == nullptr) {
      return nullptr;
    }
    detail::ownHandler = new detail::KeptHandler();
    detail::atThreadEnd(&detail::dropHandler);
  }
  WaitHandler before;
  if (detail::ownHandler->numUses == 1) {
    before = std::exchange(detail::ownHandler->function, std::move(handler));
  } else {
    auto next = std::make_unique<detail::KeptHandler>();
    before = detail::ownHandler->function;
    next->function = std::move(handler);
    detail::endUse(std::exchange(detail::ownHandler, next.release()));
  }
  detail::isHandlerOn = detail::hasOwnHandler();
  return before;
}

}  // namespace weft::inline v0_1
