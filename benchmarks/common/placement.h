// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// What the clients of servers share: where both run, and the server's processor time.

#pragma once

#include <dirent.h>
#include <sched.h>
#include <time.h>

#include <cstdlib>
#include <string>

#include "harness.h"

namespace bench {

// Where the threads of the server and of this process run, while it lives.
class Placement {
 public:
  explicit Placement(pid_t server) : server_(server) {
    sched_getaffinity(0, sizeof all_, &all_);
    int first = -1, last = -1;
    for (int i = 0; i < CPU_SETSIZE; i++) {
      if (CPU_ISSET(i, &all_)) {
        first = first < 0 ? i : first;
        last = i;
      }
    }
    isAlone_ = first != last;
    pinServer(only(first));
    const cpu_set_t own = only(last);
    sched_setaffinity(0, sizeof own, &own);
  }
  ~Placement() { pinServer(all_); }
  Placement(const Placement&) = delete;
  Placement& operator=(const Placement&) = delete;

  // Whether the server runs elsewhere.
  bool isAlone() const { return isAlone_; }

 private:
  static cpu_set_t only(int processor) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(processor, &set);
    return set;
  }

  void pinServer(const cpu_set_t& set) const {
    DIR* threads = opendir(("/proc/" + std::to_string(server_) + "/task").c_str());
    check(threads != nullptr, "the server's threads");
    while (const dirent* entry = readdir(threads)) {
      if (const int thread = std::atoi(entry->d_name); thread > 0) {
        sched_setaffinity(thread, sizeof set, &set);
      }
    }
    closedir(threads);
  }

  const pid_t server_;
  cpu_set_t all_;
  bool isAlone_ = false;
};

// Returns: the processor time of all threads of a process, in seconds.
inline double cpuSecondsOf(pid_t process) {
  clockid_t clock = 0;
  check(clock_getcpuclockid(process, &clock) == 0, "the clock of the server");
  return secondsOf(clock);
}

}  // namespace bench
