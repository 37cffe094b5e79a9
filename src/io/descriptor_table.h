// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "weft/detail/base/spin_lock.h"
#include "weft/detail/io/readiness_wait.h"
#include "weft/detail/wait/reactor.h"
#include "weft/detail/wait/waiter.h"

// Which fibers wait for which descriptor, of all threads of the process.
namespace weft::inline v0_1::detail {

class FileQueue;

// A reactor that tells when a descriptor is ready, and may do more.
class ReadinessReactor : public Reactor {
 public:
  ReadinessReactor();

  // No other reactor of the process has the same, ever.
  uint64_t number() const { return number_; }

  // Has poll() and park() wake fibers that wait for `fd`, by takeReady(), once one of `events` (of poll(2))
  // holds. Reports once; arm() is called again if further fibers wait. `isKnown`: probably armed before.
  // Returns: 0, or an error number; EPERM where `fd` is something that is always ready, such as a file.
  virtual int arm(int fd, uint32_t events, bool isKnown) = 0;

  // Arms for what can be received, with `number`, which is not 0: reports once if there is something now, and
  // then whatever comes. See LastingRegistration.
  virtual int armLasting(int fd, uint32_t number, bool isKnown) = 0;
  // Undoes arm() and armLasting().
  virtual void forget(int fd) = 0;
  virtual bool isPlainTcp(int fd) const = 0;  // as of LastingRegistration

  // Returns: a number for armLasting() that was not in use for long.
  uint32_t nextLasting() { return ++numLasting_ != 0 ? numLasting_ : ++numLasting_; }

  // Returns: the queue of requests that must wait for a disk; null where the system has none.
  virtual FileQueue* files() = 0;

