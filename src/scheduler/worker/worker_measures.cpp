// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <utility>

#include "scheduler/worker/worker.h"

// What a worker measures while Scheduler::measure() is on: how long tasks run until they wait or end, and how
// long woken fibers are ready.
namespace weft::inline v0_1::detail {
namespace {

// Returns: a time as FiberFactory::wokenAt() has it. It begins anew every 275 seconds.
uint32_t unitsAt(TimePoint time) {
  const auto units = static_cast<uint32_t>(time.time_since_epoch() / Histogram::kUnit);
  return units != 0 ? units : 1;
}

// A main fiber has the number 0, and no such time. relaxed, all: see wokenAt().
void setWokenAt(FiberControlBlock& fiber, uint32_t time) {
  if (fiber.id != 0) {
    FiberFactory::wokenAt(fiber).store(time, std::memory_order_relaxed);
  }
}

uint32_t takeWokenAt(FiberControlBlock& fiber) {
  const uint32_t time = fiber.id != 0 ? FiberFactory::wokenAt(fiber).load(std::memory_order_relaxed) : 0;
  if (time != 0) {
    setWokenAt(fiber, 0);
  }
  return time;
}

}  // namespace

void Worker::setMeasured(bool isWanted) {
  isMeasured_ = isWanted;
  runBegan_ = {};
  if (isWanted) {
    // What was noted before nobody looked would count as very long.
    pool_.fibers().forEach([](FiberControlBlock& fiber) { setWokenAt(fiber, 0); });
  }
}

void Worker::measureTaskBegan(TimePoint now) {
  measureRunEnded(now);  // of a task before whose FiberLocal's destructor has waited
  runBegan_ = now;
}

// What has run since runBegan_, if anything has, ends or waits.
void Worker::measureRunEnded(TimePoint now) {
  if (runBegan_ != TimePoint{}) {
    runTimes_.add(now - std::exchange(runBegan_, TimePoint{}));
  }
}

// `fiber` leaves the thread. A wake that came just now, of which isWoken does not tell yet, is not measured.
// Otherwise a wake after which the fiber went on without a switch would seem to last until the next switch.
void Worker::measureLeft(FiberControlBlock& fiber, TimePoint now) {
  measureRunEnded(now);
  if (!fiber.isWoken && !fiber.isTimedOut) {
    setWokenAt(fiber, 0);
  }
}

void Worker::measureResumed(FiberControlBlock& fiber, TimePoint now) {
  if (const uint32_t wokenAt = takeWokenAt(fiber); wokenAt != 0) {
    wakeDelays_.add(Histogram::kUnit * (unitsAt(now) - wokenAt));
  }
  runBegan_ = fiber.task != nullptr ? now : TimePoint{};
}

// Any thread.
void Worker::measureWake(FiberControlBlock& fiber) { setWokenAt(fiber, unitsAt(TimePoint::clock::now())); }

void Worker::countInPlace() {
  if (Worker& worker = *current(); worker.isMeasured_) {
    ++worker.numInPlace_;
  }
}

}  // namespace weft::inline v0_1::detail
