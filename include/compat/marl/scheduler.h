// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "export.h"

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include <weft/scheduler.h>

#include "containers.h"
#include "debug.h"
#include "deprecated.h"
#include "memory.h"
#include "mutex.h"
#include "sanitizers.h"
#include "task.h"
#include "thread.h"
#include "thread_local.h"

namespace marl {

class OSFiber;  // never defined

// A class, not an alias of weft::Scheduler: programs declare `namespace marl { class Scheduler; }`.
class Scheduler : public weft::Scheduler {
 public:
  using weft::Scheduler::Scheduler;

  // Returns: the scheduler that is bound to the calling thread, or null. Requires: it is a marl::Scheduler.
  static Scheduler* get() noexcept { return static_cast<Scheduler*>(weft::Scheduler::get()); }
};

using weft::schedule;

}  // namespace marl
