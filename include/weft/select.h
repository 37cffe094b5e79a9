// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <chrono>
#include <concepts>
#include <cstddef>
#include <iterator>
#include <memory>
#include <optional>
#include <stop_token>
#include <type_traits>
#include <utility>

#include "weft/channel.h"
#include "weft/detail/base/callable.h"
#include "weft/detail/base/deadline.h"
#include "weft/detail/channel/acquire_case.h"
#include "weft/detail/channel/cases.h"
#include "weft/detail/channel/select_case.h"
#include "weft/event.h"
#include "weft/semaphore.h"

namespace weft::inline v0_1 {

class AnyCase;

namespace detail {

struct AnyCases;

struct ChannelAccess {
  template <class T>
  static ChannelState& checked(const Channel<T>& channel) {
    return channel.state_.checked();
  }
};

// Waits for one of the cases, and calls its handler. Returns: which one.
WEFT_EXPORT size_t selectFrom(AnyCase* cases, size_t count);

template <class List>
concept IsCaseList = requires(List& list) {
  { std::data(list) } -> std::same_as<AnyCase*>;
  { std::size(list) } -> std::convertible_to<size_t>;
};

// Whether T is a time that onTimeout() takes.
template <class T>
inline constexpr bool kIsTime = false;
template <class Rep, class Period>
inline constexpr bool kIsTime<std::chrono::duration<Rep, Period>> = true;
template <class Duration>
inline constexpr bool kIsTime<std::chrono::time_point<std::chrono::steady_clock, Duration>> = true;

}  // namespace detail

// Waits for one of several things at once: select(), with a case for each of them. Make the cases in the call
// of select(), since they refer to their arguments, or make an AnyCase of each. Only onReceive() needs a
// handler.

// A case that receives from `channel`, and calls handler(std::optional<T>). The optional is empty if the
// channel is closed and has no more values.
template <class T, class Handler>
[[nodiscard]] auto onReceive(const Channel<T>& channel, Handler handler) {
  constexpr bool kCanBeCalled = std::invocable<Handler&, std::optional<T>>;
  static_assert(kCanBeCalled,
                "onReceive(channel, handler): the handler takes a std::optional, which is empty "
                "once the channel is closed and has no more values. "
                "Write onReceive(channel, [&](std::optional<T> value) { ... }).");
  if constexpr (kCanBeCalled) {
    return detail::ReceiveCase<T, Handler>(detail::ChannelAccess::checked(channel), std::move(handler));
  } else {
    return detail::PlainCase<detail::Ignore>(detail::Ignore());
  }
}

template <class T>
[[nodiscard]] auto onReceive(const Channel<T>&) {
  static_assert(detail::kAlwaysFalse<T>,
                "onReceive(channel, handler) needs a handler, which takes what is received. "
                "Write onReceive(channel, [&](std::optional<T> value) { ... }).");
  return detail::PlainCase<detail::Ignore>(detail::Ignore());
}

// A case that sends `value` on `channel`, and calls handler(). An rvalue of T is moved from only if this case
// happens. If the channel is closed, select() throws ChannelClosed, and calls no handler.
template <class T, class Handler = detail::Ignore>
[[nodiscard]] auto onSend(const Channel<T>& channel, std::type_identity_t<T>&& value, Handler handler = {}) {
  return detail::SendCase<T, T&, Handler>(detail::ChannelAccess::checked(channel), value, std::move(handler));
}
template <class T, class Handler = detail::Ignore>
[[nodiscard]] auto onSend(const Channel<T>& channel, const std::type_identity_t<T>& value,
                          Handler handler = {}) {
  return detail::SendCase<T, T, Handler>(detail::ChannelAccess::checked(channel), T(value),
                                         std::move(handler));
}

// A case that waits until `event` is signalled, and calls handler(). It uses the signal of an Auto event up,
// as Event::wait() does.
template <class Handler = detail::Ignore>
[[nodiscard]] auto onSignal(const Event& event, Handler handler = {}) {
  return detail::PlainCase<Handler>(std::move(handler), event);
}

// A case that takes a permit of `semaphore`, as acquire() does, and calls handler(Semaphore::Permit), or
// handler(), after which the caller has the permit and gives it back by release(). If what is chosen is
// another case, the permit stays where it is, or goes to who waits behind this case.
template <class Handler = detail::Ignore>
[[nodiscard]] auto onAcquire(const Semaphore& semaphore, Handler handler = {}) {
  constexpr bool kCanBeCalled = std::invocable<Handler&, Semaphore::Permit> || std::invocable<Handler&>;
  static_assert(kCanBeCalled,
                "onAcquire(semaphore, handler): the handler takes the permit, or nothing. "
                "Write onAcquire(semaphore, [&](weft::Semaphore::Permit permit) { ... }).");
  if constexpr (kCanBeCalled) {
    return detail::SubjectCase<detail::PermitCase, Handler>("onAcquire()", std::move(handler), semaphore);
  } else {
    return detail::PlainCase<detail::Ignore>(detail::Ignore());
  }
}

// A case that happens `duration` from now, or at `time`, and calls handler().
template <class Rep, class Period, class Handler = detail::Ignore>
[[nodiscard]] auto onTimeout(const std::chrono::duration<Rep, Period>& duration, Handler handler = {}) {
  return detail::PlainCase<Handler>(std::move(handler), detail::deadlineAfter(duration));
}
template <class Duration, class Handler = detail::Ignore>
[[nodiscard]] auto onTimeout(const std::chrono::time_point<std::chrono::steady_clock, Duration>& time,
                             Handler handler = {}) {
  detail::TimePoint deadline;
  detail::waitUntilByClock(time, [&](detail::TimePoint at) {
    deadline = at;
    return true;
  });
  return detail::PlainCase<Handler>(std::move(handler), deadline);
}

template <class Time, class Handler = detail::Ignore>
  requires(!detail::kIsTime<Time>)
[[nodiscard]] auto onTimeout(const Time&, const Handler& = {}) {
  static_assert(detail::kAlwaysFalse<Time>,
                "onTimeout(time, handler): the time is a duration, such as std::chrono::milliseconds(5), "
                "or a time of std::chrono::steady_clock.");
  return detail::PlainCase<detail::Ignore>(detail::Ignore());
}

// A case that happens when a stop of `token` is requested, and calls handler().
// Requires: it is the only onStop() of its select(); otherwise a message ends the program.
template <class Handler = detail::Ignore>
[[nodiscard]] auto onStop(const std::stop_token& token, Handler handler = {}) {
  return detail::PlainCase<Handler>(std::move(handler), token);
}

// A case that happens if no other case can happen at once, and calls handler(). With it select() does not
// wait. A loop around such a select() lets nothing else run on this thread: call yield() in it, or leave this
// case out.
template <class Handler = detail::Ignore>
[[nodiscard]] auto otherwise(Handler handler = {}) {
  return detail::PlainCase<Handler>(std::move(handler));
}

// Waits until one of several cases can happen, and lets one happen. Suspends the fiber, or blocks the thread.
//
//   weft::select(weft::onReceive(jobs, [&](std::optional<Job> job) { isOver = !job || !run(*job); }),
//                weft::onSend(results, std::move(result), [&] { result = next(); }),
//                weft::onSignal(paused, [&] { resume.wait(); }),
//                weft::onAcquire(places, [&](weft::Semaphore::Permit place) { start(std::move(place)); }),
//                weft::onTimeout(std::chrono::milliseconds(50), [] { std::puts("idle"); }),
//                weft::onStop(token, [&] { isOver = true; }));
// Calls the handler of that case once the waits of the other cases have ended. What the handler throws leaves
// select(). The other cases have no effect: they receive, send or use up nothing. If several cases can happen
// at once, select() begins with a random one, so that none is passed over for long. Each case waits in line
// with all others that wait for its channel, event or semaphore, first in, first out. Several cases may be on
// one channel. A send and a receive of one select() do not serve each other.
// Returns: the index of the case among the arguments.
// Memory ordering: as for the send(), receive(), wait() or acquire() that happened.
template <class... Cases>
  requires(sizeof...(Cases) == 0 || (std::is_class_v<std::remove_cvref_t<Cases>> || ...))
size_t select(Cases&&... cases) {
  static_assert(sizeof...(Cases) > 0,
                "weft::select() needs something to wait for: onReceive, onSend, onSignal, ...");
  constexpr bool kAreCases = (detail::IsSelectCase<Cases> && ...);
  static_assert(
      kAreCases,
      "weft::select() takes cases that are made in its call: onReceive(channel, handler), "
      "onSend(channel, value), onSignal(event), onAcquire(semaphore), onTimeout(time), onStop(token), "
      "otherwise(). "
      "Or it takes one list of AnyCase, which is not const.");
  if constexpr (kAreCases && sizeof...(Cases) > 0) {
    detail::SelectCase* const pointers[] = {&cases...};
    const size_t chosen = detail::selectOne(pointers, sizeof...(Cases));
    size_t index = 0;
    (void)((index++ == chosen && (cases.run(), true)) || ...);
    return chosen;
  } else {
    return 0;
  }
}

// A case of any kind, for a list of cases that is made while the program runs.
//
//   std::vector<weft::AnyCase> cases;
//   for (const weft::Channel<Job>& jobs : queues) {
//     cases.push_back(weft::onReceive(jobs, [&](std::optional<Job> job) { isOver = !job || !run(*job); }));
//   }
//   cases.push_back(weft::onStop(token, [&] { isOver = true; }));
//   while (!isOver) {
//     weft::select(cases);
//   }
// It owns what it uses: the value of an onSend(), which is moved in at once, the token of an onStop(), and a
// handle of its channel, event or semaphore. Move-only; one allocation, and none when it is used again. An
// onTimeout() of a duration is a point in time, too: put a new one in its place to wait as long again.
class AnyCase {
 public:
  // Errors: what `one`'s value or handler throws when it is moved.
  template <class Case>
    requires detail::IsSelectCase<Case>
  explicit(false) AnyCase(Case&& one)
      : erased_(
            std::make_shared<detail::ErasedCaseOf<typename detail::ErasedFrom<Case>::type>>(std::move(one))) {
  }
  AnyCase(AnyCase&&) noexcept = default;
  AnyCase& operator=(AnyCase&&) noexcept = default;
  ~AnyCase() = default;

 private:
  friend struct detail::AnyCases;
  std::shared_ptr<detail::ErasedCase> erased_;
};

// select() with the cases of a list, such as a std::vector<AnyCase> or a std::span<AnyCase>. The list may be
// used again, also by a handler, which may also change the list, or destroy it.
// Requires: nobody else uses the list until the handler is called. The list is not empty. No case of it was
// moved from, or is an onSend() whose value was sent: put a new one in its place, or take it out.
// Returns: the index of the case in the list.
template <class List>
  requires detail::IsCaseList<List>
size_t select(List&& cases) {
  return detail::selectFrom(std::data(cases), std::size(cases));
}

}  // namespace weft::inline v0_1

#include "weft/detail/base/macros_end.h"
