// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>

#include "os/own_counter.h"
#include "scheduler/fibers/work.h"
#include "scheduler/policy/search_budget.h"
#include "weft/detail/park/idle.h"
#include "weft/detail/park/parker.h"
#include "weft/detail/wait/reactor.h"

namespace weft::inline v0_1::detail {

class Worker;

// A worker while it has nothing to do: it searches for a while, and then sleeps.
// Worker::findWork() defines the order in which it looks.
class Idler {
 public:
  explicit Idler(Worker& worker);
  ~Idler();
  Idler(const Idler&) = delete;
  Idler& operator=(const Idler&) = delete;

  // Waits until there is something to do.
  // Returns: the work, or nothing if the worker should end.
  Work waitForWork();
  // Waits until a fiber is ready or until the time `until` comes. The wait begins with a busy search.
  void awaitReady(TimePoint until);

  // What the worker sleeps in while fibers of it wait for I/O: null before the first of them does.
  Reactor* reactor() { return reactor_.get(); }
  void setReactor(std::unique_ptr<Reactor> reactor) { reactor_ = std::move(reactor); }
  bool isReactorAwaited() const { return reactor_ != nullptr && reactor_->isAwaited(); }

  // Any thread.
  Parker<>& parker() { return *parker_; }
  uint64_t numParks() const { return numParks_.get(); }
  // A hint.
  bool isParked() const { return isParked_.load(std::memory_order_relaxed); }

  // The host of waitForSharedWork.
  bool findWork() { return look(Reach::Everywhere); }
  bool seesSharedWork();
  bool spinForWork() { return findWork() || spin(Reach::Everywhere); }
  bool tryParkInbox();
  void cancelParkInbox();
  void tidyUp();
  void park();

 private:
  friend struct WorkerTestAccess;

  bool look(Reach reach);
  void pollReactor() {
    if (isReactorAwaited()) [[unlikely]] {
      reactor_->poll();
    }
  }
  bool spin(Reach reach);
  SearchBudget::Duration takeGap(TimePoint now);
  void sleepForOwnWork();
  bool parkUntil(TimePoint deadline);
  void endIfDeadlocked();

  Worker& worker_;
  Parker<>* const parker_;
  Work found_;
  IdleSet<>::Sleeper sleeper_;
  SearchBudget search_;
  TimePoint idleSince_{};  // when the worker ran out of work; none: it has not searched since
  TimePoint tidyAt_{};     // when tidyUp() wants to be called again
  std::unique_ptr<Reactor> reactor_;
  std::atomic<bool> isParked_{false};
  OwnCounter numParks_;
};

}  // namespace weft::inline v0_1::detail
