// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <latch>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <weft/weft.h>

#include "program.h"

// What a program runs on, and what it leaves to be compared with the sequential model.
namespace weft::fuzz {

class World;

using Item = std::unique_ptr<uint32_t>;  // what channels pass: the script and the number of the send

// What a script has done. Only the script writes it, so that it orders nothing between threads.
struct Log {
  struct Result {
    size_t promise;
    int value;  // kBroken without
  };
  struct FollowUp {
    size_t promise;
    Future<int> future;
  };
  static constexpr int kBroken = -1;

  size_t numOps = 0;
  std::array<int, kNumEvents> signalled{}, waited{}, forwarded{};
  std::array<int, kNumSemaphores> released{}, acquired{};
  std::array<int, kNumConditions> given{}, taken{};
  std::array<int, kNumMutexes> locked{};
  std::array<int, kNumServers> served{};
  int numWritten = 0, numRecursed = 0;
  int numBurst = 0;
  int numPosted = 0;
  std::array<uint32_t, kNumChannels> sent{};
  std::array<std::vector<uint32_t>, kNumChannels> received;
  std::vector<Result> set, got;
  std::vector<FollowUp> followUps;
};

// A script that runs. It may go on in another task, but does one thing after the other.
class Actor {
 public:
  Actor(World& theWorld, const Script& theScript, size_t theIndex)
      : world(theWorld), script(theScript), index(theIndex) {}

  // Runs the operations from `next` on.
  void run();

  // Waits as `op` says, by untimed(), untimed(token) or timed(duration, token), which return whether what was
  // waited for has come. Fails if a wait ends without a reason. hasOtherReason() gives one more.
  template <class Untimed, class Timed, class OtherReason>
  bool await(const Op& op, const Untimed& untimed, const Timed& timed, const OtherReason& hasOtherReason);
  template <class Untimed, class Timed>
  bool await(const Op& op, const Untimed& untimed, const Timed& timed) {
    return await(op, untimed, timed, [] { return false; });
  }

  // Whether tasks run beside this script; and schedules one. Where none do, it is called.
  bool canSpawn() const;
  template <class F>
  void spawn(F&& function) const;

  // After this operation the script goes on in a task.
  void hop(Task::Flags flags);

  World& world;
  const Script& script;
  const size_t index;
  std::atomic<size_t> next{0};  // for reports of programs that hang
  bool isOnItsThread = false;   // and not in a task
  Log log;
  int numEnds = 0;

 private:
  std::optional<Task::Flags> hopsAs_;
};

// A task of weft::fair that answers requests, and sees each signal.
struct Server {
  std::unique_ptr<fair::Task> task;
  std::mutex guard;
  std::vector<Event*> requests;
  std::atomic<int> numSignals{0};
  std::atomic<bool> isEnding{false};
  Event ended;
  int numSeen = 0;  // of the signals, by the last step
};

// Schedulers that go on after a program, and that several programs may use at the same time.
struct SharedSchedulers {
  Scheduler& scheduler;
  fair::TaskScheduler& fairScheduler;
};

class World {
 public:
  // Without shared schedulers (null), the world has schedulers of its own, as the program says.
  World(const Program& theProgram, Allocator* allocator, const SharedSchedulers* sharedSchedulers);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  void run();

  // Compares what the scripts have logged with what a sequential run would leave.
  void verify();

  std::stop_token token(int stop) const { return stops[static_cast<size_t>(stop)].get_token(); }
  void end(Actor& actor);

  // For tasks that only the end of the world waits for: announced before they are scheduled, and told of by
  // the last thing that each does.
  void beginStrays(int count) { strays_.add(static_cast<unsigned>(count)); }
  void endStray() { strays_.done(); }

  void reportBlockedFibers() const;
  std::vector<size_t> positions() const;

