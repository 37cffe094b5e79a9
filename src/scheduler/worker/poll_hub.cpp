// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "scheduler/worker/poll_hub.h"

#include <algorithm>
#include <chrono>
#include <mutex>

#include "scheduler/worker/worker.h"
#include "scheduler/worker/worker_group.h"
#include "weft/detail/base/deadline.h"
#include "weft/detail/wait/poll_core.h"

namespace weft::inline v0_1::detail {
namespace {

constexpr auto kNap = std::chrono::milliseconds(1);
// How much later than due a bound thread tests that does not wait for a request itself.
constexpr std::chrono::nanoseconds kGrace = std::chrono::milliseconds(4);
// For how long the watcher goes on without requests.
constexpr auto kStandby = std::chrono::milliseconds(8);

}  // namespace

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
    const bool isFirst = number == 1;  // most often the only one, which saves a look at the clock
    isAnyDone = source->finishTest(isFirst ? now : TimePoint::clock::now()) || isAnyDone;
  }
  return isAnyDone;
}

// Returns: when the next test is due of what `worker` may test; kNever if nothing of it is in flight.
TimePoint PollHub::due(const Worker& worker, std::chrono::nanoseconds grace, bool& isAnyShared) {
  TimePoint earliest = kNever;
  for (PollCore* source = first_; source != nullptr; source = source->next) {
    if (source->mayBeTestedBy(&worker) && source->isAwaited()) {
      earliest = std::min(earliest, source->due() + (source->isShared() ? grace : grace.zero()));
      isAnyShared = isAnyShared || source->isShared();
    }
  }
  return earliest;
}

TimePoint PollHub::watch(const Worker& worker) {
  const TimePoint now = TimePoint::clock::now();
  const std::lock_guard guard(lock_);
  bool isAnyShared = false;
  // A bound thread leaves it to the workers what its own fibers do not wait for, unless all of them are busy.
  const bool isBound = worker.mode() == Worker::Mode::SingleThreaded;
  const bool isLast = isBound && worker.numPolled == 0 && worker.group().numWorkers != 0;
  TimePoint until = due(worker, isLast ? kGrace : kGrace.zero(), isAnyShared);
  if (isBound) {
    return until;
  }
  const Worker* const watcher = watch_.watcher();
  if (isAnyShared) {
    // One that would wake later leaves it to this one.
    if (watcher != nullptr && watcher != &worker && alarm_ <= until) {
      return kNever;
    }
    usedAt_ = now;
  } else if (watcher != &worker || stopIfUnused(worker, now)) {
    return until;
  } else {
    until = std::min(until, now + kNap);
  }
  watch_.begin(worker);
  alarm_ = until;
  return until;
}

// Returns: whether `worker`, the watcher, is that no longer.
bool PollHub::stopIfUnused(const Worker& worker, TimePoint now) {
  return now - usedAt_ >= kStandby && watch_.tryEnd(worker);
}

void PollHub::endWatch(const Worker& worker) {
  const std::lock_guard guard(lock_);
  if (watch_.isWatcher(worker)) {
    watch_.end();
  }
}

}  // namespace weft::inline v0_1::detail
