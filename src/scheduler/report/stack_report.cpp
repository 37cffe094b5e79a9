// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "scheduler/report/stack_report.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <mutex>

#include "scheduler/report/symbol.h"
#include "weft/debug.h"

namespace weft::inline v0_1::detail {
namespace {

[[gnu::format(printf, 1, 2)]] void writeLine(const char* format, ...) {
  char line[512];
  va_list arguments;
  va_start(arguments, format);
  const int length = std::vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  writeStderr(line, std::min(sizeof line - 1, static_cast<size_t>(std::max(length, 0))));
}

}  // namespace

// Returns: the row of `task`, perhaps a new one; null where there is no room. Requires: lock_ is held.
StackReport::Row* StackReport::find(const void* task) noexcept {
  size_t at = reinterpret_cast<uintptr_t>(task) / 16;
  while (rows_[at % kRows].task != nullptr && rows_[at % kRows].task != task) {
    ++at;
  }
  Row& row = rows_[at % kRows];
  if (row.task == nullptr) {
    if (numRows_ == kMaxTasks) {
      return nullptr;
    }
    ++numRows_;
    row.task = task;
  }
  return &row;
}

void StackReport::add(const void* task, size_t depth, size_t stackSize) noexcept {
  std::scoped_lock hold(lock_);
  Row* const row = find(task);
  if (row == nullptr) {
    ++numRunsLeftOut_;
    return;
  }
  ++row->numRuns;
  if (depth > row->deepest) {
    row->deepest = depth;
    row->stackSize = stackSize;
  }
}

size_t StackReport::copyDeepest(Row (&deepest)[kMostShown]) noexcept {
  const auto end =
      std::partial_sort_copy(std::begin(rows_), std::end(rows_), std::begin(deepest), std::end(deepest),
                             [](const Row& a, const Row& b) { return a.deepest > b.deepest; });
  return std::min(static_cast<size_t>(end - deepest), numRows_);
}

void StackReport::print() noexcept {
  Row deepest[kMostShown];
  size_t numShown = 0, numTasks = 0;
  uint64_t numRunsLeftOut = 0;
  {
    std::scoped_lock hold(lock_);
    numShown = copyDeepest(deepest);
    numTasks = numRows_;
    numRunsLeftOut = numRunsLeftOut_;
  }
  if (numTasks == 0) {
    return;
  }
  writeLine("weft: deepest stacks by task, %zu of %zu:\n       bytes  of stack        runs  task\n", numShown,
            numTasks);
  for (size_t i = 0; i < numShown; ++i) {
    const Row& row = deepest[i];
    writeLine("%12zu  %6.1f %%  %10llu  %s\n", row.deepest,
              100.0 * static_cast<double>(row.deepest) / static_cast<double>(row.stackSize),
              static_cast<unsigned long long>(row.numRuns), Symbol(row.task).text);
  }
  if (numRunsLeftOut != 0) {
    writeLine("  %llu runs of other tasks are left out, as the table has room for %zu tasks.\n",
              static_cast<unsigned long long>(numRunsLeftOut), kMaxTasks);
  }
}

StackMeter<true>::StackMeter(const FiberControlBlock& fiber) noexcept
    : stack_(fiber.stack()), task_(fiber.task), paint_(stack_.bottom()) {}

StackMeter<true>::~StackMeter() {
  processStackReport().add(task_, stack_.top() - paint_.lowestUsed(), stack_.size);
}

#if defined(WEFT_STACK_REPORT)
namespace {

// After the destructors of static objects, one of which may be a scheduler.
[[gnu::destructor]] void printAtExit() { processStackReport().print(); }

}  // namespace
#endif

}  // namespace weft::inline v0_1::detail
