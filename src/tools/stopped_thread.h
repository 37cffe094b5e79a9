// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "inspect/unwinder.h"

namespace weft::inline v0_1::detail::tools {

// A system call in which a thread waits.
struct SystemCall {
  int64_t number = -1;           // -1: none; it waits for a page, or the like
  inspect::Registers registers;  // those that are known: the stack pointer and the pc
};

// Tells in which system calls the threads of a process wait. Keeps a file open for each.
class SystemCalls {
 public:
  explicit SystemCalls(int processId) : processId_(processId) {}
  ~SystemCalls();
  SystemCalls(const SystemCalls&) = delete;
  SystemCalls& operator=(const SystemCalls&) = delete;

  // Returns: nothing, if the thread computes or has ended, or if the system does not tell.
  std::optional<SystemCall> of(int threadId);

 private:
  const int processId_;
  std::map<int, int> files_;  // descriptors, by threads
};

// Returns: whether a stop leaves the call as it is. Some calls, such as epoll_wait(), end with EINTR.
bool survivesStop(const SystemCall& call);

// Stops threads of another process, as a debugger does: for microseconds, with no signal and no handler. What
// a thread would have got meanwhile it gets then. If this program is killed, the thread goes on.
class ThreadStopper {
 public:
  // The thread is stopped while this lives.
  class Stop {
   public:
    ~Stop();
    Stop(const Stop&) = delete;
    Stop& operator=(const Stop&) = delete;

    // Returns: nothing, if it could not be stopped.
    const std::optional<inspect::Registers>& registers() const { return registers_; }
    // Returns: the errno value of what failed; 0: nothing has. EPERM: the system refuses it, or a debugger
    // has the thread. ESRCH: the thread has ended. ETIMEDOUT: it has got no processor, or sleeps in the
    // kernel; it goes on after a later releaseOverdue(), or once this program ends.
    int error() const { return error_; }

   private:
    friend class ThreadStopper;
    Stop(int threadId, std::set<int>& overdue);
    bool await();

    const int threadId_;
    bool isStopped_ = false;
    int signal_ = 0;  // that it was about to get
    int error_ = 0;
    std::optional<inspect::Registers> registers_;
  };

  Stop stop(int threadId) { return Stop(threadId, overdue_); }

  // Has those threads go on that have stopped too late.
  void releaseOverdue();

 private:
  std::set<int> overdue_;
};

}  // namespace weft::inline v0_1::detail::tools
