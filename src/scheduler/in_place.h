// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "scheduler/fiber_control_block.h"
#include "weft/detail/base/task_scope.h"
#include "weft/detail/park/permit.h"
#include "weft/fiber.h"
#include "weft/memory.h"

namespace weft::detail {

// The Fiber of a task that is run in place: a permit of its own, whose waits are those of the fiber that runs
// it.
//
// So several permits may belong to one fiber, but it waits for one of them at most: that of its innermost
// task. A notifier wakes the fiber only where it finds the permit waited for; for another task's permit it
// leaves it in the permit, and no more.
//
// What must not happen: a notify() comes too late, when a task on another fiber has the permit already, and
// wakes the fiber of the task before. So a notifier asks for the host only when it owes the owner a wake,
// until which that one cannot go.
struct InPlaceFiber final : Fiber {
  explicit InPlaceFiber(uint32_t index) : Fiber(kInPlace | index) {}

  // The Permit's host, for notifiers.
  void wake() noexcept { host->wake(); }

  FiberControlBlock* host = nullptr;  // the owner's; a notifier's between its notify() and the wake
  Permit<> permit;
  InPlaceFiber* nextSpare = nullptr;

  static constexpr uint32_t kInPlace = uint32_t{1} << 31;  // in `id`
};

// Returns: `fiber`, if it is an InPlaceFiber, or null.
inline InPlaceFiber* asInPlace(Fiber* fiber) {
  return (fiber->id & InPlaceFiber::kInPlace) != 0 ? static_cast<InPlaceFiber*>(fiber) : nullptr;
}

// A worker's: made when tasks ask for them, and kept for later ones, so that a notify() that comes too late
// hurts no more than with any other fiber.
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

// Whether `task`, which runs on this thread, is run in place. Requires: something is bound.
bool isInPlace(const TaskScope& task) noexcept;

// Returns: the first of the values of the task that is run in place here.
FiberLocalNode*& inPlaceLocals() noexcept;

}  // namespace weft::detail
