// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <sys/types.h>

#include <mutex>

#include "weft/io/descriptor.h"
#include "weft/io/process.h"

namespace weft::inline v0_1::detail {

// A process that this one has started. Until it is reaped its number means nothing else, so all that uses the
// number holds the lock under which it is reaped.
// The wait is for the readiness of a pidfd. Where the system refuses one (before Linux 5.3, in sandboxes),
// the wait looks again and again, after pauses. Rejected: a thread of blocking_call() in waitid(2), which
// neither a deadline nor a stop could end.
class ChildProcess {
 public:
  explicit ChildProcess(bool isGroup) : isGroup_(isGroup) {}

  // Takes over the process `pid`.
  void begin(pid_t pid) noexcept;
  // Waits until it has ended, and reaps it.
  // Returns: 0, or an error number; ECHILD: somebody else has reaped it.
  int await(const io::Wait& limits, const char* what) noexcept;
  // Returns: 0 if it has ended, and is reaped; otherwise -1, with errno: EAGAIN while it runs, or ECHILD.
  ssize_t tryReap() noexcept;
  // Sends `signal` to it, or to its group. Returns: 0, or an error number; ESRCH: it has ended.
  int send(int signal) noexcept;
  // Kills it if it runs, and reaps it.
  void end() noexcept;
  // Returns: its number if it is still to be reaped; else -1.
  pid_t give() noexcept;

  pid_t pid() const noexcept { return pid_; }
  int pidfd() const noexcept { return pidfd_.get(); }  // -1 where the system refuses one
  io::Exit exit() noexcept;

 private:
  enum class State { Running, Reaped, Lost };

  int sendByNumber(int signal) const noexcept;

  const bool isGroup_;
  pid_t pid_ = -1;
  io::UniqueFd pidfd_;
  std::mutex lock_;
  State state_ = State::Running;  // guarded by lock_, as is exit_
  io::Exit exit_;
};

}  // namespace weft::inline v0_1::detail
