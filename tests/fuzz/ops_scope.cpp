// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <atomic>
#include <chrono>
#include <functional>
#include <stdexcept>
#include <utility>

#include "world.h"

// The operations on what belongs to a scope: permits, groups with a limit, values of workers, a scheduler
// that is shut down.
namespace weft::fuzz {
namespace {

using std::chrono::microseconds;

int countOf(const Op& op) { return op.b % 5; }

void countAcquired(Census& all, const Op& op, bool) { all.semaphores[op.a].wanted += countOf(op); }

bool isAcquireSure(const Census& all, const Op& op) { return all.semaphores[op.a].isEnough(); }

bool acquireSeveral(Actor& self, const Op& op) {
  const Semaphore& semaphore = self.world.semaphores[op.a];
  const int count = countOf(op);
  return self.await(
      op, [&](const auto&... token) { return semaphore.acquire(count, token...); },
      [&](auto limit, const auto& token) { return semaphore.try_acquire_for(count, limit, token); });
}

void hold(Actor& self, const Op& op) {
  const Semaphore& semaphore = self.world.semaphores[op.a];
  const int count = countOf(op);
  Semaphore::Permit permit;
  const bool isHeld = self.await(
      op,
      [&](const auto&... token) {
        permit = semaphore.hold(count, token...);
        return static_cast<bool>(permit);
      },
      [&](auto limit, const auto& token) {
        if (semaphore.try_acquire_for(count, limit, token)) {
          permit = Semaphore::Permit::adopt(semaphore, count);
        }
        return static_cast<bool>(permit);
      });
  check(permit.count() == (isHeld ? count : 0), "a permit holds %td instead of %d", permit.count(), count);
  if (op.b >= 128) {
    yield();
  }
  const Semaphore::Permit moved = std::move(permit);
  check(!permit && static_cast<bool>(moved) == isHeld, "a permit was not moved");
}

void tryHold(Actor& self, const Op& op) {
  const Semaphore::Permit permit = self.world.semaphores[op.a].tryHold(countOf(op));
  check(!permit || permit.count() == countOf(op), "a permit holds %td instead of %d", permit.count(),
        countOf(op));
}

// Takes `count` permits, in the way that `round` says.
Semaphore::Permit holdBy(const Semaphore& permits, int count, int round) {
  switch (round % 4) {
    case 0:
      permits.acquire(count);
      return Semaphore::Permit::adopt(permits, count);
    case 1:
      while (!permits.try_acquire_for(count, microseconds(10 * round))) {
      }
      return Semaphore::Permit::adopt(permits, count);
    case 2:
      if (Semaphore::Permit permit = permits.tryHold(count)) {
        return permit;
      }
      return permits.hold(count);
    default:
      return permits.hold(count);
  }
}

// Tasks that hold one to four of four permits.
void holdCrowd(Actor& self, const Op& op) {
  constexpr int kPermits = 4;
  const int numTasks = 1 + op.a % 6, rounds = 1 + op.b % 16;
  const Semaphore permits(kPermits);
  std::atomic<int> numHeld{0};
  const WaitGroup left(static_cast<unsigned>(numTasks));
  for (int task = 0; task < numTasks; ++task) {
    self.spawn([&, task, left] {
      for (int round = 0; round < rounds; ++round) {
        const int count = 1 + (task + round) % kPermits;
        const Semaphore::Permit permit = holdBy(permits, count, round);
        check(numHeld.fetch_add(count) + count <= kPermits, "a semaphore gave more than %d permits",
              kPermits);
        if (round % 3 == 0) {
          yield();
        }
        numHeld -= count;
      }
      left.done();
    });
  }
  left.wait();
  check(permits.try_acquire(kPermits) && !permits.try_acquire(), "a crowd did not leave %d permits",
        kPermits);
}

// What the tasks of a group with a limit do.
struct LimitedRun {
  void runTask(int limit, bool throws) {
    check(++numRunning <= limit, "a group ran more than %d tasks at a time", limit);
    yield();
    ++numRun;
    --numRunning;
    if (throws) {
      isThrown = true;
      throw std::runtime_error("limited group");
    }
  }

