// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/detail/io/exit_case.h"

#include <poll.h>
#include <sys/timerfd.h>

#include <algorithm>
#include <cerrno>

#include "io/child_process.h"

namespace weft::inline v0_1::detail {

ExitCase::ExitCase(const io::Process& process) : ReadinessCase(POLLIN), process_(process) {}

void ExitCase::check() const { throwError("io::onExit"); }

void ExitCase::find() {
  const int pidfd = process_.child("onExit()").pidfd();
  if (pidfd >= 0) {
    awaitFd(pidfd, nullptr);
  } else {
    awaitTimer();
  }
}

bool ExitCase::take() {
  ChildProcess& child = process_.child("onExit()");
  if (child.tryReap() != 0) {
    return errno != EAGAIN && fail(errno);
  }
  exit_ = child.exit();
  return succeed();
}

void ExitCase::awaitTimer() {
  constexpr std::chrono::milliseconds kLongest{50};
  if (!timer_) {
    timer_.reset(::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC));
  }
  itimerspec next{};
  next.it_value.tv_nsec = std::chrono::nanoseconds(pause_).count();
  if (!timer_ || ::timerfd_settime(timer_.get(), 0, &next, nullptr) != 0) {
    fail(errno);
    return;
  }
  pause_ = std::min(2 * pause_, kLongest);
  awaitFd(timer_.get(), nullptr);
}

}  // namespace weft::inline v0_1::detail
