// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <chrono>
#include <cstddef>

#include "scheduler/worker/poll_watch.h"
#include "weft/detail/base/spin_lock.h"
#include "weft/detail/base/sync.h"

namespace weft::inline v0_1::detail {

class PollCore;
class Worker;

// A scheduler's poll sources, and which workers test them.
//
// While requests are in flight, workers that search for work test them, and workers that run tasks do so at
// their polls. One of those that sleep is the watcher: its sleep ends when a test is due. So a request is
// tested in time also if all others are in long tasks. A worker of a bound thread tests while it sleeps, in
// any case.
//
// Once no request is in flight, the watcher goes on for some milliseconds, in naps of one. To wake one costs
// several microseconds: a fiber that sends and receives in turn would pay that for each message.
//
// PollWatch has the words for that, and how they are ordered.
class PollHub {
 public:
  PollHub() = default;
  PollHub(const PollHub&) = delete;

  void add(PollCore& source);
  void remove(PollCore& source);
  // Returns: the name of a source, or null.
  const char* nameOfAny() const;

  // See PollWatch.
  bool noteStarted(bool isShared) { return watch_.noteStarted(isShared); }
  void noteDone(bool isShared, size_t count = 1) { watch_.noteDone(isShared, count); }
  bool isAwaited() const { return watch_.isAwaited(); }
  bool needsWatcher() const { return watch_.needsWatcher(); }
  // Whether `worker`, which is about to sleep, is to call watch().
  bool mayWatch(const Worker& worker) const { return watch_.mayWatch(worker); }

  // Tests one window of each source that is due. Returns: whether a request was done.
  bool test(const Worker& worker);
  // `worker` is about to sleep. Returns: when its sleep should end for a test; kNever if others see to that.
  TimePoint watch(const Worker& worker);
  // `worker` no longer sleeps.
  void endWatch(const Worker& worker);

 private:
  PollCore* beginTest(const Worker& worker, TimePoint now, size_t& number);
  TimePoint due(const Worker& worker, std::chrono::nanoseconds grace, bool& isAnyShared);
  bool stopIfUnused(const Worker& worker, TimePoint now);

  PollWatch<const Worker> watch_;
  SpinLock lock_;  // guards what follows
  PollCore* first_ = nullptr;
  TimePoint alarm_{};   // when the watcher's sleep ends
  TimePoint usedAt_{};  // when the watcher last saw a request
};

}  // namespace weft::inline v0_1::detail
