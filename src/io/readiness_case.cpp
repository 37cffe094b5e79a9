// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/detail/io/readiness_case.h"

#include <poll.h>

#include <cerrno>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include "io/descriptor_table.h"
#include "io/epoll_reactor.h"
#include "io/readiness.h"
#include "io/result.h"
#include "io/system.h"
#include "os/thread_end.h"
#include "weft/debug.h"
#include "weft/detail/wait/select_node.h"
#include "weft/io/descriptor.h"
#include "weft/waithandler.h"

namespace weft::inline v0_1::detail {
namespace {

constinit thread_local ReadinessReactor* reactorOfThread = nullptr;

// Returns: the reactor of a thread without a scheduler, which is made if there is none; or null, with
// `error`. It ends before the thread's parker, whose wake eventfd it has.
ReadinessReactor* ownReactorOfThread(int& error) noexcept {
  if (reactorOfThread == nullptr) {
    Parker<>& parker = threadParker();
    reactorOfThread = EpollReactor<IoSystem>::make(parker, error).release();
    if (reactorOfThread != nullptr) {
      atThreadEnd([](void*) { delete std::exchange(reactorOfThread, nullptr); });
    }
  }
  return reactorOfThread;
}

}  // namespace

void ReadinessCase::awaitFd(int fd, const io::UniqueFd* owner) {
  fd_ = fd;
  slot_ = descriptorSlot(fd, error_);
  if (slot_ != nullptr) {
    error_ = 0;
    generation_ = stateNow(*slot_, fd).generation;
    // A close before stateNow() is not seen by the generation, but it took the number from the owner first.
    if (owner != nullptr && owner->get() != fd) {
      --generation_;
    }
  }
}

// The descriptor is not closed meanwhile, also where a thread without fibers takes.
bool ReadinessCase::takeInUse() {
  if (slot_ == nullptr) {
    return take();
  }
  if (!beginUse(*slot_, generation_)) {
    return fail(ECANCELED);
  }
  const bool isOver = take();
  endUse(*slot_);
  return isOver;
}

bool ReadinessCase::tryTake() {
  WEFT_ASSERT(!hasWaitHandler(),
              "a select() over descriptors, signals or the ends of programs cannot wait on a thread with a "
              "wait handler. Let a task call it, and wait for the task's Future.");
  error_ = 0;
  slot_ = nullptr;
  wait_.reactor = nullptr;
  wait_.isCanceled = false;
  find();
  const bool isOver = takeInUse() || error_ != 0;
  if (isOver) {
    countIo();
  }
  return isOver;
}

// The reactor looks at the descriptor when it is armed, and misses nothing that came after tryTake().
bool ReadinessCase::takeOrLink() {
  ReadinessReactor* const reactor =
      currentFiber != nullptr ? ownReactor<IoSystem>(error_) : ownReactorOfThread(error_);
  if (reactor != nullptr) {
    wait_.reactor = reactor;
    wait_.domain = currentIoDomain();
    node.data = &wait_;
    error_ = addWaiter(*slot_, fd_, generation_, node);
  }
  if (error_ != 0) {
    return claim(node);  // an error stays, so that needs no lock
  }
  beginIoOfSelect(*reactor);
  return false;
}

bool ReadinessCase::arrive() {
  endIoOfSelect(*wait_.reactor);
  const bool isTaken = takeInUse() && error_ == 0;
  return isTaken || (wait_.isCanceled && fail(ECANCELED)) || error_ != 0;
}

void ReadinessCase::unlink() {
  if (wait_.reactor != nullptr) {
    endIoOfSelect(*wait_.reactor);
    (void)unlinkIfLinked(node, slot_->lock, slot_->waiting);
  }
}

void ReadinessCase::throwError(const char* what) const {
  if (error_ != 0) {
    throw std::system_error(toErrorCode(error_), std::string("weft::") + what);
  }
}

void DescriptorCase::find() { awaitFd(number_, nullptr); }

bool DescriptorCase::take() {
  pollfd descriptor{fd(), static_cast<short>(events()), 0};
  return IoSystem::poll(&descriptor, 1, TimePoint::min()) > 0;
}

}  // namespace weft::inline v0_1::detail
