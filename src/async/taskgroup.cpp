// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/detail/forkjoin/task_group_core.h"

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "os/osfiber.h"
#include "scheduler/core/serial_warning.h"
#include "scheduler/core/waiter_inl.h"
#include "scheduler/report/run_or_die.h"
#include "scheduler/worker/observed_in_place.h"
#include "sync/acquire_permits.h"
#include "weft/cancellation.h"
#include "weft/debug.h"
#include "weft/detail/base/node_pool.h"
#include "weft/detail/base/outcome.h"
#include "weft/detail/base/owner.h"
#include "weft/detail/base/spin_lock.h"
#include "weft/detail/wait/semaphore_core.h"
#include "weft/detail/wait/waiter.h"

namespace weft::inline v0_1::detail {
namespace {

// Returns: whether the exception that is being handled only says that a task has ended early, as
// it was asked to.
bool isTaskCanceled() {
  try {
    throw;
  } catch (const TaskCanceled&) {
    return true;
  } catch (...) {
    return false;
  }
}

// The stops that one call of cancel() requests. The stop of a group calls those of the groups in it, each a
// level deeper on the stack. From kMostLevels on, a stop is left to the call, so that groups may be nested to
// any depth. Another fiber of this thread may cancel a group while this one waits in a function that a stop
// calls: so each call has a list of its own.
class Stops {
 public:
  Stops() : caller_(detail::currentOwner()), next_(std::exchange(first, this)) {}
  ~Stops() {
    Stops** link = &first;
    while (*link != this) {
      link = &(*link)->next_;
    }
    *link = next_;
  }
  Stops(const Stops&) = delete;
  Stops& operator=(const Stops&) = delete;

  // Returns: those of the caller's innermost call of cancel(), or null.
  static Stops* ofCaller() {
    Stops* stops = first;
    while (stops != nullptr && stops->caller_ != detail::currentOwner()) {
      stops = stops->next_;
    }
    return stops;
  }

  // Requests a stop, now or in requestRest().
  void request(std::stop_source&& source) {
    if (numLevels_ == kMostLevels) {
      // Pooled nodes, since what a stop calls must not throw.
      rest_ = ::new (allocateNode(NodeSize::Line)) Rest{std::move(source), rest_};
      return;
    }
    ++numLevels_;
    source.request_stop();
    --numLevels_;
  }

  void requestRest() {
    while (rest_ != nullptr) {
      Rest* const rest = std::exchange(rest_, rest_->next);
      std::stop_source source = std::move(rest->source);
      rest->~Rest();
      freeNode(rest, NodeSize::Line);
      request(std::move(source));
    }
  }

 private:
  struct Rest {
    std::stop_source source;
    Rest* next;
  };

  static constexpr int kMostLevels = 16;
  static constinit thread_local Stops* first;

  const void* const caller_;
  Stops* next_;
  int numLevels_ = 0;
  Rest* rest_ = nullptr;
};

constinit thread_local Stops* Stops::first = nullptr;

}  // namespace

// Exists while a task of a group that goesElsewhere() runs, or is dropped.
class TaskGroupCore::Running {
 public:
  explicit Running(TaskGroupCore& group);
  ~Running();
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

 private:
  friend Control;
  Control& control_;
  const void* const task_;
  Running* next_;   // guarded by the control's lock, as is what follows
  Running** link_;  // what points to this
};

struct TaskGroupCore::Control {
  struct Cancel {
    TaskGroupCore* group;
    void operator()() const {
      if (Stops* ofParent = Stops::ofCaller()) {
        ofParent->request(group->markCanceled());
      } else {
        group->cancel();
      }
    }
  };

  // Returns: whether the caller is one of the group's tasks, or is waited for by one on its own fiber.
  bool isOwnTask() {
    const std::scoped_lock guard(lock);
    const Running* task = firstRunning;
    while (task != nullptr && !isOrWaitsForCaller(task->task_)) {
      task = task->next_;
    }
    return task != nullptr;
  }

