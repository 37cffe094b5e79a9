// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>

#include "os/stack_use.h"
#include "scheduler/fibers/fiber_control_block.h"
#include "weft/detail/base/spin_lock.h"
#include "weft/sanitizers.h"

// How deep the stacks of tasks get: the CMake option WEFT_STACK_REPORT measures each task that begins on a
// fiber, and prints a table when the process exits. A task in place is a part of the task that waits for it.
namespace weft::inline v0_1::detail {

// Under AddressSanitizer locals may lie elsewhere than on the stack, and its marks forbid to look at it.
#if defined(WEFT_STACK_REPORT) && !WEFT_ADDRESS_SANITIZER_ENABLED
inline constexpr bool kReportsStacks = true;
#else
inline constexpr bool kReportsStacks = false;
#endif

// The deepest stack of each task, by the address of its code. Any thread. Allocates nothing.
class StackReport {
 public:
  static constexpr size_t kMaxTasks = 1000;
  static constexpr size_t kMostShown = 20;

  void add(const void* task, size_t depth, size_t stackSize) noexcept;

  // Writes the deepest to stderr; nothing if nothing was added.
  void print() noexcept;

 private:
  struct Row {
    const void* task = nullptr;
    size_t deepest = 0;
    size_t stackSize = 0;  // of the deepest
    uint64_t numRuns = 0;
  };

  static constexpr size_t kRows = 1024;  // some stay empty: there a search ends

  Row* find(const void* task) noexcept;
  size_t copyDeepest(Row (&deepest)[kMostShown]) noexcept;

  SpinLock lock_;
  Row rows_[kRows];  // guarded by lock_; an open-addressed table
  size_t numRows_ = 0;
  uint64_t numRunsLeftOut_ = 0;  // of tasks for which there was no row
};

// That of all schedulers, which is never destroyed.
inline StackReport& processStackReport() noexcept {
  static constinit StackReport report;
  return report;
}

// Measures the task that begins on `fiber`, which runs, until this object ends. Nothing if not kOn.
template <bool kOn>
class StackMeter {
 public:
  explicit StackMeter(const FiberControlBlock&) noexcept {}
};

template <>
class StackMeter<true> {
 public:
  explicit StackMeter(const FiberControlBlock& fiber) noexcept;
  ~StackMeter();
  StackMeter(const StackMeter&) = delete;
  StackMeter& operator=(const StackMeter&) = delete;

 private:
  const Stack stack_;
  const void* const task_;
  const StackPaint paint_;
};

}  // namespace weft::inline v0_1::detail
