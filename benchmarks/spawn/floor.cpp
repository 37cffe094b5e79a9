// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// No scheduler at all: allocate a callable, call it through a pointer, free it. What remains of a spawn when
// nothing is queued or handed over.

#include <functional>
#include <memory>

#include "problem.h"

namespace {

void run(bench::Run& r) {
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

}  // namespace

int main(int argc, char** argv) { return bench::runMain(argc, argv, "spawn", "floor", {{"call", {1}, run}}); }
