// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <stop_token>
#include <utility>

#include "weft/debug.h"
#include "weft/detail/base/deadline.h"
#include "weft/detail/base/node_memory.h"
#include "weft/detail/base/outcome.h"
#include "weft/detail/base/shared.h"
#include "weft/detail/base/task_node.h"
#include "weft/detail/future/word.h"
#include "weft/detail/wait/stoppable.h"
#include "weft/detail/wait/waiter.h"
#include "weft/export.h"

// The state that a Future shares with the thread that makes it ready. A task's state is also its node:
// function, result and links lie in one allocation, a pooled node up to 128 bytes.
//
// A state that becomes ready tells its listeners in a loop. If a continuation completes at once, because it
// passes an error on, that loop tells its listeners too. If an executor runs a continuation within
// schedule(), the continuation is ready, and its waiters are woken, before its run() has returned: the
// executor may go on with tasks that need it. A loop of its own calls its continuations, or, if such loops
// are nested deeply already, the innermost loop does once schedule() has returned. Promises that break when a
// loop destroys a skipped function are told in the same two ways. So a chain may be of any length. If the
// code within waits before it returns, what was put off does not wait for it, nor runs on top of it, where it
// would find the locks that the code holds: a task of this thread calls it, or else another thread.
namespace weft::inline v0_1::detail {

// A listener that may leave before it is told.
struct LeavingListener : TaskNode {
  explicit LeavingListener(void (*tell)(TaskNode*, TaskOp)) : TaskNode{tell, nullptr, kMark} {}

  static bool is(const TaskNode& listener) { return listener.flags == kMark; }

  TaskNode* before = nullptr;  // in the list of a room; null for the first

 private:
  static constexpr uint32_t kMark = ~uint32_t{0};  // no Task::Flags
};

// A listener that wakes a wait for something else, and calls no code of the program. It is told with the
// waits, before all continuations: one of these may last until that wait has ended.
struct WakingListener : TaskNode {
  explicit WakingListener(void (*wake)(TaskNode*, TaskOp)) : TaskNode{wake, nullptr, kMark} {}

  static bool is(const TaskNode& listener) { return listener.flags == kMark; }

 private:
  static constexpr uint32_t kMark = ~uint32_t{1};  // no Task::Flags
};

// The listeners to tell that a future is ready, also waits: see waiting_listener.h and FutureWord.
struct FutureListeners {
  WEFT_EXPORT void pushBack(TaskNode& listener);
  WEFT_EXPORT void remove(TaskNode& listener);  // a LeavingListener
  WEFT_EXPORT void pushClaimed(TaskNode& listener);
  // The waiters of `other` are claimed here: that drops those of selects of which another case has happened.
  WEFT_EXPORT void takeAll(FutureListeners& other);
  void wakeAll();  // the waiters and each WakingListener, which are claimed

  WaitList waiters;
  TaskNode* first = nullptr;  // from here on each WakingListener, then the others
  TaskNode* last = nullptr;   // meaningful while there is a first

 private:
  void prepend(TaskNode& listener);
  void append(TaskNode* begin, TaskNode* end);
};

// The loop that tells listeners. A listener finds it behind `next`, and leaves a completed state there.
struct PutOffTask;
struct TellLoop : TaskNode {
  explicit TellLoop(int numOuterLoops) : TaskNode{nullptr, nullptr, 0}, numOuter(numOuterLoops) {}

  FutureListeners putOff;            // the listeners that are told once the present call has returned
  PutOffTask* putOffTask = nullptr;  // that tells them if the thread comes to it before; or null
  const int numOuter;                // loops that wait for the schedule() in which this one runs
};

struct FutureCore : TaskNode, ReferenceCount {
  using Word = FutureWord<TaskNode, FutureListeners>;

  FutureCore(void (*invokeState)(TaskNode*, TaskOp), uint32_t numReferences)
      : TaskNode{invokeState, nullptr, 0}, ReferenceCount(numReferences) {}
  WEFT_EXPORT ~FutureCore();

  void release() noexcept {
    if (releaseReference(false)) {
      invoke(this, TaskOp::Free);
    }
  }

  bool isReady() const { return word.isReady(); }

  // Suspends the fiber, or blocks the thread, until the state is ready. Runs the task in place if this worker
  // scheduled it last, it has not begun, and there is enough stack.
  void wait() {
    if (!isReady()) {
      waitSlow();
    }
  }
  // As wait(), for the only handle, which no other thread uses meanwhile.
  void waitAsOwner() {
    if (!isReady() && !runAsOwner()) {
      waitForOthers();
    }
  }
  // As wait(), until `deadline` or a stop. Returns: whether the state is ready.
  WEFT_EXPORT bool waitUntil(TimePoint deadline, const std::stop_token& token);

  // Invokes `listener`, with TaskOp::Ready and a TellLoop as `next`, when the state is ready, or at once.
  WEFT_EXPORT void tellWhenReady(TaskNode& listener);
  // Takes that back.
  // Returns: whether `listener` was not invoked, and never will be. If false, it was or is about to be.
  WEFT_EXPORT bool forget(LeavingListener& listener);

  // Where listeners may leave that are in the frame of a wait: see waiting_listener.h.
  // Returns: null if the state is ready.
  WEFT_EXPORT Word::Room* enterRoom();

  // Called before this stack waits for something that a future brings: has told what TellLoop::putOff has.
  static void freePutOff() noexcept;

  // The result was written: makes the state ready, and drops the caller's reference.
  void complete() noexcept {
    if (step == Step::RunByOwner) {
      // No other thread can see the state: no atomic read-modify-write.
      step = Step::NotBegun;
      word.publishAlone();
      references.store(1, std::memory_order_relaxed);
    } else {
      completeShared();
    }
  }

  enum class Step : uint8_t {
    NotBegun,      // or running
    RunByOwner,    // by the wait of the only handle
    FollowsInner,  // the function returned a future, which the state waits for
  };
  Step step = Step::NotBegun;  // of a task; for the thread that runs it, or is about to
  Word word;

 private:
  friend PutOffTask;
  WEFT_EXPORT void waitSlow();
  WEFT_EXPORT void waitForOthers();
  WEFT_EXPORT bool runAsOwner();
  WEFT_EXPORT void completeShared() noexcept;
  static void tell(FutureListeners& listeners, int numOuter) noexcept;
  static void tellWithin(TellLoop& outer, FutureListeners& listeners) noexcept;
};

template <class R>
struct FutureState : FutureCore {
  using FutureCore::FutureCore;
  Outcome<R> outcome;  // written once, before the state is ready
};

template <class State, class... Args>
State* makeState(Args&&... args) {
  return NodeMemory<State>::make(std::forward<Args>(args)...);
}

// The state of a promise, or of a future that is made ready.
template <class R>
struct PlainState final : FutureState<R> {
  explicit PlainState(uint32_t numReferences) : FutureState<R>(&invokeThis, numReferences) {}

  static void invokeThis(TaskNode* node, TaskOp) {
    NodeMemory<PlainState>::destroy(*static_cast<PlainState*>(node));
  }
};

}  // namespace weft::inline v0_1::detail
