// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"

#include <concepts>
#include <exception>
#include <functional>
#include <stop_token>
#include <type_traits>
#include <utility>

#include "weft/detail/future/continuation.h"
#include "weft/detail/future/task_state.h"
#include "weft/executor.h"
#include "weft/export.h"

namespace weft {

// What a future throws whose promise was destroyed before it was set.
class WEFT_EXPORT BrokenPromise : public std::exception {
 public:
  const char* what() const noexcept override;
};

// What a task will yield: a value of type T, a reference, or nothing (void); or an exception.
//
//   weft::Future<Image> image = weft::async([=] { return load(path); });
//   weft::Future<Size> size = image.then([](Image loaded) { return loaded.size(); });
//   print(size.get());
//
// The owner of a result that is read once; share() gives one that may be copied. A future that is destroyed
// leaves its task alone, and nobody hears of an exception that its task throws: call get() or exception(), or
// chain a then() that takes the future, where a failure matters. Misuse of a future without state (see
// valid()) ends the program with a message.
template <class T>
class [[nodiscard]] Future : public detail::FutureBase<Future<T>, T> {
  using Base = detail::FutureBase<Future<T>, T>;

 public:
  // Without state: it may be assigned to and destroyed.
  Future() noexcept = default;
  Future(Future&&) noexcept = default;
  Future& operator=(Future&&) noexcept = default;

  // As wait(). Returns: the result, or throws the exception. Requires: valid(), which it is not afterwards.
  T get() {
    this->core("get").waitAsOwner();
    Future consumed(std::move(*this));
    detail::Outcome<T>& outcome = detail::FutureAccess::outcome<T>(consumed);
    if (outcome.error()) [[unlikely]] {
      detail::EscapedException thrown = std::move(outcome.error());
      consumed = Future();  // before it throws: nothing is left to a destructor
      thrown.rethrow();
    }
    return outcome.take();
  }

  // Has f(value), f(Future) or f() run once this future is ready, whichever is possible first. The function
  // that takes the future is called in any case; the others only if there is a value, else the exception is
  // passed on. Without an executor, it is a task of the scheduler that is bound to the thread that makes the
  // future ready, or of this thread if it is ready already; where none is bound, of defaultExecutor().
  // Neither suspends nor blocks. Returns: the future of what it returns; if that is a future, of its result.
  // An exception of executor.schedule() goes there as well. Requires: valid(), which it is not afterwards.
  // Lifetime: a temporary or an ExecutorReference is kept. Schedulers, PoolExecutors and MainLoopExecutors
  // may end before: the task is not executed then. Any other executor is referred to.
  template <class F>
  auto then(F&& f) {
    return Base::template chain<T>(std::move(*this), detail::BoundOrDefaultExecutor(), std::forward<F>(f));
  }
  template <class E, class F>
  auto then(E&& executor, F&& f) {
    return Base::template chain<T>(std::move(*this), std::forward<E>(executor), std::forward<F>(f));
  }

  // Returns: the same as a future that may be copied. Requires: valid(), which it is not afterwards.
  SharedFuture<T> share() {
    (void)this->core("share");
    return SharedFuture<T>(std::move(*this));
  }

 private:
  friend struct detail::FutureAccess;
  friend class SharedFuture<T>;
  explicit Future(detail::FutureState<T>* state) noexcept : Base(state) {}
};

// A Future whose result may be read any number of times, by any number of copies. As with shared_ptr, several
// threads may use several copies, and one copy only as long as none changes it.
//
//   weft::SharedFuture<Settings> settings = weft::async(readSettings).share();
//   for (Service& service : services) {
//     weft::schedule([&service, settings] { service.start(settings.get()); });
//   }
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
  SharedFuture(Future<T>&& future) noexcept
      : Base(static_cast<detail::FutureHandle&&>(future)) {}  // NOLINT(google-explicit-constructor): as std's

  // As wait(). Returns: the result where it is, or throws the exception. Requires: valid().
  Value get() const {
    this->core("get").wait();
    return static_cast<const detail::Outcome<T>&>(detail::FutureAccess::outcome<T>(*this)).look();
  }

  // As Future::then(), but f gets `const T&` or a SharedFuture, and this one stays valid.
  template <class F>
  auto then(F&& f) const {
    return Base::template chain<Value>(SharedFuture(*this), detail::BoundOrDefaultExecutor(),
                                       std::forward<F>(f));
  }
  template <class E, class F>
  auto then(E&& executor, F&& f) const {
    return Base::template chain<Value>(SharedFuture(*this), std::forward<E>(executor), std::forward<F>(f));
  }
};

// Sets the result of a future, by hand.
//
//   weft::Promise<Reply> promise;
//   weft::Future<Reply> reply = promise.get_future();
//   connection.onReply([promise = std::move(promise)](Reply r) mutable { promise.set_value(std::move(r)); });
//
// The first set wins. Several threads may set one promise at the same time, as long as it exists until all of
// them are back. One that is destroyed unset gives its future the exception BrokenPromise. The thread that
// sets it runs the executors' schedule() of continuations, and what they run at once. Neither suspends nor
// blocks.
template <class T>
class Promise {
 public:
  Promise() : state_(detail::makeState<detail::PlainState<T>>(1u)) {}
  Promise(Promise&& other) noexcept
      : state_(std::exchange(other.state_, nullptr)), hasFuture_(std::exchange(other.hasFuture_, false)) {}
  Promise& operator=(Promise other) noexcept {
    std::swap(state_, other.state_);
    std::swap(hasFuture_, other.hasFuture_);
    return *this;
  }
  ~Promise() { detail::abandon(state_); }

