// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/event.h"

#include <utility>
#include <vector>

#include "scheduler/waiter_inl.h"
#include "weft/debug.h"
#include "weft/detail/base/node_pool.h"

namespace weft {

// A link from a source to an event made by any(). The target owns it, and it lies in the source's list. That
// list does not keep the target alive: signal() takes a reference under the source's lock, or finds that it
// is too late to take one.
struct Event::Forward {
  State* source;  // one reference is held
  State* target;
  Forward* nextOfSource;
  Forward* previousOfSource;
  Forward* nextOfTarget;
};

// Events that are to be signalled, since they forward the signals of others.
struct Event::Targets : std::vector<detail::Shared<State>> {};

// An event made by any() may be the last to hold its sources, which may be made by any() too, and so on. So
// the states that go are freed one after the other.
void Event::State::free(State* state) noexcept {
  state->nextToFree = nullptr;
  while (state != nullptr) {
    WEFT_ASSERT(!state->core.isAwaited(),
                "an Event was destroyed while somebody waits for it. Keep a copy until wait() has returned.");
    State* next = state->nextToFree;
    while (Forward* const link = state->sources) {
      state->sources = link->nextOfTarget;
      State* const source = link->source;
      const uintptr_t signalled = source->core.lock();
      (link->previousOfSource != nullptr ? link->previousOfSource->nextOfSource : source->forwards) =
          link->nextOfSource;
      if (link->nextOfSource != nullptr) {
        link->nextOfSource->previousOfSource = link->previousOfSource;
      }
      --source->core.numForwards;
      source->core.unlock(signalled);
      detail::freeNode(link, detail::NodeSize::Line);
      if (source->releaseReference(kMayBeUpgraded)) {
        source->nextToFree = std::exchange(next, source);
      }
    }
    detail::Shared<State>::freeMemory(state);
    state = next;
  }
}

bool Event::State::tryWait() { return core.tryWait(); }

void Event::State::signal() {
  if (!core.trySignal(detail::inlined::wake)) {
    signalSlow();
  }
}

// The targets may have targets themselves, and so on. So they are signalled one after the other.
void Event::State::signalSlow() {
  Targets targets;
  signalAndCollect(targets);
  while (!targets.empty()) {
    const detail::Shared<State> target = std::move(targets.back());
    targets.pop_back();
    if (!target->core.trySignal(detail::inlined::wake)) {
      target->signalAndCollect(targets);
    }
  }
}

// Adds those to `targets` that are to be signalled as well.
void Event::State::signalAndCollect(Targets& targets) {
  uintptr_t wasSignalled = core.lock();
  // Room for the references is made outside of the lock.
  while (wasSignalled == 0 && targets.capacity() - targets.size() < core.numForwards) {
    const size_t wanted = targets.size() + core.numForwards;
    core.unlock(wasSignalled);
    targets.reserve(wanted);
    wasSignalled = core.lock();
  }
  for (Forward* link = wasSignalled != 0 ? nullptr : forwards; link != nullptr; link = link->nextOfSource) {
    if (link->target->tryRetain()) {
      targets.push_back(detail::Shared<State>::adopt(link->target));
    }
  }
  detail::EventCore<>::Claimed claimed = core.signalAndUnlock(wasSignalled);
  if (claimed.first != nullptr) {
    detail::inlined::wake(*claimed.first);
  }
  detail::wakeAll(claimed.all);
}

void Event::State::clear() {
  core.lock();
  core.unlock(0);
}

void Event::State::wait() {
  detail::Waiter& self = detail::inlined::currentWaiter();
  if (core.tryQueueAlone(self) || (!tryWait() && queue(self))) {
    detail::inlined::block(self, "Event", this);
  }
}

// Not inlined, so that wait() needs few registers.
[[gnu::noinline]] bool Event::State::queue(detail::Waiter& self) { return core.queue(self); }

bool Event::State::wait(detail::TimePoint deadline, const std::stop_token& token) {
  if (core.tryWait()) {
    return true;
  }
  if (token.stop_requested()) {
    return false;
  }
  detail::Waiter& self = detail::currentWaiter();
  const bool isAlone = !token.stop_possible() && core.tryQueueAlone(self);
  return (!isAlone && (tryWait() || !queue(self))) ||
         detail::blockQueued(self, core, deadline, token, "Event", this);
}

void Event::State::forward(State& source, State& any) {
  static_assert(sizeof(Forward) <= detail::kLine && sizeof(State) <= detail::kLine);
  source.retain();
  auto* link = ::new (detail::allocateNode(detail::NodeSize::Line))
      Forward{&source, &any, nullptr, nullptr, any.sources};
  any.sources = link;
  const uintptr_t signalled = source.core.lock();
  link->nextOfSource = source.forwards;
  if (source.forwards != nullptr) {
    source.forwards->previousOfSource = link;
  }
  source.forwards = link;
  ++source.core.numForwards;
  source.core.unlock(signalled);
  if (signalled != 0) {
    any.signal();
  }
}

}  // namespace weft
