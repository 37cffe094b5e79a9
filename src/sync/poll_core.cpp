// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/detail/wait/poll_core.h"

#include <algorithm>
#include <chrono>
#include <exception>

#include "scheduler/core/scheduler_core.h"
#include "scheduler/policy/poll_pace.h"
#include "scheduler/worker/poll_hub.h"
#include "weft/debug.h"
#include "weft/detail/wait/reactor.h"
#include "weft/scheduler.h"

namespace weft::inline v0_1::detail {
namespace {

// What a deadline or a stop chooses.
constexpr uint32_t kLimit = UINT32_MAX - 1;

constexpr auto kBeforeSuspension = std::chrono::microseconds(4);
constexpr auto kShortestSleep = std::chrono::microseconds(50);  // the system rounds shorter ones up

// A fiber of the calling thread begins, or ends, to wait for a request.
void countWaits(int change) {
  if (Worker* const worker = Worker::current()) {
    worker->numPolled += change;
  }
}

Scheduler& checked(Scheduler* scheduler, const char* name) {
  WEFT_ASSERT(scheduler != nullptr,
              "the poll source \"%s\" was made on a thread without a scheduler. "
              "Bind one before, or name one: PollSource(scheduler, test).",
              name);
  return *scheduler;
}

}  // namespace

PollCore::PollCore(Scheduler* scheduler, const Options& options)
    : scheduler_(checked(scheduler, options.name)),
      hub_(core().pollHub),
      options_(options),
      only_(options.isOnThisThreadOnly ? currentWorkerOf(core()) : nullptr),
      list_(options.mostInFlight),
      pace_(std::make_unique<PollPace>()) {
  WEFT_ASSERT(options.mostInFlight > 0, "the poll source \"%s\" may have no request in flight.", name());
  WEFT_ASSERT(only_ != nullptr || !options.isOnThisThreadOnly,
              "the poll source \"%s\" is for one thread only, and was made on a thread that is not bound to "
              "its scheduler. Make it on the thread that shall test.",
              name());
  hub_.add(*this);
}

SchedulerCore& PollCore::core() const { return *scheduler_.core_; }

PollCore::~PollCore() {
  const size_t left = numInFlight();
  WEFT_ASSERT(left == 0,
              "the poll source \"%s\" was destroyed with %zu requests in flight. Wait for them before.",
              name(), left);
  hub_.remove(*this);
}

bool PollCore::mayBeUsedHere() const { return only_ == nullptr || only_ == Worker::current(); }

void PollCore::assertMayBeCalled() const {
  WEFT_ASSERT(mayBeUsedHere(),
              "the poll source \"%s\" was used on another thread than the one that tests it. "
              "Use it in tasks of that thread: Scheduler::enqueueOn().",
              name());
}

// What a test throws would have no receiver: it belongs to no request.
void PollCore::callTest(void* const* handles, size_t count, PollDone& done) noexcept {
  const WithoutFibers withoutFibers;
  try {
    test(handles, count, done);
    return;
  } catch (const std::exception& error) {
    WEFT_FATAL("the test of the poll source \"%s\" threw: %s. Keep an error in the handle instead.", name(),
               error.what());
  } catch (...) {
    WEFT_FATAL("the test of the poll source \"%s\" threw. Keep an error in the handle instead.", name());
  }
}

bool PollCore::beginTest() {
  const size_t count = list_.beginTest(window_, [this] { return pace_->window(); });
  if (count == 0) {
    return false;
  }
  count_ = count;
  return true;
}

bool PollCore::finishTest(TimePoint began) {
  for (size_t i = 0; i < count_; ++i) {
    handles_[i] = window_[i]->handle;
  }
  PollDone done;
  callTest(handles_, count_, done);
  endTest(done, began);
  return done.any();
}

// Its last access to this object is the end of the test: a waiter may destroy it then.
void PollCore::endTest(const PollDone& done, TimePoint began) {
  const TimePoint ended = TimePoint::clock::now();
  PollList<>::Ended finished;
  list_.endTest(
      window_, count_, [&](size_t i) { return done[i]; },
      [&](bool isFresh, size_t size) {
        hub_.noteDone(isShared(), finished.numDone);
        const TimePoint due = pace_->next(count_, size, began, ended, isFresh || finished.numDone != 0);
        // relaxed: a hint, under the list's lock.
        due_.store(due.time_since_epoch().count(), std::memory_order_relaxed);
      },
      finished);
  wakeAll(finished.claimed);
  while (Node* const node = finished.first) {
    finished.first = node->nextDone;
    node->complete(*node);
  }
}

// Nobody tests meanwhile; if somebody does, that is not worth waiting for.
bool PollCore::isDoneAtOnce(void* handle) {
  if (!list_.beginTest()) {
    return false;
  }
  PollDone done;
  callTest(&handle, 1, done);
  WaitList claimed;
  list_.endTest(claimed);
  wakeAll(claimed);
  return done[0];
}

// Requires: there is room for it.
void PollCore::list(Node& node) {
  // The request may be done, and the source gone, as soon as it is listed.
  SchedulerCore& core = this->core();
  const bool isUnwatched = hub_.noteStarted(isShared());
  list_.start(node, [&] { due_.store(0, std::memory_order_relaxed); });  // relaxed: as in endTest()
  if (isUnwatched) {
    core.findWatcher();
  }
}

// To suspend a fiber and to find its request costs more than some tests. They are worth it where the thread
// has nothing else to do, and there are no requests of others to test.
bool PollCore::isDoneSoon(void* handle) {
  const Worker& worker = *Worker::current();
  // The clock is not read where there is something else.
  for (TimePoint end = kNever; !worker.hasOwnWork() && numInFlight() == 0;) {
    if (isDoneAtOnce(handle)) {
      return true;
    }
    const TimePoint now = TimePoint::clock::now();
    if (now >= end) {
      return false;
    }
    end = end == kNever ? now + kBeforeSuspension : end;
  }
  return false;
}

void PollCore::link(Node& node) {
  assertMayBeCalled();
  list_.forceRoom();
  countWaits(1);
  list(node);
}

bool PollCore::withdraw(Node& node, Waiter& self) {
  const bool isDone = takeOut(node, self);
  countWaits(-1);
  return isDone;
}

WaitEnd PollCore::waitForRoom(Waiter& self, TimePoint deadline, const std::stop_token& token) {
  if (list_.takeRoom(self)) {
    return WaitEnd::Woken;
  }
  return blockStoppable(self, deadline, token, [&] { return list_.giveUp(self); }, name(), this);
}

WaitEnd PollCore::wait(void* handle, TimePoint deadline, const std::stop_token& token) {
  assertMayBeCalled();
  if (isDoneAtOnce(handle)) {
    countIo();
    return WaitEnd::Woken;
  }
  return waitFurther(handle, deadline, token);
}

WaitEnd PollCore::waitFurther(void* handle, TimePoint deadline, const std::stop_token& token) {
  if (token.stop_requested()) {
    return WaitEnd::Stopped;
  }
  Waiter& self = currentWaiter();
  if (self.fiber == nullptr) {
    numOnThreads_.fetch_add(1, std::memory_order_relaxed);
    const WaitEnd end = waitOnThread(handle, deadline, token);
    numOnThreads_.fetch_sub(1, std::memory_order_relaxed);
    return end;
  }
  if (isDoneSoon(handle)) {
    countIo();
    return WaitEnd::Woken;
  }
  const IoWait scope(nullptr);
  const WaitEnd room = waitForRoom(self, deadline, token);
  if (room != WaitEnd::Woken) {
    return room;
  }
  Node node;
  node.handle = handle;
  return waitFor(self, node, deadline, token);
}

// Requires: there is room for `node`.
WaitEnd PollCore::waitFor(Waiter& self, Node& node, TimePoint deadline, const std::stop_token& token) {
  SelectChoice<> choice;
  node.owner = &self;
  node.choice = &choice;
  countWaits(1);
  list(node);
  const auto claim = [&] { return choice.tryChoose(kLimit); };
  WaitEnd end = blockStoppable(self, deadline, token, claim, name(), this);
  if (end != WaitEnd::Woken && takeOut(node, self)) {
    end = WaitEnd::Woken;
  }
  countWaits(-1);
  return end;
}

// A thread without fibers tests by itself, since the workers may be busy, or none may be there. It sleeps in
// between like PollPace says.
WaitEnd PollCore::waitOnThread(void* handle, TimePoint deadline, const std::stop_token& token) {
  const TimePoint began = TimePoint::clock::now();
  for (TimePoint now = began; now < deadline; now = TimePoint::clock::now()) {
    const auto gap = PollPace::gap(now - began);
    if (gap < kShortestSleep) {
      StdSync::pause();
    } else if (!sleepUntilStop(std::min(deadline, now + gap), token)) {
      return WaitEnd::Stopped;
    }
    if (isDoneAtOnce(handle)) {
      return WaitEnd::Woken;
    }
    if (token.stop_requested()) {
      return WaitEnd::Stopped;
    }
  }
  return WaitEnd::TimedOut;
}

// Returns: whether the request is done nevertheless.
bool PollCore::takeOut(Node& node, Waiter& self) {
  for (;;) {
    WaitList claimed;
    const PollList<>::Withdrawn result = list_.withdraw(node, self, claimed);
    wakeAll(claimed);
    if (result != PollList<>::Withdrawn::Later) {
      const bool isOut = result == PollList<>::Withdrawn::Out;
      if (isOut) {
        hub_.noteDone(isShared());
      }
      return !isOut;
    }
    block(self, name(), this);
  }
}

void PollCore::start(Node& node) {
  assertMayBeCalled();
  if (isDoneAtOnce(node.handle)) {
    node.complete(node);
    return;
  }
  (void)waitForRoom(currentWaiter(), kNever, {});
  list(node);
}

}  // namespace weft::inline v0_1::detail
