// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <chrono>
#include <iterator>
#include <mutex>
#include <stdexcept>

#include "world.h"

// The operations on events, locks, counts and stops, and what only passes time.
namespace weft::fuzz {
namespace {

using std::chrono::microseconds;
using std::chrono::steady_clock;

// What the holder of a lock does.
void hold(const Op& op) {
  switch (op.b % 4) {
    case 0:
      yield();
      break;
    case 1:
      sleep_for(microseconds(20));
      break;
    default:
      break;
  }
}

void sleep(Actor& self, const Op& op) {
  const auto begin = steady_clock::now();
  const microseconds time(4 * op.a);
  bool hasSlept = true;
  if (op.how.stop < 0) {
    sleep_for(time);
  } else {
    hasSlept = sleep_for(time, self.world.token(op.how.stop));
  }
  if (hasSlept) {
    check(steady_clock::now() - begin >= time, "a sleep ended early");
  } else {
    check(self.world.isStopBegun[static_cast<size_t>(op.how.stop)], "a sleep was stopped by nobody");
  }
}

void signal(Actor& self, const Op& op) {
  const Event& event = self.world.events[op.a];
  ++self.log.signalled[op.a];
  event.signal();
  if (op.a < kNumManualEvents && self.world.program.census.events[op.a].cleared == 0) {
    check(event.isSignalled(), "event %d has lost its signal", op.a);
  }
}

void wait(Actor& self, const Op& op) {
  const Event& event = self.world.events[op.a];
  self.log.waited[op.a] += self.await(
      op, [&](const auto&... token) { return event.wait(token...); },
      [&](auto limit, const auto& token) { return event.wait_for(limit, token); });
}

void waitAny(Actor& self, const Op& op) {
  const Event sources[] = {self.world.events[op.a], self.world.events[op.b]};
  const Event any = Event::any(Event::Mode::Manual, std::begin(sources), std::end(sources));
  const bool hasCome = self.await(
      op, [&](const auto&... token) { return any.wait(token...); },
      [&](auto limit, const auto& token) { return any.wait_for(limit, token); });
  // If both are one event, that one was signalled.
  self.log.forwarded[op.a] += hasCome && op.a == op.b;
}

void acquire(Actor& self, const Op& op) {
  const Semaphore& semaphore = self.world.semaphores[op.a];
  self.log.acquired[op.a] += self.await(
      op, [&](const auto&... token) { return semaphore.acquire(token...); },
      [&](auto limit, const auto& token) { return semaphore.try_acquire_for(limit, token); });
}

void give(Actor& self, const Op& op) {
  World::Condition& condition = self.world.conditions[op.a];
  const auto notify = [&] {
    op.b % 3 == 0 ? condition.changed.notify_all() : condition.changed.notify_one();
  };
  {
    const lock held(condition.guard);
    ++condition.count;
    if (op.b % 2 == 0) {
      notify();
    }
  }
  if (op.b % 2 != 0) {
    notify();
  }
  ++self.log.given[op.a];
}

void take(Actor& self, const Op& op) {
  World::Condition& condition = self.world.conditions[op.a];
  lock held(condition.guard);
  const auto isThere = [&] { return condition.count > 0; };
  const bool hasCome = self.await(
      op, [&](const auto&... token) { return condition.changed.wait(held, token..., isThere); },
      [&](auto limit, const auto& token) { return condition.changed.wait_for(held, token, limit, isThere); });
  if (hasCome) {
    check(condition.count > 0, "a wait for condition %d ended while it was false", op.a);
    --condition.count;
    ++self.log.taken[op.a];
  }
}

void lockMutex(Actor& self, const Op& op) WEFT_NO_THREAD_SAFETY_ANALYSIS {
  World::Counter& counter = self.world.counters[op.a];
  const bool isHeld = self.await(
      op, [&](const auto&... token) WEFT_NO_THREAD_SAFETY_ANALYSIS { return counter.guard.lock(token...); },
      [&](auto limit, const auto& token) { return counter.guard.try_lock_for(limit, token); });
  if (isHeld) {
    const int before = counter.value;
    hold(op);
    counter.value = before + 1;
    counter.guard.unlock();
    ++self.log.locked[op.a];
  }
}

void write(Actor& self, const Op& op) WEFT_NO_THREAD_SAFETY_ANALYSIS {
  World::SharedCounter& shared = self.world.shared;
  const bool isHeld = self.await(
      op, [&](const auto&... token) WEFT_NO_THREAD_SAFETY_ANALYSIS { return shared.guard.lock(token...); },
      [&](auto limit, const auto& token) { return shared.guard.try_lock_for(limit, token); });
  if (isHeld) {
    const int before = shared.value;
    hold(op);
    shared.value = before + 1;
    shared.guard.unlock();
    ++self.log.numWritten;
  }
}

void read(Actor& self, const Op& op) WEFT_NO_THREAD_SAFETY_ANALYSIS {
  World::SharedCounter& shared = self.world.shared;
  const bool isHeld = self.await(
      op,
      [&](const auto&... token) WEFT_NO_THREAD_SAFETY_ANALYSIS { return shared.guard.lock_shared(token...); },
      [&](auto limit, const auto& token) { return shared.guard.try_lock_shared_for(limit, token); });
  if (isHeld) {
    const int before = shared.value;
    hold(op);
    check(shared.value == before, "somebody has written beside a reader");
    shared.guard.unlock_shared();
  }
}

void done(Actor& self, const Op& op) {
  const WaitGroup& group = self.world.waitGroups[op.a];
  if (self.script.isSupplier) {
    // relaxed: done() orders it.
    self.world.numDone[op.a].fetch_add(1, std::memory_order_relaxed);
  } else {
    group.add();
    hold(op);
  }
  group.done();
}

void waitGroup(Actor& self, const Op& op) {
  const WaitGroup& group = self.world.waitGroups[op.a];
  const bool isOver = self.await(
      op, [&](const auto&... token) { return group.wait(token...); },
      [&](auto limit, const auto& token) { return group.wait_for(limit, token); });
  const int numDone = self.world.numDone[op.a].load(std::memory_order_relaxed);  // relaxed: wait() orders it
  const int wanted = self.world.program.census.waitGroups[op.a];
  check(!isOver || numDone == wanted, "wait group %d let a wait go after %d of %d", op.a, numDone, wanted);
}

void countDown(Actor& self, const Op&) {
  if (self.script.isSupplier) {
    // relaxed: count_down() orders it.
    self.world.numCountedDown.fetch_add(1, std::memory_order_relaxed);
    self.world.latch.count_down();
  }
}

void waitLatch(Actor& self, const Op& op) {
  const bool isOpen = self.await(
      op, [&](const auto&... token) { return self.world.latch.wait(token...); },
      [&](auto limit, const auto& token) { return self.world.latch.wait_for(limit, token); });
  const int numDown = self.world.numCountedDown.load(std::memory_order_relaxed);  // relaxed: wait() orders it
  const int wanted = self.world.program.census.latch;
  check(!isOpen || numDown == wanted, "the latch let a wait go after %d of %d", numDown, wanted);
}

void stop(Actor& self, const Op& op) {
  self.world.isStopBegun[op.a] = true;
  self.world.stops[op.a].request_stop();
}

void callOnce(Actor& self, const Op& op) {
  const auto function = [&] {
    if (op.b % 4 == 0) {
      throw std::runtime_error("once");
    }
    const int before = self.world.onceValue;
    hold(op);
    self.world.onceValue = before + 1;
  };
  try {
    if (op.how.stop < 0) {
      self.world.once.call(function);
    } else if (!self.world.once.call(self.world.token(op.how.stop), function)) {
      check(self.world.isStopBegun[static_cast<size_t>(op.how.stop)], "a Once was stopped by nobody");
      return;
    }
    check(self.world.onceValue == 1, "the function of a Once was called %d times", self.world.onceValue);
  } catch (const std::runtime_error&) {
  }
}

void borrow(Actor& self, const Op& op) {
  auto loan = self.world.pool.borrow();
  check(!loan->isLent, "an object of a pool was lent twice");
  loan->isLent = true;
  hold(op);
  loan->isLent = false;
}

void lockTwice(Actor& self, const Op& op) {
  auto& [guard, value] = self.world.recursive;
  const std::scoped_lock outer(guard);
  const int before = value;
  hold(op);
  const std::scoped_lock inner(guard);
  value = before + 1;
  ++self.log.numRecursed;
}

constexpr OpType kOps[] = {
    {.name = "yield", .run = [](Actor&, const Op&) { yield(); }},
    {.name = "sleep", .a = Arg::Number, .waits = Waits::Soon, .run = sleep},
    {.name = "signal",
     .a = Arg::Event,
     .count = [](Census& all, const Op& op, bool bySupplier) { all.events[op.a].given += bySupplier; },
     .run = signal},
    {.name = "clear",
     .a = Arg::Event,
     .count = [](Census& all, const Op& op, bool) { ++all.events[op.a].cleared; },
     .run = [](Actor& self, const Op& op) { self.world.events[op.a].clear(); }},
    {.name = "wait for",
     .a = Arg::Event,
     .waits = Waits::Others,
     .count = [](Census& all, const Op& op, bool) { ++all.events[op.a].wanted; },
     .isSure = [](const Census& all, const Op& op) { return all.isSignalSure(op.a); },
     .run = wait},
    {.name = "test",
     .a = Arg::Event,
     .count = [](Census& all, const Op& op, bool) { ++all.events[op.a].wanted; },
     .run = [](Actor& self, const Op& op) { self.log.waited[op.a] += self.world.events[op.a].test(); }},
    {.name = "wait for any of",
     .a = Arg::Event,
     .b = Arg::Event,
     .waits = Waits::Others,
     .isSure =
         [](const Census& all, const Op& op) {
           return (op.a < kNumManualEvents && all.isSignalSure(op.a)) ||
                  (op.b < kNumManualEvents && all.isSignalSure(op.b));
         },
     .run = waitAny},
    {.name = "release",
     .a = Arg::Semaphore,
     .b = Arg::Number,
     .count = [](Census& all, const Op& op,
                 bool bySupplier) { all.semaphores[op.a].given += bySupplier ? op.b % 4 : 0; },
     .run =
         [](Actor& self, const Op& op) {
           self.log.released[op.a] += op.b % 4;
           self.world.semaphores[op.a].release(op.b % 4u);
         }},
    {.name = "acquire",
     .a = Arg::Semaphore,
     .waits = Waits::Others,
     .count = [](Census& all, const Op& op, bool) { ++all.semaphores[op.a].wanted; },
     .isSure = [](const Census& all, const Op& op) { return all.semaphores[op.a].isEnough(); },
     .run = acquire},
    {.name = "try to acquire",
     .a = Arg::Semaphore,
     .count = [](Census& all, const Op& op, bool) { ++all.semaphores[op.a].wanted; },
     .run = [](Actor& self,
               const Op& op) { self.log.acquired[op.a] += self.world.semaphores[op.a].try_acquire(); }},
    {.name = "give",
     .a = Arg::Condition,
     .b = Arg::Number,
     .count = [](Census& all, const Op& op, bool bySupplier) { all.conditions[op.a].given += bySupplier; },
     .run = give},
    {.name = "take",
     .a = Arg::Condition,
     .waits = Waits::Others,
     .count = [](Census& all, const Op& op, bool) { ++all.conditions[op.a].wanted; },
     .isSure = [](const Census& all, const Op& op) { return all.conditions[op.a].isEnough(); },
     .run = take},
    {.name = "lock", .a = Arg::Mutex, .b = Arg::Number, .waits = Waits::Soon, .run = lockMutex},
    {.name = "write", .b = Arg::Number, .waits = Waits::Soon, .run = write},
    {.name = "read", .b = Arg::Number, .waits = Waits::Soon, .run = read},
    {.name = "done",
     .a = Arg::WaitGroup,
     .b = Arg::Number,
     .count = [](Census& all, const Op& op, bool bySupplier) { all.waitGroups[op.a] += bySupplier; },
     .run = done},
    {.name = "wait for", .a = Arg::WaitGroup, .waits = Waits::Others, .run = waitGroup},
    {.name = "count down",
     .count = [](Census& all, const Op&, bool bySupplier) { all.latch += bySupplier; },
     .run = countDown},
    {.name = "wait for the latch", .waits = Waits::Others, .run = waitLatch},
    {.name = "request",
     .a = Arg::Stop,
     .count = [](Census& all, const Op& op, bool bySupplier) { all.stops[op.a] += bySupplier; },
     .run = stop},
    {.name = "call once", .b = Arg::Number, .waits = Waits::Soon, .run = callOnce},
    {.name = "borrow", .b = Arg::Number, .run = borrow},
    {.name = "lock twice", .b = Arg::Number, .run = lockTwice},
};

}  // namespace

std::span<const OpType> syncOps() { return kOps; }

}  // namespace weft::fuzz
