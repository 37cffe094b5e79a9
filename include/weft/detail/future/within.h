// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <stop_token>
#include <utility>

#include "weft/detail/base/outcome.h"
#include "weft/detail/base/shared.h"
#include "weft/detail/future/recovery.h"
#include "weft/detail/future/state.h"
#include "weft/detail/future/task_state.h"
#include "weft/detail/future/timer.h"

// How within() is done.
namespace weft::inline v0_1::detail {

WEFT_EXPORT void setTimedOut(EscapedException& error);

// A future, and the time until which it is awaited. The listener and the timer have a reference each until
// they were called, or have left. The one that claims the word makes the result, and calls the other off.
template <class Parent, class T>
class WithinState final : public FutureState<T>, private Timer {
 public:
  WithinState(Parent&& parent, TimePoint time, std::stop_source source)
      : FutureState<T>(&invokeThis, 3),
        Timer(time, &expireThis),
        source_(std::move(source)),
        parent_(std::move(parent)) {}

  // The timer cannot expire before the listener listens, which it would make forget that. So a listener that
  // is told at once finds no timer to cancel; this thread sees that the parent is ready.
  // Returns: the future of this state.
  Future<T> begin() {
    Future<T> future = FutureAccess::make(static_cast<FutureState<T>*>(this));
    FutureCore& parent = *FutureAccess::core(parent_);
    parent.retain();
    const auto kept = Shared<FutureCore>::adopt(&parent);
    listener_.state = this;
    parent.tellWhenReady(listener_);
    EscapedException error;
    error.capture([&] { detail::startTimer(*this); });
    if (error) {
      expire(error);
    } else if (parent.isReady() && detail::cancelTimer(*this)) {
      this->release();
    }
    return future;
  }

 private:
  struct Listener : LeavingListener {
    Listener() : LeavingListener(&Listener::tell) {}
    static void tell(TaskNode* node, TaskOp) {
      auto& self = *static_cast<Listener*>(node);
      self.state->becomeReady(static_cast<TellLoop&>(*self.next));
    }
    WithinState* state = nullptr;
  };

  void becomeReady(TellLoop& loop) {
    if (!this->word.claim()) {
      this->release();
      return;
    }
    if (detail::cancelTimer(*this)) {
      this->release();
    }
    {
      const ProgramCall call(loop);
      Unwrapped<Parent>::take(this->outcome, parent_);
      end();
    }
    loop.next = this;
  }

  static void expireThis(Timer& timer) {
    EscapedException error;
    detail::setTimedOut(error);
    static_cast<WithinState&>(timer).expire(error);
  }

  void expire(EscapedException& error) {
    if (!this->word.claim()) {
      this->release();
      return;
    }
    if (FutureAccess::core(parent_)->forget(listener_)) {
      this->release();
    }
    this->outcome.error() = std::move(error);
    source_.request_stop();
    end();
    this->complete();
  }

  void end() {
    parent_ = Parent();
    source_ = std::stop_source(std::nostopstate);
  }

  static void invokeThis(TaskNode* node, TaskOp) {
    NodeMemory<WithinState>::destroy(*static_cast<WithinState*>(node));
  }

  Listener listener_;
  std::stop_source source_;
  Parent parent_;  // the last, so that an exception leaves the future where it was
};

template <class T, class Self>
Future<T> within(Self&& self, TimePoint deadline, std::stop_source source) {
  (void)FutureAccess::checkedCore(self, "within");
  if constexpr (detail::assertValueGoesOn<Self, T>()) {
    using State = WithinState<std::remove_cvref_t<Self>, T>;
    return detail::makeState<State>(std::forward<Self>(self), deadline, std::move(source))->begin();
  } else {
    return Future<T>();
  }
}

}  // namespace weft::inline v0_1::detail
