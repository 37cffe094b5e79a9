// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The hot paths of the headers, one to a function. barriers.py compiles this file for other processors,
// and compares the barriers of each function with expected.txt. Nothing here runs.

#include <atomic>
#include <cstdint>

#include "scheduler/trace/event_ring.h"
#include "weft/detail/base/shared.h"
#include "weft/detail/base/spin_lock.h"
#include "weft/detail/base/sync.h"
#include "weft/detail/forkjoin/completion.h"
#include "weft/detail/forkjoin/group_count.h"
#include "weft/detail/park/idle.h"
#include "weft/detail/park/parker.h"
#include "weft/detail/park/permit.h"
#include "weft/detail/queue/inbox.h"
#include "weft/detail/queue/segmented_queue.h"
#include "weft/detail/queue/steal_gate.h"
#include "weft/detail/queue/stealing_deque.h"
#include "weft/detail/wait/event_core.h"
#include "weft/detail/wait/mutex_core.h"
#include "weft/detail/wait/semaphore_core.h"
#include "weft/detail/wait/wait_group_core.h"
#include "weft/detail/wait/wait_word.h"

using namespace weft::detail;

namespace {
struct Item {
  uint32_t number;
};
struct Node {
  InboxLink<Node> inboxNext;
};
using Deque = StealingDeque<Item>;
using Stealer = StealGate<>::Stealer;
using Completed = Completion<Waiter>;
using Counted = GroupCount<Waiter>;
using Many = SegmentedQueue<Item*>;
using Ordered = SegmentedQueue<Item*, StdSync, 62, Producers::InTurn>;
}  // namespace

