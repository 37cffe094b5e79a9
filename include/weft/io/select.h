// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <poll.h>

#include <concepts>
#include <type_traits>
#include <utility>

#include "weft/detail/channel/cases.h"
#include "weft/detail/io/exit_case.h"
#include "weft/detail/io/readiness_case.h"
#include "weft/detail/io/signal_case.h"
#include "weft/io/process.h"
#include "weft/io/signals.h"
#include "weft/select.h"

// Cases of weft::select() for what comes from outside of the program. Needs the library weft::io.
//
//   weft::select(weft::io::onReadable(fd, [&] { count = weft::io::read(fd, buffer); }),
//                weft::onReceive(orders, [&](std::optional<int> order) { isOver = !order; }),
//                weft::onTimeout(std::chrono::seconds(5), [] { std::puts("idle"); }));
// A case that is not chosen has no effect. Those of one descriptor wait in line with the operations of fibers
// on it. A select() with such a case works on fibers and on threads, but not on a thread that has a wait
// handler: there a message ends the program. See docs/io.md#select.
namespace weft::inline v0_1::io {

// A case that happens when a read of `fd` would not wait, or a write to it, as poll(2) tells, and calls
// handler(). It reads and writes nothing. If others use the descriptor, they may be faster than the handler:
// read with a deadline in the past then. A disk file is always ready.
// The case also happens, so that the operation that follows tells the error, if `fd` is no open descriptor,
// if io::close() closes it meanwhile, after io::cancelAll(), and where the system refuses to wait for it.
// Lifetime: while select() waits, only io::close() may close the descriptor, or whoever else requests a stop.
template <class Handler = detail::Ignore>
[[nodiscard]] auto onReadable(int fd, Handler handler = {}) {
  return detail::PlainCase<Handler, detail::DescriptorCase>(std::move(handler), fd, POLLIN);
}
template <class Handler = detail::Ignore>
[[nodiscard]] auto onWritable(int fd, Handler handler = {}) {
  return detail::PlainCase<Handler, detail::DescriptorCase>(std::move(handler), fd, POLLOUT);
}

// A case that happens when the program of `process` has ended, and calls handler(Exit), or handler(). Then
// Process::wait() gives the same Exit at once.
// Requires: there is a program; otherwise a message ends this one.
// Errors: select() throws std::system_error, and calls no handler: no_child_process as wait() does,
// operation_canceled after io::cancelAll(), or what the system answers if it refuses to wait.
// Lifetime: refers to `process`, which must live until select() returns, or as long as an AnyCase of it.
template <class P, class Handler = detail::Ignore>
[[nodiscard]] auto onExit(P&& process, Handler handler = {}) {
  constexpr bool kIsProcess = std::is_same_v<std::remove_cvref_t<P>, Process>;
  constexpr bool kLives = !kIsProcess || std::is_lvalue_reference_v<P>;
  constexpr bool kCanBeCalled = std::invocable<Handler&, Exit> || std::invocable<Handler&>;
  static_assert(kIsProcess, "onExit(process, handler): the first argument is a weft::io::Process.");
  static_assert(
      kLives,
      "onExit(process, handler) refers to the Process, which must live until select() has returned. "
      "Give the temporary a name, and pass that without std::move().");
  static_assert(kCanBeCalled,
                "onExit(process, handler): the handler takes how the program ended, or nothing. "
                "Write onExit(process, [&](weft::io::Exit exit) { ... }).");
  if constexpr (kIsProcess && kLives && kCanBeCalled) {
    return detail::SubjectCase<detail::ExitCase, Handler>("onExit()", std::move(handler), process);
  } else {
    return detail::PlainCase<detail::Ignore>(detail::Ignore());
  }
}

// A case that takes a signal that has come, as from.next() does, and calls handler(SignalInfo), or handler().
// A signal is taken only if this case is chosen. If another was faster, select() goes on waiting.
// Errors: select() throws std::system_error, and calls no handler: operation_canceled after Signals::close()
// and io::cancelAll(), bad_file_descriptor if `from` has no descriptor, or what the system answers.
// Lifetime: refers to `from`, which must live until select() returns, or as long as an AnyCase of it.
template <class S, class Handler = detail::Ignore>
[[nodiscard]] auto onNext(S&& from, Handler handler = {}) {
  constexpr bool kIsSignals = std::is_same_v<std::remove_reference_t<S>, Signals>;
  constexpr bool kLives = !kIsSignals || std::is_lvalue_reference_v<S>;
  constexpr bool kCanBeCalled = std::invocable<Handler&, const SignalInfo&> || std::invocable<Handler&>;
  static_assert(kIsSignals,
                "onNext(signals, handler): the first argument is a weft::io::Signals, not const.");
  static_assert(
      kLives,
      "onNext(signals, handler) refers to the Signals, which must live until select() has returned. "
      "Give the temporary a name, and pass that without std::move().");
  static_assert(kCanBeCalled,
                "onNext(signals, handler): the handler takes the signal, or nothing. "
                "Write onNext(signals, [&](const weft::io::SignalInfo& signal) { ... }).");
  if constexpr (kIsSignals && kLives && kCanBeCalled) {
    return detail::SubjectCase<detail::SignalCase, Handler>("onNext()", std::move(handler), from);
  } else {
    return detail::PlainCase<detail::Ignore>(detail::Ignore());
  }
}

}  // namespace weft::inline v0_1::io

#include "weft/detail/base/macros_end.h"
