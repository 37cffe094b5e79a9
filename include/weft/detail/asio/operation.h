// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "weft/debug.h"
#include "weft/detail/asio/config.h"
#include "weft/detail/base/outcome.h"
#include "weft/detail/base/throw_or_die.h"
#include "weft/detail/wait/event_core.h"
#include "weft/detail/wait/reactor.h"
#include "weft/detail/wait/waiter.h"

namespace weft::inline v0_1::detail {

// What an operation gives whose handler is called with Args: all but a leading error.
template <class... Args>
struct AsioValues {
  static constexpr bool kHasError = false;
  using Type = std::tuple<std::decay_t<Args>...>;
};
template <class Error, class... Args>
  requires(std::is_same_v<std::decay_t<Error>, AsioErrorCode> ||
           std::is_same_v<std::decay_t<Error>, std::exception_ptr>)
struct AsioValues<Error, Args...> {
  static constexpr bool kHasError = true;
  using Type = std::tuple<std::decay_t<Args>...>;
};

template <class Tuple>
struct AsioReturn {
  using Type = Tuple;
};
template <>
struct AsioReturn<std::tuple<>> {
  using Type = void;
};
template <class Value>
struct AsioReturn<std::tuple<Value>> {
  using Type = Value;
};
template <class... Args>
using AsioResult = typename AsioReturn<typename AsioValues<Args...>::Type>::Type;

// An operation of Asio, in the frame of the fiber or thread that waits for it. Its handler points here, and
// ends the wait when it is called, or destroyed without having been called. That is its last access: see
// EventCore, which here has one waiter and one signal.
template <class... Args>
class AsioOperation {
  using Values = typename AsioValues<Args...>::Type;

 public:
  // Calls start(), which passes the handler on. If it throws, the handler may be elsewhere: wait first.
  template <class Start>
  void start(const Start& start) {
    refusal_.capture(start);
  }

  void wait() {
    Waiter& self = detail::currentWaiter();
    if (ended_.tryQueueAlone(self)) {
      std::optional<IoWait> scope;
      if (self.fiber != nullptr) {
        scope.emplace(nullptr);
      }
      detail::block(self, "useFiber", this);
    } else {
      (void)ended_.tryWait();  // for its memory order: the signal is there
    }
  }

  // Returns: the values, or throws. Called once.
  AsioResult<Args...> take(AsioErrorCode* error) {
    if (error != nullptr) {
      *error = error_;
    }
    refusal_.rethrow();
    exception_.rethrow();
    if (error_ && (error == nullptr || !values_)) {
      supplyValues(error != nullptr);
    }
    if constexpr (std::tuple_size_v<Values> == 1) {
      return std::get<0>(std::move(*values_));
    } else if constexpr (std::tuple_size_v<Values> != 0) {
      return std::move(*values_);
    }
  }

  // For the handler.
  template <class... Given>
  void complete(Given&&... given) {
    exception_.capture([&] {
      if constexpr (AsioValues<Args...>::kHasError) {
        setBehindError(std::forward<Given>(given)...);
      } else {
        values_.emplace(std::forward<Given>(given)...);
        error_ = AsioErrorCode();
      }
    });
  }
  void end() noexcept {
    (void)ended_.trySignal([](Waiter& waiter) { detail::wake(waiter); });
  }

 private:
  template <class Error, class... Given>
  void setBehindError(Error&& error, Given&&... given) {
    values_.emplace(std::forward<Given>(given)...);
    if constexpr (std::is_same_v<std::decay_t<Error>, AsioErrorCode>) {
      error_ = error;
    } else {
      error_ = AsioErrorCode();
      exception_.set(std::forward<Error>(error));
    }
  }

  [[gnu::cold]] void supplyValues(bool isErrorTold) {
    if constexpr (std::is_default_constructible_v<Values>) {
      if (isErrorTold) {
        values_.emplace();
        return;
      }
    }
    detail::throwOrDie(detail::makeException<kExceptionsAreTyped>(AsioSystemError(error_)));
  }

  EventCore<> ended_{false, false};
  AsioErrorCode error_ = asio::error::operation_aborted;  // unless the handler is called
  EscapedException refusal_;                              // of start()
  EscapedException exception_;
  std::optional<Values> values_;
};

// The memory for an operation of useFiber. Asio's own allocator recycles memory only within a handler, where
// no fiber begins operations. Elsewhere it calls aligned_alloc(), several times as slow as malloc().
template <class T>
struct AsioAllocator {
  using value_type = T;

  constexpr AsioAllocator() noexcept = default;
  template <class U>
  constexpr AsioAllocator(const AsioAllocator<U>&) noexcept {}  // NOLINT(google-explicit-constructor)

  T* allocate(size_t count) { return std::allocator<T>().allocate(count); }
  void deallocate(T* memory, size_t count) noexcept { std::allocator<T>().deallocate(memory, count); }
  template <class U>
  constexpr bool operator==(const AsioAllocator<U>&) const noexcept {
    return true;
  }
};

// The handler of an operation.
template <class... Args>
class AsioHandler {
 public:
  using allocator_type = AsioAllocator<void>;
  allocator_type get_allocator() const noexcept { return {}; }

  explicit AsioHandler(AsioOperation<Args...>& operation) noexcept : operation_(&operation) {}
  AsioHandler(AsioHandler&& other) noexcept : operation_(std::exchange(other.operation_, nullptr)) {}
  AsioHandler& operator=(AsioHandler&&) = delete;
  ~AsioHandler() {
    if (operation_ != nullptr) {
      operation_->end();
    }
  }

  void operator()(Args... args) {
    WEFT_ASSERT(operation_ != nullptr, "an operation of Asio called the handler of weft::useFiber twice.");
    operation_->complete(std::forward<Args>(args)...);
    std::exchange(operation_, nullptr)->end();
  }

 private:
  AsioOperation<Args...>* operation_;
};

}  // namespace weft::inline v0_1::detail
