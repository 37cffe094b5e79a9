// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// The Fibonacci numbers by their definition, with a fork for each addition: fib <n> [threads]

#include <algorithm>

#include "common.h"

static size_t fibonacci(size_t n) {
  if (n < 2) {
    return n;
  }
  auto [x, y] = ranking::fork([=] { return fibonacci(n - 1); }, [=] { return fibonacci(n - 2); });
  return x + y;
}

static size_t byAddition(size_t n) {
  size_t a = 0, b = 1;
  for (size_t i = 0; i < n; i++) {
    const size_t next = a + b;
    a = b;
    b = next;
  }
  return a;
}

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s <n> [threads]\n", argv[0]);
    return 2;
  }
  const size_t n = ranking::argument(argc, argv, 1, 0);
  ranking::Runtime runtime(ranking::threadsOf(argc, argv, 2));
  const size_t first = std::min<size_t>(n, 30);
  ranking::check("fib", runtime.run([=] { return fibonacci(first); }), byAddition(first));  // warms up
  size_t result = 0;
  const size_t us = ranking::microsecondsOf([&] { result = runtime.run([=] { return fibonacci(n); }); });
  ranking::check("fib", result, byAddition(n));
  std::printf("output: %zu\n", result);
  ranking::report(us);
}
