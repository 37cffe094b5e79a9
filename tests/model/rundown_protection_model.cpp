// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/detail/park/quiescence.h>
#include <weft/detail/wait/rundown_protection.h>

#include "explore.h"

// Seeded bug: wait/rundown_protection.h:1:split
// Seeded bug: wait/rundown_protection.h:2
// Seeded bug: wait/rundown_protection.h:3
// Seeded bug: wait/rundown_protection.h:4:split
namespace weft::model {
namespace {

using RundownProtection = detail::RundownProtection<RelacySync>;
using Counters = detail::TaskCounters<RelacySync>;

// Two come, twice each and with one thing more each time, while the third ends what they use.
struct UseAndEnd : rl::test_suite<UseAndEnd, 3> {
  RundownProtection rundown;
  RelacySync::Var<int> used[2];

  void thread(unsigned index) {
    if (index == 2) {
      rundown.close();
      rundown.awaitAllLeft();
      used[0].set(0);
      used[1].set(0);
      return;
    }
    for (uint32_t i = 1; i <= 2; ++i) {
      if (rundown.enter(i)) {
        used[index].set(1);
        rundown.leave(i);
      }
    }
  }
};

// A worker that shuts down ends its last task and closes; one from outside brings another task. It is not let
// in, or its task runs.
struct TaskAtTheEnd : rl::test_suite<TaskAtTheEnd, 2> {
  RundownProtection rundown;
  Counters counters;
  RelacySync::Atomic<int> injected{0};
  int numLetIn = 0, numRun = 0;

  void before() { counters.countScheduled(); }

  void runTask() {
    if (injected.exchange(0, std::memory_order_acquire) != 0) {
      ++numRun;
      counters.countEnded();
    }
  }

  bool isOver() {
    uint64_t numEntered = 0;
    const bool isQuiet = detail::isQuiescent<RelacySync>([this](auto&& f) { f(counters); },
                                                         [&] { return numEntered = rundown.numEntered(); });
    return isQuiet && rundown.closeAt(numEntered);
  }

  void thread(unsigned index) {
    if (index == 0) {
      counters.countEnded();
      while (!isOver()) {
        runTask();
        RelacySync::pause();
      }
      rundown.awaitAllLeft();
    } else if (rundown.enter()) {
      ++numLetIn;
      injected.store(1, std::memory_order_release);
      rundown.leave();
    }
  }

  void after() { check(numRun == numLetIn, "a task that was let in has run"); }
};

}  // namespace
}  // namespace weft::model

int main(int argc, char** argv) {
  using namespace weft::model;
  return runModel(argc, argv, [] {
    return exploreFinite<UseAndEnd>("two that use, one that ends", 500'000) &&
           exploreFinite<TaskAtTheEnd>("a task from outside at the end", 500'000);
  });
}
