// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Sessions answer questions, of which one comes each 2 ms. Some answers come late: docs/tracing.md shows in a
// picture why. long_task [mended]

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include <weft/channel.h>
#include <weft/scheduler.h>
#include <weft/sleep.h>
#include <weft/trace.h>
#include <weft/waitgroup.h>

using Clock = std::chrono::steady_clock;

// In place of work that takes so long.
void compute(Clock::duration time) {
  const auto end = Clock::now() + time;
  while (Clock::now() < end) {
  }
}

struct Session {
  weft::Channel<Clock::time_point> questions;
  Clock::duration& latest;
  weft::WaitGroup done;

  void operator()() const {
    while (const auto asked = questions.receive()) {
      const weft::trace::Scope scope("answer");
      compute(std::chrono::microseconds(300));
      latest = std::max(latest, Clock::now() - *asked);
    }
    done.done();
  }
};

// The mistake: it computes for 30 ms, and lets nobody else run.
struct BuildIndex {
  bool isMended;
  weft::WaitGroup done;

  void operator()() const {
    for (int part = 0; part < 30; ++part) {
      compute(std::chrono::milliseconds(1));
      if (isMended) {
        weft::yield();  // the sessions that have a question run now
      }
    }
    done.done();
  }
};

int main(int argc, char**) {
  weft::Scheduler scheduler(weft::Scheduler::Config().setWorkerThreadCount(1));
  weft::Scheduler::Binding bound(scheduler);
  constexpr int kNumSessions = 4, kNumQuestions = 30;
  Clock::duration latest{0};  // only the worker's fibers touch it
  weft::WaitGroup done(kNumSessions + 1);
  std::vector<weft::Channel<Clock::time_point>> questions;
  for (int i = 0; i < kNumSessions; ++i) {
    weft::schedule(Session{questions.emplace_back(kNumQuestions), latest, done});
  }
  for (int i = 0; i < kNumQuestions; ++i) {
    if (i == 5) {
      weft::schedule(BuildIndex{argc > 1, done});
    }
    questions[static_cast<size_t>(i % kNumSessions)].send(Clock::now());
    weft::sleep_for(std::chrono::milliseconds(2));
  }
  for (const auto& channel : questions) {
    channel.close();
  }
  done.wait();
  std::printf("the slowest answer took %.0f ms\n", std::chrono::duration<double, std::milli>(latest).count());
}
