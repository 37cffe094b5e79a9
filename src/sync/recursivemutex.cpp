// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include "weft/recursivemutex.h"

#include "scheduler/worker/process_fork.h"
#include "weft/debug.h"

namespace weft::inline v0_1 {

void RecursiveMutex::reportTooOften() const {
  WEFT_FATAL("RecursiveMutex %p was locked 2^32 times by its holder. Unlock it as often as it is locked.",
             static_cast<const void*>(this));
}

void RecursiveMutex::reportHolderEnded() const {
  WEFT_FATAL(
      "RecursiveMutex %p is held by a task or thread that has ended without unlocking it. "
      "Unlock it as often as it is locked, on each way out; std::scoped_lock does that by itself.",
      static_cast<const void*>(this));
}

void RecursiveMutex::reportNotHeld() const {
  detail::assertBindingNotLost("RecursiveMutex::unlock()");
  WEFT_FATAL(
      "RecursiveMutex %p was unlocked by a fiber or thread that does not hold it. "
      "Unlock it where it was locked, and as often; std::scoped_lock does that by itself.",
      static_cast<const void*>(this));
}

void RecursiveMutex::reportDestroyedInUse() {
  WEFT_FATAL(
      "a RecursiveMutex was destroyed while somebody held it or waited for it. "
      "Unlock it as often as it was locked, and keep it alive until all are done with it.");
}

}  // namespace weft::inline v0_1
