// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/event.h"

#include <vector>

#include "scheduler/waiter_inl.h"
#include "weft/debug.h"
#include "weft/detail/base/node_pool.h"
#include "weft/detail/base/spin_lock.h"
#include "weft/detail/wait/select_node.h"

// Two ways to change the word. While kLocked is clear: one compare-exchange, for a signal that nobody waits
// for, for using one up, and for the only waiter, whose address is in the word: it puts it there itself, and
// the signal that takes it out has claimed it. With kLocked set: only its holder changes the word, and its
// release store is the holder's last access to the state. Who takes the lock finds every waiter in the list,
// the only one too: lock() moves it there. A waiter is registered, and a signal handed to it, in one step or
// under the lock, so that no signal falls between.
namespace weft {

// A link from a source to an event made by any(). It is owned by the latter and lies in the former's list,
// which does not keep the target alive: signal() takes a reference under the source's lock, or finds that it
// is too late for one.
struct Event::Forward {
  State* source;  // one reference is held
  State* target;
  Forward* nextOfSource;
  Forward* previousOfSource;
  Forward* nextOfTarget;
};

struct Event::State::ListLock {
  State& state;
  uintptr_t signalled = 0;

  void lock() { signalled = state.lock(); }
  void unlock() { state.unlock(signalled); }
};

Event::State::~State() {
  // relaxed: nobody else may use it any more.
  WEFT_ASSERT(waiters.isEmpty() && word.load(std::memory_order_relaxed) <= kBits,
              "an Event was destroyed while somebody waits for it. Keep a copy until wait() has returned.");
  while (sources != nullptr) {
    Forward* link = sources;
    sources = link->nextOfTarget;
    detail::Shared<State> source = detail::Shared<State>::adopt(link->source);
    const uintptr_t signalled = source->lock();
    (link->previousOfSource != nullptr ? link->previousOfSource->nextOfSource : source->forwards) =
        link->nextOfSource;
    if (link->nextOfSource != nullptr) {
      link->nextOfSource->previousOfSource = link->previousOfSource;
    }
    --source->numForwards;
    source->unlock(signalled);
    detail::freeNode(link, detail::NodeSize::Line);
  }
}

// Returns: kSignalled or 0.
uintptr_t Event::State::lock() {
  static_assert(alignof(detail::Waiter) > kBits);
  const uintptr_t old = detail::lockBit<uintptr_t>(word, kLocked);
  if (old > kBits) {
    waiters.pushBack(*reinterpret_cast<detail::Waiter*>(old));
  }
  return old & kSignalled;
}

void Event::State::unlock(uintptr_t signalled) {
  const uintptr_t listed = waiters.isEmpty() && forwards == nullptr ? 0 : kListed;
  // (2) release: the section, and what came before signal(), is seen by whoever reads the word next; pairs
  // with (3, 5, 6) and with the acquire of lockBit.
  word.store(signalled | listed, std::memory_order_release);
}

bool Event::State::tryWait() {
  // (3) acquire: sees what came before the signal; pairs with (2, 4).
  uintptr_t old = word.load(std::memory_order_acquire);
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
  uintptr_t old = word.load(std::memory_order_relaxed);
  while ((old & (kLocked | kListed)) == 0) {
    const bool isAwaited = old > kBits;
    const uintptr_t next = isAwaited && mode == Mode::Auto ? 0 : kSignalled;
    // (4) acq_rel: publishes what came before; on an event that is signalled already as well, where it
    // continues the release sequence of the signals before; sees the waiter complete; pairs with (3, 5, 6,
    // 8). The state may be gone after it.
    if (word.compare_exchange_weak(old, next, std::memory_order_acq_rel, std::memory_order_relaxed)) {
      if (isAwaited) {
        detail::inlined::wake(*reinterpret_cast<detail::Waiter*>(old));
      }
      return;
    }
  }
  signalSlow();
}

void Event::State::signalSlow() {
  uintptr_t wasSignalled = lock();
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
    wasSignalled = lock();
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

// Returns: whom to wake, or null. A select that something else has happened to is passed over.
inline detail::Waiter* Event::State::claimFirst() {
  detail::Waiter* waiter = waiters.popFront();
  while (waiter != nullptr && !detail::claim(*waiter)) {
    waiter = waiters.popFront();
  }
  return waiter != nullptr ? &detail::ownerOf(*waiter) : nullptr;
}

void Event::State::wakeAndUnlock(uintptr_t wasSignalled) {
  if (mode == Mode::Auto) {
    detail::Waiter* first = claimFirst();
    unlock(first != nullptr ? wasSignalled : kSignalled);
    if (first != nullptr) {
      detail::inlined::wake(*first);
    }
  } else {
    detail::WaitList claimed;
    if (!hasSelects) [[likely]] {
      claimed.claimAll(waiters);
    }
    while (detail::Waiter* waiter = claimFirst()) {
      claimed.pushClaimed(*waiter);
    }
    unlock(kSignalled);
    detail::wakeAll(claimed);
  }
}

void Event::State::clear() {
  lock();
  unlock(0);
}

bool Event::State::wait(detail::TimePoint deadline) {
  detail::Waiter& self = detail::inlined::currentWaiter();
  // relaxed: only a guess for the compare-exchange.
  uintptr_t old = word.load(std::memory_order_relaxed);
  // (8) release: the waiter is complete; pairs with (4) and with the acquire of lockBit.
  const bool isOnly =
      old == 0 && word.compare_exchange_strong(old, reinterpret_cast<uintptr_t>(&self),
                                               std::memory_order_release, std::memory_order_relaxed);
  if (!isOnly && (tryWait() || waitSlow(self))) {
    return true;
  }
  if (deadline == detail::kNever) [[likely]] {
    detail::inlined::block(self, "Event", this);
    return true;
  }
  ListLock guard{*this};
  return detail::blockLinked(self, guard, waiters, deadline, "Event", this);
}

bool Event::State::wait(detail::TimePoint deadline, const std::stop_token& token) {
  if (tryWait()) {
    return true;
  }
  if (token.stop_requested()) {
    return false;
  }
  detail::Waiter& self = detail::currentWaiter();
  if (waitSlow(self)) {
    return true;
  }
  const auto claim = [&] {
    ListLock guard{*this};
    return detail::unlinkIfLinked(self, guard, waiters);
  };
  return detail::blockStoppable(self, deadline, token, claim, "Event", this) == detail::WaitEnd::Woken;
}

// Registers `self` as a waiter. Returns: whether it found a signal instead.
bool Event::State::waitSlow(detail::Waiter& self) {
  if (lock() != 0) {
    unlock(mode == Mode::Auto ? 0 : kSignalled);
    return true;
  }
  waiters.pushBack(self);
  unlock(0);
  return false;
}

void Event::State::forward(State& source, State& any) {
  static_assert(sizeof(Forward) <= detail::kLine);
  source.retain();
  auto* link = ::new (detail::allocateNode(detail::NodeSize::Line))
      Forward{&source, &any, nullptr, nullptr, any.sources};
  any.sources = link;
  const uintptr_t signalled = source.lock();
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
