// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cerrno>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <utility>

#include "io/bell.h"
#include "io/descriptor_table.h"
#include "io/epoll_reactor.h"
#include "io/system.h"
#include "weft/debug.h"
#include "weft/detail/wait/stoppable.h"
#include "weft/io/descriptor.h"

// How an operation waits until its descriptor is ready.
namespace weft::inline v0_1::detail {

// What an operation waits for. `what` is for reports: "io::read".
struct Readiness {
  int fd;
  uint32_t events;  // as of poll(2)
  const char* what;
  bool mayLast = false;  // as of ReadinessWait
};

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

// Suspends the fiber until the descriptor is ready, or may be.
// Returns: 0, or an error number.
template <class Sys>
int awaitOnFiber(const Readiness& wanted, DescriptorSlot& slot, uint32_t generation, const io::Wait& limits) {
  int error = 0;
  ReadinessReactor* const reactor = ownReactor<Sys>(error);
  if (reactor == nullptr) {
    return error;
  }
  const void* const object = reinterpret_cast<const void*>(static_cast<intptr_t>(wanted.fd));
  ReadinessWait wait{reactor, currentIoDomain(), wanted.events, false, wanted.mayLast};
  Waiter& self = currentWaiter();
  self.data = &wait;
  const IoWait scope(reactor);
  error = addWaiter(slot, wanted.fd, generation, self);
  if (error != 0) {
    return error == kHasCome ? 0 : error;
  }
  const auto claim = [&] { return unlinkIfLinked(self, slot.lock, slot.waiting); };
  const WaitEnd end = blockStoppable(self, limits.deadline, limits.stop, claim, wanted.what, object);
  if (end == WaitEnd::Woken && !wait.isCanceled) {
    return 0;
  }
  return end == WaitEnd::TimedOut ? ETIMEDOUT : ECANCELED;
}

// Blocks the thread, which has no fibers, until the descriptor is ready. It sleeps in poll(2), with the bell
// of its parker where a stop may end that.
// Returns: 0, or an error number.
template <class Sys>
int awaitOnThread(const Readiness& wanted, const io::Wait& limits) {
  pollfd descriptors[2] = {{wanted.fd, static_cast<short>(wanted.events), 0}, {-1, POLLIN, 0}};
  Parker<>& parker = threadParker();
  const bool isStoppable = limits.stop.stop_possible();
  if (isStoppable) {
    if (!giveBellOnce<Sys>(parker)) {
      return errno;
    }
    descriptors[1].fd = parker.bell();
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
      uint64_t rings = 0;
      (void)!::read(descriptors[1].fd, &rings, sizeof rings);
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

}  // namespace weft::inline v0_1::detail
