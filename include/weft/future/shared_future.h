// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <chrono>
#include <exception>
#include <stop_token>
#include <type_traits>
#include <utility>

#include "weft/detail/base/outcome.h"
#include "weft/detail/future/continuation.h"
#include "weft/detail/future/launch.h"
#include "weft/detail/future/recovery.h"
#include "weft/detail/future/within.h"

namespace weft::inline v0_1 {

// A future whose result may be read any number of times. Copies share the result.
//
//   weft::SharedFuture<Settings> settings = weft::async(readSettings).share();
//   for (Service& service : services) {
//     weft::schedule([&service, settings] { service.start(settings.get()); });
//   }
// Threads: several threads may use one SharedFuture while none assigns to it, moves it or destroys it. Or
// give each thread a copy of its own.
template <class T>
class [[nodiscard]] SharedFuture : public detail::FutureBase<SharedFuture<T>, T> {
  using Base = detail::FutureBase<SharedFuture<T>, T>;
  using Value = std::conditional_t<std::is_void_v<T> || std::is_reference_v<T>, T,
                                   std::add_lvalue_reference_t<const T>>;

 public:
  SharedFuture() noexcept = default;
  SharedFuture(const SharedFuture&) noexcept = default;
  SharedFuture(SharedFuture&&) noexcept = default;
  SharedFuture& operator=(const SharedFuture&) noexcept = default;
  SharedFuture& operator=(SharedFuture&&) noexcept = default;
  // Takes the result over, as Future::share() does.
  SharedFuture(Future<T>&& future) noexcept
      : Base(static_cast<detail::FutureHandle&&>(future)) {}  // NOLINT(google-explicit-constructor): as std's

  // As Future's functions of these names.
  bool valid() const noexcept { return Base::valid(); }
  bool ready() const { return Base::ready(); }
  void wait() const { Base::wait(); }
  bool wait(const std::stop_token& token) const { return Base::wait(token); }
  template <class Rep, class Period>
  bool wait_for(const std::chrono::duration<Rep, Period>& duration, const std::stop_token& token = {}) const {
    return Base::wait_for(duration, token);
  }
  template <class Clock, class Duration>
  bool wait_until(const std::chrono::time_point<Clock, Duration>& time,
                  const std::stop_token& token = {}) const {
    return Base::wait_until(time, token);
  }
  bool failed() const { return Base::failed(); }
  std::exception_ptr exception() const { return Base::exception(); }

  // Waits as wait() does, and returns a reference to the result.
  // Returns: the result, or throws the exception.
  // Requires: valid().
  // Lifetime: the result lives as long as a SharedFuture to it.
  Value get() const {
    this->core("get").wait();
    return static_cast<const detail::Outcome<T>&>(detail::FutureAccess::outcome<T>(*this)).look();
  }

  // As Future::then(), but f gets a `const T&` or a SharedFuture, and this future stays valid.
  template <class F>
  auto then(F&& f) const {
    return Base::template chain<Value>(SharedFuture(*this), detail::BoundOrDefaultExecutor(),
                                       std::forward<F>(f));
  }
  template <class E, class F>
  auto then(E&& executor, F&& f) const {
    return Base::template chain<Value>(SharedFuture(*this), std::forward<E>(executor), std::forward<F>(f));
  }

  // As Future's, but this future stays valid, and the returned one gets a copy of the value.
  template <class Rep, class Period>
  Future<T> within(const std::chrono::duration<Rep, Period>& duration,
                   std::stop_source source = std::stop_source(std::nostopstate)) const {
    return detail::within<T>(SharedFuture(*this), detail::deadlineAfter(duration), std::move(source));
  }
  template <class F>
  auto recover(F&& f) const {
    return detail::chainOnError<detail::ErrorUse::Recover, T>(
        SharedFuture(*this), detail::BoundOrDefaultExecutor(), std::forward<F>(f));
  }
  template <class E, class F>
  auto recover(E&& executor, F&& f) const {
    return detail::chainOnError<detail::ErrorUse::Recover, T>(SharedFuture(*this), std::forward<E>(executor),
                                                              std::forward<F>(f));
  }
  template <class F>
  auto onError(F&& f) const {
    return detail::chainOnError<detail::ErrorUse::Notice, T>(
        SharedFuture(*this), detail::BoundOrDefaultExecutor(), std::forward<F>(f));
  }
  template <class E, class F>
  auto onError(E&& executor, F&& f) const {
    return detail::chainOnError<detail::ErrorUse::Notice, T>(SharedFuture(*this), std::forward<E>(executor),
                                                             std::forward<F>(f));
  }
};

}  // namespace weft::inline v0_1

#include "weft/detail/base/macros_end.h"
