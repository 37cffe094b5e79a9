// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "io/system.h"

#include <sys/syscall.h>

#include <atomic>
#include <cerrno>

#include "io/time_left.h"

namespace weft::inline v0_1::detail {

// Before Linux 5.11, and in a sandbox that knows no newer calls, there is only a wait by milliseconds.
int IoSystem::wait(int epoll, epoll_event* events, int most, TimePoint deadline) {
  static std::atomic<bool> isByMilliseconds{false};
  const TimeLeft left(deadline);
#ifdef SYS_epoll_pwait2
  // relaxed: who does not see it finds it out itself.
  if (!isByMilliseconds.load(std::memory_order_relaxed)) {
    const long count = syscall(SYS_epoll_pwait2, epoll, events, most, left.get(), nullptr, 0);
    if (count >= 0 || (errno != ENOSYS && errno != EPERM)) {
      return static_cast<int>(count);
    }
    isByMilliseconds.store(true, std::memory_order_relaxed);
  }
#endif
  return ::epoll_wait(epoll, events, most, left.milliseconds());
}

int IoSystem::poll(pollfd* descriptors, nfds_t count, TimePoint deadline) {
  return ::ppoll(descriptors, count, TimeLeft(deadline).get(), nullptr);
}

}  // namespace weft::inline v0_1::detail
