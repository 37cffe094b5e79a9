// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <bitset>
#include <cstddef>
#include <memory>
#include <stop_token>

#include "weft/detail/base/deadline.h"
#include "weft/detail/base/sync.h"
#include "weft/detail/wait/poll_list.h"
#include "weft/detail/wait/stoppable.h"
#include "weft/export.h"

namespace weft::inline v0_1 {

class Scheduler;

namespace detail {

struct PollAccess;  // of pollsource.h
class PollHub;
class PollPace;
class SchedulerCore;
class Worker;

// Which requests of a test are done.
using PollDone = std::bitset<kMostPolled>;

// What is behind a PollSource. A PollHub has its scheduler's workers call it.
class PollCore {
 public:
  using Node = PollNode<>;

  struct Options {
    const char* name;
    size_t mostInFlight;
    bool isOnThisThreadOnly;
  };

  PollCore(const PollCore&) = delete;
  WEFT_EXPORT virtual ~PollCore();

  // Suspends the fiber, or blocks the thread, until the request `handle` is done.
  WEFT_EXPORT WaitEnd wait(void* handle, TimePoint deadline, const std::stop_token& token);
  // As wait(), for a request that the caller has just found not done.
  WEFT_EXPORT WaitEnd waitFurther(void* handle, TimePoint deadline, const std::stop_token& token);

  // Tests the request of `node`, and if it is not done, has it tested until it is. Then node.complete is
  // called, here or by who tests. Waits if too many are in flight.
  WEFT_EXPORT void start(Node& node);

  // Those that threads without fibers wait for count, too.
  WEFT_EXPORT size_t numInFlight() { return list_.size() + numOnThreads_.load(std::memory_order_relaxed); }
  Scheduler& scheduler() const { return scheduler_; }
  // Returns: whether the caller may use it: false on other threads than the one that it is for.
  WEFT_EXPORT bool mayBeUsedHere() const;

  // For a select(). Tests the request `handle`, unless somebody tests just now. Returns: whether it is done.
  WEFT_EXPORT bool isDoneAtOnce(void* handle);
  // Has the request of `node` tested: its owner, choice and index are set. There is always room for it.
  WEFT_EXPORT void link(Node& node);
  // Takes the request of `node` out, which was given to link(). May suspend. Returns: whether it is done.
  WEFT_EXPORT bool withdraw(Node& node, Waiter& self);

  // For the hub, whose list links the cores.
  bool mayBeTestedBy(const Worker* worker) const { return only_ == nullptr || only_ == worker; }
  bool isShared() const { return only_ == nullptr; }
  bool isAwaited() { return list_.size() != 0; }
  // relaxed: a hint.
  TimePoint due() const { return TimePoint(TimePoint::duration(due_.load(std::memory_order_relaxed))); }
  // Begins a test of one window. Returns: false if there is nothing to test, or somebody tests. Otherwise
  // finishTest() follows, which is told when the test began, and returns whether a request was done.
  bool beginTest();
  bool finishTest(TimePoint began);
  const char* name() const { return options_.name; }
  PollCore* next = nullptr;

 protected:
  // Errors: a message ends the program if no scheduler is bound.
  WEFT_EXPORT PollCore(Scheduler* scheduler, const Options& options);

  // Asks about `count` requests, kMostPolled at most, and sets the bits of those that are done. Called by one
  // thread at a time. Neither suspends nor blocks.
  virtual void test(void* const* handles, size_t count, PollDone& done) = 0;

 private:
  WaitEnd waitFor(Waiter& self, Node& node, TimePoint deadline, const std::stop_token& token);
  WaitEnd waitOnThread(void* handle, TimePoint deadline, const std::stop_token& token);
  bool isDoneSoon(void* handle);
  bool takeOut(Node& node, Waiter& self);
  WaitEnd waitForRoom(Waiter& self, TimePoint deadline, const std::stop_token& token);
  SchedulerCore& core() const;
  void list(Node& node);
  void endTest(const PollDone& done, TimePoint began);
  void callTest(void* const* handles, size_t count, PollDone& done) noexcept;
  void assertMayBeCalled() const;

  Scheduler& scheduler_;
  PollHub& hub_;
  const Options options_;
  const Worker* const only_;  // the only one that tests; null: all
  PollList<> list_;
  std::atomic<TimePoint::rep> due_{0};  // when the next test should come; written under the list's lock
  // What threads without fibers wait for, which test by themselves. relaxed: for reports, and tells misuse.
  std::atomic<size_t> numOnThreads_{0};
  // Of who tests.
  const std::unique_ptr<PollPace> pace_;
  size_t count_ = 0;  // of window_
  Node* window_[kMostPolled];
  void* handles_[kMostPolled];
};

}  // namespace detail
}  // namespace weft::inline v0_1
