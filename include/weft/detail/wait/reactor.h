// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "weft/detail/base/sync.h"
#include "weft/detail/park/parker.h"
#include "weft/export.h"

// What the core has for fibers that wait for sockets and the like. weft::io does the waiting.
namespace weft::inline v0_1 {

class Fiber;
class Scheduler;

namespace detail {

struct LocalDeque;
struct TaskScope;

// What a worker polls, and sleeps in, while its fibers wait for I/O. A worker gets one when a fiber of it
// first waits for I/O, and at most one, since it cannot sleep in two. While no fiber waits, the worker sleeps
// on its parker's futex. Only the worker's own thread uses its reactor. A thread without a scheduler has one
// too, from its first select() over descriptors on: it sleeps there while such a select() waits.
class WEFT_EXPORT Reactor {
 public:
  // Io: weft::io's, whose fibers are counted while they wait (IoWait). Asio: an AsioContext's, which the
  // worker polls and sleeps in for as long as it has it.
  enum class Use : uint8_t { Io, Asio };

  explicit Reactor(Use use = Use::Io) noexcept : numWaiting_(use == Use::Asio ? 1 : 0), use_(use) {}
  virtual ~Reactor();
  Reactor(const Reactor&) = delete;

  // Wakes the fibers whose I/O can go on. Neither suspends nor blocks. Returns: whether there were any.
  virtual bool poll() = 0;

  // poll() after a sleep, which lasts until there are any, until `parker` has a permit, which is consumed, or
  // until `deadline`. Returns: false if only the deadline has ended the sleep.
  virtual bool park(Parker<>& parker, TimePoint deadline) = 0;

  // Whether a fiber waits, or may.
  bool isAwaited() const { return numWaiting_ != 0; }
  Use use() const { return use_; }

 private:
  friend class IoWait;
  friend void beginIoOfSelect(Reactor& reactor) noexcept;
  friend void endIoOfSelect(Reactor& reactor) noexcept;
  uint32_t numWaiting_;
  const Use use_;
};

// While an object of this type exists, the calling thread seems to have no scheduler bound. A reactor is
// called on the stack of a fiber that is about to wait: foreign code must not wait as that fiber.
class WithoutFibers {
 public:
  WEFT_EXPORT WithoutFibers() noexcept;
  WEFT_EXPORT ~WithoutFibers();
  WithoutFibers(const WithoutFibers&) = delete;

 private:
  Fiber* const fiber_;
  TaskScope* const task_;
  LocalDeque* const localDeque_;
};

// The reactor of the calling thread's worker, and its parker. The worker owns the reactor, and destroys it on
// its own thread. Requires: a scheduler is bound to the calling thread.
WEFT_EXPORT Reactor* currentReactor() noexcept;  // or null
WEFT_EXPORT void setCurrentReactor(std::unique_ptr<Reactor> reactor) noexcept;
WEFT_EXPORT Parker<>& currentParker() noexcept;

// What the waits for I/O of one scheduler's fibers have in common.
struct IoDomain {
  std::atomic<bool> isCanceled{false};  // false -> true: see io::cancelAll()
};
WEFT_EXPORT IoDomain* currentIoDomain() noexcept;  // null where no scheduler is bound
WEFT_EXPORT IoDomain& ioDomain(const Scheduler& scheduler) noexcept;

// Counts an operation that did not wait as a dequeue, so that a loop of them lets others run. May suspend the
// fiber. Does nothing on a thread without a scheduler.
WEFT_EXPORT void countIo();

// A select() of the calling fiber or thread begins, or ends, to wait for I/O, as of IoWait. `reactor`, which
// will wake it, is its worker's, or the thread's own. All but the first call of a begin, and of an end, do
// nothing: so each case of the select() may call them.
WEFT_EXPORT void beginIoOfSelect(Reactor& reactor) noexcept;
WEFT_EXPORT void endIoOfSelect(Reactor& reactor) noexcept;

// While an object of this type exists, the calling fiber waits for I/O. Unlike a wait for tasks, it does not
// affect the order of tasks or how many start: see Worker::beginBlock() and Throttle.
// Requires: the caller is a fiber, and `reactor`, which will wake it, is null or its worker's.
class IoWait {
 public:
  WEFT_EXPORT explicit IoWait(Reactor* reactor) noexcept;
  WEFT_EXPORT ~IoWait();
  IoWait(const IoWait&) = delete;

 private:
  Reactor* const reactor_;
  bool hadScheduled_;
};

}  // namespace detail
}  // namespace weft::inline v0_1
