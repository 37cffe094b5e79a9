// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <atomic>
#include <chrono>
#include <memory>
#include <vector>

#include "soak.h"

// Operations on threads and schedulers: bindings, schedulers that come and go, blocking calls, weft::fair.
namespace weft::soak {
namespace {

using std::chrono::microseconds;
using std::chrono::steady_clock;

struct Batch {
  explicit Batch(Random random)
      : count(random.between(1, 24)),
        rounds(random.between(1, 4)),
        workers(random.between(0, 3)),
        key(random.next()) {}
  uint64_t value(int i) const { return mix(key + static_cast<uint64_t>(i)); }

  int count, rounds, workers;
  uint64_t key;
};

uint64_t expectBatch(Random random) {
  const Batch the(random);
  return sumOf(the.count, the.key);
}

uint64_t expectRounds(Random random) {
  return static_cast<uint64_t>(Batch(random).rounds) * expectBatch(random);
}

// Tasks that schedule one more each.
void scheduleBatch(const Batch& the, std::atomic<uint64_t>& sum) {
  for (int i = 0; i < the.count; ++i) {
    schedule([&sum, value = the.value(i)] {
      sum += value / 2;
      yield();
      schedule([&sum, rest = value - value / 2] { sum += rest; });
    });
  }
}

// A thread that binds the shared scheduler again and again.
uint64_t runBindings(const Ground& ground, Random random) {
  const Batch the(random);
  std::atomic<uint64_t> sum{0};
  ground.callOnThread([&] {
    for (int round = 0; round < the.rounds; ++round) {
      const Scheduler::Binding bound(ground.scheduler);
      const WaitGroup left(static_cast<unsigned>(the.count));
      for (int i = 0; i < the.count; ++i) {
        schedule([&sum, left, value = the.value(i)] {
          sum += value;
          left.done();
        });
      }
      left.wait();
    }
  });
  return sum;
}

// Schedulers that end while their tasks run.
uint64_t runSchedulers(const Ground& ground, Random random) {
  const Batch the(random);
  std::atomic<uint64_t> sum{0};
  ground.callOnThread([&] {
    for (int round = 0; round < the.rounds; ++round) {
      Scheduler scheduler(Scheduler::Config().setWorkerThreadCount(the.workers));
      const Scheduler::Binding bound(scheduler);
      scheduleBatch(the, sum);
    }
  });
  return sum;
}

uint64_t runBlockingCalls(const Ground& ground, Random random) {
  const Batch the(random);
  std::atomic<uint64_t> sum{0};
  ground.callTasks(the.count, [&](int i) { sum += blocking_call([&] { return the.value(i); }); });
  return sum;
}

// Calls function(uint64_t&) with each of the three objects.
template <class Pool, class F>
void withEach(const Pool& pool, const F& function) {
  const auto first = pool.borrow(), second = pool.borrow(), third = pool.borrow();
  for (const auto* loan : {&first, &second, &third}) {
    function(**loan);
  }
}

uint64_t runPool(const Ground& ground, Random random) {
  const Batch the(random);
  const BoundedPool<uint64_t, 3, PoolPolicy::Preserve> pool;
  withEach(pool, [](uint64_t& object) { object = 0; });
  ground.callTasks(the.count, [&](int i) {
    const auto loan = pool.borrow();
    const uint64_t before = *loan;
    yield();
    *loan = before + the.value(i);
  });
  uint64_t sum = 0;
  withEach(pool, [&](const uint64_t& object) { sum += object; });
  return sum;
}

// Tasks of weft::fair that go some steps, some of them with a deadline.
struct Stepper {
  Stepper(const Batch& the, int i, fair::TaskScheduler& scheduler, std::atomic<uint64_t>& sum,
          const WaitGroup& left)
      : task([=, this, &scheduler, &sum, value = the.value(i)](fair::Task* self) {
          require(steady_clock::now() >= due, "a fair step began early");
          sum += value;
          if (++numSteps == the.rounds) {
            left.done();
          } else if (value % 4 == 0) {
            due = steady_clock::now() + microseconds(value % 500);
            scheduler.postDeadline(self, due);
          } else {
            scheduler.post(self);
          }
        }) {}

  int numSteps = 0;
  steady_clock::time_point due;
  fair::Task task;
};

uint64_t runFairTasks(const Ground& ground, Random random) {
  const Batch the(random);
  std::atomic<uint64_t> sum{0};
  const WaitGroup left(static_cast<unsigned>(the.count));
  std::vector<std::unique_ptr<Stepper>> steppers;
  for (int i = 0; i < the.count; ++i) {
    steppers.push_back(std::make_unique<Stepper>(the, i, ground.fairScheduler, sum, left));
    ground.fairScheduler.post(&steppers.back()->task);
  }
  left.wait();
  return sum;
}

// A fair task that is told of each value by a signal.
uint64_t runFairSignals(const Ground& ground, Random random) {
  const Batch the(random);
  std::atomic<uint64_t> told{0};
  std::atomic<bool> isOver{false};
  uint64_t seen = 0;
  const Event ended;
  fair::Task task([&](fair::Task* self) {
    self->receiveSignal();
    const bool isLast = isOver;
    seen += told.exchange(0);
    if (isLast) {
      ended.signal();
    } else {
      ground.fairScheduler.postWait(self);
    }
  });
  ground.fairScheduler.postWait(&task);
  ground.callTasks(the.count, [&](int i) {
    told += the.value(i);
    ground.fairScheduler.signal(&task);
  });
  isOver = true;
  ground.fairScheduler.signal(&task);
  ended.wait();
  return seen;
}

fair::Coro<uint64_t> addUp(Batch the) {
  uint64_t sum = 0;
  for (int i = 0; i < the.count; ++i) {
    co_await fair::yield();
    sum += the.value(i);
  }
  co_return sum;
}

uint64_t runCoroutines(const Ground& ground, Random random) {
  return fair::async(ground.fairScheduler, addUp(Batch(random))).get();
}

uint64_t runFairSchedulers(const Ground&, Random random) {
  const Batch the(random);
  std::atomic<uint64_t> sum{0};
  fair::TaskScheduler scheduler("soak", 1 + the.workers % 2);
  for (int i = 0; i < the.count; ++i) {
    scheduler.postOneShot([&sum, value = the.value(i)] { sum += value; });
  }
  scheduler.waitEmpty();
  return sum;
}

constexpr Operation kOperations[] = {
    {"bindings", runBindings, expectRounds},           {"schedulers", runSchedulers, expectRounds},
    {"blocking calls", runBlockingCalls, expectBatch}, {"pool", runPool, expectBatch},
    {"fair tasks", runFairTasks, expectRounds},        {"fair signals", runFairSignals, expectBatch},
    {"coroutines", runCoroutines, expectBatch},        {"fair schedulers", runFairSchedulers, expectBatch},
};

}  // namespace

std::span<const Operation> schedulerOperations() { return kOperations; }

}  // namespace weft::soak
