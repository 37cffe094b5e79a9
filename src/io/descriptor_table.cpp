// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "io/descriptor_table.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <mutex>
#include <new>
#include <utility>

#include "weft/detail/base/sync.h"
#include "weft/detail/wait/select_node.h"

namespace weft::inline v0_1::detail {
namespace {

// Linux grants a process a million descriptors, unless its administrator raises that.
constexpr size_t kSlotsPerChunk = 1024;
constexpr size_t kNumChunks = 16 * 1024;

// null -> a chunk, which stays, by whoever needs it first.
constinit StdSync::Atomic<DescriptorSlot*> slotChunks[kNumChunks];

DescriptorSlot* makeChunk(StdSync::Atomic<DescriptorSlot*>& chunk) noexcept {
  auto* const made = new (std::nothrow) DescriptorSlot[kSlotsPerChunk];
  DescriptorSlot* before = nullptr;
  // (2) acq_rel: publishes the slots, or sees those of another thread; pairs with (1, 3).
  if (made == nullptr ||
      chunk.compare_exchange_strong(before, made, std::memory_order_acq_rel, std::memory_order_acquire)) {
    return made;
  }
  delete[] made;
  return before;
}

constinit DescriptorSlot noDescriptor;

uint64_t nextReactor() {
  // relaxed: a number that nobody else gets.
  static constinit std::atomic<uint64_t> last{0};
  return 1 + last.fetch_add(1, std::memory_order_relaxed);
}

// relaxed: see cancelWaits().
bool isCanceled(const DescriptorSlot& slot, uint32_t generation, const IoDomain* domain) {
  return slot.generation != generation ||
         (domain != nullptr && domain->isCanceled.load(std::memory_order_relaxed));
}

// Calls step(claimed) with the slot locked, and then wakes those whom it has claimed.
template <class Step>
void claimAndWake(DescriptorSlot& slot, const Step& step) noexcept {
  WaitList claimed;
  {
    const std::scoped_lock guard(slot.lock);
    step(claimed);
  }
  wakeAll(claimed);
}

// Takes out the waiters whose wait isMeant() is true for. Moves to `claimed` those that are claimed by that,
// and calls onClaimed() for their waits. The others are of a select() that has chosen another case.
template <class Predicate, class OnClaimed>
void claimIf(DescriptorSlot& slot, WaitList& claimed, const Predicate& isMeant,
             const OnClaimed& onClaimed) noexcept {
  for (Waiter* waiter = slot.waiting.front(); waiter != nullptr;) {
    Waiter* const next = waiter->next;
    auto& wait = *static_cast<ReadinessWait*>(waiter->data);
    if (isMeant(wait)) {
      slot.waiting.remove(*waiter);
      if (claim(*waiter)) {
        onClaimed(wait);
        claimed.pushClaimed(ownerOf(*waiter));
      }
    }
    waiter = next;
  }
}

// Claims the waiters whose wait isMeant() is true for, and wakes them as canceled.
template <class Predicate>
void cancelIf(DescriptorSlot& slot, const Predicate& isMeant) noexcept {
  claimAndWake(slot, [&](WaitList& claimed) {
    claimIf(slot, claimed, isMeant, [](ReadinessWait& wait) { wait.isCanceled = true; });
  });
}

// Waits without the lock while condition() holds. Whoever makes it false claims all who wait in `closing`.
template <class Condition>
void awaitWhile(DescriptorSlot& slot, std::unique_lock<SpinLock>& guard, int fd, const Condition& condition) {
  while (condition()) {
    Waiter& self = currentWaiter();
    slot.closing.pushBack(self);
    guard.unlock();
    block(self, "io::close", reinterpret_cast<const void*>(static_cast<intptr_t>(fd)));
    guard.lock();
  }
}

bool isLastingOf(const DescriptorSlot& slot, const ReadinessReactor& reactor) {
  return slot.lasting.reactor == reactor.number();
}

// Makes a registration that lasts, in place of one that does not.
int makeLasting(DescriptorSlot& slot, int fd, ReadinessReactor& reactor) {
  const bool isKnown = std::exchange(slot.armedBy, reactor.number()) == reactor.number();
  const uint32_t number = reactor.nextLasting();
  const int error = reactor.armLasting(fd, number, isKnown);
  slot.lasting = LastingRegistration();
  if (error == 0) {
    slot.lasting = {.reactor = reactor.number(),
                    .number = number,
                    .isSure = true,
                    .isPlainTcp = reactor.isPlainTcp(fd),
                    .isDrained = true};
  }
  return error;
}

// Every wait includes errors, even a wait for nothing else.
uint32_t withErrors(const ReadinessWait& wait) { return wait.events | uint32_t{POLLERR}; }

// Returns: what waiters of `reactor` wait for; 0 if there are none.
uint32_t eventsOf(const DescriptorSlot& slot, const ReadinessReactor& reactor) {
  uint32_t events = 0;
  for (const Waiter* waiter = slot.waiting.front(); waiter != nullptr; waiter = waiter->next) {
    const auto& wait = *static_cast<const ReadinessWait*>(waiter->data);
    events |= wait.reactor == &reactor ? withErrors(wait) : 0;
  }
  return events;
}

// Arms the reactor for `wait`, which begins now. Returns: 0, an error number, or kHasCome.
int armFor(DescriptorSlot& slot, int fd, const ReadinessWait& wait) {
  ReadinessReactor& reactor = *wait.reactor;
  const bool isLasting = isLastingOf(slot, reactor);
  if (wait.mayLast && isLasting && slot.lasting.isSure) {
    return slot.lasting.isDrained ? 0 : kHasCome;
  }
  // Waiters in the slot may rely on the registration of another worker.
  if (wait.mayLast && (slot.waiting.isEmpty() || isLasting)) {
    return makeLasting(slot, fd, reactor);
  }
  if (isLasting) {
    slot.lasting = LastingRegistration();
  }
  const bool isKnown = std::exchange(slot.armedBy, reactor.number()) == reactor.number();
  return reactor.arm(fd, wait.events | eventsOf(slot, reactor), isKnown);
}

void endUseLocked(DescriptorSlot& slot, WaitList& claimed) {
  if (--slot.numUsers == 0 && slot.isClosing) {
    claimed.claimAll(slot.closing);
  }
}

// Moves waiters of `reactor` to `claimed`: the first for each of `events`, or all of them.
// Returns: what the others wait for; 0 if there are none.
uint32_t takeMatching(DescriptorSlot& slot, const ReadinessReactor& reactor, uint32_t events, bool areAll,
                      WaitList& claimed) noexcept {
  uint32_t others = 0;
  const auto isMeant = [&](const ReadinessWait& wait) {
    const bool isItsTurn = areAll || (wait.events & events) != 0;
    if (wait.reactor == &reactor && !isItsTurn) {
      others |= withErrors(wait);
    }
    return wait.reactor == &reactor && isItsTurn;
  };
  claimIf(slot, claimed, isMeant, [&](const ReadinessWait& wait) { events &= ~wait.events; });
  return others;
}

}  // namespace

ReadinessReactor::ReadinessReactor() : number_(nextReactor()) {}

DescriptorSlot* descriptorSlot(int fd, int& error) noexcept {
  const auto number = static_cast<size_t>(fd);
  if (fd < 0 || number >= kNumChunks * kSlotsPerChunk) {
    error = EBADF;
    return nullptr;
  }
  StdSync::Atomic<DescriptorSlot*>& chunk = slotChunks[number / kSlotsPerChunk];
  // (1) acquire: sees the slots; pairs with (2).
  DescriptorSlot* slots = chunk.load(std::memory_order_acquire);
  if (slots == nullptr) {
    // A made-up number gets no memory.
    if (::fcntl(fd, F_GETFD) < 0) {
      error = EBADF;
      return nullptr;
    }
    slots = makeChunk(chunk);
    error = ENOMEM;
  }
  return slots != nullptr ? &slots[number % kSlotsPerChunk] : nullptr;
}

DescriptorSlot& slotOfNoDescriptor() noexcept { return noDescriptor; }

int addWaiter(DescriptorSlot& slot, int fd, uint32_t generation, Waiter& self) noexcept {
  const auto& wait = *static_cast<const ReadinessWait*>(self.data);
  const std::scoped_lock guard(slot.lock);
  if (isCanceled(slot, generation, wait.domain)) {
    return ECANCELED;
  }
  const int error = wait.reactor != nullptr ? armFor(slot, fd, wait) : 0;
  if (error == 0) {
    slot.waiting.pushBack(self);
  }
  return error;
}

void takeReady(DescriptorSlot& slot, int fd, ReadinessReactor& reactor, uint32_t number, uint32_t events,
               WaitList& claimed) noexcept {
  constexpr uint32_t kForAll = POLLERR | POLLHUP | POLLNVAL;
  const std::scoped_lock guard(slot.lock);
  LastingRegistration& lasting = slot.lasting;
  const bool isLasting = isLastingOf(slot, reactor);
  if (number != (isLasting ? lasting.number : 0)) {
    // The report is of a file whose number was closed without weft's knowledge, or another worker receives.
    if (!isLasting && eventsOf(slot, reactor) == 0) {
      reactor.forget(fd);
    }
    return;
  }
  slot.hadUrgent = slot.hadUrgent || (events & POLLPRI) != 0;
  if (isLasting) {
    lasting.isDrained = false;
    lasting.isPlainTcp = lasting.isPlainTcp && (events & (kForAll | POLLRDHUP)) == 0;
  }
  const uint32_t others = takeMatching(slot, reactor, events, (events & kForAll) != 0, claimed);
  const auto armAgain = [&] {
    return isLasting ? reactor.armLasting(fd, number, true) : reactor.arm(fd, others, true);
  };
  // A lasting registration reports once what comes. If that woke a receiver, it is armed again for the other
  // receivers. Armed again for urgent data alone, which wakes nobody, it would report without end.
  const bool isToArm = others != 0 && (!isLasting || (events & POLLIN) != 0);
  // If arming fails, the others are woken too. Each tries its operation, and finds out what is wrong.
  if (isToArm && armAgain() != 0) {
    takeMatching(slot, reactor, 0, true, claimed);
  }
}

DescriptorState stateNow(DescriptorSlot& slot, int fd) noexcept {
  std::unique_lock guard(slot.lock);
  awaitWhile(slot, guard, fd, [&] { return slot.isClosing; });
  return {slot.generation, slot.lasting.isSure && slot.lasting.isDrained ? slot.lasting.reactor : 0};
}

Directness recallDirectness(DescriptorSlot& slot) noexcept {
  constexpr uint8_t kMostRecalls = 63;
  const std::scoped_lock guard(slot.lock);
  if (slot.numRecalls == kMostRecalls) {
    slot.directness = Directness::Unknown;
  }
  ++slot.numRecalls;
  return slot.directness;
}

void noteDirectness(DescriptorSlot& slot, uint32_t generation, Directness directness) noexcept {
  const std::scoped_lock guard(slot.lock);
  if (slot.generation == generation) {
    slot.directness = directness;
    slot.numRecalls = 0;
  }
}

bool beginUse(DescriptorSlot& slot, uint32_t generation) noexcept {
  const std::scoped_lock guard(slot.lock);
  slot.numUsers += slot.generation == generation ? 1 : 0;
  return slot.generation == generation;
}

bool beginUse(DescriptorSlot& slot, const Waiter& waiter) noexcept {
  const std::scoped_lock guard(slot.lock);
  slot.numUsers += waiter.isLinked ? 1 : 0;
  return waiter.isLinked;
}

void endUse(DescriptorSlot& slot) noexcept {
  claimAndWake(slot, [&](WaitList& claimed) { endUseLocked(slot, claimed); });
}

void endReceive(DescriptorSlot& slot, const ReadinessReactor& reactor, Found found) noexcept {
  claimAndWake(slot, [&](WaitList& claimed) {
    if (isLastingOf(slot, reactor)) {
      const bool isAll = found == Found::TooLittle && slot.lasting.isPlainTcp && !slot.hadUrgent;
      slot.lasting.isDrained = found == Found::Nothing || isAll;
    }
    endUseLocked(slot, claimed);
  });
}

void beginSocket(int fd) noexcept {
  int error = 0;
  if (DescriptorSlot* const slot = descriptorSlot(fd, error)) {
    const std::scoped_lock guard(slot->lock);
    slot->lasting.isSure = false;
  }
}

void noteUrgent(int fd) noexcept {
  int error = 0;
  if (DescriptorSlot* const slot = descriptorSlot(fd, error)) {
    const std::scoped_lock guard(slot->lock);
    slot->hadUrgent = true;
  }
}

int closeUnused(int fd) noexcept {
  int error = 0;
  DescriptorSlot* const slot = descriptorSlot(fd, error);
  if (slot == nullptr) {
    return ::close(fd);
  }
  {
    std::unique_lock guard(slot->lock);
    awaitWhile(*slot, guard, fd, [&] { return slot->isClosing; });
    slot->isClosing = true;
    slot->armedBy = 0;
    slot->lasting = LastingRegistration();
    slot->hadUrgent = false;
    slot->directness = Directness::Unknown;
    ++slot->generation;
  }
  cancelIf(*slot, [](const ReadinessWait&) { return true; });
  {
    std::unique_lock guard(slot->lock);
    awaitWhile(*slot, guard, fd, [&] { return slot->numUsers != 0; });
  }
  const int result = ::close(fd);
  error = errno;
  claimAndWake(*slot, [&](WaitList& claimed) {
    slot->isClosing = false;
    claimed.claimAll(slot->closing);
  });
  errno = error;
  return result;
}

// A wait that begins now sees the mark under its slot's lock, or is in the list when that lock is taken here.
void cancelWaits(IoDomain& domain) noexcept {
  // relaxed: the locks order it, and (3) where there is no lock yet.
  domain.isCanceled.store(true, std::memory_order_relaxed);
  const auto isOfDomain = [&](const ReadinessWait& wait) { return wait.domain == &domain; };
  cancelIf(noDescriptor, isOfDomain);
  for (StdSync::Atomic<DescriptorSlot*>& chunk : slotChunks) {
    DescriptorSlot* slots = nullptr;
    // (3) acq_rel: sees the slots; else who makes or sees them later sees the mark; pairs with (2).
    chunk.compare_exchange_strong(slots, nullptr, std::memory_order_acq_rel, std::memory_order_acquire);
    for (size_t i = 0; slots != nullptr && i < kSlotsPerChunk; ++i) {
      cancelIf(slots[i], isOfDomain);
    }
  }
}

}  // namespace weft::inline v0_1::detail
