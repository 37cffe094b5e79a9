// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <utility>

#include "fair/core.h"
#include "weft/debug.h"
#include "weft/detail/wait/select_node.h"
#include "weft/fair/coro.h"

namespace weft::inline v0_1::fair {

CoroTask::CoroTask(Coro<> body) : outermost_(std::exchange(body.frame_, nullptr)) {
  static constexpr detail::FairOps kOps{&step, &detail::FairNoCallback::destroy, false, true};
  WEFT_ASSERT(outermost_ != nullptr && outermost_->stack == nullptr,
              "a fair::CoroTask needs a body that was neither moved from nor awaited.");
  ops = &kOps;
  stack_.task = this;
  stack_.innermost = outermost_;
  outermost_->stack = &stack_;
}

// Destroys the frames from the innermost to the outermost, as if each returned. No frame then finds the frame
// that it awaits, so that destroying does not recurse.
CoroTask::~CoroTask() {
  assertIsOwned("destroyed");
  WEFT_ASSERT(!isInBody_,
              "a fair::CoroTask was destroyed by its own body, which goes on afterwards. "
              "Let its owner destroy it once wait() has returned, or run the body by fair::async().");
  WEFT_ASSERT(waiters_.isEmpty(),
              "a fair::CoroTask was destroyed while somebody waits for its end. Let wait() return first.");
  detail::CoroFrame* frame = stack_.innermost != nullptr ? stack_.innermost : outermost_;
  while (frame != nullptr) {
    detail::CoroFrame* const caller = frame->caller;
    if (frame->holder != nullptr) {
      *frame->holder = nullptr;
    }
    frame->handle.destroy();
    frame = caller;
  }
}

void CoroTask::step(FairTask& task) {
  auto& self = static_cast<CoroTask&>(static_cast<Task&>(task));
  if (self.runBody()) {
    self.end();
  }
}

// Returns: whether the body has ended. If not, another thread may run or destroy the task now.
bool CoroTask::runBody() {
  assertNotPosted(!isInBody_);
  // The body waits for a signal, and was only woken up.
  if (stack_.isForSignal && !isSignaled() && TimePoint::clock::now() < stack_.deadline) {
    TaskScheduler::current()->postDeadline(this, stack_.deadline);
    return false;
  }
  stack_.isForSignal = false;
  isInBody_ = true;
  while (stack_.innermost != nullptr && stack_.scheduler == nullptr) {
    stack_.innermost->handle.resume();
  }
  isInBody_ = false;
  // relaxed: written by the step itself, or by a post that is a mistake.
  assertNotPosted(postedTo.load(std::memory_order_relaxed) == nullptr);
  if (TaskScheduler* next = std::exchange(stack_.scheduler, nullptr)) {
    next->postDeadline(this, stack_.deadline);
    return false;
  }
  outermost_->rethrow();
  return true;
}

void CoroTask::assertNotPosted(bool isNotPosted) {
  WEFT_ASSERT(isNotPosted,
              "a fair::CoroTask was posted while its body ran. "
              "Have the body co_await fair::yield(), delay(), moveTo() and the like, which post it, "
              "and let others wake or signal it.");
}

void CoroTask::postOwned(TaskScheduler& scheduler, Coro<> body) {
  static constexpr detail::FairOps kOps{&runOwned, &destroyOwned, true, true};
  auto* task = new CoroTask(std::move(body));
  task->ops = &kOps;
  scheduler.post(task);
}

void CoroTask::runOwned(FairTask& task) {
  auto& self = static_cast<CoroTask&>(static_cast<Task&>(task));
  if (self.runBody()) {
    destroyOwned(self);
  }
}

void CoroTask::destroyOwned(FairTask& task) {
  task.ops = &detail::FairNoCallback::kOps;  // nothing that ~Task has to destroy
  delete static_cast<CoroTask*>(static_cast<Task*>(&task));
}

// A waiter may destroy the task as soon as the lock is free.
void CoroTask::end() {
  detail::WaitList woken;
  lock_.lock();
  hasEnded_ = true;
  while (detail::Waiter* const first = waiters_.popFront()) {
    if (detail::claim(*first)) {
      woken.pushClaimed(detail::ownerOf(*first));
    }
  }
  lock_.unlock();
  detail::wakeAll(woken);
}

void CoroTask::assertNotInBody(const char* function) const {
  const detail::FairWorker* worker = detail::currentFairWorker;
  WEFT_ASSERT(
      worker == nullptr || worker->current != this,
      "%s was called by the body of the fair::CoroTask that it waits for, which would wait for itself.",
      function);
}

bool CoroTask::waitUntil(detail::TimePoint deadline) {
  assertNotInBody("fair::CoroTask::wait()");
  return detail::blockUnless([this] { return hasEnded_; }, lock_, waiters_, deadline,
                             "the end of a fair::CoroTask", this);
}

}  // namespace weft::inline v0_1::fair
