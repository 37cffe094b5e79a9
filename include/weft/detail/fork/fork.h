// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "weft/detail/base/outcome.h"
#include "weft/detail/base/task_node.h"
#include "weft/detail/fork/completion.h"
#include "weft/detail/park/idle.h"
#include "weft/detail/park/quiescence.h"
#include "weft/detail/queue/steal_gate.h"
#include "weft/detail/queue/stealing_deque.h"
#include "weft/detail/wait/waiter.h"
#include "weft/export.h"

// What fork-join structures are made of. A forked child is a TaskNode that the forking fiber exposes in the
// deque of its thread, runs its own part, and then takes back: if nobody has taken the child, it is the
// newest, and is called as a plain function. If somebody has, or if newer tasks lie above it, the fiber
// suspends until the child has ended. It never runs anything else in between, so that its stack holds its own
// calls only.
//
// Workers offer their deque to each other. A bound thread gets one of its own when it forks for the first
// time; then the workers steal from it too.
namespace weft::detail {

// A forking thread's side of its deque.
struct ForkLane {
  StealingDeque<TaskNode>* deque;  // null before a bound thread's first fork
  IdleSet<>& idle;
  StealGate<>::Member thief;
  uint32_t numOthers;  // workers that may steal from this deque
  uint32_t untilPoll;  // dequeues before the thread looks at its timers, its inbox and the injector, if not
                       // at once: 1
  bool hasForked = false;  // see Worker::noteForks()
  TaskCounters<> counters{};

  // Counts a task that is about to be run in place as one that is dequeued. Returns: false if it is the turn
  // of others: then the task is left where it is, and the one that waits for it suspends.
  bool mayRunInPlace() {
    if (--untilPoll == 0) [[unlikely]] {
      return mayRunInPlaceNow();
    }
    return true;
  }
  WEFT_EXPORT bool mayRunInPlaceNow();
  // Then it may also let them go first, once.
  WEFT_EXPORT static void letOthersRun();

  // Lets whoever is idle have `node`, once announce() is called. Returns: false where the deque is full.
  bool expose(TaskNode& node) { return deque->push(&node); }
  void announce() {
    hasForked = true;
    idle.onPublish();
  }

  // Returns: whether there is so little to be taken that a few thefts during one long call would leave
  // nothing.
  bool offersLittle() const { return deque->size() < kOffered; }

  // Returns: whether `node` was exposed last, and is the caller's again. If not, it was taken, or newer tasks
  // lie above it.
  bool takeBack(TaskNode& node) {
    TaskNode* newest = deque->take(thief);
    if (newest == &node) [[likely]] {
      return true;
    }
    if (newest != nullptr) {
      putBack(newest);
    }
    return false;
  }

  WEFT_EXPORT void putBack(TaskNode* node);

  static constexpr uint32_t kOffered = 8;
};

// The calling thread's, or null: it is bound and has not forked yet, or nothing is bound to it. As for
// currentFiber, the address of this variable may be kept across suspensions.
extern WEFT_EXPORT constinit thread_local ForkLane* currentLane
#if defined(__ELF__)
    [[gnu::tls_model("initial-exec")]]
#endif
    ;

// Returns: the calling thread's lane, made where there was none; null where no scheduler is bound.
WEFT_EXPORT ForkLane* openLane();

inline ForkLane* forkLane() {
  ForkLane* lane = currentLane;
  return lane != nullptr ? lane : openLane();
}

[[noreturn, gnu::cold]] WEFT_EXPORT void reportUnboundFork();

// Requires: the code between a fork and its join has not unbound the thread.
inline void assertStillBound(const ForkLane* lane) {
  if (lane != currentLane) [[unlikely]] {
    reportUnboundFork();
  }
}

// Queues `node` where the deque of this thread is full.
WEFT_EXPORT void exposeElsewhere(TaskNode* node);

// Called first by a forked child that was not taken back: it runs as a task of its own, which was not counted
// when it was forked.
inline void beginAsTask() { currentLane->counters.countScheduled(); }

using ChildCompletion = Completion<Waiter>;

// Ends a child that was not taken back. The parent may go on, and the child's node be gone, before this
// returns.
inline void finishChild(ChildCompletion& completion) {
  if (Waiter* waiter = completion.finish()) {
    wake(*waiter);
  }
}

// Suspends until the child has ended. `what` ("join") is for reports.
WEFT_EXPORT void waitForChild(ChildCompletion& completion, const char* what);

// A child that lies in its parent's frame: calls `function`, whose result or exception it keeps.
template <class F>
class Child : public TaskNode {
 public:
  using Result = std::invoke_result_t<F>;

  explicit Child(std::remove_reference_t<F>& function)
      : TaskNode{&runAsTask, nullptr, 0, NodeSize::None}, function_(function) {}
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  void expose(ForkLane* lane) { isExposed_ = lane != nullptr && lane->expose(*this); }

  // Calls the function, or waits until whoever took it has.
  void complete(ForkLane* lane) {
    if (takeBackOrWait(lane)) [[likely]] {
      call();
    }
  }

  // Returns: true if the function is the caller's to call, or to replace; else whoever took it has called it.
  bool takeBackOrWait(ForkLane* lane) {
    if (!isExposed_) {
      return true;
    }
    assertStillBound(lane);
    if (lane->takeBack(*this)) [[likely]] {
      return true;
    }
    waitForChild(completion_, "join");
    return false;
  }

  Outcome<Result>& outcome() { return outcome_; }

 private:
  static void runAsTask(TaskNode* node, TaskOp) {
    auto& self = *static_cast<Child*>(node);
    beginAsTask();
    self.call();
    detail::finishChild(self.completion_);
  }

  void call() {
    outcome_.capture([this]() -> Result { return std::forward<F>(function_)(); });
  }

  std::remove_reference_t<F>& function_;
  bool isExposed_ = false;
  ChildCompletion completion_;
  Outcome<Result> outcome_;
};

}  // namespace weft::detail
