// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <chrono>
#include <cstddef>
#include <exception>
#include <iterator>
#include <memory>
#include <optional>
#include <stop_token>
#include <type_traits>
#include <utility>

#include "weft/detail/base/deadline.h"
#include "weft/detail/base/shared.h"
#include "weft/detail/base/throw_or_die.h"
#include "weft/detail/channel/state.h"
#include "weft/detail/wait/stoppable.h"
#include "weft/export.h"
#include "weft/memory.h"

namespace weft::inline v0_1 {
namespace detail {

struct ChannelAccess;

}  // namespace detail

// Thrown by a send on a channel that is, or meanwhile becomes, closed. The value was not sent.
class WEFT_EXPORT ChannelClosed : public std::exception {
 public:
  const char* what() const noexcept override;
};

// Passes values from any number of senders to any number of receivers, in the order in which they were sent.
//
//   weft::Channel<std::string> lines(64);
//   weft::schedule([=] {
//     for (std::string line; std::getline(std::cin, line);) {
//       lines.send(std::move(line));
//     }
//     lines.close();
//   });
//   for (const std::string& line : lines) {
//     print(line);
//   }
// A channel has room for `capacity` values. send() waits while it is full. With a capacity of 0 each send()
// hands its value to a receive(). Waiting senders and receivers are served first in, first out.
//
// T must be movable. If its move throws, the exception leaves the call to which the value belongs; the
// channel goes on as if that value had not been sent, or had been received. The move and the destructor of T,
// and its conversion from what is sent, must neither wait nor use the channel.
//
// A loop around trySend() or tryReceive() lets nothing else run on this thread: call yield() in it, or wait.
//
// A handle: copies share one channel and keep it alive. Values that are left in it are destroyed with it.
// Lifetime: may be destroyed once the last call has had its effect, even if the other side has not returned.
template <class T>
class Channel {
  static_assert(std::is_object_v<T> && !std::is_const_v<T> && std::is_move_constructible_v<T>,
                "the values of a weft::Channel are moved through it: "
                "T must be an object type, not const, with a move or copy constructor");

 public:
  class Iterator;

  // Makes a channel that has room for `capacity` values, in memory of `allocator`.
  // Requires: capacity is from 0 to 2^31, with 32 bits 2^30; otherwise a message ends the program.
  explicit Channel(size_t capacity = 0, Allocator* allocator = Allocator::Default)
      : state_(detail::Shared<State>::adopt(State::make(allocator, capacity, detail::valueTypeOf<T>))) {}

  // Sends a value. Suspends the fiber, or blocks the thread, while there is no room. Throws ChannelClosed. A
  // value of another type is converted. A value that was not sent was not moved from.
  // Memory ordering: the receive() that returns the value sees what was written before send(). A send() that
  // had to wait sees what was written before the receive() that it waited for.
  template <class U = T>
  void send(U&& value) const {
    sendUntil(std::forward<U>(value), detail::kNever);
  }

  // Sends a value if that is possible without waiting. Throws ChannelClosed.
  // Returns: whether it did.
  template <class U = T>
  [[nodiscard]] bool trySend(U&& value) const {
    return sendUntil(std::forward<U>(value), detail::kWithoutWaiting);
  }

  // As send(), but also ends at a stop of `token`, after `duration` or at `time`; never early by that clock.
  // Returns: false if one of these came first. An earlier stop wins even if there is room.
  template <class U = T>
  [[nodiscard]] bool send(U&& value, const std::stop_token& token) const {
    return sendUntil(std::forward<U>(value), detail::kNever, &token);
  }
  template <class U = T, class Rep, class Period>
  [[nodiscard]] bool send_for(U&& value, const std::chrono::duration<Rep, Period>& duration,
                              const std::stop_token& token = {}) const {
    return sendUntil(std::forward<U>(value), detail::deadlineAfter(duration), &token);
  }
  template <class U = T, class Clock, class Duration>
  [[nodiscard]] bool send_until(U&& value, const std::chrono::time_point<Clock, Duration>& time,
                                const std::stop_token& token = {}) const {
    return withObject(std::forward<U>(value), [&](auto& object) {
      return detail::waitUntilByClock(
          time, token, [&](detail::TimePoint deadline) { return sendObject(object, deadline, &token); });
    });
  }

  // Receives the oldest value. Suspends the fiber, or blocks the thread, while there is none.
  // Returns: the value. Nothing once the channel is closed and empty.
  [[nodiscard]] std::optional<T> receive() const {
    std::optional<T> result;
    receiveInto(result, detail::kNever);
    return result;
  }

  // Receives a value if there is one, or if a sender waits.
  // Returns: the value, or nothing.
  [[nodiscard]] std::optional<T> tryReceive() const {
    std::optional<T> result;
    receiveInto(result, detail::kWithoutWaiting);
    return result;
  }

