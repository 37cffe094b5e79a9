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

// The building blocks of fork-join structures. A forked child is a TaskNode. The forking fiber exposes it in
// the deque of its thread, runs its own part, and then takes the child back. If nobody has taken the child,
// it is the newest task, and is called as a plain function. If a thief has taken it, or if newer tasks lie
// above it, the fiber suspends until the child has ended. The fiber never runs anything else in between, so
// its stack holds only its own calls.
//
// Workers offer their deques to each other. A bound thread gets a deque of its own when it forks for the
// first time; from then on the workers steal from it too.
namespace weft::inline v0_1::detail {

// A forking thread's side of its deque.
struct ForkLane {
  StealingDeque<TaskNode>* deque;  // null before a bound thread's first fork
  IdleSet<>& idle;
  StealGate<>::Member thief;
  uint32_t numOthers;  // workers that may steal from this deque
  uint32_t
      untilPoll;  // dequeues before the thread looks at its timers, its inbox and the injector: see Turns
  bool hasForked = false;  // see Worker::noteForks()
  uint32_t numHalves = 0;  // of loops that run here as tasks of their own
  TaskCounters<> counters{};
  void** exceptions = nullptr;  // of the thread: see ExceptionState

  // Counts a task that is about to be run in place as one that is dequeued.
  // Returns: false if others have their turn. Then the task is left where it is, and the fiber that waits for
  // it suspends.
  bool mayRunInPlace() {
    if (countDequeue()) [[unlikely]] {
      return mayRunInPlaceNow();
    }
    return true;
  }
  // Returns: whether the thread has to poll now.
  bool countDequeue() { return --untilPoll == 0; }
  WEFT_EXPORT bool mayRunInPlaceNow();
  // What the caller goes on with in any case.
  enum class GoesOn : uint8_t { WithPieces, WithTasks };
  WEFT_EXPORT static bool letOthersRunNow(GoesOn goesOn);
  // The same for that: others go first if they have their turn.
  // Returns: whether they had it.
  bool letOthersRunInTurn(GoesOn goesOn = GoesOn::WithPieces) {
    if (countDequeue()) [[unlikely]] {
      return letOthersRunNow(goesOn);
    }
    return false;
  }

  // Lets idle workers have `node`, once announce() is called.
  // Returns: false where the deque is full.
  bool expose(TaskNode& node) { return deque->push(&node); }
  void announce() {
    hasForked = true;
    idle.onPublish();
  }

  // Returns: whether there is so little to take that a few steals during one long call would leave nothing.
  bool offersLittle() const { return deque->size() < kOffered; }

  // Returns: whether `node` was exposed last, and belongs to the caller again. If not, a thief has taken it,
  // or newer tasks lie above it.
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

// The calling thread's lane. Null if the thread is bound and has not forked yet, or if no scheduler is bound
// to it. As for currentFiber, the address of this variable may be kept across suspensions.
extern WEFT_EXPORT constinit thread_local ForkLane* currentLane
#if defined(__ELF__)
    [[gnu::tls_model("initial-exec")]]
#endif
    ;

// Returns: the calling thread's lane, which is made if there was none; null where no scheduler is bound.
WEFT_EXPORT ForkLane* openLane();

inline ForkLane* forkLane() {
  ForkLane* lane = currentLane;
  return lane != nullptr ? lane : openLane();
}

// Called between two steps of what the caller goes on with in any case. Counts as a dequeue where a scheduler
// is bound.
inline void letOthersRunInTurn() {
  if (ForkLane* lane = detail::forkLane()) [[likely]] {
    lane->letOthersRunInTurn();
  }
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

// A forked child that was not taken back calls this first: it runs as a task of its own, which was not
// counted when it was forked.
inline void beginAsTask() { currentLane->counters.countScheduled(); }

using ChildCompletion = Completion<Waiter>;

// Ends a child that was not taken back. Before this returns, the parent may go on, and the child's node may
// be gone.
inline void finishChild(ChildCompletion& completion) {
  if (Waiter* waiter = completion.finish()) {
    wake(*waiter);
  }
}

// Suspends until the child has ended. `what` ("join") is for reports.
WEFT_EXPORT void waitForChild(ChildCompletion& completion, const char* what);

// A child that lies in its parent's frame. It calls `function`, and keeps the result or exception.
template <class F>
class Child : public TaskNode {
 public:
  using Result = std::invoke_result_t<F>;

  explicit Child(std::remove_reference_t<F>& function)
      : TaskNode{&runAsTask, nullptr, kForked}, function_(function) {}
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  void expose(ForkLane* lane) { isExposed_ = lane != nullptr && lane->expose(*this); }
  bool isExposed() const { return isExposed_; }

  // Calls the function, or waits until the thief that took it has called it.
  void complete(ForkLane* lane) {
    if (takeBackOrWait(lane)) [[likely]] {
      call();
    }
  }

  // Returns: true if the caller should call the function, or replace it. Otherwise the thief that took it has
  // called it.
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

}  // namespace weft::inline v0_1::detail
