// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// What the kernel says about this process: memory and processor time.

#pragma once

#include <time.h>

#include <cstdint>
#include <cstdio>
#include <cstring>

namespace bench {

// Returns: the number behind `key` in a file of /proc such as "/proc/self/status", -1 if there is none.
inline int64_t procField(const char* path, const char* key) {
  std::FILE* file = std::fopen(path, "r");
  if (!file) {
    return -1;
  }
  char line[256];
  long long value = -1;
  size_t length = std::strlen(key);
  while (std::fgets(line, sizeof(line), file)) {
    if (std::strncmp(line, key, length) == 0 && line[length] == ':') {
      std::sscanf(line + length + 1, "%lld", &value);
      break;
    }
  }
  std::fclose(file);
  return value;
}

// Peak since exec. getrusage's ru_maxrss would include what the parent had resident before the exec.
inline int64_t peakResidentKib() { return procField("/proc/self/status", "VmHWM"); }

// Exact, unlike VmRSS, which lags behind by some pages per processor; walks the page tables, so takes a
// while.
inline int64_t residentKib() { return procField("/proc/self/smaps_rollup", "Rss"); }

inline int64_t pageTableKib() { return procField("/proc/self/status", "VmPTE"); }

inline double secondsOf(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

// Processor time of all threads of this process, and of the calling thread.
inline double processCpuSeconds() { return secondsOf(CLOCK_PROCESS_CPUTIME_ID); }
inline double threadCpuSeconds() { return secondsOf(CLOCK_THREAD_CPUTIME_ID); }

}  // namespace bench
