// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <coroutine>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

#include "weft/debug.h"
#include "weft/detail/deadline.h"

namespace weft::fair {
class CoroTask;
class TaskScheduler;
}  // namespace weft::fair

namespace weft::detail {

struct CoroFrame;

// What the coroutines of one fair::CoroTask, each of which awaits the next, have in common. None of them resumes another: the
// innermost returns to CoroTask's loop, which goes on with the one that is innermost now. So neither calls nor returns use up the
// thread's stack, whatever the compiler makes of tail calls.
struct CoroStack {
  fair::CoroTask* task = nullptr;
  CoroFrame* innermost = nullptr;  // null once the outermost has ended

  // What the innermost coroutine has suspended for: to be posted to `scheduler`, unless that is null.
  fair::TaskScheduler* scheduler = nullptr;
  TimePoint deadline{};
  bool isForSignal = false;  // a wakeup alone does not do
};

// The part of a coroutine's promise that does not depend on its result.
struct CoroFrame {
  CoroStack* stack = nullptr;      // once it has begun
  CoroFrame* caller = nullptr;     // awaits this one
  CoroFrame** holder = nullptr;    // the handle in the caller's frame that owns this one
  std::coroutine_handle<> handle;
#if !defined(WEFT_NO_EXCEPTIONS)
  std::exception_ptr error;
#endif

  // Ends the coroutine: its caller is innermost then.
  struct Return {
    bool await_ready() const noexcept { return false; }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> ended) const noexcept {
      CoroFrame& frame = ended.promise();
      frame.stack->innermost = frame.caller;
    }
    void await_resume() const noexcept {}
  };

  std::suspend_always initial_suspend() const noexcept { return {}; }
  Return final_suspend() const noexcept { return {}; }
  void unhandled_exception() noexcept {
#if !defined(WEFT_NO_EXCEPTIONS)
    error = std::current_exception();
#endif
  }

  void rethrow() const {
#if !defined(WEFT_NO_EXCEPTIONS)
    if (error != nullptr) {
      std::rethrow_exception(error);
    }
#endif
  }
};

template <class T>
struct CoroResult : CoroFrame {
  template <class U>
  void return_value(U&& result) {
    value.emplace(std::forward<U>(result));
  }
  T take() {
    rethrow();
    return std::move(*value);
  }
  std::optional<T> value;
};

template <class T>
struct CoroResult<T&> : CoroFrame {
  void return_value(T& result) { value = &result; }
  T& take() {
    rethrow();
    return *value;
  }
  T* value = nullptr;
};

template <>
struct CoroResult<void> : CoroFrame {
  void return_void() const noexcept {}
  void take() const { rethrow(); }
};

}  // namespace weft::detail
