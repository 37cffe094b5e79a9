// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <liburing.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "io/bell.h"
#include "io/descriptors.h"
#include "io/file_wait.h"
#include "io/system.h"
#include "weft/debug.h"
#include "weft/detail/base/deadline.h"

namespace weft::detail {

// A worker's ring of io_uring. It belongs to the worker's thread, which alone hands requests over and looks
// at results, so that there is nothing to lock.
//
// What is to be asked of the system is queued in `queue_` first, also while a slot is locked, and handed over
// by poll() and park(), many at once. Requests carry what they are for:
//
//   a file        the address of its FileWait, which lies on the stack of a fiber until there is a result
//   a descriptor  its number and the number of the request: polled once, for what the slot's waiters need
//   the bell      polled as long as the ring exists
//
// A poll holds the file that its descriptor meant when it was handed over, also after a close. So none is
// left behind: a fiber whose wait ends early takes back the poll that nobody needs any more, and sees it end,
// before it goes on. When a descriptor is armed anew, its poll before is replaced, since the number may mean
// something else by now; the result of one that was replaced tells nothing.
template <class Sys>
class UringReactor final : public ReadinessReactor {
 public:
  // Returns: null where the system grants no descriptor, or no memory is left; `error` says which.
  static std::unique_ptr<UringReactor> make(Parker<>& parker, int& error) noexcept {
    if (!giveBellOnce<Sys>(parker)) {
      error = errno;
      return nullptr;
    }
    std::unique_ptr<UringReactor> made(new (std::nothrow) UringReactor(parker.bell()));
    if (made == nullptr) {
      error = ENOMEM;
    } else if (Sys::makeRing(made->ring_, Sys::kRingRequests, Sys::kRingResults) < 0) {
      error = errno;
      made.reset();
    } else {
      made->hasRing_ = true;
      if (!grows([&] { made->used_.reserve(Sys::kRingRequests); })) {
        error = ENOMEM;
        made.reset();
      }
    }
    return made;
  }

  ~UringReactor() override {
    if (hasRing_) {
      Sys::destroyRing(ring_);
    }
  }

  bool poll() override {
    if (hasRequests() || needsSystem()) {
      enter(TimePoint::min());
    }
    return takeResults();
  }

  bool park(Parker<>& parker, TimePoint deadline) override {
    if (!parker.beginElsewhere()) {
      return true;
    }
    enter(deadline);
    const bool hasPermit = parker.endElsewhere();
    return takeResults() || hasPermit;
  }

  int arm(int fd, uint32_t events, bool /*isKnown*/) override {
    const auto place = static_cast<size_t>(fd);
    if (!makeRoom() || !makeRoomFor(place)) {
      return ENOMEM;
    }
    if (polls_[place] != kNoPoll && !takeBack(dataOf(fd, polls_[place]))) {
      queuePollRemoval(fd);
    }
    lastPoll_ += lastPoll_ + 1 == kNoPoll ? 2 : 1;
    polls_[place] = lastPoll_;
    io_uring_sqe request{};
    io_uring_prep_poll_add(&request, fd, events);
    request.user_data = dataOf(fd, lastPoll_);
    queue_.push_back(request);
    return 0;
  }

  void disarm(int fd) override {
    const auto place = static_cast<size_t>(fd);
    if (place >= polls_.size() || polls_[place] == kNoPoll) {
      return;
    }
    const uint32_t number = polls_[place];
    if (takeBack(dataOf(fd, number))) {
      polls_[place] = kNoPoll;
      // The removal of the poll before it, which arm() has queued, must not stay behind: perhaps nobody
      // waits.
      if (!queue_.empty()) {
        enter(TimePoint::min());
      }
      return;
    }
    if (!makeRoom()) {
      return;  // the poll ends when the descriptor is ready, or with the ring
    }
    queuePollRemoval(fd);
    // The system ends it at once.
    while (polls_[place] == number) {
      enter(kNever);
      takeResults();
    }
  }

  bool doesFiles() const override { return true; }

  int begin(const FileRequest& request, FileWait& wait) override {
    if (!makeRoom()) {
      return ENOMEM;
    }
    io_uring_sqe prepared{};
    prepare(prepared, request);
    prepared.user_data = dataOf(wait);
    queue_.push_back(prepared);
    return 0;
  }

