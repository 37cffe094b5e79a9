// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include "weft/detail/base/outcome.h"
#include "weft/detail/future/handle.h"
#include "weft/detail/future/state.h"
#include "weft/executor.h"
#include "weft/export.h"

// Tasks with a result: a state, and a body that fills in its outcome.
namespace weft::inline v0_1 {

template <class T>
class Future;
template <class T>
class SharedFuture;

namespace detail {

struct TaskHandleAccess {
  static TaskHandle make(TaskNode* node) noexcept { return TaskHandle(node); }
};

// Access to the private parts of handles.
struct FutureAccess {
  static FutureCore* core(const FutureHandle& future) noexcept { return future.core_.get(); }
  static FutureCore& checkedCore(const FutureHandle& future, const char* function) {
    return future.core(function);
  }
  template <class T>
  static Outcome<T>& outcome(const FutureHandle& future) noexcept {
    return static_cast<FutureState<T>*>(future.core_.get())->outcome;
  }
  template <template <class> class Handle, class T>
  static EscapedException& error(const Handle<T>& future) noexcept {
    return outcome<T>(future).error();
  }
  // Takes over a counted reference.
  template <class T>
  static Future<T> make(FutureState<T>* state) noexcept {
    return Future<T>(state);
  }
};

// The result and outcome of a function, those of the inner future if it returns one.
template <class R>
struct Unwrapped {
  static constexpr bool kIsFuture = false;
  using Returned =
      std::remove_cv_t<std::conditional_t<std::is_rvalue_reference_v<R>, std::remove_reference_t<R>, R>>;
  using Result = Returned;
};
template <class T>
struct Unwrapped<Future<T>> {
  static constexpr bool kIsFuture = true;
  using Returned = Future<T>;
  using Result = T;
  static void take(Outcome<T>& to, const FutureHandle& from) { to.takeFrom(FutureAccess::outcome<T>(from)); }
};
template <class T>
struct Unwrapped<SharedFuture<T>> : Unwrapped<Future<T>> {
  using Returned = SharedFuture<T>;
  static void take(Outcome<T>& to, const FutureHandle& from) {
    to.takeFrom(std::as_const(FutureAccess::outcome<T>(from)));
  }
};

// A loop's call of the program's code. What becomes ready in it is told by an inner loop or this one.
class WEFT_EXPORT LoopCall {
 public:
  LoopCall(const LoopCall&) = delete;

  // Returns: this fiber's or thread's newest call with `state`, or if `orAny` with any state; or null.
  static LoopCall* around(const FutureCore& state, bool orAny) noexcept;

  // Returns: a call on this fiber or thread whose loop has put off something until its end, without a task
  // for it; or null. A fiber also finds the calls in which its thread was bound.
  static LoopCall* withPutOff() noexcept;

  TellLoop& loop;

 protected:
  // Without a state it takes any.
  LoopCall(FutureCore* state, TellLoop& teller) noexcept;
  ~LoopCall();

 private:
  TaskNode* mark() noexcept { return reinterpret_cast<TaskNode*>(this); }

  FutureCore* const state_;
  Fiber* const fiber_;
  LoopCall* outer_;
};

// The call of an executor's schedule() with the task of a state. The task finds it if run or dropped at once.
class WEFT_EXPORT ScheduleCall : public LoopCall {
 public:
  ScheduleCall(FutureCore& state, TellLoop& teller) noexcept : LoopCall(&state, teller) {}

  // Returns: the running call with `state` on this fiber or thread, or null.
  static ScheduleCall* of(const FutureCore& state) noexcept {
    return static_cast<ScheduleCall*>(around(state, false));
  }

  // Returns: whether an exception, maybe that of schedule(), drops what is dropped now.
  static bool isUnwinding() noexcept;

