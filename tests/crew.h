// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include <weft/fiber.h>
#include <weft/scheduler.h>
#include <weft/waitgroup.h>

#include "rounds.h"

// Code in each kind of place that may wait: in tasks, on bound threads, on threads with nothing bound.
namespace weft::tests {

// Returns once pred() is true. Lets others run meanwhile, on a bound thread its tasks too.
template <class Predicate>
void awaitThat(Predicate pred) {
  for (Patience patience; !pred(); patience.wait()) {
    yield();
  }
}

// The ways to run code that may wait.
enum class Kind { Task, BoundThread, FreeThread };

inline constexpr Kind kKinds[] = {Kind::Task, Kind::BoundThread, Kind::FreeThread};

constexpr Kind kindOf(int i) { return kKinds[i % 3]; }

// Runs functions as tasks and on threads, and waits for all of them. Requires: the thread that uses it is
// bound.
class Crew {
 public:
  explicit Crew(Scheduler& scheduler) : scheduler_(scheduler) {}
  ~Crew() { join(); }
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  // Not a template: a std::thread of each test's function would take compilers a quarter of their time.
  void start(Kind kind, std::function<void()> f) {
    if (kind == Kind::Task) {
      tasks_.add();
      schedule([f = std::move(f), tasks = tasks_] {
        f();
        tasks.done();
      });
    } else if (kind == Kind::BoundThread) {
      threads_.emplace_back([this, f = std::move(f)] {
        Scheduler::Binding bound(scheduler_);
        f();
      });
    } else {
      threads_.emplace_back(std::move(f));
    }
  }

  void join() {
    tasks_.wait();
    for (std::thread& thread : threads_) {
      thread.join();
    }
    threads_.clear();
  }

 private:
  Scheduler& scheduler_;
  WaitGroup tasks_;
  std::vector<std::thread> threads_;
};

// Calls `f` in each kind of code that may wait, all at once.
inline void everywhere(Scheduler& scheduler, const std::function<void()>& f) {
  Crew crew(scheduler);
  for (const Kind kind : kKinds) {
    crew.start(kind, f);
  }
}

}  // namespace weft::tests
