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
#endif

namespace weft::detail {

// The exception that a function let escape, if it did.
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

  explicit operator bool() const noexcept {
#if !defined(WEFT_NO_EXCEPTIONS)
    return exception_ != nullptr;
#else
    return false;
#endif
  }

  // Throws what was kept.
  void rethrow() {
#if !defined(WEFT_NO_EXCEPTIONS)
    if (exception_ != nullptr) [[unlikely]] {
      std::rethrow_exception(std::move(exception_));
    }
#endif
  }

 private:
#if !defined(WEFT_NO_EXCEPTIONS)
  std::exception_ptr exception_;
#endif
};

// What became of a call on another thread: a result of type R (a value, a reference or void), or an
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
      return std::move(*result_);
    }
  }

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

  typename Holder<R>::type result_{};
  EscapedException exception_;
};

}  // namespace weft::detail
