// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// What does it cost to give way to another fiber of the same thread? Two fibers yield in turn.
//
//   yield          straight from the fiber's loop
//   yield-frames   from six real call frames deep, entered and left again around each yield: what a
//                  return predictor that was put out of step costs shows only here

#pragma once

#include <cstdint>

#include "../common/harness.h"

namespace switching {

constexpr int kFrames = 6;

inline int64_t yields(const bench::Run& run) { return run.size<int64_t>(1000000, 1000); }

// Calls `f` from `depth` frames below this one. The empty asm keeps each frame a real one.
template <class F>
[[gnu::noinline]] void atDepth(int depth, F&& f) {
  if (depth == 0) {
    f();
  } else {
    atDepth(depth - 1, f);
  }
  asm volatile("" : : : "memory");
}

// The oracle: whose turn it was last, and how often it changed. A yield that does not switch changes nothing.
struct Turns {
  int last = -1;
  int64_t changes = 0;

  void take(int who) {
    changes += last != who;
    last = who;
  }
};

// What fiber `who` does. Both must have started before either calls this.
template <class F>
void takeTurns(int64_t count, int depth, int who, Turns& turns, F&& yield) {
  for (int64_t i = 0; i < count; i++) {
    turns.take(who);
    if (depth == 0) {
      yield();
    } else {
      atDepth(depth, yield);
    }
  }
}

// Measures `both(count, depth, turns)`: two fibers that call takeTurns.
template <class F>
void measure(bench::Run& run, int depth, F&& both) {
  int64_t count = yields(run);
  double ns = run.medianNs([&] {
    Turns turns;
    both(count, depth, turns);
    // Tolerates that a library polls other queues now and then and that the two end one after the other.
    bench::check(turns.changes > 2 * count - count / 10 - 3, "switch: the two did not alternate");
  });
  run.metric("ns_per_switch", ns / static_cast<double>(2 * count));
}

}  // namespace switching
