// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>

#include "io/descriptor_table.h"
#include "io/io_call.h"
#include "io/readiness.h"
#include "io/result.h"
#include "io/system.h"
#include "weft/io/descriptor.h"

// Tries a system call that does not block, waits until its descriptor is ready, and tries again.
namespace weft::inline v0_1::detail {

// Calls call(), and calls it again if a signal interrupted it. Returns: its result and errno.
template <class Call>
IoResult resultOf(const Call& call) {
  ssize_t value = 0;
  do {
    value = call();
  } while (value < 0 && errno == EINTR);
  return {value, value < 0 ? errno : 0};
}

inline bool wouldWait(const IoResult& result) {
  return result.error == EAGAIN || result.error == EWOULDBLOCK;
}

// Whether RWF_NOWAIT is unsupported. EPERM comes from a filter, or from a file that refuses plain calls too.
inline bool isUnsupported(const IoResult& result) {
  return result.error == EOPNOTSUPP || result.error == ENOSYS || result.error == EPERM;
}

// One call of the API on a descriptor, which may make several system calls. Each call makes an IoRetry.
template <class Sys>
class IoRetry {
 public:
  IoRetry(int fd, const io::Wait& limits, const char* what, const io::UniqueFd* owner = nullptr)
      : call_(fd, limits, what, owner) {}

  const IoCall& call() const { return call_; }

  // Calls attempt() and takes its result, unless the descriptor was closed since the operation began.
  template <class Attempt>
  IoResult use(const Attempt& attempt) const {
    if (call_.slot == nullptr) {
      return resultOf(attempt);
    }
    if (!beginUse(*call_.slot, call_.began.generation)) {
      return {-1, ECANCELED};
    }
    const IoResult result = resultOf(attempt);
    if (received_ == 0) {
      endUse(*call_.slot);
    } else {
      noteReceived(result);
    }
    return result;
  }

  // Calls attempt(), which never blocks, until it does not fail with EAGAIN. Waits for `events` in between.
  template <class Attempt>
  IoResult run(uint32_t events, const Attempt& attempt) {
    return goOn(use(attempt), events, attempt);
  }

  // Does what run() does after a first attempt, which had `result`.
  template <class Attempt>
  IoResult goOn(IoResult result, uint32_t events, const Attempt& attempt) {
    if (!wouldWait(result)) {
      // After ENOTSOCK the caller calls again at once. A suspension would let others close the descriptor.
      if (result.error != ENOTSOCK) {
        countIo();
      }
      return result;
    }
    for (int numInVain = 0;;) {
      if (const int error = await(events); error != 0) {
        return {-1, error};
      }
      result = use(attempt);
      if (!wouldWait(result)) {
        return result;
      }
      if (const int ended = pauseIfInVain(events, numInVain); ended != 0) {
        return {-1, ended};
      }
    }
  }

  template <class Attempt>
  IoResult runOnce(const Attempt& attempt) {
    const IoResult result = use(attempt);
    countIo();
    return result;
  }

  // run() where the system does not tell when an attempt would succeed. Pauses between attempts, longer each
  // time, so that a thousand such waits leave the processors to others.
  template <class Attempt>
  IoResult runWithPauses(const Attempt& attempt) {
    constexpr std::chrono::milliseconds kLongest{50};
    for (std::chrono::milliseconds time{1};; time = std::min(2 * time, kLongest)) {
      const IoResult result = use(attempt);
      if (!wouldWait(result)) {
        countIo();
        return result;
      }
      if (const int ended = pause(call_, time); ended != 0) {
        return {-1, ended};
      }
    }
  }

  // run() for a Socket that receives `size` bytes. Waits first if the last receive took all there was.
  template <class Attempt>
  IoResult receive(size_t size, const Attempt& attempt) {
    received_ = size;
    const ReadinessReactor* const reactor = call_.slot != nullptr ? knownReactor() : nullptr;
    const bool isDrained = reactor != nullptr && call_.began.drainedFor == reactor->number();
    return isDrained ? runAfterWait(POLLIN, attempt) : run(POLLIN, attempt);
  }

  // Returns: whether one of `events` holds, which it stores in `found`. If not, errno is EAGAIN or the error.
  bool isReady(uint32_t events, short* found = nullptr) {
    if (call_.fd < 0) {
      errno = EBADF;  // poll(2) ignores negative descriptors
      return false;
    }
    pollfd descriptor{call_.fd, static_cast<short>(events), 0};
    const int count = Sys::poll(&descriptor, 1, TimePoint::min());
    if (count <= 0 || (descriptor.revents & POLLNVAL) != 0) {
      errno = count == 0 ? EAGAIN : count > 0 ? EBADF : errno;
      return false;
    }
    if (found != nullptr) {
      *found = descriptor.revents;
    }
    return true;
  }

 private:
  // Waits until one of `events` holds. Returns: 0, or an error number.
  int await(uint32_t events) const {
    return currentFiber == nullptr ? awaitOutsideOfFibers<Sys>(call_, events)
                                   : awaitOnFiber<Sys>(call_, events, received_ != 0);
  }

  // Called after an attempt in vain. Pauses if the next wait would end at once, again and again: if nobody
  // reads the error queue, or if the descriptor is ready for less than is asked for (a peek at an offset
  // where nothing is yet, or an eventfd without room for the number). Others may also have taken what was
  // ready. So it pauses at once if only errors are there, else after several attempts in a row (`numInVain`).
  [[gnu::cold, gnu::noinline]] int pauseIfInVain(uint32_t events, int& numInVain) {
    constexpr int kMostInVain = 8;
    short found = 0;
    if (use([&] { return isReady(events, &found) ? 0 : -1; }).error != 0) {
      numInVain = 0;
      return 0;
    }
    const uint32_t wanted = events & ~uint32_t{POLLERR};
    const bool isForErrors = (static_cast<uint32_t>(found) & wanted) == 0;
    numInVain = std::min(numInVain + 1, kMostInVain);
    return isForErrors || numInVain == kMostInVain ? pause(call_, std::chrono::milliseconds(1)) : 0;
  }

  // Waits, then tries. Tries even if a deadline or a stop ended the wait, since the data may be there.
  template <class Attempt>
  IoResult runAfterWait(uint32_t events, const Attempt& attempt) {
    const int error = await(events);
    const IoResult result = use(attempt);
    if (error == 0) {
      return wouldWait(result) ? goOn(result, events, attempt) : result;
    }
    countIo();
    return wouldWait(result) ? IoResult{-1, error} : result;
  }

  void noteReceived(const IoResult& result) const {
    const ReadinessReactor* const reactor = knownReactor();
    if (reactor == nullptr) {
      return endUse(*call_.slot);
    }
    const bool isTooLittle = result.value > 0 && static_cast<size_t>(result.value) < received_;
    endReceive(*call_.slot, *reactor,
               wouldWait(result) ? Found::Nothing
               : isTooLittle     ? Found::TooLittle
                                 : Found::Enough);
  }

  const IoCall call_;
  size_t received_ = 0;  // the bytes that receive() asks for; 0 in other operations
};

}  // namespace weft::inline v0_1::detail
