// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <mutex>
#include <vector>

#include "world.h"

// Operations that are a crowd of tasks of their own, which wait for one another some times each.
namespace weft::fuzz {
namespace {

using std::chrono::microseconds;

struct Crowd {
  explicit Crowd(const Op& op) : tasks(1 + op.a % 6), rounds(1 + op.b % 16), way(op.a / 6 % 4) {}
  int total() const { return tasks * rounds; }

  int tasks, rounds, way;
};

// Runs function(i) for each i below `count` as a task, and waits.
template <class F>
void callTasks(const Actor& self, int count, const F& function) {
  const WaitGroup left(static_cast<unsigned>(count));
  for (int i = 0; i < count; ++i) {
    self.spawn([&function, i, left] {
      function(i);
      left.done();
    });
  }
  left.wait();
}

template <class Mutex>
void addLocked(const Actor& self, const Crowd& the) {
  Mutex guard;
  int sum = 0;
  callTasks(self, the.tasks, [&](int) {
    for (int round = 0; round < the.rounds; ++round) {
      const std::scoped_lock held(guard);
      const int before = sum;
      if (round % 8 == 3) {
        yield();
      }
      sum = before + 1;
    }
  });
  check(sum == the.total(), "the lock of a crowd guarded %d of %d additions", sum, the.total());
}

void crowdAtLock(Actor& self, const Op& op) {
  const Crowd the(op);
  switch (the.way) {
    case 0:
      return addLocked<SharedMutex>(self, the);
    case 1:
      return addLocked<RecursiveMutex>(self, the);
    default:
      return addLocked<mutex>(self, the);
  }
}

void crowdAtSemaphore(Actor& self, const Op& op) {
  const Crowd the(op);
  const int permitted = the.way + 1;
  const Semaphore permits(static_cast<uint32_t>(permitted));
  std::atomic<int> numHeld{0}, sum{0};
  callTasks(self, the.tasks, [&](int) {
    for (int round = 0; round < the.rounds; ++round) {
      if (round % 2 == 0) {
        permits.acquire();
      } else {
        while (!permits.try_acquire_for(microseconds(10 * round))) {
        }
      }
      check(++numHeld <= permitted, "a semaphore gave more than %d permits", permitted);
      ++sum;
      --numHeld;
      permits.release();
    }
  });
  check(sum == the.total(), "a crowd acquired %d of %d permits", sum.load(), the.total());
}

// A ring of events passes a token round.
void ring(Actor& self, const Op& op) {
  const Crowd the(op);
  std::vector<Event> events;
  for (int i = 0; i < the.tasks; ++i) {
    events.emplace_back(Event::Mode::Auto, i == 0);
  }
  int token = 0;
  callTasks(self, the.tasks, [&](int task) {
    for (int round = 0; round < the.rounds; ++round) {
      const Event& mine = events[static_cast<size_t>(task)];
      if (the.way == 0) {
        while (!mine.wait_for(microseconds(50))) {
        }
      } else {
        mine.wait();
      }
      check(token == round * the.tasks + task, "a ring passed token %d to task %d in round %d", token, task,
            round);
      ++token;
      events[static_cast<size_t>((task + 1) % the.tasks)].signal();
    }
  });
  check(token == the.total(), "a ring ended with token %d instead of %d", token, the.total());
}

// A queue of four, with as many who fill it as empty it.
void boundedQueue(Actor& self, const Op& op) {
  const Crowd the(op);
  mutex guard;
  ConditionVariable isFilled, isEmptied;
  std::deque<int> queue;
  int sum = 0;
  callTasks(self, 2 * the.tasks, [&](int task) {
    for (int round = 0; round < the.rounds; ++round) {
      lock held(guard);
      if (task < the.tasks) {
        isEmptied.wait(held, [&] { return queue.size() < 4; });
        queue.push_back(round);
        isFilled.notify_one();
      } else {
        while (!isFilled.wait_for(held, microseconds(20 * round), [&] { return !queue.empty(); })) {
        }
        sum += queue.front();
        queue.pop_front();
        isEmptied.notify_one();
      }
    }
  });
  const int wanted = the.tasks * the.rounds * (the.rounds - 1) / 2;
  check(sum == wanted, "a bounded queue gave a sum of %d instead of %d", sum, wanted);
}

// Phases that all tasks begin together.
void phases(Actor& self, const Op& op) {
  const Crowd the(op);
  std::atomic<int> numArrived{0};
  int numPhases = 0;
  const auto endPhase = [&]() noexcept {
    const int number = numArrived.exchange(0);
    check(number == the.tasks, "a phase ended after %d of %d arrivals", number, the.tasks);
    ++numPhases;
  };
  Barrier barrier(the.tasks, endPhase);
  callTasks(self, the.tasks, [&](int) {
    for (int round = 0; round < the.rounds; ++round) {
      ++numArrived;
      barrier.arrive_and_wait();
    }
  });
  check(numPhases == the.rounds, "a barrier had %d of %d phases", numPhases, the.rounds);
}

// Two channels, and two tasks that pass values from the first to the second.
void stages(Actor& self, const Op& op) {
  const Crowd the(op);
  const Channel<int> first(static_cast<size_t>(the.way)), second(static_cast<size_t>(op.b / 64));
  self.spawn([first, total = the.total()] {
    for (int i = 0; i < total; ++i) {
      first.send(i);
    }
    first.close();
  });
  const WaitGroup left(2);
  for (int i = 0; i < 2; ++i) {
    self.spawn([first, second, left] {
      for (int value : first) {
        second.send(value);
      }
      if (left.done()) {
        second.close();
      }
    });
  }
  std::vector<int> values;
  for (int value : second) {
    values.push_back(value);
  }
  std::sort(values.begin(), values.end());
  check(static_cast<int>(values.size()) == the.total(), "stages of channels gave %zu of %d values",
        values.size(), the.total());
  for (int i = 0; i < the.total(); ++i) {
    const int value = values[static_cast<size_t>(i)];
    check(value == i, "stages of channels gave value %d instead of %d", value, i);
  }
}

// Returns: the number of the leaves.
int joinTree(int depth) {
  if (depth == 0) {
    return 1;
  }
  const auto [a, b] = join([=] { return joinTree(depth - 1); }, [=] { return joinTree(depth - 1); });
  return a + b;
}

void deepJoin(Actor&, const Op& op) {
  const int depth = op.b % 13;
  const int result = joinTree(depth);
  check(result == 1 << depth, "a tree of joins had %d leaves instead of %d", result, 1 << depth);
}

// Groups in a group; the inner tasks join.
void nestedGroups(Actor&, const Op& op) {
  const Crowd the(op);
  std::atomic<int> sum{0};
  TaskGroup outer;
  for (int i = 0; i < the.tasks; ++i) {
    outer.run([&] {
      TaskGroup inner;
      for (int k = 0; k < 8 * the.rounds; ++k) {
        inner.run([&sum, yields = k % 32 == 7] {
          if (yields) {
            yield();
          }
          sum += joinTree(1);
        });
      }
      inner.wait();
    });
  }
  outer.wait();
  const int wanted = 16 * the.total();
  check(sum == wanted, "groups in a group gave %d instead of %d", sum.load(), wanted);
}

// The operation, if tasks run beside the script.
template <void (*kRun)(Actor&, const Op&)>
void ifTasksRun(Actor& self, const Op& op) {
  if (self.canSpawn()) {
    kRun(self, op);
  }
}

constexpr OpType kOps[] = {
    {.name = "crowd at a lock", .a = Arg::Number, .b = Arg::Number, .run = ifTasksRun<crowdAtLock>},
    {.name = "crowd at a semaphore", .a = Arg::Number, .b = Arg::Number, .run = ifTasksRun<crowdAtSemaphore>},
    {.name = "ring of events", .a = Arg::Number, .b = Arg::Number, .run = ifTasksRun<ring>},
    {.name = "bounded queue", .a = Arg::Number, .b = Arg::Number, .run = ifTasksRun<boundedQueue>},
    {.name = "phases", .a = Arg::Number, .b = Arg::Number, .run = ifTasksRun<phases>},
    {.name = "stages of channels", .a = Arg::Number, .b = Arg::Number, .run = ifTasksRun<stages>},
    {.name = "groups in a group", .a = Arg::Number, .b = Arg::Number, .run = nestedGroups},
    {.name = "tree of joins", .b = Arg::Number, .run = deepJoin},
};

}  // namespace

std::span<const OpType> crowdOps() { return kOps; }

}  // namespace weft::fuzz