  std::atomic<int> numRun{0}, numRunning{0};
  std::atomic<bool> isThrown{false};
};

// A group of which few tasks run at a time; of which one may throw; and which may be cancelled.
void limitedGroup(Actor&, const Op& op) {
  const int limit = 1 + op.a % 4, count = op.b % 32;
  const bool isCancelled = (op.a & 0x30) == 0x30, throws = (op.a & 0xc0) == 0xc0;
  LimitedRun the;
  int numAccepted = 0;
  bool hasThrown = false;
  TaskGroup tasks(TaskGroup::Limit{limit});
  for (int i = 0; i < count; ++i) {
    const auto task = [&the, limit, throws = throws && i == count / 2] { the.runTask(limit, throws); };
    bool isAccepted = i % 3 == 2 && tasks.tryRun(task);
    if (i % 3 != 2) {
      tasks.run(task);
      isAccepted = true;
    }
    numAccepted += isAccepted ? 1 : 0;
    if (isCancelled && i == count / 2) {
      tasks.cancel();
    }
  }
  try {
    tasks.wait();
  } catch (const std::runtime_error&) {
    hasThrown = true;
  }
  check(hasThrown == the.isThrown, "a group with a limit %s", hasThrown ? "threw" : "has lost an exception");
  check(the.numRunning == 0 && the.numRun <= numAccepted &&
            (the.numRun == numAccepted || isCancelled || hasThrown),
        "a group with a limit ran %d of %d tasks", the.numRun.load(), numAccepted);
}

// Each element is counted once, whichever thread does it, and while values are made.
void countPerWorker(Actor&, const Op& op) {
  const int count = 4 * op.b;
  WorkerLocal<int> counts([waits = op.a % 2 != 0] {
    if (waits) {
      yield();
    }
    return 0;
  });
  parallelFor(0, count, [&](int i) {
    ++counts.local();
    if (i % 64 == op.a % 64) {
      yield();
    }
  });
  const int result = counts.combine(0, std::plus());
  check(result == count, "the values of workers are %d instead of %d", result, count);
}

// Another scheduler, which is shut down while its tasks schedule others.
void shutDown(Actor&, const Op& op) {
  const int count = op.b % 8;
  std::atomic<int> numRun{0};
  Scheduler other(Scheduler::Config().setWorkerThreadCount(op.b < 128 ? 1 : 2));
  for (int i = 0; i < count; ++i) {
    other.enqueue(Task([&numRun] {
      yield();
      schedule([&numRun] {
        // relaxed: shutdown() orders it.
        numRun.fetch_add(1, std::memory_order_relaxed);
      });
    }));
  }
  check(other.shutdown(std::chrono::hours(100)), "a shutdown of a hundred hours ended early");
  check(numRun == count, "a scheduler was shut down after %d of %d tasks", numRun.load(), count);
}

constexpr OpType kOps[] = {
    {.name = "acquire several",
     .a = Arg::Semaphore,
     .b = Arg::Number,
     .waits = Waits::Others,
     .count = countAcquired,
     .isSure = isAcquireSure,
     .run = [](Actor& self,
               const Op& op) { self.log.acquired[op.a] += acquireSeveral(self, op) ? countOf(op) : 0; }},
    {.name = "hold",
     .a = Arg::Semaphore,
     .b = Arg::Number,
     .waits = Waits::Others,
     .count = countAcquired,
     .isSure = isAcquireSure,
     .run = hold},
    {.name = "try to hold", .a = Arg::Semaphore, .b = Arg::Number, .count = countAcquired, .run = tryHold},
    {.name = "crowd that holds",
     .a = Arg::Number,
     .b = Arg::Number,
     .run =
         [](Actor& self, const Op& op) {
           if (self.canSpawn()) {
             holdCrowd(self, op);
           }
         }},
    {.name = "group with a limit", .a = Arg::Number, .b = Arg::Number, .run = limitedGroup},
    {.name = "count per worker", .a = Arg::Number, .b = Arg::Number, .run = countPerWorker},
    {.name = "shut down", .b = Arg::Number, .run = shutDown},
};

}  // namespace

std::span<const OpType> scopeOps() { return kOps; }

}  // namespace weft::fuzz
