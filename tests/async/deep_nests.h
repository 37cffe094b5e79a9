// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <exception>
#include <functional>
#include <stdexcept>

#include <weft/executor.h>
#include <weft/finally.h>
#include <weft/future.h>

namespace weft::tests {

// Makes a call that many functions deep in each other, each of which is destroyed since it is skipped. Waits
// at each depth for the continuation that has that function, with a time limit or without.
inline void deepInDestructors(int depth, const std::function<void()>& call, bool isTimed = false) {
  if (depth == 0) {
    call();
    return;
  }
  Promise<int> promise;
  Future<void> next = promise.get_future().then(
      inlineExecutor(), [deeper = make_finally([=, &call] { deepInDestructors(depth - 1, call, isTimed); })](
                            int) { ADD_FAILURE(); });
  promise.set_exception(std::make_exception_ptr(std::runtime_error("skipped")));
  if (isTimed) {
    EXPECT_TRUE(next.wait_for(std::chrono::hours(1)));
  } else {
    next.wait();
  }
}

}  // namespace weft::tests