  bool isDropped = false;  // an exception has destroyed the task's handle
};

// A call of other code of the program, such as the destruction of a task's body, which may break captured
// promises.
class ProgramCall : public LoopCall {
 public:
  explicit ProgramCall(TellLoop& teller) noexcept : LoopCall(nullptr, teller) {}
};

// Messages for misuse.
[[noreturn, gnu::cold]] WEFT_EXPORT void reportSecondFuture();
[[noreturn, gnu::cold]] WEFT_EXPORT void reportNoPromise(const char* function);
[[noreturn, gnu::cold]] WEFT_EXPORT void reportOwnFuture();
WEFT_EXPORT void setCanceled(EscapedException& error);
WEFT_EXPORT void setBroken(EscapedException& error);

// The state of a task. If the function returns a future, it takes over that one's outcome.
//
// Body: using Returned                          what the function returns
//       void run(Outcome<Returned>&)
// and, if the task waits for another future first:
//       using Parent                            the other future's state
//       executor                                runs the task once the other future is ready
//       bool passesOn(Outcome<Result>&)         whether the function is skipped; hands the outcome over then
template <class Body>
class TaskState final : public FutureState<typename Unwrapped<typename Body::Returned>::Result> {
  using Returned = typename Body::Returned;
  using Inner = Unwrapped<Returned>;
  using Result = typename Inner::Result;

 public:
  template <class... Args>
  explicit TaskState(Args&&... args)
      : FutureState<Result>(&invokeThis, 2), body_{std::forward<Args>(args)...} {}
  ~TaskState() {}

 private:
  static void invokeThis(TaskNode* node, TaskOp op) {
    auto& self = *static_cast<TaskState*>(node);
    if (op == TaskOp::Run) {
      self.run();
    } else if (op == TaskOp::Free) {
      NodeMemory<TaskState>::destroy(self);
    } else if (op == TaskOp::Ready) {
      self.becomeReady(node->next);
    } else {
      self.drop();
    }
  }

  void run() {
    if constexpr (Inner::kIsFuture) {
      Outcome<Returned> returned;
      body_.run(returned);
      body_.~Body();
      if (returned.error()) {
        this->outcome.error() = std::move(returned.error());
        this->complete();
      } else {
        follow(returned.take());
      }
    } else {
      body_.run(this->outcome);
      body_.~Body();
      this->complete();
    }
  }

  // A rare case, apart so that run() has few registers to save.
  [[gnu::noinline]] void drop() {
    ScheduleCall* const call = ScheduleCall::of(*this);
    if (call != nullptr && ScheduleCall::isUnwinding()) {
      call->isDropped = true;
      return;
    }
    detail::setNotExecuted(this->outcome.error());
    if (call != nullptr) {
      destroyBodyWithin(call->loop);
    } else {
      body_.~Body();
    }
    this->complete();
  }

  void destroyBodyWithin(TellLoop& loop) {
    const ProgramCall call(loop);
    body_.~Body();
  }

  template <class InnerFuture>
  void follow(InnerFuture future) {
    FutureCore* inner = FutureAccess::core(future);
    if (inner == this) [[unlikely]] {
      reportOwnFuture();
    }
    if (inner == nullptr) {
      detail::setBroken(this->outcome.error());
      this->complete();
    } else if (inner->isReady()) {
      Inner::take(this->outcome, future);
      this->complete();
    } else {
      this->step = FutureCore::Step::FollowsInner;
      std::construct_at(std::addressof(inner_), std::move(future));
      inner->tellWhenReady(*this);
    }
  }

  // The awaited future is ready.
  void becomeReady(TaskNode* answer) {
    if constexpr (Inner::kIsFuture) {
      if (this->step == FutureCore::Step::FollowsInner) {
        Inner::take(this->outcome, inner_);
        std::destroy_at(std::addressof(inner_));
        answer->next = this;
        return;
      }
    }
    if constexpr (requires { typename Body::Parent; }) {
      auto& loop = static_cast<TellLoop&>(*answer);
      const bool isSkipped = body_.passesOn(this->outcome);
      if (isSkipped) {
        destroyBodyWithin(loop);
      }
      if (isSkipped || isCompleteOnceScheduled(loop)) {
        answer->next = this;
      }
    }
  }

  // The executor may destroy the body, and the state, before this returns. If the move of a program's
  // executor throws, the handle is dropped.
  bool isCompleteOnceScheduled(TellLoop& loop) {
    ScheduleCall call(*this, loop);
    EscapedException error;
    error.capture([&] {
      TaskHandle task = TaskHandleAccess::make(this);
      auto executor = std::move(body_.executor);
      executor.schedule(std::move(task));
    });
    if (call.isDropped) {
      error ? void(this->outcome.error() = std::move(error)) : detail::setNotExecuted(this->outcome.error());
      destroyBodyWithin(loop);
    }
    return call.isDropped;
  }

  union {
    Body body_;
    std::conditional_t<Inner::kIsFuture, Returned, char> inner_;
  };
};

}  // namespace detail
}  // namespace weft::inline v0_1
