// Copyright 2026 The weft Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <weft/scheduler.h>
#include <weft/waitgroup.h>

namespace weft::tests {

// Calls function() as a task, and waits for its end.
template <class F>
void inTask(F&& function) {
  WaitGroup done(1);
  schedule([&] {
    function();
    done.done();
  });
  done.wait();
}

}  // namespace weft::tests
