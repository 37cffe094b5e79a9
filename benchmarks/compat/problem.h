// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// What marl's names cost: one program, written against `api`, which is weft in one file and marl in the
// other. Every figure is per task, or per round trip.
//
//   spawn        empty tasks, from the bound thread
//   spawn-group  each task calls done() of a WaitGroup that it captures by value
//   spawn-task   each is made as a Task with a flag first
//   event        a chain of tasks, each of which waits for the event before it and signals the one after it
//   baton        two tasks that wake each other in turn through two events
//   ticket       each task waits for its ticket, and is done with it
//
// ../count_instructions.py compares the two programs under callgrind, where a run with no worker threads is
// the same each time.

#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "../common/bound.h"
#include "../common/harness.h"

namespace {

using Bound = bench::BoundScheduler<api::Scheduler>;

// Measures program(n), once.
template <class F>
void measure(bench::Run& r, F program) {
  auto n = r.size<int64_t>(100'000, 1'000);
  Bound bound(r.workers());
  double ns = r.onceNs([&] { program(n); });
  r.metric("operations", static_cast<double>(n));
  r.metric("ns", ns / static_cast<double>(n));
}

void spawn(bench::Run& r) {
  measure(r, [](int64_t n) {
    api::WaitGroup last(1);
    for (int64_t i = 0; i < n; i++) {
      api::schedule([] {});
    }
    api::schedule([=] { last.done(); });
    last.wait();
  });
}

void spawnGroup(bench::Run& r) {
  measure(r, [](int64_t n) {
    api::WaitGroup group(static_cast<unsigned>(n));
    for (int64_t i = 0; i < n; i++) {
      api::schedule([group] { group.done(); });
    }
    group.wait();
  });
}

void spawnTask(bench::Run& r) {
  measure(r, [](int64_t n) {
    api::WaitGroup group(static_cast<unsigned>(n));
    for (int64_t i = 0; i < n; i++) {
      api::Task task([group] { group.done(); }, api::Task::Flags::SameThread);
      api::schedule(std::move(task));
    }
    group.wait();
  });
}

void event(bench::Run& r) {
  measure(r, [](int64_t n) {
    std::vector<api::Event> events(static_cast<size_t>(n) + 1);
    int64_t links = 0;
    for (size_t i = 0; i < static_cast<size_t>(n); i++) {
      api::schedule([before = events[i], after = events[i + 1], &links] {
        before.wait();
        links++;
        after.signal();
      });
    }
    events.front().signal();
    events.back().wait();
    bench::check(links == n, "event");
  });
}

void baton(bench::Run& r) {
  measure(r, [](int64_t n) {
    api::Event ping, pong, done;
    int64_t passes = 0;
    const auto player = [n, done, &passes](const api::Event& mine, const api::Event& others, bool isLast) {
      api::schedule(api::Task(
          [=, &passes] {
            for (int64_t i = 0; i < n; i++) {
              mine.wait();
              passes++;
              others.signal();
            }
            if (isLast) {
              done.signal();
            }
          },
          api::Task::Flags::SameThread));
    };
    player(ping, pong, false);
    player(pong, ping, true);
    ping.signal();
    done.wait();
    bench::check(passes == 2 * n, "baton");
  });
}

void ticket(bench::Run& r) {
  measure(r, [](int64_t n) {
    api::Ticket::Queue queue;
    int64_t called = 0;
    for (int64_t i = 0; i < n; i++) {
      api::schedule([ticket = queue.take(), i, &called] {
        ticket.wait();
        bench::check(called++ == i, "ticket");
        ticket.done();
      });
    }
    queue.take().wait();
    bench::check(called == n, "ticket");
  });
}

int runAll(int argc, char** argv, const char* library) {
  return bench::runMain(argc, argv, "compat", library,
                        {{"spawn", {0, 1}, spawn},
                         {"spawn-group", {0, 1}, spawnGroup},
                         {"spawn-task", {0, 1}, spawnTask},
                         {"event", {0, 1}, event},
                         {"ticket", {0, 1}, ticket},
                         {"baton", {0, 1}, baton}});
}

}  // namespace
