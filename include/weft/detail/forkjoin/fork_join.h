// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>

#include "weft/detail/base/outcome.h"
#include "weft/detail/base/task_node.h"
#include "weft/detail/forkjoin/completion.h"
#include "weft/detail/park/idle.h"
#include "weft/detail/park/quiescence.h"
#include "weft/detail/queue/steal_gate.h"
#include "weft/detail/queue/stealing_deque.h"
#include "weft/detail/wait/waiter.h"
#include "weft/export.h"

// The building blocks of fork-join structures. A forked child is a TaskNode. The forking fiber pushes it in
// the deque of its thread, runs its own part, and then takes the child back. If nobody has taken the child,
// it is the newest task, and is called as a plain function. If a thief has taken it, or if newer tasks lie
// above it, the fiber suspends until the child has ended. The fiber never runs anything else in between, so
// its stack holds only its own calls.
//
// Workers offer their deques to each other. A bound thread gets a deque of its own when it forks for the
// first time; from then on the workers steal from it too.
//
// A fork costs half as much where no thief can see it. So a LocalDeque whose deque has enough for all
// thieves keeps further children in a list of its own, as in "Heartbeat Scheduling" by Acar, Charguéraud,
// Guatto, Rainey and Sieczkowski (PLDI 2018). The beat is a theft, not a timer: the next fork or join that
// finds less than enough in the deque pushes all kept children. Enough is a task for each thief, at least
// kOffered, and one more for each child that is kept. So if thieves find nothing while children are kept,
// they have taken more than half of all during one call that neither forked nor joined. A LocalDeque keeps
// only children of the fiber that runs: they are pushed before it suspends, and before anything newer enters
// the deque.
namespace weft::inline v0_1::detail {

using ChildCompletion = Completion<Waiter>;

// A forked child that a LocalDeque may keep.
struct ForkNode : TaskNode {
  // Made when the child is pushed.
  union {
    ChildCompletion completion;
  };

  ForkNode() {}
  ~ForkNode() {}

  // Makes what only a pushed child needs.
  void beginPushed() {
    next = nullptr;
    flags = kForked;
    std::construct_at(&completion);
  }
  void endPushed() { std::destroy_at(&completion); }
};

// A forking thread's side of its deque.
struct LocalDeque {
  StealingDeque<TaskNode>* deque;  // null before a bound thread's first fork
  IdleSet<>& idle;
  StealGate<>::Stealer stealer;
  uint32_t numOthers;      // workers that may steal from this deque
  uint32_t untilPoll;      // dequeues until the thread polls: see FairnessInterval
  bool hasForked = false;  // see Worker::noteForks()
  uint32_t numHalves = 0;  // of loops that run here as tasks of their own
  int64_t numEnough = 0;   // of tasks in the deque, for all thieves and for what is kept
  // Its `next` leads to the older ones.
  ForkNode* newestKept = nullptr;
  TaskCounters<> counters{};
  // Of the thread: see ExceptionState. While it is observed, by the recorder, measure() or hooks, a state
  // that is not empty, so that all tasks in place take the path aside: see ObservedInPlace.
  void** exceptions = nullptr;

  // `num`: of the threads that may steal from this deque.
  void setNumOthers(uint32_t num) {
    numOthers = num;
    numEnough = numEnoughWithNoneKept();
  }

  // Counts a task that is about to be run in place as one that is dequeued.
  // Returns: false if others have their turn. Then the fiber that waits for the task suspends.
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
  // Returns: whether others had their turn, and went first.
  bool letOthersRunInTurn(GoesOn goesOn = GoesOn::WithPieces) {
    if (countDequeue()) [[unlikely]] {
      return letOthersRunNow(goesOn);
    }
    return false;
  }

  // Keeps a child, or pushes it and all that are kept.
  void fork(ForkNode& child) {
    hasForked = true;
    if (offersEnough()) [[likely]] {
      child.next = newestKept;
      if (newestKept == nullptr) {
        deque->close();
      }
      newestKept = &child;
      ++numEnough;
    } else {
      pushForked(child);
    }
  }

  // Returns: whether `child` was kept, and belongs to the caller again.
  // Requires: all that were forked later are joined.
  bool takeBackKept(ForkNode& child) {
    if (newestKept != &child) [[unlikely]] {
      return false;
    }
    newestKept = static_cast<ForkNode*>(child.next);
    --numEnough;
    if (!offersEnough()) [[unlikely]] {
      pushKept();
    }
    return true;
  }

  // Where there are no thieves, an empty deque offers enough.
  int64_t numEnoughWithNoneKept() const {
    return numOthers == 0 ? std::numeric_limits<int64_t>::min() : std::max<int64_t>(numOthers, kOffered);
  }
  // Returns: whether the deque has numEnough tasks.
  bool offersEnough() const { return deque->hasAtLeast(numEnough); }

