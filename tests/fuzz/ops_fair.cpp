// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <chrono>
#include <mutex>

#include "world.h"

// The operations on weft::fair.
namespace weft::fuzz {
namespace {

using std::chrono::microseconds;
using std::chrono::steady_clock;

void postOneShot(Actor& self, const Op&) {
  ++self.log.numPosted;
  self.world.beginStrays(1);
  self.world.fairScheduler->postOneShot([&world = self.world] {
    // relaxed: what waits for the task orders it.
    world.numPosted.fetch_add(1, std::memory_order_relaxed);
    world.endStray();
  });
}

void signalServer(Actor& self, size_t server) {
  Server& to = self.world.servers[server];
  ++self.log.served[server];
  // relaxed: signal() orders it.
  to.numSignals.fetch_add(1, std::memory_order_relaxed);
  self.world.fairScheduler->signal(to.task.get());
}

// Waits for the server's answer. The event ends with the wait.
void request(Actor& self, const Op& op) {
  Event answer;
  {
    const std::scoped_lock held(self.world.servers[op.a].guard);
    self.world.servers[op.a].requests.push_back(&answer);
  }
  signalServer(self, op.a);
  answer.wait();
}

// A task with a deadline, which a signal may forestall. It ends with the wait for its step.
void timer(Actor& self, const Op& op) {
  const microseconds delay(4 * op.b);
  const bool isSignalled = op.a % 2 != 0;
  const Event ended;
  const auto begin = steady_clock::now();
  fair::Task task([&](fair::Task* step) {
    const bool isSignal = step->receiveSignal();
    check(isSignal ? isSignalled : step->isExpired(), "a fair step began for no reason");
    check(isSignal || steady_clock::now() - begin >= delay, "a fair step began early");
    if (isSignalled && !isSignal) {
      self.world.fairScheduler->postWait(step);  // the signal may come still
    } else {
      ended.signal();
    }
  });
  self.world.fairScheduler->postDelay(&task, delay);
  if (isSignalled) {
    self.world.fairScheduler->signal(&task);
  }
  ended.wait();
}

fair::Coro<int> countTo(int count) {
  int sum = 0;
  for (int i = 0; i < count; ++i) {
    co_await fair::yield();
    ++sum;
  }
  if (count % 2 != 0) {
    co_await fair::delay(microseconds(count));
  }
  co_return sum;
}

fair::Coro<int> countTwice(int count) {
  const int first = co_await countTo(count);
  co_return first + co_await countTo(count);
}

void coroutine(Actor& self, const Op& op) {
  const int count = op.b % 16;
  auto future = fair::async(*self.world.fairScheduler, countTwice(count));
  const int result = op.a % 2 == 0
                         ? future.get()
                         : future.then(*self.world.fairScheduler, [](int value) { return value; }).get();
  check(result == 2 * count, "a coroutine gave %d instead of %d", result, 2 * count);
}

constexpr OpType kOps[] = {
    {.name = "post", .run = postOneShot},
    {.name = "signal", .a = Arg::Server, .run = [](Actor& self, const Op& op) { signalServer(self, op.a); }},
    {.name = "wake up",
     .a = Arg::Server,
     .run = [](Actor& self,
               const Op& op) { self.world.fairScheduler->wakeup(self.world.servers[op.a].task.get()); }},
    {.name = "request of", .a = Arg::Server, .run = request},
    {.name = "fair timer", .a = Arg::Number, .b = Arg::Number, .run = timer},
    {.name = "coroutine", .a = Arg::Number, .b = Arg::Number, .run = coroutine},
};

}  // namespace

std::span<const OpType> fairOps() { return kOps; }

}  // namespace weft::fuzz