extern "C" {

// Fences. Without the compiler barrier in them, the first of two stores would be left out.
void fence_light(uint32_t& mine) {
  mine = 1;
  StdSync::lightFence();
  mine = 2;
}
void fence_lightWhereFree(uint32_t& mine) {
  mine = 1;
  StdSync::lightFenceWhereFree();
  mine = 2;
}
void fence_heavy(uint32_t& mine) {
  mine = 1;
  StdSync::heavyFence();
  mine = 2;
}
void fence_full(uint32_t& mine) {
  mine = 1;
  StdSync::fence(std::memory_order_seq_cst);
  mine = 2;
}

// A store within the section.
void spinLock_section(SpinLock& lock, uint32_t& guarded) {
  lock.lock();
  guarded = 1;
  lock.unlock();
}

void shared_retain(ReferenceCount& count) { count.retain(); }
bool shared_releaseReference(ReferenceCount& count) { return count.releaseReference(false); }

bool deque_push(Deque& deque, Item* item) { return deque.push(item); }
Item* deque_take(Deque& deque, Stealer& self) { return deque.take(self); }
void deque_steal(Deque& deque, Deque::Stolen& stolen) { stolen = deque.steal(); }
Item* deque_takeOldest(Deque& deque) { return deque.takeOldest(); }
void deque_open(Deque& deque) { deque.open(); }
bool deque_isEmpty(const Deque& deque) { return deque.empty(); }

void gate_enter(Stealer& self) { self.enter(); }
void gate_leave(Stealer& self) { self.leave(); }
// The announced take is the first of two stores.
bool gate_isUnseen(Stealer& self, uint64_t& bottom) {
  bottom = 1;
  const bool isUnseen = self.isUnseen();
  bottom = 2;
  return isUnseen;
}

uintptr_t inbox_push(Inbox<Node>& inbox, Node* node) { return inbox.push(node); }
Node* inbox_popAllNewestFirst(Inbox<Node>& inbox) { return inbox.popAllNewestFirst(); }
Node* inbox_older(Node& node) { return Inbox<Node>::older(node); }
bool inbox_tryPark(Inbox<Node>& inbox) { return inbox.tryPark(); }
bool inbox_cancelPark(Inbox<Node>& inbox) { return inbox.cancelPark(); }
bool inbox_isEmpty(const Inbox<Node>& inbox) { return inbox.empty(); }

void segmentedQueue_push(Ordered& queue, Item* item) { queue.push(item); }
void segmentedQueue_pushAtOnce(Many& queue, Item* item) { queue.push(item); }
bool segmentedQueue_pop(Ordered::Consumer& consumer, Item*& item) { return consumer.pop(item); }
bool segmentedQueue_popAtOnce(Many::Consumer& consumer, Item*& item) { return consumer.pop(item); }
bool segmentedQueue_isEmpty(Ordered::Consumer& consumer) { return consumer.empty(); }

// What is published is the first of two stores, which the compiler must not leave out.
void idle_onPublish(IdleSet<>& idle, uint64_t& work) {
  work = 1;
  idle.onPublish();
  work = 2;
}
void idle_onPublishFromOutside(IdleSet<>& idle, uint64_t& work) {
  work = 1;
  idle.onPublishFromOutside();
  work = 2;
}
void idle_addSleeper(IdleSet<>& idle, IdleSet<>::Sleeper& self) { idle.addSleeper(self); }
void idle_addExternal(IdleSet<>& idle) { idle.addExternal(); }
void idle_beginSearch(IdleSet<>& idle) { idle.beginSearch(); }

void parker_unpark(Parker<StdSync, false>& parker) { parker.unpark(); }
bool parker_tryPark(Parker<>& parker) { return parker.tryPark(); }
bool parker_parkUntil(Parker<>& parker, TimePoint deadline) { return parker.parkUntil(deadline); }
bool parker_beginElsewhere(Parker<>& parker) { return parker.beginElsewhere(); }
bool parker_endElsewhere(Parker<>& parker) { return parker.endElsewhere(); }

struct Host {
  void wake();
  void block();
};
void permit_notify(Permit<>& permit, Host& host) { permit.notify(host); }
void permit_wait(Permit<>& permit, Host& host) { permit.wait(host); }
bool permit_cancel(Permit<>& permit) { return permit.cancel(); }

uint32_t waitWord_lock(WaitWord<>& word) { return word.lock(); }
bool waitWord_lockIfAwaited(WaitWord<>& word) { return word.lockIfAwaited(); }
void waitWord_unlock(WaitWord<>& word) { word.unlock(); }
void waitWord_unlockTo(WaitWord<>& word, uint32_t state) { word.unlockTo(state); }
uint32_t waitWord_unlockBy(WaitWord<>& word) {
  return word.unlockBy([](uint32_t state) { return state + WaitWord<>::kState; });
}
bool waitWord_settle(WaitWord<>& word, Waiter& self) {
  return word.settle(self, [](uint32_t& state) { return state == 0; });
}

bool mutex_tryLock(MutexCore<>& mutex) { return mutex.tryLock(); }
bool mutex_tryUnlock(MutexCore<>& mutex) { return mutex.tryUnlock(); }

bool event_isSignalled(const EventCore<>& event) { return event.isSignalled(); }
bool event_tryWait(EventCore<>& event) { return event.tryWait(); }
bool event_tryQueueAlone(EventCore<>& event, Waiter& self) { return event.tryQueueAlone(self); }
bool event_trySignal(EventCore<>& event) {
  return event.trySignal([](Waiter& waiter) { wake(waiter); });
}

bool semaphore_tryTake(SemaphoreCore<>& semaphore) { return semaphore.tryTake(); }

uint32_t waitGroup_end(WaitGroupCore<>& group) { return group.end(); }
bool waitGroup_tryEnd(WaitGroupCore<>& group) { return group.tryEnd(); }
bool waitGroup_isOver(const WaitGroupCore<>& group) { return group.isOver(); }
bool waitGroup_tryQueueFirst(WaitGroupCore<>& group, Waiter& self) { return group.tryQueueFirst(self); }

Waiter* completion_finish(Completed& completion) { return completion.finish(); }
bool completion_isDoneOrWakes(Completed& completion, Waiter& self) { return completion.isDoneOrWakes(self); }

void groupCount_addOther(Counted& group) { group.addOther(); }
Waiter* groupCount_endOfOther(Counted& group) { return group.endOfOther(); }
bool groupCount_isOver(const Counted& group) { return group.isOver(); }
bool groupCount_isOverOrWakes(Counted& group, Waiter& self) { return group.isOverOrWakes(self); }

void eventRing_write(EventRing<>& ring, uint64_t head, uint64_t operand) { ring.write(head, operand); }
void eventRing_at(const EventRing<>& ring, uint64_t n, EventRing<>::Event& event) { event = ring.at(n); }
uint64_t eventRing_numWritten(const EventRing<>& ring) { return ring.numWritten(); }

}  // extern "C"
