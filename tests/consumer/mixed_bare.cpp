// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

// Compiled without exceptions and without run-time type information.

#include "mixed.h"

#include <stdexcept>

#if defined(__cpp_exceptions)
#error "this is to be compiled with -fno-exceptions"
#endif

int usesWithoutException() {
  int sum = 0;
  for (auto use : kUses) {
    sum += use(2);
  }
  return sum;
}

weft::Future<int> failingFuture() { return weft::async(ThrowIfOdd{1}); }

weft::Future<int> failingCoroutine(weft::fair::TaskScheduler& scheduler) {
  return weft::fair::async(scheduler, throwIfOddLater(1));
}

void failPromise(weft::Promise<int>& promise) { promise.set_exception(std::out_of_range("from without")); }

void stopAsAsked(const std::stop_token& token) { weft::interruptionPoint(token); }
