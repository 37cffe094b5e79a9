// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/event.h"

#include <vector>

#include "weft/debug.h"
#include "weft/detail/node_pool.h"
#include "weft/detail/tiny_lock.h"

// Two ways to change the word. While kLocked is clear: one compare-exchange, for a signal that nobody waits for and for
// using one up. With kLocked set: only its holder changes the word, and its release store is the holder's last access to
// the state. A waiter links itself, and a signal is handed to it, under the lock, so that no signal falls between them.
namespace weft {

// A link from a source to an event made by any(). It is owned by the latter and lies in the former's list, which does not
// keep the target alive: signal() takes a reference under the source's lock, or finds that it is too late for one.
struct Event::Forward {
  State* source;  // one reference is held
  State* target;
  Forward* nextOfSource;
  Forward* previousOfSource;
  Forward* nextOfTarget;
};

Event::State::~State() {
  WEFT_ASSERT(waiters.isEmpty(),
              "an Event was destroyed while somebody waits for it. Keep a copy until wait() has returned.");
  while (sources != nullptr) {
    Forward* link = sources;
    sources = link->nextOfTarget;
    detail::Shared<State> source = detail::Shared<State>::adopt(link->source);
    const uint32_t signalled = detail::lockBit<uint32_t>(source->word, kLocked) & kSignalled;
    (link->previousOfSource != nullptr ? link->previousOfSource->nextOfSource : source->forwards) = link->nextOfSource;
    if (link->nextOfSource != nullptr) {
      link->nextOfSource->previousOfSource = link->previousOfSource;
    }
    --source->numForwards;
    source->unlock(signalled);
    detail::freeNode(link, detail::NodeSize::Line);
  }
}

void Event::State::unlock(uint32_t signalled) {
  const uint32_t listed = waiters.isEmpty() && forwards == nullptr ? 0 : kListed;
  // (2) release: the section, and what came before signal(), is seen by whoever reads the word next; pairs with (3, 5, 6)
  // and with the acquire of lockBit.
  word.store(signalled | listed, std::memory_order_release);
}

bool Event::State::tryWait() {
  // (3) acquire: sees what came before the signal; pairs with (2, 4).
  uint32_t old = word.load(std::memory_order_acquire);
  if (mode == Mode::Manual) {
    return (old & kSignalled) != 0;
  }
  uint32_t round = 0;
  while ((old & kSignalled) != 0) {
    if ((old & kLocked) != 0) {
      detail::relax(round);
      // (5) acquire: sees what came before the signal; pairs with (2, 4).
      old = word.load(std::memory_order_acquire);
      // (6) acquire: sees what came before the signal; pairs with (2, 4).
    } else if (word.compare_exchange_weak(old, old & ~kSignalled, std::memory_order_acquire,
                                          std::memory_order_acquire)) {
      return true;
    }
  }
  return false;
}

void Event::State::signal() {
  // relaxed: only a guess for the compare-exchange.
  uint32_t old = word.load(std::memory_order_relaxed);
  while ((old & (kLocked | kListed)) == 0) {
    // (4) release: publishes what came before; on an event that is signalled already as well, where it continues the release
    // sequence of the signals before; pairs with (3, 5, 6). The state may be gone after it.
    if (word.compare_exchange_weak(old, old | kSignalled, std::memory_order_release, std::memory_order_relaxed)) {
      return;
    }
  }
  signalLocked();
}

void Event::State::signalLocked() {
  uint32_t wasSignalled = detail::lockBit<uint32_t>(word, kLocked) & kSignalled;
  if (forwards == nullptr || wasSignalled != 0) [[likely]] {
    wakeAndUnlock(wasSignalled);
    return;
  }
  // Room for the references is made outside of the lock.
  std::vector<detail::Shared<State>> targets;
  while (targets.capacity() < numForwards) {
    const uint32_t wanted = numForwards;
    unlock(wasSignalled);
    targets.reserve(wanted);
    wasSignalled = detail::lockBit<uint32_t>(word, kLocked) & kSignalled;
  }
  for (Forward* link = wasSignalled ? nullptr : forwards; link != nullptr; link = link->nextOfSource) {
    if (link->target->tryRetain()) {
      targets.push_back(detail::Shared<State>::adopt(link->target));
    }
  }
  wakeAndUnlock(wasSignalled);
  for (const auto& target : targets) {
    target->signal();
  }
}

void Event::State::wakeAndUnlock(uint32_t wasSignalled) {
  if (mode == Mode::Auto) {
    detail::Waiter* first = waiters.popFront();
    unlock(first != nullptr ? wasSignalled : kSignalled);
    if (first != nullptr) {
      detail::wake(*first);
    }
  } else {
    detail::WaitList claimed;
    claimed.claimAll(waiters);
    unlock(kSignalled);
    detail::wakeAll(claimed);
  }
}

void Event::State::clear() {
  detail::lockBit<uint32_t>(word, kLocked);
  unlock(0);
}

bool Event::State::wait(detail::TimePoint deadline) {
  detail::Waiter& self = detail::currentWaiter();
  const uint32_t signalled = detail::lockBit<uint32_t>(word, kLocked) & kSignalled;
  if (signalled != 0) {
    unlock(mode == Mode::Auto ? 0 : kSignalled);
    return true;
  }
  waiters.pushBack(self);
  unlock(0);
  if (deadline == detail::kNever) [[likely]] {
    detail::block(self, "Event", this);
    return true;
  }
  struct Lock {
    State& state;
    uint32_t signalled = 0;
    void lock() { signalled = detail::lockBit<uint32_t>(state.word, kLocked) & kSignalled; }
    void unlock() { state.unlock(signalled); }
  } lock{*this};
  return detail::blockLinked(self, lock, waiters, deadline, "Event", this);
}

void Event::State::forward(State& source, State& any) {
  static_assert(sizeof(Forward) <= detail::kLine);
  source.retain();
  auto* link = ::new (detail::allocateNode(detail::NodeSize::Line)) Forward{&source, &any, nullptr, nullptr, any.sources};
  any.sources = link;
  const uint32_t signalled = detail::lockBit<uint32_t>(source.word, kLocked) & kSignalled;
  link->nextOfSource = source.forwards;
  if (source.forwards != nullptr) {
    source.forwards->previousOfSource = link;
  }
  source.forwards = link;
  ++source.numForwards;
  source.unlock(signalled);
  if (signalled != 0) {
    any.signal();
  }
}

}  // namespace weft
