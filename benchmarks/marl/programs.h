// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The programs, against `api`, which is weft in one file and marl in the other.

#pragma once

#include <memory>
#include <vector>

#include "../common/bound.h"
#include "problem.h"

namespace {

using Bound = bench::BoundScheduler<api::Scheduler>;

// Scheduling is timed alone, or with what it takes until all tasks have run: unbinding and destroying the
// scheduler.
void measureEmpty(bench::Run& r, bool untilFinished) {
  int64_t n = marls::manyTasks(r);
  std::vector<double> times;
  for (int round = 0; round < r.size(4, 2); round++) {
    auto bound = std::make_unique<Bound>(r.workers());
    double ns = r.onceNs([&] {
      for (int64_t i = 0; i < n; i++) {
        api::schedule([] {});
      }
    });
    double finishNs = r.onceNs([&] { bound.reset(); });
    if (round > 0) {
      times.push_back((ns + (untilFinished ? finishNs : 0)) / static_cast<double>(n));
    }
  }
  r.metric("ns", bench::median(times));
}

void empty(bench::Run& r) { measureEmpty(r, false); }
void emptyFinished(bench::Run& r) { measureEmpty(r, true); }

void waitGroup(bench::Run& r) {
  int64_t n = marls::manyTasks(r);
  Bound bound(r.workers());
  double ns = r.medianNs([&] {
    api::WaitGroup group(static_cast<unsigned>(n));
    for (int64_t i = 0; i < n; i++) {
      api::schedule([group] { group.done(); });
    }
    group.wait();
  });
  r.metric("ns", ns / static_cast<double>(n));
}

void runChain(int64_t n) {
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
  bench::check(links == n, "event-chain");
}

void measureChain(bench::Run& r, void (*run)(int64_t), int64_t n, int rounds) {
  Bound bound(r.workers());
  double ns = r.medianNs([&] {
    for (int i = 0; i < rounds; i++) {
      run(n);
    }
  });
  r.metric("ns", ns / static_cast<double>(n * rounds));
}

void runBaton(int64_t n) {
  api::Event ping, pong, done;
  int64_t passes = 0;
  api::schedule(api::Task(
      [=, &passes] {
        for (int64_t i = 0; i < n; i++) {
          ping.wait();
          passes++;
          pong.signal();
        }
      },
      api::Task::Flags::SameThread));
  api::schedule(api::Task(
      [=, &passes] {
        for (int64_t i = 0; i < n; i++) {
          pong.wait();
          passes++;
          ping.signal();
        }
        done.signal();
      },
      api::Task::Flags::SameThread));
  ping.signal();
  done.wait();
  bench::check(passes == 2 * n, "baton");
}

void baton(bench::Run& r) {
  int64_t n = marls::manyTasks(r);
  Bound bound(r.workers());
  double ns = r.medianNs([&] { runBaton(n); });
  r.metric("ns", ns / static_cast<double>(n));
}

void runTickets(int64_t n) {
  api::Ticket::Queue queue;
  int64_t ran = 0;
  for (int64_t i = 0; i < n; i++) {
    api::schedule([&ran, ticket = queue.take()] {
      ticket.wait();
      ran++;
      ticket.done();
    });
  }
  queue.take().wait();
  bench::check(ran == n, "ticket");
}

template <void (*runOnce)(int64_t)>
void shortChain(bench::Run& r) {
  measureChain(r, runOnce, marls::chainLength(r), r.size(100, 2));
}
template <void (*runOnce)(int64_t)>
void longChain(bench::Run& r) {
  measureChain(r, runOnce, marls::manyTasks(r), 1);
}

int runAll(int argc, char** argv, const char* library) {
  return bench::runMain(argc, argv, "marl", library,
                        {{"empty", {0, 1, 2}, empty},
                         {"empty-finished", {0, 1, 2}, emptyFinished},
                         {"wait-group", {0, 1, 2}, waitGroup},
                         {"event-chain", {0, 1, 2}, shortChain<runChain>},
                         {"event-chain-long", {0, 1, 2}, longChain<runChain>},
                         {"baton", {0, 1, 2}, baton},
                         {"ticket", {0, 1, 2}, shortChain<runTickets>},
                         {"ticket-long", {0, 1, 2}, longChain<runTickets>}});
}

}  // namespace
