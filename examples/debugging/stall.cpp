// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// This program answers nobody for long: a task computes without a wait, and the fibers of its worker cannot
// go on meanwhile. docs/debugging.md shows how to find out which task it is.

#include <atomic>
#include <cstdint>
#include <cstdio>

#include <weft/event.h>
#include <weft/scheduler.h>
#include <weft/waitgroup.h>

std::atomic<uint64_t> sum{0};

// The mistake: it neither waits nor calls weft::yield().
void buildIndex() {
  for (uint64_t i = 0; i < 1'000'000'000'000; ++i) {
    sum.store(sum.load(std::memory_order_relaxed) + i, std::memory_order_relaxed);
  }
}

void answer(const weft::Event& question) {
  question.wait();
  std::puts("answered");
}

int main() {
  weft::Scheduler scheduler(weft::Scheduler::Config().setWorkerThreadCount(1));
  weft::Scheduler::Binding bound(scheduler);

  weft::Event question(weft::Event::Mode::Manual);
  weft::WaitGroup done(4);
  for (int i = 0; i < 3; ++i) {
    weft::schedule([=] {
      answer(question);
      done.done();
    });
  }
  weft::schedule([=] {
    question.signal();
    std::puts("the questions are there");
    std::fflush(stdout);
    buildIndex();
    done.done();
  });
  done.wait();
}