  std::optional<ExecutorReference> executor;
  std::optional<SemaphoreCore<>> places;  // of a group with a limit
  SpinLock lock;
  Running* firstRunning = nullptr;            // guarded by lock
  std::stop_source source{std::nostopstate};  // made when it is first asked for; guarded by lock
  std::optional<std::stop_callback<Cancel>> parent;
};

TaskGroupCore::TaskGroupCore(const std::stop_token& parent) {
  control().parent.emplace(parent, Control::Cancel{this});
}

TaskGroupCore::TaskGroupCore(ExecutorReference executor, const std::stop_token& parent) : owner_(kNoOwner) {
  Control& own = control();
  own.executor = executor;
  own.parent.emplace(parent, Control::Cancel{this});
}

// A group with a limit has a token from the beginning, which ends the waits for a place.
TaskGroupCore::TaskGroupCore(std::optional<ExecutorReference> executor, ptrdiff_t limit,
                             const std::stop_token& parent)
    : owner_(kNoOwner) {
  WEFT_ASSERT(limit > 0 && limit < int64_t{SemaphoreCore<>::kMax},
              "TaskGroup: a limit of %td tasks. It must be 1 to %u.", limit, SemaphoreCore<>::kMax - 1);
  std::stop_source source;  // first, since its allocation may throw too
  Control& own = control();
  own.executor = executor;
  own.places.emplace(static_cast<uint32_t>(limit));
  own.source = std::move(source);
  state_.fetch_or(kHasSource, std::memory_order_relaxed);  // relaxed: nobody else has the group yet
  own.parent.emplace(parent, Control::Cancel{this});
}

TaskGroupCore::Control& TaskGroupCore::control() {
  // (1) acquire: sees what was made; pairs with (2).
  Control* control = control_.load(std::memory_order_acquire);
  if (control == nullptr) {
    auto made = std::make_unique<Control>();
    // (2) release: publishes it; acquire on failure: another thread's; pairs with (1, 2).
    if (control_.compare_exchange_strong(control, made.get(), std::memory_order_release,
                                         std::memory_order_acquire)) {
      control = made.release();
      state_.fetch_or(kHasControl, std::memory_order_relaxed);  // relaxed: for the end of the group
    }
  }
  return *control;
}

constinit thread_local TaskGroupCore::UnboundCall* TaskGroupCore::UnboundCall::innermost_ = nullptr;

TaskGroupCore::UnboundCall::UnboundCall(TaskGroupCore& group)
    : group_(group), outer_(std::exchange(innermost_, this)) {
  group_.count_.addOther();
  noteSerialRun();
}

TaskGroupCore::UnboundCall::~UnboundCall() {
  innermost_ = outer_;
  group_.endOfOther();
}

bool TaskGroupCore::UnboundCall::isOpen(const TaskGroupCore& group) {
  const UnboundCall* call = innermost_;
  while (call != nullptr && &call->group_ != &group) {
    call = call->outer_;
  }
  return call != nullptr;
}

TaskGroupCore::Running::Running(TaskGroupCore& group)
    : control_(group.control()), task_(detail::currentOwner()) {
  const std::scoped_lock guard(control_.lock);
  link_ = &control_.firstRunning;
  next_ = std::exchange(*link_, this);
  if (next_ != nullptr) {
    next_->link_ = &next_;
  }
}

TaskGroupCore::Running::~Running() {
  const std::scoped_lock guard(control_.lock);
  *link_ = next_;
  if (next_ != nullptr) {
    next_->link_ = link_;
  }
}

// relaxed: a group that goesElsewhere() has its control since its constructor.
bool TaskGroupCore::isLimited() const { return control_.load(std::memory_order_relaxed)->places.has_value(); }

bool TaskGroupCore::tryTakePlace() { return control().places->tryTake(); }

bool TaskGroupCore::takePlace() {
  Control& own = control();
  if (own.places->tryTake()) {
    return true;
  }
  WEFT_ASSERT(!own.isOwnTask(),
              "TaskGroup %p: one of its tasks called run() while as many tasks as the group's limit had not "
              "ended. It might wait for itself. Call tryRun() there, or make another group for its tasks.",
              static_cast<const void*>(this));
  return detail::acquirePermits(*own.places, 1, kNever, own.source.get_token(), {"TaskGroup::run", this});
}

void TaskGroupCore::givePlace() {
  SemaphoreCore<>& places = *control().places;
  if (!places.tryGive(1)) {
    detail::wakeAll(places.give(1));
  }
}

void TaskGroupCore::scheduleElsewhere(GroupNode& node, Invoke invoke) {
  if (isLimited() && !takePlace()) {
    node.invoke(&node, TaskOp::Call);  // which calls no function, since the group is cancelled
    return;
  }
  schedulePlaced(node, invoke);
}

// The executor may run the task at once, and then go on with others that end the group.
void TaskGroupCore::schedulePlaced(GroupNode& node, Invoke invoke) {
  const Invoke here = std::exchange(node.invoke, invoke);
  node.flags = 0;
  count_.addOther();
  Control& own = control();
  if (own.executor.has_value()) {
    try {
      own.executor->schedule(TaskHandle::fromVoidPointer(static_cast<TaskNode*>(&node)));
    } catch (...) {
      fail();
    }
  } else if (LocalDeque* local = detail::ownLocalDeque()) {
    publish(*local, node);
  } else {
    runElsewhere(node, TaskOp::Run, here);
  }
}

// The drop is not kept as an exception at once, since schedule() may still throw a better one.
void TaskGroupCore::drop() {
  if (!isCanceled()) {
    // relaxed: the end of the task publishes it to the waiter.
    state_.fetch_or(kDropped, std::memory_order_relaxed);
    cancel();
  }
}

void TaskGroupCore::endOfOther() {
  if (Waiter* waiter = count_.endOfOther()) {
    detail::wake(*waiter);
  }
}

void TaskGroupCore::runElsewhere(GroupNode& node, TaskOp op, Invoke invoke) {
  TaskGroupCore& owner = *node.group;
  {
    const Running running(owner);
    if (op == TaskOp::Discard) {
      owner.drop();  // so that the function is not called
    }
    invoke(&node, TaskOp::Call);
  }
  if (owner.isLimited()) {
    owner.givePlace();
  }
  owner.endOfOther();
}

void TaskGroupCore::runAsTask(GroupNode& node) {
  TaskGroupCore& owner = *node.group;
  node.invoke(&node, TaskOp::Call);
  owner.endOfOther();
}

void TaskGroupCore::callOwnAside(LocalDeque& local) {
  const ExceptionsAside aside(OSFiber::exceptionGlobals());
  callOwnIn(local, [](TaskNode* node) {
    const ObservedInPlace observed(*node);
    node->invoke(node, TaskOp::Call);
  });
}

void TaskGroupCore::waitForOthers() {
  if (count_.isOver()) {
    return;
  }
  WEFT_ASSERT(!count_.isWaitedFor() && !UnboundCall::isOpen(*this),
              "TaskGroup %p: wait() was called while somebody waits for the group already. "
              "(The end of a group waits too.) "
              "Only one caller may wait, and no task of the group may: it would wait for itself. "
              "Wait where the group was made, and make a group of its own for what a task waits for.",
              static_cast<const void*>(this));
  WEFT_ASSERT(
      !goesElsewhere() || !control().isOwnTask(),
      "TaskGroup %p ended, or wait() was called, in one of its own tasks, which would wait for itself. "
      "Wait where the group was made, and keep it until then.",
      static_cast<const void*>(this));
  Waiter& self = detail::inlined::currentWaiter();
  if (!count_.isOverOrWakes(self)) {
    detail::inlined::block(self, "TaskGroup", this);
  }
  count_.endWait();
}

// A stop is requested outside of the lock, since it calls functions.
void TaskGroupCore::cancel() noexcept {
  Stops stops;
  stops.request(markCanceled());
  stops.requestRest();
}

// Allocates nothing: a task that has failed may have done so for want of memory.
// Returns: what is to be asked to stop, which may be nothing.
std::stop_source TaskGroupCore::markCanceled() {
  // (4) acquire: sees the control in which a token's source was made; pairs with (3).
  const uint32_t before = state_.fetch_or(kCanceled, std::memory_order_acquire);
  if ((before & kHasSource) == 0) {
    return std::stop_source(std::nostopstate);
  }
  Control& shared = control();
  std::scoped_lock guard(shared.lock);
  return shared.source;
}

std::stop_token TaskGroupCore::token() {
  Control& shared = control();
  std::scoped_lock guard(shared.lock);
  if (!shared.source.stop_possible()) {
    shared.source = std::stop_source();
    // (3) release: publishes the control; pairs with (4). Whoever cancels later finds the source.
    const uint32_t before = state_.fetch_or(kHasSource, std::memory_order_release);
    if ((before & kCanceled) != 0) {
      shared.source.request_stop();
    }
  }
  return shared.source.get_token();
}

// Returns: where the caller keeps its exception, or null where another one is kept already.
EscapedException* TaskGroupCore::claimFailure() {
  // relaxed: the end of the task publishes the exception to the waiter.
  const uint32_t before = state_.fetch_or(kFailed, std::memory_order_relaxed);
  return (before & kFailed) == 0 ? std::construct_at(&failure_.exception) : nullptr;
}

void TaskGroupCore::fail() {
  if (isCanceled() && isTaskCanceled()) {
    return;
  }
  if (EscapedException* const exception = claimFailure()) {
    exception->captureCurrent();
  }
  cancel();
}

void TaskGroupCore::tellOfDropped() {
  // relaxed: no task is left.
  if ((state_.load(std::memory_order_relaxed) & kDropped) == 0) {
    return;
  }
  if (EscapedException* const exception = claimFailure()) {
    setNotExecuted(*exception);
  }
}

void TaskGroupCore::waitAndRethrow() {
  waitForOthers();
  tellOfDropped();
  // relaxed: no task is left.
  if ((state_.load(std::memory_order_relaxed) & kFailed) != 0) {
    failure_.exception.rethrow();
  }
}

void TaskGroupCore::finish() {
  callOwn();
  waitForOthers();
  // relaxed, both: no task is left.
  Control* const shared = control_.load(std::memory_order_relaxed);
  if (shared != nullptr) {
    // This comes first, since the parent's stop uses the rest.
    shared->parent.reset();
  }
  tellOfDropped();
  if ((state_.load(std::memory_order_relaxed) & kFailed) != 0) {
    if (failure_.exception) {
      const std::string message =
          "a TaskGroup was destroyed whose task had let an exception escape: " +
          detail::describe(failure_.exception) +
          ". Nobody had called wait(), which throws it. Call wait() before the group ends.";
      WEFT_ASSERT(std::uncaught_exceptions() > 0, "%s", message.c_str());
      WEFT_WARN("%s The exception that is being thrown now is kept, and that of the task is lost.",
                message.c_str());
    }
    std::destroy_at(&failure_.exception);
  }
  delete shared;
}

}  // namespace weft::inline v0_1::detail
