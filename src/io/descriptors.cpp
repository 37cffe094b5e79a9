// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "io/descriptors.h"

#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <mutex>
#include <new>
#include <utility>

namespace weft::detail {
namespace {

// Linux grants a process a million descriptors, unless its administrator raises that.
constexpr size_t kSlotsPerChunk = 1024;
constexpr size_t kNumChunks = 16 * 1024;

// null -> a chunk, which stays, by whoever needs it first.
constinit std::atomic<DescriptorSlot*> slotChunks[kNumChunks];

DescriptorSlot* makeChunk(std::atomic<DescriptorSlot*>& chunk) noexcept {
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

// relaxed: see cancelWaits().
bool isCanceled(const DescriptorSlot& slot, uint32_t generation, const IoDomain& domain) {
  return slot.generation != generation || domain.isCanceled.load(std::memory_order_relaxed);
}

// Claims the waiters that `isMeant` is true for, and wakes them as canceled.
template <class Predicate>
void cancelIf(DescriptorSlot& slot, const Predicate& isMeant) noexcept {
  WaitList claimed;
  {
    const std::scoped_lock guard(slot.lock);
    for (Waiter* waiter = slot.waiting.front(); waiter != nullptr;) {
      Waiter* const next = waiter->next;
      auto& wait = *static_cast<ReadinessWait*>(waiter->data);
      if (isMeant(wait)) {
        wait.isCanceled = true;
        slot.waiting.remove(*waiter);
        claimed.pushClaimed(*waiter);
      }
      waiter = next;
    }
  }
  wakeAll(claimed);
}

// Waits, with the lock let go meanwhile, as long as condition() holds. The one who changes that claims all
// who wait so, each of whom looks again.
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

// Moves waiters of `reactor` to `claimed`: the first for each of `events`, or all of them.
// Returns: what the others wait for.
uint32_t takeMatching(DescriptorSlot& slot, const ReadinessReactor& reactor, uint32_t events, bool areAll,
                      WaitList& claimed) noexcept {
  uint32_t others = 0;
  for (Waiter* waiter = slot.waiting.front(); waiter != nullptr;) {
    Waiter* const next = waiter->next;
    const auto& wait = *static_cast<const ReadinessWait*>(waiter->data);
    if (wait.reactor == &reactor && (areAll || (wait.events & events) != 0)) {
      events &= ~wait.events;
      slot.waiting.remove(*waiter);
      claimed.pushClaimed(*waiter);
    } else if (wait.reactor == &reactor) {
      others |= wait.events;
    }
    waiter = next;
  }
  return others;
}

}  // namespace

DescriptorSlot* descriptorSlot(int fd, int& error) noexcept {
  const auto number = static_cast<size_t>(fd);
  if (fd < 0 || number >= kNumChunks * kSlotsPerChunk) {
    error = EBADF;
    return nullptr;
  }
  std::atomic<DescriptorSlot*>& chunk = slotChunks[number / kSlotsPerChunk];
  // (1) acquire: sees the slots; pairs with (2).
  DescriptorSlot* slots = chunk.load(std::memory_order_acquire);
  if (slots == nullptr) {
    slots = makeChunk(chunk);
    error = ENOMEM;
  }
  return slots != nullptr ? &slots[number % kSlotsPerChunk] : nullptr;
}

DescriptorSlot& slotOfNoDescriptor() noexcept { return noDescriptor; }

int addWaiter(DescriptorSlot& slot, int fd, uint32_t generation, Waiter& self) noexcept {
  const auto& wait = *static_cast<const ReadinessWait*>(self.data);
  const std::scoped_lock guard(slot.lock);
  if (isCanceled(slot, generation, *wait.domain)) {
    return ECANCELED;
  }
  uint32_t events = wait.events;
  for (const Waiter* waiter = slot.waiting.front(); waiter != nullptr; waiter = waiter->next) {
    const auto& other = *static_cast<const ReadinessWait*>(waiter->data);
    events |= other.reactor == wait.reactor ? other.events : 0;
  }
  const bool isKnown = std::exchange(slot.armedBy, wait.reactor) == wait.reactor;
  const int error = wait.reactor->arm(fd, events, isKnown);
  if (error == 0) {
    slot.waiting.pushBack(self);
  }
  return error;
}

int addFileWaiter(DescriptorSlot& slot, uint32_t generation, Waiter& self) noexcept {
  const auto& wait = *static_cast<const ReadinessWait*>(self.data);
  const std::scoped_lock guard(slot.lock);
  if (isCanceled(slot, generation, *wait.domain)) {
    return ECANCELED;
  }
  slot.waiting.pushBack(self);
  return 0;
}

bool isClosedSince(DescriptorSlot& slot, uint32_t generation) noexcept {
  const std::scoped_lock guard(slot.lock);
  return slot.generation != generation;
}

bool isWaitedFor(DescriptorSlot& slot, const ReadinessReactor& reactor) noexcept {
  const std::scoped_lock guard(slot.lock);
  for (const Waiter* waiter = slot.waiting.front(); waiter != nullptr; waiter = waiter->next) {
    if (static_cast<const ReadinessWait*>(waiter->data)->reactor == &reactor) {
      return true;
    }
  }
  return false;
}

void takeReady(DescriptorSlot& slot, int fd, ReadinessReactor& reactor, uint32_t events,
               WaitList& claimed) noexcept {
  constexpr uint32_t kForAll = POLLERR | POLLHUP | POLLNVAL;
  const std::scoped_lock guard(slot.lock);
  // Who cannot be armed for finds out by itself what is wrong.
  if (const uint32_t others = takeMatching(slot, reactor, events, (events & kForAll) != 0, claimed);
      others != 0 && reactor.arm(fd, others, true) != 0) {
    takeMatching(slot, reactor, 0, true, claimed);
  }
}

DescriptorState stateNow(DescriptorSlot& slot, int fd) noexcept {
  std::unique_lock guard(slot.lock);
  awaitWhile(slot, guard, fd, [&] { return slot.isClosing; });
  return {slot.generation, slot.isDry};
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
  WaitList claimed;
  {
    const std::scoped_lock guard(slot.lock);
    if (--slot.numUsers == 0 && slot.isClosing) {
      claimed.claimAll(slot.closing);
    }
  }
  wakeAll(claimed);
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
    slot->isDry = false;
    slot->armedBy = nullptr;
    ++slot->generation;
  }
  cancelIf(*slot, [](const ReadinessWait&) { return true; });
  {
    std::unique_lock guard(slot->lock);
    awaitWhile(*slot, guard, fd, [&] { return slot->numUsers != 0; });
  }
  const int result = ::close(fd);
  error = errno;
  WaitList claimed;
  {
    const std::scoped_lock guard(slot->lock);
    slot->isClosing = false;
    claimed.claimAll(slot->closing);
  }
  wakeAll(claimed);
  errno = error;
  return result;
}

// A wait that begins now sees the mark under the lock of its slot, or is in the list when that lock is taken
// here.
void cancelWaits(IoDomain& domain) noexcept {
  // relaxed: the locks order it, and (3) where there is no lock yet.
  domain.isCanceled.store(true, std::memory_order_relaxed);
  const auto isOfDomain = [&](const ReadinessWait& wait) { return wait.domain == &domain; };
  cancelIf(noDescriptor, isOfDomain);
  for (std::atomic<DescriptorSlot*>& chunk : slotChunks) {
    DescriptorSlot* slots = nullptr;
    // (3) acq_rel: sees the slots; or who makes them later, by a change of the same word, sees the mark, and
    // so do those who see these slots; pairs with (2).
    chunk.compare_exchange_strong(slots, nullptr, std::memory_order_acq_rel, std::memory_order_acquire);
    for (size_t i = 0; slots != nullptr && i < kSlotsPerChunk; ++i) {
      cancelIf(slots[i], isOfDomain);
    }
  }
}

}  // namespace weft::detail
