// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <dirent.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <thread>

// Signals that interrupt whatever the threads of the process do.
namespace weft::tests {

inline constinit std::atomic<uint64_t> numHandled{0};

// Sends SIGUSR1 to all threads of the process, again and again, until it ends.
class Rain {
 public:
  explicit Rain(int flags) {
    struct sigaction action = {};
    action.sa_handler = [](int) { numHandled.fetch_add(1, std::memory_order_relaxed); };
    action.sa_flags = flags;
    sigemptyset(&action.sa_mask);
    sigaction(SIGUSR1, &action, &before_);
    numHandled = 0;
    thread_ = std::thread([this] {
      const auto self = static_cast<pid_t>(syscall(SYS_gettid));
      while (!isOver_) {
        sendToAllBut(self);
        const timespec pause{0, 50'000};
        nanosleep(&pause, nullptr);
      }
    });
  }
  // The handler stays: a signal may still be on its way to a thread.
  ~Rain() {
    isOver_ = true;
    thread_.join();
  }
  Rain(const Rain&) = delete;
  Rain& operator=(const Rain&) = delete;

 private:
  static void sendToAllBut(pid_t self) {
    DIR* const threads = opendir("/proc/self/task");
    while (const dirent* entry = readdir(threads)) {
      const auto thread = static_cast<pid_t>(std::atoi(entry->d_name));
      if (thread > 0 && thread != self) {
        syscall(SYS_tgkill, getpid(), thread, SIGUSR1);  // the thread may have ended
      }
    }
    closedir(threads);
  }

  struct sigaction before_ = {};
  std::atomic<bool> isOver_{false};
  std::thread thread_;
};

}  // namespace weft::tests
