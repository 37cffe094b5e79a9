// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/language.h"
#include "weft/detail/base/macros_begin.h"

#include <signal.h>
#include <sys/types.h>

#include <initializer_list>
#include <optional>
#include <span>
#include <system_error>
#include <utility>

#include "weft/export.h"
#include "weft/io/descriptor.h"

namespace weft::inline v0_1::detail {
class SignalCase;
}

namespace weft::inline v0_1::io {

// A signal that has come, and what sigaction(2) says of it in a siginfo_t.
struct SignalInfo {
  int number = 0;                      // such as SIGTERM; 0 after an error
  int code = 0;                        // why it came: SI_USER, SI_QUEUE, CLD_EXITED, ...
  pid_t sender = 0;                    // the process that sent it; with SIGCHLD the child
  uid_t user = 0;                      // the real user of that process
  int status = 0;                      // with SIGCHLD: the child's exit status, or the signal that ended it
  sigval value{.sival_ptr = nullptr};  // what sigqueue(3) or a timer gave
};

// Signals of the system as something to wait for: a signalfd(2), whose descriptor it owns. This server ends
// at Ctrl-C and at SIGTERM:
//
//   weft::io::Signals signals({SIGINT, SIGTERM});  // first in main(): threads inherit the mask
//   weft::Scheduler scheduler(weft::Scheduler::Config::allCores());
//   weft::Scheduler::Binding bound(scheduler);
//   std::stop_source stop;
//   const weft::io::Wait untilStop{.stop = stop.get_token()};
//   std::error_code error;
//   weft::parallelize([&] { signals.next(error, untilStop), stop.request_stop(); },
//                     [&] { weft::io::serve(listener, handler, untilStop), stop.request_stop(); });
//
// The signals are blocked, so that their handlers and default actions do not run. That takes all threads: the
// system gives a signal of the process to any thread that does not block it. A signal that is sent to one
// thread, as raise(3) does, is seen by waits on that thread only. A standard signal that comes again before
// it was taken counts once. Real-time signals (SIGRTMIN and later) queue, in order. Several fibers and
// threads may wait: each signal goes to one of them.
// Lifetime: must not be moved to, or destroyed, while others use it. See docs/io.md#signals.
class Signals {
 public:
  // Has no descriptor.
  Signals() = default;
  // Blocks the signals in the calling thread, and makes a signalfd for them, which does not block and is
  // closed by exec(3). Threads inherit what is blocked: make it before the scheduler and other threads.
  // Errors: std::system_error, and the mask is as it was. invalid_argument if no signal is given, or one that
  // cannot be awaited: SIGKILL, SIGSTOP, one of faulty instructions such as SIGSEGV, or one of the C library.
  // operation_not_permitted if another thread does not block the signals: the text has its name.
  WEFT_EXPORT explicit Signals(std::span<const int> numbers);
  Signals(std::initializer_list<int> numbers)
      : Signals(std::span<const int>(numbers.begin(), numbers.size())) {}
  Signals(Signals&&) noexcept = default;
  Signals& operator=(Signals&&) noexcept = default;
  // Closes the descriptor, as close() does. The signals stay blocked, since one that has come and was not
  // taken would act at once: often it would end the program. Whoever wants that calls pthread_sigmask(3).
  ~Signals() = default;

  // Waits until one of the signals has come, and takes it. Suspends the fiber, or blocks the thread.
  // Returns: what came; after an error SignalInfo(), whose number is 0.
  WEFT_EXPORT SignalInfo next(const Wait& wait = {});
  WEFT_EXPORT SignalInfo next(std::error_code& error, const Wait& wait = {}) noexcept;
  // Takes a signal that has come. Does not wait.
  // Returns: the signal, or nothing if none is there, which is no error.
  WEFT_EXPORT std::optional<SignalInfo> tryNext();
  WEFT_EXPORT std::optional<SignalInfo> tryNext(std::error_code& error) noexcept;

  // As UniqueFd::get(), operator bool and release(), for the descriptor.
  int fd() const noexcept { return fd_.get(); }
  explicit operator bool() const noexcept { return static_cast<bool>(fd_); }
  UniqueFd release() noexcept { return std::move(fd_); }
  // Closes the descriptor, as Socket::close() does: waits of fibers end with operation_canceled.
  void close() noexcept { fd_.reset(); }

 private:
  friend class detail::SignalCase;
  UniqueFd fd_;
};

}  // namespace weft::inline v0_1::io

#include "weft/detail/base/macros_end.h"
