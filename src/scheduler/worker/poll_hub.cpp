// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "scheduler/worker/poll_hub.h"

#include <algorithm>
#include <mutex>

#include "scheduler/worker/worker.h"
#include "weft/detail/base/deadline.h"
#include "weft/detail/wait/poll_core.h"

namespace weft::inline v0_1::detail {

void PollHub::add(PollCore& source) {
  const std::lock_guard guard(lock_);
  source.next = first_;
  first_ = &source;
}

void PollHub::remove(PollCore& source) {
  const std::lock_guard guard(lock_);
  PollCore** at = &first_;
  while (*at != &source) {
    at = &(*at)->next;
  }
  *at = source.next;
}

const char* PollHub::nameOfAny() const { return first_ != nullptr ? first_->name() : nullptr; }

// Under the lock, so that the source is there: who tests keeps it, as its requests are in flight.
PollCore* PollHub::beginTest(const Worker& worker, TimePoint now, size_t& number) {
  const std::lock_guard guard(lock_);
  size_t i = 0;
  for (PollCore* source = first_; source != nullptr; source = source->next, ++i) {
    if (i >= number && source->mayBeTestedBy(&worker) && source->due() <= now && source->beginTest()) {
      number = i + 1;
      return source;
    }
  }
  return nullptr;
}

bool PollHub::test(const Worker& worker) {
  const TimePoint now = TimePoint::clock::now();
  bool isAnyDone = false;
  size_t number = 0;
  while (PollCore* const source = beginTest(worker, now, number)) {
    isAnyDone = source->finishTest() || isAnyDone;
  }
  return isAnyDone;
}

TimePoint PollHub::watch(const Worker& worker) {
  const std::lock_guard guard(lock_);
  const bool isBound = worker.mode() == Worker::Mode::SingleThreaded;
  // relaxed, both: under the lock.
  const Worker* const watcher = watcher_.load(std::memory_order_relaxed);
  const bool mayWatch = isBound || watcher == nullptr || watcher == &worker;
  TimePoint due = kNever;
  bool watchesAll = false;
  for (PollCore* source = first_; source != nullptr; source = source->next) {
    if (source->isAwaited() && (source->isShared() ? mayWatch : source->mayBeTestedBy(&worker))) {
      due = std::min(due, source->due());
      watchesAll = watchesAll || (source->isShared() && !isBound);
    }
  }
  if (watchesAll) {
    watcher_.store(&worker, std::memory_order_relaxed);
  }
  return due;
}

void PollHub::endWatch(const Worker& worker) {
  const std::lock_guard guard(lock_);
  // relaxed, both: under the lock; IdleSet has the fences for who looks without it.
  if (watcher_.load(std::memory_order_relaxed) == &worker) {
    watcher_.store(nullptr, std::memory_order_relaxed);
  }
}

}  // namespace weft::inline v0_1::detail
