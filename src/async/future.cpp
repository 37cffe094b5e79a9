// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/future.h"

#include <exception>
#include <stdexcept>

#include "async/task_thread.h"
#include "async/waiting_listener.h"
#include "scheduler/core/waiter_inl.h"
#include "scheduler/worker/worker.h"
#include "weft/detail/base/node_memory.h"
#include "weft/detail/wait/select_node.h"
#include "weft/detail/wait/stoppable.h"
#include "weft/task.h"

namespace weft::inline v0_1 {

const char* BrokenPromise::what() const noexcept {
  return "weft::BrokenPromise: the promise of this future was destroyed before it was set";
}

namespace detail {
namespace {

// This thread's calls of loops, newest first. They end in any order, as fibers may suspend in them.
constinit thread_local LoopCall* loopCalls = nullptr;

FutureCore::Word::Room* makeRoom() {
  static_assert(sizeof(FutureCore::Word::Room) <= kLine);
  return ::new (allocateNode(NodeSize::Line)) FutureCore::Word::Room();
}

// How many loops that tell listeners a stack holds beyond the first, each in a LoopCall of the loop before.
// Strands that run each other's tasks seldom go further. A loop takes 350 bytes, 800 unoptimized.
constexpr int kNestedLoops = 4;

void freeRoom(FutureCore::Word::Room* room) {
  room->~Room();
  freeNode(room, NodeSize::Line);
}

}  // namespace

void FutureListeners::prepend(TaskNode& listener) {
  if (first == nullptr) {
    last = &listener;
  } else if (LeavingListener::is(*first)) {
    static_cast<LeavingListener*>(first)->before = &listener;
  }
  listener.next = first;
  first = &listener;
}

void FutureListeners::append(TaskNode* begin, TaskNode* end) {
  (first != nullptr ? last->next : first) = begin;
  last = end;
}

void FutureListeners::pushBack(TaskNode& listener) {
  if (WaitingListener::is(listener)) {
    waiters.pushBack(*static_cast<WaitingListener&>(listener).waiter);
    return;
  }
  if (WakingListener::is(listener)) {
    prepend(listener);
    return;
  }
  if (LeavingListener::is(listener)) {
    static_cast<LeavingListener&>(listener).before = first != nullptr ? last : nullptr;
  }
  listener.next = nullptr;
  append(&listener, &listener);
}

void FutureListeners::remove(TaskNode& listener) {
  TaskNode* const before = static_cast<LeavingListener&>(listener).before;
  TaskNode* const after = listener.next;
  (before != nullptr ? before->next : first) = after;
  if (after == nullptr) {
    last = before;
  } else if (LeavingListener::is(*after)) {
    static_cast<LeavingListener*>(after)->before = before;
  }
}

void FutureListeners::pushClaimed(TaskNode& listener) {
  if (WaitingListener::is(listener)) {
    waiters.pushClaimed(*static_cast<WaitingListener&>(listener).waiter);
  } else if (WakingListener::is(listener)) {
    prepend(listener);
  } else {
    listener.next = nullptr;
    append(&listener, &listener);
  }
}

void FutureListeners::takeAll(FutureListeners& other) {
  while (Waiter* const waiter = other.waiters.popFront()) {
    if (claim(*waiter)) {
      waiters.pushClaimed(ownerOf(*waiter));
    }
  }
  while (other.first != nullptr && WakingListener::is(*other.first)) {
    TaskNode& waking = *other.first;
    other.first = waking.next;
    prepend(waking);
  }
  if (other.first != nullptr) {
    append(std::exchange(other.first, nullptr), other.last);
  }
}

void FutureListeners::wakeAll() {
  detail::wakeAll(std::exchange(waiters, {}));
  while (first != nullptr && WakingListener::is(*first)) {
    TaskNode* const waking = first;
    first = waking->next;
    waking->invoke(waking, TaskOp::Ready);
  }
}

FutureCore::~FutureCore() {
  if (Word::Room* room = word.room()) {
    freeRoom(room);
  }
}

void FutureCore::waitSlow() {
  // Not where continuations exist or may come: they would run on this stack before the wait is over, and may
  // need code after it. relaxed: the task and the handle have one reference each; only the caller adds more.
  const bool isAlone = word.isUntouched() && references.load(std::memory_order_relaxed) == 2;
  if (Worker* worker = Worker::current(); isAlone && worker != nullptr && worker->takeToRunInPlace(this)) {
    worker->runInPlace(this);
    if (isReady()) {
      return;
    }
  }
  waitForOthers();
}

// The task that tells what `loop` has put off, unless the loop does so first. Both run on one thread, so that
// neither looks out for the other. Or it has taken that from a loop, and tells it anywhere.
struct PutOffTask : TaskNode {
  explicit PutOffTask(TellLoop& of) : PutOffTask(&of, {}) {}
  explicit PutOffTask(const FutureListeners& listeners) : PutOffTask(nullptr, listeners) {}

