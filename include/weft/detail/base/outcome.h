// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <exception>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "weft/debug.h"
#include "weft/detail/base/throw_or_die.h"

namespace weft::inline v0_1::detail {

// The exception that a function let escape, if any.
class EscapedException {
 public:
  // Calls function(), and keeps what it throws.
  template <class F>
  [[gnu::always_inline]] void capture(F&& function) {
    detail::callOrHandle(std::forward<F>(function), [this] { captureCurrent(); });
  }

  void captureCurrent() noexcept { exception_ = std::current_exception(); }

  void set(std::exception_ptr exception) noexcept { exception_ = std::move(exception); }

  explicit operator bool() const noexcept { return exception_ != nullptr; }

  // Throws the kept exception, if any, and no longer keeps it.
  void rethrow() {
    if (exception_ != nullptr) [[unlikely]] {
      throwOrDie(std::exchange(exception_, nullptr));  // libc++ has no move of a std::exception_ptr
    }
  }

  // Throws the kept exception, if any. May be called again.
  void rethrowAgain() const {
    if (exception_ != nullptr) [[unlikely]] {
      throwOrDie(exception_);
    }
  }

  const std::exception_ptr& pointer() const noexcept { return exception_; }

 private:
  std::exception_ptr exception_;
};

// An EscapedException that is constructed only when a call throws, so that a call that returns costs nothing.
// Requires: rethrow() or drop() is called after capture() or takeFrom() has returned false.
class LateException {
 public:
  LateException() {}
  ~LateException() {}
  LateException(const LateException&) = delete;
  LateException& operator=(const LateException&) = delete;

  // Calls function(), and keeps what it throws. Returns: whether it has returned.
  template <class F>
  [[gnu::always_inline]] bool capture(F&& function) {
#if defined(__cpp_exceptions)
    try {
      std::forward<F>(function)();
      return true;
    } catch (...) {
      std::construct_at(&exception_)->captureCurrent();
      return false;
    }
#else
    std::construct_at(&exception_)->capture(std::forward<F>(function));
    return !exception_;
#endif
  }

  // Keeps what `exception` keeps. Returns: whether `exception` was empty.
  bool takeFrom(EscapedException&& exception) {
    if (!exception) [[likely]] {
      return true;
    }
    std::construct_at(&exception_, std::move(exception));
    return false;
  }

  // Requires, for rethrow() and drop(): an exception is kept. The object is not used afterwards.
  [[noreturn, gnu::cold]] void rethrow() {
    EscapedException last = std::move(exception_);
    drop();
    last.rethrow();
    __builtin_unreachable();
  }
  void drop() { std::destroy_at(&exception_); }

 private:
  union {
    EscapedException exception_;
  };
};

// Whether an Outcome can keep results of type R, which are moved into it and out of it.
template <class R>
inline constexpr bool kCanBeResult =
    std::is_void_v<R> || std::is_reference_v<R> || std::is_constructible_v<std::remove_cv_t<R>, R>;

template <class R>
constexpr void assertResult() {
  static_assert(kCanBeResult<R>,
                "weft moves the result of a function, or the value of a promise, to where it is used: "
                "this type cannot be moved. Write a std::unique_ptr to it, made by std::make_unique.");
}

// A value with a trivial destructor. It needs no flag that says whether it was constructed.
template <class T>
class UnmarkedValue {
 public:
  UnmarkedValue() {}

  template <class Arg>
  void emplace(Arg&& argument) {
    std::construct_at(std::addressof(value_), std::forward<Arg>(argument));
  }
  T& operator*() { return value_; }

 private:
  union {
    T value_;
  };
};

template <class T>
using LateValue = std::conditional_t<std::is_trivially_destructible_v<T>, UnmarkedValue<T>, std::optional<T>>;

// Keeps the result of a call: a value in an Optional, a reference as an address, nothing for void.
template <class R, template <class> class Optional = std::optional>
class ResultSlot {
 public:
  ResultSlot() noexcept { detail::assertResult<R>(); }

  template <class F>
  [[gnu::always_inline]] void emplace(F&& function) {
    if constexpr (std::is_void_v<R>) {
      std::forward<F>(function)();
    } else if constexpr (std::is_reference_v<R>) {
      R&& result = std::forward<F>(function)();
      kept_ = std::addressof(result);
    } else if constexpr (kCanBeResult<R>) {
      kept_.emplace(std::forward<F>(function)());
    }
  }

  // Requires: R is not void; emplace() has returned.
  decltype(auto) take() {
    if constexpr (std::is_reference_v<R>) {
      return static_cast<R>(*kept_);
    } else {
      return std::move(*kept_);
    }
  }
  decltype(auto) look() const {
    if constexpr (std::is_reference_v<R>) {
      return static_cast<R>(*kept_);
    } else {
      return static_cast<const R&>(*kept_);
    }
  }

  void reset() { kept_.reset(); }

 private:
  struct Nothing {};
  using Kept =
      std::conditional_t<std::is_reference_v<R>, std::remove_reference_t<R>*, Optional<std::remove_cv_t<R>>>;

  [[no_unique_address]] std::conditional_t<std::is_void_v<R>, Nothing, Kept> kept_{};
};

// The outcome of a call elsewhere: a result of type R (a value, a reference or void), or an exception.
template <class R>
class Outcome {
 public:
  template <class F>
  void capture(F&& function) {
    exception_.capture([&] { result_.emplace(std::forward<F>(function)); });
  }

  template <class T>
  void set(T&& value) {
    if constexpr (kCanBeResult<R>) {  // else the constructor fails to compile
      capture([&]() -> R { return std::forward<T>(value); });
    }
  }

  void rethrow() { exception_.rethrow(); }

  // Throws the exception, or moves the result out. May be called once.
  R take() {
    exception_.rethrow();
    if constexpr (std::is_reference_v<R>) {
      return result_.take();
    } else if constexpr (!kCanBeResult<R>) {
      detail::assertResult<R>();
      __builtin_unreachable();
    } else if constexpr (!std::is_void_v<R>) {
      std::remove_cv_t<R> result = result_.take();
      result_.reset();  // destroyed now, even if others still hold this outcome
      return result;
    }
  }

  // Throws the exception, or returns a reference to the result. May be called again.
  decltype(auto) look() const {
    exception_.rethrowAgain();
    if constexpr (!std::is_void_v<R>) {
      return result_.look();
    }
  }

  // Takes over the outcome of `other`, which is not used again.
  void takeFrom(Outcome& other) {
    if (other.exception_) {
      exception_ = std::move(other.exception_);
    } else {
      capture([&]() -> R { return other.take(); });
    }
  }
  void takeFrom(const Outcome& other) {
    if (other.exception_) {
      exception_ = other.exception_;
    } else {
      capture([&]() -> R { return other.look(); });
    }
  }

  EscapedException& error() noexcept { return exception_; }
  const EscapedException& error() const noexcept { return exception_; }

 private:
  [[no_unique_address]] ResultSlot<R> result_;
  EscapedException exception_;
};

}  // namespace weft::inline v0_1::detail
