// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "io/file_wait.h"

#include <cerrno>

#include "weft/detail/wait/stoppable.h"

namespace weft::inline v0_1::detail {
namespace {

// Requests also return ERESTARTSYS and the like, for example the open of a FIFO that is canceled.
bool isInterrupted(int result) {
  return result == -EINTR || (result <= -512 && result >= -514) || result == -516;
}

// A wait that was ended may have canceled its request, or not in time. The system cancels a request by itself
// if it gets no thread for it, as where signals keep coming. Such a request did nothing: EAGAIN.
IoResult resultAfter(int endedBy, int result) {
  if (endedBy != 0 && (result == -ECANCELED || isInterrupted(result))) {
    return {-1, endedBy};
  }
  if (isInterrupted(result)) {
    return {-1, EINTR};
  }
  if (result == -ECANCELED) {
    return {-1, EAGAIN};
  }
  return result < 0 ? IoResult{-1, -result} : IoResult{result, 0};
}

}  // namespace

void takeDone(FileWait& wait, int result, WaitList& claimed) noexcept {
  Waiter& waiter = *wait.waiter;
  wait.result = result;
  wait.isDone = true;
  if (unlinkIfLinked(waiter, wait.slot->lock, wait.slot->waiting) || wait.isAlone) {
    claimed.pushClaimed(waiter);
  }
}

IoResult awaitFile(ReadinessReactor& reactor, FileQueue& queue, const FileRequest& request,
                   const IoCall& call) {
  // A descriptor without a slot has no close to look out for.
  DescriptorSlot& slot = call.slot != nullptr ? *call.slot : slotOfNoDescriptor();
  const void* const object = reinterpret_cast<const void*>(static_cast<intptr_t>(call.fd));
  Waiter& self = currentWaiter();
  FileWait wait;
  wait.domain = currentIoDomain();
  wait.waiter = &self;
  wait.slot = &slot;
  self.data = static_cast<ReadinessWait*>(&wait);
  const IoWait scope(&reactor);
  if (const int error = addWaiter(slot, call.fd, call.began.generation, self); error != 0) {
    return {-1, error};
  }
  if (const int error = queue.begin(request, wait); error != 0) {
    // Whoever has claimed it meanwhile wakes it.
    if (!unlinkIfLinked(self, slot.lock, slot.waiting)) {
      block(self, call.what, object);
    }
    return {-1, error};
  }
  const WaitEnd end = blockInSlot(call, slot, self, call.limits.deadline);
  if (!wait.isDone) {
    wait.isAlone = true;
    queue.cancel(wait);
  }
  if (!wait.isDone) {
    block(self, call.what, object);
  }
  return resultAfter(errorOf(end, wait), wait.result);
}

}  // namespace weft::inline v0_1::detail
