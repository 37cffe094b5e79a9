// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "scheduler/trace/late_watch.h"

#include <unistd.h>

#include <algorithm>
#include <span>
#include <utility>

#include "scheduler/trace/recorder.h"
#include "scheduler/trace/triggers.h"

namespace weft::inline v0_1::detail {

constinit LateWatch lateWatch;

namespace {

std::chrono::nanoseconds durationOf(uint64_t ticks, const ClockReading& now) {
  const double duration = static_cast<double>(ticks) * nanosecondsPerTick(recorder.reading, now);
  return std::chrono::nanoseconds(static_cast<int64_t>(duration));
}

}  // namespace

std::optional<WorkerRun> RunWatch::end(const void* task, uint64_t now) {
  if (began_ == 0) {
    return std::nullopt;
  }
  const WorkerRun run{task, std::exchange(began_, 0), now};
  if (task != nullptr && lateWatch.mayHoldUp(run.ticks())) {
    runs_[numRuns_++ % kMostRuns] = run;
  }
  return run;
}

void RunWatch::noteBlocker(Lateness& late, const ClockReading& now) const {
  const auto known = std::span(runs_).first(std::min<size_t>(numRuns_, kMostRuns));
  for (const WorkerRun& each : known) {
    Lateness::Nanoseconds held{};
    uint32_t numRuns = 0;
    for (const WorkerRun& run : known) {
      const auto sinceBegan = std::min(durationOf(now.ticks - run.began, now), late.duration);
      const auto sinceEnded = durationOf(now.ticks - run.ended, now);
      if (run.task == each.task && sinceBegan > sinceEnded) {
        held += sinceBegan - sinceEnded;
        ++numRuns;
      }
    }
    if (held >= late.duration / 2) {
      late.blocker = each.task;
      late.blockedFor = held;
      late.numRuns = numRuns;
      return;
    }
  }
}

void LateWatch::begin(Nanoseconds longestRun, Nanoseconds longestWake, Nanoseconds interval) noexcept {
  interval_.store(interval.count(), std::memory_order_relaxed);
  const auto fewestOf = [](int64_t nanoseconds) {
    return nanoseconds != 0 ? static_cast<uint64_t>(nanoseconds / kMostNanosecondsPerTick) : kNoLimit;
  };
  fewestTicks_.store(fewestOf(longestRun.count()), std::memory_order_relaxed);
  fewestHeld_.store(fewestOf(longestWake.count()) / kMostParts, std::memory_order_relaxed);
  const Nanoseconds wanted[] = {longestRun, longestWake};
  for (int kind = 0; kind < 2; ++kind) {
    told_[kind].until.store(0, std::memory_order_relaxed);
    limits_[kind].store(wanted[kind].count(), std::memory_order_relaxed);
  }
}

void LateWatch::lookAtRun(const WorkerRun& run, int worker, TraceEvents& events) noexcept {
  const int64_t limit = limits_[indexOf(LateKind::Run)].load(std::memory_order_relaxed);
  if (run.task == nullptr || limit == 0) {
    return;
  }
  const ClockReading now = ClockReading::now();
  const Nanoseconds duration = durationOf(run.ticks(), now);
  if (duration.count() >= limit) {
    tell({LateKind::Run, duration, run.task, {worker}}, nullptr, now, events);
  }
}

bool LateWatch::lookAtDelay(LateKind kind, Nanoseconds delay, const void* task, const RunWatch& runs,
                            int worker, TraceEvents& events) noexcept {
  const int64_t limit = limits_[indexOf(kind)].load(std::memory_order_relaxed);
  if (limit == 0 || delay.count() < limit) {
    return false;
  }
  tell({kind, delay, task, {worker}}, &runs, ClockReading::now(), events);
  return true;
}

void LateWatch::tell(const Lateness& late, const RunWatch* runs, const ClockReading& now,
                     TraceEvents& events) noexcept {
  events.add(TraceKind::Mark, late.kind == LateKind::Run ? "longer than trace::Config::longestRun"
                                                         : "longer than trace::Config::longestWake");
  // (1) acquire: the telling before is over; pairs with (2).
  if (isToBeTold(late, now) && !isTelling_.exchange(true, std::memory_order_acquire)) {
    late_ = late;
    late_.worker.threadId = gettid();
    if (runs != nullptr) {
      runs->noteBlocker(late_, now);
    }
    // Without a thread nothing is told from now on.
    (void)requestLateDump();
  }
}

bool LateWatch::isToBeTold(const Lateness& late, const ClockReading& now) const {
  const Told& told = told_[indexOf(late.kind)];
  return now.nanoseconds >= told.until.load(std::memory_order_relaxed) ||
         late.duration.count() / 2 >= told.duration.load(std::memory_order_relaxed);
}

void LateWatch::finish() noexcept {
  const int64_t now = TimePoint::clock::now().time_since_epoch().count();
  Told& told = told_[indexOf(late_.kind)];
  told.duration.store(late_.duration.count(), std::memory_order_relaxed);
  told.until.store(now + interval_.load(std::memory_order_relaxed), std::memory_order_relaxed);
  // (2) release: `late_` was read, and `told_` written; pairs with (1).
  isTelling_.store(false, std::memory_order_release);
}

}  // namespace weft::inline v0_1::detail