 private:
  const uint64_t number_;
  uint32_t numLasting_ = 0;
};

// Lets a receive of a Socket wait without a system call: a registration that lasts until something else is
// waited for, or another worker receives. A Socket owns its descriptor, so that nobody reuses its number in
// between. (Whoever took the number from it may. So a Socket made of a number asks its reactor anew.)
//
// The reactor reports once what comes. So a wait must not begin while something reported is there. It begins
// only if isDrained is set: a receive has found nothing, or less than it asked for, and the reactor has
// reported nothing since. Otherwise a receive is tried first. All of that is on the reactor's own thread,
// which takes no report between a receive and its note. The saved try is a tenth of a message's cost: 2.0 us
// of processor time instead of 2.2 between two fibers that send each other 16 bytes over TCP in turn.
//
// Only with TCP has a receive that gets less than it asked for taken all that there was. (Elsewhere it may
// end where other credentials, descriptors or kinds of records begin, also under TLS within the system.) With
// plain TCP too it may end early, at the end of the stream and where urgent data are or were. The reactor
// reports the end and unreceived urgent data, and noteUrgent() those that are received. From then on, a
// receive that gets less than it asked for does not set isDrained.
struct LastingRegistration {
  uint64_t reactor = 0;  // the number of the reactor; 0: there is none
  uint32_t number = 0;
  bool isSure = false;      // the Socket that asked for it still has its descriptor
  bool isPlainTcp = false;  // without a layer above it, and the end has not come
  bool isDrained = false;
};

// Whether a descriptor has O_DIRECT. Asking costs up to a third of a read from memory, so the answer holds
// for some uses. If the number or its flags change meanwhile, these are slower, or hold up their worker.
enum class Directness : uint8_t { Unknown, Cached, Direct };

// What is known of a descriptor by its number. Slots lie in memory that stays.
//
// The list has the waiting fibers' waiters, first come, first served. Whoever unlinks a waiter under the lock
// has claimed it and owes it a wake: its worker's reactor, a deadline, a stop, the close, or cancelAll(). Of
// a select() it has a SelectNode for each case. Who unlinks that wakes the select only if claim() succeeds;
// otherwise what the descriptor is ready for goes to the next waiter.
//
// A number may be closed and reused at any time, also by code other than weft. So no wait relies on what is
// remembered here, but for Sockets: each wait asks its reactor anew, and a woken fiber tries again.
//
// weft sees io::close(). Operations begun before it must never act on a reused number. So it increments the
// generation, which cancels each such operation that comes to a call or a wait, waits until the calls at work
// have returned, and closes. (Go's poll.FD does this too.) An operation that begins meanwhile waits for the
// end of the close, since it may be meant for what has the number next.
struct DescriptorSlot {
  SpinLock lock;
  uint32_t generation = 0;  // guarded by lock, as all here
  uint32_t numUsers = 0;    // calls at work
  bool isClosing = false;   // from the increment to the end of the close
  uint64_t armedBy = 0;     // the number of the last reactor; a hint
  LastingRegistration lasting;
  bool hadUrgent = false;  // since the last close by weft
  Directness directness = Directness::Unknown;
  uint8_t numRecalls = 0;  // of the directness
  WaitList waiting;
  WaitList closing;  // those who wait for the end of calls at work, or of the close
};

// Returns: the slot of `fd`; null, with `error`, if the system has not granted it, or there is no memory.
DescriptorSlot* descriptorSlot(int fd, int& error) noexcept;

// The slot of waits that are for no descriptor.
DescriptorSlot& slotOfNoDescriptor() noexcept;

// A wait that need not begin: there may be something to receive.
inline constexpr int kHasCome = -1;

// Adds `self` to the waiters of `fd`, whose slot this is, and arms the wait's reactor, if there is one.
// The wait is canceled at once if `fd` was closed since `generation`, or by cancelAll().
// Returns: 0; otherwise an error number or kHasCome, and `self` does not wait.
int addWaiter(DescriptorSlot& slot, int fd, uint32_t generation, Waiter& self) noexcept;

// Claims waiters of `reactor`, and appends them to `claimed`: for each of `events` the first that waits for
// it, or all at an error or a hang-up. Arms the reactor for the others. `number`: of the lasting registration
// that reported `events`; or 0.
void takeReady(DescriptorSlot& slot, int fd, ReadinessReactor& reactor, uint32_t number, uint32_t events,
               WaitList& claimed) noexcept;

// What an operation keeps of the slot at its beginning.
struct DescriptorState {
  uint32_t generation;
  uint64_t drainedFor;  // if all has been received: the reactor (its number) that reports what comes; else 0
};
// `slot` is that of `fd`. Waits for the end of a close.
DescriptorState stateNow(DescriptorSlot& slot, int fd) noexcept;

// Returns: what is known, if that is not too old.
Directness recallDirectness(DescriptorSlot& slot) noexcept;
void noteDirectness(DescriptorSlot& slot, uint32_t generation, Directness directness) noexcept;

// Begins a call on the descriptor, which io::close() waits for. Returns: false if closed since `generation`.
bool beginUse(DescriptorSlot& slot, uint32_t generation) noexcept;
// Begins a call for a fiber. Returns: false if it no longer waits in the slot, as somebody has claimed it.
bool beginUse(DescriptorSlot& slot, const Waiter& waiter) noexcept;
void endUse(DescriptorSlot& slot) noexcept;
// Ends a call that has received, on the worker of `reactor`.
enum class Found : uint8_t { Enough, TooLittle, Nothing };
void endReceive(DescriptorSlot& slot, const ReadinessReactor& reactor, Found found) noexcept;

void beginSocket(int fd) noexcept;

// Somebody is about to receive the urgent data of `fd` (MSG_OOB). No reactor reports received urgent data.
void noteUrgent(int fd) noexcept;

// Cancels all waits for `fd`, and closes it once all calls have returned. Returns: what close(2) returns.
int closeUnused(int fd) noexcept;

// Ends all waits of fibers of `domain`, in which none begins from now on.
void cancelWaits(IoDomain& domain) noexcept;

}  // namespace weft::inline v0_1::detail
