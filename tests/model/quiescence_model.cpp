// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#include <weft/detail/park/parker.h>
#include <weft/detail/park/quiescence.h>
#include <weft/detail/queue/stealing_deque.h>

#include "explore.h"

// Seeded bug: park/quiescence.h:1
// Seeded bug: park/quiescence.h:2
// Seeded bug: park/quiescence.h:3
namespace weft::model {
namespace {

using Counters = detail::TaskCounters<RelacySync>;
using Parker = detail::Parker<RelacySync>;

// Two workers end the last two tasks. Each scans when it is idle and then sleeps; one of them must find that
// all has ended, and tell the other.
struct LastTwoTasks : rl::test_suite<LastTwoTasks, 2> {
  Counters counters[2];
  Parker parkers[2];
  RelacySync::Atomic<int> isDone{0};

  void before() {
    counters[0].countScheduled();
    counters[0].countScheduled();
  }

  bool isQuiet() {
    return detail::isQuiescent<RelacySync>(
        [this](auto&& f) {
          f(counters[0]);
          f(counters[1]);
        },
        [] { return uint64_t{0}; });
  }

  void thread(unsigned index) {
    counters[index].countEnded();
    // relaxed: the parkers order it.
    while (isDone.load(std::memory_order_relaxed) == 0) {
      if (isQuiet()) {
        isDone.store(1, std::memory_order_relaxed);
        parkers[1 - index].unpark();
        return;
      }
      parkers[index].park();
    }
  }
};

// A scan while a task schedules another one, which runs elsewhere: it must not say that all has ended before
// both have.
struct TaskThatSchedules : rl::test_suite<TaskThatSchedules, 3> {
  Counters counters[2];
  detail::StealingDeque<int, RelacySync, 4> deque;
  int child = 0;
  RelacySync::Atomic<int> hasChildEnded{0};

  void before() { counters[0].countScheduled(); }

  void thread(unsigned index) {
    if (index == 0) {
      counters[0].countScheduled();
      deque.push(&child);
      counters[0].countEnded();
    } else if (index == 1) {
      while (deque.steal().item == nullptr) {
        RelacySync::pause();
      }
      // relaxed: the counters have to order it.
      hasChildEnded.store(1, std::memory_order_relaxed);
      counters[1].countEnded();
    } else {
      const bool isQuiet = detail::isQuiescent<RelacySync>(
          [this](auto&& f) {
            f(counters[1]);
            f(counters[0]);
          },
          [] { return uint64_t{0}; });
      if (isQuiet) {
        check(hasChildEnded.load(std::memory_order_relaxed) == 1, "the child has ended");
      }
    }
  }
};

}  // namespace
}  // namespace weft::model

int main(int argc, char** argv) {
  using namespace weft::model;
  return runModel(argc, argv, [] {
    return exploreFinite<LastTwoTasks>("last two tasks", 500'000) &&
           exploreFinite<TaskThatSchedules>("task that schedules", 500'000);
  });
}
