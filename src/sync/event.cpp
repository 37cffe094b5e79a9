// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/event.h"

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

Event::State::~State() {
  WEFT_ASSERT(!core.isAwaited(),
              "an Event was destroyed while somebody waits for it. Keep a copy until wait() has returned.");
  while (sources != nullptr) {
    Forward* link = sources;
    sources = link->nextOfTarget;
    detail::Shared<State> source = detail::Shared<State>::adopt(link->source);
    const uintptr_t signalled = source->core.lock();
    (link->previousOfSource != nullptr ? link->previousOfSource->nextOfSource : source->forwards) =
        link->nextOfSource;
    if (link->nextOfSource != nullptr) {
      link->nextOfSource->previousOfSource = link->previousOfSource;
    }
    --source->core.numForwards;
    source->core.unlock(signalled);
    detail::freeNode(link, detail::NodeSize::Line);
  }
}

bool Event::State::tryWait() { return core.tryWait(); }

void Event::State::signal() {
  if (!core.trySignal(detail::inlined::wake)) {
    signalSlow();
  }
}

void Event::State::signalSlow() {
  uintptr_t wasSignalled = core.lock();
  // Room for the references is made outside of the lock.
  std::vector<detail::Shared<State>> targets;
  while (wasSignalled == 0 && targets.capacity() < core.numForwards) {
    const uint32_t wanted = core.numForwards;
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
  for (const auto& target : targets) {
    target->signal();
  }
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
