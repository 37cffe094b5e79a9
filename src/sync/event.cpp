// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/event.h"

#include <cstdint>
#include <utility>

#include "scheduler/core/waiter_inl.h"
#include "weft/debug.h"
#include "weft/detail/base/node_pool.h"

namespace weft::inline v0_1 {

// A link from a source to an event made by any(). The target owns it; it lies in the source's list, which
// does not keep the target alive: signal() takes a reference under the source's lock, or comes too late.
struct Event::Forward {
  State* source;  // one reference is held
  State* target;
  Forward* nextOfSource;
  Forward* previousOfSource;
  Forward* nextOfTarget;
};

// Events to signal next, in pooled nodes, which do not throw: a signal must not end halfway.
class Event::Targets {
 public:
  Targets() = default;
  Targets(const Targets&) = delete;
  Targets& operator=(const Targets&) = delete;
  ~Targets() {
    while (spares_ != nullptr) {
      detail::freeNode(std::exchange(spares_, spares_->next), detail::NodeSize::Line);
    }
  }

  // Makes room for `count` further ones.
  void reserve(uint32_t count) {
    for (; numSpares_ < count; ++numSpares_) {
      spares_ = ::new (detail::allocateNode(detail::NodeSize::Line)) Node{nullptr, spares_};
    }
  }
  uint32_t room() const { return numSpares_; }

  // Takes over a reference to `target`. Requires: there is room.
  void push(State* target) {
    Node* const node = std::exchange(spares_, spares_->next);
    --numSpares_;
    *node = {target, first_};
    first_ = node;
  }

  bool isEmpty() const { return first_ == nullptr; }
  detail::Shared<State> pop() {
    Node* const node = std::exchange(first_, first_->next);
    State* const target = node->target;
    *node = {nullptr, spares_};
    spares_ = node;
    ++numSpares_;
    return detail::Shared<State>::adopt(target);
  }

 private:
  struct Node {
    State* target;
    Node* next;
  };

  Node* first_ = nullptr;
  Node* spares_ = nullptr;
  uint32_t numSpares_ = 0;
};

// An event of any() may be the last to hold its sources, and so on. So states are freed one after the other.
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

constinit detail::MovedFromState<Event::State> Event::State::movedFrom;

bool Event::State::tryWait() { return core.tryWait(); }

void Event::State::signal() {
  if (!core.trySignal(detail::inlined::wake)) {
    signalSlow();
  }
}

// The targets may have targets themselves, and so on. So they are signalled one after the other.
void Event::State::signalSlow() {
  detail::Shared<State>::assertUsable(*this);
  Targets targets;
  signalAndCollect(targets);
  while (!targets.isEmpty()) {
    const detail::Shared<State> target = targets.pop();
    if (!target->core.trySignal(detail::inlined::wake)) {
      target->signalAndCollect(targets);
    }
  }
}

// Adds those to `targets` that are to be signalled as well.
void Event::State::signalAndCollect(Targets& targets) {
  uintptr_t wasSignalled = core.lock();
  // Room for the references is made outside of the lock.
  while (wasSignalled == 0 && targets.room() < core.numForwards) {
    const uint32_t wanted = core.numForwards;
    core.unlock(wasSignalled);
    targets.reserve(wanted);
    wasSignalled = core.lock();
  }
  for (Forward* link = wasSignalled != 0 ? nullptr : forwards; link != nullptr; link = link->nextOfSource) {
    if (link->target->tryRetain()) {
      targets.push(link->target);
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
[[gnu::noinline]] bool Event::State::queue(detail::Waiter& self) {
  detail::Shared<State>::assertUsable(*this);
  return core.queue(self);
}

bool Event::State::wait(detail::TimePoint deadline, const std::stop_token& token) {
  if (core.tryWait()) {
    return true;
  }
  if (token.stop_requested()) {
    detail::Shared<State>::assertUsable(*this);
    return false;
  }
  detail::Waiter& self = detail::currentWaiter();
  const bool isAlone = !token.stop_possible() && core.tryQueueAlone(self);
  return (!isAlone && (tryWait() || !queue(self))) ||
         detail::blockQueued(self, core, deadline, token, "Event", this);
}

// Requires: the source is locked. Returns: whether `source` forwards to `any`; the shorter list tells.
bool Event::State::isForwarded(const State& source, const State& any) {
  const Forward* ofSource = source.forwards;
  const Forward* ofAny = any.sources;
  while (ofSource != nullptr && ofAny != nullptr && ofSource->target != &any && ofAny->source != &source) {
    ofSource = ofSource->nextOfSource;
    ofAny = ofAny->nextOfTarget;
  }
  return ofSource != nullptr && ofAny != nullptr;
}

// An event that is given twice is one source: each of its signals is passed on once.
void Event::State::forward(State& source, State& any) {
  static_assert(sizeof(Forward) <= detail::kLine && sizeof(State) <= detail::kLine);
  detail::Shared<State>::assertUsable(source);
  const uintptr_t wasSignalled = source.core.lock();
  const bool isThere = isForwarded(source, any);
  source.core.unlock(wasSignalled);
  if (isThere) {
    return;
  }
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

}  // namespace weft::inline v0_1
