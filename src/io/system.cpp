// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "io/system.h"

#include <sys/syscall.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <limits>

#include "weft/detail/base/deadline.h"

namespace weft::inline v0_1::detail {
namespace {

// The time that is left, for calls that take it as such. Null for kNever.
class TimeLeft {
 public:
  explicit TimeLeft(TimePoint deadline) : isBounded_(deadline != kNever) {
    using std::chrono::nanoseconds;
    // A deadline long ago is further away than a number may say.
    if (isBounded_ && deadline != TimePoint::min()) {
      const TimePoint now = TimePoint::clock::now();
      left_ = deadline > now ? nanoseconds(deadline - now).count() : 0;
    }
    time_.tv_sec = static_cast<time_t>(left_ / 1'000'000'000);
    time_.tv_nsec = static_cast<long>(left_ % 1'000'000'000);
  }

  const timespec* get() const { return isBounded_ ? &time_ : nullptr; }
  // Rounded up.
  int milliseconds() const {
    const int64_t rounded = (left_ + 999'999) / 1'000'000;
    return isBounded_ ? static_cast<int>(std::min<int64_t>(rounded, std::numeric_limits<int>::max())) : -1;
  }

 private:
  const bool isBounded_;
  int64_t left_ = 0;
  timespec time_{};
};

}  // namespace

// Before Linux 5.11, and in a sandbox that knows no newer calls, there is only a wait by milliseconds.
int WaitCalls::wait(int epoll, epoll_event* events, int most, TimePoint deadline) {
  static std::atomic<bool> isByMilliseconds{false};
  const TimeLeft left(deadline);
#ifdef SYS_epoll_pwait2
  // relaxed: a thread that does not see it finds out by a call.
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

int WaitCalls::poll(pollfd* descriptors, nfds_t count, TimePoint deadline) {
  return ::ppoll(descriptors, count, TimeLeft(deadline).get(), nullptr);
}

}  // namespace weft::inline v0_1::detail
