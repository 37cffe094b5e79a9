// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <sys/stat.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>

#include "io/backend.h"
#include "io/descriptor_table.h"
#include "io/file_wait.h"
#include "io/readiness.h"
#include "io/result.h"
#include "io/system.h"
#include "weft/blockingcall.h"
#include "weft/detail/wait/wait_handler.h"
#include "weft/fiber.h"
#include "weft/io/descriptor.h"

// What all operations have in common.
namespace weft::inline v0_1::detail {

// Calls call() and takes its result and errno.
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
// Whether a call with RWF_NOWAIT could not tell. A filter for system calls that knows preadv(2) and not
// preadv2(2) says EPERM. If that is what the file says, the plain call says so too.
inline bool isUnsupported(const IoResult& result) {
  return result.error == EOPNOTSUPP || result.error == ENOSYS || result.error == EPERM;
}

// Returns: 0, or the error with which `limits` or cancelAll() end what would begin now.
inline int endedBy(const io::Wait& limits) {
  if (limits.deadline != kNever && TimePoint::clock::now() >= limits.deadline) {
    return ETIMEDOUT;
  }
  const IoDomain* const domain = currentIoDomain();
  // relaxed: a task that the canceler waits for sees it in time.
  const bool isCanceled = domain != nullptr && domain->isCanceled.load(std::memory_order_relaxed);
  return isCanceled || limits.stop.stop_requested() ? ECANCELED : 0;
}

// Waits for something that the system does not tell of, before the caller tries again: for `pause`, or until
// the deadline of `limits`, if that comes first.
// Returns: 0, or an error number if `limits` or cancelAll() end what would begin now, or a stop this wait.
inline int pauseWithin(const io::Wait& limits, std::chrono::nanoseconds pause) {
  if (const int ended = endedBy(limits); ended != 0) {
    return ended;
  }
  return sleepUntilStop(std::min(limits.deadline, TimePoint::clock::now() + pause), limits.stop) ? 0
                                                                                                 : ECANCELED;
}

// One call of the API on a descriptor. It is made anew for each.
template <class Sys>
class IoRetry {
 public:
  // `owner`, if not null, had the number `fd` before.
  IoRetry(int fd, const io::Wait& limits, const char* what, const io::UniqueFd* owner = nullptr)
      : fd_(fd), limits_(limits), what_(what) {
    if (currentFiber == nullptr) {
      return;
    }
    slot_ = descriptorSlot(fd, error_);
    if (slot_ != nullptr) {
      error_ = 0;
      began_ = stateNow(*slot_, fd);
      // A close that came before that, so that it does not cancel this operation, has taken the number from
      // its owner before it had the lock of the slot.
      if (owner != nullptr && owner->get() != fd) [[unlikely]] {
        began_ = {began_.generation - 1, 0};
      }
    }
  }

  // Calls call() and takes its result, unless the descriptor was closed since the operation began.
  template <class Call>
  IoResult use(const Call& call) const {
    if (slot_ == nullptr) {
      return resultOf(call);
    }
    if (!beginUse(*slot_, began_.generation)) {
      return {-1, ECANCELED};
    }
    const IoResult result = resultOf(call);
    if (received_ == 0) {
      endUse(*slot_);
    } else {
      noteReceived(result);
    }
    return result;
  }

  // Calls attempt(), which never blocks, until it does not fail with EAGAIN, and waits for `events` in
  // between.
  template <class Attempt>
  IoResult run(uint32_t events, const Attempt& attempt) {
    return goOn(use(attempt), events, attempt);
  }

