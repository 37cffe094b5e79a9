// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cerrno>
#include <cstdint>

#include "weft/detail/base/spin_lock.h"
#include "weft/detail/wait/reactor.h"
#include "weft/detail/wait/waiter.h"

// Which fibers wait for which descriptor, of all threads of the process.
namespace weft::detail {

struct FileRequest;
struct FileWait;

// A reactor that tells when a descriptor is ready, and may do more.
class ReadinessReactor : public Reactor {
 public:
  // Has poll() and park() wake fibers that wait for `fd`, by takeReady(), once one of `events` holds (as of
  // poll(2)). That is told once, and then asked for again if further fibers wait. `isKnown`: `fd` was
  // probably asked for before.
  // Returns: 0, or an error number; EPERM where `fd` is something that is always ready, such as a file.
  virtual int arm(int fd, uint32_t events, bool isKnown) = 0;

  // No fiber of the worker waits for `fd` any more, though it was not ready. Not within takeReady().
  virtual void disarm(int /*fd*/) {}

  // Whether it has the system do what must wait for a disk. If not, the rest is not called.
  virtual bool doesFiles() const { return false; }
  // Has poll() and park() call takeDone() for `wait` once the request has a result.
  // Returns: 0, or an error number, and then there will be no result.
  virtual int begin(const FileRequest& /*request*/, FileWait& /*wait*/) { return ENOSYS; }
  // Asks the system to end the request early. There will be a result, or there is one now.
  virtual void cancel(FileWait& /*wait*/) {}
};

// A fiber's wait for a descriptor. It lies in the fiber's frame, as the `data` of its Waiter.
struct ReadinessWait {
  ReadinessReactor* reactor = nullptr;  // null where it does not wait for readiness: see file_wait.h
  const IoDomain* domain = nullptr;
  uint32_t events = 0;
  bool isCanceled = false;  // written before the wake
};

// What is known of a descriptor by its number. Slots lie in memory that stays.
//
// The list has one waiter for each fiber that waits, first come, first served. As in all primitives, whoever
// unlinks a waiter under the lock has claimed it and owes it a wake: the reactor of its worker when the
// descriptor is ready, a deadline, a stop, the close of the descriptor, or cancelAll().
//
// A number may be closed and used again at any time, also by code that knows nothing of weft. So nothing is
// remembered here that a wait relies on: each wait asks its reactor anew, and a fiber that is woken tries its
// operation again.
//
// io::close() is known, and its number must mean nothing else to an operation that began before. It
// increments the generation, which cancels each operation that comes to a call or a wait after that; then it
// waits until the calls that are at work have returned; then it closes. (Go's poll.FD does the same.) An
// operation that begins meanwhile waits for the end of the close, since it may be meant for what has the
// number next.
//
// A reactor is armed with the lock held, so that what it is armed for has not been closed by io::close().
struct DescriptorSlot {
  SpinLock lock;
  uint32_t generation = 0;                    // guarded by lock, as all here
  uint32_t numUsers = 0;                      // calls at work
  bool isClosing = false;                     // from the increment to the end of the close
  bool isDry = false;                         // a hint: the last receive of a stream took all that there was
  const ReadinessReactor* armedBy = nullptr;  // the last; a hint, and may be gone
  WaitList waiting;
  WaitList closing;  // those who wait for the end of calls at work, or of the close
};

// Returns: the slot of `fd`, or null if the number is negative or larger than any that a system grants, or
// if there is no memory; `error` says which.
DescriptorSlot* descriptorSlot(int fd, int& error) noexcept;

// The slot of waits that are for no descriptor.
DescriptorSlot& slotOfNoDescriptor() noexcept;

// Adds `self` to those who wait for `fd`, whose slot this is, and arms its reactor. The wait is canceled at
// once if `fd` was closed since `generation`, or by cancelAll().
// Returns: 0; otherwise an error number, and `self` does not wait.
int addWaiter(DescriptorSlot& slot, int fd, uint32_t generation, Waiter& self) noexcept;

// The same for a wait that needs no reactor.
int addFileWaiter(DescriptorSlot& slot, uint32_t generation, Waiter& self) noexcept;

// Whether the descriptor was closed since `generation`.
bool isClosedSince(DescriptorSlot& slot, uint32_t generation) noexcept;

// Whether a fiber that `reactor` wakes is among those who wait.
bool isWaitedFor(DescriptorSlot& slot, const ReadinessReactor& reactor) noexcept;

// Removes the waiters of `reactor` whose wait `events` ends, and appends them to `claimed`: one that reads,
// one that writes, and all where there is an error or nobody at the other end. Arms the reactor for the
// others.
void takeReady(DescriptorSlot& slot, int fd, ReadinessReactor& reactor, uint32_t events,
               WaitList& claimed) noexcept;

// What an operation keeps of the slot at its beginning.
struct DescriptorState {
  uint32_t generation;
  bool isDry;
};
// `slot` is that of `fd`. Waits for the end of a close.
DescriptorState stateNow(DescriptorSlot& slot, int fd) noexcept;

// Begins a call on the descriptor, which io::close() waits for.
// Returns: false if the descriptor was closed since `generation`.
bool beginUse(DescriptorSlot& slot, uint32_t generation) noexcept;
// The same on behalf of a fiber.
// Returns: false if it does not wait for the slot any more. Somebody has claimed it then.
bool beginUse(DescriptorSlot& slot, const Waiter& waiter) noexcept;
void endUse(DescriptorSlot& slot) noexcept;

// Closes `fd`, after all waits for it were ended and all calls have returned.
// Returns: what close(2) returns.
int closeUnused(int fd) noexcept;

// Ends all waits of fibers of `domain`, in which none begins from now on.
void cancelWaits(IoDomain& domain) noexcept;

}  // namespace weft::detail
