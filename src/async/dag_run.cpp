// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <atomic>
#include <cstdint>
#include <mutex>
#include <new>
#include <stop_token>
#include <type_traits>
#include <utility>

#include "scheduler/worker/worker.h"
#include "weft/debug.h"
#include "weft/detail/base/outcome.h"
#include "weft/detail/forkjoin/dag_counter.h"
#include "weft/detail/forkjoin/dag_graph.h"
#include "weft/scheduler.h"
#include "weft/waitgroup.h"

namespace weft::inline v0_1::detail {
namespace {

// More successors than these are halved, and one half is scheduled: a thief gets the largest part.
constexpr uint32_t kMostInPlace = 4;

// Of a node's index: the node is skipped.
constexpr uint32_t kFlag = DagGraph::kMost + 1;

// Where a node leads in a run without choices and without a token.
struct EveryWay {
  static constexpr uint32_t kIndexMask = ~uint32_t{0};
};

// Where a node leads in other runs: to all places of outs_ outside of [begin, end), and to `open`.
struct SomeWays {
  static constexpr uint32_t kIndexMask = ~kFlag;
  static SomeWays none() { return {0, ~uint32_t{0}, ~uint32_t{0}}; }
  bool leadTo(uint32_t out) const { return out < begin || out >= end || out == open; }

  uint32_t begin = 0, end = 0, open = 0;
};

}  // namespace

// The context of one run; the counters lie behind it.
struct DagGraph::Run {
  Run(Allocator* from, const Allocation& all, WaitGroup&& end)
      : memory(all), allocator(from), finished(std::move(end)) {}

  DagCounter<>* counters() { return reinterpret_cast<DagCounter<>*>(this + 1); }

