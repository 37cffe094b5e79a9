// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <atomic>
#include <stdexcept>
#include <utility>
#include <vector>

#include "world.h"

// The operations that make tasks: futures, forks, groups, graphs, loops, schedulers; and objects that end as
// soon as somebody has waited for them.
namespace weft::fuzz {
namespace {

// Tasks that nobody waits for, but the end of the scheduler, or of the world if others share the scheduler.
void burst(Actor& self, const Op& op) {
  const int count = op.b % 32;
  self.log.numBurst += count;
  self.world.beginStrays(count);
  for (int i = 0; i < count; ++i) {
    self.spawn([&world = self.world, yields = op.b >= 128] {
      if (yields) {
        yield();
      }
      // relaxed: what waits for the task orders it.
      world.numBurst.fetch_add(1, std::memory_order_relaxed);
      world.endStray();
    });
  }
}

void rebind(Actor& self, const Op&) {
  if (self.isOnItsThread && !self.world.program.endsEarly) {
    Scheduler::unbind();
    self.world.scheduler->bind();
  }
}

void setPromise(Actor& self, const Op& op) {
  const int value = static_cast<int>(self.index) * 256 + op.b;
  if (self.script.isSupplier && self.world.promises[op.a].set_value(value)) {
    self.log.set.push_back({op.a, value});
  }
}

int valueOf(const SharedFuture<int>& future) {
  try {
    return future.get();
  } catch (const BrokenPromise&) {
    return Log::kBroken;
  }
}

void get(Actor& self, const Op& op) {
  const SharedFuture<int> future = self.world.futures[op.a];
  const bool isReady = self.await(
      op, [&](const auto&... token) { return future.wait(token...); },
      [&](auto limit, const auto& token) { return future.wait_for(limit, token); });
  if (isReady) {
    check(future.ready(), "a wait for promise %d ended before it was set", op.a);
    self.log.got.push_back({op.a, valueOf(future)});
  }
}

void followUp(Actor& self, const Op& op) {
  const auto next = [](int value) { return value + 1; };
  const SharedFuture<int>& future = self.world.futures[op.a];
  self.log.followUps.push_back(
      {op.a, op.b % 2 == 0 ? future.then(next) : future.then(inlineExecutor(), next)});
}

void getAnyOrAll(Actor& self, const Op& op) {
  const std::array<size_t, 2> of = {op.a, op.b % kNumPromises};
  const std::vector<SharedFuture<int>> futures = {self.world.futures[of[0]], self.world.futures[of[1]]};
  const auto isReady = [&](auto& future) {
    return self.await(
        op, [&](const auto&... token) { return future.wait(token...); },
        [&](auto limit, const auto& token) { return future.wait_for(limit, token); });
  };
  if (op.b < 128) {
    auto any = whenAny(futures);
    if (isReady(any)) {
      const auto [index, parts] = any.get();
      check(index < 2 && parts[index].ready(), "whenAny() gave a future that was not ready");
      self.log.got.push_back({of[index], valueOf(parts[index])});
    }
  } else {
    auto all = whenAll(futures);
    if (isReady(all)) {
      const auto parts = all.get();
      for (size_t i = 0; i < parts.size(); ++i) {
        check(parts[i].ready(), "whenAll() ended before all futures were ready");
        self.log.got.push_back({of[i], valueOf(parts[i])});
      }
    }
  }
}

// A chain of continuations, one of which may throw.
void callAsync(Actor& self, const Op& op) {
  const int first = op.b % 64;
  const bool throws = op.b >= 192;
  auto future = async(inlineExecutor(), [first] { return first; });
  if (self.canSpawn() && op.b % 2 != 0) {
    future = async([first] {
      yield();
      return first;
    });
  }
  auto chained = std::move(future)
                     .then([throws](int value) {
                       if (throws) {
                         throw std::runtime_error("async");
                       }
                       return value + 1;
                     })
                     .then([](int value) { return async([value] { return 2 * value; }); });
  try {
    const int result = chained.get();
    check(!throws && result == 2 * (first + 1), "a future gave %d instead of %d", result, 2 * (first + 1));
  } catch (const std::runtime_error&) {
    check(throws, "a future threw what nobody had thrown");
  }
}

int fibonacci(int n) {
  if (n < 2) {
    return n;
  }
  const auto [a, b] = join([n] { return fibonacci(n - 1); }, [n] { return fibonacci(n - 2); });
  return a + b;
}

void joinTree(Actor&, const Op& op) {
  constexpr std::array<int, 10> kWanted = {0, 1, 1, 2, 3, 5, 8, 13, 21, 34};
  const size_t n = op.b % kWanted.size();
  const int result = fibonacci(static_cast<int>(n));
  check(result == kWanted[n], "join gave %d instead of %d", result, kWanted[n]);
}

// A group whose tasks yield; of which one may throw; and which may be cancelled.
void group(Actor&, const Op& op) {
  const int count = op.b % 16;
  const int thrower = (op.a & 1) != 0 ? op.b / 16 : -1;
  const bool isCancelled = (op.a & 6) == 6;
  std::atomic<int> numRun{0};
  bool hasThrown = false;
  {
    TaskGroup tasks;
    for (int i = 0; i < count; ++i) {
      tasks.run([&numRun, i, thrower] {
        yield();
        if (i == thrower) {
          throw std::runtime_error("group");
        }
        // relaxed: wait() orders it.
        numRun.fetch_add(1, std::memory_order_relaxed);
      });
      if (isCancelled && i == count / 2) {
        tasks.cancel();
      }
    }
    try {
      tasks.wait();
    } catch (const std::runtime_error&) {
      hasThrown = true;
    }
  }
  const bool mayThrow = 0 <= thrower && thrower < count;
  check(!hasThrown || mayThrow, "a group threw what no task had thrown");
  check(hasThrown || !mayThrow || isCancelled, "a group has lost an exception");
  check(numRun <= count && (isCancelled || hasThrown || numRun == count), "a group ran %d of %d tasks",
        numRun.load(), count);
}

void loop(Actor&, const Op& op) {
  const int count = 4 * op.b;
  std::vector<int> values(static_cast<size_t>(count));
  parallelFor(0, count, [&](int i) { values[static_cast<size_t>(i)] += i; });
  const int total = parallelReduce(values, 0);
  const int wanted = count * (count - 1) / 2;
  check(total == wanted, "a loop summed up %d instead of %d", total, wanted);
  std::reverse(values.begin(), values.end());
  parallelSort(values.begin(), values.end());
  check(std::is_sorted(values.begin(), values.end()), "parallelSort() has not sorted");
}

constexpr size_t kNodes = 7;
struct GraphRun {
  std::array<int, kNodes> times{};
};
using Graph = DAG<GraphRun&>;

// Makes a graph whose edges are some bits of a number. Each node must find what it depends on done.
auto makeGraph(uint32_t bits) {
  Graph::Builder builder;
  std::vector<Graph::NodeBuilder> nodes;
  for (size_t i = 0; i < kNodes; ++i) {
    std::vector<size_t> parents;
    for (size_t parent = 0; parent < i; ++parent, bits = bits * 1664525u + 1013904223u) {
      if ((bits >> 30) == 0) {
        parents.push_back(parent);
      }
    }
    const auto node = builder.node([i, parents, yields = (bits >> 29) % 2 != 0](GraphRun& run) {
      if (yields) {
        yield();
      }
      for (size_t parent : parents) {
        check(run.times[parent] == 1, "node %zu of a graph ran before node %zu", i, parent);
      }
      ++run.times[i];
    });
    if (parents.empty()) {
      builder.addDependency(builder.root(), node);
    }
    for (size_t parent : parents) {
      builder.addDependency(nodes[parent], node);
    }
    nodes.push_back(node);
  }
  return builder.build();
}

void graph(Actor&, const Op& op) {
  if (Scheduler::get() == nullptr) {
    return;
  }
  const auto dag = makeGraph((op.a * 256u + op.b) * 2654435761u);
  for (int round = 0; round < 2; ++round) {
    GraphRun run;
    dag->run(run);
    for (size_t i = 0; i < kNodes; ++i) {
      check(run.times[i] == 1, "node %zu of a graph ran %d times", i, run.times[i]);
    }
  }
}

void tickets(Actor& self, const Op& op) {
  if (!self.canSpawn()) {
    return;
  }
  const size_t count = op.b % 8;
  std::vector<size_t> order;  // written by one ticket after the other
  Ticket::Queue queue;
  std::vector<Ticket> taken;
  for (size_t i = 0; i < count; ++i) {
    taken.push_back(queue.take());
  }
  for (size_t i = count; i-- > 0;) {
    self.spawn([&order, i, ticket = std::move(taken[i])] {
      ticket.wait();
      order.push_back(i);
      ticket.done();
    });
  }
  queue.take().wait();
  check(order.size() == count && std::is_sorted(order.begin(), order.end()), "tickets came out of order");
}

// An object that a task signals, and that ends as soon as the wait for it has returned.
template <class Object, class Give, class Take>
void destroyAfterWait(const Actor& self, Object object, Give give, Take take) {
  int written = 0;
  self.spawn([&object, &written, give] {
    written = 1;
    give(object);
  });
  take(object);
  check(written == 1, "a wait ended before the signal, or does not see what was written before it");
}

void waitAndDestroy(Actor& self, const Op& op) {
  switch (op.a % 8) {
    case 0:
      return destroyAfterWait(self, Event(), [](Event& e) { e.signal(); }, [](Event& e) { e.wait(); });
    case 1:
      return destroyAfterWait(
          self, Event(Event::Mode::Manual), [](Event& e) { e.signal(); }, [](Event& e) { e.wait(); });
    case 2:
      return destroyAfterWait(
          self, WaitGroup(1), [](WaitGroup& g) { g.done(); }, [](WaitGroup& g) { g.wait(); });
    case 3:
      return destroyAfterWait(
          self, Semaphore(), [](Semaphore& s) { s.release(); }, [](Semaphore& s) { s.acquire(); });
    case 4: {
      Latch latch(1);
      return destroyAfterWait(self, &latch, [](Latch* l) { l->count_down(); }, [](Latch* l) { l->wait(); });
    }
    case 5:
      return destroyAfterWait(
          self, Channel<int>(self.canSpawn() ? op.b % 2u : 1u), [](Channel<int>& c) { c.send(1); },
          [](Channel<int>& c) { check(c.receive() == 1, "a channel lost its value"); });
    case 6:
      if (self.canSpawn()) {
        Barrier<> barrier(2);
        destroyAfterWait(
            self, &barrier, [](Barrier<>* b) { static_cast<void>(b->arrive()); },
            [](Barrier<>* b) { b->arrive_and_wait(); });
      }
      return;
    default:
      if (Fiber* fiber = Fiber::current(); fiber != nullptr) {
        destroyAfterWait(self, fiber, [](Fiber* f) { f->notify(); }, [](Fiber* f) { f->wait(); });
      }
  }
}

// Another scheduler, which ends with tasks that run still.
void otherScheduler(Actor&, const Op& op) {
  const int count = op.b % 8;
  std::atomic<int> numRun{0};
  {
    Scheduler other(Scheduler::Config().setWorkerThreadCount(op.b < 128 ? 1 : 2));
    const Event begun(Event::Mode::Manual);
    for (int i = 0; i < count; ++i) {
      other.enqueue(Task([&numRun, begun] {
        begun.wait();
        schedule([&numRun] {
          // relaxed: the end of the scheduler orders it.
          numRun.fetch_add(1, std::memory_order_relaxed);
        });
      }));
    }
    begun.signal();
  }
  check(numRun == count, "a scheduler ended after %d of %d tasks", numRun.load(), count);
}

void callBlocking(Actor& self, const Op& op) {
  const int result = blocking_call([&] {
    if (Scheduler::get() != nullptr && op.b % 2 != 0) {
      const WaitGroup ended(1);
      self.spawn([ended] { ended.done(); });
      ended.wait();
    }
    return op.b;
  });
  check(result == op.b, "a blocking call gave %d instead of %d", result, op.b);
}

constexpr OpType kOps[] = {
    {.name = "go on in a task", .run = [](Actor& self, const Op&) { self.hop(Task::Flags::None); }},
    {.name = "go on in a task of this thread",
     .run = [](Actor& self, const Op&) { self.hop(Task::Flags::SameThread); }},
    {.name = "schedule", .b = Arg::Number, .run = burst},
    {.name = "unbind and bind", .run = rebind},
    {.name = "set", .a = Arg::Promise, .b = Arg::Number, .run = setPromise},
    {.name = "get", .a = Arg::Promise, .waits = Waits::Others, .run = get},
    {.name = "continue", .a = Arg::Promise, .b = Arg::Number, .run = followUp},
    {.name = "get any or all",
     .a = Arg::Promise,
     .b = Arg::Number,
     .waits = Waits::Others,
     .run = getAnyOrAll},
    {.name = "async", .b = Arg::Number, .run = callAsync},
    {.name = "join", .b = Arg::Number, .run = joinTree},
    {.name = "group", .a = Arg::Number, .b = Arg::Number, .run = group},
    {.name = "loop", .b = Arg::Number, .run = loop},
    {.name = "graph", .a = Arg::Number, .b = Arg::Number, .run = graph},
    {.name = "tickets", .b = Arg::Number, .run = tickets},
    {.name = "wait and destroy", .a = Arg::Number, .b = Arg::Number, .run = waitAndDestroy},
    {.name = "another scheduler", .b = Arg::Number, .run = otherScheduler},
    {.name = "blocking call", .b = Arg::Number, .run = callBlocking},
};

}  // namespace

std::span<const OpType> structureOps() { return kOps; }

}  // namespace weft::fuzz
