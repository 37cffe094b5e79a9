// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>

#include "weft/detail/fair/task.h"

namespace weft::inline v0_1::detail {

// Tasks that are in no queue, first in, first out. It allocates nothing.
class FairChain {
 public:
  bool isEmpty() const { return first_ == nullptr; }
  size_t size() const { return size_; }

  void append(FairTask& task) {
    task.inboxNext.set(nullptr);
    last_ != nullptr ? last_->inboxNext.set(&task) : void(first_ = &task);
    last_ = &task;
    ++size_;
  }
  // Returns: the oldest, or null.
  FairTask* pop() {
    FairTask* const task = first_;
    if (task != nullptr) {
      first_ = task->inboxNext.get();
      last_ = first_ != nullptr ? last_ : nullptr;
      --size_;
    }
    return task;
  }

 private:
  FairTask* first_ = nullptr;
  FairTask* last_ = nullptr;
  size_t size_ = 0;
};

}  // namespace weft::inline v0_1::detail
