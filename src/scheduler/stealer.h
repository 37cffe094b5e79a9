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

// Takes tasks out of the deques of others: decides which victims a worker steals from, and when it hesitates.
class Stealer {
 public:
  // `self` is the thread's part in the core's gate.
  Stealer(SchedulerCore& core, const Worker& owner, int id, StealGate<>::Member& self);

  // Tries each other worker once, beginning at a random one, and then the bound threads that fork.
  // `isPatient`: leaves a task that its owner may be about to take back.
  // Returns: a task, or null.
  TaskNode* steal(bool isPatient);
  // The same, from bound threads only.
  TaskNode* stealFromBoundThread();
  // Whether any deque looks non-empty.
  bool seesTasks();

  // Returns: whether steal() has left a task to its owner since the last forgetHesitation().
  bool hasHesitated() const { return hasHesitated_; }
  void forgetHesitation() { hasHesitated_ = false; }

  // Any thread.
  uint64_t numSteals() const { return numSteals_.get(); }

 private:
  bool mayTakeItBack(const Worker& victim);
  TaskNode* stealFrom(StealingDeque<TaskNode>& deque);

  SchedulerCore& core_;
  const Worker& owner_;
  StealGate<>::Member& self_;
  uint64_t random_;
  TimePoint lastSteal_{};
  uint32_t numQuick_ = 0;  // quick steals in a row
  uint32_t numHesitations_ = 0;
  uint64_t hesitatedAt_ = 0;  // how many tasks the victim had scheduled then
  bool hasHesitated_ = false;
  OwnCounter numSteals_;
};

}  // namespace weft::detail
