// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <memory>
#include <type_traits>
#include <utility>

#include "weft/detail/base/callable.h"

namespace weft::inline v0_1 {

// What make_shared_finally() gives: an object whose destructor calls a function. Its type does not name the
// function's type.
class Finally {
 public:
  virtual ~Finally() = default;

 protected:
  Finally() = default;
  Finally(const Finally&) = default;
  Finally& operator=(const Finally&) = default;
};

// What make_finally() gives: an object that calls a function when it is destroyed, unless it was moved from.
// The function must not throw.
//
//   auto closer = weft::make_finally([&] { file.close(); });
template <class F>
class FinallyImpl final : public Finally {
 public:
  // Keeps a copy of `function`, or takes it over. make_finally() is shorter.
  explicit FinallyImpl(const F& function) : function_(function) { assertNotEmpty(); }
  explicit FinallyImpl(F&& function) : function_(std::move(function)) { assertNotEmpty(); }
  FinallyImpl(FinallyImpl&& other) noexcept(std::is_nothrow_move_constructible_v<F>)
      : function_(std::move(other.function_)), armed_(std::exchange(other.armed_, false)) {}
  FinallyImpl& operator=(FinallyImpl&&) = delete;
  ~FinallyImpl() noexcept override {
    constexpr bool kCanBeCalled = std::is_invocable_v<F&>;
    static_assert(kCanBeCalled, "make_finally(f): f cannot be called without arguments.");
    if constexpr (kCanBeCalled) {
      if (armed_) {
        function_();
      }
    }
  }

 private:
  void assertNotEmpty() const { detail::assertCallable(function_, "make_finally()"); }

  F function_;
  bool armed_ = true;
};

// Calls `function` at the end of a scope, however the scope ends.
// Returns: an object that does so when it is destroyed.
template <class F>
[[nodiscard]] FinallyImpl<std::decay_t<F>> make_finally(F&& function) {
  if constexpr (detail::assertKept<F>()) {
    return FinallyImpl<std::decay_t<F>>(std::forward<F>(function));
  } else {
    __builtin_unreachable();
  }
}

// Calls `function` when the last of several owners has gone.
// Returns: a handle. The destructor of its last copy calls `function`.
template <class F>
[[nodiscard]] std::shared_ptr<Finally> make_shared_finally(F&& function) {
  if constexpr (detail::assertKept<F>()) {
    return std::make_shared<FinallyImpl<std::decay_t<F>>>(std::forward<F>(function));
  } else {
    __builtin_unreachable();
  }
}

}  // namespace weft::inline v0_1

#define WEFT_CONCAT_(a, b) a##b
#define WEFT_CONCAT(a, b) WEFT_CONCAT_(a, b)

// Runs a statement when the enclosing scope ends, however it ends. Several statements run in reverse order. A
// statement sees the values that the scope's variables have at that time, and must not throw.
//
//   weft::WaitGroup wg(1);
//   weft::schedule([wg] {
//     WEFT_DEFER(wg.done());
//     work();
//   });
#define WEFT_DEFER(...) auto WEFT_CONCAT(weft_defer_, __LINE__) = ::weft::make_finally([&] { __VA_ARGS__; })

#include "weft/detail/base/macros_end.h"