  // Returns: the future. Requires: it is the first call, and the promise was not moved from.
  Future<T> get_future() {
    detail::PlainState<T>& state = checked("get_future");
    if (std::exchange(hasFuture_, true)) [[unlikely]] {
      detail::reportSecondFuture();
    }
    state.retain();
    return detail::FutureAccess::make(&state);
  }

  // Make the future ready. Return: false, and change nothing, if it was set before. Memory ordering: what
  // came before is seen by whoever finds it ready. Lifetime: the promise may be destroyed as soon as somebody
  // has found it ready.
  template <class U = T>
    requires(!std::is_void_v<T> && std::is_convertible_v<U &&, T>)
  bool set_value(U&& value) {
    return set(
        [&](detail::Outcome<T>& outcome) { outcome.capture([&]() -> T { return std::forward<U>(value); }); });
  }
  bool set_value()
    requires std::is_void_v<T>
  {
    return set([](auto&) {});
  }
  // Requires: not null.
  bool set_exception(std::exception_ptr exception) {
    detail::assertException(exception);
    return set([&](detail::Outcome<T>& outcome) { outcome.error().set(std::move(exception)); });
  }
  // `error` is a temporary whose class derives from std::exception: set_exception(std::runtime_error("why")).
  // A reference, which may refer to an object of a class further derived, is refused: that would be copied in
  // part. In a catch block write set_exception(std::current_exception()). Code without exceptions and
  // run-time type information gives a std::runtime_error that says the same.
  template <class Error, bool kIsTyped = detail::kExceptionsAreTyped>
    requires(!std::convertible_to<Error, std::exception_ptr>)
  bool set_exception(Error&& error) {
    if constexpr (detail::assertError<Error>()) {
      return set_exception(detail::makeException<kIsTyped>(error));
    } else {
      return false;
    }
  }

 private:
  detail::PlainState<T>& checked(const char* function) const {
    if (state_ == nullptr) [[unlikely]] {
      detail::reportNoPromise(function);
    }
    return *state_;
  }

  template <class F>
  bool set(const F& write) {
    detail::PlainState<T>& state = checked("set_value or set_exception");
    if (!state.word.claim()) {
      return false;
    }
    state.retain();  // whoever sees the result may destroy this promise
    write(state.outcome);
    state.complete();
    return true;
  }

  detail::PlainState<T>* state_;
  bool hasFuture_ = false;
};

// Return: a future that is ready; of a reference if `value` comes from std::ref() or std::cref().
template <class T>
Future<std::unwrap_ref_decay_t<T>> makeReadyFuture(T&& value) {
  using Result = std::unwrap_ref_decay_t<T>;
  return detail::makeReady<Result>(
      [&](auto& outcome) { outcome.capture([&]() -> Result { return std::forward<T>(value); }); });
}
inline Future<void> makeReadyFuture() {
  return detail::makeReady<void>([](auto&) {});
}
// `error`: as for Promise::set_exception().
template <class T, class Error, bool kIsTyped = detail::kExceptionsAreTyped>
  requires(!std::convertible_to<Error, std::exception_ptr>)
Future<T> makeExceptionalFuture(Error&& error) {
  if constexpr (detail::assertError<Error>()) {
    return detail::makeReady<T>(
        [&](auto& outcome) { outcome.error().set(detail::makeException<kIsTyped>(error)); });
  } else {
    return Future<T>();
  }
}
template <class T>
Future<T> makeExceptionalFuture(std::exception_ptr exception) {
  detail::assertException(exception);
  return detail::makeReady<T>([&](auto& outcome) { outcome.error().set(std::move(exception)); });
}

// Schedules function() as a task: on the scheduler that is bound to the calling thread, or else on
// defaultExecutor(). Takes one allocation, pooled where function and result are small. Neither suspends nor
// blocks. Returns: the future of what it returns; if that is a future, of its result. Memory ordering: what
// came before is seen by the function.
template <class F>
auto async(F&& function) {
  return detail::launchCall(detail::BoundOrDefaultExecutor(), std::forward<F>(function));
}

// The same by executor.schedule(TaskHandle). What that throws is thrown here.
template <class E, class F>
  requires(!std::same_as<std::remove_cvref_t<E>, std::stop_token>)
auto async(E&& executor, F&& function) {
  return detail::launchCall(executor, std::forward<F>(function));
}
template <class E, class F>
auto async(E&& executor, std::stop_token token, F&& function) {
  return detail::launchStoppable(executor, std::move(token), std::forward<F>(function));
}

// The same, unless a stop is requested by `token` before it begins: the future throws TaskCanceled then. The
// function may take the token.
template <class F>
auto async(std::stop_token token, F&& function) {
  return detail::launchStoppable(detail::BoundOrDefaultExecutor(), std::move(token),
                                 std::forward<F>(function));
}

}  // namespace weft

#include "weft/detail/future/when.h"