  // Returns: false where no scheduler is bound.
  static bool scheduleFor(TellLoop& loop) {
    Worker* const worker = Worker::current();
    if (worker == nullptr) {
      return false;
    }
    loop.putOffTask = NodeMemory<PutOffTask>::make(loop);
    worker->enqueue(loop.putOffTask);
    return true;
  }

  static void invokeThis(TaskNode* node, TaskOp) {
    auto& self = *static_cast<PutOffTask*>(node);
    FutureListeners listeners = self.taken;
    if (self.loop != nullptr) {
      listeners = std::exchange(self.loop->putOff, {});
      self.loop->putOffTask = nullptr;
    }
    NodeMemory<PutOffTask>::destroy(self);
    FutureCore::tell(listeners, 0);
  }

  TellLoop* loop;  // null once it has ended
  const FutureListeners taken;

 private:
  PutOffTask(TellLoop* of, const FutureListeners& listeners)
      : TaskNode{&invokeThis, nullptr, static_cast<uint32_t>(Task::Flags::SameThread)},
        loop(of),
        taken(listeners) {}
};

// Called before this stack waits, perhaps for what was put off until a call of it returns. A fiber that put
// it off has made a task. Otherwise one is made now, or a thread is started, or else it is told here.
void FutureCore::freePutOff() noexcept {
  while (LoopCall* const call = LoopCall::withPutOff()) {
    if (PutOffTask::scheduleFor(call->loop)) {
      continue;
    }
    FutureListeners listeners = std::exchange(call->loop.putOff, {});
    TaskNode* const task = NodeMemory<PutOffTask>::make(listeners);
    if (startTaskThread(task) != 0) {
      NodeMemory<PutOffTask>::destroy(*static_cast<PutOffTask*>(task));
      tell(listeners, kNestedLoops);
    }
  }
}

void FutureCore::waitForOthers() {
  freePutOff();
  Waiter& self = inlined::currentWaiter();
  WaitingListener listener(self);
  if (word.listen(listener, makeRoom, freeRoom)) {
    inlined::block(self, "Future", this);
  }
}

bool FutureCore::waitUntil(TimePoint deadline, const std::stop_token& token) {
  if (isReady()) {
    return true;
  }
  if (token.stop_requested()) {
    return false;
  }
  freePutOff();
  Waiter& self = currentWaiter();
  WaitingListener listener(self);
  Word::Room* room = enterRoom();
  if (room == nullptr || !room->add(listener)) {
    return true;
  }
  const auto claim = [&] { return unlinkIfLinked(self, room->lock, room->list.waiters); };
  return blockStoppable(self, deadline, token, claim, "Future", this) == WaitEnd::Woken;
}

void FutureCore::tellWhenReady(TaskNode& listener) {
  if (!word.listen(listener, makeRoom, freeRoom)) {
    FutureListeners listeners;
    listeners.pushClaimed(listener);
    tell(listeners, 0);
  }
}

FutureCore::Word::Room* FutureCore::enterRoom() { return word.enter(makeRoom, freeRoom); }

bool FutureCore::forget(LeavingListener& listener) { return word.leave(listener); }

bool FutureCore::runAsOwner() {
  Worker* worker = Worker::current();
  if (!word.isUntouched() || worker == nullptr || !worker->takeToRunInPlace(this)) {
    return false;
  }
  step = Step::RunByOwner;
  worker->runInPlace(this);
  return isReady();
}

void FutureCore::completeShared() noexcept {
  LoopCall* const call = LoopCall::around(*this, true);
  FutureListeners listeners;
  word.publish(listeners);
  if (call != nullptr) [[unlikely]] {
    tellWithin(call->loop, listeners);
  } else {
    tell(listeners, 0);
  }
  release();
}

void FutureCore::tellWithin(TellLoop& outer, FutureListeners& listeners) noexcept {
  if (outer.numOuter < kNestedLoops) {
    tell(listeners, outer.numOuter + 1);
  } else {
    listeners.wakeAll();
    if (listeners.first == nullptr) {
      return;
    }
    outer.putOff.takeAll(listeners);
    if (outer.putOffTask == nullptr) {
      PutOffTask::scheduleFor(outer);
    }
  }
}

// Wakes the waiters before it calls continuations, which may take their time.
void FutureCore::tell(FutureListeners& listeners, int numOuter) noexcept {
  wakeAll(std::exchange(listeners.waiters, {}));
  if (listeners.first == nullptr) {
    return;
  }
  TellLoop loop(numOuter);
  while (TaskNode* const listener = listeners.first) {
    listeners.first = listener->next;
    listener->next = &loop;
    listener->invoke(listener, TaskOp::Ready);
    if (loop.putOff.first != nullptr) [[unlikely]] {
      listeners.takeAll(loop.putOff);
    }
    if (TaskNode* state = std::exchange(loop.next, nullptr)) {
      auto& complete = static_cast<FutureCore&>(*state);
      complete.word.publish(listeners);
      complete.release();
    }
    wakeAll(std::exchange(listeners.waiters, {}));
  }
  if (loop.putOffTask != nullptr) [[unlikely]] {
    loop.putOffTask->loop = nullptr;
  }
}

// The mark tells the state from a later one in its memory: nobody uses `next` while an executor has it.
LoopCall::LoopCall(FutureCore* state, TellLoop& teller) noexcept
    : loop(teller), state_(state), fiber_(currentFiber), outer_(std::exchange(loopCalls, this)) {
  if (state != nullptr) {
    state->next = mark();
  }
}

LoopCall::~LoopCall() {
  LoopCall** link = &loopCalls;
  while (*link != this) {
    link = &(*link)->outer_;
  }
  *link = outer_;
}

LoopCall* LoopCall::around(const FutureCore& state, bool orAny) noexcept {
  const auto takes = [&](LoopCall& call) {
    return call.state_ == nullptr ? orAny : call.state_ == &state && state.next == call.mark();
  };
  LoopCall* call = loopCalls;
  while (call != nullptr && !(call->fiber_ == currentFiber && takes(*call))) {
    call = call->outer_;
  }
  return call;
}

LoopCall* LoopCall::withPutOff() noexcept {
  const auto isLeftTo = [](const LoopCall& call) {
    return (call.fiber_ == currentFiber || call.fiber_ == nullptr) && call.loop.putOff.first != nullptr &&
           call.loop.putOffTask == nullptr;
  };
  LoopCall* call = loopCalls;
  while (call != nullptr && !isLeftTo(*call)) {
    call = call->outer_;
  }
  return call;
}

bool ScheduleCall::isUnwinding() noexcept { return std::uncaught_exceptions() > 0; }

bool scheduleIfBound(TaskNode* node) {
  Worker* worker = Worker::current();
  if (worker != nullptr) {
    worker->enqueue(node);
  }
  return worker != nullptr;
}

void setBroken(EscapedException& error) { error.set(std::make_exception_ptr(BrokenPromise())); }

void setTimedOut(EscapedException& error) { error.set(std::make_exception_ptr(TimedOut())); }

void setNoFutures(EscapedException& error) {
  error.set(std::make_exception_ptr(std::invalid_argument("weft::firstSuccess() was given no futures")));
}

void reportNoFuture(const char* function) {
  WEFT_FATAL(
      "%s() of a Future without state: it was made by Future(), or moved from, "
      "or its get(), then() or share() was called already. "
      "Test it with valid(), or share() a result that is needed more than once.",
      function);
}

void reportNoPromise(const char* function) {
  WEFT_FATAL("Promise::%s() was called on a promise that was moved from. Use the one that it was moved to.",
             function);
}

void reportOwnFuture() {
  WEFT_FATAL(
      "a function that was given to async(), then() or recover() returned the future of its own result, "
      "which would never be ready. Return the result, or the future of another task.");
}

void reportSecondFuture() {
  WEFT_FATAL(
      "Promise::get_future() was called twice. "
      "Call it once, and share() the future where several need it.");
}

}  // namespace detail
}  // namespace weft::inline v0_1
