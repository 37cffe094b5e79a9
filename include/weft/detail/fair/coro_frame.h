// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <concepts>
#include <coroutine>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

#include "weft/debug.h"
#include "weft/detail/base/deadline.h"
#include "weft/detail/base/outcome.h"
#include "weft/detail/base/throw_or_die.h"

namespace weft::inline v0_1::fair {
class CoroTask;
class TaskScheduler;
}  // namespace weft::inline v0_1::fair

namespace weft::inline v0_1::detail {

struct CoroFrame;

// What the coroutines of a fair::CoroTask share. Each awaits the next, and none resumes another: the
// innermost returns to CoroTask's loop, which resumes the coroutine that is then innermost. So calls and
// returns use no stack of the thread, even if the compiler makes no tail calls.
struct CoroStack {
  fair::CoroTask* task = nullptr;
  CoroFrame* innermost = nullptr;  // null once the outermost has ended

  // Why the innermost coroutine has suspended: to have the task posted to `scheduler`, unless that is null.
  fair::TaskScheduler* scheduler = nullptr;
  TimePoint deadline{};
  bool isForSignal = false;  // a wakeup alone does not end the wait
};

// An awaiter that suspends a coroutine of a fair::CoroTask and tells its loop why, or that does not suspend.
template <class A>
concept CoroAwaiter = requires { typename std::remove_cvref_t<A>::IsCoroAwaiter; } ||
                      std::same_as<std::remove_cvref_t<A>, std::suspend_never>;

// A CoroAwaiter, or a type whose operator co_await() gives one.
template <class A>
concept CoroAwaitable = CoroAwaiter<A> || requires(A&& awaited) {
  { static_cast<A&&>(awaited).operator co_await() } -> CoroAwaiter;
} || requires(A&& awaited) {
  { operator co_await(static_cast<A&&>(awaited)) } -> CoroAwaiter;
};

// Awaited after a failed static_assert, so that there is no further error.
struct CoroInstead {
  struct Anything {
    template <class T>
    operator T() const;
  };
  bool await_ready() const noexcept { return true; }
  void await_suspend(std::coroutine_handle<>) const noexcept {}
  Anything await_resume() const noexcept { return {}; }
};

// The part of a coroutine's promise that does not depend on its result.
struct CoroFrame {
  CoroStack* stack = nullptr;    // once it has begun
  CoroFrame* caller = nullptr;   // awaits this coroutine
  CoroFrame** holder = nullptr;  // the handle in the caller's frame that owns this one
  std::coroutine_handle<> handle;
  std::exception_ptr error;

  // Ends the coroutine, so that its caller is the innermost.
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
  // CoroTask's loop resumes at once a coroutine that has not told it when: with a foreign awaitable that is
  // too early, and the awaitable then resumes it again.
  template <class A>
  decltype(auto) await_transform(A&& awaited) const noexcept {
    static_assert(CoroAwaitable<A>,
                  "a fair::Coro can co_await another fair::Coro, and fair::yield(), delay(), deadline(), "
                  "wait(), signalUntil(), signalFor(), receiveSignal(), moveTo() and self(). "
                  "For anything else call fair::signalAfter(source, scheduler, co_await fair::self()), "
                  "keep its result, and then co_await fair::receiveSignal().");
    if constexpr (CoroAwaitable<A>) {
      return static_cast<A&&>(awaited);
    } else {
      return CoroInstead();
    }
  }
  void unhandled_exception() noexcept { error = std::current_exception(); }

  static void assertReturned(bool hasValue) {
    WEFT_ASSERT(hasValue,
                "a fair::Coro<T> came to its end without a value. Write co_return value; on each path.");
  }

  void rethrow() const {
    if (error != nullptr) {
      throwOrDie(error);
    }
  }
};

template <class T>
struct CoroResult : CoroFrame {
  template <class U = T>
  void return_value(U&& result) {
    static_assert(std::convertible_to<U, T> || !kCanBeResult<T>,
                  "co_return in a fair::Coro<T>: the value does not become a T by itself. "
                  "Write co_return T(value), if you mean that.");
    detail::assertResult<T>();
    if constexpr (std::convertible_to<U, T>) {
      value.emplace(std::forward<U>(result));
    }
  }
  T take() {
    detail::assertResult<T>();
    rethrow();
    assertReturned(value.has_value());
    if constexpr (kCanBeResult<T>) {
      return std::move(*value);
    } else {
      __builtin_unreachable();
    }
  }
  std::optional<T> value;
};

template <class T>
struct CoroResult<T&> : CoroFrame {
  void return_value(T& result) { value = &result; }
  T& take() {
    rethrow();
    assertReturned(value != nullptr);
    return *value;
  }
  T* value = nullptr;
};

template <>
struct CoroResult<void> : CoroFrame {
  void return_void() const noexcept {}
  void take() const { rethrow(); }
};

}  // namespace weft::inline v0_1::detail
