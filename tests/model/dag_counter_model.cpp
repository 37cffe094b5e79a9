// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/detail/forkjoin/dag_counter.h>

#include "explore.h"

// Seeded bug: forkjoin/dag_counter.h:1
// Seeded bug: forkjoin/dag_counter.h:2
// Seeded bug: forkjoin/dag_counter.h:2:acquire
// Seeded bug: forkjoin/dag_counter.h:2:release
// Seeded bug: forkjoin/dag_counter.h:2:split
// Seeded bug: forkjoin/dag_counter.h:3
// Seeded bug: forkjoin/dag_counter.h:3:acquire
// Seeded bug: forkjoin/dag_counter.h:3:release
// Seeded bug: forkjoin/dag_counter.h:3:split
// Seeded bug: forkjoin/dag_counter.h:4:split
namespace weft::model {
namespace {

using Counter = detail::DagCounter<RelacySync>;

constexpr uint32_t kNumIns = 3;

// A node after three others, each of which a thread runs, in two runs. In runs with choices, what a
// predecessor leads to is chosen anew. The last predecessor runs the node, and begins the second run.
template <bool kHasChoices>
struct Node : rl::test_suite<Node<kHasChoices>, kNumIns> {
  Counter counter{kNumIns};
  RelacySync::Var<int> work[kNumIns];  // of the predecessors, and whether they lead to the node
  RelacySync::Var<int> leads[kNumIns];
  RelacySync::Var<int> result;  // of the node
  RelacySync::Atomic<int> numCalls{0};
  RelacySync::Atomic<int> numEnded{0};

  void callNode(int run, bool isLed) {
    bool isOneLeading = false;
    for (uint32_t i = 0; i < kNumIns; ++i) {
      check(work[i].get() == run, "the last predecessor sees the work of all");
      isOneLeading = isOneLeading || leads[i].get() != 0;
    }
    check(isLed == (!kHasChoices || isOneLeading), "a node is skipped where no predecessor leads to it");
    check(numCalls.fetch_add(1, std::memory_order_relaxed) == run - 1, "a node is reached once in each run");
    result.set(run);
  }

  // As DagGraph::isReady() and DagGraph::pass(). Returns: whether it was the last predecessor.
  bool arrive(bool& isLeading) {
    if constexpr (kHasChoices) {
      if (isLeading) {
        counter.lead();
      }
      const uint32_t arrival = counter.countDown();
      isLeading = Counter::isLed(arrival);
      return Counter::isLast(arrival);
    } else {
      return !counter.arrive();
    }
  }

  // Stands for the end of the run, and for the beginning of the next one.
  void awaitEnd(int run) {
    // (1) acquire: pairs with (2).
    while (numEnded.load(std::memory_order_acquire) < run) {
      RelacySync::pause();
    }
  }

  void thread(unsigned index) {
    for (int run = 1; run <= 2; ++run) {
      bool isLeading = !kHasChoices || rl::rand(2) != 0;
      work[index].set(run);
      leads[index].set(isLeading ? 1 : 0);
      if (arrive(isLeading)) {
        counter.reset(kNumIns);
        callNode(run, isLeading);
        // (2) release: pairs with (1).
        numEnded.store(run, std::memory_order_release);
      } else {
        awaitEnd(run);
      }
      check(result.get() == run, "who waits for the run sees what the node has done");
    }
  }

  void after() { check(numCalls.newest() == 2, "a node is reached in each run"); }
};

}  // namespace
}  // namespace weft::model

int main(int argc, char** argv) {
  using namespace weft::model;
  return runModel(argc, argv, [] {
    return explore<Node<false>>("a node after three", 300'000) &&
           explore<Node<true>>("a node after three that choose", 300'000);
  });
}
