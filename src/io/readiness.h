// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cerrno>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <utility>

#include "io/descriptor_table.h"
#include "io/epoll_reactor.h"
#include "io/io_call.h"
#include "io/system.h"
#include "weft/debug.h"
#include "weft/io/descriptor.h"
#include "weft/waithandler.h"

// How an operation waits until its descriptor is ready.
namespace weft::inline v0_1::detail {

// Returns: the reactor of the current worker; null where it has none, or polls an io_context of Asio.
inline ReadinessReactor* knownReactor() {
  Reactor* const reactor = currentReactor();
  const bool isOfIo = reactor != nullptr && reactor->use() == Reactor::Use::Io;
  return isOfIo ? static_cast<ReadinessReactor*>(reactor) : nullptr;
}

// Returns: the reactor of the current worker, which is made if there is none; or null, with `error`.
template <class Sys>
ReadinessReactor* ownReactor(int& error) noexcept {
  Reactor* reactor = currentReactor();
  if (reactor == nullptr) {
    std::unique_ptr<Reactor> made = EpollReactor<Sys>::make(currentParker(), error);
    reactor = made.get();
    setCurrentReactor(std::move(made));
  } else if (reactor->use() != Reactor::Use::Io) {
    WEFT_FATAL(
        "a fiber waits by weft::io on a worker that polls a weft::AsioContext, and cannot sleep in both. "
        "Run what waits by weft::io on other workers (Scheduler::enqueueOn), or make the AsioContext without "
        "a worker.");
  }
  return static_cast<ReadinessReactor*>(reactor);
}

// Suspends until one of `events` may hold. `mayLast`: see ReadinessWait. Returns: 0, or an error.
template <class Sys>
int awaitOnFiber(const IoCall& call, uint32_t events, bool mayLast) {
  if (call.slot == nullptr) {
    return call.error;
  }
  int error = 0;
  ReadinessReactor* const reactor = ownReactor<Sys>(error);
  if (reactor == nullptr) {
    return error;
  }
  ReadinessWait wait{reactor, currentIoDomain(), events, false, mayLast};
  Waiter& self = currentWaiter();
  self.data = &wait;
  const IoWait scope(reactor);
  error = addWaiter(*call.slot, call.fd, call.began.generation, self);
  if (error != 0) {
    return error == kHasCome ? 0 : error;
  }
  return errorOf(blockInSlot(call, *call.slot, self, call.limits.deadline), wait);
}

// Blocks a thread without fibers in poll(2) until one of `events` holds. Returns: 0, or an error number.
template <class Sys>
int awaitOnThread(int fd, uint32_t events, const io::Wait& limits) {
  pollfd descriptors[2] = {{fd, static_cast<short>(events), 0}, {-1, POLLIN, 0}};
  Parker<>& parker = threadParker();
  const bool isStoppable = limits.stop.stop_possible();
  if (isStoppable) {
    if (!setWakeFdOnce<Sys>(parker)) {
      return errno;
    }
    descriptors[1].fd = parker.wakeFd();
  }
  const std::stop_callback callback(limits.stop, [&parker] { parker.unpark(); });
  for (;;) {
    if (limits.stop.stop_requested()) {
      return ECANCELED;
    }
    // A permit may be left over from something else.
    if (isStoppable && !parker.beginElsewhere()) {
      continue;
    }
    const int count = Sys::poll(descriptors, 2, limits.deadline);
    const int error = errno;
    if (isStoppable) {
      parker.endElsewhere();
      uint64_t wakes = 0;
      (void)!::read(descriptors[1].fd, &wakes, sizeof wakes);
    }
    if (count > 0 && descriptors[0].revents != 0) {
      return (descriptors[0].revents & POLLNVAL) != 0 ? EBADF : 0;
    }
    if (count == 0) {
      return ETIMEDOUT;
    }
    if (count < 0 && error != EINTR) {
      return error;
    }
  }
}

// awaitOnThread(), or if the thread has a wait handler: calls that, while another thread waits.
template <class Sys>
int awaitOutsideOfFibers(const IoCall& call, uint32_t events) {
  if (!hasWaitHandler()) {
    return awaitOnThread<Sys>(call.fd, events, call.limits);
  }
  int result = 0;
  const int error = onBlockingThread([&] { result = awaitOnThread<Sys>(call.fd, events, call.limits); });
  return error == 0 ? result : error;
}

}  // namespace weft::inline v0_1::detail
