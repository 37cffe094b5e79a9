// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <weft/memory.h>

#include "relacy_sync.h"

namespace weft::model {

// Memory of the checker: it keeps what was in it when it is freed, so that an access to what is gone meets a
// destroyed atomic, and it is counted in each run.
class ModelAllocator : public Allocator {
 public:
  Allocation allocate(const Allocation::Request& request) override {
    Allocation allocation;
    allocation.request = request;
    allocation.ptr = rl::rl_malloc(request.size, Place{__FILE__, __LINE__}.info());
    return allocation;
  }
  void free(const Allocation& allocation) override {
    rl::rl_free(allocation.ptr, Place{__FILE__, __LINE__}.info());
  }
};

inline ModelAllocator allocator;

}  // namespace weft::model
