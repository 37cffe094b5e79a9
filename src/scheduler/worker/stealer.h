// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

#include "os/single_writer_counter.h"
#include "scheduler/policy/victim_order.h"
#include "weft/detail/base/sync.h"
#include "weft/detail/base/task_node.h"
#include "weft/detail/queue/steal_gate.h"
#include "weft/detail/queue/stealing_deque.h"
#include "weft/memory.h"

namespace weft::inline v0_1::detail {

class Worker;
class WorkerGroup;

// Takes tasks out of the deques of others: decides which victims a worker steals from. A worker that has run
// dry steals. A busy worker takes stranded tasks: those in the deque of a worker that is in one task for
// long, since that blocks its thread or computes. Such a worker is known by its missing polls.
class Stealer {
 public:
  // `self` is the thread's part in the group's gate.
  Stealer(WorkerGroup& group, const Worker& owner, int id, StealGate<>::Stealer& self);

  // For the thread that starts the workers, before it starts any.
  void setVictims(VictimOrder&& order) { order_ = std::move(order); }
  const VictimOrder& victims() const { return order_; }

  // Tries each other worker once, and then one of the bound threads that fork. Begins at a random worker, or
  // with an order of victims at a random one of each ring.
  TaskNode* steal();
  // The worker with which the next theft begins. Each thief draws it, so that they do not crowd around one.
  uint64_t nextStart();

  // For a busy worker, every three milliseconds or more: notes which workers have tasks, but have not polled
  // for three milliseconds, or since the last call. `now`: ticks(). Bound threads poll only while they wait.
  // So if a bound thread that forks has tasks, one of them counts as stranded.
  void lookForStranded(uint64_t now);
  bool hasStranded() const { return hasStranded_; }
  // Returns: a stranded task, or null. Begins at a random worker, so that all have their turn.
  TaskNode* stealStranded();

  // Tells the others that this worker is not in one task for long. `now`: ticks().
  void publishPoll(uint64_t now) {
    // relaxed: only compared with an earlier value.
    lastPoll_.store(now, std::memory_order_relaxed);
  }
  // Any thread. relaxed: see publishPoll().
  uint64_t lastPoll() const { return lastPoll_.load(std::memory_order_relaxed); }
  bool seesTasks();

  // Any thread.
  uint64_t numSteals() const { return numSteals_.get(); }

 private:
  friend struct LayoutAccess;

  struct Seen {
    uint64_t lastPoll = 0;
    bool isStranded = false;
  };

  uint64_t draw(uint64_t count);
  TaskNode* stealFromNearest();
  TaskNode* stealFromBoundThread();
  TaskNode* stealFrom(StealingDeque<TaskNode>& deque);

  WorkerGroup& group_;
  const Worker& owner_;
  StealGate<>::Stealer& self_;
  uint64_t random_;
  TimePoint lastSteal_{};
  uint32_t numQuick_ = 0;  // quick steals in a row
  SingleWriterCounter numSteals_;
  std::vector<Seen, StlAllocator<Seen>> seen_;  // one for each worker
  bool hasStranded_ = false;
  bool isBoundThreadsTurn_ = false;
  std::atomic<uint64_t> lastPoll_{0};
  VictimOrder order_;
};

}  // namespace weft::inline v0_1::detail
