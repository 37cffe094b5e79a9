// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#if !defined(WEFT_NO_EXCEPTIONS)
#include <exception>
#else
#include <string>

#include "weft/debug.h"
#endif

namespace weft::detail {

// The exception that a function let escape, if it did. Without exceptions: the message of an error that was
// set, which ends the program where it would be thrown.
class EscapedException {
 public:
  // Calls function(), and keeps what it throws.
  template <class F>
  void capture(F&& function) {
#if !defined(WEFT_NO_EXCEPTIONS)
    try {
      std::forward<F>(function)();
    } catch (...) {
      captureCurrent();
    }
#else
    std::forward<F>(function)();
#endif
  }

  // Keeps the exception that is being handled.
  void captureCurrent() noexcept {
#if !defined(WEFT_NO_EXCEPTIONS)
    exception_ = std::current_exception();
#endif
  }

  // Keeps `error`, a std::exception, as if it had escaped.
  template <class Error>
  void set(const Error& error) {
#if !defined(WEFT_NO_EXCEPTIONS)
    exception_ = std::make_exception_ptr(error);
#else
    exception_ = std::make_shared<const std::string>(error.what());
#endif
  }

  explicit operator bool() const noexcept { return exception_ != nullptr; }

  // Throws what was kept, and keeps it no more.
  void rethrow() {
    if (exception_ != nullptr) [[unlikely]] {
      throwIt(std::move(exception_));
    }
  }

  // Throws what was kept, any number of times.
  void rethrowAgain() const {
    if (exception_ != nullptr) [[unlikely]] {
      throwIt(exception_);
    }
  }

#if !defined(WEFT_NO_EXCEPTIONS)
  using Pointer = std::exception_ptr;
#else
  using Pointer = std::shared_ptr<const std::string>;
#endif
  void set(Pointer exception) noexcept { exception_ = std::move(exception); }
  const Pointer& pointer() const noexcept { return exception_; }

 private:
  [[noreturn, gnu::cold]] static void throwIt(Pointer exception) {
#if !defined(WEFT_NO_EXCEPTIONS)
    std::rethrow_exception(std::move(exception));
#else
    WEFT_FATAL("%s", exception->c_str());
#endif
  }

  Pointer exception_;
};

// What became of a call elsewhere: a result of type R (a value, a reference or void), or an
// exception.
template <class R>
class Outcome {
 public:
  template <class F>
  void capture(F&& function) {
    exception_.capture([&] {
      if constexpr (std::is_void_v<R>) {
        std::forward<F>(function)();
      } else if constexpr (std::is_reference_v<R>) {
        R&& result = std::forward<F>(function)();
        result_ = std::addressof(result);
      } else {
        result_.emplace(std::forward<F>(function)());
      }
    });
  }

  // Throws the exception, if there is one.
  void rethrow() { exception_.rethrow(); }

  // Returns: the result, or throws the exception. Once.
  R take() {
    exception_.rethrow();
    if constexpr (std::is_reference_v<R>) {
      return static_cast<R>(*result_);
    } else if constexpr (!std::is_void_v<R>) {
      std::remove_cv_t<R> result = std::move(*result_);
      result_.reset();  // what is left of it goes now, whoever else holds this
      return result;
    }
  }

  // Returns: the result where it is, or throws the exception. Any number of times.
  decltype(auto) look() const {
    exception_.rethrowAgain();
    if constexpr (std::is_reference_v<R>) {
      return static_cast<R>(*result_);
    } else if constexpr (!std::is_void_v<R>) {
      return static_cast<const R&>(*result_);
    }
  }

  // Takes over what became of `other`, which is not looked at again.
  void takeFrom(Outcome& other) {
    if (other.exception_) {
      exception_ = std::move(other.exception_);
    } else {
      capture([&]() -> R { return other.take(); });
    }
  }
  // Copies it.
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
  struct Nothing {};
  template <class T>
  struct Holder {
    using type = std::optional<std::remove_cv_t<T>>;
  };
  template <class T>
  requires std::is_reference_v<T>
  struct Holder<T> {
    using type = std::remove_reference_t<T>*;
  };
  template <class T>
  requires std::is_void_v<T>
  struct Holder<T> {
    using type = Nothing;
  };

  [[no_unique_address]] typename Holder<R>::type result_{};
  EscapedException exception_;
};

}  // namespace weft::detail
