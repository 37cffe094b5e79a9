// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "os/clock_reading.h"
#include "os/single_writer_counter.h"
#include "scheduler/fibers/fiber_control_block.h"
#include "scheduler/fibers/fiber_pool.h"
#include "scheduler/fibers/timers.h"
#include "scheduler/fibers/work.h"
#include "scheduler/policy/search_budget.h"
#include "scheduler/worker/poll_hub.h"
#include "weft/detail/park/idle.h"
#include "weft/detail/park/parker.h"
#include "weft/detail/queue/inbox.h"
#include "weft/detail/wait/reactor.h"

namespace weft::inline v0_1::detail {

class Worker;

// A worker while it has nothing to do: it searches for a while, and then sleeps. It calls five functions of
// its worker: findWork(), shouldEnd(), seesSharedWork(), gatherReady() and endSleep().
class Idler {
 public:
  // Of the worker: fibers that other threads have woken, timers, idle fibers.
  struct Parts {
    Inbox<FiberControlBlock>& inbox;
    Timers& timers;
    FiberPool& pool;
  };

  Idler(Worker& worker, const Parts& parts);
  ~Idler();
  Idler(const Idler&) = delete;
  Idler& operator=(const Idler&) = delete;

  // Waits until there is something to do. Returns: the work, or nothing if the worker should end.
  Work waitForWork();
  // Waits until a fiber is ready or until the time `until` comes. The wait begins with a busy search.
  void awaitReady(TimePoint until);
  // Prints a dump, with the frames of the fiber that waits and has called this.
  void dumpVisibly();

  // What the worker sleeps in while fibers of it wait for I/O: null before the first of them does.
  Reactor* reactor() { return reactor_.get(); }
  void setReactor(std::unique_ptr<Reactor> reactor) { reactor_ = std::move(reactor); }
  bool isReactorAwaited() const { return reactor_ != nullptr && reactor_->isAwaited(); }
  // Whether the worker's fibers wait for I/O, or requests of poll sources are in flight.
  bool isOutsideAwaited() const { return isReactorAwaited() || pollHub_.isAwaited(); }
  // Asks the reactor and the poll sources. Returns: whether something was done.
  bool pollOutside();

  // Any thread.
  Parker<>& parker() { return *parker_; }
  uint64_t numParks() const { return numParks_.get(); }
  uint64_t numSearches() const { return numSearches_.get(); }
  // A hint.
  bool isParked() const { return isParked_.load(std::memory_order_relaxed); }

  // The host of waitForSharedWork.
  bool findWork() { return look(SearchScope::Everywhere); }
  bool seesSharedWork();
  bool spinForWork() { return findWork() || spin(SearchScope::Everywhere); }
  bool tryParkInbox() { return parts_.inbox.tryPark(); }
  void cancelParkInbox() { parts_.inbox.cancelPark(); }
  void tidyUp();
  void park();

 private:
  friend struct LayoutAccess;
  friend struct WorkerTestAccess;

  template <class Function>
  void idleVisibly(Function&& function);
  void searchForReady(TimePoint until);
  bool look(SearchScope scope);
  void lookOutside() {
    if (isOutsideAwaited()) [[unlikely]] {
      pollOutside();
    }
  }
  bool sleepUntil(TimePoint until);
  bool sleepOnce(TimePoint until);
  bool spin(SearchScope scope);
  bool search(SearchScope scope);
  SearchBudget::Duration takeGap(TimePoint now);
  void sleepForOwnWork();
  bool parkUntil(TimePoint deadline);
  void endIfDeadlocked();

  Worker& worker_;
  PollHub& pollHub_;
  const Parts parts_;
  Parker<>* const parker_;
  Work found_;
  IdleSet<>::Sleeper sleeper_;
  SearchBudget search_;
  TimePoint idleSince_{};     // when the worker ran out of work; none: it has not searched since
  TimePoint tidyAt_{};        // when tidyUp() wants to be called again
  ClockReading lastReading_;  // before the last sleep; for who looks from outside
  std::unique_ptr<Reactor> reactor_;
  std::atomic<bool> isIdle_{false};  // searches or sleeps, and its fiber's frames can be seen from outside
  std::atomic<bool> isParked_{false};
  SingleWriterCounter numParks_, numSearches_;
};

}  // namespace weft::inline v0_1::detail
