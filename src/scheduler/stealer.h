// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "os/own_counter.h"
#include "weft/detail/base/sync.h"
#include "weft/detail/base/task_node.h"
#include "weft/detail/queue/steal_gate.h"
#include "weft/detail/queue/stealing_deque.h"

namespace weft::detail {

class Worker;
struct SchedulerCore;

// Takes tasks out of the deques of others: decides which victims a worker steals from.
class Stealer {
 public:
  // `self` is the thread's part in the core's gate.
  Stealer(SchedulerCore& core, const Worker& owner, int id, StealGate<>::Member& self);

  // Tries each other worker once, beginning at a random one, and then the bound threads that fork.
  // Returns: a task, or null.
  TaskNode* steal();
  // Which worker the next theft begins with: drawn, by each thief differently, so that thieves do not crowd
  // around one victim.
  uint64_t nextStart();
  // The same, from bound threads only.
  TaskNode* stealFromBoundThread();
  // Whether any deque looks non-empty.
  bool seesTasks();

  // Any thread.
  uint64_t numSteals() const { return numSteals_.get(); }

 private:
  TaskNode* stealFrom(StealingDeque<TaskNode>& deque);

  SchedulerCore& core_;
  const Worker& owner_;
  StealGate<>::Member& self_;
  uint64_t random_;
  TimePoint lastSteal_{};
  uint32_t numQuick_ = 0;  // quick steals in a row
  OwnCounter numSteals_;
};

}  // namespace weft::detail