  // The same after a first attempt.
  template <class Attempt>
  IoResult goOn(IoResult result, uint32_t events, const Attempt& attempt) {
    if (!wouldWait(result)) {
      // What is no socket is tried otherwise at once. Others could close it meanwhile.
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

  // Calls attempt() once.
  template <class Attempt>
  IoResult runOnce(const Attempt& attempt) {
    const IoResult result = use(attempt);
    countIo();
    return result;
  }

  // The same as run() where the system does not tell when an attempt would succeed. The pauses become longer,
  // so that a thousand who wait so leave the processors to others.
  template <class Attempt>
  IoResult runWithPauses(const Attempt& attempt) {
    constexpr std::chrono::milliseconds kLongest{50};
    for (std::chrono::milliseconds time{1};; time = std::min(2 * time, kLongest)) {
      const IoResult result = use(attempt);
      if (!wouldWait(result)) {
        countIo();
        return result;
      }
      if (const int ended = pause(time); ended != 0) {
        return {-1, ended};
      }
    }
  }

  // The same as run() for attempts to receive `size` bytes by a Socket. Where the one before has taken all
  // that there was, this one waits before it tries, rather than try before as well.
  template <class Attempt>
  IoResult receive(size_t size, const Attempt& attempt) {
    received_ = size;
    const ReadinessReactor* const reactor = slot_ != nullptr ? knownReactor() : nullptr;
    const bool isDrained = reactor != nullptr && began_.drainedFor == reactor->number();
    return isDrained ? runAfterWait(POLLIN, attempt) : run(POLLIN, attempt);
  }

  // Waits until `events` hold.
  // Returns: 0, or an error number.
  int await(uint32_t events) {
    const Readiness wanted{fd_, events, what_, received_ != 0};
    if (currentFiber == nullptr) {
      return awaitOutsideOfFibers(wanted);
    }
    return slot_ != nullptr ? awaitOnFiber<Sys>(wanted, *slot_, began_.generation, limits_) : error_;
  }

  // Calls call(), which may block, where it holds up no fiber.
  template <class Call>
  IoResult runBlocking(const Call& call) {
    if (currentFiber == nullptr && !hasWaitHandler()) {
      return resultOf(call);
    }
    if (const int ended = endedBy(limits_); ended != 0) {
      return {-1, ended};
    }
    struct Job {
      const IoRetry& operation;
      const Call& call;
      IoResult result;

      // There may have been no thread for long.
      void run() {
        const int ended = endedBy(operation.limits_);
        result = ended != 0 ? IoResult{-1, ended} : operation.use(call);
      }
    } job{*this, call, {}};
    const int error = onBlockingThread(job);
    return error == 0 ? job.result : IoResult{-1, error};
  }

  // The same for what a reactor may do instead. What that cannot do, call() does.
  template <class Call>
  IoResult runOnFile(const FileRequest& request, const Call& call) {
    int error = 0;
    if (currentFiber == nullptr || chosenBackend(error) != IoBackend::Uring || error != 0) {
      return runBlocking(call);
    }
    ReadinessReactor* const reactor = ownReactor<Sys>(error);
    if (reactor == nullptr || !reactor->doesFiles()) {
      return runBlocking(call);
    }
    if (const int ended = endedBy(limits_); ended != 0) {
      return {-1, ended};
    }
    const bool isOfNone = slot_ == nullptr;
    IoResult result;
    do {
      result = awaitFile(*reactor, request, isOfNone ? slotOfNoDescriptor() : *slot_,
                         isOfNone ? 0 : began_.generation, limits_, what_);
    } while (result.error == EINTR);
    return wouldWait(result) ? runBlocking(call) : result;
  }

  // now() is the call with RWF_NOWAIT, plain() the same without. A disk is waited for by the
  // reactor, or on a thread that may block. All else is waited for here.
  template <class Now, class Plain>
  IoResult transfer(const FileRequest& request, const Now& now, const Plain& plain) {
    // There RWF_NOWAIT waits for the disk, since the system has nothing of it in memory.
    if (request.offset >= 0 && currentFiber != nullptr && isDirect()) {
      return runOnFile(request, plain);
    }
    const uint32_t events = request.kind == FileRequest::Kind::Read ? POLLIN : POLLOUT;
    const IoResult first = use(now);
    if ((wouldWait(first) || isUnsupported(first)) && isOnDisk()) {
      // To io_uring it is three steps to read the file's own position, to transfer, and to advance it. What
      // others do in between would be lost.
      return request.offset < 0 ? runBlocking(plain) : runOnFile(request, plain);
    }
    return isUnsupported(first) ? transferUntold(events, plain) : goOn(first, events, now);
  }

  // Returns: whether one of `events` holds; otherwise errno is EAGAIN, or what is wrong. In `found`: which.
  bool isReady(uint32_t events, short* found = nullptr) {
    if (fd_ < 0) {
      errno = EBADF;  // poll(2) would leave it out
      return false;
    }
    pollfd descriptor{fd_, static_cast<short>(events), 0};
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

  // Whether the system tells when something of the descriptor changes. poll(2) waits in vain if not; epoll(7)
  // says it.
  // Returns: 0, or an error number: EPERM if not.
  int tells() const {
    const io::UniqueFd epoll(Sys::makeEpoll());
    epoll_event event{POLLPRI, {.u64 = 0}};
    return use([&]() -> ssize_t {
             return epoll ? Sys::control(epoll.get(), EPOLL_CTL_ADD, fd_, &event) : -1;
           })
        .error;
  }

  // Whether waiting for it means to wait for a disk, which is not told by poll(2).
  bool isOnDisk() const {
    struct stat status{};
    return use([&]() -> ssize_t { return Sys::status(fd_, &status); }).error == 0 &&
           (S_ISREG(status.st_mode) || S_ISBLK(status.st_mode) || S_ISDIR(status.st_mode));
  }

 private:
  // Calls job.run() on a blocking thread.
  // Returns: 0, or an error number if there is no such thread.
  template <class Job>
  static int onBlockingThread(Job& job) {
    std::optional<IoWait> scope;
    if (currentFiber != nullptr) {
      scope.emplace(nullptr);
    }
    return tryOnBlockingThread([](void* self) { static_cast<Job*>(self)->run(); }, &job);
  }

  // If the thread has a wait handler, that is called while another thread waits for the descriptor.
  int awaitOutsideOfFibers(const Readiness& wanted) {
    if (!hasWaitHandler()) {
      return awaitOnThread<Sys>(wanted, limits_);
    }
    struct Job {
      const Readiness& wanted;
      const io::Wait& limits;
      int result;

      void run() { result = awaitOnThread<Sys>(wanted, limits); }
    } job{wanted, limits_, 0};
    const int error = onBlockingThread(job);
    return error == 0 ? job.result : error;
  }

  // After an attempt in vain the next wait may end at once, again and again: where nobody reads the error
  // queue, and where the system calls the descriptor ready for less than is asked for (a peek at an offset
  // where nothing is yet, or an eventfd without room for the number). Then the next wait is a pause. Of what
  // is ready for `events`, others may have taken what there was: that may happen some times in a row.
  // `numInVain`: the attempts in vain after which it was ready, in a row.
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
    return isForErrors || numInVain == kMostInVain ? pause(std::chrono::milliseconds(1)) : 0;
  }

  bool hasFlag(int flag) const {
    const IoResult flags = use([&]() -> ssize_t { return Sys::flags(fd_); });
    return flags.error == 0 && (flags.value & flag) != 0;
  }

  bool isDirect() const {
    Directness known = slot_ != nullptr ? recallDirectness(*slot_) : Directness::Unknown;
    if (known == Directness::Unknown) {
      known = hasFlag(O_DIRECT) ? Directness::Direct : Directness::Cached;
      if (slot_ != nullptr) {
        noteDirectness(*slot_, began_.generation, known);
      }
    }
    return known == Directness::Direct;
  }

  // The same where the system cannot tell whether the call would wait (a terminal, or an old kernel).
  // If the descriptor is blocking, poll(2) tells whether there is something to read, or any room. Then a read
  // may block if another reader is faster, and a write of more than there is room for does.
  template <class Plain>
  IoResult transferUntold(uint32_t events, const Plain& plain) {
    if (hasFlag(O_NONBLOCK)) {
      return run(events, plain);
    }
    if (events == POLLIN) {
      return run(events, [&] { return isReady(events) ? plain() : -1; });
    }
    const IoResult ready = run(events, [&] { return isReady(events) ? 0 : -1; });
    return ready.error == 0 ? runBlocking(plain) : ready;
  }

  // The same as pauseWithin(). That of a fiber is ended by close() and cancelAll() too.
  [[gnu::cold, gnu::noinline]] int pause(std::chrono::nanoseconds time) const {
    if (slot_ == nullptr) {
      return pauseWithin(limits_, time);
    }
    if (const int ended = endedBy(limits_); ended != 0) {
      return ended;
    }
    ReadinessWait wait{.domain = currentIoDomain()};
    Waiter& self = currentWaiter();
    self.data = &wait;
    const IoWait scope(nullptr);
    if (const int error = addFileWaiter(*slot_, began_.generation, self); error != 0) {
      return error;
    }
    const auto claim = [&] { return unlinkIfLinked(self, slot_->lock, slot_->waiting); };
    const void* const object = reinterpret_cast<const void*>(static_cast<intptr_t>(fd_));
    const TimePoint next = std::min(limits_.deadline, TimePoint::clock::now() + time);
    return blockStoppable(self, next, limits_.stop, claim, what_, object) == WaitEnd::TimedOut ? 0
                                                                                               : ECANCELED;
  }

  // What ends the wait ends no operation that can be done at once, which is found out then.
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

  // Returns: null where the worker has none, or polls an io_context of Asio.
  static ReadinessReactor* knownReactor() {
    Reactor* const reactor = currentReactor();
    const bool isOfIo = reactor != nullptr && reactor->use() == Reactor::Use::Io;
    return isOfIo ? static_cast<ReadinessReactor*>(reactor) : nullptr;
  }

  void noteReceived(const IoResult& result) const {
    const ReadinessReactor* const reactor = knownReactor();
    if (reactor == nullptr) {
      return endUse(*slot_);
    }
    const bool isTooLittle = result.value > 0 && static_cast<size_t>(result.value) < received_;
    endReceive(*slot_, *reactor,
               wouldWait(result) ? Found::Nothing
               : isTooLittle     ? Found::TooLittle
                                 : Found::Enough);
  }

  const int fd_;
  const io::Wait& limits_;
  const char* const what_;
  DescriptorSlot* slot_ = nullptr;
  DescriptorState began_{0, 0};
  size_t received_ = 0;  // how much a Socket asks for; 0 where it is another operation
  int error_ = 0;
};

// Calls call(), which writes `parts`, so that it raises no SIGPIPE: a signal that it has caused is taken off
// the thread again. A call that blocks may have written some of it before nobody read any more. Then it
// returns that, and raises the signal too.
template <class Call>
auto withoutSigpipe(std::span<const iovec> parts, const Call& call) {
  size_t size = 0;
  for (const iovec& part : parts) {
    size += part.iov_len;
  }
  sigset_t pipe{}, before{}, pending{};
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  sigpending(&pending);
  const bool wasPending = sigismember(&pending, SIGPIPE) == 1;
  pthread_sigmask(SIG_BLOCK, &pipe, &before);
  const auto result = call();
  const int error = errno;
  const bool mayBePending = result < 0 ? error == EPIPE : static_cast<size_t>(result) < size;
  if (mayBePending && !wasPending) {
    const timespec atOnce{};
    while (sigtimedwait(&pipe, nullptr, &atOnce) < 0 && errno == EINTR) {
    }
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return result;
}

}  // namespace weft::inline v0_1::detail