  void cancel(FileWait& wait) override {
    if (takeBack(dataOf(wait))) {
      wait.result = -ECANCELED;
      wait.isDone = true;
      return;
    }
    if (!makeRoom()) {
      return;  // the request goes on to its end
    }
    io_uring_sqe request{};
    io_uring_prep_cancel64(&request, dataOf(wait), 0);
    request.user_data = kOfNobody;
    queue_.push_back(request);
  }

 private:
  // What the lowest bits of a request's data say.
  enum Kind : uint64_t { kFile = 0, kPoll = 1, kBell = 2, kOfNobody = 3, kKindMask = 3 };

  static constexpr uint32_t kNoPoll = 0;
  static constexpr unsigned kMostResults = 64;  // at a time: the fibers that these wake are not put off long

  explicit UringReactor(int bell) : bell_(bell) {}

  static uint64_t dataOf(const FileWait& wait) { return reinterpret_cast<uintptr_t>(&wait) | kFile; }
  static uint64_t dataOf(int fd, uint32_t poll) {
    return uint64_t{poll} << 32 | static_cast<uint64_t>(fd) << 2 | kPoll;
  }

  static void prepare(io_uring_sqe& prepared, const FileRequest& request) {
    const auto offset = static_cast<uint64_t>(request.offset);
    const auto count = static_cast<unsigned>(request.numParts);
    switch (request.kind) {
      case FileRequest::Kind::Read:
        return io_uring_prep_readv(&prepared, request.fd, request.parts, count, offset);
      case FileRequest::Kind::Write:
        return io_uring_prep_writev(&prepared, request.fd, request.parts, count, offset);
      case FileRequest::Kind::Sync:
        return io_uring_prep_fsync(&prepared, request.fd, 0);
      case FileRequest::Kind::Open:
        return io_uring_prep_openat(&prepared, AT_FDCWD, request.path, request.flags, request.mode);
    }
  }

  // Returns: false where grow() finds no memory.
  template <class Grow>
  static bool grows(const Grow& grow) noexcept {
    try {
      grow();
      return true;
    } catch (const std::bad_alloc&) {
      return false;
    }
  }

  // Has the queue take two further requests without asking for memory.
  bool makeRoom() noexcept {
    return queue_.capacity() - queue_.size() >= 2 ||
           grows([this] { queue_.reserve(2 * queue_.capacity() + 2); });
  }

  bool makeRoomFor(size_t descriptor) noexcept {
    return descriptor < polls_.size() || grows([&] { polls_.resize(descriptor + 1); });
  }

  void queuePollRemoval(int fd) {
    io_uring_sqe request{};
    io_uring_prep_poll_remove(&request, dataOf(fd, polls_[static_cast<size_t>(fd)]));
    request.user_data = kOfNobody;
    queue_.push_back(request);
  }

  // Takes a request back that was not handed over yet. It is one of the last, if there.
  bool takeBack(uint64_t data) {
    for (size_t place = queue_.size(); place > firstQueued_; --place) {
      if (queue_[place - 1].user_data == data) {
        queue_.erase(queue_.begin() + static_cast<ptrdiff_t>(place - 1));
        return true;
      }
    }
    return false;
  }

  bool hasRequests() const { return isBellDue_ || !queue_.empty(); }

  // Whether the system must be called for results to appear that it has.
  bool needsSystem() const {
    constexpr unsigned kSigns = IORING_SQ_TASKRUN | IORING_SQ_CQ_OVERFLOW;
    return (IO_URING_READ_ONCE(*ring_.ring.sq.kflags) & kSigns) != 0;
  }

  // Uses the descriptor of a file's request until the system has taken the request, and with it the file that
  // the number means. A request of a fiber whose wait was ended before is not made; who has claimed the fiber
  // wakes it.
  // Returns: whether the request is to be made.
  bool useDescriptorOf(const io_uring_sqe& request) {
    if ((request.user_data & kKindMask) != kFile) {
      return true;
    }
    auto& wait = *reinterpret_cast<FileWait*>(static_cast<uintptr_t>(request.user_data));
    if (beginUse(*wait.slot, *wait.waiter)) {
      used_.push_back(wait.slot);
      return true;
    }
    wait.result = -ECANCELED;
    wait.isDone = true;
    return false;
  }

