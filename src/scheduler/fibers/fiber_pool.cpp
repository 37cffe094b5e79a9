// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "scheduler/fibers/fiber_pool.h"

#include <algorithm>
#include <chrono>

namespace weft::inline v0_1::detail {
namespace {

using std::chrono::milliseconds;

// kIdleKept: idle fibers that a worker always keeps. Others go, in steps, when unneeded for a while.
constexpr uint64_t kIdleKept = 64;
constexpr uint64_t kTrimmedAtOnce = 512;

constexpr auto kTrimAfter = milliseconds(100);
constexpr auto kTrimPause = milliseconds(1);

}  // namespace

FiberControlBlock* FiberPool::make(Worker& worker, void (*entry)(void*)) {
  fewestIdle_ = 0;
  FiberControlBlock* fiber = factory_.create(worker, entry);
  if (fiber != nullptr) {
    ++numFibers_;
  }
  return fiber;
}

TimePoint FiberPool::giveBackSurplus(TimePoint now) {
  return std::min(factory_.giveBackSurplus(now), trim(now));
}

void FiberPool::destroyAll() {
  factory_.forEach([this](FiberControlBlock& fiber) { factory_.destroy(fiber); });
}

// Gives back as many idle fibers as were unneeded throughout the time since the last period began.
TimePoint FiberPool::trim(TimePoint now) {
  if (numIdle_.get() <= kIdleKept) {
    return kNever;
  }
  if (now < trimAt_) {
    return trimAt_;
  }
  for (uint64_t i = 0; i < kTrimmedAtOnce && fewestIdle_ > kIdleKept; ++i) {
    FiberControlBlock* fiber = idle_.popFront();
    --fewestIdle_;
    --numIdle_;
    --numFibers_;
    factory_.destroy(*fiber);
  }
  if (fewestIdle_ > kIdleKept) {
    return trimAt_ = now + kTrimPause;
  }
  fewestIdle_ = numIdle_.get();
  trimAt_ = now + kTrimAfter;
  return fewestIdle_ > kIdleKept ? trimAt_ : kNever;
}

}  // namespace weft::inline v0_1::detail