  const Allocation memory;
  Allocator* const allocator;
  WaitGroup finished;  // counts the nodes without successors
  void* data = nullptr;
  const std::stop_token* token = nullptr;  // may be null
  Run* nextIdle = nullptr;
  std::atomic<bool> hasFailed{false};  // false -> true, by the first failing function; set back between runs
  std::atomic<bool> isCut{false};  // false -> true, by nodes that a stop leaves out; set back between runs
  EscapedException failure;        // that function's; `finished` publishes it
};

DagGraph::~DagGraph() {
  WEFT_ASSERT(numRunning_ == 0, "a DAG was destroyed while it runs. Keep it until run() has returned.");
  while (idleRuns_ != nullptr) {
    Run* run = std::exchange(idleRuns_, idleRuns_->nextIdle);
    const Allocation memory = run->memory;
    run->~Run();
    allocator_->free(memory);
  }
}

uint32_t DagGraph::numOptionsOf(uint32_t node) const {
  return node < numOptions_.size() ? numOptions_[node] : 0;
}

bool DagGraph::run(void* data, Allocator* allocator, const std::stop_token* token) {
  assert_has_bound_scheduler("DAG::run()");
  Run& run =
      beginRun(allocator == Allocator::Default ? allocator_ : assertAllocator(allocator, "DAG::run()"));
  run.data = data;
  run.finished.add(numLeaves_);
  bool isWhole = true;
  if (numOptions_.empty() && token == nullptr) {
    strand<EveryWay>(run, kRoot);
    run.finished.wait();
  } else {
    run.token = token;
    strand<SomeWays>(run, kRoot);
    run.finished.wait();
    // relaxed: `finished` has published it, and its end publishes it to the next run.
    isWhole = !run.isCut.load(std::memory_order_relaxed);
    run.isCut.store(false, std::memory_order_relaxed);
  }
  EscapedException failure = std::exchange(run.failure, {});
  endRun(run);
  failure.rethrow();
  return isWhole;
}

DagGraph::Run& DagGraph::beginRun(Allocator* allocator) {
  {
    std::scoped_lock guard(lock_);
    if (idleRuns_ != nullptr && allocator == allocator_) {
      ++numRunning_;
      return *std::exchange(idleRuns_, idleRuns_->nextIdle);
    }
  }
  WaitGroup finished(0, allocator);  // first, since either allocation may throw
  const Allocation memory = allocator->allocate({.size = sizeof(Run) + numCounters_ * sizeof(DagCounter<>),
                                                 .alignment = alignof(Run),
                                                 .usage = Allocation::Usage::Create});
  Run* run = ::new (memory.ptr) Run(allocator, memory, std::move(finished));
  for (const Node& node : nodes_) {
    if (node.counter != kNone) {
      ::new (&run->counters()[node.counter]) DagCounter<>(node.numIns);
    }
  }
  std::scoped_lock guard(lock_);
  ++numRunning_;
  return *run;
}

void DagGraph::endRun(Run& run) {
  // relaxed: the lock publishes it.
  run.hasFailed.store(false, std::memory_order_relaxed);
  const bool isKept = run.allocator == allocator_;
  if (!isKept) {
    const Allocation memory = run.memory;
    Allocator* allocator = run.allocator;
    run.~Run();
    allocator->free(memory);
  }
  std::scoped_lock guard(lock_);
  --numRunning_;
  if (isKept) {
    run.nextIdle = idleRuns_;
    idleRuns_ = &run;
  }
}

// Calls a node's function, unless another one's has failed.
[[gnu::always_inline]] inline void DagGraph::call(Run& run, DagWork& work, void* data) {
  // relaxed: it says only that functions need not be called any more.
  if (!run.hasFailed.load(std::memory_order_relaxed)) [[likely]] {
    EscapedException failure;
    failure.capture([&] { work(data); });
    if (failure && !run.hasFailed.exchange(true, std::memory_order_relaxed)) [[unlikely]] {
      run.failure = std::move(failure);
    }
  }
}

// Returns: where the node leads.
template <class Way>
Way DagGraph::visit(Run& run, uint32_t index) {
  Node& node = nodes_[index & Way::kIndexMask];
  if constexpr (std::is_empty_v<Way>) {
    call(run, node.work, run.data);
    return {};
  } else {
    if ((index & kFlag) != 0) {
      return Way::none();
    }
    if (run.token != nullptr && run.token->stop_requested()) {
      // relaxed: `finished` publishes it.
      run.isCut.store(true, std::memory_order_relaxed);
      return Way::none();
    }
    const uint32_t numOptions = numOptionsOf(index);
    if (numOptions == 0) {
      call(run, node.work, run.data);
      return {};
    }
    DagChoice choice{run.data};  // after a failure it keeps option 0, but no function is called any more
    call(run, node.work, &choice);
    WEFT_ASSERT(choice.option < numOptions,
                "DAG: the function of %s, which chooses, returned %lld. It has %u nodes to choose from: "
                "return a number from 0 to %u.",
                describe(index).c_str(), static_cast<long long>(choice.option), numOptions, numOptions - 1);
    return {node.firstOut, node.firstOut + numOptions, node.firstOut + static_cast<uint32_t>(choice.option)};
  }
}

// Runs `index`, then a successor that is ready, and so on. In between others of this thread have their turn.
template <class Way>
void DagGraph::strand(Run& run, uint32_t index) {
  Fiber* const self = currentFiber;
  LocalDeque& local = Worker::current()->localDeque();
  while (index != kNone) {
    const Node& node = nodes_[index & Way::kIndexMask];
    const Way way = visit<Way>(run, index);
    if (node.numOuts == 0) {
      // The run may be over, and its memory may be used by the next run.
      run.finished.done();
      return;
    }
    if (node.numOuts == 1) {
      uint32_t next = outs_[node.firstOut];
      index = pass(run, node.firstOut, way, next) ? next : kNone;
    } else {
      index = arrive(run, node.firstOut, node.firstOut + node.numOuts, way);
    }
    WEFT_ASSERT(currentFiber == self,
                "Scheduler::unbind() was called in a function of a DAG. Call it after run() has returned.");
    if (index != kNone) {
      local.letOthersRunInTurn();
    }
  }
}

// One predecessor of each of the successors [begin, end) has run. Schedules those that are ready, except one.
// Returns: that one, or kNone; if kNone, the run may be over.
template <class Way>
uint32_t DagGraph::arrive(Run& run, uint32_t begin, uint32_t end, Way way) {
  while (end - begin > kMostInPlace) {
    const uint32_t middle = begin + (end - begin) / 2;
    if constexpr (std::is_empty_v<Way>) {
      schedule([this, &run, middle, end] { strand<Way>(run, arrive(run, middle, end, Way())); });
    } else {
      schedule([this, &run, middle, end, way] { strand<Way>(run, arrive(run, middle, end, way)); });
    }
    end = middle;
  }
  uint32_t next = kNone;
  for (uint32_t i = begin; i < end; ++i) {
    uint32_t index = outs_[i];
    if (!pass(run, i, way, index)) {
      continue;
    }
    if (next == kNone) {
      next = index;
    } else {
      schedule([this, &run, index] { strand<Way>(run, index); });
    }
  }
  return next;
}

// A predecessor of the node `index`, which is outs_[out], is done, and leads where `way` says. Returns:
// whether it was the last one. Then `index` has kFlag if the node is skipped.
template <class Way>
bool DagGraph::pass(Run& run, uint32_t out, const Way& way, uint32_t& index) {
  const Node& node = nodes_[index];
  if constexpr (std::is_empty_v<Way>) {
    return isReady(run, node);
  } else {
    bool runs = way.leadTo(out);
    if (node.counter != kNone) {
      DagCounter<>& counter = run.counters()[node.counter];
      if (runs) {
        counter.lead();
      }
      const uint32_t arrival = counter.countDown();
      if (!DagCounter<>::isLast(arrival)) {
        return false;
      }
      counter.reset(node.numIns);
      runs = DagCounter<>::isLed(arrival);
    }
    index |= runs ? 0 : kFlag;
    return true;
  }
}

bool DagGraph::isReady(Run& run, const Node& node) {
  if (node.counter == kNone) {
    return true;
  }
  DagCounter<>& counter = run.counters()[node.counter];
  if (counter.arrive()) {
    return false;
  }
  counter.reset(node.numIns);
  return true;
}

}  // namespace weft::inline v0_1::detail
