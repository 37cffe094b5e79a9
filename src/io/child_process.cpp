// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "io/child_process.h"

#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "io/io_call.h"
#include "io/io_retry.h"
#include "io/system.h"

namespace weft::inline v0_1::detail {
namespace {

// Return: as the calls of these names; ENOSYS where the system's headers are older than the call.
int openPidfd([[maybe_unused]] pid_t pid) noexcept {
#ifdef SYS_pidfd_open
  return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
#else
  errno = ENOSYS;
  return -1;
#endif
}

int signalPidfd([[maybe_unused]] int pidfd, [[maybe_unused]] int signal) noexcept {
#ifdef SYS_pidfd_send_signal
  return static_cast<int>(::syscall(SYS_pidfd_send_signal, pidfd, signal, nullptr, 0));
#else
  errno = ENOSYS;
  return -1;
#endif
}

// waitid(2) for its end. Returns: 1 if it has ended, 0 if not, or -1.
int waitForEnd(pid_t pid, int options, siginfo_t& info) noexcept {
  int result = 0;
  do {
    info.si_pid = 0;
    result = ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | options);
  } while (result != 0 && errno == EINTR);
  return result != 0 ? -1 : info.si_pid != 0 ? 1 : 0;
}

}  // namespace

void ChildProcess::begin(pid_t pid) noexcept {
  pid_ = pid;
  pidfd_.reset(openPidfd(pid));
}

ssize_t ChildProcess::tryReap() noexcept {
  const std::scoped_lock guard(lock_);
  if (state_ == State::Running) {
    siginfo_t info{};
    const int found = waitForEnd(pid_, WNOHANG, info);
    if (found == 0) {
      errno = EAGAIN;
      return -1;
    }
    state_ = found > 0 ? State::Reaped : State::Lost;
    if (found > 0) {
      exit_ = info.si_code == CLD_EXITED ? io::Exit{info.si_status, 0} : io::Exit{-1, info.si_status};
    }
  }
  errno = ECHILD;
  return state_ == State::Reaped ? 0 : -1;
}

int ChildProcess::await(const io::Wait& limits, const char* what) noexcept {
  IoRetry<IoSystem> retry(pidfd_.get(), limits, what);
  const auto attempt = [this] { return tryReap(); };
  const IoResult result = pidfd_ ? retry.run(POLLIN, attempt) : retry.runWithPauses(attempt);
  // It may have ended just after the wait did.
  return result.error == 0 || tryReap() == 0 ? 0 : result.error;
}

int ChildProcess::send(int signal) noexcept {
  const std::scoped_lock guard(lock_);
  siginfo_t info{};
  if (state_ != State::Running) {
    return ESRCH;
  }
  const int found = waitForEnd(pid_, WNOHANG | WNOWAIT, info);
  // The group may outlive the process that has begun it, whose number it keeps.
  if (found < 0 || (found > 0 && !isGroup_)) {
    return ESRCH;
  }
  return sendByNumber(signal);
}

int ChildProcess::sendByNumber(int signal) const noexcept {
  // A sandbox may know the one call for pidfds, and refuse the other.
  if (!isGroup_ && pidfd_ && signalPidfd(pidfd_.get(), signal) == 0) {
    return 0;
  }
  return ::kill(isGroup_ ? -pid_ : pid_, signal) == 0 ? 0 : errno;
}

void ChildProcess::end() noexcept {
  if (tryReap() == 0 || errno != EAGAIN) {
    return;
  }
  send(SIGKILL);
  if (const int error = await({}, "io::~Process"); error == 0 || error == ECHILD) {
    return;
  }
  // cancelAll() has ended the wait, or no descriptor is left for it.
  const auto block = [this] {
    siginfo_t info{};
    waitForEnd(pid_, WNOWAIT, info);
  };
  if (mayBlockThread() || onBlockingThread(block) != 0) {
    block();
  }
  tryReap();
}

pid_t ChildProcess::give() noexcept {
  const std::scoped_lock guard(lock_);
  return state_ == State::Running ? pid_ : -1;
}

io::Exit ChildProcess::exit() noexcept {
  const std::scoped_lock guard(lock_);
  return exit_;
}

}  // namespace weft::inline v0_1::detail
