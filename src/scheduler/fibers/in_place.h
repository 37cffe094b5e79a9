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

// The Fiber of a task that is run in place. It has a permit of its own, but its waits are those of the fiber
// that runs it.
//
// So several permits may belong to one fiber, but the fiber waits for at most one of them: that of its
// innermost task. A notifier wakes the fiber only where it finds that the fiber waits for this permit. For
// another task's permit the notifier only leaves the permit there.
//
// What must not happen: a notify() comes too late, when a task on another fiber has the permit already, and
// wakes the fiber of the task before. So a notifier reads `host` only when it owes the owner a wake, and the
// owner cannot go before that wake.
struct InPlaceFiber final : Fiber {
  explicit InPlaceFiber(uint32_t index) : Fiber(kInPlace | index) {}

  // The Permit's host, for notifiers.
  void wake() noexcept { host->wake(); }

  FiberControlBlock* host = nullptr;  // the owner's; a notifier reads it between its notify() and the wake
  Permit<> permit;
  InPlaceFiber* nextSpare = nullptr;

  static constexpr uint32_t kInPlace = uint32_t{1} << 31;  // in `id`
};

// Returns: `fiber` as an InPlaceFiber, or null if it is none.
inline InPlaceFiber* asInPlace(Fiber* fiber) {
  return (fiber->id & InPlaceFiber::kInPlace) != 0 ? static_cast<InPlaceFiber*>(fiber) : nullptr;
}

// A worker's InPlaceFibers. They are made when tasks ask for them, and kept for later tasks, so that a
// notify() that comes too late does no more harm than with any other fiber.
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

// Returns: whether `task`, which runs on this thread, is run in place.
// Requires: a scheduler is bound.
bool isInPlace(const TaskScope& task) noexcept;

// Returns: the first FiberLocal value of the task that is run in place here.
FiberLocalNode*& inPlaceLocals() noexcept;

}  // namespace weft::inline v0_1::detail