  // As receive(), but also ends at a stop of `token`, after `duration` or at `time`; not early by its clock.
  // Returns: nothing if one of these came first. A value that is there wins, so that none is left behind.
  [[nodiscard]] std::optional<T> receive(const std::stop_token& token) const {
    std::optional<T> result;
    receiveInto(result, detail::kNever, &token);
    return result;
  }
  template <class Rep, class Period>
  [[nodiscard]] std::optional<T> receive_for(const std::chrono::duration<Rep, Period>& duration,
                                             const std::stop_token& token = {}) const {
    std::optional<T> result;
    receiveInto(result, detail::deadlineAfter(duration), &token);
    return result;
  }
  template <class Clock, class Duration>
  [[nodiscard]] std::optional<T> receive_until(const std::chrono::time_point<Clock, Duration>& time,
                                               const std::stop_token& token = {}) const {
    std::optional<T> result;
    detail::waitUntilByClock(
        time, token, [&](detail::TimePoint deadline) { return receiveInto(result, deadline, &token); });
    return result;
  }

  // Closes the channel. A waiting sender gets ChannelClosed, a waiting receiver nothing. Values that were
  // sent before can still be received. Closing again changes nothing. Neither suspends nor blocks.
  // Memory ordering: a receive() that ends by close() sees what was written before close().
  void close() const { state_.checked().close(); }

  // Returns: whether the channel is closed. Values may still be in it.
  bool isClosed() const { return state_.checked().isClosed(); }

  // Return: how many values fit, and how many are there. size() may have changed already.
  size_t capacity() const { return state_.checked().capacity(); }
  size_t size() const { return state_.checked().size(); }

  // Receives values in a range-based for, until the channel is closed and empty. `*it` may be moved from.
  Iterator begin() const { return Iterator(*this); }
  std::default_sentinel_t end() const { return std::default_sentinel; }

 private:
  friend detail::ChannelAccess;

  using State = detail::ChannelState;
  using Functions = detail::ValueFunctions<T>;

  // An rvalue is used in place: it is moved from only if it is sent.
  template <class U, class F>
  static bool withObject(U&& value, F&& f) {
    static_assert(std::is_convertible_v<U, T>,
                  "weft::Channel<T>: what is sent must be a T, or convert to one implicitly. "
                  "If you mean an explicit conversion, such as from a pointer to a unique_ptr, "
                  "write send(T(value)).");
    constexpr bool kIsMoved = std::is_object_v<U> && !std::is_const_v<U> && !std::is_trivially_copyable_v<U>;
    if constexpr (!std::is_convertible_v<U, T>) {
      return false;
    } else if constexpr (std::is_same_v<U, T> || kIsMoved) {
      return f(value);
    } else {
      T object(std::forward<U>(value));
      return f(object);
    }
  }

  template <class U>
  bool sendUntil(U&& value, detail::TimePoint deadline, const std::stop_token* token = nullptr) const {
    return withObject(std::forward<U>(value),
                      [&](auto& object) { return sendObject(object, deadline, token); });
  }

  template <class From>
  bool sendObject(From& object, detail::TimePoint deadline, const std::stop_token* token) const {
    if (token != nullptr && token->stop_requested()) {
      state_.checked();
      return false;
    }
    if (state_->tryPut(detail::thisThread(),
                       [&](void* slot) noexcept(std::is_nothrow_constructible_v<T, From>) {
                         detail::ValueFunctions<T, From>::put(slot, std::addressof(object));
                       })) {
      return true;
    }
    const detail::ChannelEnd end =
        state_->send(std::addressof(object), detail::valueTypeOf<T, From>, deadline, token);
    if (end == detail::ChannelEnd::Closed) [[unlikely]] {
      state_.checked();
      detail::throwOrDie(ChannelClosed());
    }
    return end == detail::ChannelEnd::Done;
  }

  // Returns: whether the call is over; if not, it is tried again.
  bool receiveInto(std::optional<T>& result, detail::TimePoint deadline,
                   const std::stop_token* token = nullptr) const {
    const auto get = [&](void* slot) noexcept(std::is_nothrow_move_constructible_v<T>) {
      Functions::get(&result, slot);
    };
    return state_->tryGet(detail::thisThread(), get) ||
           state_->receive(&result, deadline, token) != detail::ChannelEnd::WouldWait;
  }

  detail::Shared<State> state_;
};

// An input iterator over the values that receive() of a channel returns.
template <class T>
class Channel<T>::Iterator {
 public:
  // What std::input_iterator asks for. operator++ receives the next value, and waits for it.
  using value_type = T;
  using difference_type = ptrdiff_t;
  T& operator*() const { return *value_; }
  T* operator->() const { return std::addressof(*value_); }
  Iterator& operator++() {
    value_.reset();
    channel_->receiveInto(value_, detail::kNever);
    return *this;
  }
  void operator++(int) { ++*this; }
  bool operator==(std::default_sentinel_t) const { return !value_.has_value(); }

 private:
  friend Channel;
  explicit Iterator(const Channel& channel) : channel_(&channel) { ++*this; }

  const Channel* channel_;
  mutable std::optional<T> value_;
};

}  // namespace weft::inline v0_1

#include "weft/detail/base/macros_end.h"
