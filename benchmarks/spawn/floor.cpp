// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// No scheduler at all.
//
// call     allocate a callable, call it through a pointer, free it: what remains of a spawn when nothing is
//          queued or handed over
// memory   write a line of memory for each task, and then read it: what remains when all are queued at once

#include <functional>
#include <memory>
#include <vector>

#include "problem.h"

namespace {

void call(bench::Run& r) {
  int64_t count = 0;
  spawn::measure(r, [&](int64_t n) {
    count = 0;
    for (int64_t i = 0; i < n; i++) {
      auto task = std::make_unique<std::function<void()>>([&count] { count++; });
      asm volatile("" : : "r"(task.get()) : "memory");
      (*task)();
    }
    bench::check(count == n, "spawn");
  });
}

struct alignas(64) Line {
  uint64_t words[8];
};

void memory(bench::Run& r) {
  std::vector<Line> lines(static_cast<size_t>(spawn::tasks(r)));
  uint64_t round = 0;
  spawn::measure(r, [&](int64_t n) {
    round++;
    for (Line& line : lines) {
      for (uint64_t& word : line.words) {
        word = round;
      }
      asm volatile("" : : "r"(&line) : "memory");
    }
    int64_t count = 0;
    for (const Line& line : lines) {
      count += line.words[0] == round;
      asm volatile("" : : "r"(&line) : "memory");
    }
    bench::check(count == n, "spawn");
  });
}

}  // namespace

int main(int argc, char** argv) {
  return bench::runMain(argc, argv, "spawn", "floor", {{"call", {1}, call}, {"memory", {1}, memory}});
}