  void endUses() {
    for (DescriptorSlot* const slot : used_) {
      endUse(*slot);
    }
    used_.clear();
  }

  // Puts what is queued into the ring, as far as there is room.
  // Returns: whether all of it.
  bool handOver() {
    if (isBellDue_) {
      io_uring_sqe* const place = io_uring_get_sqe(&ring_.ring);
      if (place == nullptr) {
        return false;
      }
      io_uring_prep_poll_multishot(place, bell_, POLLIN);
      place->user_data = kBell;
      isBellDue_ = false;
    }
    for (; firstQueued_ != queue_.size(); ++firstQueued_) {
      if (io_uring_sq_space_left(&ring_.ring) == 0 || used_.size() == used_.capacity()) {
        return false;
      }
      if (useDescriptorOf(queue_[firstQueued_])) {
        *io_uring_get_sqe(&ring_.ring) = queue_[firstQueued_];
      }
    }
    queue_.clear();
    firstQueued_ = 0;
    return true;
  }

  // Where the system takes no more before results are looked at (EBUSY, EAGAIN), or a signal comes (EINTR),
  // the rest is handed over the next time.
  void enter(TimePoint deadline) {
    while (!handOver()) {
      if (!callSystem(TimePoint::min())) {
        return;
      }
    }
    callSystem(deadline);
  }

  // Anything else is for good, or has lost results. Fibers would wait forever.
  bool callSystem(TimePoint deadline) {
    const bool isDone = Sys::enterRing(ring_, deadline) >= 0;
    const int error = errno;
    if (io_uring_sq_ready(&ring_.ring) == 0) {
      endUses();
    }
    if (isDone) {
      return true;
    }
    WEFT_ASSERT(
        error == EINTR || error == EAGAIN || error == EBUSY,
        "io_uring_enter has failed: %s. Has a filter for system calls come after the start? WEFT_IO=epoll "
        "does without io_uring.",
        std::strerror(error));
    return false;
  }

  // Returns: whether that has woken fibers.
  bool takeResults() {
    WaitList claimed;
    unsigned count = 0;
    unsigned head = 0;
    const io_uring_cqe* result = nullptr;
    io_uring_for_each_cqe(&ring_.ring, head, result) {
      take(*result, claimed);
      if (++count == kMostResults) {
        break;
      }
    }
    io_uring_cq_advance(&ring_.ring, count);
    wakeAll(claimed);
    return !claimed.isEmpty();
  }

  void take(const io_uring_cqe& result, WaitList& claimed) {
    switch (result.user_data & kKindMask) {
      case kFile:
        return takeDone(*reinterpret_cast<FileWait*>(static_cast<uintptr_t>(result.user_data)), result.res,
                        claimed);
      case kPoll:
        return takePolled(result, claimed);
      case kBell:
        isBellDue_ = isBellDue_ || (result.flags & IORING_CQE_F_MORE) == 0;
        return;
      default:
        return;
    }
  }

  void takePolled(const io_uring_cqe& result, WaitList& claimed) {
    const int fd = static_cast<int>(static_cast<uint32_t>(result.user_data) >> 2);
    const auto number = static_cast<uint32_t>(result.user_data >> 32);
    uint32_t& asked = polls_[static_cast<size_t>(fd)];
    if (asked != number) {
      return;  // it was replaced
    }
    asked = kNoPoll;
    // What cannot be polled is for the fiber to find out.
    const uint32_t events = result.res < 0 ? uint32_t{POLLERR} : static_cast<uint32_t>(result.res);
    int error = 0;
    takeReady(*descriptorSlot(fd, error), fd, *this, events, claimed);
  }

  const int bell_;
  bool hasRing_ = false;
  bool isBellDue_ = true;  // its poll is to be asked for
  IoRing ring_;
  std::vector<io_uring_sqe> queue_;  // the first of them lie in the ring already
  size_t firstQueued_ = 0;
  std::vector<DescriptorSlot*> used_;  // of requests that lie in the ring
  std::vector<uint32_t> polls_;        // by descriptor: the number of the poll that was asked for
  uint32_t lastPoll_ = 0;
};

}  // namespace weft::detail
