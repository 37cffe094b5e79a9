// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "scheduler/report/run_or_die.h"
#include "weft/memory.h"

namespace weft::inline v0_1::detail {

// A scheduler allocates all its memory through this. Where the allocator of its Config throws or returns
// null, a message ends the program: memory is needed in the middle of other steps, such as a wait whose
// waiter is linked already, and on threads where no caller could be told.
class CheckedAllocator final : public Allocator {
 public:
  // `owner` names in the message whose Config it is.
  CheckedAllocator(Allocator* checked, const char* owner) noexcept : checked_(checked), owner_(owner) {}

  Allocation allocate(const Allocation::Request& request) override {
    return allocateOrDie(*checked_, request, owner_);
  }
  void free(const Allocation& allocation) override { freeOrDie(*checked_, allocation, owner_); }

 private:
  Allocator* const checked_;
  const char* const owner_;
};

}  // namespace weft::inline v0_1::detail
