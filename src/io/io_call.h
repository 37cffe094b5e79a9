// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cerrno>
#include <chrono>
#include <optional>

#include "io/descriptor_table.h"
#include "weft/blockingcall.h"
#include "weft/detail/wait/stoppable.h"
#include "weft/fiber.h"
#include "weft/io/descriptor.h"
#include "weft/waithandler.h"

// What a call of the API carries through its waits, and what all of these waits have in common.
namespace weft::inline v0_1::detail {

// One call of the API on a descriptor.
struct IoCall {
  // `owner`, if not null, had the number `number` before.
  IoCall(int number, const io::Wait& wait, const char* name, const io::UniqueFd* owner = nullptr)
      : fd(number), limits(wait), what(name) {
    if (currentFiber == nullptr) {
      return;
    }
    slot = descriptorSlot(fd, error);
    if (slot != nullptr) {
      error = 0;
      began = stateNow(*slot, fd);
      // A close before stateNow() is not seen by the generation, but it took the number from the owner first.
      if (owner != nullptr && owner->get() != fd) [[unlikely]] {
        began = {began.generation - 1, 0};
      }
    }
  }

  const int fd;
  const io::Wait& limits;
  const char* const what;          // for reports: "io::read"
  DescriptorSlot* slot = nullptr;  // null outside of fibers, and where `error` says why
  DescriptorState began{0, 0};
  int error = 0;
};

// Returns: 0, or the error with which `limits` or cancelAll() end what would begin now.
int endedBy(const io::Wait& limits);

// Returns: the error that a wait gives which has ended so, or 0 where it was woken for what it waits for.
inline int errorOf(WaitEnd end, const ReadinessWait& wait) {
  if (end == WaitEnd::TimedOut) {
    return ETIMEDOUT;
  }
  return end == WaitEnd::Woken && !wait.isCanceled ? 0 : ECANCELED;
}

// Suspends the fiber, whose waiter is in `slot`, until somebody claims it, until `deadline`, or until a stop.
inline WaitEnd blockInSlot(const IoCall& call, DescriptorSlot& slot, Waiter& self, TimePoint deadline) {
  const auto claim = [&] { return unlinkIfLinked(self, slot.lock, slot.waiting); };
  const void* const object = reinterpret_cast<const void*>(static_cast<intptr_t>(call.fd));
  return blockStoppable(self, deadline, call.limits.stop, claim, call.what, object);
}

// Waits for `time`, or the deadline of `limits`, where no event tells when to try again.
// Returns: 0; or an error number if `limits` or cancelAll() do not let the wait begin, or a stop ends it.
int pauseWithin(const io::Wait& limits, std::chrono::nanoseconds time);

// As pauseWithin(). In a fiber, close() and cancelAll() end the pause too.
int pause(const IoCall& call, std::chrono::nanoseconds time);

// Whether the calling thread holds up nobody where it blocks.
inline bool mayBlockThread() { return currentFiber == nullptr && !hasWaitHandler(); }

// Calls job() on a blocking thread and waits for it. Returns: 0, or an error number if there is no thread.
template <class Job>
int onBlockingThread(const Job& job) {
  std::optional<IoWait> scope;
  if (currentFiber != nullptr) {
    scope.emplace(nullptr);
  }
  const auto run = [](void* self) { (*static_cast<const Job*>(self))(); };
  return tryOnBlockingThread(run, const_cast<Job*>(&job));
}

}  // namespace weft::inline v0_1::detail
