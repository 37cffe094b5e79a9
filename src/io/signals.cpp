// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/io/signals.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <optional>
#include <string>

#include "io/io_retry.h"
#include "io/result.h"
#include "io/unblocked_thread.h"

namespace weft::inline v0_1::io {
namespace {

using SignalReads = detail::IoRetry<detail::IoSystem>;

[[noreturn]] void refuseSignals(int error, const std::string& why) {
  throw std::system_error(detail::toErrorCode(error), "weft::io::Signals: " + why);
}

std::string nameOfSignal(int number) {
  return "signal " + std::to_string(number) + " (" + ::strsignal(number) + ")";
}

// Why a signal cannot be waited for, or null. Whether it has a valid number is left to sigaddset(3).
const char* whyNever(int number) {
  constexpr int kOfInstructions[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
  if (number == SIGKILL || number == SIGSTOP) {
    return "cannot be awaited: the system acts on it at once.";
  }
  if (std::find(std::begin(kOfInstructions), std::end(kOfInstructions), number) !=
      std::end(kOfInstructions)) {
    return "cannot be awaited: it tells a thread of its own faulty instruction, and ends the program if it "
           "is blocked.";
  }
  return nullptr;
}

sigset_t setOfSignals(std::span<const int> numbers) {
  if (numbers.empty()) {
    refuseSignals(EINVAL, "there is no signal to wait for. Give it one, such as SIGTERM.");
  }
  sigset_t result;
  sigemptyset(&result);
  for (const int number : numbers) {
    if (const char* const why = whyNever(number)) {
      refuseSignals(EINVAL, nameOfSignal(number) + " " + why);
    }
    if (sigaddset(&result, number) != 0) {
      refuseSignals(EINVAL, "the number " + std::to_string(number) +
                                " is no signal, or one that the C library keeps for itself.");
    }
  }
  return result;
}

// Blocks signals in this thread, until its end unless keep() was called.
class SignalBlock {
 public:
  explicit SignalBlock(const sigset_t& signals) { ::pthread_sigmask(SIG_BLOCK, &signals, &before_); }
  ~SignalBlock() {
    if (!isKept_) {
      ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    }
  }
  SignalBlock(const SignalBlock&) = delete;
  SignalBlock& operator=(const SignalBlock&) = delete;

  void keep() { isKept_ = true; }

 private:
  sigset_t before_{};
  bool isKept_ = false;
};

// Once all threads block the signals, those that they start do too.
UniqueFd openSignals(const sigset_t& signals) {
  SignalBlock block(signals);
  if (const auto found = detail::findUnblockedThread(signals)) {
    refuseSignals(EPERM, "thread " + std::to_string(found->number) + " (" + found->name +
                             ") does not block " + nameOfSignal(found->signal) +
                             ", which may then never be awaited, but act there. Make the Signals before the "
                             "scheduler and other threads, which inherit what is blocked.");
  }
  UniqueFd made(::signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC));
  if (!made) {
    refuseSignals(errno, "signalfd(2)");
  }
  block.keep();
  return made;
}

// Reads one signal. As the system call itself, returns -1 and sets errno if there is none.
ssize_t readSignal(int fd, signalfd_siginfo& signal) {
  const iovec part{&signal, sizeof signal};
  return detail::IoSystem::readBlocking(fd, &part, 1, -1);  // a signalfd of Signals never blocks
}

SignalInfo toSignalInfo(const signalfd_siginfo& signal) {
  SignalInfo info;
  info.number = static_cast<int>(signal.ssi_signo);
  info.code = signal.ssi_code;
  info.sender = static_cast<pid_t>(signal.ssi_pid);
  info.user = static_cast<uid_t>(signal.ssi_uid);
  info.status = signal.ssi_status;
  info.value.sival_ptr = reinterpret_cast<void*>(static_cast<uintptr_t>(signal.ssi_ptr));
  return info;
}

}  // namespace

Signals::Signals(std::span<const int> numbers) : fd_(openSignals(setOfSignals(numbers))) {}

SignalInfo Signals::next(std::error_code& error, const Wait& wait) noexcept {
  const int number = fd();
  signalfd_siginfo signal{};
  SignalReads operation(number, wait, "io::Signals::next", &fd_);
  error = detail::toErrorCode(operation.run(POLLIN, [&] { return readSignal(number, signal); }).error);
  return error ? SignalInfo() : toSignalInfo(signal);
}

SignalInfo Signals::next(const Wait& wait) {
  return detail::orThrow("io::Signals::next", fd(), [&](auto& error) { return next(error, wait); });
}

std::optional<SignalInfo> Signals::tryNext(std::error_code& error) noexcept {
  const int number = fd();
  const Wait noWait;
  signalfd_siginfo signal{};
  SignalReads operation(number, noWait, "io::Signals::tryNext", &fd_);
  const detail::IoResult result = operation.runOnce([&] { return readSignal(number, signal); });
  error = detail::toErrorCode(detail::wouldWait(result) ? 0 : result.error);
  return result.error == 0 ? std::optional(toSignalInfo(signal)) : std::nullopt;
}

std::optional<SignalInfo> Signals::tryNext() {
  return detail::orThrow("io::Signals::tryNext", fd(), [&](auto& error) { return tryNext(error); });
}

}  // namespace weft::inline v0_1::io
