// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "weft/detail/base/shared.h"
#include "weft/detail/wait/rundown_protection.h"
#include "weft/export.h"

namespace weft::inline v0_1 {

class MainLoopExecutor;
class PoolExecutor;
class Scheduler;
class TaskHandle;

namespace detail {

// The part of one of weft's executors that continuations keep alive. Drops tasks once the executor has ended.
struct WEFT_EXPORT ExecutorLink : ReferenceCount {
  ExecutorLink() : ReferenceCount(1) {}

  // Any thread. Neither suspends nor blocks.
  virtual void schedule(TaskHandle task) = 0;
  // Gives its memory back.
  virtual void free() noexcept = 0;

  void release() noexcept {
    if (releaseReference(false)) {
      free();
    }
  }

  RundownProtection<> rundown;  // of threads that use the executor, which its end closes

 protected:
  ~ExecutorLink() = default;
};

// One of weft's executors, as a continuation keeps it.
class KeptExecutor {
 public:
  explicit KeptExecutor(ExecutorLink& link) noexcept : link_(Shared<ExecutorLink>::adopt(&link)) {
    link.retain();
  }

  WEFT_EXPORT void schedule(TaskHandle task) const;

 private:
  Shared<ExecutorLink> link_;
};

struct ExecutorAccess {
  WEFT_EXPORT static KeptExecutor keep(Scheduler& executor);
  WEFT_EXPORT static KeptExecutor keep(PoolExecutor& executor);
  WEFT_EXPORT static KeptExecutor keep(MainLoopExecutor& executor);
};

}  // namespace detail
}  // namespace weft::inline v0_1
