// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "scheduler/worker/stealer.h"

#include <chrono>
#include <utility>

#include "scheduler/worker/worker.h"
#include "scheduler/worker/worker_group.h"
#include "weft/detail/base/random.h"
#include "weft/detail/base/ticks.h"

namespace weft::inline v0_1::detail {
namespace {

// To be counted as a thief takes a membarrier: 16 to 40 us, and it interrupts others. To stay counted costs
// an owner that forks a seventh of its time. In kQuick these two costs are equal. So steals that are less
// than this apart are quick.
constexpr auto kQuick = std::chrono::microseconds(300);
constexpr uint32_t kManyQuick = 3;

// A worker that has not polled for this many microseconds is in one task for long.
constexpr uint64_t kLong = 3'000;

}  // namespace

Stealer::Stealer(WorkerGroup& group, const Worker& owner, int id, StealGate<>::Stealer& self)
    : group_(group),
      owner_(owner),
      self_(self),
      random_(0x9e3779b97f4a7c15u * (static_cast<uint64_t>(id) + 2)),
      seen_(id >= 0 ? static_cast<size_t>(group.numWorkers) : 0, Seen{}, StlAllocator<Seen>(group.allocator)),
      order_(group.allocator) {}

// Returns: a number below `count`.
uint64_t Stealer::draw(uint64_t count) {
  random_ = nextRandom(random_);
  return random_ % count;
}

uint64_t Stealer::nextStart() { return draw(static_cast<uint64_t>(group_.numWorkers)); }

TaskNode* Stealer::steal() {
  if (!order_.ringEnds.empty()) [[unlikely]] {
    return stealFromNearest();
  }
  const auto numWorkers = static_cast<uint64_t>(group_.numWorkers);
  const uint64_t start = nextStart();
  for (uint64_t i = 0; i < numWorkers; ++i) {
    Worker& victim = *group_.workers[(start + i) % numWorkers];
    TaskNode* node = &victim != &owner_ ? stealFrom(victim.deque()) : nullptr;
    if (node != nullptr) {
      return node;
    }
  }
  return stealFromBoundThread();
}

// Whoever has work far away does not wait for long, though there may always be some nearby: the owner itself
// runs its oldest in turn, and if it is in one task for long, a busy worker takes what is stranded.
[[gnu::noinline]] TaskNode* Stealer::stealFromNearest() {
  size_t begin = 0;
  for (const size_t end : order_.ringEnds) {
    const size_t count = end - begin;
    const size_t start = draw(count);
    for (size_t i = 0; i < count; ++i) {
      Worker& victim = *group_.workers[order_.victims[begin + (start + i) % count]];
      if (TaskNode* node = stealFrom(victim.deque())) {
        return node;
      }
    }
    begin = end;
  }
  return stealFromBoundThread();
}

void Stealer::lookForStranded(uint64_t now) {
  const uint64_t longTicks = ticksIn(kLong);
  hasStranded_ = false;
  for (size_t i = 0; i < seen_.size(); ++i) {
    Worker& victim = *group_.workers[i];
    const uint64_t lastPoll = victim.lastPoll();
    // The tick counters of two processors may differ. So a poll that was seen at the last call is old, too.
    const bool isSilent = lastPoll == std::exchange(seen_[i].lastPoll, lastPoll) ||
                          (now > lastPoll && now - lastPoll >= longTicks);
    seen_[i].isStranded = isSilent && &victim != &owner_ && !victim.deque().empty();
    hasStranded_ = hasStranded_ || seen_[i].isStranded;
  }
  isBoundThreadsTurn_ = false;
  group_.externals.forEach(
      [&](StealingDeque<TaskNode>& deque) { isBoundThreadsTurn_ = isBoundThreadsTurn_ || !deque.empty(); });
  hasStranded_ = hasStranded_ || isBoundThreadsTurn_;
}

TaskNode* Stealer::stealStranded() {
  TaskNode* node = std::exchange(isBoundThreadsTurn_, false) ? stealFromBoundThread() : nullptr;
  const uint64_t start = nextStart();
  for (size_t i = 0; node == nullptr && i < seen_.size(); ++i) {
    const size_t id = (start + i) % seen_.size();
    Seen& seen = seen_[id];
    if (!seen.isStranded) {
      continue;
    }
    Worker& victim = *group_.workers[id];
    node = victim.lastPoll() == seen.lastPoll ? stealFrom(victim.deque()) : nullptr;
    seen.isStranded = node != nullptr;
  }
  // A forked task may be half of a loop, which runs for long and splits again. So take one at a time.
  hasStranded_ = node != nullptr && !isForked(*node);
  return node;
}

// Chooses at random among the bound threads that have tasks, so that none keeps the others waiting.
TaskNode* Stealer::stealFromBoundThread() {
  StealingDeque<TaskNode>* chosen = nullptr;
  uint64_t numSeen = 0;
  group_.externals.forEach([&](StealingDeque<TaskNode>& deque) {
    if (!deque.empty()) {
      random_ = nextRandom(random_);
      chosen = random_ % ++numSeen == 0 ? &deque : chosen;
    }
  });
  return chosen != nullptr ? stealFrom(*chosen) : nullptr;
}

TaskNode* Stealer::stealFrom(StealingDeque<TaskNode>& deque) {
  if (deque.empty()) {
    return nullptr;
  }
  self_.enter();
  StealingDeque<TaskNode>::Stolen stolen;
  do {
    stolen = deque.steal();
  } while (stolen.lostRace);
  if (stolen.item == nullptr) {
    return nullptr;
  }
  ++numSteals_;
  record(TraceKind::Stole, reinterpret_cast<const void*>(stolen.item->invoke));
  // The stolen task may take long. So this thread stays counted only after several quick steals.
  const TimePoint now = TimePoint::clock::now();
  numQuick_ = now - std::exchange(lastSteal_, now) < kQuick ? numQuick_ + 1 : 0;
  if (numQuick_ < kManyQuick) {
    self_.leave();
  }
  return stolen.item;
}

bool Stealer::seesTasks() {
  bool any = false;
  group_.forEachWorker([&](Worker& worker) { any = any || !worker.deque().empty(); });
  group_.externals.forEach([&](StealingDeque<TaskNode>& deque) { any = any || !deque.empty(); });
  return any;
}

}  // namespace weft::inline v0_1::detail
