// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#ifdef WEFT_IO_URING
#include <liburing.h>
#endif

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "io/descriptor_table.h"
#include "io/file_wait.h"
#include "io/system.h"
#include "weft/debug.h"

namespace weft::inline v0_1::detail {
#ifdef WEFT_IO_URING

// A worker's io_uring, for requests on files. Only the worker's thread hands requests over and looks at
// results, without locks. The worker sleeps in its epoll, where the system writes to the wake eventfd when
// there are results, or when it must be called for them to appear, which the ring itself does not tell.
// Requests are queued in `queue_` first, and handed over by look(), many at once. Each carries the address of
// its FileWait, which lies on the stack of a fiber until there is a result.
template <class Sys>
class FileRing final : public FileQueue {
 public:
  // Returns: null where the system grants no ring that rings `wakeFd`, or no memory is left.
  static std::unique_ptr<FileRing> make(int wakeFd) noexcept {
    std::unique_ptr<FileRing> made(new (std::nothrow) FileRing);
    if (made == nullptr || !grows([&] { made->used_.reserve(Sys::kRingRequests); }) ||
        Sys::makeRing(made->ring_, Sys::kRingRequests, Sys::kRingResults) < 0) {
      return nullptr;
    }
    made->hasRing_ = true;
    return Sys::setRingWakeFd(made->ring_, wakeFd) < 0 ? nullptr : std::move(made);
  }

  ~FileRing() {
    if (hasRing_) {
      Sys::destroyRing(ring_);
    }
  }
  FileRing(const FileRing&) = delete;
  FileRing& operator=(const FileRing&) = delete;

  int begin(const FileRequest& request, FileWait& wait) override {
    if (!makeRoom()) {
      return ENOMEM;
    }
    ++numCancelable_;
    io_uring_sqe prepared{};
    prepareRequest(prepared, request);
    prepared.user_data = dataOf(wait);
    queue_.push_back(prepared);
    return 0;
  }
  void cancel(FileWait& wait) override {
    --numCancelable_;
    if (takeBack(dataOf(wait))) {
      wait.result = -ECANCELED;
      wait.isDone = true;
      return;
    }
    io_uring_sqe request{};
    io_uring_prep_cancel64(&request, dataOf(wait), 0);
    request.user_data = kOfNobody;
    queue_.push_back(request);
  }

  // Hands over what is queued, and adds the waiters of requests that are done to `claimed`.
  void look(WaitList& claimed) {
    if (needsSystem()) {
      enter();
    }
    takeResults(claimed);
  }

  // Whether the system has requests to take, or look() has results, whose wake came already.
  bool isBehind() const { return needsSystem() || io_uring_cq_ready(&ring_.ring) != 0; }

 private:
  static constexpr uint64_t kOfNobody = 0;
  static constexpr unsigned kMostResults = 64;  // at a time: the fibers that these wake are not put off long

  FileRing() = default;

  static uint64_t dataOf(const FileWait& wait) { return reinterpret_cast<uintptr_t>(&wait); }
  static FileWait& waitOf(uint64_t data) {
    return *reinterpret_cast<FileWait*>(static_cast<uintptr_t>(data));
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

  // Has the queue take a further request, and then the cancellations of all, without asking for memory.
  bool makeRoom() noexcept {
    const size_t needed = queue_.size() + numCancelable_ + 2;
    return needed <= queue_.capacity() || grows([&] { queue_.reserve(2 * needed + 8); });
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

  // Whether the system must be called: to take requests, or to make its results appear.
  bool needsSystem() const {
    constexpr unsigned kSigns = IORING_SQ_TASKRUN | IORING_SQ_CQ_OVERFLOW;
    return !queue_.empty() || io_uring_sq_ready(&ring_.ring) != 0 ||
           (IO_URING_READ_ONCE(*ring_.ring.sq.kflags) & kSigns) != 0;
  }

  // Uses a request's descriptor until the system has taken the request, and with it the file that the number
  // means. A request whose wait was ended before is not made; whoever has claimed the fiber wakes it.
  // Returns: whether to make the request.
  bool useDescriptorOf(const io_uring_sqe& request) {
    if (request.user_data == kOfNobody) {
      return true;
    }
    FileWait& wait = waitOf(request.user_data);
    if (beginUse(*wait.slot, *wait.waiter)) {
      used_.push_back(wait.slot);
      return true;
    }
    --numCancelable_;
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

  // Puts what is queued into the ring, as far as there is room. Returns: whether all of it.
  bool handOver() {
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

  // After EBUSY or EAGAIN (the system waits for results to be taken) or EINTR the rest is for the next time.
  void enter() {
    while (!handOver()) {
      if (!callSystem()) {
        return;
      }
    }
    callSystem();
  }

  // Any other error is permanent, or has lost results: fibers would wait forever.
  bool callSystem() {
    const bool isDone = Sys::enterRing(ring_) >= 0;
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

  void takeResults(WaitList& claimed) {
    unsigned count = 0;
    unsigned head = 0;
    const io_uring_cqe* result = nullptr;
    io_uring_for_each_cqe(&ring_.ring, head, result) {
      if (result->user_data != kOfNobody) {
        FileWait& wait = waitOf(result->user_data);
        numCancelable_ -= wait.isAlone ? 0 : 1;
        takeDone(wait, result->res, claimed);
      }
      if (++count == kMostResults) {
        break;
      }
    }
    io_uring_cq_advance(&ring_.ring, count);
  }

  bool hasRing_ = false;
  IoRing ring_;
  std::vector<io_uring_sqe> queue_;  // the first of them lie in the ring already
  size_t firstQueued_ = 0;
  size_t numCancelable_ = 0;           // requests without result that cancel() was not called for
  std::vector<DescriptorSlot*> used_;  // of requests that lie in the ring
};

#else

template <class Sys>
class FileRing final : public FileQueue {
 public:
  static std::unique_ptr<FileRing> make(int /*wakeFd*/) noexcept { return nullptr; }
  int begin(const FileRequest& /*request*/, FileWait& /*wait*/) override { return ENOSYS; }
  void cancel(FileWait& /*wait*/) override {}
  void look(WaitList& /*claimed*/) {}
  bool isBehind() const { return false; }
};

#endif

}  // namespace weft::inline v0_1::detail
