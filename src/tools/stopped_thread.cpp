// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "tools/stopped_thread.h"

#include <elf.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <iterator>
#include <string>

#include "inspect/proc_path.h"
#include "tools/thread_registers.h"

namespace weft::inline v0_1::detail::tools {
namespace {

using inspect::Registers;

constexpr std::chrono::milliseconds kMostWait{100};
constexpr int kSpins = 50;

// Returns: the signal for which the thread has stopped, and which it gets when it goes on; 0: none. A signal
// that comes before the interruption makes that void.
int signalOf(int status) { return status >> 16 == PTRACE_EVENT_STOP ? 0 : WSTOPSIG(status); }

}  // namespace

SystemCalls::~SystemCalls() {
  for (const auto& [thread, file] : files_) {
    close(file);
  }
}

std::optional<SystemCall> SystemCalls::of(int threadId) {
  auto file = files_.find(threadId);
  if (file == files_.end()) {
    const inspect::ProcPath path(processId_, "task/" + std::to_string(threadId) + "/syscall");
    const int opened = open(path.text(), O_RDONLY | O_CLOEXEC);
    if (opened < 0) {
      return std::nullopt;
    }
    file = files_.emplace(threadId, opened).first;
  }
  char text[256] = "";
  const ssize_t size = pread(file->second, text, sizeof text - 1, 0);
  if (size <= 0) {
    close(file->second);
    files_.erase(file);
  }
  // "running", or the number, six arguments unless that is -1, the stack pointer and the pc.
  char* rest = text;
  SystemCall call;
  call.number = std::strtoll(text, &rest, 10);
  if (rest == text) {
    return std::nullopt;
  }
  unsigned long long stackPointer = 0;
  unsigned long long pc = 0;
  for (int left = call.number < 0 ? 2 : 8; left != 0; --left) {
    stackPointer = pc;
    pc = std::strtoull(rest, &rest, 16);
  }
  call.registers.set(Registers::kStackPointer, stackPointer);
  call.registers.set(Registers::kPc, pc);
  call.registers.isInterrupted = true;
  return call;
}

// As signal(7) has them, under "Interruption of system calls and library functions by stop signals".
bool survivesStop(const SystemCall& call) {
  static constexpr int64_t kEnded[] = {
      SYS_epoll_wait, SYS_epoll_pwait, SYS_epoll_pwait2, SYS_io_getevents,    SYS_io_pgetevents,  SYS_semop,
      SYS_semtimedop, SYS_msgrcv,      SYS_msgsnd,       SYS_rt_sigtimedwait, SYS_io_uring_enter,
  };
  return std::ranges::find(kEnded, call.number) == std::end(kEnded);
}

ThreadStopper::Stop::Stop(int threadId, std::set<int>& overdue) : threadId_(threadId) {
  if (!overdue.contains(threadId)) {
    if (ptrace(PTRACE_SEIZE, threadId, 0, 0) != 0) {
      error_ = errno;
      return;
    }
    (void)ptrace(PTRACE_INTERRUPT, threadId, 0, 0);  // fails where the thread ends, which await() sees
  }
  if (!await()) {
    error_ == ETIMEDOUT ? (void)overdue.insert(threadId) : (void)overdue.erase(threadId);
    return;
  }
  overdue.erase(threadId);
  user_regs_struct members{};
  iovec part{&members, sizeof members};
  if (ptrace(PTRACE_GETREGSET, threadId, NT_PRSTATUS, &part) == 0) {
    registers_ =
        registersOf({reinterpret_cast<const uint64_t*>(&members), sizeof members / sizeof(uint64_t)});
  } else {
    error_ = errno;
  }
}

// Returns: whether the thread has stopped.
bool ThreadStopper::Stop::await() {
  const auto end = std::chrono::steady_clock::now() + kMostWait;
  for (int i = 0;; ++i) {
    int status = 0;
    const pid_t who = waitpid(threadId_, &status, __WALL | WNOHANG);
    if (who != 0) {
      isStopped_ = who == threadId_ && WIFSTOPPED(status);
      error_ = isStopped_ ? 0 : ESRCH;
      signal_ = isStopped_ ? signalOf(status) : 0;
      return isStopped_;
    }
    if (std::chrono::steady_clock::now() > end) {
      error_ = ETIMEDOUT;
      return false;
    }
    i < kSpins ? (void)sched_yield() : (void)usleep(100);
  }
}

ThreadStopper::Stop::~Stop() {
  if (isStopped_) {
    (void)ptrace(PTRACE_DETACH, threadId_, 0, signal_);
  }
}

void ThreadStopper::releaseOverdue() {
  std::erase_if(overdue_, [](int threadId) {
    int status = 0;
    const pid_t who = waitpid(threadId, &status, __WALL | WNOHANG);
    if (who == threadId && WIFSTOPPED(status)) {
      (void)ptrace(PTRACE_DETACH, threadId, 0, signalOf(status));
    }
    return who != 0;
  });
}

}  // namespace weft::inline v0_1::detail::tools