  struct Condition {
    mutex guard;
    ConditionVariable changed;
    int count = 0;
  };
  struct Counter {
    mutex guard;
    int value = 0;
  };
  struct SharedCounter {
    SharedMutex guard;
    int value = 0;
  };

  struct RecursiveCounter {
    RecursiveMutex guard;
    int value = 0;
  };
  struct Lent {
    bool isLent = false;
  };

  const Program& program;

  std::vector<Event> events;
  std::vector<Semaphore> semaphores;
  std::array<Condition, kNumConditions> conditions;
  std::array<Counter, kNumMutexes> counters;
  SharedCounter shared;
  RecursiveCounter recursive;
  std::vector<WaitGroup> waitGroups;
  std::array<std::atomic<int>, kNumWaitGroups> numDone{};  // relaxed: the wait groups order it
  Latch latch;
  std::atomic<int> numCountedDown{0};  // relaxed, too
  std::vector<Channel<Item>> channels;
  std::array<std::atomic<bool>, kNumChannels> isCloseBegun{}, isCloseEnded{};
  // For cases of a select() that are left out.
  Event never;
  Channel<Item> neverFilled, neverEmptied;
  std::array<std::stop_source, kNumStops> stops;
  std::array<std::atomic<bool>, kNumStops> isStopBegun{};
  std::vector<Promise<int>> promises;
  std::vector<SharedFuture<int>> futures;
  Once once;
  int onceValue = 0;
  BoundedPool<Lent, 2, PoolPolicy::Preserve> pool;
  std::atomic<int> numBurst{0}, numPosted{0};

  std::array<Server, kNumServers> servers;
  fair::TaskScheduler* fairScheduler;
  Scheduler* scheduler;  // also while it is destroyed; null afterwards

 private:
  void start(size_t script);
  void endServers();
  void step(Server& server, fair::Task* self);
  template <class Member>
  auto sum(Member member, size_t object) const;
  void verifySync() const;
  void verifyChannel(size_t channel);
  void verifyFutures();
  void verifyTasks() const;

  // Null where they are shared.
  std::unique_ptr<fair::TaskScheduler> ownedFairScheduler_;
  std::unique_ptr<Scheduler> ownedScheduler_;
  std::vector<std::unique_ptr<Actor>> actors_;
  std::atomic<int> numSuppliers_{0};
  WaitGroup ended_, strays_;
  std::latch bound_;
  std::vector<std::thread> threads_;
};

// Ends the program with the message, and with the fuzzer's program, unless `condition` holds.
[[gnu::format(printf, 2, 3)]] void check(bool condition, const char* format, ...);

template <class Untimed, class Timed, class OtherReason>
bool Actor::await(const Op& op, const Untimed& untimed, const Timed& timed,
                  const OtherReason& hasOtherReason) {
  const auto begin = std::chrono::steady_clock::now();
  bool hasCome = true;
  if (op.how.limit) {
    hasCome = timed(*op.how.limit, op.how.stop < 0 ? std::stop_token() : world.token(op.how.stop));
  } else if (op.how.stop >= 0) {
    hasCome = untimed(world.token(op.how.stop));
  } else if constexpr (std::is_void_v<decltype(untimed())>) {
    untimed();
  } else {
    hasCome = untimed();
  }
  if (!hasCome) {
    const bool isStopped = op.how.stop >= 0 && world.isStopBegun[static_cast<size_t>(op.how.stop)];
    const bool isOver = op.how.limit && std::chrono::steady_clock::now() - begin >= *op.how.limit;
    check(isStopped || isOver || hasOtherReason(), "a wait ended for no reason: %s", toString(op).c_str());
  }
  return hasCome;
}

template <class F>
void Actor::spawn(F&& function) const {
  if (Scheduler::get() != nullptr) {
    schedule(std::forward<F>(function));
  } else if (canSpawn()) {
    world.scheduler->enqueue(Task(std::forward<F>(function)));
  } else {
    function();
  }
}

}  // namespace weft::fuzz
