// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "scheduler/report.h"
#include "weft/memory.h"

namespace weft::detail {

// What a scheduler has its memory from: the allocator of its Config, which neither throws nor returns null.
// Where that does, a message ends the program. A scheduler asks for memory in the midst of things, such as a
// wait whose waiter is linked already or a task that is counted but not queued yet, on threads where nobody
// could be told.
class CheckedAllocator final : public Allocator {
 public:
  // `owner` is for the message: whose Config.
  CheckedAllocator(Allocator* checked, const char* owner) noexcept : checked_(checked), owner_(owner) {}

  Allocation allocate(const Allocation::Request& request) override {
    return allocateOrDie(*checked_, request, owner_);
  }
  void free(const Allocation& allocation) override { freeOrDie(*checked_, allocation, owner_); }

  Allocator* checked() const noexcept { return checked_; }

 private:
  Allocator* const checked_;
  const char* const owner_;
};

}  // namespace weft::detail
