// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>

#include "scheduler/fibers/fiber_control_block.h"
#include "weft/detail/base/task_scope.h"
#include "weft/detail/park/permit.h"
#include "weft/fiber.h"
#include "weft/memory.h"

namespace weft::inline v0_1::detail {

// The Fiber of a task that is run in place. It has its own permit, but waits as the fiber that runs it. So
// several permits may belong to one fiber, which waits for at most one: that of its innermost task. A
// notifier of another permit only leaves it there, and wakes nobody.
// What must not happen: a notify() comes late, when the permit has passed to a task on another fiber, and
// wakes the first task's fiber. So a notifier reads `host` only while the owner waits for its wake.
struct InPlaceFiber final : Fiber {
  explicit InPlaceFiber(uint32_t index) : Fiber(kInPlace | index) {}

  // The Permit's host, for notifiers.
  void wake() noexcept { host->wake(); }

  FiberControlBlock* host = nullptr;  // the owner's; a notifier reads it between its notify() and the wake
  Permit<> permit;
  InPlaceFiber* nextSpare = nullptr;

  static constexpr uint32_t kInPlace = uint32_t{1} << 31;  // in `id`
};

inline InPlaceFiber* asInPlace(Fiber* fiber) {
  return (fiber->id & InPlaceFiber::kInPlace) != 0 ? static_cast<InPlaceFiber*>(fiber) : nullptr;
}

// A worker's InPlaceFibers, made on demand and kept, so that a late notify() is as harmless as for any fiber.
class InPlaceFibers {
 public:
  explicit InPlaceFibers(Allocator* allocator) : allocator_(allocator) {}
  ~InPlaceFibers();
  InPlaceFibers(const InPlaceFibers&) = delete;
  InPlaceFibers& operator=(const InPlaceFibers&) = delete;

  InPlaceFiber& take(FiberControlBlock& host);
  void giveBack(InPlaceFiber& fiber);

 private:
  Allocator* const allocator_;
  InPlaceFiber* spares_ = nullptr;
  uint32_t numMade_ = 0;
};

// Returns: TaskScope::inPlaceEnd for a stack that begins at `bottom`.
uint32_t endOfTasksInPlace(uintptr_t bottom, size_t fiberStackSize);

// Returns: whether `task`, which runs on this thread, is run in place. Requires: a scheduler is bound.
bool isInPlace(const TaskScope& task) noexcept;

// Returns: the first FiberLocal value of the task that is run in place here.
FiberLocalNode*& inPlaceLocals() noexcept;

}  // namespace weft::inline v0_1::detail