  // Pushes all children that are kept, the oldest first.
  WEFT_EXPORT void pushKept();
  // Pushes what is kept, and then `child`.
  WEFT_EXPORT void pushForked(ForkNode& child);
  // Pushes what is kept, and then `node`, after the deque has refused `node`.
  // Returns: false if the deque is full.
  WEFT_EXPORT bool pushAboveKept(TaskNode& node);

  // Lets idle workers have `node`, once notify() is called.
  // Returns: false where the deque is full.
  bool push(TaskNode& node) { return deque->push(&node) || pushAboveKept(node); }
  void notify() {
    hasForked = true;
    idle.onPublish();
  }

  // Returns: whether there is so little to take that a few steals during one long call would leave nothing.
  bool hasFewToSteal() const { return deque->size() < kOffered; }

  // Returns: whether `node` was the newest, and belongs to the caller again.
  bool takeBack(TaskNode& node) {
    TaskNode* newest = deque->take(stealer);
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

// The calling thread's local deque. Null if the thread is bound and has not forked yet, or if no scheduler is
// bound to it. As for currentFiber, the address of this variable may be kept across suspensions.
extern WEFT_EXPORT constinit thread_local LocalDeque* currentLocalDeque WEFT_TLS;

// Returns: the calling thread's local deque, made if there was none; null where no scheduler is bound. Then
// ownLocalDeque() warns, if WEFT_WARN_SERIAL asks for it.
WEFT_EXPORT LocalDeque* openLocalDeque();
WEFT_EXPORT LocalDeque* openLocalDequeOrWarn();

inline LocalDeque* ownLocalDequeIfBound() {
  LocalDeque* local = currentLocalDeque;
  return local != nullptr ? local : openLocalDeque();
}
inline LocalDeque* ownLocalDeque() {
  LocalDeque* local = currentLocalDeque;
  return local != nullptr ? local : openLocalDequeOrWarn();
}

// Called between two steps of what the caller goes on with in any case. Counts as a dequeue.
inline void letOthersRunInTurn() {
  if (LocalDeque* local = detail::ownLocalDeque()) [[likely]] {
    local->letOthersRunInTurn();
  }
}

[[noreturn, gnu::cold]] WEFT_EXPORT void reportUnboundFork();

// Requires: the code between a fork and its join has not unbound the thread.
inline void assertStillBound(const LocalDeque* local) {
  if (local != currentLocalDeque) [[unlikely]] {
    reportUnboundFork();
  }
}

// Queues `node` where the deque of this thread is full.
WEFT_EXPORT void pushElsewhere(TaskNode* node);

// A child that was not taken back calls this first: a fork is not counted as a task, and now it is one.
inline void beginAsTask() { currentLocalDeque->counters.countScheduled(); }

// Ends a child that was not taken back. Before this returns, the parent may go on, and the child's node may
// be gone.
inline void finishChild(ChildCompletion& completion) {
  if (Waiter* waiter = completion.finish()) {
    wake(*waiter);
  }
}

// Takes back a child that was pushed, or waits until it has ended.
// Returns: whether it was taken back.
WEFT_EXPORT bool takeBackPushed(LocalDeque& local, ForkNode& child, const char* what);

// Suspends until the child has ended. `what` ("join") is for reports.
WEFT_EXPORT void waitForChild(ChildCompletion& completion, const char* what);

// A child that lies in its parent's frame. It calls `function`, and keeps the result or exception.
template <class F>
class Child : public ForkNode {
 public:
  using Result = std::invoke_result_t<F>;

  explicit Child(std::remove_reference_t<F>& function) : function_(function) { invoke = &runAsTask; }
  ~Child() {}
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // Calls the function, or waits until the thief that took it has called it.
  // Returns: whether it has returned. If not, `error` keeps what it threw.
  [[gnu::always_inline]] bool complete(LocalDeque* local, LateException& error) {
    if (local == nullptr || takeBackOrWait(*local)) [[likely]] {
      return error.capture([this] { result_.emplace(std::forward<F>(function_)); });
    }
    return error.takeFrom(takeError());
  }

  bool takeBackOrWait(LocalDeque& local) {
    assertStillBound(&local);
    return local.takeBackKept(*this) || detail::takeBackPushed(local, *this, "join");
  }

  // To be called once where a thief has called the function.
  // Returns: what that threw, if anything.
  EscapedException takeError() {
    EscapedException error = std::move(error_);
    std::destroy_at(&error_);
    return error;
  }

  ResultSlot<Result, LateValue>& result() { return result_; }

 private:
  static void runAsTask(TaskNode* node, TaskOp) {
    auto& self = *static_cast<Child*>(node);
    beginAsTask();
    std::construct_at(&self.error_)->capture([&self] {
      self.result_.emplace(std::forward<F>(self.function_));
    });
    detail::finishChild(self.completion);
  }

  std::remove_reference_t<F>& function_;
  [[no_unique_address]] ResultSlot<Result, LateValue> result_;
  union {
    EscapedException error_;  // of a child that was taken
  };
};

}  // namespace weft::inline v0_1::detail
